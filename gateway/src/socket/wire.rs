//! WebSocket frames on a player's TCP socket, each direction by itself.
//!
//! What comes in is read by tungstenite, which answers a ping or a close by itself: those answers
//! go into the outbox like everything else. What goes out are whole unmasked frames, put together
//! as much at once as there is; between two writes an idle player keeps no buffer for them.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use protocol::limit::MAX_PLAYER_FRAME_BYTES;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::FrameHeader;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Control, Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::handshake::Bare;
use super::{SharedOutbox, now};
use crate::metrics::Metrics;
use crate::outbox::Frame;

/// What is read at once. A player's frames are some hundred bytes; longer ones have room made for
/// them. The default would cost 128 KiB for each connection.
const READ_BUFFER_BYTES: usize = 1024;
/// The longest header of an unmasked frame.
const HEADER_BYTES: usize = 10;

/// What a player sends.
pub(crate) type Stream = WebSocketStream<Incoming>;

/// Where a player is sent to.
pub(crate) type Sink = OwnedWriteHalf;

/// Both directions of a socket.
pub(crate) async fn split(bare: Bare, outbox: Arc<SharedOutbox>) -> (Stream, Sink) {
    let (incoming, sink) = bare.stream.into_split();
    let incoming = Incoming { incoming, outbox };
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        // Whatever it answers is in the outbox at once.
        .write_buffer_size(0)
        .max_message_size(Some(MAX_PLAYER_FRAME_BYTES))
        .max_frame_size(Some(MAX_PLAYER_FRAME_BYTES));
    let stream =
        WebSocketStream::from_partially_read(incoming, bare.read, Role::Server, Some(config)).await;
    (stream, sink)
}

/// Writes what the outbox holds, as much at once as there is, until the last frame or an error.
pub(crate) async fn write(mut sink: Sink, outbox: &SharedOutbox, metrics: &Metrics) {
    loop {
        outbox.filled().await;
        loop {
            let (frames, last) = outbox.lock().take(now());
            for frame in &frames {
                if let Frame::Text(text) = frame {
                    metrics.sent(text.len());
                }
            }
            if sink.write_all(&to_bytes(&frames)).await.is_err() || last {
                return;
            }
            if frames.is_empty() {
                break;
            }
            outbox.lock().written();
        }
    }
}

fn to_bytes(frames: &[Frame]) -> Vec<u8> {
    let length = |frame: &Frame| HEADER_BYTES + payload(frame).1.len();
    let mut bytes = Vec::with_capacity(frames.iter().map(length).sum());
    for frame in frames {
        let (opcode, payload) = payload(frame);
        if let Some(opcode) = opcode {
            let header = FrameHeader {
                opcode,
                ..FrameHeader::default()
            };
            let length = u64::try_from(payload.len()).unwrap_or(u64::MAX);
            let written = header.format(length, &mut bytes);
            written.expect("a vector takes what it is given");
        }
        bytes.extend_from_slice(payload);
    }
    bytes
}

/// What is in a frame; without an opcode it is bytes of a whole frame already.
fn payload(frame: &Frame) -> (Option<OpCode>, &[u8]) {
    match frame {
        Frame::Text(text) => (Some(OpCode::Data(Data::Text)), text),
        Frame::Ready(bytes) => (None, bytes),
        Frame::Ping => (Some(OpCode::Control(Control::Ping)), &[]),
        Frame::Close(code) => (Some(OpCode::Control(Control::Close)), code),
    }
}

/// What comes in on a socket; what is written to it goes into the outbox.
pub(crate) struct Incoming {
    incoming: OwnedReadHalf,
    outbox: Arc<SharedOutbox>,
}

impl AsyncRead for Incoming {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.incoming).poll_read(context, buffer)
    }
}

impl AsyncWrite for Incoming {
    /// Takes whole frames: the reader puts each together before it writes it.
    fn poll_write(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        frames: &[u8],
    ) -> Poll<io::Result<usize>> {
        let bytes = Bytes::copy_from_slice(frames);
        self.outbox.change(|outbox| outbox.push_ready(now(), bytes));
        Poll::Ready(Ok(frames.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use protocol::CloseCode;

    use super::*;

    #[test]
    fn frames_are_as_the_standard_has_them() {
        let text = |bytes: usize| Frame::Text(vec![b'x'; bytes].into());
        assert_eq!(to_bytes(&[text(2), Frame::Ping]), b"\x81\x02xx\x89\x00");
        assert_eq!(
            to_bytes(&[Frame::close(CloseCode::Restart)]),
            [0x88, 2, 0x03, 0xf4]
        );
        assert_eq!(to_bytes(&[text(126)])[..4], [0x81, 126, 0, 126]);
        let long = to_bytes(&[text(65_536)]);
        assert_eq!(long[..10], [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
        assert_eq!(long.len(), 65_536 + HEADER_BYTES);
        let ready = Frame::Ready(Bytes::from_static(b"\x8a\x00"));
        assert_eq!(to_bytes(&[ready]), b"\x8a\x00");
    }
}
