//! Who owned a lobby when it was last looked up, and since when the record has named them.
//!
//! Only a memory: what it says may be out of date, and is corrected by the node that says it is
//! not the owner.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use protocol::LobbyCode;
use registry::{NodeId, Owner};

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
    young: HashMap<LobbyCode, Named>,
    old: HashMap<LobbyCode, Named>,
}

#[derive(Clone, Debug)]
struct Named {
    owner: Owner,
    since: Instant,
}

impl Directory {
    /// The owner, as far as is remembered.
    pub(crate) fn owner(&self, code: LobbyCode) -> Option<NodeId> {
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        let named = halves.get(code)?;
        Some(named.owner.node)
    }

    /// Remembers an owner. Returns since when it has been the same.
    pub(crate) fn remember(&self, code: LobbyCode, owner: Owner, now: Instant) -> Instant {
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        let known = halves.get(code).filter(|known| known.owner == owner);
        let since = known.map_or(now, |known| known.since);
        halves.insert(code, Named { owner, since });
        since
    }

    /// Forgets an owner: the lobby is not there, or not theirs.
    pub(crate) fn forget(&self, code: LobbyCode) {
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        halves.young.remove(&code);
        halves.old.remove(&code);
    }
}

impl Halves {
    fn get(&mut self, code: LobbyCode) -> Option<Named> {
        if let Some(named) = self.young.get(&code) {
            return Some(named.clone());
        }
        let named = self.old.remove(&code)?;
        self.insert(code, named.clone());
        Some(named)
    }

    fn insert(&mut self, code: LobbyCode, named: Named) {
        self.old.remove(&code);
        if self.young.len() >= HALF && !self.young.contains_key(&code) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(code, named);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use registry::Incarnation;
    use uuid::Uuid;

    use super::*;

    fn owner(name: &str, run: u128) -> Owner {
        Owner {
            node: NodeId::new(name).unwrap(),
            incarnation: Incarnation::new(Uuid::from_u128(run)),
        }
    }

    #[test]
    fn the_newest_owner_is_remembered_until_it_is_forgotten() {
        let directory = Directory::default();
        let now = chassis::clock::now();
        let code = LobbyCode::from_bits(7);
        assert_eq!(directory.owner(code), None);
        directory.remember(code, owner("a", 1), now);
        directory.remember(code, owner("b", 1), now);
        assert_eq!(directory.owner(code), Some(owner("b", 1).node));
        directory.forget(code);
        assert_eq!(directory.owner(code), None);
    }

    #[test]
    fn an_owner_is_the_same_until_another_one_or_another_run_is_named() {
        let directory = Directory::default();
        let start = chassis::clock::now();
        let code = LobbyCode::from_bits(7);
        let since = |seconds, one: Owner| {
            let now = start + Duration::from_secs(seconds);
            let since = directory.remember(code, one, now);
            since.saturating_duration_since(start).as_secs()
        };
        assert_eq!(since(1, owner("a", 1)), 1);
        assert_eq!(since(2, owner("a", 1)), 1);
        assert_eq!(since(3, owner("a", 2)), 3);
        assert_eq!(since(4, owner("a", 1)), 4);
    }

    #[test]
    fn it_is_bounded_and_keeps_what_is_asked_for() {
        let directory = Directory::default();
        let now = chassis::clock::now();
        let code = |bits: usize| LobbyCode::from_bits(u32::try_from(bits).unwrap());
        for bits in 0..HALF * 5 {
            directory.remember(code(bits), owner("a", 1), now);
            assert!(directory.owner(code(0)).is_some(), "asked for all the time");
        }
        assert_eq!(directory.owner(code(1)), None);
        let halves = directory.halves.lock().unwrap();
        assert!(halves.young.len() + halves.old.len() <= 2 * HALF);
    }
}
