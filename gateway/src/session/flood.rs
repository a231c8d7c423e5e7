//! How many messages of one connection are too many.

use std::time::{Duration, Instant};

use chassis::environment::Limit;
use chassis::limiter::TokenBucket;

/// Dropped messages are forgotten after so long without another.
const FORGOTTEN_AFTER: Duration = Duration::from_mins(1);

/// `MESSAGE_RATE`, `MESSAGE_BURST` and `MAX_RATE_VIOLATIONS`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FloodLimits {
    pub(crate) rate: Limit,
    pub(crate) burst: u32,
    pub(crate) violations: Limit,
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is read.
    Pass,
    /// It is lost, as the first of several: the player is told.
    DropFirst { retry_after_ms: u32 },
    /// It is lost.
    Drop,
    /// It was one too many.
    Ban,
}

#[derive(Debug)]
pub(crate) struct Flood {
    /// None without a limit.
    bucket: Option<TokenBucket>,
    violations: Limit,
    dropped: u64,
    last_dropped: Option<Instant>,
    /// The player has been told, and nothing has passed since.
    told: bool,
}

impl Flood {
    pub(crate) fn new(now: Instant, limits: FloodLimits) -> Self {
        #[expect(
            clippy::cast_precision_loss,
            reason = "nobody sends 2^52 messages a second"
        )]
        let bucket = |rate: u64| TokenBucket::new(rate as f64, f64::from(limits.burst), now);
        Self {
            bucket: limits.rate.count().map(bucket),
            violations: limits.violations,
            dropped: 0,
            last_dropped: None,
            told: false,
        }
    }

    /// Counts one message.
    pub(crate) fn count(&mut self, now: Instant) -> Verdict {
        let Some(bucket) = &mut self.bucket else {
            return Verdict::Pass;
        };
        if bucket.take(now) {
            self.told = false;
            return Verdict::Pass;
        }
        let wait = bucket.wait(now).unwrap_or(FORGOTTEN_AFTER);
        let quiet = |last| now.saturating_duration_since(last) >= FORGOTTEN_AFTER;
        if self.last_dropped.replace(now).is_some_and(quiet) {
            self.dropped = 0;
        }
        self.dropped += 1;
        if self
            .violations
            .count()
            .is_some_and(|most| self.dropped >= most)
        {
            return Verdict::Ban;
        }
        if std::mem::replace(&mut self.told, true) {
            return Verdict::Drop;
        }
        Verdict::DropFirst {
            retry_after_ms: u32::try_from(wait.as_millis() + 1).unwrap_or(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use Verdict::{Drop, Pass};

    use super::*;

    fn flood(now: Instant, rate: u64, violations: u64) -> Flood {
        let (rate, violations) = (Limit::at_most(rate), Limit::at_most(violations));
        Flood::new(
            now,
            FloodLimits {
                rate,
                burst: 3,
                violations,
            },
        )
    }

    #[test]
    fn a_burst_passes_and_the_rest_is_told_once() {
        let now = chassis::clock::now();
        let mut flood = flood(now, 10, 50);
        let verdicts: Vec<_> = (0..6).map(|_| flood.count(now)).collect();
        let first = Verdict::DropFirst {
            retry_after_ms: 101,
        };
        assert_eq!(verdicts, [Pass, Pass, Pass, first, Drop, Drop]);
        let later = now + Duration::from_millis(150);
        assert_eq!(flood.count(later), Pass);
        assert!(
            matches!(flood.count(later), Verdict::DropFirst { .. }),
            "a new episode"
        );
    }

    #[test]
    fn the_last_dropped_message_closes_and_quiet_time_forgives() {
        let now = chassis::clock::now();
        let dropped = |flood: &mut Flood, now| {
            (0..3).for_each(|_| assert_eq!(flood.count(now), Verdict::Pass));
            (0..49).for_each(|_| assert_ne!(flood.count(now), Verdict::Ban));
        };
        let mut flood = flood(now, 10, 50);
        dropped(&mut flood, now);
        let later = now + FORGOTTEN_AFTER;
        dropped(&mut flood, later);
        assert_eq!(flood.count(later), Verdict::Ban);
    }

    #[test]
    fn zero_means_no_limit() {
        let now = chassis::clock::now();
        let mut unlimited = flood(now, 0, 1);
        assert!((0..1000).all(|_| unlimited.count(now) == Verdict::Pass));
        let mut patient = flood(now, 1, 0);
        assert!((0..1000).all(|_| patient.count(now) != Verdict::Ban));
    }
}
