//! What goes over a link while it is up.

use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use chassis::clock;
use protocol::link::ToNode;
use protocol::version::Peer;
use registry::NodeId;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;
use tracing::debug;

use super::wire::Wire;
use super::{LinkError, frame_of};
use crate::links::{Heard, Links};
use crate::routes::SILENT_AFTER;

/// Messages that are written as one, at most: the first of many shall not wait for the last.
const BATCH: usize = 128;
/// The node's lobby thread answers each.
const PING_EVERY: Duration = Duration::from_secs(1);

pub(super) struct Traffic<'a> {
    links: &'a Links,
    node: &'a NodeId,
    peer: Peer,
    heard: Arc<Heard>,
    heard_at: Instant,
    pub(super) wire: Box<dyn Wire>,
    waiting: mpsc::Receiver<ToNode>,
    /// Taken from what waits, and not fed yet.
    batch: Vec<ToNode>,
    began: Instant,
    pub(super) ping_at: Instant,
}

impl<'a> Traffic<'a> {
    pub(super) fn new(
        links: &'a Links,
        node: &'a NodeId,
        peer: Peer,
        heard: Arc<Heard>,
        wire: Box<dyn Wire>,
        waiting: mpsc::Receiver<ToNode>,
    ) -> Self {
        let began = Instant::now();
        Self {
            links,
            node,
            peer,
            heard,
            heard_at: began,
            wire,
            waiting,
            batch: Vec::with_capacity(BATCH),
            began,
            ping_at: began,
        }
    }

    /// Reads and writes as far as there is something; ready when the link is broken.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<LinkError> {
        match self.poll_both(context) {
            Poll::Ready(Err(error)) => Poll::Ready(error),
            Poll::Ready(Ok(())) => Poll::Ready(LinkError::Closed),
            Poll::Pending => Poll::Pending,
        }
    }

    fn poll_both(&mut self, context: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        while let Poll::Ready(message) = self.wire.poll_read(context) {
            match message.transpose()? {
                None | Some(Message::Close(_)) => return Poll::Ready(Ok(())),
                Some(message) => self.hear(&message)?,
            }
        }
        loop {
            for message in self.batch.drain(..) {
                self.wire.feed(context, frame_of(&message))?;
            }
            ready!(self.wire.poll_flush(context))?;
            let taken = self.waiting.poll_recv_many(context, &mut self.batch, BATCH);
            if ready!(taken) == 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }

    fn hear(&mut self, message: &Message) -> Result<(), LinkError> {
        self.heard_at = Instant::now();
        self.heard.frame(clock::now());
        if let Message::Binary(bytes) = message {
            if let Some(message) = self.peer.read(bytes)? {
                self.links.received(self.node, message);
            } else {
                // During an upgrade.
                debug!("skipped what only a newer version knows");
            }
        }
        Ok(())
    }

    pub(super) fn is_silent(&self) -> bool {
        Instant::now() >= self.heard_at + SILENT_AFTER
    }

    /// Pings as often as it has to be done; returns when to look again.
    pub(super) fn ping_if_due(&mut self) -> Instant {
        let now = Instant::now();
        if now >= self.ping_at {
            self.ping_at = now + PING_EVERY;
            self.ping();
        }
        self.ping_at.min(self.heard_at + SILENT_AFTER)
    }

    pub(super) fn ping(&mut self) {
        self.batch.push(ToNode::Ping {
            nonce: clock::milliseconds(self.began.elapsed()),
            registry: self.links.sight(),
        });
    }
}
