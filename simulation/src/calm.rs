//! For how long one fault has been the only one: whoever is left alone with it has to do what is promised of it alone.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;

use crate::fault::Fault;
use crate::lock;

/// What another fault has broken may need so long from its end on: a node that stood still can't ask Redis what is
/// still its own while that is away.
const SETTLED_AFTER: Duration = Duration::from_secs(25);

/// All faults of a run, in the order of their beginnings. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Calm(Arc<Mutex<Vec<Event>>>);

struct Event {
    fault: Fault,
    began: Instant,
    ended: Option<Instant>,
}

impl Calm {
    /// A fault begins; gives back its number.
    pub(crate) fn begins(&self, fault: Fault) -> usize {
        let mut events = lock(&self.0);
        events.push(Event {
            fault,
            began: Instant::now(),
            ended: None,
        });
        events.len() - 1
    }

    pub(crate) fn ends(&self, number: usize) {
        lock(&self.0)[number].ended = Some(Instant::now());
    }

    /// For how long that one has gone on without any other that matters beside it.
    pub(crate) fn lasts(&self, number: usize) -> Duration {
        let events = lock(&self.0);
        let own = &events[number];
        let mut since = own.began;
        for other in events.iter().filter(|other| !std::ptr::eq(*other, own)) {
            let is_harmless = other.fault.only_resets();
            let is_like_it = own.fault.is_redis() && other.fault.is_redis();
            since = since.max(match other.ended {
                Some(ended) if is_harmless || is_like_it => ended,
                Some(ended) => ended + SETTLED_AFTER,
                None if is_harmless || is_like_it => other.began,
                None => return Duration::ZERO,
            });
        }
        Instant::now().saturating_duration_since(since)
    }
}
