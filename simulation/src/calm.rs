//! Since when Redis alone is away, if it is: then games go on, for whoever comes back too.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;

use crate::fault::Fault;
use crate::player::lock;

/// What another fault has broken may need until Redis is back from then on: a node that stood still can't ask what is
/// still its own.
const SETTLED_AFTER: Duration = Duration::from_secs(25);

/// Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Calm(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// When Redis went or came, or connections were reset.
    changed_at: Option<Instant>,
    /// Other faults that go on, and when there was one last.
    others: usize,
    others_at: Option<Instant>,
}

impl Calm {
    pub(crate) fn begins(&self, fault: Fault) {
        let mut state = lock(&self.0);
        if fault.is_redis() || fault.only_resets() {
            state.changed_at = Some(Instant::now());
        } else {
            state.others += 1;
        }
    }

    pub(crate) fn ends(&self, fault: Fault) {
        let mut state = lock(&self.0);
        if fault.is_redis() || fault.only_resets() {
            state.changed_at = Some(Instant::now());
        } else {
            state.others -= 1;
            state.others_at = Some(Instant::now());
        }
    }

    /// For how long nothing has changed or been broken beside Redis.
    pub(crate) fn lasts(&self) -> Duration {
        let state = lock(&self.0);
        let settled = state.others_at.map(|at| at + SETTLED_AFTER);
        match (state.others, state.changed_at.max(settled)) {
            (0, Some(since)) => Instant::now().saturating_duration_since(since),
            _ => Duration::ZERO,
        }
    }
}
