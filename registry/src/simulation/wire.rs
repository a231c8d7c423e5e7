//! The way between one process and Redis.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// What a packet takes on a good day, in microseconds.
const JOURNEY_MICROS: (u64, u64) = (200, 3_000);

/// The way of one process. Clones are the same.
#[derive(Clone, Debug)]
pub struct Wire(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    cut: watch::Sender<bool>,
    trouble: Mutex<Trouble>,
}

#[derive(Debug)]
struct Trouble {
    /// Operations that are done, and whose answers never come.
    lost_answers: u32,
    /// Operations that come late, by so much.
    late: u32,
    late_by: Duration,
}

impl Default for Wire {
    fn default() -> Self {
        Self(Arc::new(Shared {
            cut: watch::Sender::new(false),
            trouble: Mutex::new(Trouble {
                lost_answers: 0,
                late: 0,
                late_by: Duration::ZERO,
            }),
        }))
    }
}

impl Wire {
    /// Nothing gets through, or everything that still waits does.
    pub fn cut(&self, cut: bool) {
        self.0.cut.send_replace(cut);
    }

    /// The answers to the next operations are lost.
    pub fn lose_answers(&self, count: u32) {
        self.trouble().lost_answers = count;
    }

    /// The next operations come late.
    pub fn delay(&self, count: u32, by: Duration) {
        let mut trouble = self.trouble();
        (trouble.late, trouble.late_by) = (count, by);
    }

    /// All is well again.
    pub fn heal(&self) {
        let mut trouble = self.trouble();
        (trouble.late, trouble.lost_answers) = (0, 0);
        drop(trouble);
        self.cut(false);
    }

    /// Whether the answer to the next operation is lost.
    pub(super) fn loses_answer(&self) -> bool {
        let mut trouble = self.trouble();
        let lost = trouble.lost_answers > 0;
        trouble.lost_answers = trouble.lost_answers.saturating_sub(1);
        lost
    }

    /// When a request that leaves now arrives, should nothing be in its way.
    pub(super) fn request_arrives(&self) -> Instant {
        let mut trouble = self.trouble();
        let late = if trouble.late > 0 {
            trouble.late -= 1;
            trouble.late_by
        } else {
            Duration::ZERO
        };
        Self::arrives() + late
    }

    pub(super) fn arrives() -> Instant {
        let (least, most) = JOURNEY_MICROS;
        Instant::now() + Duration::from_micros(least + chance() % (most - least))
    }

    /// Waits until a packet that is expected then has arrived.
    pub(super) async fn travel(&self, arrives: Instant) {
        sleep_until(arrives).await;
        let mut cut = self.0.cut.subscribe();
        // The sender lives as long as this wire.
        drop(cut.wait_for(|cut| !*cut).await);
    }

    fn trouble(&self) -> MutexGuard<'_, Trouble> {
        self.0
            .trouble
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a process that simulates has seeded its chance as a whole"
)]
fn chance() -> u64 {
    rand::random()
}
