//! Ready means tried: before this node says hello, it dials itself as a gateway would and lets a
//! probe lobby be opened, stepped, saved and deleted.

use std::time::Duration;

use chassis::{Check, Process};
use futures_util::{SinkExt, StreamExt};
use protocol::frame::{InvalidFrame, decode, encode};
use protocol::link::{GATEWAY_LINK_PATH, ToGateway, ToNode};
use registry::{Membership, PresenceChecks};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{sleep, timeout, timeout_at};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderValue, header};
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use tracing::{info, warn};

use crate::Config;

/// Between two tries.
const RETRY: Duration = Duration::from_millis(200);
/// One try.
const TRY_WITHIN: Duration = Duration::from_secs(5);

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Why this node can't reach itself.
#[derive(Debug, thiserror::Error)]
enum ProbeError {
    #[error("{0}")]
    Socket(#[from] tungstenite::Error),
    #[error("{0}")]
    Frame(#[from] InvalidFrame),
    #[error("ADVERTISE_ADDR {0:?} is no address")]
    Address(String),
    #[error("another node, {0}, answers there")]
    AnotherNode(String),
    #[error("no answer within {} s", TRY_WITHIN.as_secs())]
    TimedOut,
    #[error("the link was closed")]
    Closed,
    #[error("{0}")]
    Failed(String),
}

/// Tries until all has worked, or until the link's time is up; then this node is ready. Goes on to
/// show how the registry does, and never ends.
pub(crate) async fn become_ready(
    config: &Config,
    process: &Process,
    membership: &Membership,
    ready: watch::Sender<bool>,
) {
    let [presence, link] = process.readiness.checks(["presence", "link"]);
    tokio::join!(
        presence_works(membership, &presence),
        link_works(config, process, membership, &link)
    );
    let own = membership.own();
    info!(node = %own.id, address = own.address, verified = own.verified, "ready");
    ready.send_replace(true);
    membership.ready().await;
    follow_registry(membership, &presence).await;
}

/// Shows for ever whether the registry answers. Once ready, that alone takes nothing away.
async fn follow_registry(membership: &Membership, check: &Check) {
    let mut checks = membership.checks();
    while checks.changed().await.is_ok() {
        if checks.borrow_and_update().current {
            check.pass("the last heartbeat was written");
        } else {
            check.fail("the registry can't be reached; what was known stays");
        }
    }
}

async fn presence_works(membership: &Membership, check: &Check) {
    check.fail("no heartbeat was written, or the own message was not heard, yet");
    let works = |checks: &PresenceChecks| checks.heartbeat_written && checks.probe_heard;
    // An error means that the membership has ended, and with it this start.
    if membership.checks().wait_for(works).await.is_ok() {
        check.pass("a heartbeat was written, and the own message was heard");
    }
}

async fn link_works(config: &Config, process: &Process, membership: &Membership, check: &Check) {
    let deadline = process.started + config.ready_timeout;
    let mut why = format!("{}: no answer", config.advertise_addr);
    let trying = async {
        loop {
            match try_link(config, membership).await {
                Ok(()) => return,
                Err(error) => {
                    why = format!("{}: {error}", config.advertise_addr);
                    check.fail(why.clone());
                }
            }
            sleep(RETRY).await;
        }
    };
    if timeout_at(deadline.into(), trying).await.is_ok() {
        return check.pass(format!(
            "a probe lobby answered at {}",
            config.advertise_addr
        ));
    }
    // ADVERTISE_ADDR is not what others reach this host by, or the network does not let it
    // through; gateways decide by their own links.
    warn!(
        why,
        "this node can't reach itself by its advertised address: it joins unverified"
    );
    check.waive(why.clone());
    membership.update(|own| (own.verified, own.why) = (false, Some(why)));
}

async fn try_link(config: &Config, membership: &Membership) -> Result<(), ProbeError> {
    timeout(TRY_WITHIN, probe(config, membership))
        .await
        .unwrap_or(Err(ProbeError::TimedOut))
}

async fn probe(config: &Config, membership: &Membership) -> Result<(), ProbeError> {
    let own = membership.own();
    let mut socket = dial(config).await?;
    let hello = ToNode::Hello {
        gateway: own.id.to_string(),
        incarnation: own.incarnation.uuid(),
    };
    say(&mut socket, &hello).await?;
    say(&mut socket, &ToNode::Probe { request: 1 }).await?;
    loop {
        match hear(&mut socket).await? {
            ToGateway::Hello { incarnation, node } if incarnation != own.incarnation.uuid() => {
                return Err(ProbeError::AnotherNode(node));
            }
            ToGateway::Probed {
                failure: Some(failure),
                ..
            } => {
                return Err(ProbeError::Failed(failure));
            }
            ToGateway::Probed { failure: None, .. } => break,
            _ => {}
        }
    }
    // It has answered: how it takes the close changes nothing.
    let _closed = socket.close(None).await;
    Ok(())
}

async fn dial(config: &Config) -> Result<Socket, ProbeError> {
    let address = &config.advertise_addr;
    let invalid = |_| ProbeError::Address(address.clone());
    let url = format!("ws://{address}{GATEWAY_LINK_PATH}");
    let mut request = url.into_client_request().map_err(invalid)?;
    if !config.gateway_secret.is_empty() {
        let bearer = format!("Bearer {}", config.gateway_secret.reveal());
        let mut bearer = HeaderValue::try_from(bearer)
            .map_err(|_| ProbeError::Failed("GATEWAY_SHARED_SECRET is no header's value".into()))?;
        bearer.set_sensitive(true);
        request.headers_mut().insert(header::AUTHORIZATION, bearer);
    }
    Ok(connect_async(request).await?.0)
}

async fn say(socket: &mut Socket, message: &ToNode) -> Result<(), ProbeError> {
    Ok(socket.send(Message::Binary(encode(message).into())).await?)
}

async fn hear(socket: &mut Socket) -> Result<ToGateway, ProbeError> {
    loop {
        match socket.next().await.ok_or(ProbeError::Closed)?? {
            Message::Binary(bytes) => return Ok(decode(&bytes)?),
            Message::Close(_) => return Err(ProbeError::Closed),
            _ => {}
        }
    }
}
