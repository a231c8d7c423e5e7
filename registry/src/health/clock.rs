//! The registry's clock, as its answers have shown it. Pure: times are passed in.

use std::time::Duration;

use tokio::time::Instant;

/// So long the clock of one answer is preferred to that of another which was longer on its way.
/// Two clocks do not drift apart by much meanwhile; one that was set back is known then.
const KEPT: Duration = Duration::from_secs(30);

/// Never ahead of the registry's own, behind by what the best answer took to come.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// What an answer said, and when it was read.
    seen: Option<(u64, Instant)>,
}

impl Clock {
    /// What it shows, in epoch ms.
    pub(super) fn now_ms(&self, now: Instant) -> Option<u64> {
        self.seen.map(|seen| shows(seen, now))
    }

    /// An answer is read. Of two the one that shows more was shorter on its way: the other may
    /// have waited while this process stood still.
    pub(super) fn see(&mut self, now: Instant, now_ms: u64) {
        let is_better = |seen: (u64, Instant)| {
            now_ms >= shows(seen, now) || now.saturating_duration_since(seen.1) > KEPT
        };
        if self.seen.is_none_or(is_better) {
            self.seen = Some((now_ms, now));
        }
    }

    /// From now on another server's counts.
    pub(super) fn forget(&mut self) {
        self.seen = None;
    }
}

fn shows((then_ms, at): (u64, Instant), now: Instant) -> u64 {
    let passed = now.saturating_duration_since(at).as_millis();
    then_ms.saturating_add(u64::try_from(passed).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_that_was_least_on_its_way_counts() {
        let (start, mut clock) = (Instant::now(), Clock::default());
        assert_eq!(clock.now_ms(start), None);
        clock.see(start, 50_000);
        let later = start + Duration::from_secs(12);
        // Read only now, since the process stood still.
        clock.see(later, 50_100);
        assert_eq!(clock.now_ms(later), Some(62_000));
        clock.see(later, 62_003);
        assert_eq!(clock.now_ms(later), Some(62_003));
    }

    #[test]
    fn one_that_was_set_back_is_believed_after_a_while_and_another_ones_at_once() {
        let (start, mut clock) = (Instant::now(), Clock::default());
        clock.see(start, 50_000);
        let later = start + KEPT;
        clock.see(later, 7_000);
        assert_eq!(clock.now_ms(later), Some(80_000));
        let later = later + Duration::from_millis(1);
        clock.see(later, 7_001);
        assert_eq!(clock.now_ms(later), Some(7_001));
        clock.forget();
        clock.see(later, 3_000);
        assert_eq!(clock.now_ms(later), Some(3_000));
    }
}
