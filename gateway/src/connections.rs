//! The open connections, and how the rest of the gateway reaches them.
//!
//! Whoever delivers never waits: a connection that does not take what it is given is ended.

mod inbox;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::{ConnectionId, PlayerId};

use crate::session::Input;
use inbox::Inbox;

/// All connections of this gateway. Bounded by the limits on sockets.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    last: AtomicU64,
    index: Mutex<Index>,
}

#[derive(Debug, Default)]
struct Index {
    by_id: HashMap<ConnectionId, Handle>,
    by_player: HashMap<PlayerId, Vec<ConnectionId>>,
}

#[derive(Debug)]
struct Handle {
    inbox: Arc<Inbox>,
    player: Option<PlayerId>,
}

/// One connection's end: its inbox, and its place in the index, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Registered {
    connections: Arc<Connections>,
    pub(crate) id: ConnectionId,
    pub(crate) inbox: Arc<Inbox>,
}

impl Connections {
    /// A new connection, whose id was never given before in this process.
    pub(crate) fn register(self: &Arc<Self>) -> Registered {
        let id = ConnectionId(self.last.fetch_add(1, Ordering::Relaxed) + 1);
        let inbox = Arc::new(Inbox::default());
        let handle = Handle {
            inbox: Arc::clone(&inbox),
            player: None,
        };
        self.lock().by_id.insert(id, handle);
        Registered {
            connections: Arc::clone(self),
            id,
            inbox,
        }
    }

    /// From now on this connection is that player's.
    pub(crate) fn identify(&self, id: ConnectionId, player: PlayerId) {
        let mut index = self.lock();
        if let Some(handle) = index.by_id.get_mut(&id) {
            handle.player = Some(player.clone());
            index.by_player.entry(player).or_default().push(id);
        }
    }

    /// Gives something to one connection, if it is still there.
    pub(crate) fn deliver(&self, id: ConnectionId, input: Input) {
        if let Some(handle) = self.lock().by_id.get(&id) {
            handle.inbox.give(input);
        }
    }

    /// Gives something to all connections of one player.
    pub(crate) fn deliver_to_player(&self, player: &PlayerId, input: impl Fn() -> Input) {
        let index = self.lock();
        for id in index.by_player.get(player).into_iter().flatten() {
            if let Some(handle) = index.by_id.get(id) {
                handle.inbox.give(input());
            }
        }
    }

    /// Gives something to all connections.
    pub(crate) fn deliver_to_all(&self, input: impl Fn() -> Input) {
        for handle in self.lock().by_id.values() {
            handle.inbox.give(input());
        }
    }

    /// All that are open now.
    pub(crate) fn ids(&self) -> Vec<ConnectionId> {
        self.lock().by_id.keys().copied().collect()
    }

    /// How many players are known here.
    pub(crate) fn players(&self) -> usize {
        self.lock().by_player.len()
    }

    fn lock(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut index = self.connections.lock();
        let player = index
            .by_id
            .remove(&self.id)
            .and_then(|handle| handle.player);
        let Some(player) = player else {
            return;
        };
        if let Some(ids) = index.by_player.get_mut(&player) {
            ids.retain(|id| *id != self.id);
            if ids.is_empty() {
                index.by_player.remove(&player);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[test]
    fn a_player_is_reached_on_all_connections_until_they_close() {
        let connections = Arc::new(Connections::default());
        let player = PlayerId::person([1; 6]);
        let (one, two) = (connections.register(), connections.register());
        assert_ne!(one.id, two.id);
        connections.identify(one.id, player.clone());
        connections.identify(two.id, player.clone());
        connections.deliver_to_player(&player, || Input::Heard);
        let waits = |registered: &Registered| {
            let mut context = Context::from_waker(Waker::noop());
            matches!(
                registered.inbox.poll_next(&mut context),
                Poll::Ready(Some(_))
            )
        };
        assert!(waits(&one) && waits(&two));
        assert!(!waits(&one), "each of them once");
        drop(one);
        assert_eq!(connections.players(), 1);
        drop(two);
        assert_eq!(connections.players(), 0);
        assert!(connections.lock().by_id.is_empty());
    }
}
