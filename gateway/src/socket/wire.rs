//! A player's TCP socket, and the WebSocket frames on it.
//!
//! What comes in is read by tungstenite, which answers a ping or a close by itself: those answers
//! go into the outbox like everything else. What goes out are whole unmasked frames, put together
//! as much at once as there is; between two writes an idle player keeps no buffer for them.
//!
//! Polled by the connection's task alone: nothing is woken between the socket and that.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use protocol::limit::MAX_PLAYER_FRAME_BYTES;
use tokio::io::AsyncWrite;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig, WebSocketContext};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::handshake::Bare;
use super::now;
use crate::metrics::Metrics;
use crate::outbox::Outbox;
use crate::polled::{Polled, message};

/// What is read at once. A player's frames are some hundred bytes; longer ones have room made for
/// them. The default would cost 128 KiB for each connection.
const READ_BUFFER_BYTES: usize = 512;
/// Kept of the buffer in which this thread puts frames together: many pictures fit.
const KEPT_BYTES: usize = 64 * 1024;
/// How long the last frames may take to be written.
const CLOSE_WITHIN: Duration = Duration::from_secs(5);

thread_local! {
    /// Where the frames of a write are put together: mostly the kernel takes them at once.
    static FRAMES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Both directions of one player's socket, or of what a simulation has in its place.
pub(crate) trait Wire {
    /// What waits to be written.
    fn outbox(&mut self) -> &mut Outbox;

    /// The next message; none once the player has closed in good order.
    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Message, Error>>>;

    /// Goes on with the write under way. Ready when there is none any more.
    fn poll_written(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Begins to write what the outbox holds, as much at once as there is.
    fn begin_write(&mut self, context: &mut Context<'_>, metrics: &Metrics) -> io::Result<()>;

    /// Writes what comes into the outbox. Ready with the last frame, or with an error.
    fn poll_write(&mut self, context: &mut Context<'_>, metrics: &Metrics) -> Poll<io::Result<()>> {
        loop {
            ready!(self.poll_written(context))?;
            if self.outbox().written() {
                return Poll::Ready(Ok(()));
            }
            if self.outbox().is_empty() {
                return Poll::Pending;
            }
            self.begin_write(context, metrics)?;
        }
    }

    /// Writes what is left, up to the last frame; whether it got there in time.
    async fn finish(&mut self, metrics: &Metrics) -> bool {
        let written = poll_fn(|context| self.poll_write(context, metrics));
        timeout(CLOSE_WITHIN, written).await.is_ok()
    }
}

pub(super) struct Socket {
    tcp: TcpStream,
    reading: WebSocketContext,
    outbox: Outbox,
    /// Of the write under way, what the kernel has not taken.
    rest: Bytes,
}

impl Socket {
    pub(super) fn new(bare: Bare) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER_BYTES)
            // Whatever it answers is in the outbox at once.
            .write_buffer_size(0)
            .max_message_size(Some(MAX_PLAYER_FRAME_BYTES))
            .max_frame_size(Some(MAX_PLAYER_FRAME_BYTES));
        Self {
            tcp: bare.stream,
            reading: WebSocketContext::from_partially_read(bare.read, Role::Server, Some(config)),
            outbox: Outbox::default(),
            rest: Bytes::new(),
        }
    }

    /// Reads on until the player has closed too, or nothing can be read.
    pub(super) async fn drain(&mut self) {
        while let Some(Ok(_)) = poll_fn(|context| self.poll_read(context)).await {}
    }
}

impl Wire for Socket {
    fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Message, Error>>> {
        let mut both = Both {
            polled: Polled::new(&mut self.tcp, context),
            outbox: &mut self.outbox,
        };
        message(self.reading.read(&mut both))
    }

    fn poll_written(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.rest.is_empty() {
            let written = ready!(Pin::new(&mut self.tcp).poll_write(context, &self.rest))?;
            self.rest.advance(written);
        }
        Poll::Ready(Ok(()))
    }

    fn begin_write(&mut self, context: &mut Context<'_>, metrics: &Metrics) -> io::Result<()> {
        FRAMES.with_borrow_mut(|frames| {
            frames.clear();
            frames.shrink_to(KEPT_BYTES);
            self.outbox.take(now(), frames, |bytes| metrics.sent(bytes));
            let written = match Pin::new(&mut self.tcp).poll_write(context, frames) {
                Poll::Ready(written) => written?,
                Poll::Pending => 0,
            };
            self.rest = Bytes::copy_from_slice(&frames[written..]);
            Ok(())
        })
    }
}

/// Where a player's frames are read from, and the answers of the reader go.
struct Both<'a, 'b> {
    polled: Polled<'a, 'b>,
    outbox: &'a mut Outbox,
}

impl Read for Both<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.polled.read(buffer)
    }
}

impl Write for Both<'_, '_> {
    /// Takes whole frames: the reader puts each together before it writes it.
    fn write(&mut self, frames: &[u8]) -> io::Result<usize> {
        self.outbox
            .push_ready(now(), Bytes::copy_from_slice(frames));
        Ok(frames.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
