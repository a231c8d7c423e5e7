//! A real Redis of one test's own.

#![expect(clippy::unwrap_used, reason = "where this fails, the test has failed")]

use std::io::{Error, ErrorKind};
use std::net::{TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;

pub(crate) struct RedisServer {
    port: u16,
    child: Mutex<Child>,
    /// Where a replica puts what it is sent, and nobody else finds it.
    directory: TempDir,
}

impl RedisServer {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// Further settings, which are gone when it is started again.
    pub(crate) fn start_with(arguments: &[&str]) -> Self {
        let port = free_port();
        let directory = TempDir::new().unwrap();
        let child = Mutex::new(spawn(port, &directory, arguments));
        Self {
            port,
            child,
            directory,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Stops it at once; what it held is gone.
    pub(crate) fn kill(&self) {
        let mut child = self.child.lock().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Starts it again, empty.
    pub(crate) fn start_again(&self) {
        *self.child.lock().unwrap() = spawn(self.port, &self.directory, &[]);
    }

    /// Sends a signal such as `STOP`.
    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.lock().unwrap().id().to_string();
        assert!(
            Command::new("kill")
                .args([&format!("-{signal}"), &pid])
                .status()
                .unwrap()
                .success()
        );
    }

    /// A plain command, as an operator would send it.
    pub(crate) fn command<T: redis::FromRedisValue>(&self, words: &[&str]) -> T {
        command(self.port, words)
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let child = self.child.get_mut().unwrap();
        let _gone_already = child.kill();
        let _gone_already = child.wait();
    }
}

/// For an answer: a script that fills a Redis takes seconds on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A plain command to the server or sentinel of a port.
///
/// A wait with a time limit is not taken up again by the system after a signal, and each child
/// of a test that ends sends one: such a command is given again.
pub(crate) fn command<T: redis::FromRedisValue>(port: u16, words: &[&str]) -> T {
    let client = redis::Client::open(format!("redis://127.0.0.1:{port}")).unwrap();
    for _ in 0..20 {
        let answer = client
            .get_connection_with_timeout(PATIENCE)
            .and_then(|mut connection| {
                connection.set_read_timeout(Some(PATIENCE))?;
                redis::cmd(words[0]).arg(&words[1..]).query(&mut connection)
            });
        match answer {
            Ok(answer) => return answer,
            Err(error) if is_interrupted(&error) => {}
            Err(error) => panic!("{words:?}: {error}"),
        }
    }
    panic!("{words:?}: interrupted again and again");
}

fn is_interrupted(error: &redis::RedisError) -> bool {
    // The library shares the error of the system, and so its source is the sharing.
    type Shared = Arc<dyn std::error::Error + Send + Sync>;
    std::error::Error::source(error)
        .and_then(|source| source.downcast_ref::<Shared>())
        .and_then(|shared| shared.downcast_ref::<Error>())
        .is_some_and(|error| error.kind() == ErrorKind::Interrupted)
}

/// A free port below those that the system gives to connections: one of these could take a port
/// while its server is being restarted. No two tests on this machine get the same.
pub(crate) fn free_port() -> u16 {
    const FIRST: u32 = 12_000;
    const COUNT: u32 = 20_000;
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(101);
    loop {
        let number = start.wrapping_add(TAKEN.fetch_add(1, Ordering::Relaxed)) % COUNT;
        let port = u16::try_from(FIRST + number).unwrap();
        if is_reserved(port) && TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Among all tests that run, by a name that the system gives to one of them at a time and takes
/// back at its end, however that comes. The tests of the whole system use the same names.
fn is_reserved(port: u16) -> bool {
    static RESERVED: Mutex<Vec<UnixListener>> = Mutex::new(Vec::new());
    let name = SocketAddr::from_abstract_name(format!("wizard-test-port-{port}")).unwrap();
    let reserved = UnixListener::bind_addr(&name);
    reserved
        .map(|reserved| RESERVED.lock().unwrap().push(reserved))
        .is_ok()
}

/// Starts a server and waits until it takes connections.
pub(crate) fn spawn(port: u16, directory: &TempDir, arguments: &[&str]) -> Child {
    let mut child = Command::new("redis-server")
        .args(arguments)
        .arg("--dir")
        .arg(directory.path())
        // Replicas come at once: none waits for others to be sent the same.
        .args(["--repl-diskless-sync-delay", "0"])
        .args([
            "--port",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("redis-server is installed");
    for _ in 0..6000 {
        let answers = TcpStream::connect(("127.0.0.1", port)).is_ok();
        assert!(
            child.try_wait().unwrap().is_none(),
            "redis-server has ended"
        );
        if answers {
            return child;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("redis-server does not answer");
}

#[test]
fn interruptions_are_told_from_faults() {
    let error = |kind| redis::RedisError::from(Error::from(kind));
    assert!(is_interrupted(&error(ErrorKind::Interrupted)));
    assert!(!is_interrupted(&error(ErrorKind::ConnectionRefused)));
}
