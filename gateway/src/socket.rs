//! A player's WebSocket: from the request to the last frame.
//!
//! One task a connection. What it reads goes through the [`Session`]; what it writes waits in the
//! [`Outbox`] and is written as much at once as there is. The reading never waits for the writing.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::extract::{ConnectInfo, Extension, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use protocol::limit::MAX_PLAYER_FRAME_BYTES;
use protocol::server::{Refused, ServerMessage};
use protocol::{CloseCode, ErrorCode};
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite;
use tracing::Instrument;

use crate::address::{Origin, client_address};
use crate::admission::Admitted;
use crate::connection::{Connection, Ending};
use crate::gateway::Gateway;
use crate::listener::Underway;
use crate::metrics::{Metrics, Refusal};
use crate::outbox::{Frame, Outbox};

/// A player's frames are small; the default would cost 128 KiB for each connection.
const READ_BUFFER_BYTES: usize = 4096;
/// Frames are written together up to this; the default would let each connection keep 128 KiB.
const WRITE_BUFFER_BYTES: usize = 4096;
/// How long the last frames may take to be written.
const CLOSE_WITHIN: Duration = Duration::from_secs(5);
/// How long the player's own close is waited for: dropped earlier, the last frames may be lost.
const LINGER: Duration = Duration::from_secs(1);
/// Told with 1013; clients add jitter.
const BUSY_RETRY_MS: u32 = 15_000;

/// An outbox and the news that something is in it.
#[derive(Debug, Default)]
pub(crate) struct SharedOutbox {
    outbox: Mutex<Outbox>,
    filled: Notify,
}

impl SharedOutbox {
    /// Changes the outbox and has it written.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Outbox)) {
        change(&mut self.lock());
        self.filled.notify_one();
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Outbox> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `GET /ws`.
pub(crate) async fn upgrade(
    State(gateway): State<Arc<Gateway>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Extension(underway): Extension<Underway>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    if gateway.shutdown.has_begun() {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let address = client_address(peer.ip(), &headers, &gateway.config.trusted_proxies);
    let origin = Origin::of(address);
    let entry = if is_allowed(&headers, &gateway.config.allowed_origins) {
        gateway.admission.admit(origin).ok_or(Refusal::TooMany)
    } else {
        Err(Refusal::Origin)
    };
    let token = gateway.sockets.token();
    upgrade
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(WRITE_BUFFER_BYTES)
        .max_message_size(MAX_PLAYER_FRAME_BYTES)
        .max_frame_size(MAX_PLAYER_FRAME_BYTES)
        .on_upgrade(move |socket| async move {
            match entry {
                Ok(admitted) => serve(gateway, socket, origin, admitted).await,
                Err(why) => {
                    gateway.metrics.refused(why);
                    turn_away(socket, why, &gateway.metrics).await;
                }
            }
            drop((token, underway));
        })
}

/// Programs send no `Origin`; a browser always does, and can't be made to lie by a page.
fn is_allowed(headers: &HeaderMap, allowed: &[String]) -> bool {
    match headers.get(header::ORIGIN) {
        Some(origin) if !allowed.is_empty() => allowed
            .iter()
            .any(|one| one.as_bytes().eq_ignore_ascii_case(origin.as_bytes())),
        _ => true,
    }
}

async fn turn_away(socket: WebSocket, why: Refusal, metrics: &Metrics) {
    let code = if why == Refusal::Origin {
        CloseCode::Policy
    } else {
        CloseCode::TryLater
    };
    let outbox = SharedOutbox::default();
    outbox.change(|outbox| {
        if code == CloseCode::TryLater {
            let message = "too many connections, here or from your address".to_owned();
            let (code, retry_after_ms) = (ErrorCode::Busy, Some(BUSY_RETRY_MS));
            let busy = Refused {
                code,
                message,
                retry_after_ms,
                id: None,
            };
            outbox.push(chassis::clock::now(), to_json(&ServerMessage::Error(busy)));
        }
        outbox.close(code);
    });
    let (sink, stream) = socket.split();
    let written = timeout(CLOSE_WITHIN, write(sink, &outbox, metrics)).await;
    if written.is_ok() {
        linger(stream, Ending::Closing).await;
    }
}

async fn serve(gateway: Arc<Gateway>, socket: WebSocket, origin: Origin, admitted: Admitted) {
    let registered = gateway.connections.register();
    let metrics = gateway.metrics.clone();
    metrics.active(1);
    let span = tracing::debug_span!(
        "connection",
        connection = registered.id.0,
        lobby = tracing::field::Empty
    );
    let serving = async {
        let outbox = SharedOutbox::default();
        let (sink, mut stream) = socket.split();
        let writing = write(sink, &outbox, &metrics);
        tokio::pin!(writing);
        let mut connection = Connection::new(gateway, registered, origin, &outbox);
        let ending = tokio::select! {
            () = &mut writing => Ending::Broken,
            ending = connection.run(&mut stream) => ending,
        };
        connection.end();
        // The place is free as soon as the player is gone, not when the last frame is.
        drop((connection, admitted));
        metrics.active(-1);
        if ending != Ending::Broken && timeout(CLOSE_WITHIN, writing).await.is_ok() {
            linger(stream, ending).await;
        }
    };
    serving.instrument(span).await;
}

/// Writes what the outbox holds, as much at once as there is, until the last frame or an error.
async fn write(mut sink: SplitSink<WebSocket, Message>, outbox: &SharedOutbox, metrics: &Metrics) {
    loop {
        outbox.filled.notified().await;
        loop {
            let frames = outbox.lock().take(now());
            if frames.is_empty() {
                break;
            }
            let last = matches!(frames.last(), Some(Frame::Close(_)));
            for frame in frames {
                if let Frame::Text(text) = &frame {
                    metrics.sent(text.len());
                }
                if sink.feed(to_message(frame)).await.is_err() {
                    return;
                }
            }
            if sink.flush().await.is_err() || last {
                return;
            }
            outbox.lock().written();
        }
    }
}

/// Reads on until the player has closed too, for a while.
async fn linger(mut stream: SplitStream<WebSocket>, ending: Ending) {
    let closed = async {
        while let Some(Ok(_)) = stream.next().await {}
        if ending == Ending::TooBig {
            // Nothing more can be read, but its sender may still be writing, and reads after that.
            std::future::pending::<()>().await;
        }
    };
    let _closed_or_late = timeout(LINGER, closed).await;
}

fn to_message(frame: Frame) -> Message {
    match frame {
        Frame::Text(text) => {
            let text = Utf8Bytes::try_from(text);
            Message::Text(text.expect("what we write is JSON, and links check what nodes write"))
        }
        Frame::Ping => Message::Ping(Bytes::new()),
        Frame::Close(code) => Message::Close(Some(CloseFrame {
            code: code.into(),
            reason: Utf8Bytes::default(),
        })),
    }
}

/// What we send to players.
pub(crate) fn to_json(message: &ServerMessage) -> Vec<u8> {
    serde_json::to_vec(message).expect("our messages have string keys and finite numbers")
}

/// The clock that timers run by.
pub(crate) fn now() -> std::time::Instant {
    tokio::time::Instant::now().into_std()
}

/// Whether reading failed because a frame was too long.
pub(crate) fn is_too_big(error: &axum::Error) -> bool {
    let source = std::error::Error::source(error);
    let error = source.and_then(|source| source.downcast_ref::<tungstenite::Error>());
    matches!(error, Some(tungstenite::Error::Capacity(_)))
}
