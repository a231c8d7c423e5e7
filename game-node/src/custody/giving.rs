//! Whether a lobby is given up.

use std::time::{Duration, Instant};

/// A lobby that has come so lately does not leave for a start: it would walk from node to node while
/// nobody has room.
const STAYS_FOR: Duration = Duration::from_secs(10);

/// How far a lobby is on its way out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Giving {
    /// It stays, or is not on its way yet.
    #[default]
    Kept,
    /// Its release is under way: another may own it.
    Frozen,
}

impl Giving {
    pub(crate) fn is_frozen(self) -> bool {
        self == Self::Frozen
    }

    /// Whether it may leave so that its game starts elsewhere, if it came here at `since`.
    pub(crate) fn may_leave(self, now: Instant, since: Option<Instant>) -> bool {
        let stays = since.is_some_and(|since| now.saturating_duration_since(since) < STAYS_FOR);
        self == Self::Kept && !stays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lobby_that_has_just_come_does_not_leave_for_a_start() {
        let came = chassis::clock::now();
        let cases = [
            (Giving::Kept, None, 0, true),
            (Giving::Kept, Some(came), 9, false),
            (Giving::Kept, Some(came), 10, true),
            (Giving::Frozen, None, 0, false),
        ];
        for (giving, since, seconds, may) in cases {
            let now = came + Duration::from_secs(seconds);
            assert_eq!(
                giving.may_leave(now, since),
                may,
                "{giving:?} after {seconds} s"
            );
        }
    }
}
