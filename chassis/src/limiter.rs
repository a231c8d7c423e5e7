//! A token bucket: how often something may happen, and how often at once.
//!
//! Pure: the time is passed in. One bucket limits one thing, e.g. one connection.

use std::time::{Duration, Instant};

/// Allows `rate` a second in the long run and `burst` at once.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    rate: f64,
    burst: f64,
    /// How many may happen now, at `filled`; never above `burst`.
    tokens: f64,
    filled: Instant,
}

impl TokenBucket {
    /// A full bucket. A burst under one would never let anything pass and counts as one.
    pub fn new(rate_per_second: f64, burst: f64, now: Instant) -> Self {
        let burst = burst.max(1.0);
        Self {
            rate: rate_per_second.max(0.0),
            burst,
            tokens: burst,
            filled: now,
        }
    }

    /// Whether one more may happen now; if so, it counts as having happened.
    pub fn take(&mut self, now: Instant) -> bool {
        self.fill(now);
        let allowed = self.tokens >= 1.0;
        if allowed {
            self.tokens -= 1.0;
        }
        allowed
    }

    /// How long until [`TokenBucket::take`] allows one; zero if it does now, and `None` if it
    /// never will.
    pub fn wait(&mut self, now: Instant) -> Option<Duration> {
        self.fill(now);
        if self.tokens >= 1.0 {
            return Some(Duration::ZERO);
        }
        Duration::try_from_secs_f64((1.0 - self.tokens) / self.rate).ok()
    }

    fn fill(&mut self, now: Instant) {
        let elapsed_seconds = now.saturating_duration_since(self.filled).as_secs_f64();
        self.tokens = (self.tokens + elapsed_seconds * self.rate).min(self.burst);
        self.filled = self.filled.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(bucket: &mut TokenBucket, now: Instant) -> usize {
        (0..1000).take_while(|_| bucket.take(now)).count()
    }

    #[test]
    fn a_burst_at_once_and_then_the_rate() {
        let start = crate::clock::now();
        let mut bucket = TokenBucket::new(10.0, 30.0, start);
        assert_eq!(taken(&mut bucket, start), 30);
        assert_eq!(bucket.wait(start), Some(Duration::from_millis(100)));
        assert_eq!(taken(&mut bucket, start + Duration::from_millis(550)), 5);
        assert_eq!(taken(&mut bucket, start + Duration::from_hours(1)), 30);
    }

    #[test]
    fn a_clock_that_goes_back_gives_nothing() {
        let start = crate::clock::now();
        let later = start + Duration::from_secs(1);
        let mut bucket = TokenBucket::new(1.0, 1.0, later);
        assert!(bucket.take(later));
        assert!(!bucket.take(start) && !bucket.take(later));
    }

    #[test]
    fn without_a_rate_it_never_fills_again() {
        let start = crate::clock::now();
        let mut bucket = TokenBucket::new(0.0, 0.0, start);
        assert!(bucket.take(start));
        assert_eq!(bucket.wait(start), None);
    }
}
