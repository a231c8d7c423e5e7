//! The links' end here: WebSockets of gateways and AI nodes, which dial this node.
//!
//! A link is a task that turns frames into messages for the driver and back. It decides nothing;
//! it runs on the lobby thread's runtime, and what it reads waits in the driver's bounded inbox.

pub(crate) mod carry;
mod outbox;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::extract::State;
use axum::extract::ws::{WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use chassis::environment::Secret;
use chassis::trace::Span;
use protocol::decide::{self, AI_LINK_PATH};
use protocol::limit::MAX_LINK_FRAME_BYTES;
use protocol::link::{self as gateway, GATEWAY_LINK_PATH};
use protocol::version::{Peer, VERSION, VERSION_HEADER};
use tokio::sync::mpsc;
use uuid::Uuid;

pub(crate) use self::outbox::{Outbox, outbox};
use crate::driver::on_link;
use crate::lobby::LinkId;

/// What a link tells the driver.
#[derive(Debug)]
pub(crate) enum FromLink {
    /// A gateway has said hello.
    GatewayUp {
        link: LinkId,
        gateway: String,
        /// Which run of it.
        incarnation: Uuid,
        outbox: Outbox<gateway::ToGateway>,
    },
    /// What it says.
    Gateway {
        link: LinkId,
        message: gateway::ToNode,
        /// Of its wait for the lobbies' thread.
        span: Span,
    },
    /// It is gone.
    GatewayDown { link: LinkId },
    /// An AI node has said hello.
    AiUp {
        link: LinkId,
        ai_node: String,
        outbox: Outbox<decide::ToAi>,
    },
    /// What it says.
    Ai {
        link: LinkId,
        message: decide::ToNode,
    },
    /// It is gone.
    AiDown { link: LinkId },
}

impl FromLink {
    /// What a gateway says.
    pub(crate) fn gateway(link: LinkId, message: gateway::ToNode) -> Self {
        let span = on_link(&message);
        Self::Gateway {
            link,
            message,
            span,
        }
    }
}

/// Where links come in.
pub(crate) struct Door {
    gateway_secret: Secret,
    ai_secret: Secret,
    inbox: mpsc::Sender<FromLink>,
    last_link: AtomicU64,
}

/// Read at once; the default of 128 KiB a link would be most of what an idle node holds.
const READ_BUFFER_BYTES: usize = 4096;

/// A request that came through a proxy is none of ours: links are dialled directly.
const PROXY_HEADERS: [&str; 3] = ["x-forwarded-for", "forwarded", "via"];

/// The routes of the node's listener.
pub(crate) fn router(
    gateway_secret: Secret,
    ai_secret: Secret,
    inbox: mpsc::Sender<FromLink>,
) -> Router {
    let door = Door {
        gateway_secret,
        ai_secret,
        inbox,
        last_link: AtomicU64::new(0),
    };
    Router::new()
        .route(GATEWAY_LINK_PATH, get(gateway_link))
        .route(AI_LINK_PATH, get(ai_link))
        .with_state(Arc::new(door))
}

async fn gateway_link(
    State(door): State<Arc<Door>>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    enter(&headers, &door.gateway_secret, upgrade, {
        let (link, inbox) = door.next();
        move |peer, socket| carry::gateway(link, peer, socket, inbox)
    })
}

async fn ai_link(
    State(door): State<Arc<Door>>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    enter(&headers, &door.ai_secret, upgrade, {
        let (link, inbox) = door.next();
        move |peer, socket| carry::ai(link, peer, socket, inbox)
    })
}

impl Door {
    fn next(&self) -> (LinkId, mpsc::Sender<FromLink>) {
        let link = LinkId(self.last_link.fetch_add(1, Ordering::Relaxed) + 1);
        (link, self.inbox.clone())
    }
}

fn enter<F>(
    headers: &HeaderMap,
    secret: &Secret,
    upgrade: WebSocketUpgrade,
    carry: impl FnOnce(Peer, WebSocket) -> F + Send + 'static,
) -> Response
where
    F: Future<Output = ()> + Send + 'static,
{
    if PROXY_HEADERS.iter().any(|name| headers.contains_key(*name)) {
        return (StatusCode::FORBIDDEN, "links do not come through a proxy").into_response();
    }
    if !secret.is_empty() && !bearer(headers).is_some_and(|bearer| secret.matches(bearer)) {
        return (StatusCode::UNAUTHORIZED, "a link needs its secret").into_response();
    }
    let version = headers.get(VERSION_HEADER).map(HeaderValue::as_bytes);
    let peer = Peer::of(version);
    let mut response = upgrade
        .read_buffer_size(READ_BUFFER_BYTES)
        .max_message_size(MAX_LINK_FRAME_BYTES)
        .max_frame_size(MAX_LINK_FRAME_BYTES)
        .on_upgrade(move |socket| carry(peer, socket));
    let own = HeaderValue::from(VERSION);
    response.headers_mut().insert(VERSION_HEADER, own);
    response
}

fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    headers
        .get(header::AUTHORIZATION)?
        .as_bytes()
        .strip_prefix(b"Bearer ")
}
