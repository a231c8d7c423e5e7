//! How much of everything: the short form proves that it works, the full one that it works many times.

use std::time::Duration;

use loadtest::Report;
use protocol::ErrorCode;

#[derive(Clone, Copy)]
pub(super) struct Scale {
    /// Tables that play at the same time.
    pub(super) tables: u32,
    /// Nodes that are killed one after the other.
    pub(super) kills: usize,
    /// A player's pause before a move: some moves a second at each table, so that every fault hits some on their way.
    pub(super) think: Duration,
    /// How long Redis is away.
    pub(super) redis_away: Duration,
    pub(super) is_full: bool,
}

/// The short form runs beside other tests, and is not what the promise is measured by.
const SLACK: u32 = 6;
/// Below it a promise says nothing of a machine that has other things to do.
const LEAST: Duration = Duration::from_secs(1);

impl Scale {
    /// What is promised, for the full form; for the short one several times that.
    pub(super) fn at_most(self, promised: Duration) -> Duration {
        if self.is_full {
            promised
        } else {
            SLACK * promised.max(LEAST)
        }
    }

    /// Nobody was refused anything. In the short form a message may have had no answer in time, of which its player was
    /// told: then it was asked again, and may have been done by then.
    pub(super) fn nothing_was_refused(self, report: &Report) -> bool {
        let is_slowness =
            |code: &ErrorCode| matches!(code, ErrorCode::Unavailable | ErrorCode::StaleTurn);
        let mut codes = report.errors.keys();
        codes.all(|code| !self.is_full && is_slowness(code))
    }

    pub(super) fn read() -> Self {
        let is_full = std::env::var_os("FAULTS").is_some_and(|form| form == "full");
        if is_full {
            Self {
                tables: 100,
                kills: 10,
                think: Duration::from_millis(400),
                redis_away: Duration::from_secs(30),
                is_full,
            }
        } else {
            Self {
                tables: 10,
                kills: 1,
                think: Duration::from_millis(150),
                redis_away: Duration::from_secs(7),
                is_full,
            }
        }
    }
}
