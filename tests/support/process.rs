//! One process of the real program, with all that it says.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::cgroup::ControlGroup;
use super::http;
use super::{eventually, free_address};

/// How many of the last lines are shown when a test fails.
const SHOWN_LINES: usize = 60;

pub(crate) struct Wizard {
    name: String,
    child: Child,
    operations: SocketAddr,
    lines: Arc<Mutex<Vec<String>>>,
    readers: Vec<JoinHandle<()>>,
}

impl Wizard {
    /// Starts a role, or everything where `role` is empty; does not wait. With everything at DEBUG, and without the
    /// limits and pauses that would only slow a test down, unless `variables` say otherwise.
    pub(crate) fn spawn(name: &str, role: &str, variables: &[(&str, &str)]) -> Self {
        Self::spawn_by(Command::new(PROGRAM), name, role, variables)
    }

    /// As [`Wizard::spawn`], within the limits of a group from its first instruction on.
    pub(crate) fn spawn_in(
        group: &ControlGroup,
        name: &str,
        role: &str,
        variables: &[(&str, &str)],
    ) -> Self {
        Self::spawn_by(group.command(PROGRAM), name, role, variables)
    }

    fn spawn_by(mut command: Command, name: &str, role: &str, variables: &[(&str, &str)]) -> Self {
        let operations = free_address();
        let mut child = command
            .env_clear()
            .args(Some(role).filter(|role| !role.is_empty()))
            .envs(UNHINDERED)
            .env("OPS_ADDR", operations.to_string())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let lines = Arc::default();
        let readers = vec![
            keep_lines(child.stdout.take().expect("piped"), &lines),
            keep_lines(child.stderr.take().expect("piped"), &lines),
        ];
        Self {
            name: name.to_owned(),
            child,
            operations,
            lines,
            readers,
        }
    }

    /// Waits until `/ready` says so.
    pub(crate) async fn ready(mut self) -> Self {
        let what = format!("{} is ready", self.name);
        eventually(&what, async || {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                panic!("{} has ended: {status}", self.name);
            }
            let (status, _) = http::get(self.operations, "/ready").await?;
            (status == 200).then_some(())
        })
        .await;
        self
    }

    /// Waits for a line that it prints.
    pub(crate) async fn line(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        eventually(what, async || {
            self.lines().into_iter().find(|line| wanted(line))
        })
        .await
    }

    /// Everything that it has printed or logged so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Its memory.
    pub(crate) fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id()));
        let status = status.expect("a process that runs has a status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        kib.expect("in KiB").parse().expect("a number")
    }

    /// Waits until it has ended by itself, and all that it has said is known.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let what = format!("{} has ended", self.name);
        let child = &mut self.child;
        let status = eventually(&what, async || {
            child.try_wait().expect("a child can be waited for")
        })
        .await;
        for reader in self.readers.drain(..) {
            reader.join().expect("a reader does not panic");
        }
        status
    }

    /// By which the operating system knows it.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by its name: `STOP`, `CONT`, `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        signal(self.id(), name);
    }

    /// What the operating system calls its thread of this name.
    pub(crate) fn thread(&self, name: &str) -> u32 {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.id()));
        let mut threads = threads.expect("it runs").map_while(Result::ok);
        let is_called = |thread: &std::fs::DirEntry| {
            let called = std::fs::read_to_string(thread.path().join("comm"));
            called.is_ok_and(|called| called.trim_end() == name)
        };
        let thread = threads.find(is_called).expect("a thread of that name");
        let id = thread.file_name().into_string();
        id.expect("a number").parse().expect("a number")
    }

    /// Where operators ask.
    pub(crate) fn operations(&self) -> SocketAddr {
        self.operations
    }
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_wizard");

impl Drop for Wizard {
    fn drop(&mut self) {
        // It has ended already, or ends now.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            let lines = self.lines();
            for line in &lines[lines.len().saturating_sub(SHOWN_LINES)..] {
                eprintln!("{}: {line}", self.name);
            }
        }
    }
}

/// What an AI node presents to a game node.
pub(crate) const AI_SECRET: &str = "between AI nodes and game nodes";

/// The load counts as it is measured: for tests that are about it. For all others it is pinned, or a machine with other
/// things to do would refuse them their tables.
pub(crate) const MEASURED_LOAD: (&str, &str) = ("LOAD_FORCE_LEVEL", "");

const UNHINDERED: [(&str, &str); 11] = [
    ("LISTEN_ADDR", "127.0.0.1:0"),
    ("LOG_LEVEL", "debug"),
    ("LOG_FORMAT", "text"),
    ("AI_MOVE_DELAY", "0"),
    ("TRICK_PAUSE", "0"),
    ("MESSAGE_RATE", "0"),
    ("MAX_CONNECTIONS_PER_IP", "0"),
    ("LOBBY_CREATE_RATE", "0"),
    ("LOAD_FORCE_LEVEL", "normal"),
    ("GATEWAY_SHARED_SECRET", "between gateways and nodes"),
    ("AI_SHARED_SECRET", AI_SECRET),
];

/// A thread, so that the process never waits for the test to read.
fn keep_lines(
    output: impl Read + Send + 'static,
    lines: &Arc<Mutex<Vec<String>>>,
) -> JoinHandle<()> {
    let lines = Arc::clone(lines);
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            lines
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(line);
        }
    })
}

/// Sends a signal by its name.
pub(crate) fn signal(process: u32, name: &str) {
    let id = process.to_string();
    let sent = Command::new("kill").args(["-s", name, &id]).status();
    assert!(sent.expect("kill is there").success(), "{name} to {id}");
}
