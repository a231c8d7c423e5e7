//! A real Redis of one test's own.

#![expect(clippy::unwrap_used, reason = "where this fails, the test has failed")]

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::Duration;

pub(crate) struct RedisServer {
    port: u16,
    child: Mutex<Child>,
}

impl RedisServer {
    pub(crate) fn start() -> Self {
        let port = free_port();
        Self {
            port,
            child: Mutex::new(spawn(port, &[])),
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
        *self.child.lock().unwrap() = spawn(self.port, &[]);
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
        let client = redis::Client::open(self.url()).unwrap();
        let mut connection = client
            .get_connection_with_timeout(Duration::from_secs(5))
            .unwrap();
        redis::cmd(words[0])
            .arg(&words[1..])
            .query(&mut connection)
            .unwrap()
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let child = self.child.get_mut().unwrap();
        let _gone_already = child.kill();
        let _gone_already = child.wait();
    }
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

/// Starts a server and waits until it takes connections.
pub(crate) fn spawn(port: u16, arguments: &[&str]) -> Child {
    let mut child = Command::new("redis-server")
        .args(arguments)
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
    for _ in 0..500 {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return child;
        }
        assert!(
            child.try_wait().unwrap().is_none(),
            "redis-server has ended"
        );
        sleep(Duration::from_millis(10));
    }
    panic!("redis-server does not answer");
}
