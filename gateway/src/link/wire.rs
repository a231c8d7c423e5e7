//! The socket of a link, and the frames on it.

use std::io::ErrorKind;
use std::task::{Context, Poll};

use protocol::limit::MAX_LINK_FRAME_BYTES;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig, WebSocketContext};
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::polled::{Polled, message};

/// Read from a node at once. It is zeroed for each read, and the default of 128 KiB would cost more
/// than the messages in it; longer frames have room made for them.
const READ_BUFFER_BYTES: usize = 16 * 1024;

/// A link's frames: of a socket, or of what a simulation has in its place.
pub(crate) trait Wire: Send {
    /// The next frame; none once the node has closed in good order.
    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Message, Error>>>;

    /// Adds a frame to what [`Wire::poll_flush`] writes.
    fn feed(&mut self, context: &mut Context<'_>, frame: Message) -> Result<(), Error>;

    /// Writes everything that was fed, as one.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>>;

    /// Says that nothing more comes; the node may be gone already.
    fn poll_close(&mut self, context: &mut Context<'_>) -> Poll<()>;
}

pub(super) struct Socket {
    tcp: TcpStream,
    protocol: WebSocketContext,
}

impl Socket {
    /// A socket whose upgrade has been answered, and of which nothing more has been read.
    pub(super) fn new(socket: TcpStream) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER_BYTES)
            .max_message_size(Some(MAX_LINK_FRAME_BYTES))
            .max_frame_size(Some(MAX_LINK_FRAME_BYTES));
        Self {
            tcp: socket,
            protocol: WebSocketContext::new(Role::Client, Some(config)),
        }
    }
}

impl Wire for Socket {
    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Message, Error>>> {
        let mut polled = Polled::new(&mut self.tcp, context);
        message(self.protocol.read(&mut polled))
    }

    fn feed(&mut self, context: &mut Context<'_>, frame: Message) -> Result<(), Error> {
        let mut polled = Polled::new(&mut self.tcp, context);
        match self.protocol.write(&mut polled, frame) {
            // It is kept, with as much as is not written yet.
            Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            written => written,
        }
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let mut polled = Polled::new(&mut self.tcp, context);
        match self.protocol.flush(&mut polled) {
            Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => Poll::Pending,
            flushed => Poll::Ready(flushed),
        }
    }

    fn poll_close(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut polled = Polled::new(&mut self.tcp, context);
        match self.protocol.close(&mut polled, None) {
            Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => Poll::Pending,
            _ => Poll::Ready(()),
        }
    }
}
