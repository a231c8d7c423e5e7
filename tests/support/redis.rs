//! A Redis of the test's own, on nobody else's port; on disk only where a test asks for it.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::{eventually, free_address};

pub(crate) struct Redis {
    server: Child,
    address: SocketAddr,
    /// Where it keeps what it holds, if it does.
    directory: Option<TempDir>,
}

impl Redis {
    /// Holds everything in memory alone.
    pub(crate) async fn start() -> Self {
        Self::begin(None).await
    }

    /// Writes each change to its append-only file at once.
    pub(crate) async fn start_with_file() -> Self {
        Self::begin(Some(TempDir::new().expect("a directory"))).await
    }

    async fn begin(directory: Option<TempDir>) -> Self {
        let address = free_address();
        let server = spawn(address, directory.as_ref());
        let redis = Self {
            server,
            address,
            directory,
        };
        eventually("redis answers", async || redis.ping().await).await;
        redis
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it at once; what it held in memory alone is gone.
    pub(crate) fn kill(&mut self) {
        // It has ended already, or ends now.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }

    /// Starts it again after [`Redis::kill`], with what its file holds.
    pub(crate) async fn start_again(&mut self) {
        self.server = spawn(self.address, self.directory.as_ref());
        eventually("redis answers again", async || self.ping().await).await;
    }

    /// Sends a signal by its name: `STOP`, `CONT`.
    pub(crate) fn signal(&self, name: &str) {
        super::process::signal(self.server.id(), name);
    }

    /// Everything that it holds is gone, as if somebody had cleared it by hand.
    pub(crate) async fn empty(&self) {
        let emptied = async {
            let mut stream = TcpStream::connect(self.address).await.ok()?;
            stream.write_all(b"FLUSHALL\r\n").await.ok()?;
            let mut answer = [0; 5];
            stream.read_exact(&mut answer).await.ok()?;
            (&answer == b"+OK\r\n").then_some(())
        };
        emptied.await.expect("Redis takes a command");
    }

    /// One field of a hash; none if it is not there, or nobody answers.
    pub(crate) async fn field(&self, key: &str, field: &str) -> Option<String> {
        let mut stream = BufReader::new(TcpStream::connect(self.address).await.ok()?);
        let command = format!("HGET {key} {field}\r\n");
        stream.write_all(command.as_bytes()).await.ok()?;
        // Its length, or -1, and itself.
        let mut lines = stream.lines();
        let length = lines.next_line().await.ok()??;
        (length != "$-1").then_some(())?;
        lines.next_line().await.ok()?
    }

    async fn ping(&self) -> Option<()> {
        let mut stream = TcpStream::connect(self.address).await.ok()?;
        stream.write_all(b"PING\r\n").await.ok()?;
        let mut answer = [0; 7];
        stream.read_exact(&mut answer).await.ok()?;
        (answer == *b"+PONG\r\n").then_some(())
    }
}

fn spawn(address: SocketAddr, directory: Option<&TempDir>) -> Child {
    let mut command = Command::new("redis-server");
    command
        .args(["--bind", "127.0.0.1", "--save", ""])
        .args(["--port", &address.port().to_string()])
        .stdout(Stdio::null());
    if let Some(directory) = directory {
        command.arg("--dir").arg(directory.path()).args([
            "--appendonly",
            "yes",
            "--appendfsync",
            "always",
        ]);
    }
    command.spawn().expect("redis-server is installed")
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.kill();
    }
}
