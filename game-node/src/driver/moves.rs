//! Lobbies that have changed their owner here, for operators: how many, why, and how long it took.
//!
//! It only counts: nothing is decided by it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use registry::Moved;

/// Lobbies that move for the same reason belong together as long as no longer passes between two of them: what one
/// fault has moved, and not what the next one has.
const APART: Duration = Duration::from_secs(10);

/// One direction, since the start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moves {
    by_reason: BTreeMap<&'static str, Tally>,
    /// Those that belong together with the newest, and when that was.
    last: Option<(Instant, Moved)>,
}

/// Of one reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) lobbies: u64,
    pub(crate) longest: Duration,
}

impl Moves {
    /// A lobby has changed its owner; `now_ms` by the registry's clock.
    pub(super) fn add(&mut self, now: Instant, now_ms: u64, why: &'static str, took: Duration) {
        let tally = self.by_reason.entry(why).or_default();
        tally.lobbies += 1;
        tally.longest = tally.longest.max(took);
        let longest_ms = chassis::clock::milliseconds(took);
        match &mut self.last {
            Some((at, moved)) if moved.why == why && now <= *at + APART => {
                *at = now;
                moved.lobbies = moved.lobbies.saturating_add(1);
                moved.longest_ms = moved.longest_ms.max(longest_ms);
            }
            last => {
                let moved = Moved {
                    at: now_ms,
                    why: why.to_owned(),
                    lobbies: 1,
                    longest_ms,
                };
                *last = Some((now, moved));
            }
        }
    }

    pub(crate) fn lobbies(&self) -> u64 {
        self.by_reason.values().map(|tally| tally.lobbies).sum()
    }

    pub(crate) fn by_reason(&self) -> impl Iterator<Item = (&'static str, Tally)> {
        self.by_reason.iter().map(|(why, tally)| (*why, *tally))
    }

    pub(super) fn last(&self) -> Option<&Moved> {
        self.last.as_ref().map(|(_, moved)| moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_together_is_told_as_one_and_the_next_reason_or_time_anew() {
        let (start, mut moves) = (crate::driver::now(), Moves::default());
        let mut add = |seconds, why, took| {
            let now = start + Duration::from_secs(seconds);
            moves.add(now, 1_000 * seconds, why, Duration::from_millis(took));
            let last = moves.last().expect("one has moved");
            (last.at, last.lobbies, last.longest_ms)
        };
        assert_eq!(add(1, "dead", 700), (1_000, 1, 700));
        assert_eq!(add(9, "dead", 900), (1_000, 2, 900));
        assert_eq!(add(19, "dead", 100), (1_000, 3, 900));
        assert_eq!(add(20, "released", 10), (20_000, 1, 10));
        assert_eq!(add(31, "released", 20), (31_000, 1, 20));
        let dead = Tally {
            lobbies: 3,
            longest: Duration::from_millis(900),
        };
        assert_eq!(moves.by_reason().next(), Some(("dead", dead)));
        assert_eq!(moves.lobbies(), 5);
    }
}
