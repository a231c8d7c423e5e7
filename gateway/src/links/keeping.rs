//! What the task that keeps a link tells of it: it is up, it is down, nobody answers.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chassis::clock;
use protocol::link::ToNode;
use protocol::server::LoadLevel;
use registry::{Incarnation, NodeId};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Failure, Heard, Links, UNLISTED_FOR, Up};
use crate::session::Input;
use crate::status::NodeStatus;

impl Links {
    /// A link is up: from now on it can be sent to.
    pub(crate) fn connected(
        &self,
        node: &NodeId,
        stop: &CancellationToken,
        incarnation: Incarnation,
        queue: mpsc::Sender<ToNode>,
        overrun: CancellationToken,
    ) -> Arc<Heard> {
        // Nothing is known of its load yet; its first message says it.
        let status = NodeStatus {
            level: LoadLevel::default(),
            accepting_games: false,
        };
        let now = clock::now();
        let heard = Arc::new(Heard::new(now));
        // What is still to be taken over is said again.
        self.handed.take_back(node);
        let mut entries = self.lock();
        if !stop.is_cancelled()
            && let Some(entry) = entries.get_mut(node)
        {
            entry.standing.connected(now, incarnation);
            entry.up = Some(Up {
                queue,
                overrun,
                status,
                unsaved: None,
                heard: Arc::clone(&heard),
            });
            drop(entries);
            self.change_overview(|overview| {
                overview.nodes.insert(node.clone(), status);
            });
        }
        heard
    }

    /// A link is down: whoever has a table there is told. Returns whether the registry still names
    /// that node.
    pub(crate) fn disconnected(&self, node: &NodeId, stop: &CancellationToken) -> bool {
        let mut entries = self.lock();
        let mut listed = false;
        // After a cancelled stop, the entry is another link's.
        if !stop.is_cancelled()
            && let Some(entry) = entries.get_mut(node)
        {
            if let Some(up) = entry.up.take() {
                entry.standing.disconnected(up.heard.at());
            }
            listed = entry.unlisted_at.is_none();
        }
        let replaced = entries.get(node).is_some_and(|entry| entry.up.is_some());
        drop(entries);
        if !replaced {
            self.change_overview(|overview| {
                overview.nodes.remove(node);
            });
        }
        self.connections
            .deliver_to_all(|| Input::LinkLost { node: node.clone() });
        listed
    }

    /// A dial has come to nothing.
    pub(crate) fn dial_failed(&self, node: &NodeId, stop: &CancellationToken, failure: Failure) {
        if let Some(entry) = self.lock().get_mut(node)
            && !stop.is_cancelled()
        {
            entry.standing.failed(failure);
        }
    }

    /// How long to wait before that node is dialled anew; none if it is not: the registry names it
    /// no more, and nobody needs to know whether it lives.
    pub(crate) fn redial_after(
        &self,
        node: &NodeId,
        stop: &CancellationToken,
        chance: u32,
    ) -> Option<Duration> {
        let mut entries = self.lock();
        let entry = entries.get(node).filter(|_| !stop.is_cancelled())?;
        let needless = entry
            .unlisted_at
            .is_some_and(|since| entry.standing.is_dead() || clock::now() >= since + UNLISTED_FOR);
        let stopping = self.stopping.load(Ordering::Relaxed);
        if stopping || needless && entry.wanted == 0 {
            entries.remove(node);
            return None;
        }
        Some(entry.standing.backoff(entry.wanted > 0, chance))
    }
}
