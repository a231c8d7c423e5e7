//! When something came over a link last: written at every frame, so without a lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use chassis::clock::milliseconds;

/// One link's.
#[derive(Debug)]
pub(crate) struct Heard {
    opened_at: Instant,
    after_ms: AtomicU64,
}

impl Heard {
    /// A link that has just opened.
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            opened_at: now,
            after_ms: AtomicU64::new(0),
        }
    }

    /// A frame has come.
    pub(crate) fn frame(&self, now: Instant) {
        let after = now.saturating_duration_since(self.opened_at);
        self.after_ms.store(milliseconds(after), Ordering::Relaxed);
    }

    /// When the last one came.
    pub(crate) fn at(&self) -> Instant {
        self.opened_at + Duration::from_millis(self.after_ms.load(Ordering::Relaxed))
    }
}
