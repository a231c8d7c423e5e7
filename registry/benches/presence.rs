//! The figures of presence, against a real Redis: how fast news travel, what a list costs, what a
//! fleet costs. Fails where a promise is broken. `FLEET=1000` asks for one size of fleet only.
#![allow(missing_docs, reason = "a program, not a library")]

#[path = "../tests/suite/redis_server.rs"]
#[allow(dead_code, reason = "the suite needs more of it")]
mod redis_server;

use std::hint::black_box;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use redis_server::RedisServer;
use registry::{
    Event, Events, Incarnation, Membership, NodeId, Presence, PresenceConfig, RedisConfig,
    Registry, Role,
};
use uuid::Uuid;

/// News must travel within this at the 99th percentile.
const NEWS_WITHIN: Duration = Duration::from_millis(300);
/// Of Redis' time, for a list of 50.
const LIST_WITHIN: Duration = Duration::from_millis(2);
/// After the last of many has come or gone, everybody's list is right.
const LISTS_WITHIN: Duration = Duration::from_secs(5);
const LOCAL_READ_WITHIN: Duration = Duration::from_micros(1);
const FOREIGN_KEYS: usize = 1_000_000;
/// A machine on which a fleet has not found itself by then is too small for it.
const START_WITHIN: Duration = Duration::from_mins(5);
const MEASURED: Duration = Duration::from_secs(20);

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        if std::env::var_os("FLEET").is_none() {
            news().await;
            list_among_foreign_keys().await;
            local_read().await;
            come_and_go().await;
        }
        let asked = std::env::var("FLEET").ok();
        let sizes: Vec<usize> = match asked.as_deref().map(str::parse) {
            Some(size) => vec![size.expect("a number")],
            None => vec![50, 200, 1000],
        };
        for size in sizes {
            fleet(size, false).await;
            fleet(size, true).await;
        }
    });
}

fn connect(server: &RedisServer) -> Registry {
    Registry::redis(&RedisConfig::new(server.url())).expect("a valid configuration")
}

fn join(registry: &Registry, id: &str) -> Membership {
    let own = Presence::new(
        NodeId::new(id).expect("a valid id"),
        Role::new("game").expect("a valid role"),
        Incarnation::new(Uuid::new_v4()),
        "game-node-17.games.example:7000",
        "1.2.3",
    );
    registry
        .join(own, PresenceConfig::default())
        .expect("a valid configuration")
}

async fn until(events: &mut Events, mut happens: impl FnMut(Event) -> bool) {
    while !happens(events.next().await.expect("the membership goes on")) {}
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn now() -> Instant {
    Instant::now()
}

/// From the call that says so to the event at another node: 100 each.
async fn news() {
    let server = RedisServer::start();
    let watcher = join(&connect(&server), "watcher");
    watcher.ready().await;
    let mut events = watcher.events();
    let (mut ready, mut stopped) = (Vec::new(), Vec::new());
    for number in 0..100 {
        let id = format!("node-{number}");
        let node = join(&connect(&server), &id);
        let mut checks = node.checks();
        let started = checks.wait_for(|checks| checks.heartbeat_written).await;
        drop(started);
        let said = now();
        node.ready().await;
        until(&mut events, |event| match event {
            Event::Joined(one) | Event::Changed(one) => {
                one.id.as_str() == id && one.state == registry::State::Ready
            }
            Event::Left { .. } => false,
        })
        .await;
        ready.push(said.elapsed());
        let said = now();
        node.leave().await;
        until(&mut events, |event| matches!(event, Event::Left { .. })).await;
        stopped.push(said.elapsed());
    }
    report("ready -> others' event", ready);
    report("clean stop -> others' event", stopped);
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
    let (half, most, worst) = (at(50), at(99), at(100));
    println!("{what}: p50 {half:?}, p99 {most:?}, worst {worst:?}");
    assert!(most < NEWS_WITHIN, "{what}: p99 {most:?}");
}

async fn list_among_foreign_keys() {
    let server = RedisServer::start();
    let fill = format!("for i = 1, {FOREIGN_KEYS} do redis.call('SET', 'foreign:' .. i, 'x') end");
    server.command::<Option<String>>(&["EVAL", &fill, "0"]);
    let nodes = start_fleet(&server, 50).await;
    let registry = connect(&server);
    registry.servers().await.expect("an answer");
    // The best of some: what the machine does beside is no cost of a list.
    let mut best = Duration::MAX;
    for _ in 0..20 {
        server.command::<String>(&["CONFIG", "RESETSTAT"]);
        assert_eq!(registry.servers().await.expect("an answer").len(), 50);
        best = best.min(time_of_commands(&server));
    }
    println!("list of 50 among {FOREIGN_KEYS} foreign keys: {best:?} of Redis' time");
    assert!(best < LIST_WITHIN, "{best:?}");
    drop(nodes);
}

fn time_of_commands(server: &RedisServer) -> Duration {
    let stats: String = server.command(&["INFO", "commandstats"]);
    let relevant = |line: &&str| {
        line.starts_with("cmdstat_") && !line.contains("_config|") && !line.contains("_info:")
    };
    let micros = stats.lines().filter(relevant).filter_map(|line| {
        line.split("usec=")
            .nth(1)?
            .split(',')
            .next()?
            .parse::<u64>()
            .ok()
    });
    Duration::from_micros(micros.sum())
}

async fn local_read() {
    let server = RedisServer::start();
    let nodes = start_fleet(&server, 200).await;
    let role = Role::new("game").expect("a valid role");
    assert_eq!(nodes[0].servers_by_role(&role).len(), 200);
    let (began, rounds) = (now(), 1_000_000_u32);
    for _ in 0..rounds {
        black_box(nodes[0].servers_by_role(black_box(&role)));
    }
    let one = began.elapsed() / rounds;
    println!("local read of 200 by role: {one:?}");
    assert!(one < LOCAL_READ_WITHIN, "{one:?}");
}

/// 200 within 10 s, of whom every other one leaves a second later.
async fn come_and_go() {
    const SIZE: u32 = 200;
    const TIME: Duration = Duration::from_secs(9);
    let server = RedisServer::start();
    let registry = connect(&server);
    let began = now();
    let lives = (0..SIZE).map(|number| {
        let registry = registry.clone();
        tokio::spawn(async move {
            tokio::time::sleep_until((began + TIME * number / SIZE).into()).await;
            let node = join(&registry, &format!("node-{number:03}"));
            node.ready().await;
            if number % 2 == 1 {
                tokio::time::sleep(Duration::from_secs(1)).await;
                node.leave().await;
                return None;
            }
            Some(node)
        })
    });
    let stay: Vec<Membership> = join_all(lives.collect::<Vec<_>>())
        .await
        .into_iter()
        .filter_map(|life| life.expect("it lives"))
        .collect();
    let over = began.elapsed();
    let settled = now();
    let is_right = |node: &Membership| {
        let servers = node.servers();
        servers.len() == stay.len() && stay.iter().all(|one| node.server(&one.own().id).is_some())
    };
    while !stay.iter().all(is_right) {
        assert!(settled.elapsed() < START_WITHIN, "some list stays wrong");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let right = settled.elapsed();
    println!(
        "{SIZE} came, and half of them went, in {over:?}: all lists are right {right:?} later"
    );
    assert!(right < LISTS_WITHIN, "{right:?}");
}

/// All ready, and each knows all.
async fn start_fleet(server: &RedisServer, size: usize) -> Vec<Membership> {
    let began = now();
    let registry = connect(server);
    let mut nodes: Vec<Membership> = Vec::new();
    while nodes.len() < size {
        // Some at a time: all live on this one machine, which a thousand at once would choke.
        let some = nodes.len()..size.min(nodes.len() + 50);
        let some: Vec<Membership> = some
            .map(|number| join(&registry, &format!("game-{number:04}")))
            .collect();
        join_all(some.iter().map(Membership::ready)).await;
        nodes.extend(some);
        let all = nodes.len();
        while !nodes.iter().all(|node| node.servers().len() == all) {
            assert!(began.elapsed() < START_WITHIN, "stuck at {all} nodes");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    println!(
        "{size} nodes know each other {:?} after the first start",
        began.elapsed()
    );
    nodes
}

/// What it costs to be many. Busy: everybody's counts are others with each heartbeat.
async fn fleet(size: usize, busy: bool) {
    let server = RedisServer::start();
    let nodes = start_fleet(&server, size).await;
    let churn = tokio::spawn(change_counts(if busy { nodes.clone() } else { Vec::new() }));
    tokio::time::sleep(Duration::from_secs(6)).await;
    let (redis_before, own_before) = (Usage::of(&server), own_cpu());
    tokio::time::sleep(MEASURED).await;
    let (redis, own) = (Usage::of(&server), own_cpu());
    churn.abort();
    let seconds = MEASURED.as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let kilobytes = (redis.bytes - redis_before.bytes) as f64 / 1000.0 / seconds;
    #[expect(clippy::cast_precision_loss, reason = "a thousand")]
    let nodes_cpu = (own - own_before) / seconds / size as f64;
    println!(
        "{size} nodes, {}: Redis {:.1} % of a core, {kilobytes:.0} kB/s ({:.1} kB/s a node); a node {:.2} % of a core",
        if busy { "all counts changing" } else { "idle" },
        (redis.cpu - redis_before.cpu) / seconds * 100.0,
        kilobytes / f64::from(u32::try_from(size).expect("a thousand")),
        nodes_cpu * 100.0,
    );
    for node in &nodes {
        assert_eq!(node.servers().len(), size, "nobody has expired");
    }
}

/// Other counts for everybody, once a second.
async fn change_counts(nodes: Vec<Membership>) {
    for round in 0.. {
        for node in &nodes {
            node.update(|own| own.players = round);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// What Redis has used since its start.
struct Usage {
    cpu: f64,
    bytes: u64,
}

impl Usage {
    fn of(server: &RedisServer) -> Self {
        let info: String = server.command(&["INFO", "everything"]);
        let field = |name: &str| {
            let line = info.lines().find_map(|line| line.strip_prefix(name));
            line.expect("Redis tells").trim().to_owned()
        };
        let seconds = |name| field(name).parse::<f64>().expect("a number");
        let bytes = |name| field(name).parse::<u64>().expect("a number");
        Self {
            cpu: seconds("used_cpu_user:") + seconds("used_cpu_sys:"),
            bytes: bytes("total_net_input_bytes:") + bytes("total_net_output_bytes:"),
        }
    }
}

/// Seconds of processor time of this process, in which all the nodes live.
fn own_cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let (_, fields) = stat.rsplit_once(") ").expect("a name in brackets");
    let ticks = fields.split(' ').skip(11).take(2);
    ticks
        .map(|ticks| ticks.parse::<f64>().expect("a number") / 100.0)
        .sum()
}
