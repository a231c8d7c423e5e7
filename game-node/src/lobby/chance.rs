//! Chance that comes with an input.

use std::fmt;

use protocol::PlayerId;
use rules::Seed;

/// Random bytes of the operating system, enough for whatever one input may need.
#[derive(Clone, PartialEq, Eq)]
pub struct Chance {
    /// The seed of a game that this input may begin.
    pub seed: [u8; 32],
    /// The id of an AI seat that it may make.
    pub ai_id: [u8; 4],
    /// Picks a name or a move.
    pub pick: u32,
}

impl Chance {
    pub(super) fn seed(&self) -> Seed {
        Seed::new(self.seed)
    }

    /// An id that no seat has.
    pub(super) fn ai_id(&self, is_taken: impl Fn(&PlayerId) -> bool) -> PlayerId {
        let first = u32::from_be_bytes(self.ai_id);
        (0..=u32::MAX)
            .map(|step| PlayerId::ai(first.wrapping_add(step).to_be_bytes()))
            .find(|id| !is_taken(id))
            .expect("a table has few seats")
    }

    /// An index below `len`; `len` is not 0.
    pub(super) fn index(&self, len: usize) -> usize {
        usize::try_from(self.pick).map_or(0, |pick| pick % len)
    }
}

/// The seed decides all hands.
impl fmt::Debug for Chance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Chance(hidden)")
    }
}
