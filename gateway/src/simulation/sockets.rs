//! A simulation's WebSockets in the place of TCP sockets.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::task::{Context, Poll, ready};

use futures_util::{Sink, SinkExt, Stream, StreamExt};
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketContext};
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::link;
use crate::metrics::Metrics;
use crate::outbox::Outbox;
use crate::socket::{self, now};

/// The gateway's end of a link.
pub(super) struct Linked<S>(pub(super) S);

impl<S> link::Wire for Linked<S>
where
    S: Stream<Item = Result<Message, Error>> + Sink<Message, Error = Error> + Unpin + Send,
{
    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Message, Error>>> {
        self.0.poll_next_unpin(context)
    }

    /// Its sockets take everything at once.
    fn feed(&mut self, context: &mut Context<'_>, frame: Message) -> Result<(), Error> {
        match self.0.poll_ready_unpin(context)? {
            Poll::Ready(()) => self.0.start_send_unpin(frame),
            Poll::Pending => Err(Error::Io(io::ErrorKind::WouldBlock.into())),
        }
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.0.poll_flush_unpin(context)
    }

    fn poll_close(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let _gone = ready!(self.0.poll_close_unpin(context));
        Poll::Ready(())
    }
}

/// The gateway's end of a player's connection.
pub(super) struct Played<S> {
    socket: S,
    outbox: Outbox,
    /// Read from the frames that would be sent, as a client reads them.
    waiting: VecDeque<Message>,
}

impl<S> Played<S> {
    pub(super) fn new(socket: S) -> Self {
        Self {
            socket,
            outbox: Outbox::default(),
            waiting: VecDeque::new(),
        }
    }
}

/// Frames, to be read; whatever the reader would answer is lost.
struct Sent<'a>(&'a [u8]);

impl Read for Sent<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Sent<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<S> socket::Wire for Played<S>
where
    S: Stream<Item = Result<Message, Error>> + Sink<Message, Error = Error> + Unpin,
{
    fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Message, Error>>> {
        self.socket.poll_next_unpin(context)
    }

    fn poll_written(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.waiting.is_empty() {
            ready!(self.socket.poll_ready_unpin(context)).map_err(io::Error::other)?;
            if let Some(message) = self.waiting.pop_front() {
                let sent = self.socket.start_send_unpin(message);
                sent.map_err(io::Error::other)?;
            }
        }
        self.socket
            .poll_flush_unpin(context)
            .map_err(io::Error::other)
    }

    fn begin_write(&mut self, _: &mut Context<'_>, _: &Metrics) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.outbox.take(now(), &mut bytes, |_| {});
        let (mut reader, mut frames) = (WebSocketContext::new(Role::Client, None), Sent(&bytes));
        while let Ok(message) = reader.read(&mut frames) {
            self.waiting.push_back(message);
        }
        Ok(())
    }
}
