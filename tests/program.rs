//! What a person and a supervisor see of the program: its help, its exit codes, its health check.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use tokio::net::TcpSocket;

/// Runs the program to its end, with nothing of this process' environment that would configure it.
fn run(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wizard"));
    command
        .env_clear()
        .args(arguments)
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn error_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The variables of the contract, from the table of `docs/protocol.md` §4, where
/// `LOAD_LAG_BUSY` / `_OVERLOAD` stands for `LOAD_LAG_OVERLOAD` as well.
fn documented_variables() -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/protocol.md");
    let contract = fs::read_to_string(path).unwrap();
    let section = contract
        .split("\n## 4. ")
        .nth(1)
        .expect("the contract has a section 4");
    let mut variables: Vec<String> = Vec::new();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let names = row.split('|').nth(1).unwrap();
        for name in names.split('`').skip(1).step_by(2) {
            variables.push(match name.strip_prefix('_') {
                None => name.to_owned(),
                Some(end) => {
                    let (stem, _) = variables.last().unwrap().rsplit_once('_').unwrap();
                    format!("{stem}_{end}")
                }
            });
        }
    }
    assert!(
        variables.len() > 40,
        "the table is read wrongly: {variables:?}"
    );
    variables
}

/// The help in one line, however it was wrapped.
fn help(arguments: &[&str]) -> String {
    let output = run(arguments, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", error_of(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What the help says about one flag.
fn entry<'help>(help: &'help str, variable: &str) -> &'help str {
    let flag = format!(
        "--{} <{variable}>",
        variable.to_lowercase().replace('_', "-")
    );
    let (_, entry) = help
        .split_once(&flag)
        .unwrap_or_else(|| panic!("{variable} is missing"));
    entry.split(" --").next().unwrap()
}

#[test]
fn help_lists_every_variable_of_the_contract_with_a_default() {
    let help = help(&["--help"]);
    for name in documented_variables()
        .iter()
        .filter(|name| !name.starts_with("OTEL_"))
    {
        let entry = entry(&help, name);
        assert!(
            entry.contains("[default: "),
            "{name} has no default: {entry}"
        );
        assert!(
            entry.contains(&format!("[env: {name}]")),
            "{name} is not read: {entry}"
        );
    }
    assert!(help.contains("OTEL_EXPORTER_OTLP_ENDPOINT"));
}

#[test]
fn the_defaults_are_those_of_the_contract() {
    let help = help(&["--help"]);
    let check = |variable: &str, default: &str| {
        let entry = entry(&help, variable);
        assert!(
            entry.contains(&format!("[default: {default}")),
            "{variable}: {entry}"
        );
    };
    check(
        "LISTEN_ADDR",
        "0.0.0.0:8080 for a gateway, 0.0.0.0:7000 for a game node",
    );
    check("OPS_ADDR", "127.0.0.1:9090 for a gateway");
    check("REDIS_KEY_PREFIX", "network:]");
    check("HEARTBEAT_INTERVAL", "5s]");
    check("PRESENCE_TTL", "15s]");
    check("READY_TIMEOUT", "30s]");
    check("DRAIN_TIMEOUT", "60s]");
    check("AI_DECISION_TIMEOUT", "5s]");
    check("AI_MOVE_DELAY", "0.8]");
    check("TRICK_PAUSE", "1.8]");
    check("AI_MAX_INFLIGHT", "32]");
    check("AI_BREAKER_FAILURES", "5]");
    check("AI_BREAKER_COOLDOWN", "30s]");
    check("AI_QUEUE", "64]");
    check("SESSION_TTL", "1800s]");
    check("MAX_LOBBIES", "1000]");
    check("MAX_ACTIVE_GAMES", "50]");
    check("MAX_CONNECTIONS", "500]");
    check("MAX_CONNECTIONS_PER_IP", "10]");
    check("MESSAGE_RATE", "10]");
    check("MESSAGE_BURST", "30]");
    check("MAX_RATE_VIOLATIONS", "50]");
    check("LOBBY_CREATE_RATE", "10]");
    check(
        "MAX_HTTP_CONCURRENCY",
        "1000, or MAX_CONNECTIONS + 100 if that is more]",
    );
    check("ACCEPT_RATE", "200]");
    check("RECONNECT_WINDOW", "5s]");
    check("LOAD_SAMPLE_INTERVAL", "1s]");
    check("LOAD_LAG_BUSY", "0.1]");
    check("LOAD_LAG_OVERLOAD", "0.25]");
    check("LOAD_LAG_SEVERE", "1.0]");
    check("LOAD_CPU_BUSY", "0.7]");
    check("LOAD_CPU_OVERLOAD", "0.9]");
    check("LOAD_THROTTLE_OVERLOAD", "0.5]");
    check("LOAD_OVERLOAD_SAMPLES", "3]");
    check("LOAD_RECOVER_SAMPLES", "10]");
}

#[test]
fn a_role_takes_its_own_variables_and_refuses_those_of_others() {
    assert!(help(&["game-node", "--help"]).contains("--trick-pause"));
    assert!(!help(&["ai-node", "--help"]).contains("--trick-pause"));
    let output = run(&["ai-node", "--trick-pause", "0"], &[]);
    assert_eq!(output.status.code(), Some(78));
}

#[test]
fn help_never_shows_a_secret_that_is_set() {
    let output = run(&["--help"], &[("OPERATOR_TOKEN", "tell-nobody")]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("tell-nobody"));
}

#[test]
fn a_wrong_configuration_ends_with_78_and_names_the_variable() {
    for (arguments, name, value) in [
        (&[][..], "LISTEN_ADDR", "localhost"),
        (&[], "OPS_ADDR", "9090"),
        (&[], "PRESENCE_TTL", "14s"),
        (&[], "HEARTBEAT_INTERVAL", "5001ms"),
        (&[], "HEARTBEAT_INTERVAL", "0"),
        (&[], "READY_TIMEOUT", "soon"),
        (&[], "DRAIN_TIMEOUT", "-1"),
        (&[], "MAX_HTTP_CONCURRENCY", "499"),
        (&[], "MAX_CONNECTIONS", "many"),
        (&[], "MESSAGE_BURST", "0"),
        (&[], "TRUSTED_PROXIES", "10.0.0.0/33"),
        (&[], "ALLOWED_ORIGINS", "example.org"),
        (&[], "LOAD_FORCE_LEVEL", "extreme"),
        (&[], "LOAD_CPU_BUSY", "70"),
        (&[], "LOAD_CPU_BUSY", "0.95"),
        (&[], "LOAD_LAG_BUSY", "300ms"),
        (&[], "LOAD_LAG_OVERLOAD", "50ms"),
        (&[], "LOAD_LAG_SEVERE", "0.2"),
        (&[], "LOAD_SAMPLE_INTERVAL", "0"),
        (&[], "LOAD_THROTTLE_OVERLOAD", "0"),
        (&[], "LOAD_OVERLOAD_SAMPLES", "0"),
        (&["game-node"], "LOAD_CPU_OVERLOAD", "0.5"),
        (&[], "AI_WORKERS", "0"),
        (&[], "AI_WORKERS", "100000000"),
        (&["ai-node"], "AI_QUEUE", "18446744073709551615"),
        (&[], "LOG_LEVEL", "verbose"),
        (&[], "LOG_FORMAT", "xml"),
        (&[], "SESSION_TTL", "9000h"),
        (&["game-node"], "ADVERTISE_ADDR", "game-1"),
        (&["game-node"], "GATEWAY_SHARED_SECRET", "line\n"),
        (&["ai-node"], "AI_SHARED_SECRET", "two\nlines"),
        (&["game-node"], "GATEWAY_SHARED_SECRET", " "),
        (&["gateway"], "OPERATOR_TOKEN", "token\n"),
        (&[], "NODE_ID", "no spaces"),
        (&[], "REDIS_URL", "http://127.0.0.1"),
        // An empty variable counts as not set, and a single role needs this one.
        (&["gateway"], "REDIS_URL", ""),
        (&["game-node"], "REDIS_URL", ""),
        (&["ai-node"], "REDIS_URL", ""),
        (&["game-node"], "PRESENCE_TTL", "1"),
        (&["gateway"], "MAX_HTTP_CONCURRENCY", "1"),
    ] {
        let output = run(arguments, &[(name, value)]);
        let error = error_of(&output);
        assert_eq!(
            output.status.code(),
            Some(78),
            "{arguments:?} {name}={value}: {error}"
        );
        assert!(error.contains(name), "{name}={value}: {error}");
        assert!(output.stdout.is_empty(), "nothing was started");
    }
}

#[test]
fn a_port_that_is_taken_ends_with_1_and_one_line() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    for (taken, free) in [("LISTEN_ADDR", "OPS_ADDR"), ("OPS_ADDR", "LISTEN_ADDR")] {
        let output = run(&[], &[(taken, &address), (free, "127.0.0.1:0")]);
        let error = error_of(&output);
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains(taken) && error.contains(&address), "{error}");
    }
}

/// Answers one request as an operations port would, and gives its address.
fn operations_port(status: &'static str, body: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let lines = BufReader::new(&stream).lines().map(Result::unwrap);
        let request: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
        assert!(request[0].starts_with("GET /ready "), "{request:?}");
        write!(
            stream,
            "HTTP/1.1 {status}\r\nconnection: close\r\n\r\n{body}"
        )
        .unwrap();
    });
    address
}

#[test]
fn health_is_the_exit_code_of_ready() {
    let health = |address: String| run(&["health"], &[("OPS_ADDR", &address)]);
    let ready = operations_port("200 OK", r#"{"ready":true,"checks":[]}"#);
    // A wildcard is where it listens; the check goes over loopback.
    assert_eq!(
        health(format!("0.0.0.0:{}", ready.port())).status.code(),
        Some(0)
    );

    let checks = r#"{"ready":false,"checks":[{"name":"probe","ok":false,"detail":"refused"}]}"#;
    let starting = operations_port("503 Service Unavailable", checks);
    let output = health(starting.to_string());
    assert_eq!(output.status.code(), Some(1));
    assert!(
        error_of(&output).contains("probe (refused)"),
        "{}",
        error_of(&output)
    );

    // It listens to nobody, and nobody else gets its port.
    let silent = TcpSocket::new_v4().unwrap();
    silent.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let nobody = silent.local_addr().unwrap();
    assert_eq!(health(nobody.to_string()).status.code(), Some(1));
}

/// Ports of their own for everything in one process.
const FREE_PORTS: [(&str, &str); 2] = [("LISTEN_ADDR", "127.0.0.1:0"), ("OPS_ADDR", "127.0.0.1:0")];

/// The program while it runs; killed if a test fails before it has ended.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Fails if it has ended, which is what tests want.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    /// Everything in one process.
    fn start(variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wizard"));
        command
            .env_clear()
            .envs(FREE_PORTS)
            .envs(variables.iter().copied());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    /// Waits until it says where to play. Gives the address, and what else it will say.
    fn ready(&mut self) -> (String, Receiver<Option<String>>) {
        let said = lines(self.0.stdout.take().unwrap());
        let line = said
            .recv_timeout(PATIENCE)
            .expect("neither ready nor ended in time");
        let line = line.expect("it ended instead of becoming ready");
        let address = line.strip_prefix("Wizard is ready: http://").expect(&line);
        (address.to_owned(), said)
    }

    /// Tells it to stop, and gives its exit code and all that it logged.
    fn stop(mut self) -> (Option<i32>, String) {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").arg(&id).status().unwrap().success());
        let mut log = String::new();
        self.0
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut log)
            .unwrap();
        (self.0.wait().unwrap().code(), log)
    }
}

/// Far above what a start takes, even on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// What it says, line by line, and `None` at the end.
fn lines(output: impl Read + Send + 'static) -> Receiver<Option<String>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let lines = BufReader::new(output).lines().map(Result::unwrap);
        for line in lines.map(Some).chain([None]) {
            // The test has failed and asks no more.
            let _ = sender.send(line);
        }
    });
    receiver
}

#[test]
fn everything_says_ready_once_it_plays_and_ends_well_when_told_to() {
    let mut running = Running::start(&[("LOG_LEVEL", "warn")]);
    let (address, said) = running.ready();
    let mut page = TcpStream::connect(&address).unwrap();
    write!(page, "GET / HTTP/1.0\r\nhost: {address}\r\n\r\n").unwrap();
    let mut answer = String::new();
    page.read_to_string(&mut answer).unwrap();
    assert_eq!(answer.split(' ').nth(1), Some("200"), "{answer}");

    let (code, log) = running.stop();
    assert_eq!(code, Some(0), "{log}");
    assert_eq!(
        said.recv_timeout(PATIENCE),
        Ok(None),
        "one line is all it says"
    );
    assert_eq!(log, "", "nothing in a healthy life is worth a warning");
}

#[test]
fn a_certificate_for_the_collector_that_is_none_is_refused_and_named() {
    let none = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let certificate = "OTEL_EXPORTER_OTLP_CERTIFICATE";
    let traces = "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE";
    let key = "OTEL_EXPORTER_OTLP_CLIENT_KEY";
    for (variable, file, why) in [
        (certificate, "/nowhere.pem", "/nowhere.pem: No such file"),
        (certificate, none, "is not a certificate in PEM"),
        (traces, none, "is not a certificate in PEM"),
        (key, none, "is of no use alone"),
    ] {
        for protocol in ["grpc", "http/protobuf"] {
            let mut variables = FREE_PORTS.to_vec();
            variables.extend([
                ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://127.0.0.1:1"),
                ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol),
                (variable, file),
            ]);
            let output = run(&[], &variables);
            let error = error_of(&output);
            assert_eq!(output.status.code(), Some(78), "{error}");
            let named = error.contains(&format!("{variable}: ")) && error.contains(why);
            assert!(named, "{error}");
        }
    }
}

const ARENA: [&str; 9] = [
    "arena",
    "--challenger",
    "easy",
    "--opponent",
    "normal",
    "--players",
    "3",
    "--deals",
    "2",
];
/// Of a game of three.
const ROUNDS: usize = 20;

#[test]
fn the_arena_reports_for_programs() {
    let output = run(&[&ARENA[..], &["--seed", "5", "--json"]].concat(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", error_of(&output));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["players"], 3);
    assert_eq!(told["worlds"], 400);
    assert_eq!(told["seed"], 5);
    assert_eq!(
        told["levels"],
        serde_json::json!({"challenger": "easy", "opponent": "normal"})
    );
    let report = &told["report"];
    assert_eq!((&report["deals"], &report["games"]), (&2.into(), &6.into()));
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    assert!(number(&report["standard_error"]) > 0.0, "{report}");
    let [challenger, opponent] = ["challenger", "opponent"].map(|side| &report[side]);
    let ahead = number(&challenger["points"]) - number(&opponent["points"]);
    assert!((number(&report["lead"]) - ahead).abs() < 1e-6, "{report}");
    let wins = number(&challenger["wins"]) + 2.0 * number(&opponent["wins"]);
    assert!(
        (wins - 1.0).abs() < 1e-6,
        "somebody wins each game: {report}"
    );
    for side in [challenger, opponent] {
        let rounds = side["bids_made_by_round"].as_array().unwrap();
        assert_eq!(rounds.len(), ROUNDS);
        assert!(
            rounds
                .iter()
                .all(|made| (0.0..=1.0).contains(&number(made)))
        );
        let mean = rounds.iter().map(number).sum::<f64>() / 20.0;
        assert!((number(&side["bids_made"]) - mean).abs() < 1e-6, "{side}");
        let [mean, p50, p99] =
            ["mean", "p50", "p99"].map(|which| number(&side[format!("decision_{which}_ms")]));
        assert!(mean > 0.0 && p50 > 0.0 && p50 <= p99, "{side}");
    }
}

#[test]
fn the_arena_prints_a_table_for_people() {
    let output = run(&ARENA, &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let heads = ["", "points a game", "games won", "bids hit"];
    for (line, head) in lines.iter().zip(heads) {
        assert!(line.starts_with(head), "{text}");
    }
    let columns: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!(columns, ["1", "easy", "others", "normal"], "{text}");
    let rounds = lines.iter().filter(|line| line.starts_with("  in round "));
    assert_eq!(rounds.count(), ROUNDS, "{text}");
    assert!(
        lines.iter().all(|line| line.is_ascii() && line.len() <= 80),
        "{text}"
    );
    assert!(
        lines.last().unwrap().ends_with(": 6 games on 2 deals."),
        "{text}"
    );
}
