//! Ready means tried: on how little it holds, and what everybody is told of a process that is not.

use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::time::Duration;

use loadtest::Player;
use serde_json::Value;
use tokio::time::Instant;

use crate::support::cold_start::Containers;
use crate::support::process::Wizard;
use crate::support::redis::Redis;
use crate::support::table::arrive;
use crate::support::{eventually, free_address, http};

/// The short form of the benchmark `readiness`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_share_of_a_core_ready_means_a_lobby_at_the_first_try() {
    for percent_of_a_core in [25, 50, 100] {
        let containers = match Containers::with_percent_of_a_core(percent_of_a_core) {
            Ok(containers) => containers,
            Err(why) => {
                println!("SKIPPED: this machine lets nobody make a control group here: {why}");
                return;
            }
        };
        let ready = containers.start().await;
        println!(
            "{percent_of_a_core} %: gateway {:?}, game node {:?}, AI node {:?}",
            ready.gateway, ready.game_node, ready.ai_node
        );
    }
}

/// What Redis and a gateway say of one process, each by the program's own command.
struct Operators<'fleet> {
    redis: &'fleet Redis,
    gateway: SocketAddr,
}

impl Operators<'_> {
    fn list(&self, by_gateway: bool) -> String {
        let (variable, place) = if by_gateway {
            ("OPS_ADDR", self.gateway.to_string())
        } else {
            ("REDIS_URL", self.redis.url())
        };
        let listed = Command::new(env!("CARGO_BIN_EXE_wizard"))
            .env_clear()
            .args(["nodes", "list"])
            .env(variable, place)
            .output()
            .unwrap();
        assert!(listed.status.success());
        String::from_utf8(listed.stdout).unwrap()
    }

    /// Its line in the list.
    fn line(&self, by_gateway: bool, id: &str) -> String {
        let list = self.list(by_gateway);
        let line = list.lines().find(|line| line.starts_with(id));
        line.unwrap_or_default().to_owned()
    }

    /// What the gateway's page is fed.
    async fn node(&self, id: &str) -> Option<Value> {
        let nodes = http::get_json(self.gateway, "/nodes").await?;
        let nodes = nodes.as_array().unwrap().clone();
        nodes.into_iter().find(|node| node["id"] == id)
    }
}

async fn ready_body(process: &Wizard) -> (u16, Value) {
    let (status, body) = http::get(process.operations(), "/ready").await.unwrap();
    (status, serde_json::from_str(&body).unwrap())
}

fn detail(ready: &Value, check: &str) -> String {
    let checks = ready["checks"].as_array().unwrap();
    let check = checks.iter().find(|one| one["name"] == check).unwrap();
    check["detail"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_address_is_never_routed_to_and_everybody_says_why() {
    let redis = Redis::start().await;
    let url = redis.url();
    let (players, wrong) = (free_address(), free_address().to_string());
    let listen = players.to_string();
    let shared = ("REDIS_URL", url.as_str());
    let timeout = ("READY_TIMEOUT", "2s");
    let gateway = Wizard::spawn(
        "gateway",
        "gateway",
        &[shared, timeout, ("LISTEN_ADDR", &listen)],
    );
    let variables = [
        shared,
        timeout,
        ("NODE_ID", "astray"),
        ("ADVERTISE_ADDR", &wrong),
    ];
    let astray = Wizard::spawn("astray", "game-node", &variables)
        .ready()
        .await;
    let operators = Operators {
        redis: &redis,
        gateway: gateway.operations(),
    };

    // It has joined, and says why nobody should believe in it.
    let (_, ready) = ready_body(&astray).await;
    assert!(
        detail(&ready, "link").contains(&wrong),
        "{ready}: by its own check"
    );
    let warned = |line: &str| line.contains("WARN") && line.contains(&wrong);
    astray.line("its log says why", warned).await;
    let node = eventually("the gateway has heard of it", async || {
        let node = operators.node("astray").await?;
        (node["verified"] == false).then_some(node)
    })
    .await;
    assert_eq!(node["state"], "ready");
    assert_eq!(node["link"], "down", "by the gateway's own link");
    let why = node["why"].as_str().unwrap();
    assert!(why.contains(&wrong) && why.contains("refused"), "{why}");
    for by_gateway in [false, true] {
        let line = operators.line(by_gateway, "astray");
        assert!(
            line.contains("unverified: ") && line.contains(why),
            "{line}"
        );
    }
    gateway.line("the gateway's log says why", warned).await;

    // With it alone nobody can be served, and the gateway says so, too, once its time is over.
    let (status, ready) = ready_body(&gateway).await;
    assert_eq!((status, &ready["ready"]), (503, &Value::Bool(false)));
    assert!(
        detail(&ready, "game node").contains("no live link"),
        "{ready}"
    );
    let own = eventually("the gateway tells operators", async || {
        let nodes = http::get_json(gateway.operations(), "/nodes").await?;
        let nodes = nodes.as_array().unwrap().clone();
        let own = nodes.into_iter().find(|node| node["role"] == "gateway")?;
        own["why"].is_string().then_some(own)
    })
    .await;
    assert_eq!(own["state"], "starting");
    assert!(own["why"].as_str().unwrap().contains("game node"), "{own}");

    // Beside one that can be reached it gets nothing, however empty it is.
    let straight = [shared, ("NODE_ID", "straight")];
    let _straight = Wizard::spawn("straight", "game-node", &straight)
        .ready()
        .await;
    let gateway = gateway.ready().await;
    for _ in 0..10 {
        let mut player = arrive(&format!("ws://{listen}/ws")).await;
        player.create("Ada").await.unwrap();
        let code = player.code().unwrap();
        let lobby = http::get_json(gateway.operations(), &format!("/lobbies/{code}")).await;
        assert_eq!(lobby.unwrap()["owner"], "straight");
    }
}

/// What never answers costs a start its ceiling, once, and counted from the start of the process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_stays_silent_is_waited_for_once() {
    const CEILING: Duration = Duration::from_secs(12);
    let redis = Redis::start().await;
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    // Redis is slow to come, too: for half of the time that there is.
    redis.signal("STOP");
    let began = Instant::now();
    let url = redis.url();
    let variables = [
        ("REDIS_URL", url.as_str()),
        ("NODE_ID", "patient"),
        ("ADVERTISE_ADDR", &address),
        ("READY_TIMEOUT", "12s"),
    ];
    let node = Wizard::spawn("patient", "game-node", &variables);
    let hasty = [variables[0], ("READY_TIMEOUT", "1s")];
    let ai_node = Wizard::spawn("ai", "ai-node", &hasty);
    eventually("it lives, and is not ready", async || {
        let (status, _) = http::get(node.operations(), "/ready").await?;
        (status == 503).then_some(())
    })
    .await;
    let health = http::get_json(node.operations(), "/health").await.unwrap();
    assert_eq!(health["status"], "ok");
    let says_why = |line: &str| line.contains("still not ready") && line.contains("presence");
    ai_node.line("the AI node says why", says_why).await;
    tokio::time::sleep_until(began + CEILING / 2).await;
    redis.signal("CONT");
    let _ai_node = ai_node.ready().await;
    let operators = Operators {
        redis: &redis,
        gateway: node.operations(),
    };
    eventually("it is seen to be starting", async || {
        let line = operators.line(false, "patient");
        line.contains(" starting ").then_some(())
    })
    .await;
    let node = node.ready().await;
    let after = began.elapsed();
    // Neither earlier, nor after a time for each of the two, which would be half as long again.
    let late = CEILING + Duration::from_secs(5);
    assert!(after >= CEILING && after < late, "ready after {after:?}");
    eventually("it has joined, and says why", async || {
        let line = operators.line(false, "patient");
        let said = line.contains(" ready ") && line.contains("no answer");
        said.then_some(())
    })
    .await;
    drop((node, silent));
}

/// Slow is not silent: what comes late is taken at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_slow_at_the_start_is_visible_and_taken_at_once() {
    let redis = Redis::start().await;
    let url = redis.url();
    let listen = free_address().to_string();
    let variables = [
        ("REDIS_URL", url.as_str()),
        ("NODE_ID", "front"),
        ("LISTEN_ADDR", &listen),
        ("READY_TIMEOUT", "500ms"),
    ];
    let gateway = Wizard::spawn("gateway", "gateway", &variables);
    let operators = Operators {
        redis: &redis,
        gateway: gateway.operations(),
    };
    eventually("it is seen to be starting, and why", async || {
        let line = operators.line(false, "front");
        (line.contains(" starting ") && line.contains("game node")).then_some(())
    })
    .await;
    let _node = Wizard::spawn("game", "game-node", &[("REDIS_URL", &url)]);
    let _gateway = gateway.ready().await;
    let mut player = Player::connect(&format!("ws://{listen}/ws")).await.unwrap();
    player.hello(None).await.unwrap();
    player.create("Ada").await.unwrap();
    eventually("nothing is missing any more", async || {
        let line = operators.line(false, "front");
        (line.contains(" ready ") && !line.contains("game node")).then_some(())
    })
    .await;
}
