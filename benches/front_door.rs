//! What a gateway costs, beside `HAProxy` in the same minutes on the same machine.
//!
//! Both stand between the same players and the same backend, and carry the same messages: a short
//! wish up, the table's picture down to all who sit there. First at tables of four, which is what people
//! play at; then at tables of one, where a gateway has no advantage: what goes to several players of a table
//! goes over a link once, and through `HAProxy` for each. The backend is this program once more; it speaks
//! the nodes' link behind the gateway, and plain WebSocket behind `HAProxy`. Then 4,000 players sit and say
//! nothing.
//!
//! `cargo bench --bench front_door`; without `HAProxy` its row is missing.

#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on fails")]

#[path = "front_door/backend.rs"]
mod backend;
#[path = "front_door/players.rs"]
mod players;
#[path = "front_door/process.rs"]
mod process;

use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;

use players::Load;
use process::{Process, free_address};

const IDLE_PLAYERS: u32 = 4_000;
const ROUNDS: usize = 5;
/// Between coming in and the first message.
const REST: Duration = Duration::from_millis(500);

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, mode, redis] = &arguments[..]
        && mode == "backend"
    {
        return backend::run(redis).await;
    }
    let redis_address = free_address();
    let _redis = Process::spawn("redis-server", &redis_arguments(redis_address), &[]);
    process::until_open(redis_address).await;
    let redis = format!("redis://{redis_address}");
    let itself = std::env::current_exe().unwrap();
    let mut backend = Process::spawn(
        itself.to_str().unwrap(),
        &["backend".to_owned(), redis.clone()],
        &[],
    );
    let direct: SocketAddr = backend.first_line().parse().unwrap();

    let (listen, operations) = (free_address(), free_address());
    let gateway = Process::spawn(
        env!("CARGO_BIN_EXE_wizard"),
        &["gateway".to_owned()],
        &unlimited(listen, operations, &redis),
    );
    process::until_ready(operations).await;
    let proxy = free_address();
    let haproxy = haproxy(proxy, direct);
    if haproxy.is_some() {
        process::until_open(proxy).await;
    }

    let ways = Ways {
        direct,
        haproxy: haproxy.as_ref().map(|haproxy| (proxy, haproxy)),
        gateway: (listen, &gateway),
    };
    for seats in [4, 1] {
        beside(&ways, seats).await;
    }

    let before = gateway.resident_kib();
    let sitting = players::sit(listen, IDLE_PLAYERS).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let grown = gateway.resident_kib().saturating_sub(before);
    let each = f64::from(u32::try_from(grown).unwrap()) / f64::from(IDLE_PLAYERS);
    println!(
        "\n{IDLE_PLAYERS} players who sit and say nothing: {each:.1} KiB each ({grown} KiB more than {before} KiB)"
    );
    drop(sitting);
}

/// The ways from the players to the backend, and what stands in them.
struct Ways<'a> {
    direct: SocketAddr,
    haproxy: Option<(SocketAddr, &'a Process)>,
    gateway: (SocketAddr, &'a Process),
}

/// All ways in turns, at tables of so many.
async fn beside(ways: &Ways<'_>, seats: u32) {
    println!("\n| tables of {seats}, through | p50 | p99 | CPU a move |");
    println!("|---|---|---|---|");
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let nothing = row("nothing", ways.direct, Load::Plain, seats, None).await;
        let haproxy = match ways.haproxy {
            Some((address, haproxy)) => {
                Some(row("HAProxy", address, Load::Plain, seats, Some(haproxy)).await)
            }
            None => None,
        };
        let (address, gateway) = ways.gateway;
        let gateway = row("the gateway", address, Load::Players, seats, Some(gateway)).await;
        rounds.push(Round {
            nothing,
            haproxy,
            gateway,
        });
    }
    summarise(&rounds);
}

/// The three, one after the other.
struct Round {
    nothing: Row,
    haproxy: Option<Row>,
    gateway: Row,
}

/// What one of them took, in microseconds.
struct Row {
    p50: f64,
    p99: f64,
    cpu: f64,
}

async fn row(
    name: &str,
    address: SocketAddr,
    load: Load,
    seats: u32,
    between: Option<&Process>,
) -> Row {
    let used = || between.map_or(0.0, Process::cpu_seconds);
    // What it costs to come in is no cost of a move.
    let tables = players::gather(address, load, seats).await;
    tokio::time::sleep(REST).await;
    let before = used();
    let report = players::play(tables).await;
    let row = Row {
        p50: report.p50.as_secs_f64() * 1e6,
        p99: report.p99.as_secs_f64() * 1e6,
        cpu: (used() - before) * 1e6 / f64::from(report.moves),
    };
    println!(
        "| {name} | {:.0} µs | {:.0} µs | {:.0} µs |",
        row.p50, row.p99, row.cpu
    );
    row
}

/// Medians over the rounds: what each adds to nothing at all, and the gateway beside `HAProxy`.
fn summarise(rounds: &[Round]) {
    println!("\n| in the median round | adds at p50 | adds at p99 | CPU a move |");
    println!("|---|---|---|---|");
    let added = |row: &Row, round: &Round| {
        [
            row.p50 - round.nothing.p50,
            row.p99 - round.nothing.p99,
            row.cpu,
        ]
    };
    let beside = rounds.iter().filter_map(|round| {
        let haproxy = round.haproxy.as_ref()?;
        Some((added(haproxy, round), added(&round.gateway, round)))
    });
    let (haproxy, through): (Vec<_>, Vec<_>) = beside.unzip();
    let alone = rounds.iter().map(|round| added(&round.gateway, round));
    let gateway: Vec<_> = alone.collect();
    for (name, all) in [("HAProxy", &haproxy), ("the gateway", &gateway)] {
        if !all.is_empty() {
            let [p50, p99, cpu] = medians(all);
            println!("| {name} | {p50:.0} µs | {p99:.0} µs | {cpu:.0} µs |");
        }
    }
    let ratios = through.iter().zip(&haproxy);
    let ratios: Vec<_> = ratios
        .map(|(gateway, haproxy)| std::array::from_fn(|place| gateway[place] / haproxy[place]))
        .collect();
    if !ratios.is_empty() {
        let [p50, p99, cpu] = medians(&ratios);
        println!("| the gateway's by HAProxy's | {p50:.2} | {p99:.2} | {cpu:.2} |");
    }
}

fn medians(all: &[[f64; 3]]) -> [f64; 3] {
    std::array::from_fn(|place| {
        let mut values: Vec<f64> = all.iter().map(|row| row[place]).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    })
}

fn redis_arguments(address: SocketAddr) -> Vec<String> {
    let arguments = ["--bind", "127.0.0.1", "--save", "", "--port"];
    let mut arguments: Vec<String> = arguments.map(str::to_owned).into();
    arguments.push(address.port().to_string());
    arguments
}

fn unlimited(
    listen: SocketAddr,
    operations: SocketAddr,
    redis: &str,
) -> Vec<(&'static str, String)> {
    let mut variables = vec![
        ("LISTEN_ADDR", listen.to_string()),
        ("OPS_ADDR", operations.to_string()),
        ("REDIS_URL", redis.to_owned()),
    ];
    for limit in [
        "MAX_CONNECTIONS",
        "MAX_CONNECTIONS_PER_IP",
        "MESSAGE_RATE",
        "LOBBY_CREATE_RATE",
        "ACCEPT_RATE",
        "MAX_HTTP_CONCURRENCY",
    ] {
        variables.push((limit, "0".to_owned()));
    }
    variables
}

fn haproxy(listen: SocketAddr, backend: SocketAddr) -> Option<Process> {
    let path = std::env::temp_dir().join(format!("front-door-{}.cfg", std::process::id()));
    let mut file = std::fs::File::create(&path).unwrap();
    write!(
        file,
        "defaults\n  mode http\n  timeout connect 10s\n  timeout client 75s\n  timeout server 75s\n  \
         timeout tunnel 75s\nfrontend players\n  bind {listen}\n  maxconn 5000\n  default_backend \
         wizard\nbackend wizard\n  server one {backend}\n"
    )
    .unwrap();
    let arguments = [
        "-db".to_owned(),
        "-f".to_owned(),
        path.to_str().unwrap().to_owned(),
    ];
    Process::try_spawn("haproxy", &arguments, &[])
}
