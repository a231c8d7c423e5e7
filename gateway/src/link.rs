//! One link: a WebSocket to one game node, dialled anew for as long as the registry names it.

mod traffic;
mod wire;

use std::future::poll_fn;
use std::io::ErrorKind;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use protocol::frame::{InvalidFrame, encode};
use protocol::link::{GATEWAY_LINK_PATH, ToGateway, ToNode};
use protocol::version::{Peer, VERSION, VERSION_HEADER};
use registry::{Incarnation, NodeId};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderValue, header};
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use crate::chance;
use crate::links::{Failure, Links};
use crate::routes::SILENT_AFTER;
use traffic::Traffic;
use wire::Socket;
pub(crate) use wire::Wire;

/// What may wait for one node. A link carries thousands of messages a second; a node that is
/// this far behind takes no more, and its players are told so.
const QUEUE: usize = 4096;
/// A node that has not taken the link by then is tried again.
const DIAL_WITHIN: Duration = Duration::from_secs(2);
/// A node that could not be reached for so long is worth a line.
const NEWS_AFTER: Duration = Duration::from_secs(2);
/// How long the last frame may take.
const GOODBYE_WITHIN: Duration = Duration::from_millis(500);

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
    // Of what happens to the link: entering it for each message would cost more than reading that.
    let span = tracing::info_span!("link", %node);
    // A node that starts or stops is not there for a moment, which is no news; nor is the hundredth
    // failure.
    let (mut failing_since, mut told) = (None, false);
    loop {
        let dialled = dial(&links, &node, &address);
        match stop.run_until_cancelled(dialled).await {
            None => break,
            Some(Ok((far, wire))) => {
                (failing_since, told) = (None, false);
                info!(parent: &span, %address, newer = far.peer.is_newer(), "linked");
                let error = carry(&links, &node, far, wire, &stop).await;
                let listed = links.disconnected(&node, &stop);
                if listed && !matches!(error, LinkError::Closed) {
                    // The node was killed, hangs, or the network between; its players are found anew.
                    warn!(parent: &span, %error, "link lost");
                } else {
                    // A node that stops closes its links in good order, maybe before its goodbye is heard.
                    info!(parent: &span, %error, "link closed");
                }
            }
            Some(Err(error)) => {
                links.dial_failed(&node, &stop, error.failure());
                let since: Instant = *failing_since.get_or_insert_with(Instant::now);
                if told || since.elapsed() < NEWS_AFTER {
                    debug!(parent: &span, %error, "not linked");
                } else {
                    told = true;
                    // The node is gone or can't be reached by its address.
                    warn!(parent: &span, %address, %error, "not linked; trying on");
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
}

/// Carries messages both ways until the link breaks.
async fn carry(
    links: &Links,
    node: &NodeId,
    far: Far,
    wire: Box<dyn Wire>,
    stop: &CancellationToken,
) -> LinkError {
    let (queue, waiting) = mpsc::channel(QUEUE);
    let overrun = stop.child_token();
    let heard = links.connected(node, stop, far.incarnation, queue, overrun.clone());
    let mut traffic = Traffic::new(links, node, far.peer, heard, wire, waiting);
    let mut registry = links.registry();
    let mut alarm = pin!(sleep_until(traffic.ping_at));
    loop {
        tokio::select! {
            biased;
            error = poll_fn(|context| traffic.poll(context)) => return error,
            () = overrun.cancelled() => {
                if !stop.is_cancelled() {
                    return LinkError::Overrun;
                }
                // The node knows then that this was meant.
                let goodbye = poll_fn(|context| traffic.wire.poll_close(context));
                let _gone = timeout(GOODBYE_WITHIN, goodbye).await;
                return LinkError::Stopped;
            }
            () = alarm.as_mut() => {
                if traffic.is_silent() {
                    return LinkError::Silent;
                }
                alarm.as_mut().reset(traffic.ping_if_due());
            }
            // Nodes wait for this news: a lobby that can't be committed shows nothing.
            Ok(()) = registry.changed() => traffic.ping(),
        }
    }
}

async fn dial(
    links: &Links,
    node: &NodeId,
    address: &str,
) -> Result<(Far, Box<dyn Wire>), LinkError> {
    let greeted = async {
        let (peer, mut wire) = connect(links, address).await?;
        let hello = ToNode::Hello {
            gateway: links.own_id.to_string(),
            incarnation: links.own_incarnation.uuid(),
        };
        let mut hello = Some(frame_of(&hello));
        poll_fn(|context| {
            if let Some(hello) = hello.take() {
                wire.feed(context, hello)?;
            }
            wire.poll_flush(context)
        })
        .await?;
        let answer = loop {
            match poll_fn(|context| wire.poll_read(context))
                .await
                .ok_or(LinkError::Closed)??
            {
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
                Ok((Far { incarnation, peer }, wire))
            }
            ToGateway::Hello { node: name, .. } => Err(LinkError::AnotherNode(name)),
            _ => Err(LinkError::NoHello),
        }
    };
    timeout(DIAL_WITHIN, greeted)
        .await
        .unwrap_or(Err(LinkError::TimedOut))
}

async fn connect(links: &Links, address: &str) -> Result<(Peer, Box<dyn Wire>), LinkError> {
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
    let socket = TcpStream::connect(address).await;
    let socket = socket.map_err(tungstenite::Error::Io)?;
    // No delay: each message is written whole.
    socket.set_nodelay(true).map_err(tungstenite::Error::Io)?;
    let (socket, response) = client_async(request, socket).await?;
    let version = response.headers().get(VERSION_HEADER);
    let peer = Peer::of(version.map(HeaderValue::as_bytes));
    // A node says nothing before our hello: nothing has been read that could be lost here.
    Ok((peer, Box::new(Socket::new(socket.into_inner()))))
}

fn frame_of(message: &ToNode) -> Message {
    Message::Binary(encode(message).into())
}
