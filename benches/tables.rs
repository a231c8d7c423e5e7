//! What tables cost a game node where nobody hurries: 2,000 lobbies that wait for their players, and 300 running games at
//! the pace of people, on one node behind one gateway, with one AI node and a Redis.
//!
//! `cargo bench --bench tables`; `MEASURED_SECONDS=20` for a shorter look. CPU is what the processes themselves used, so that it
//! holds on a machine that has other things to do.

#![allow(dead_code, reason = "the tests need more of it")]
#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on fails")]

#[path = "../tests/support/support.rs"]
mod support;

use std::time::Duration;

use futures_util::future::join_all;
use loadtest::strategy::random_moves;
use loadtest::{Player, PlayerError};
use protocol::lobby::AiLevel;
use protocol::player::{AddAi, PlayerMessage};
use protocol::server::State;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use support::process::Wizard;
use support::redis::Redis;
use support::table::seats_of;
use support::{free_address, http};

const WAITING: usize = 2_000;
const PLAYING: usize = 300;
/// AI seats of a game, beside one person who never thinks for long: more moves than people make.
const AI_SEATS: usize = 3;
/// Who comes, comes in groups.
const GROUP: usize = 50;
/// What has begun at the same time has come apart by then.
const SETTLE: Duration = Duration::from_secs(15);
const MEASURED_SECONDS: u64 = 60;

/// The pace is that of the defaults, which the tests set to nothing; no limit is in the way.
const AT_HUMAN_PACE: [(&str, &str); 8] = [
    ("LOG_LEVEL", "info"),
    ("AI_MOVE_DELAY", "0.8"),
    ("TRICK_PAUSE", "1.8"),
    ("MAX_LOBBIES", "0"),
    ("MAX_ACTIVE_GAMES", "0"),
    ("MAX_CONNECTIONS", "0"),
    ("ACCEPT_RATE", "0"),
    ("MAX_HTTP_CONCURRENCY", "0"),
];

#[tokio::main]
async fn main() {
    let seconds =
        std::env::var("MEASURED_SECONDS").map_or(MEASURED_SECONDS, |text| text.parse().unwrap());
    let (redis, players) = (Redis::start().await, free_address());
    let (redis_url, listen) = (redis.url(), players.to_string());
    let spawn = |name: &str, role: &str, listen: Option<&str>| {
        let mut variables = AT_HUMAN_PACE.to_vec();
        variables.push(("REDIS_URL", &redis_url));
        variables.extend(listen.map(|listen| ("LISTEN_ADDR", listen)));
        Wizard::spawn(name, role, &variables).ready()
    };
    let (gateway, game_node, ai_node) = tokio::join!(
        spawn("gateway", "gateway", Some(&listen)),
        spawn("game node", "game-node", None),
        spawn("AI node", "ai-node", None),
    );
    let url = format!("ws://{players}/ws");
    let processes = [&game_node, &gateway, &ai_node];

    let mut tables = fill(&url).await;
    sleep(SETTLE).await;
    let (began, before) = (Instant::now(), processes.map(cpu_seconds));
    let health_before = health(&game_node).await;
    sleep(Duration::from_secs(seconds)).await;
    let (after, passed) = (processes.map(cpu_seconds), began.elapsed().as_secs_f64());
    let health = health(&game_node).await;
    tables.shutdown().await;

    println!(
        "| {} lobbies, {} running games | CPU, of a core |",
        health["lobbies"], health["active_games"]
    );
    println!("|---|---|");
    for (place, name) in ["game node", "gateway", "AI node"].into_iter().enumerate() {
        let share = (after[place] - before[place]) / passed * 100.0;
        println!("| {name} | {share:.1} % |");
    }
    let decided = |health: &Value| health["ai"]["decided"].as_f64().unwrap();
    let moves = (decided(&health) - decided(&health_before)) / passed;
    println!(
        "\nFor {passed:.0} s; {moves:.0} moves of AI seats a second; the node says that its load is {}.",
        health["load"]
    );
    assert_eq!(
        health["active_games"], PLAYING,
        "all went on to the end of the measurement"
    );
    assert_eq!(health["lobbies"], WAITING + PLAYING);
}

/// Opens all tables, and lets their people go on by themselves.
async fn fill(url: &str) -> JoinSet<()> {
    let mut tables = JoinSet::new();
    for _ in 0..WAITING / GROUP {
        for host in join_all((0..GROUP).map(|_| waiting(url))).await {
            tables.spawn(wait(host));
        }
    }
    for first in (0..PLAYING).step_by(GROUP) {
        let hosts = join_all((0..GROUP).map(|_| playing(url))).await;
        for (number, host) in (first..).zip(hosts) {
            tables.spawn(play(host, number));
        }
    }
    tables
}

async fn waiting(url: &str) -> Player {
    let mut host = arrive(url).await;
    host.create("Ada").await.unwrap();
    host
}

async fn wait(mut host: Player) {
    loop {
        match host.next().await {
            Ok(_) | Err(PlayerError::Silent { .. }) => {}
            Err(error) => panic!("a lobby that waits: {error}"),
        }
    }
}

async fn playing(url: &str) -> Player {
    let mut host = waiting(url).await;
    for seats in 2..=1 + AI_SEATS {
        let message = PlayerMessage::AddAi(AddAi {
            level: AiLevel::Normal,
        });
        host.ask(message, |state| seats_of(state) == seats)
            .await
            .unwrap();
    }
    let is_on = |state: &State| state.game.is_some();
    host.ask(PlayerMessage::StartGame, is_on).await.unwrap();
    host
}

async fn play(mut host: Player, number: usize) {
    let seed = u64::try_from(number).unwrap();
    host.play(random_moves(seed)).await.unwrap();
}

/// As the web client does.
async fn arrive(url: &str) -> Player {
    let mut player = Player::connect(url)
        .await
        .unwrap()
        .asking_for_partial_states();
    player.hello(None).await.unwrap();
    player
}

async fn health(process: &Wizard) -> Value {
    let health = http::get_json(process.operations(), "/health").await;
    health.expect("/health is 200 whatever the load is")
}

/// What the kernel counts CPU in.
const TICKS_PER_SECOND: f64 = 100.0;

/// In user and kernel mode.
fn cpu_seconds(process: &Wizard) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.id())).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |place: usize| fields[place].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / TICKS_PER_SECOND
}
