//! What suspended nodes have handed over and nobody has taken yet.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chassis::clock;
use protocol::LobbyCode;
use protocol::link::Handed;
use registry::NodeId;
use tokio::time::interval;
use tracing::warn;

/// All lobbies of several nodes: a node has a thousand at most by default.
const MAX_LOBBIES: usize = 16 * 1024;
/// In all. A lobby takes some kilobytes.
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// Between two looks for what is too old.
const FORGET_EVERY: Duration = Duration::from_mins(1);

/// By code: who handed it over, and what.
#[derive(Debug, Default)]
pub(crate) struct HandedOver(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    lobbies: HashMap<LobbyCode, Entry>,
    /// Lobbies of each node among them.
    by_node: HashMap<NodeId, usize>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    node: NodeId,
    handed: Handed,
    since: Instant,
}

impl HandedOver {
    /// A node has handed these over; of two states of one lobby the newer is kept.
    pub(crate) fn keep(&self, now: Instant, node: &NodeId, lobbies: Vec<(LobbyCode, Handed)>) {
        let mut kept = self.lock();
        let mut lost = 0_usize;
        for (code, handed) in lobbies {
            let time = (handed.epoch, handed.seq);
            if let Some(known) = kept.lobbies.get(&code)
                && (known.handed.epoch, known.handed.seq) > time
            {
                continue;
            }
            kept.remove(code);
            let full = kept.lobbies.len() >= MAX_LOBBIES;
            if full || kept.bytes + handed.saved.len() > MAX_BYTES {
                lost += 1;
                continue;
            }
            let node = node.clone();
            let since = now;
            kept.insert(
                code,
                Entry {
                    node,
                    handed,
                    since,
                },
            );
        }
        if lost > 0 {
            // Far more was handed over than any fleet holds: these are claimed as they were saved.
            warn!(%node, lost, "more lobbies were handed over than are kept");
        }
    }

    /// What was handed over of that lobby, and by whom.
    pub(crate) fn of(&self, code: LobbyCode) -> Option<(NodeId, Handed)> {
        let kept = self.lock();
        let entry = kept.lobbies.get(&code)?;
        Some((entry.node.clone(), entry.handed.clone()))
    }

    /// Whether that node has handed anything over that is not taken yet.
    pub(crate) fn has_any_of(&self, node: &NodeId) -> bool {
        self.lock().by_node.contains_key(node)
    }

    /// A lobby has an owner again.
    pub(crate) fn taken(&self, code: LobbyCode) {
        self.lock().remove(code);
    }

    /// The record of a lobby shows an owner of that epoch: what was handed over before was taken,
    /// here or through another gateway, or given up.
    pub(crate) fn overtaken(&self, code: LobbyCode, epoch: u64) {
        let mut kept = self.lock();
        let known = kept.lobbies.get(&code);
        if known.is_some_and(|known| known.handed.epoch < epoch) {
            kept.remove(code);
        }
    }

    /// That node keeps what nobody has taken over.
    pub(crate) fn take_back(&self, node: &NodeId) {
        let mut kept = self.lock();
        if kept.by_node.contains_key(node) {
            kept.remove_where(|entry| entry.node == *node);
        }
    }

    /// Forgets for ever what was handed over so long ago: records live no longer, and nobody comes
    /// back to such a table.
    pub(crate) async fn forget_after(&self, time: Duration) {
        let mut ticks = interval(FORGET_EVERY);
        loop {
            ticks.tick().await;
            self.forget(clock::now(), time);
        }
    }

    fn forget(&self, now: Instant, after: Duration) {
        let is_old = |entry: &Entry| now.saturating_duration_since(entry.since) >= after;
        self.lock().remove_where(is_old);
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn insert(&mut self, code: LobbyCode, entry: Entry) {
        self.bytes += entry.handed.saved.len();
        *self.by_node.entry(entry.node.clone()).or_default() += 1;
        self.lobbies.insert(code, entry);
    }

    fn remove_where(&mut self, is_it: impl Fn(&Entry) -> bool) {
        let found = self.lobbies.iter().filter(|(_, entry)| is_it(entry));
        let codes: Vec<LobbyCode> = found.map(|(code, _)| *code).collect();
        for code in codes {
            self.remove(code);
        }
    }

    fn remove(&mut self, code: LobbyCode) {
        let Some(Entry { node, handed, .. }) = self.lobbies.remove(&code) else {
            return;
        };
        self.bytes -= handed.saved.len();
        if let Some(count) = self.by_node.get_mut(&node) {
            *count -= 1;
            if *count == 0 {
                self.by_node.remove(&node);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> NodeId {
        NodeId::new(name).unwrap()
    }

    fn handed(epoch: u64, seq: u64) -> Handed {
        Handed {
            epoch,
            seq,
            born: "0011223344556677".to_owned(),
            status: "playing".to_owned(),
            saved: vec![0; 10].into(),
        }
    }

    fn seq(handed: &HandedOver, bits: u32) -> Option<u64> {
        let kept = handed.of(LobbyCode::from_bits(bits));
        kept.map(|(_, handed)| handed.seq)
    }

    #[test]
    fn the_newest_state_is_kept_until_it_is_taken_or_taken_back() {
        let kept = HandedOver::default();
        let [one, two] = [1, 2].map(LobbyCode::from_bits);
        kept.keep(
            clock::now(),
            &node("a"),
            vec![(one, handed(5, 7)), (two, handed(5, 1))],
        );
        kept.keep(clock::now(), &node("b"), vec![(one, handed(4, 9))]);
        assert_eq!((seq(&kept, 1), seq(&kept, 2)), (Some(7), Some(1)));
        kept.keep(clock::now(), &node("b"), vec![(one, handed(6, 2))]);
        assert_eq!(kept.of(one).map(|(node, _)| node), Some(node("b")));
        kept.taken(two);
        assert!(!kept.has_any_of(&node("a")));
        kept.take_back(&node("b"));
        assert_eq!((seq(&kept, 1), kept.lock().bytes), (None, 0));
    }

    #[test]
    fn what_was_taken_elsewhere_or_waits_for_nobody_is_forgotten() {
        let kept = HandedOver::default();
        let [one, two, three] = [1, 2, 3].map(LobbyCode::from_bits);
        let (start, ttl) = (clock::now(), Duration::from_mins(1));
        kept.keep(
            start,
            &node("a"),
            vec![(one, handed(5, 7)), (two, handed(5, 1))],
        );
        kept.overtaken(one, 5);
        assert!(kept.of(one).is_some(), "its own record");
        kept.overtaken(one, 6);
        assert!(kept.of(one).is_none() && kept.of(two).is_some());
        kept.keep(start + ttl, &node("b"), vec![(three, handed(5, 1))]);
        kept.forget(start + ttl, ttl);
        assert!(kept.of(two).is_none() && kept.of(three).is_some());
        assert!(!kept.has_any_of(&node("a")));
        assert_eq!(kept.lock().bytes, 10);
    }

    #[test]
    fn it_is_bounded() {
        let kept = HandedOver::default();
        let all = (0..u32::try_from(MAX_LOBBIES).unwrap() + 10)
            .map(|bits| (LobbyCode::from_bits(bits), handed(1, 1)))
            .collect();
        kept.keep(clock::now(), &node("a"), all);
        assert!(kept.lock().lobbies.len() <= MAX_LOBBIES);
    }
}
