//! Keeps the connection to one game node: dials, answers, and dials again.

use std::sync::Arc;
use std::time::Duration;

use chassis::environment::Secret;
use chassis::trace::{Kind, Span, TraceContext};
use futures_util::stream::FuturesUnordered;
use futures_util::{SinkExt, StreamExt};
use opentelemetry::KeyValue;
use protocol::TraceParent;
use protocol::decide::{AI_LINK_PATH, Decide, ToAi, ToNode};
use protocol::frame;
use protocol::limit::MAX_LINK_FRAME_BYTES;
use protocol::version::{Peer, VERSION, VERSION_HEADER};
use rand::RngExt;
use registry::NodeId;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::http::header::AUTHORIZATION;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::pool::{Answer, Pool};

/// A game node that does not take the connection within this is dialled anew.
const DIAL_TIMEOUT: Duration = Duration::from_secs(3);
/// A game node pings every second; one that is silent for so long has gone without a word.
const SILENCE: Duration = Duration::from_secs(10);
/// Between two tries, at random, so that a restarted node is not met by everybody at once.
const RETRY_MS: std::ops::Range<u64> = 100..1000;

/// Everything that a connection to a game node needs.
pub(crate) struct Dialler {
    pub(crate) node_id: String,
    pub(crate) incarnation: Uuid,
    pub(crate) secret: Secret,
    pub(crate) pool: Arc<Pool>,
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Waits for one answer and keeps its request's id; nothing if its time has passed.
type Deciding = std::pin::Pin<Box<dyn Future<Output = (Uuid, Option<Answer>)> + Send>>;

impl Dialler {
    /// Until it is told to stop. A broken connection is dialled anew, for ever.
    pub(crate) async fn keep(&self, node: &NodeId, address: &str, until: CancellationToken) {
        let mut reached = true;
        let mut refused = false;
        while !until.is_cancelled() {
            let ended = match until.run_until_cancelled(self.dial(address)).await {
                None => return,
                Some(Ok((peer, socket))) => {
                    tracing::info!(%node, address, "link to game node up");
                    reached = true;
                    refused = false;
                    self.answer(peer, socket, &until).await
                }
                Some(Err(error)) => Err(error),
            };
            let Err(error) = ended else { return };
            // One line when it goes, not one a try.
            if matches!(error, Error::Http(_)) {
                // It is there, and will never take us as we are.
                if !std::mem::replace(&mut refused, true) {
                    tracing::warn!(%node, address, %error, "not let in by a game node; trying on");
                }
            } else if std::mem::replace(&mut reached, false) {
                tracing::info!(%node, address, %error, "link to game node down");
            }
            let pause = Duration::from_millis(chance(RETRY_MS));
            until.run_until_cancelled(tokio::time::sleep(pause)).await;
        }
    }

    async fn dial(&self, address: &str) -> Result<(Peer, Socket), Error> {
        let mut request = format!("ws://{address}{AI_LINK_PATH}").into_client_request()?;
        if !self.secret.is_empty() {
            let mut bearer = HeaderValue::try_from(format!("Bearer {}", self.secret.reveal()))?;
            bearer.set_sensitive(true);
            request.headers_mut().insert(AUTHORIZATION, bearer);
        }
        let own = HeaderValue::from(VERSION);
        request.headers_mut().insert(VERSION_HEADER, own);
        let limits = WebSocketConfig::default()
            .read_buffer_size(16 * 1024)
            .max_message_size(Some(MAX_LINK_FRAME_BYTES))
            .max_frame_size(Some(MAX_LINK_FRAME_BYTES));
        let dialling = tokio_tungstenite::connect_async_with_config(request, Some(limits), true);
        let (mut socket, response) = tokio::time::timeout(DIAL_TIMEOUT, dialling)
            .await
            .map_err(|_| timed_out("no answer"))??;
        let hello = ToNode::Hello {
            ai_node: self.node_id.clone(),
            incarnation: self.incarnation,
        };
        socket.send(message(&hello)).await?;
        let version = response.headers().get(VERSION_HEADER);
        Ok((Peer::of(version.map(HeaderValue::as_bytes)), socket))
    }

    /// Answers until the connection ends (an error), or until told to stop with nothing under way.
    async fn answer(
        &self,
        peer: Peer,
        mut socket: Socket,
        until: &CancellationToken,
    ) -> Result<(), Error> {
        let mut deciding: FuturesUnordered<Deciding> = FuturesUnordered::new();
        loop {
            if until.is_cancelled() && deciding.is_empty() {
                return socket.close(None).await;
            }
            tokio::select! {
                frame = tokio::time::timeout(SILENCE, socket.next()) => {
                    let frame = frame.map_err(|_| timed_out("silent for too long"))?;
                    match frame.ok_or(Error::ConnectionClosed)?? {
                        Message::Binary(bytes) => {
                            // Nothing, during an upgrade: the game node asks somebody else.
                            let asked = peer.read(&bytes).map_err(|error| Error::Io(std::io::Error::other(error)))?;
                            match asked.and_then(|asked| self.take(asked, until)) {
                                Some(Reply::Now(reply)) => socket.send(message(&reply)).await?,
                                Some(Reply::Later(decision)) => deciding.push(decision),
                                None => {}
                            }
                        }
                        Message::Close(_) => return Err(Error::ConnectionClosed),
                        _ => {}
                    }
                }
                Some((request_id, answer)) = deciding.next() => {
                    if let Some(answer) = answer {
                        socket.send(message(&reply(request_id, answer))).await?;
                    }
                }
                () = until.cancelled(), if !until.is_cancelled() => {}
            }
        }
    }

    fn take(&self, asked: ToAi, until: &CancellationToken) -> Option<Reply> {
        match asked {
            ToAi::Ping { nonce } => Some(Reply::Now(ToNode::Pong { nonce })),
            // Whoever leaves decides no more: this link closes within a decision's time, and then the
            // game node asks the next.
            ToAi::Decide(_) if until.is_cancelled() => None,
            ToAi::Decide(request) => Some(self.decide(request)),
        }
    }

    fn decide(&self, request: Box<Decide>) -> Reply {
        let request_id = request.request_id;
        let mut span = self.span(&request);
        match self.pool.submit(request) {
            Ok(answer) => Reply::Later(Box::pin(decided(request_id, answer, span))),
            Err(failure) => {
                span.failed("overloaded");
                Reply::Now(ToNode::Failed {
                    request_id,
                    failure,
                })
            }
        }
    }

    /// Until it is decided, in the trace of the move that has led to it.
    fn span(&self, request: &Decide) -> Span {
        let parent = TraceContext::read(request.trace.as_ref().map(TraceParent::as_str));
        Span::begin("ai.decide", Kind::Server, parent, || {
            let seat = i64::try_from(request.seat.index()).expect("a table is small");
            [
                KeyValue::new("wizard.node", self.node_id.clone()),
                KeyValue::new("wizard.seat", seat),
                KeyValue::new("ai.level", request.level.as_str()),
            ]
        })
    }
}

enum Reply {
    Now(ToNode),
    Later(Deciding),
}

async fn decided(
    request_id: Uuid,
    answer: oneshot::Receiver<Answer>,
    mut span: Span,
) -> (Uuid, Option<Answer>) {
    let answer = answer.await.ok();
    match answer {
        Some(Ok(_)) => {}
        Some(Err(_)) => span.failed("failed"),
        None => span.failed("late"),
    }
    (request_id, answer)
}

fn reply(request_id: Uuid, answer: Answer) -> ToNode {
    match answer {
        Ok(action) => ToNode::Decision { request_id, action },
        Err(failure) => ToNode::Failed {
            request_id,
            failure,
        },
    }
}

fn message(message: &ToNode) -> Message {
    Message::Binary(frame::encode(message).into())
}

fn timed_out(why: &'static str) -> Error {
    Error::Io(std::io::Error::new(std::io::ErrorKind::TimedOut, why))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a driver: when to dial again is nobody's test"
)]
fn chance(range: std::ops::Range<u64>) -> u64 {
    rand::rng().random_range(range)
}
