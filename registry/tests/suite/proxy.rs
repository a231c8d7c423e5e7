//! A way to Redis that can fall silent: packets vanish, and nobody is told.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub(crate) struct Proxy {
    port: u16,
    /// Connections made before the present number are silent.
    era: Arc<watch::Sender<u64>>,
}

impl Proxy {
    pub(crate) async fn start(to: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let era = Arc::new(watch::Sender::new(0));
        let present = Arc::clone(&era);
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let Ok(far) = TcpStream::connect(("127.0.0.1", to)).await else {
                    continue;
                };
                let (near_in, near_out) = near.into_split();
                let (far_in, far_out) = far.into_split();
                tokio::spawn(forward(near_in, far_out, present.subscribe()));
                tokio::spawn(forward(far_in, near_out, present.subscribe()));
            }
        });
        Self { port, era }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// All present connections stay open and carry nothing any more; new ones work.
    pub(crate) fn silence(&self) {
        self.era.send_modify(|era| *era += 1);
    }
}

async fn forward(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut era: watch::Receiver<u64>) {
    let mut buffer = vec![0; 64 * 1024];
    era.mark_unchanged();
    loop {
        let read = tokio::select! {
            biased;
            _ = era.changed() => break,
            read = from.read(&mut buffer) => read,
        };
        match read {
            Ok(length) if length > 0 && to.write_all(&buffer[..length]).await.is_ok() => {}
            _ => return,
        }
    }
    // Silent: both ends stay open, longer than any test.
    tokio::time::sleep(Duration::from_mins(10)).await;
    drop((from, to));
}
