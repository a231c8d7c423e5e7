//! How long to wait before the next try: 100 ms to 1 s with jitter, for ever.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Backoff {
    ceiling: Duration,
}

impl Backoff {
    pub(crate) const fn new() -> Self {
        Self { ceiling: FIRST }
    }

    pub(crate) fn reset(&mut self) {
        self.ceiling = FIRST;
    }

    /// The next wait: from half of the ceiling up, so that a fleet does not come back in step.
    pub(crate) fn next(&mut self) -> Duration {
        let ceiling = self.ceiling;
        self.ceiling = (ceiling * 2).min(LONGEST);
        ceiling.mul_f64(0.5 + chance() / 2.0).max(FIRST)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "jitter of a driver; no decision depends on it"
)]
fn chance() -> f64 {
    rand::random()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_stay_between_100_ms_and_1_s() {
        let mut backoff = Backoff::new();
        let waits: Vec<Duration> = (0..20).map(|_| backoff.next()).collect();
        assert!(
            waits.iter().all(|wait| (FIRST..=LONGEST).contains(wait)),
            "{waits:?}"
        );
        assert!(waits[19] >= LONGEST / 2, "grows");
        backoff.reset();
        assert_eq!(backoff.next(), FIRST, "starts anew");
    }
}
