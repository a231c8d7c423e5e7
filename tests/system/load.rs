//! A node at its limits: what it refuses, what it never refuses, and what everybody is told.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::future::{join_all, try_join_all};
use loadtest::Player;
use loadtest::strategy::random_moves;
use protocol::lobby::LobbyStatus;
use protocol::player::{Named, PlayerMessage};
use protocol::server::{LoadLevel, ServerStatus, StatusReason};
use protocol::{ErrorCode, LobbyCode};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::cgroup::{ControlGroup, Limits};
use crate::support::process::{MEASURED_LOAD, Wizard};
use crate::support::redis::Redis;
use crate::support::table::{agree_on, arrive, gather, play_to_the_end, refused, start, status_of};
use crate::support::{CEILING, eventually, free_address, http};

/// A gateway, an AI node, and as many game nodes as a test adds.
struct Cluster {
    redis: Redis,
    gateway: Wizard,
    game_node: Wizard,
    _ai_node: Wizard,
    players: SocketAddr,
}

impl Cluster {
    /// With one game node, which `variables` are for.
    async fn start(variables: &[(&str, &str)]) -> Self {
        let redis = Redis::start().await;
        let (url, players) = (redis.url(), free_address());
        let redis_url = ("REDIS_URL", url.as_str());
        let listen = players.to_string();
        let gateway = Wizard::spawn("gateway", "gateway", &[redis_url, ("LISTEN_ADDR", &listen)]);
        let ai_node = Wizard::spawn("ai", "ai-node", &[redis_url]);
        let game_node = game_node(&redis, "game-1", variables);
        let game_node = game_node.ready().await;
        let (gateway, ai_node) = (gateway.ready().await, ai_node.ready().await);
        Self {
            redis,
            gateway,
            game_node,
            _ai_node: ai_node,
            players,
        }
    }

    fn url(&self) -> String {
        format!("ws://{}/ws", self.players)
    }

    /// What the game node says of its load.
    async fn health(&self) -> Value {
        let health = http::get_json(self.game_node.operations(), "/health").await;
        health.expect("/health is 200 whatever the load is")
    }

    async fn until_load(&self, level: &str) -> Value {
        eventually(&format!("the node is {level}"), async || {
            let health = self.health().await;
            (health["load"] == level).then_some(health)
        })
        .await
    }

    /// The link's other end waits for nothing meanwhile that would make it give the node up.
    async fn stop_game_node_for(&self, time: Duration) {
        self.game_node.signal("STOP");
        tokio::time::sleep(time).await;
        self.game_node.signal("CONT");
    }
}

fn game_node(redis: &Redis, id: &str, variables: &[(&str, &str)]) -> Wizard {
    let url = redis.url();
    let mut all = vec![("REDIS_URL", url.as_str()), ("NODE_ID", id), MEASURED_LOAD];
    all.extend(variables);
    Wizard::spawn(id, "game-node", &all)
}

/// Waits for a word on the servers' load.
async fn told(player: &mut Player, wanted: impl Fn(&ServerStatus) -> bool) -> ServerStatus {
    eventually("a status", async || {
        player.echo(CEILING).await.unwrap();
        player.server_status().filter(|status| wanted(status))
    })
    .await
}

fn create() -> PlayerMessage {
    PlayerMessage::CreateLobby(Named {
        name: "Ada".parse().unwrap(),
    })
}

/// Refused as busy, with a time to come back.
async fn is_busy(player: &mut Player, message: PlayerMessage) {
    player.send(message.clone()).await.unwrap();
    let refused = player.refusal(CEILING).await.unwrap();
    assert_eq!(
        refused.code,
        ErrorCode::Busy,
        "{message:?}: {}",
        refused.message
    );
    assert!(
        refused.retry_after_ms.is_some(),
        "{message:?}: when to come back"
    );
}

#[tokio::test]
async fn an_overloaded_node_goes_on_with_what_it_has_and_takes_nothing_new() {
    // Once overloaded, for longer than the test lasts.
    let cluster = Cluster::start(&[
        ("LOAD_SAMPLE_INTERVAL", "100ms"),
        ("LOAD_RECOVER_SAMPLES", "10000"),
    ])
    .await;
    let url = cluster.url();
    let (mut playing, _) = gather(&url, 2, 1).await;
    agree_on(&mut playing[0], json!({"length": "short"})).await;
    start(&mut playing).await;
    let (mut waiting, code) = gather(&url, 2, 1).await;
    let mut bystander = arrive(&url).await;
    assert!(bystander.server_status().unwrap().accepting_games);

    // Its loop comes too late by more than a second.
    cluster
        .stop_game_node_for(Duration::from_millis(1500))
        .await;

    let health = cluster.until_load("overloaded").await;
    assert_eq!(health["status"], "ok");
    assert_eq!(health["accepting_games"], false);
    let (status, _) = http::get(cluster.game_node.operations(), "/ready")
        .await
        .unwrap();
    assert_eq!(status, 200, "load changes no readiness");
    for player in [&mut bystander, &mut waiting[1], &mut playing[1]] {
        let status = told(player, |status| !status.accepting_games).await;
        assert_eq!(status.level, LoadLevel::Overloaded, "{status:?}");
        assert_eq!(status.reason, Some(StatusReason::Overloaded), "{status:?}");
    }
    eventually("the lobby says so, too", async || {
        waiting[0].echo(CEILING).await.unwrap();
        let lobby = waiting[0].state().lobby.as_ref();
        lobby.filter(|lobby| !lobby.accepting_games).map(|_| ())
    })
    .await;

    is_busy(&mut bystander, create()).await;
    is_busy(&mut waiting[0], PlayerMessage::StartGame).await;
    // All this goes on: joining, coming back, moves, the way back to the lobby.
    bystander.join(code, "Bystander").await.unwrap();
    playing[1].disconnect().await;
    playing[1].reconnect(&url).await.unwrap();
    play_to_the_end(&mut playing).await;
    let is_waiting = |state: &_| status_of(state) == Some(LobbyStatus::Waiting);
    playing[0]
        .ask(PlayerMessage::ReturnToLobby, is_waiting)
        .await
        .unwrap();
    is_busy(&mut playing[0], PlayerMessage::StartGame).await;
    assert_eq!(
        cluster.health().await["load"],
        "overloaded",
        "all of it was under overload"
    );
}

#[tokio::test]
async fn a_forced_level_is_told_from_the_start_on_and_the_node_is_ready() {
    let cluster = Cluster::start(&[("LOAD_FORCE_LEVEL", "overloaded")]).await;
    let mut player = arrive(&cluster.url()).await;
    let status = player.server_status().unwrap();
    assert_eq!(
        (status.level, status.accepting_games),
        (LoadLevel::Overloaded, false)
    );
    is_busy(&mut player, create()).await;
    let health = cluster.health().await;
    assert_eq!(
        (&health["status"], &health["load"]),
        (&json!("ok"), &json!("overloaded"))
    );
    for share in ["cpu", "throttled"] {
        let share = health[share].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&share), "{health}");
    }
    assert!(health["loop_lag"].as_f64().unwrap() >= 0.0, "{health}");

    // Another one takes what this one doesn't.
    let _other = game_node(&cluster.redis, "game-2", &[]).ready().await;
    let status = told(&mut player, |status| status.accepting_games).await;
    assert_eq!(status.level, LoadLevel::Normal, "of the least loaded node");
    let code = player.create("Ada").await.unwrap();
    assert_eq!(owner(&cluster, code).await, "game-2");
}

/// Which node has the lobby, as the gateway tells operators.
async fn owner(cluster: &Cluster, code: LobbyCode) -> String {
    let lobby = http::get_json(cluster.gateway.operations(), &format!("/lobbies/{code}")).await;
    let lobby = lobby.expect("the gateway knows the lobby");
    lobby["owner"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_node_takes_as_many_games_as_it_may_and_keeps_those_whose_people_are_away() {
    let cluster = Cluster::start(&[("MAX_ACTIVE_GAMES", "1")]).await;
    let url = cluster.url();
    let (mut waiting, code) = gather(&url, 2, 1).await;
    let (mut playing, _) = gather(&url, 2, 1).await;
    agree_on(&mut playing[0], json!({"length": "short"})).await;
    start(&mut playing).await;

    let mut bystander = arrive(&url).await;
    let status = told(&mut bystander, |status| !status.accepting_games).await;
    assert_eq!(
        (status.level, status.reason),
        (LoadLevel::Normal, Some(StatusReason::Full))
    );
    is_busy(&mut bystander, create()).await;
    is_busy(&mut waiting[0], PlayerMessage::StartGame).await;
    bystander.join(code, "Bystander").await.unwrap();

    for player in &mut playing {
        player.disconnect().await;
    }
    is_busy(&mut waiting[0], PlayerMessage::StartGame).await;
    assert_eq!(cluster.health().await["active_games"], 1);
    for player in &mut playing {
        player.reconnect(&url).await.unwrap();
    }
    // What the AI has played meanwhile nobody was shown, so the moves of this game can't be checked.
    let plays = playing
        .iter_mut()
        .map(|player| player.play(random_moves(7)));
    try_join_all(plays).await.unwrap();

    told(&mut waiting[0], |status| status.accepting_games).await;
    start(&mut waiting).await;
    refused(
        &mut playing[0],
        PlayerMessage::StartGame,
        ErrorCode::NotWaiting,
    )
    .await;
}

const TABLES: usize = 30;

/// By the defaults of `LOAD_CPU_OVERLOAD`, `LOAD_THROTTLE_OVERLOAD` and `LOAD_LAG_OVERLOAD`.
fn is_at_its_limit(health: &Value) -> bool {
    let over = |name: &str, limit: f64| health[name].as_f64().unwrap() >= limit;
    over("cpu", 0.9) || over("throttled", 0.5) || over("loop_lag", 0.25)
}

/// On a real quota, with the real thresholds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_15_percent_of_a_core_thirty_tables_are_too_many_and_all_play_to_their_end() {
    let limits = Limits {
        percent_of_a_core: 15,
        memory_mib: None,
    };
    let group = match ControlGroup::with(limits) {
        Ok(group) => group,
        Err(why) => {
            println!("SKIPPED: this machine lets nobody make a control group here: {why}");
            return;
        }
    };
    let cluster = Cluster::start(&[("LOG_LEVEL", "info")]).await;
    let url = cluster.url();
    let mut tables: Vec<Vec<Player>> = join_all((0..TABLES).map(|_| async {
        let (mut players, _) = gather(&url, 1, 3).await;
        agree_on(&mut players[0], json!({"length": "tournament"})).await;
        start(&mut players).await;
        players
    }))
    .await;
    let mut bystander = arrive(&url).await;

    let load_begins = Instant::now();
    group.take_in(cluster.game_node.id());
    let playing = try_join_all(
        tables
            .iter_mut()
            .zip(1..)
            .map(|(players, seed)| async move { players[0].play(random_moves(seed)).await }),
    );
    let meanwhile = async {
        // A machine with other things to do may give the players too little for a moment: then the row begins anew.
        let mut at_its_limit_since = load_begins;
        let health = eventually("the node is overloaded", async || {
            let health = cluster.health().await;
            if !is_at_its_limit(&health) {
                at_its_limit_since = Instant::now();
            }
            (health["load"] == "overloaded").then_some(health)
        })
        .await;
        let overloaded_after = at_its_limit_since.elapsed();
        assert_eq!(health["status"], "ok");
        is_busy(&mut bystander, create()).await;
        // Sent elsewhere as soon as there is anybody else.
        let other = game_node(&cluster.redis, "game-2", &[]).ready().await;
        told(&mut bystander, |status| status.accepting_games).await;
        let code = bystander.create("Ada").await.unwrap();
        assert_eq!(owner(&cluster, code).await, "game-2");
        (overloaded_after, other, health)
    };
    let (played, (overloaded_after, _other, health)) = tokio::join!(playing, meanwhile);
    played.expect("running games go on to their end");
    let load_ends = Instant::now();
    cluster.until_load("normal").await;
    let normal_after = load_ends.elapsed();
    println!(
        "overloaded after {overloaded_after:?} ({health}), played for {:?}, normal after {normal_after:?}",
        load_ends - load_begins
    );
    assert!(
        overloaded_after <= Duration::from_secs(5),
        "{overloaded_after:?}"
    );
    assert!(normal_after <= Duration::from_secs(13), "{normal_after:?}");
}
