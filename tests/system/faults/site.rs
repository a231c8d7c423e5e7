//! A site whose processes come and go, with tables that play on it all the time.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::future::join_all;
use loadtest::{Config, Pause, Report, Run};
use rules::SeatCount;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::scale::Scale;
use crate::support::process::Wizard;
use crate::support::proxy::Proxy;
use crate::support::redis::Redis;
use crate::support::{CEILING, eventually, free_address, http};

/// The processes of this test only; the rest of the machine is busy with other tests.
const QUIET: (&str, &str) = ("LOG_LEVEL", "info");

pub(super) struct Site {
    pub(super) redis: Redis,
    /// By which game nodes reach it.
    nodes_url: String,
    pub(super) gateways: Vec<Wizard>,
    pub(super) nodes: Vec<Wizard>,
    ai: Wizard,
    players: Vec<SocketAddr>,
    started: usize,
}

impl Site {
    /// Over a Redis in memory.
    pub(super) async fn start(gateways: usize, nodes: usize) -> Self {
        Self::over(Redis::start().await, gateways, nodes).await
    }

    /// Over a Redis in memory that the game nodes reach by a way on which things can go wrong.
    pub(super) async fn with_a_way(gateways: usize, nodes: usize) -> (Self, Proxy) {
        let redis = Redis::start().await;
        let way = Proxy::start(redis.address()).await;
        let url = format!("redis://{}", way.address());
        (Self::assemble(redis, url, gateways, nodes).await, way)
    }

    pub(super) async fn over(redis: Redis, gateways: usize, nodes: usize) -> Self {
        let url = redis.url();
        Self::assemble(redis, url, gateways, nodes).await
    }

    async fn assemble(redis: Redis, nodes_url: String, gateways: usize, nodes: usize) -> Self {
        let players: Vec<SocketAddr> = (0..gateways).map(|_| free_address()).collect();
        let mut site = Self {
            gateways: Vec::new(),
            nodes: Vec::new(),
            ai: ai_node(&redis),
            players,
            redis,
            nodes_url,
            started: 0,
        };
        site.start_processes(nodes).await;
        site
    }

    /// All gateways and so many game nodes, and waits until they are ready.
    async fn start_processes(&mut self, nodes: usize) {
        let gateways = 0..self.players.len();
        let gateways: Vec<Wizard> = gateways.map(|index| self.spawn_gateway(index)).collect();
        let nodes: Vec<Wizard> = (0..nodes).map(|_| self.spawn_node(&[])).collect();
        self.nodes = join_all(nodes.into_iter().map(Wizard::ready)).await;
        self.gateways = join_all(gateways.into_iter().map(Wizard::ready)).await;
    }

    /// A gateway at one of the players' addresses, which nobody else has just then.
    pub(super) fn spawn_gateway(&self, index: usize) -> Wizard {
        let (listen, url) = (self.players[index].to_string(), self.redis.url());
        let own = [QUIET, ("LISTEN_ADDR", &*listen), ("REDIS_URL", &*url)];
        Wizard::spawn(&format!("gateway-{}", index + 1), "gateway", &own)
    }

    /// A game node that nobody has heard of; `variables` beside those of all.
    pub(super) fn spawn_node(&mut self, variables: &[(&str, &str)]) -> Wizard {
        self.started += 1;
        let mut all = vec![QUIET, ("REDIS_URL", &*self.nodes_url)];
        all.extend(variables);
        Wizard::spawn(&format!("game-{}", self.started), "game-node", &all)
    }

    /// Another game node in the place of one that has ended.
    pub(super) async fn replace_node(&mut self, index: usize) {
        let node = self.spawn_node(&[]).ready().await;
        self.nodes[index] = node;
    }

    /// Another gateway in the place of one that has ended, where its players connect.
    pub(super) async fn replace_gateway(&mut self, index: usize) {
        let gateway = self.spawn_gateway(index).ready().await;
        self.gateways[index] = gateway;
    }

    /// Kills everything but Redis, and starts as much again at the same players' addresses.
    pub(super) async fn restart_all(&mut self) {
        let nodes = self.nodes.len();
        // Dropped, they are killed.
        self.gateways.clear();
        self.nodes.clear();
        self.ai = ai_node(&self.redis);
        self.start_processes(nodes).await;
    }

    /// Where players connect.
    pub(super) fn urls(&self) -> Vec<String> {
        let url = |address| format!("ws://{address}/ws");
        self.players.iter().map(url).collect()
    }

    /// Tables of three people and an AI seat each, over all gateways, once all of them play.
    pub(super) async fn play(&self, scale: Scale) -> Run {
        let run = Run::start(Config {
            urls: self.urls(),
            tables: scale.tables,
            players: SeatCount::new(4).unwrap(),
            humans: 3,
            duration: Duration::from_mins(14),
            games: None,
            options: Some(serde_json::from_value(json!({"length": "short"})).unwrap()),
            think: scale.think,
            seed: 6,
        });
        eventually("every table plays", async || {
            assert_eq!(run.fault(), None);
            (run.games_running() >= scale.tables).then_some(())
        })
        .await;
        run
    }

    /// What a gateway's operators see of all nodes.
    pub(super) async fn presence(&self) -> Vec<Value> {
        let nodes = http::get_json(self.gateways[0].operations(), "/nodes").await;
        nodes.unwrap().as_array().unwrap().clone()
    }

    /// The sum of a number over all game nodes that are there.
    pub(super) async fn sum(&self, field: &str) -> u64 {
        let nodes = self.presence().await;
        nodes.iter().filter_map(|node| node[field].as_u64()).sum()
    }
}

fn ai_node(redis: &Redis) -> Wizard {
    let url = redis.url();
    Wizard::spawn("ai", "ai-node", &[QUIET, ("REDIS_URL", &url)])
}

/// A time in which nothing is expected but that the games go on: between two faults, or while one lasts.
pub(super) async fn go_on(run: &Run, time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        assert_eq!(run.fault(), None);
        sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until each game that runs has come to its end.
pub(super) async fn end(mut run: Run) -> Ended {
    run.finish();
    let report = tokio::time::timeout(2 * CEILING, run.report()).await;
    let report = report.expect("every game comes to its end").unwrap();
    assert_eq!(report.games_unfinished, 0, "{report}");
    println!("{report}");
    let pauses = run.pauses();
    Ended { report, pauses }
}

/// A run that is over. Only now are pauses looked at: one that still lasts is none that is known.
pub(super) struct Ended {
    pub(super) report: Report,
    pauses: Vec<Pause>,
}

impl Ended {
    /// Of moves that were on their way at some time from the fault on for `within`.
    pub(super) fn pauses(&self, fault: Instant, within: Duration) -> Pauses {
        self.pauses_of_each(&[fault], within)
    }

    /// Likewise, of one fault after the other.
    pub(super) fn pauses_of_each(&self, faults: &[Instant], within: Duration) -> Pauses {
        let mut all: Vec<Duration> = faults
            .iter()
            .flat_map(|fault| self.longest_of_each_table(*fault, within))
            .collect();
        all.sort_unstable();
        Pauses(all)
    }

    fn longest_of_each_table(
        &self,
        fault: Instant,
        within: Duration,
    ) -> impl Iterator<Item = Duration> + use<> {
        let mut longest: BTreeMap<u32, Duration> = BTreeMap::new();
        for pause in &self.pauses {
            let end = pause.begun + pause.took;
            if end > fault && pause.begun < fault + within {
                let longest = longest.entry(pause.table).or_default();
                *longest = (*longest).max(end - pause.begun.max(fault));
            }
        }
        longest.into_values()
    }
}

/// The longest pause of each table that a fault met, the shortest first, and what they come to.
pub(super) struct Pauses(Vec<Duration>);

impl Pauses {
    /// Prints, and holds the slowest of a hundred tables to a ceiling.
    pub(super) fn judge(&self, what: &str, ceiling: Duration) {
        let (middle, most, all) = (self.quantile(500), self.quantile(990), self.quantile(1000));
        println!(
            "{what}: {} tables paused, p50 {middle:.1?}, p99 {most:.1?}, max {all:.1?}",
            self.count()
        );
        assert!(most <= ceiling, "{what}: p99 {most:?}, at most {ceiling:?}");
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// By the nearest rank: of fewer than a hundred the longest is not left out.
    fn quantile(&self, thousandths: usize) -> Duration {
        let rank = (self.0.len() * thousandths).div_ceil(1000);
        let pause = self.0.get(rank.saturating_sub(1));
        pause.copied().unwrap_or_default()
    }
}
