//! Who owned a lobby when it was last looked up.
//!
//! Only a memory: what it says may be out of date, and is corrected by the node that says it is
//! not the owner.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use protocol::LobbyCode;
use registry::NodeId;

/// Codes in one half; the whole keeps up to twice as many. As many as anybody plays through one
/// gateway at a time; guessed codes are not kept.
const HALF: usize = 8 * 1024;

/// Codes and their owners. What was not asked for in the last [`HALF`] new entries is forgotten.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    halves: Mutex<Halves>,
}

#[derive(Debug, Default)]
struct Halves {
    young: HashMap<LobbyCode, NodeId>,
    old: HashMap<LobbyCode, NodeId>,
}

impl Directory {
    /// The owner, as far as is remembered.
    pub(crate) fn owner(&self, code: LobbyCode) -> Option<NodeId> {
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(node) = halves.young.get(&code) {
            return Some(node.clone());
        }
        let node = halves.old.remove(&code)?;
        halves.insert(code, node.clone());
        Some(node)
    }

    /// Remembers an owner.
    pub(crate) fn remember(&self, code: LobbyCode, node: NodeId) {
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        halves.old.remove(&code);
        halves.insert(code, node);
    }

    /// Forgets an owner: the lobby is not there, or not theirs.
    pub(crate) fn forget(&self, code: LobbyCode) {
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        halves.young.remove(&code);
        halves.old.remove(&code);
    }
}

impl Halves {
    fn insert(&mut self, code: LobbyCode, node: NodeId) {
        if self.young.len() >= HALF {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(code, node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str) -> NodeId {
        NodeId::new(name).unwrap()
    }

    #[test]
    fn the_newest_owner_is_remembered_until_it_is_forgotten() {
        let directory = Directory::default();
        let code = LobbyCode::from_bits(7);
        assert_eq!(directory.owner(code), None);
        directory.remember(code, node("a"));
        directory.remember(code, node("b"));
        assert_eq!(directory.owner(code), Some(node("b")));
        directory.forget(code);
        assert_eq!(directory.owner(code), None);
    }

    #[test]
    fn it_is_bounded_and_keeps_what_is_asked_for() {
        let directory = Directory::default();
        let code = |bits: usize| LobbyCode::from_bits(u32::try_from(bits).unwrap());
        for bits in 0..HALF * 5 {
            directory.remember(code(bits), node("a"));
            assert!(directory.owner(code(0)).is_some(), "asked for all the time");
        }
        assert_eq!(directory.owner(code(1)), None);
        let halves = directory.halves.lock().unwrap();
        assert!(halves.young.len() + halves.old.len() <= 2 * HALF);
    }
}
