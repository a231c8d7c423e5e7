//! By how much the lobby thread comes too late to what it has set itself.

use std::time::Duration;

use tokio::time::{Instant, Interval, MissedTickBehavior, interval};

/// A stall is seen with this error: the thread may have been stuck for so long before the timer was
/// due. Twenty wake-ups a second cost an idle node nothing to speak of.
const TICK: Duration = Duration::from_millis(50);

/// A timer on the lobby thread's own runtime that looks at the clock when it goes off.
pub(super) struct LagMeter {
    ticks: Interval,
    worst: Duration,
}

impl LagMeter {
    /// Goes off at least once in each `sample_interval`.
    pub(super) fn new(sample_interval: Duration) -> Self {
        let mut ticks = interval(TICK.min(sample_interval));
        // What was missed has been seen: it was as late as the first one of it.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        Self {
            ticks,
            worst: Duration::ZERO,
        }
    }

    /// Between two looks at the clock.
    pub(super) fn tick_interval(&self) -> Duration {
        self.ticks.period()
    }

    /// Waits for the timer; when it went off.
    pub(super) async fn tick(&mut self) -> Instant {
        let due = self.ticks.tick().await;
        let now = Instant::now();
        self.worst = self.worst.max(now.saturating_duration_since(due));
        now
    }

    /// The worst since this was asked last.
    pub(super) fn take_worst(&mut self) -> Duration {
        std::mem::take(&mut self.worst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_timer_that_goes_off_in_time_has_no_lag() {
        let mut lag = LagMeter::new(INTERVAL);
        for _ in 0..10 {
            lag.tick().await;
        }
        assert_eq!(lag.take_worst(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_thread_that_was_stuck_shows_for_how_long_and_shows_it_once() {
        let mut lag = LagMeter::new(INTERVAL);
        lag.tick().await;
        tokio::time::advance(Duration::from_millis(350)).await;
        for _ in 0..5 {
            lag.tick().await;
        }
        assert_eq!(lag.take_worst(), Duration::from_millis(300));
        lag.tick().await;
        assert_eq!(lag.take_worst(), Duration::ZERO);
    }

    /// On the real clock: a paused one never shows that the thread itself has been held up.
    #[tokio::test]
    async fn a_thread_that_is_really_stuck_is_late() {
        let mut lag = LagMeter::new(INTERVAL);
        lag.tick().await;
        std::thread::sleep(Duration::from_millis(200));
        lag.tick().await;
        assert!(lag.take_worst() >= Duration::from_millis(140));
    }
}
