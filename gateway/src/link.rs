//! One link: a WebSocket to one game node, dialled anew for as long as the registry names it.

use std::io::ErrorKind;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use chassis::clock;
use futures_util::{Sink, SinkExt, Stream, StreamExt};
use protocol::frame::{InvalidFrame, encode};
use protocol::limit::MAX_LINK_FRAME_BYTES;
use protocol::link::{GATEWAY_LINK_PATH, ToGateway, ToNode};
use protocol::version::{Peer, VERSION, VERSION_HEADER};
use registry::{Incarnation, NodeId};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_tungstenite::connect_async_with_config;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderValue, header};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, debug, info, warn};

use crate::chance;
use crate::links::{Failure, Heard, Links};
use crate::routes::SILENT_AFTER;

/// What may wait for one node. A link carries thousands of messages a second; a node that is
/// this far behind takes no more, and its players are told so.
const QUEUE: usize = 4096;
/// Messages that are written as one, at most: the first of many shall not wait for the last.
const BATCH: usize = 128;
/// A node that has not taken the link by then is tried again.
const DIAL_WITHIN: Duration = Duration::from_secs(2);
/// A node that could not be reached for so long is worth a line.
const NEWS_AFTER: Duration = Duration::from_secs(2);
/// How long the last frame may take.
const GOODBYE_WITHIN: Duration = Duration::from_millis(500);
/// The node's lobby thread answers each.
const PING_EVERY: Duration = Duration::from_secs(1);

/// Read from a node at once. It is zeroed for each read, and the default of 128 KiB would cost more
/// than the messages in it; longer frames have room made for them.
const READ_BUFFER_BYTES: usize = 16 * 1024;

/// A WebSocket, or what a simulation has in its place.
pub(crate) trait Socket:
    Stream<Item = Result<Message, tungstenite::Error>>
    + Sink<Message, Error = tungstenite::Error>
    + Send
    + Unpin
{
}

impl<S> Socket for S where
    S: Stream<Item = Result<Message, tungstenite::Error>>
        + Sink<Message, Error = tungstenite::Error>
        + Send
        + Unpin
{
}

/// Why a link is not up.
#[derive(Debug, thiserror::Error)]
enum LinkError {
    #[error("{0}")]
    Socket(#[from] tungstenite::Error),
    #[error("no link within {} s", DIAL_WITHIN.as_secs())]
    TimedOut,
    #[error("nothing heard for {} s", SILENT_AFTER.as_secs())]
    Silent,
    #[error("the node takes too little: {QUEUE} messages wait")]
    Overrun,
    #[error("the node closed it")]
    Closed,
    #[error("closed by this gateway")]
    Stopped,
    #[error("{0}")]
    Frame(#[from] InvalidFrame),
    #[error("{0} answers under this address")]
    AnotherNode(String),
    #[error("its first message is no hello")]
    NoHello,
    #[error("{0:?} is no address")]
    Address(String),
}

impl LinkError {
    /// What it says of the process at the other end.
    fn failure(&self) -> Failure {
        match self {
            Self::Socket(tungstenite::Error::Io(error))
                if error.kind() == ErrorKind::ConnectionRefused =>
            {
                Failure::Refused
            }
            Self::AnotherNode(_) => Failure::AnotherNode,
            _ => Failure::Unclear,
        }
    }
}

/// Who answers.
struct Far {
    incarnation: Incarnation,
    peer: Peer,
}

/// Keeps a link to `node` until `stop`, or until it breaks and nobody needs it any more.
pub(crate) async fn keep(
    links: Arc<Links>,
    node: NodeId,
    address: String,
    stop: CancellationToken,
) {
    let span = tracing::info_span!("link", %node);
    let keeping = async {
        // A node that starts or stops is not there for a moment, which is no news; nor is the hundredth
        // failure.
        let (mut failing_since, mut told) = (None, false);
        loop {
            let dialled = dial(&links, &node, &address);
            match stop.run_until_cancelled(dialled).await {
                None => break,
                Some(Ok((far, socket))) => {
                    (failing_since, told) = (None, false);
                    info!(%address, newer = far.peer.is_newer(), "linked");
                    carry(&links, &node, far, socket, &stop).await;
                }
                Some(Err(error)) => {
                    links.dial_failed(&node, &stop, error.failure());
                    let since: Instant = *failing_since.get_or_insert_with(Instant::now);
                    if told || since.elapsed() < NEWS_AFTER {
                        debug!(%error, "not linked");
                    } else {
                        told = true;
                        // The node is gone or can't be reached by its address.
                        warn!(%address, %error, "not linked; trying on");
                    }
                }
            }
            let Some(pause) = links.redial_after(&node, &stop, chance::number()) else {
                return;
            };
            if stop.run_until_cancelled(sleep(pause)).await.is_none() {
                break;
            }
        }
        links.disconnected(&node, &stop);
    };
    keeping.instrument(span).await;
}

/// Carries messages both ways until the link breaks.
async fn carry(
    links: &Links,
    node: &NodeId,
    far: Far,
    socket: Box<dyn Socket>,
    stop: &CancellationToken,
) {
    let (queue, waiting) = mpsc::channel(QUEUE);
    let overrun = CancellationToken::new();
    let heard = links.connected(node, stop, far.incarnation, queue, overrun.clone());
    let (sink, stream) = socket.split();
    let error = tokio::select! {
        error = read(links, node, far.peer, &heard, stream) => error,
        error = write(links, waiting, sink, stop) => error,
        () = overrun.cancelled() => LinkError::Overrun,
    };
    let listed = links.disconnected(node, stop);
    if listed && !matches!(error, LinkError::Closed) {
        // The node was killed, hangs, or the network between; its players are found anew.
        warn!(%error, "link lost");
    } else {
        // A node that stops closes its links in good order, maybe before its goodbye is heard.
        info!(%error, "link closed");
    }
}

async fn dial(
    links: &Links,
    node: &NodeId,
    address: &str,
) -> Result<(Far, Box<dyn Socket>), LinkError> {
    let greeted = async {
        let (peer, mut socket) = connect(links, address).await?;
        let hello = ToNode::Hello {
            gateway: links.own_id.to_string(),
            incarnation: links.own_incarnation.uuid(),
        };
        socket.send(Message::Binary(encode(&hello).into())).await?;
        let answer = loop {
            match socket.next().await.ok_or(LinkError::Closed)?? {
                Message::Binary(bytes) => {
                    if let Some(message) = peer.read(&bytes)? {
                        break message;
                    }
                }
                Message::Close(_) => return Err(LinkError::Closed),
                _ => {}
            }
        };
        match answer {
            ToGateway::Hello {
                node: name,
                incarnation,
            } if name == node.as_str() => {
                let incarnation = Incarnation::new(incarnation);
                Ok((Far { incarnation, peer }, socket))
            }
            ToGateway::Hello { node: name, .. } => Err(LinkError::AnotherNode(name)),
            _ => Err(LinkError::NoHello),
        }
    };
    timeout(DIAL_WITHIN, greeted)
        .await
        .unwrap_or(Err(LinkError::TimedOut))
}

async fn connect(links: &Links, address: &str) -> Result<(Peer, Box<dyn Socket>), LinkError> {
    #[cfg(feature = "simulation")]
    if let Some(dial) = links.network.get() {
        return Ok((Peer::EQUAL, dial(address.to_owned()).await?));
    }
    let url = format!("ws://{address}{GATEWAY_LINK_PATH}");
    let mut request = url
        .into_client_request()
        .map_err(|_| LinkError::Address(address.to_owned()))?;
    if !links.secret.is_empty() {
        let bearer = HeaderValue::from_str(&format!("Bearer {}", links.secret.reveal()));
        let mut bearer = bearer
            .map_err(tungstenite::http::Error::from)
            .map_err(tungstenite::Error::from)?;
        bearer.set_sensitive(true);
        request.headers_mut().insert(header::AUTHORIZATION, bearer);
    }
    let own = HeaderValue::from(VERSION);
    request.headers_mut().insert(VERSION_HEADER, own);
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        .max_message_size(Some(MAX_LINK_FRAME_BYTES))
        .max_frame_size(Some(MAX_LINK_FRAME_BYTES));
    // No delay: each message is written whole.
    let (socket, response) = connect_async_with_config(request, Some(config), true).await?;
    let version = response.headers().get(VERSION_HEADER);
    let peer = Peer::of(version.map(HeaderValue::as_bytes));
    Ok((peer, Box::new(socket)))
}

async fn read(
    links: &Links,
    node: &NodeId,
    peer: Peer,
    heard: &Heard,
    mut stream: impl StreamExt<Item = Result<Message, tungstenite::Error>> + Unpin,
) -> LinkError {
    // One alarm for all messages: setting one for each would cost more than reading it.
    let mut alarm = pin!(sleep(SILENT_AFTER));
    let mut heard_at = Instant::now();
    loop {
        let message = tokio::select! {
            biased;
            message = stream.next() => message,
            () = alarm.as_mut() => {
                let silent_at = heard_at + SILENT_AFTER;
                if Instant::now() >= silent_at {
                    return LinkError::Silent;
                }
                alarm.as_mut().reset(silent_at);
                continue;
            }
        };
        heard_at = Instant::now();
        let message = match message {
            None => return LinkError::Closed,
            Some(Err(error)) => return error.into(),
            Some(Ok(message)) => message,
        };
        heard.frame(clock::now());
        match message {
            Message::Binary(bytes) => match peer.read(&bytes) {
                Ok(Some(message)) => links.received(node, message),
                // During an upgrade.
                Ok(None) => debug!("skipped what only a newer version knows"),
                Err(error) => return error.into(),
            },
            Message::Close(_) => return LinkError::Closed,
            _ => {}
        }
    }
}

async fn write(
    links: &Links,
    mut waiting: mpsc::Receiver<ToNode>,
    mut sink: impl SinkExt<Message, Error = tungstenite::Error> + Unpin,
    stop: &CancellationToken,
) -> LinkError {
    let mut ticks = interval(PING_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let began = Instant::now();
    let mut registry = links.registry();
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        tokio::select! {
            taken = waiting.recv_many(&mut batch, BATCH) => {
                if taken == 0 {
                    return LinkError::Closed;
                }
            }
            () = stop.cancelled() => {
                // The node knows then that this was meant. It may be gone already.
                let _gone = timeout(GOODBYE_WITHIN, sink.send(Message::Close(None))).await;
                return LinkError::Stopped;
            }
            _ = ticks.tick() => batch.push(ping(links, began)),
            // Nodes wait for this news: a lobby that can't be committed shows nothing.
            Ok(()) = registry.changed() => batch.push(ping(links, began)),
        }
        for message in batch.drain(..) {
            if let Err(error) = sink.feed(Message::Binary(encode(&message).into())).await {
                return error.into();
            }
        }
        if let Err(error) = sink.flush().await {
            return error.into();
        }
    }
}

fn ping(links: &Links, began: Instant) -> ToNode {
    ToNode::Ping {
        nonce: clock::milliseconds(began.elapsed()),
        registry: links.sight(),
    }
}
