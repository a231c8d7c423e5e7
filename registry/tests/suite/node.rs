//! A node in a process of its own, so that it can be killed, stopped and measured: this test
//! program, started once more for its one test [`process`].

use std::io::BufRead;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use registry::{Event, Incarnation, NodeId, Presence, PresenceConfig, RedisConfig, Registry, Role};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::world::until;

const URL: &str = "REGISTRY_TEST_NODE_URL";
const ID: &str = "REGISTRY_TEST_NODE_ID";
/// Begins what a node says; the rest of its output is the test harness'.
const MARK: &str = "> ";

/// Does nothing, unless it was started by [`Node::start`].
#[test]
fn process() {
    let (Ok(url), Ok(id)) = (std::env::var(URL), std::env::var(ID)) else {
        return;
    };
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(serve(url, id));
}

async fn serve(url: String, id: String) {
    let registry = Registry::redis(&RedisConfig::new(url)).expect("a valid configuration");
    let own = Presence::new(
        NodeId::new(id).expect("a valid id"),
        Role::new("game").expect("a valid role"),
        Incarnation::new(Uuid::new_v4()),
        "127.0.0.1:7000",
        "1.2.3",
    );
    println!("\n{MARK}run {}", own.incarnation);
    let member = registry
        .join(own, PresenceConfig::default())
        .expect("a valid configuration");
    let (mut events, mut sessions) = (member.events(), member.sessions());
    let mut orders = orders();
    member.ready().await;
    println!("{MARK}ready");
    loop {
        tokio::select! {
            event = events.next() => match event.expect("the membership goes on") {
                Event::Joined(one) => {
                    println!("{MARK}joined {} {} {:?}", one.id, one.incarnation, one.state);
                },
                Event::Changed(one) => println!("{MARK}changed {} {:?}", one.id, one.state),
                Event::Left { presence, reason } => println!("{MARK}left {} {reason}", presence.id),
            },
            Ok(session) = sessions.recv() => println!("{MARK}heard {}", session.generation.0),
            order = orders.recv() => {
                if order.is_some() {
                    member.leave().await;
                    println!("{MARK}gone");
                }
                return;
            }
        }
    }
}

/// A line is an order to leave; the end means that the test is over.
fn orders() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

pub(crate) struct Node {
    pub(crate) id: String,
    child: Child,
    said: Lines,
    log: Lines,
}

type Lines = Arc<Mutex<Vec<String>>>;

impl Node {
    pub(crate) fn start(url: &str, id: &str) -> Self {
        Self::start_with(url, id, &[])
    }

    pub(crate) fn start_with(url: &str, id: &str, environment: &[(&str, &str)]) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["node::process", "--exact", "--nocapture"])
            .env(URL, url)
            .env(ID, id)
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("this program runs");
        let said = collect(child.stdout.take().expect("it is piped"));
        let log = collect(child.stderr.take().expect("it is piped"));
        Self {
            id: id.to_owned(),
            child,
            said,
            log,
        }
    }

    /// Everything it has said so far.
    pub(crate) fn said(&self) -> Vec<String> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let own = said.iter().filter_map(|line| line.strip_prefix(MARK));
        own.map(str::to_owned).collect()
    }

    pub(crate) fn has_said(&self, start: &str) -> bool {
        self.said().iter().any(|line| line.starts_with(start))
    }

    pub(crate) async fn says(&self, start: &str) {
        let what = format!("{} says {start:?}", self.id);
        until(&what, || async { self.has_said(start) }).await;
    }

    /// Waits until it has another one listed as ready. One that is still starting is listed
    /// too, and its readiness is a change that may come at any time after.
    pub(crate) async fn sees_ready(&self, other: &str) {
        let joined = format!("joined {other} ");
        let changed = format!("changed {other} ");
        let what = format!("{} sees {other} ready", self.id);
        until(&what, || async {
            let said = self.said();
            let about = |line: &&String| line.starts_with(&joined) || line.starts_with(&changed);
            said.iter()
                .rfind(about)
                .is_some_and(|line| line.ends_with(" Ready"))
        })
        .await;
    }

    /// Its run, once it has named it.
    pub(crate) async fn incarnation(&self) -> String {
        self.says("run ").await;
        let said = self.said();
        let run = said.iter().find_map(|line| line.strip_prefix("run "));
        run.expect("it has said so").to_owned()
    }

    /// Its log so far.
    pub(crate) fn log(&self) -> Vec<String> {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.clone()
    }

    /// Asks it to leave cleanly.
    pub(crate) async fn leave(&mut self) {
        let orders = self.child.stdin.as_mut().expect("it is piped");
        orders.write_all(b"leave\n").await.expect("it listens");
    }

    /// As `kill -9`.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.expect("it runs");
    }

    /// Sends a signal such as `STOP`.
    pub(crate) fn signal(&self, signal: &str) {
        let status = std::process::Command::new("kill")
            .args([format!("-{signal}"), self.pid().to_string()])
            .status();
        assert!(status.expect("kill is installed").success());
    }

    /// What it has used of the processor, all threads together.
    pub(crate) fn cpu(&self) -> Duration {
        let path = format!("/proc/{}/stat", self.pid());
        let stat = std::fs::read_to_string(path).expect("it runs");
        let (_, fields) = stat.rsplit_once(") ").expect("a name in brackets");
        let ticks: u64 = fields
            .split(' ')
            .skip(11)
            .take(2)
            .map(|ticks| ticks.parse::<u64>().expect("a number"))
            .sum();
        // Linux counts in hundredths of a second, whatever the kernel's own tick.
        Duration::from_millis(ticks * 10)
    }

    fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }
}

fn collect(output: impl AsyncRead + Unpin + Send + 'static) -> Lines {
    let lines = Lines::default();
    let collected = Arc::clone(&lines);
    tokio::spawn(async move {
        let mut output = BufReader::new(output).lines();
        while let Ok(Some(line)) = output.next_line().await {
            let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
            collected.push(line);
        }
    });
    lines
}
