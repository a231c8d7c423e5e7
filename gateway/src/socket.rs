//! A player's WebSocket: from the request to the last frame.
//!
//! One task a connection. What it reads goes through the [`Session`](crate::session::Session); what it
//! writes waits in the [`Outbox`](crate::outbox::Outbox) and is written as much at once as there is. The
//! reading never waits for the writing.

mod handshake;
mod wire;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{ConnectInfo, Extension, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use protocol::server::{Refused, ServerMessage};
use protocol::{CloseCode, ErrorCode};
use tokio::time::timeout;
use tracing::Instrument;

use crate::address::{Origin, client_address};
use crate::admission::Admitted;
use crate::connection::{Connection, Ending};
use crate::gateway::Gateway;
use crate::listener::Underway;
use crate::metrics::{Metrics, Refusal};
use handshake::Bare;
pub(crate) use wire::Wire;

/// How long the player's own close is waited for: dropped earlier, the last frames may be lost.
const LINGER: Duration = Duration::from_secs(1);
/// Told with 1013; clients add jitter.
const BUSY_RETRY_MS: u32 = 15_000;

/// `GET /ws`.
pub(crate) async fn upgrade(
    State(gateway): State<Arc<Gateway>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Extension(underway): Extension<Underway>,
    request: Request,
) -> Response {
    if gateway.shutdown.has_begun() {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let headers = request.headers();
    let address = client_address(peer.ip(), headers, &gateway.config.trusted_proxies);
    let origin = Origin::of(address);
    let allowed = is_allowed(headers, &gateway.config.allowed_origins);
    let (response, upgrading) = handshake::accept(request);
    let Some(upgrading) = upgrading else {
        return response;
    };
    let entry = if allowed {
        gateway.admission.admit(origin).ok_or(Refusal::TooMany)
    } else {
        Err(Refusal::Origin)
    };
    let sockets = gateway.sockets.clone();
    sockets.spawn(async move {
        // Held until the last frame.
        let _underway = underway;
        let Some(bare) = handshake::bare(upgrading).await else {
            return;
        };
        match entry {
            Ok(admitted) => serve(gateway, bare, origin, admitted).await,
            Err(why) => {
                gateway.metrics.refused(why);
                turn_away(bare, why, &gateway.metrics).await;
            }
        }
    });
    response
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

async fn turn_away(bare: Bare, why: Refusal, metrics: &Metrics) {
    let code = if why == Refusal::Origin {
        CloseCode::Policy
    } else {
        CloseCode::TryLater
    };
    let mut wire = wire::Socket::new(bare);
    if code == CloseCode::TryLater {
        let message = "too many connections, here or from your address".to_owned();
        let busy = Refused {
            code: ErrorCode::Busy,
            message,
            retry_after_ms: Some(BUSY_RETRY_MS),
            id: None,
        };
        wire.outbox()
            .push(now(), to_json(&ServerMessage::Error(busy)));
    }
    wire.outbox().close(code);
    if wire.finish(metrics).await {
        linger(wire, Ending::Closing).await;
    }
}

async fn serve(gateway: Arc<Gateway>, bare: Bare, origin: Origin, admitted: Admitted) {
    let registered = gateway.connections.register();
    let metrics = gateway.metrics.clone();
    metrics.active(1);
    let span = tracing::debug_span!(
        "connection",
        connection = registered.id.0,
        lobby = tracing::field::Empty
    );
    // In one expression: a future that has a name first is kept twice, 2 KiB each.
    async {
        let mut wire = wire::Socket::new(bare);
        let mut connection = Connection::new(gateway, registered, origin, &mut wire);
        let ending = connection.run().await;
        connection.end();
        // The place is free as soon as the player is gone, not when the last frame is.
        drop((connection, admitted));
        metrics.active(-1);
        if ending != Ending::Broken && wire.finish(&metrics).await {
            linger(wire, ending).await;
        }
    }
    .instrument(span)
    .await;
}

/// Reads on until the player has closed too, for a while.
async fn linger(mut wire: wire::Socket, ending: Ending) {
    let closed = async {
        wire.drain().await;
        if ending == Ending::Unreadable {
            // Nothing more can be read, but its sender may still be writing, and reads after that.
            std::future::pending::<()>().await;
        }
    };
    let _closed_or_late = timeout(LINGER, closed).await;
}

/// What we send to players.
pub(crate) fn to_json(message: &ServerMessage) -> Vec<u8> {
    serde_json::to_vec(message).expect("our messages have string keys and finite numbers")
}

/// The clock that timers run by.
pub(crate) fn now() -> std::time::Instant {
    tokio::time::Instant::now().into_std()
}
