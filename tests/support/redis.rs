//! A Redis of the test's own: nothing on disk, nobody else's port.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{eventually, free_address};

pub(crate) struct Redis {
    server: Child,
    address: SocketAddr,
}

impl Redis {
    pub(crate) async fn start() -> Self {
        let address = free_address();
        let server = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .args(["--port", &address.port().to_string()])
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server is installed");
        let redis = Self { server, address };
        eventually("redis answers", async || redis.ping().await).await;
        redis
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// Ends it at once, and all that it held with it.
    pub(crate) fn kill(&mut self) {
        // It has ended already, or ends now.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }

    /// Sends a signal by its name: `STOP`, `CONT`.
    pub(crate) fn signal(&self, name: &str) {
        super::process::signal(self.server.id(), name);
    }

    async fn ping(&self) -> Option<()> {
        let mut stream = TcpStream::connect(self.address).await.ok()?;
        stream.write_all(b"PING\r\n").await.ok()?;
        let mut answer = [0; 7];
        stream.read_exact(&mut answer).await.ok()?;
        (answer == *b"+PONG\r\n").then_some(())
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.kill();
    }
}
