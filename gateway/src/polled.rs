//! A TCP socket as tungstenite wants it, for as long as it is polled.
//!
//! So the task that polls is woken by the socket itself: no waker stands between them.

use std::io::{self, ErrorKind, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::{Error, Message};

pub(crate) struct Polled<'a, 'b> {
    socket: Pin<&'a mut TcpStream>,
    context: &'a mut Context<'b>,
}

impl<'a, 'b> Polled<'a, 'b> {
    pub(crate) fn new(socket: &'a mut TcpStream, context: &'a mut Context<'b>) -> Self {
        let socket = Pin::new(socket);
        Self { socket, context }
    }
}

impl Read for Polled<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(buffer);
        match self.socket.as_mut().poll_read(self.context, &mut buffer) {
            Poll::Ready(read) => read.map(|()| buffer.filled().len()),
            Poll::Pending => Err(ErrorKind::WouldBlock.into()),
        }
    }
}

impl Write for Polled<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.socket.as_mut().poll_write(self.context, bytes) {
            Poll::Ready(written) => written,
            Poll::Pending => Err(ErrorKind::WouldBlock.into()),
        }
    }

    /// A TCP socket keeps nothing back.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What tungstenite has read of a polled socket; none after a close in good order.
pub(crate) fn message(read: Result<Message, Error>) -> Poll<Option<Result<Message, Error>>> {
    Poll::Ready(match read {
        Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => return Poll::Pending,
        Err(Error::ConnectionClosed | Error::AlreadyClosed) => None,
        read => Some(read),
    })
}
