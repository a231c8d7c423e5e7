//! What happens in one run, and when: drawn from its seed, and nothing else.
//!
//! Faults come in bouts. Those of one bout are near each other in time, since what is far apart is seldom in another's
//! way; the next bout begins when all that the one before broke has had its time to be whole again.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::fault::Fault;
use crate::moment::Moment;

/// Tables are up and playing by then.
const FIRST_AT_MS: u64 = 6_000;
/// After a fault is over, what it broke has so long to be whole again before it no longer counts as going on.
const RECOVERY_MS: u64 = 12_000;
/// A fault waits no longer for its moment; a stopped owner is relieved within this.
const MOMENT_WITHIN: Duration = Duration::from_secs(14);

/// One run.
#[derive(Debug)]
pub(crate) struct Schedule {
    pub(crate) nodes: usize,
    pub(crate) gateways: usize,
    pub(crate) tables: usize,
    /// Seats of each that an AI has.
    pub(crate) ai_seats: usize,
    /// How long a player thinks, in milliseconds.
    pub(crate) thinks_ms: Range<u64>,
    /// In the order of their beginnings.
    pub(crate) faults: Vec<Planned>,
}

/// A fault, and when it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planned {
    /// When it begins, or begins to wait for its moment.
    pub(crate) at: Duration,
    pub(crate) moment: Option<Moment>,
    pub(crate) lasts: Duration,
    pub(crate) fault: Fault,
}

impl Schedule {
    /// The same for the same seed. At most so many faults go on at a time.
    pub(crate) fn draw(seed: u64, overlap: usize) -> Self {
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        let (nodes, gateways) = (chance.random_range(2..=4), chance.random_range(1..=3));
        let tables = chance.random_range(1..=3);
        // Where moves are rare, what is written wrongly stays for a while.
        let thinks_ms = if chance.random_bool(0.7) {
            100..700
        } else {
            500..2_000
        };
        let ai_seats = chance.random_range(0..=1);
        let mut faults: Vec<Planned> = Vec::new();
        for _ in 0..chance.random_range(1..=2) {
            let from_ms = faults.iter().map(Planned::over_ms).max();
            let from_ms = from_ms.unwrap_or(FIRST_AT_MS) + chance.random_range(0..3_000);
            let count = if chance.random_bool(0.2) { 1 } else { overlap };
            let is_aimed = chance.random();
            let bout = bout(&mut chance, from_ms, count, |chance| {
                Fault::draw(chance, is_aimed, nodes, gateways)
            });
            faults.extend(bout);
        }
        faults.sort_by_key(|planned| planned.at);
        Self {
            nodes,
            gateways,
            tables,
            ai_seats,
            thinks_ms,
            faults,
        }
    }
}

/// Faults of which each is near the one before.
fn bout(
    chance: &mut ChaCha8Rng,
    from_ms: u64,
    count: usize,
    draw: impl Fn(&mut ChaCha8Rng) -> (Fault, u64),
) -> Vec<Planned> {
    let mut bout: Vec<Planned> = Vec::new();
    for _ in 0..count {
        let meets_redis = bout.last().is_some_and(|before| !before.fault.is_redis());
        let (fault, longest_ms) = if meets_redis && chance.random_bool(0.25) {
            Fault::draw_redis(chance)
        } else {
            draw(chance)
        };
        let lasts_ms = chance.random_range(100..=longest_ms);
        let (at_ms, moment) = match bout.last() {
            None => (from_ms, None),
            Some(before) => beside(chance, before, from_ms, lasts_ms),
        };
        bout.push(Planned {
            at: Duration::from_millis(at_ms),
            moment,
            lasts: Duration::from_millis(lasts_ms),
            fault,
        });
    }
    bout
}

/// When a fault of that length begins that meets another, not before the bout does: as the other begins, while it goes
/// on, as it ends, so that both end together, or at what the other sets off.
fn beside(
    chance: &mut ChaCha8Rng,
    before: &Planned,
    from_ms: u64,
    lasts_ms: u64,
) -> (u64, Option<Moment>) {
    let (begin, lasts) = (milliseconds(before.at), milliseconds(before.lasts));
    let end = begin + lasts;
    match chance.random_range(0..6) {
        0 => (begin + chance.random_range(0..600), None),
        1 => (begin + chance.random_range(0..=lasts), None),
        2 => {
            let almost = end.saturating_sub(400).max(begin);
            (almost + chance.random_range(0..1_500), None)
        }
        3 => {
            let together = end.saturating_sub(lasts_ms + 1_000).max(from_ms);
            (together + chance.random_range(0..2_500), None)
        }
        _ => {
            let moments = before.fault.sets_off();
            let moment = moments[chance.random_range(0..moments.len())];
            // It waits from before the first one begins.
            (begin, Some(moment))
        }
    }
}

impl Planned {
    /// How long it waits for its moment.
    pub(crate) fn waits(&self) -> Duration {
        self.moment.map_or(Duration::ZERO, |_| MOMENT_WITHIN)
    }

    /// When it and what it has broken are over at the latest.
    fn over_ms(&self) -> u64 {
        milliseconds(self.at + self.waits() + self.lasts) + RECOVERY_MS
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl fmt::Display for Planned {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, lasts) = (self.at.as_millis(), self.lasts.as_millis());
        write!(formatter, "{at:>6} ms for {lasts:>5} ms  {:?}", self.fault)?;
        match self.moment {
            Some(moment) => write!(formatter, " at the next {moment:?}"),
            None => Ok(()),
        }
    }
}
