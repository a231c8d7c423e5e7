//! What commits cost a game node: the moves that one node makes in a second by itself, with its registry in Redis and with the
//! one in the memory of its process, which answers at once and over no socket. Everything else is the same: the node's own
//! `run`, on a thread of its own, and one link, by which this program plays as a gateway does for people at all seats.
//!
//! `cargo bench --bench commits`; `MEASURED_SECONDS=5` for a shorter look. First as many moves as the node makes, then so few
//! that nothing waits for the CPU. What is said of commits comes from the node's own metrics and from Redis itself.

#![allow(dead_code, reason = "the tests need more of it")]
#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on fails")]

#[path = "../tests/support/support.rs"]
mod support;

#[path = "commits/node.rs"]
mod node;
#[path = "commits/record.rs"]
mod record;
#[path = "commits/tables.rs"]
mod tables;

use std::time::Duration;

use chassis::telemetry::{self, LogFormat};
use registry::{Lifetimes, RedisConfig, Registry};
use tokio::time::Instant;

use node::Node;
use record::{Counted, Figures};
use support::redis::Redis;
use tables::Tables;

/// More than are written at once: while one batch is under way, the node has others to step.
const TABLES: u32 = 600;
/// A second, of all tables: some hundred people who think.
const EASY_PACE: u32 = 250;
const WARM_UP: Duration = Duration::from_secs(3);
const MEASURED_SECONDS: u64 = 15;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let seconds =
        std::env::var("MEASURED_SECONDS").map_or(MEASURED_SECONDS, |text| text.parse().unwrap());
    let measured = Duration::from_secs(seconds);
    let level = "warn".parse().unwrap();
    let telemetry = telemetry::start("bench", &level, LogFormat::Text).unwrap();
    let redis = Redis::start().await;

    let url = redis.url();
    let with = Node::start(
        "with-commits",
        move || Registry::redis(&RedisConfig::new(url)).unwrap(),
        telemetry.metrics(),
    );
    let (busy, easy) = figures(&with, Some(&redis), measured).await;
    with.end().await;
    let without = Node::start(
        "without",
        || Registry::in_process(Lifetimes::default()),
        telemetry.metrics(),
    );
    let (busy_without, easy_without) = figures(&without, None, measured).await;
    without.end().await;

    println!(
        "\n| {TABLES} tables of four people, as fast as they can | commits to Redis | to the own memory |"
    );
    println!("|---|---|---|");
    print_rows(&busy, &busy_without);
    println!("\n| the same, {EASY_PACE} moves a second | commits to Redis | to the own memory |");
    println!("|---|---|---|");
    print_rows(&easy, &easy_without);
    println!(
        "\nWith commits to Redis a node makes {:.0} % of the moves: {:.0} % by the CPU that a move takes.",
        busy.moves_per_second / busy_without.moves_per_second * 100.0,
        busy_without.cpu_a_move() / busy.cpu_a_move() * 100.0,
    );
}

/// As fast as can be, and at an easy pace.
async fn figures(node: &Node, redis: Option<&Redis>, measured: Duration) -> (Figures, Figures) {
    node.ready().await;
    let mut tables = Tables::open(node.address(), TABLES).await;
    let mut both = Vec::new();
    for pace in [None, Some(EASY_PACE)] {
        tables.set_pace(pace);
        tables.play_until(Instant::now() + WARM_UP).await;
        tables.forget();
        let before = Counted::read(node, redis).await;
        tables.play_until(before.at + measured).await;
        let after = Counted::read(node, redis).await;
        both.push(Figures::between(&before, &after, tables.forget()));
    }
    let easy = both.pop().unwrap();
    (both.pop().unwrap(), easy)
}

fn print_rows(with: &Figures, without: &Figures) {
    for ((name, with), (_, without)) in with.rows().into_iter().zip(without.rows()) {
        println!("| {name} | {with} | {without} |");
    }
}
