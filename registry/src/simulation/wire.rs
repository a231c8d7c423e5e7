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
    /// By so many things at a time.
    cuts: watch::Sender<usize>,
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
            cuts: watch::Sender::new(0),
            trouble: Mutex::new(Trouble {
                lost_answers: 0,
                late: 0,
                late_by: Duration::ZERO,
            }),
        }))
    }
}

impl Wire {
    /// Nothing gets through, until it is mended as often as it was cut.
    pub fn cut(&self) {
        self.0.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// Everything that still waits gets through.
    pub fn mend(&self) {
        self.0
            .cuts
            .send_modify(|cuts| *cuts = cuts.saturating_sub(1));
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

    /// No more answers are lost, and no more operations late.
    pub fn heal(&self) {
        let mut trouble = self.trouble();
        (trouble.late, trouble.lost_answers) = (0, 0);
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
        let mut cuts = self.0.cuts.subscribe();
        // The sender lives as long as this wire.
        drop(cuts.wait_for(|cuts| *cuts == 0).await);
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
