//! Whether a deployment can serve the moment it says so, on as little as its containers give it: a gateway, a game node
//! and an AI node start from nothing, each with a share of a core and the memory of its container, and when the gateway
//! says that it is ready a player creates a lobby at the first try.
//!
//! `cargo bench --bench readiness`; `STARTS=5` for fewer. Needs to be let make control groups.

#![allow(dead_code, reason = "the tests need more of it")]
#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on fails")]

#[path = "../tests/support/support.rs"]
mod support;

use std::time::Duration;

use support::cold_start::{Containers, ReadyAfter};

const PERCENT_OF_A_CORE: [u32; 3] = [25, 50, 100];
const STARTS: usize = 50;

#[tokio::main]
async fn main() {
    let starts = std::env::var("STARTS").map_or(STARTS, |starts| starts.parse().unwrap());
    println!("| of a core each | lobby at the first try | gateway ready | game node | AI node |");
    println!("|---|---|---|---|---|");
    for percent in PERCENT_OF_A_CORE {
        let containers = match Containers::with_percent_of_a_core(percent) {
            Ok(containers) => containers,
            Err(why) => {
                println!("SKIPPED: this machine lets nobody make a control group here: {why}");
                return;
            }
        };
        let mut times = Vec::new();
        for _ in 0..starts {
            // A refusal at the first try ends the benchmark.
            times.push(containers.start().await);
        }
        let column = |of: fn(&ReadyAfter) -> Duration| {
            let mut times: Vec<Duration> = times.iter().map(of).collect();
            times.sort();
            let (half, worst) = (times[times.len() / 2], times[times.len() - 1]);
            format!("{:.2} s ({:.2} s)", half.as_secs_f64(), worst.as_secs_f64())
        };
        println!(
            "| {percent} % | {starts} of {starts} | {} | {} | {} |",
            column(|time| time.gateway),
            column(|time| time.game_node),
            column(|time| time.ai_node),
        );
    }
    println!("\nTimes from the start of the processes: the median, and the longest in brackets.");
}
