//! What operators see of a gateway and do there.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use chassis::environment::Secret;
use protocol::link::Unsaved;
use registry::simulation::{Redis, Spawn, Wire};
use registry::{
    Incarnation, LeftReason, Lifetimes, Membership, NodeId, Presence, PresenceConfig, Registry,
    Role,
};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::bench::Bench;
use crate::node::Node;

const CEILING: Duration = Duration::from_secs(10);

/// A reader of `/nodes/events`.
struct Watcher {
    lines: Lines<BufReader<TcpStream>>,
}

impl Watcher {
    async fn open(operations: SocketAddr) -> Self {
        let stream = ask(operations, "GET", "/nodes/events", None).await;
        let mut lines = BufReader::new(stream).lines();
        while !lines.next_line().await.unwrap().unwrap().is_empty() {}
        Self { lines }
    }

    /// The next event with its data; none at the end of the stream.
    async fn next(&mut self) -> Option<(String, Value)> {
        let mut name = None;
        let reading = async {
            loop {
                let line = self.lines.next_line().await.unwrap()?;
                if let Some(event) = line.strip_prefix("event: ") {
                    name = Some(event.to_owned());
                }
                if let Some(data) = line.strip_prefix("data: ") {
                    return Some((name.take()?, serde_json::from_str(data).unwrap()));
                }
            }
        };
        timeout(CEILING, reading).await.expect("an event in time")
    }

    /// The next one that is no heartbeat, of this node.
    async fn next_of(&mut self, id: &str) -> (String, Value) {
        self.until(|_, data| data["id"] == id).await
    }

    /// The next one that is as wanted, whatever else is said.
    async fn until(&mut self, wanted: impl Fn(&str, &Value) -> bool) -> (String, Value) {
        let hearing = async {
            loop {
                let (name, data) = self.next().await.expect("the stream goes on");
                if wanted(&name, &data) {
                    return (name, data);
                }
            }
        };
        timeout(CEILING, hearing).await.expect("it is said in time")
    }
}

async fn ask(
    operations: SocketAddr,
    method: &str,
    path: &str,
    authorization: Option<&str>,
) -> TcpStream {
    let mut stream = TcpStream::connect(operations).await.unwrap();
    let authorization =
        authorization.map_or(String::new(), |value| format!("authorization: {value}\r\n"));
    // HTTP/1.0: the answer comes as it is, and ends with the connection.
    let request = format!("{method} {path} HTTP/1.0\r\nhost: test\r\n{authorization}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn drain(bench: &Bench, id: &str, authorization: Option<&str>) -> String {
    let operations = bench.gateway.process.operations.address();
    let path = format!("/nodes/{id}/drain");
    let mut stream = ask(operations, "POST", &path, authorization).await;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

fn status_of(answer: &str) -> u16 {
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

fn join(registry: &Registry, id: &str) -> Membership {
    let own = Presence::new(
        NodeId::new(id).unwrap(),
        Role::new("ai").unwrap(),
        Incarnation::new(uuid::Uuid::from_u128(7)),
        "",
        "1",
    );
    registry.join(own, PresenceConfig::default()).unwrap()
}

#[tokio::test]
async fn a_watcher_gets_one_snapshot_and_then_what_happens() {
    let bench = Bench::start().await;
    let operations = bench.gateway.process.operations.address();
    let mut watcher = Watcher::open(operations).await;

    let (name, snapshot) = watcher.next().await.unwrap();
    assert_eq!(name, "snapshot");
    let ids: Vec<&str> = snapshot
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["game-fake", "gateway-one"], "the gateway itself, too");
    assert_eq!(snapshot[0]["link"], "up");
    assert_eq!(snapshot[1]["link"], Value::Null);
    let (name, history) = watcher.next().await.unwrap();
    assert_eq!(
        (name.as_str(), history),
        ("history", json!([])),
        "who was there before has not joined"
    );
    let (name, trails) = watcher.next().await.unwrap();
    assert_eq!(
        (name.as_str(), &trails["every_ms"]),
        ("trails", &json!(5000))
    );
    // The first of them may be from before this gateway's first heartbeat.
    let mut frames = vec![watcher.next().await.unwrap()];
    assert_eq!(frames[0].0, "beats");
    while frames
        .last()
        .is_none_or(|(name, beats)| name != "beats" || beats["current"] != true)
    {
        frames.push(watcher.next().await.unwrap());
    }
    let (_, beats) = frames.pop().unwrap();
    assert!(beats["last_seen"]["game-fake"].as_u64() <= beats["now"].as_u64());

    let member = join(&bench.registry, "ai-one");
    member.ready().await;
    let (name, joined) = watcher.next_of("ai-one").await;
    assert_eq!((name.as_str(), &joined["role"]), ("joined", &json!("ai")));
    member.update(|own| own.load = registry::Load::Busy);
    loop {
        let (name, changed) = watcher.next_of("ai-one").await;
        assert_eq!(name, "changed");
        if changed["load"] == "busy" {
            break;
        }
    }
    member.leave().await;
    let (name, left) = watcher.next_of("ai-one").await;
    assert_eq!(
        (name.as_str(), &left["reason"]),
        ("left", &json!("goodbye"))
    );
    assert_eq!(left["reason"], json!(LeftReason::Goodbye));

    let mut later = Watcher::open(operations).await;
    assert_eq!(later.next().await.unwrap().0, "snapshot");
    let (_, history) = later.next().await.unwrap();
    let events: Vec<_> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|past| (past["event"].as_str().unwrap(), &past["node"]["id"]))
        .collect();
    let id = json!("ai-one");
    assert_eq!(events, [("joined", &id), ("left", &id)]);

    bench.gateway.process.shutdown.begin();
    while watcher.next().await.is_some() {}
}

#[tokio::test]
async fn whoever_opens_the_page_sees_the_last_minutes_at_once() {
    let bench = Bench::start().await;
    let operations = bench.gateway.process.operations.address();
    let samples = async || {
        let mut watcher = Watcher::open(operations).await;
        loop {
            let (name, data) = watcher.next().await.unwrap();
            if name == "trails" {
                let trail = data["nodes"]["game-fake"].as_array();
                return trail.map_or(0, Vec::len);
            }
        }
    };
    let taken = async {
        while samples().await < 2 {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    timeout(CEILING, taken).await.expect("a sample every 5 s");
}

#[tokio::test]
async fn a_link_that_breaks_shows_at_once() {
    let bench = Bench::start().await;
    let mut watcher = Watcher::open(bench.gateway.process.operations.address()).await;
    while watcher.next().await.unwrap().0 != "beats" {}
    bench.node.drop_links();
    let (name, changed) = watcher.next_of("game-fake").await;
    assert_eq!(
        (name.as_str(), &changed["link"]),
        ("changed", &json!("down"))
    );
    let (_, changed) = watcher.next_of("game-fake").await;
    assert_eq!(changed["link"], "up");
}

#[tokio::test]
async fn what_a_node_can_not_save_is_told_by_its_link() {
    let bench = Bench::start().await;
    let mut watcher = Watcher::open(bench.gateway.process.operations.address()).await;
    while watcher.next().await.unwrap().0 != "beats" {}
    bench.node.has_unsaved(Unsaved {
        suspended: 3,
        uncommitted: 1,
        cut_off: true,
    });
    let told = |node: &Value| (node["suspended"].clone(), node["uncommitted"].clone());
    let is_cut_off = |_: &str, node: &Value| node["cut_off"] == true;
    let (_, changed) = watcher.until(is_cut_off).await;
    assert_eq!(told(&changed), (json!(3), json!(1)));
    bench.node.has_unsaved(Unsaved::default());
    let (_, changed) = watcher.next_of("game-fake").await;
    assert_eq!(changed["cut_off"], false);
    assert_eq!(told(&changed), (json!(0), json!(0)));
}

#[tokio::test]
async fn while_the_registry_is_away_a_watcher_hears_since_when_nothing_was_read() {
    let redis = Redis::start(Lifetimes::default());
    let spawn: Spawn = Arc::new(|task| drop(tokio::spawn(task)));
    let registry = redis.client(Wire::default(), spawn);
    let bench = Bench::over(registry, |_| {}).await;
    let mut watcher = Watcher::open(bench.gateway.process.operations.address()).await;
    let is_current =
        |current| move |name: &str, data: &Value| name == "beats" && data["current"] == current;
    let (_, there) = watcher.until(is_current(true)).await;
    redis.stop(true);
    let (_, away) = watcher.until(is_current(false)).await;
    assert!(away["as_of"].as_u64() >= there["as_of"].as_u64(), "{away}");
    let (_, later) = watcher.until(is_current(false)).await;
    assert_eq!(later["as_of"], away["as_of"]);
    redis.stop(false);
    let (_, back) = watcher.until(is_current(true)).await;
    assert!(back["as_of"].as_u64() > later["as_of"].as_u64(), "{back}");
}

#[tokio::test]
async fn whoever_lapses_is_there_for_as_long_as_its_link() {
    let soon = PresenceConfig {
        heartbeat_interval: Duration::from_millis(300),
        ttl: Duration::from_secs(1),
        ..PresenceConfig::default()
    };
    let bench = Bench::with(|config| config.presence = soon.clone()).await;
    let mut node = Node::start_with(&bench.registry, "game-cut", soon).await;
    let is_linked = |nodes: &Value| of(nodes, "game-cut")["link"] == "up";
    bench.gateway.until_operations("/nodes", is_linked).await;
    let mut watcher = Watcher::open(bench.gateway.process.operations.address()).await;

    node.beats_no_more();
    let mut silent_ms = 0;
    // No beats of before it came count: they don't name it.
    while silent_ms < 3_000 {
        let beats = |name: &str, _: &Value| matches!(name, "beats" | "left");
        let (name, data) = watcher.until(beats).await;
        assert!(name != "left", "{data}");
        let last_seen = data["last_seen"]["game-cut"].as_u64();
        if let (Some(now), Some(last_seen)) = (data["now"].as_u64(), last_seen) {
            silent_ms = now.saturating_sub(last_seen);
        }
    }
    let lapsed = bench.registry.servers().await.unwrap();
    assert!(lapsed.iter().all(|one| one.id.as_str() != "game-cut"));
    let (_, nodes) = bench.gateway.operations("/nodes").await;
    assert!(is_linked(&nodes), "{nodes}");

    node.kill();
    let has_left = |name: &str, node: &Value| name == "left" && node["id"] == "game-cut";
    let (_, left) = watcher.until(has_left).await;
    let told = (&left["reason"], &left["link"]);
    assert_eq!(told, (&json!("expired"), &json!("down")));
    let (_, nodes) = bench.gateway.operations("/nodes").await;
    assert_eq!(of(&nodes, "game-cut"), Value::Null);
}

#[tokio::test]
async fn a_killed_node_is_known_to_be_dead_before_its_heartbeat_lapses() {
    let bench = Bench::start().await;
    let node = bench.another_node("game-killed").await;
    let is_dead = |nodes: &Value| of(nodes, "game-killed")["dead"] == true;
    let (_, nodes) = bench.gateway.operations("/nodes").await;
    assert!(!is_dead(&nodes), "{nodes}");
    node.kill();
    let (_, nodes) = bench.gateway.until_operations("/nodes", is_dead).await;
    assert_eq!(of(&nodes, "game-killed")["link"], "down");
}

fn of(nodes: &Value, id: &str) -> Value {
    let mut nodes = nodes.as_array().into_iter().flatten();
    nodes
        .find(|node| node["id"] == id)
        .cloned()
        .unwrap_or_default()
}

#[tokio::test]
async fn watchers_are_bounded() {
    let bench = Bench::start().await;
    let operations = bench.gateway.process.operations.address();
    let mut watchers = Vec::new();
    for _ in 0..64 {
        watchers.push(Watcher::open(operations).await);
    }
    let one_too_many = ask(operations, "GET", "/nodes/events", None).await;
    let mut answer = String::new();
    BufReader::new(one_too_many)
        .read_line(&mut answer)
        .await
        .unwrap();
    assert_eq!(status_of(&answer), 503);
}

#[tokio::test]
async fn only_operators_drain_and_only_nodes_that_are_there() {
    let token = "operators only";
    let with = |config: &mut gateway::Config| {
        config.operator_token = Secret::from(token.to_owned());
    };
    let bench = Bench::with(with).await;
    let member = join(&bench.registry, "ai-one");
    member.ready().await;
    let listed = |nodes: &Value| nodes.to_string().contains("ai-one");
    bench.gateway.until_operations("/nodes", listed).await;

    for wrong in [None, Some("Bearer operators onl"), Some("Basic eA==")] {
        let answer = drain(&bench, "ai-one", wrong).await;
        assert_eq!(status_of(&answer), 401, "{wrong:?}");
        assert!(
            answer.to_lowercase().contains("www-authenticate: bearer"),
            "{answer}"
        );
    }
    let bearer = format!("Bearer {token}");
    assert_eq!(
        status_of(&drain(&bench, "ai-two", Some(&bearer)).await),
        404
    );
    assert!(!*member.drain_requested().borrow());
    assert_eq!(
        status_of(&drain(&bench, "ai-one", Some(&bearer)).await),
        202
    );
    let mut requested = member.drain_requested();
    timeout(CEILING, requested.wait_for(|drain| *drain))
        .await
        .expect("it is asked in time")
        .unwrap();
}

#[tokio::test]
async fn without_a_token_set_nobody_drains() {
    let bench = Bench::start().await;
    for shown in [None, Some("Bearer "), Some("Bearer x")] {
        assert_eq!(status_of(&drain(&bench, "game-fake", shown).await), 403);
    }
}

#[tokio::test]
async fn a_gateway_that_is_drained_says_goodbye_and_ends() {
    let bench = Bench::start().await;
    let id = bench.gateway.id.clone();
    bench.registry.request_drain(&id).await.unwrap();
    let readiness = bench.gateway.process.readiness.clone();
    bench.gateway.ended().await;
    assert!(!readiness.is_ready());
    let left = bench.registry.servers().await.unwrap();
    assert!(left.iter().all(|node| node.id != id));
}

#[tokio::test]
async fn players_are_never_served_the_operators_page() {
    let bench = Bench::start().await;
    for path in ["/operations.html", "/nodes", "/nodes/events"] {
        assert_eq!(status_of(&bench.gateway.get(path).await), 404, "{path}");
    }
    let operations = bench.gateway.process.operations.address();
    let mut page = String::new();
    let mut stream = ask(operations, "GET", "/", None).await;
    stream.read_to_string(&mut page).await.unwrap();
    assert_eq!(status_of(&page), 200);
}
