//! Whether an AI node is worth asking: after some failures in a row it is left alone for a while,
//! then tried with one request.

use std::time::{Duration, Instant};

/// When a breaker opens, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BreakerLimits {
    /// So many failures in a row open it; 0: it never opens.
    pub(crate) failures: u32,
    /// For so long.
    pub(crate) cooldown: Duration,
}

/// The breaker of one AI node.
#[derive(Clone, Debug)]
pub(crate) struct Breaker {
    limits: BreakerLimits,
    failures_in_a_row: u32,
    /// Since it opened; whoever asks after the cooldown is the one that tries.
    opened: Option<Instant>,
    is_trying: bool,
}

impl Breaker {
    pub(crate) fn new(limits: BreakerLimits) -> Self {
        Self {
            limits,
            failures_in_a_row: 0,
            opened: None,
            is_trying: false,
        }
    }

    /// Whether one more request may go out now.
    pub(crate) fn lets_through(&self, now: Instant) -> bool {
        match self.opened {
            None => true,
            Some(opened) => !self.is_trying && now >= opened + self.limits.cooldown,
        }
    }

    /// A request has gone out.
    pub(crate) fn asked(&mut self) {
        self.is_trying = self.opened.is_some();
    }

    /// A good answer has come.
    pub(crate) fn succeeded(&mut self) {
        (self.failures_in_a_row, self.opened, self.is_trying) = (0, None, false);
    }

    /// None has come in time, or a bad one; whether that opens the breaker.
    pub(crate) fn failed(&mut self, now: Instant) -> bool {
        self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
        self.is_trying = false;
        let limit = self.limits.failures;
        if limit == 0 || self.failures_in_a_row < limit {
            return false;
        }
        self.opened.replace(now).is_none()
    }

    /// Nothing has failed since the last good answer.
    pub(crate) fn is_clean(&self) -> bool {
        self.failures_in_a_row == 0
    }

    pub(crate) fn is_open(&self) -> bool {
        self.opened.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COOLDOWN: Duration = Duration::from_secs(30);

    fn breaker(failures: u32) -> Breaker {
        Breaker::new(BreakerLimits {
            failures,
            cooldown: COOLDOWN,
        })
    }

    #[test]
    fn failures_in_a_row_open_it_and_one_success_in_between_does_not() {
        let now = chassis::clock::now();
        let mut breaker = breaker(2);
        assert!(!breaker.failed(now));
        breaker.succeeded();
        assert!(!breaker.failed(now) && breaker.lets_through(now));
        assert!(breaker.failed(now), "it opens");
        assert!(!breaker.failed(now), "it was open");
        assert!(!breaker.lets_through(now) && breaker.is_open());
    }

    #[test]
    fn after_the_cooldown_one_request_tries() {
        let now = chassis::clock::now();
        let mut breaker = breaker(1);
        breaker.failed(now);
        let later = now + COOLDOWN;
        assert!(!breaker.lets_through(now + Duration::from_millis(29_999)));
        assert!(breaker.lets_through(later));
        breaker.asked();
        assert!(!breaker.lets_through(later), "one at a time");
        breaker.failed(later);
        assert!(!breaker.lets_through(later) && breaker.lets_through(later + COOLDOWN));
        breaker.asked();
        breaker.succeeded();
        assert!(breaker.lets_through(later) && !breaker.is_open());
    }

    #[test]
    fn without_a_limit_it_never_opens() {
        let now = chassis::clock::now();
        let mut breaker = breaker(0);
        assert!((0..100).all(|_| !breaker.failed(now)));
        assert!(breaker.lets_through(now));
    }
}
