//! A way to a game node on which one message is deadly: it is never delivered, and whoever made the way ends the process
//! behind it, as if that had crashed on reading it.
//!
//! The word is looked for in whole messages, since a client's frames are masked.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::free_address;

/// Dropped, it takes no connection any more: what was behind it is gone.
pub(crate) struct DeadlyWay {
    address: SocketAddr,
    to: SocketAddr,
    accepting: JoinHandle<()>,
}

impl DeadlyWay {
    /// Calls `died` when a message with this word was to be delivered.
    pub(crate) async fn start(
        to: SocketAddr,
        word: &'static str,
        died: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let address = free_address();
        let listener = TcpListener::bind(address).await.expect("a free address");
        let died = Arc::new(died);
        let accepting = tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let died = Arc::clone(&died);
                tokio::spawn(async move {
                    // Whichever end hangs up, the connection ends.
                    let _ = carry(near, to, word, &*died).await;
                });
            }
        });
        Self {
            address,
            to,
            accepting,
        }
    }

    /// Whether this is the process behind it.
    pub(crate) fn leads_to(&self, address: SocketAddr) -> bool {
        self.to == address
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for DeadlyWay {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn carry(near: TcpStream, to: SocketAddr, word: &str, died: &impl Fn()) -> io::Result<()> {
    let far = TcpStream::connect(to).await?;
    let (asking, mut answered) = near.into_split();
    let (mut answering, asked) = far.into_split();
    tokio::select! {
        ended = deliver(asking, asked, word, died) => ended,
        ended = tokio::io::copy(&mut answering, &mut answered) => ended.map(drop),
    }
}

/// A request for a WebSocket and its messages, as far as the deadly one.
async fn deliver(
    from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    word: &str,
    died: &impl Fn(),
) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while line != b"\r\n" {
        line.clear();
        if from.read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        to.write_all(&line).await?;
    }
    loop {
        let (frame, content) = read_frame(&mut from).await?;
        if holds(&content, word) {
            died();
            // Until the end of the process closes the other direction.
            std::future::pending::<()>().await;
        }
        to.write_all(&frame).await?;
    }
}

/// A masked frame as it came (RFC 6455, section 5.2), and what it holds.
async fn read_frame(from: &mut BufReader<OwnedReadHalf>) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut frame = vec![0; 2];
    from.read_exact(&mut frame).await?;
    let extended = match frame[1] & 0x7F {
        126 => 2,
        127 => 8,
        _ => 0,
    };
    let mut rest = vec![0; extended + MASK_BYTES];
    from.read_exact(&mut rest).await?;
    let length = match extended {
        0 => usize::from(frame[1] & 0x7F),
        _ => rest[..extended]
            .iter()
            .fold(0, |length, byte| length << 8 | usize::from(*byte)),
    };
    let mask: Vec<u8> = rest[extended..].to_vec();
    let mut masked = vec![0; length];
    from.read_exact(&mut masked).await?;
    let content = masked
        .iter()
        .zip(mask.iter().cycle())
        .map(|(byte, mask)| byte ^ mask);
    let content = content.collect();
    frame.extend(rest);
    frame.extend(masked);
    Ok((frame, content))
}

const MASK_BYTES: usize = 4;

fn holds(content: &[u8], word: &str) -> bool {
    let word = word.as_bytes();
    content.windows(word.len()).any(|part| part == word)
}
