//! One link's task: frames in, messages out, until either end is gone.

use std::time::Duration;

use axum::extract::ws::Message;
use futures_util::{Sink, SinkExt, Stream, StreamExt};
use protocol::frame::{InvalidFrame, encode};
use protocol::version::Peer;
use protocol::{decide, link as gateway};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};
use tracing::{debug, warn};

use super::{FromLink, outbox};
use crate::lobby::LinkId;

/// Whoever dials says hello at once.
const HELLO_WITHIN: Duration = Duration::from_secs(5);
/// A gateway asks every second, an AI node is asked every second: who is silent for so long is gone
/// without a word, e.g. with its host.
const SILENT_AFTER: Duration = Duration::from_secs(15);
const PING_EVERY: Duration = Duration::from_secs(1);
/// Messages that are written as one.
const BATCH: usize = 128;

/// Why a link has ended.
#[derive(Debug, thiserror::Error)]
enum End {
    #[error("{0}")]
    Socket(#[from] axum::Error),
    #[error("{0}")]
    Frame(#[from] InvalidFrame),
    #[error("its first message is no hello")]
    NoHello,
    #[error("nothing heard for too long")]
    Silent,
    #[error("closed")]
    Closed,
    #[error("it reads too slowly")]
    Slow,
}

/// A WebSocket, or what a simulation has in its place.
pub(crate) trait Socket:
    Stream<Item = Result<Message, axum::Error>> + Sink<Message, Error = axum::Error> + Unpin
{
}

impl<S> Socket for S where
    S: Stream<Item = Result<Message, axum::Error>> + Sink<Message, Error = axum::Error> + Unpin
{
}

pub(crate) async fn gateway(
    link: LinkId,
    peer: Peer,
    mut socket: impl Socket,
    inbox: mpsc::Sender<FromLink>,
) {
    let hello = timeout(HELLO_WITHIN, receive(peer, &mut socket))
        .await
        .unwrap_or(Err(End::Silent));
    let (name, incarnation) = match hello {
        Ok(gateway::ToNode::Hello {
            gateway,
            incarnation,
        }) => (gateway, incarnation),
        other => return not_greeted(link, other.err()),
    };
    let (outbox, waiting) = outbox();
    let cut = outbox.cut();
    let up = FromLink::GatewayUp {
        link,
        gateway: name.clone(),
        incarnation,
        outbox,
    };
    if inbox.send(up).await.is_err() {
        return;
    }
    let (sink, stream) = socket.split();
    let end = tokio::select! {
        end = read(peer, stream, &inbox, |message| FromLink::gateway(link, message)) => end,
        end = write(sink, waiting, None::<fn(u64) -> gateway::ToGateway>) => end,
        () = cut.cancelled() => End::Slow,
    };
    ended(&name, &end);
    // An error means that the driver is gone, and everything with it.
    let _driver_gone = inbox.send(FromLink::GatewayDown { link }).await;
}

pub(super) async fn ai(
    link: LinkId,
    peer: Peer,
    mut socket: impl Socket,
    inbox: mpsc::Sender<FromLink>,
) {
    let hello = timeout(HELLO_WITHIN, receive(peer, &mut socket))
        .await
        .unwrap_or(Err(End::Silent));
    let name = match hello {
        Ok(decide::ToNode::Hello { ai_node, .. }) => ai_node,
        other => return not_greeted(link, other.err()),
    };
    let (outbox, waiting) = outbox();
    let cut = outbox.cut();
    if inbox
        .send(FromLink::AiUp {
            link,
            ai_node: name.clone(),
            outbox,
        })
        .await
        .is_err()
    {
        return;
    }
    let (sink, stream) = socket.split();
    let end = tokio::select! {
        end = read(peer, stream, &inbox, |message| FromLink::Ai { link, message }) => end,
        end = write(sink, waiting, Some(|nonce| decide::ToAi::Ping { nonce })) => end,
        () = cut.cancelled() => End::Slow,
    };
    ended(&name, &end);
    let _driver_gone = inbox.send(FromLink::AiDown { link }).await;
}

fn not_greeted(link: LinkId, end: Option<End>) {
    match end.unwrap_or(End::NoHello) {
        // Whoever dialled gave it up, as all do while this process stands still.
        why @ (End::Closed | End::Socket(_)) => debug!(link = link.0, %why, "a link has ended"),
        // Somebody with the secret who is none of ours.
        why => warn!(link = link.0, %why, "a link said no hello"),
    }
}

fn ended(name: &str, end: &End) {
    match end {
        End::Closed | End::Socket(_) => debug!(peer = name, why = %end, "a link has ended"),
        // The other end hangs, is too slow, or none of ours.
        _ => warn!(peer = name, why = %end, "a link was ended"),
    }
}

async fn receive<T: DeserializeOwned>(peer: Peer, socket: &mut impl Socket) -> Result<T, End> {
    loop {
        match socket.next().await.ok_or(End::Closed)?? {
            Message::Binary(bytes) => {
                if let Some(message) = peer.read(&bytes)? {
                    return Ok(message);
                }
            }
            Message::Close(_) => return Err(End::Closed),
            Message::Text(_) => return Err(End::NoHello),
            Message::Ping(_) | Message::Pong(_) => {}
        }
    }
}

async fn read<T: DeserializeOwned>(
    peer: Peer,
    mut stream: impl Stream<Item = Result<Message, axum::Error>> + Unpin,
    inbox: &mpsc::Sender<FromLink>,
    told: impl Fn(T) -> FromLink,
) -> End {
    loop {
        let frame = match timeout(SILENT_AFTER, stream.next()).await {
            Err(_) => return End::Silent,
            Ok(None | Some(Ok(Message::Close(_)))) => return End::Closed,
            Ok(Some(Err(error))) => return error.into(),
            Ok(Some(Ok(frame))) => frame,
        };
        let Message::Binary(bytes) = frame else {
            continue;
        };
        match peer.read(&bytes) {
            Ok(Some(message)) => {
                if inbox.send(told(message)).await.is_err() {
                    return End::Closed;
                }
            }
            // During an upgrade.
            Ok(None) => debug!("skipped what only a newer version knows"),
            Err(error) => return error.into(),
        }
    }
}

async fn write<T: Serialize>(
    mut sink: impl Sink<Message, Error = axum::Error> + Unpin,
    mut waiting: mpsc::Receiver<T>,
    ping: Option<impl Fn(u64) -> T>,
) -> End {
    let mut ticks = ticks();
    let mut nonce = 0;
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        tokio::select! {
            taken = waiting.recv_many(&mut batch, BATCH) => {
                if taken == 0 {
                    // What it wrote has arrived; how the other end takes the close is its own.
                    let _closed = sink.close().await;
                    return End::Closed;
                }
            }
            _ = ticks.tick(), if ping.is_some() => {
                nonce += 1;
                batch.extend(ping.as_ref().map(|ping| ping(nonce)));
            }
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

fn ticks() -> Interval {
    let mut ticks = interval(PING_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
