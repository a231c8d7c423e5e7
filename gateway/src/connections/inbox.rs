//! What waits for one connection's task.
//!
//! Not a channel of a library: that keeps room for messages, and half a kilobyte besides, for each
//! of thousands of players who are idle.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::session::Input;

/// What may wait. The task takes them in microseconds; one that is this far behind does not run.
const MAX_WAITING: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct Inbox(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// Boxed, because the room for them is kept: for each player, most of whom are idle.
    inputs: VecDeque<Box<Input>>,
    /// Something was lost: the connection shall end.
    overrun: bool,
    reader: Option<Waker>,
}

impl Inbox {
    /// Adds something; never waits.
    pub(crate) fn give(&self, input: Input) {
        let mut waiting = self.lock();
        if waiting.inputs.len() < MAX_WAITING {
            waiting.inputs.push_back(Box::new(input));
        } else {
            waiting.overrun = true;
        }
        if let Some(reader) = &waiting.reader {
            reader.wake_by_ref();
        }
    }

    /// The next one; none, at once, if more came in than was taken.
    pub(crate) fn poll_next(&self, context: &mut Context<'_>) -> Poll<Option<Box<Input>>> {
        let mut waiting = self.lock();
        if waiting.overrun {
            return Poll::Ready(None);
        }
        if let Some(input) = waiting.inputs.pop_front() {
            return Poll::Ready(Some(input));
        }
        let known = |reader: &Waker| reader.will_wake(context.waker());
        if !waiting.reader.as_ref().is_some_and(known) {
            waiting.reader = Some(context.waker().clone());
        }
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn whoever_waits_is_woken_and_gets_everything_in_its_order() {
        let (inbox, counted) = (Inbox::default(), Arc::new(Wakes::default()));
        let waker = Waker::from(Arc::clone(&counted));
        let mut context = Context::from_waker(&waker);
        assert!(inbox.poll_next(&mut context).is_pending());
        inbox.give(Input::Heard);
        inbox.give(Input::Stop);
        assert_eq!(counted.0.load(Ordering::Relaxed), 2);
        let mut next = || match inbox.poll_next(&mut context) {
            Poll::Ready(Some(input)) => *input,
            other => panic!("{other:?}"),
        };
        assert!(matches!(next(), Input::Heard));
        assert!(matches!(next(), Input::Stop));
        assert!(inbox.poll_next(&mut context).is_pending());
    }

    #[test]
    fn a_connection_that_takes_nothing_is_ended() {
        let inbox = Inbox::default();
        for _ in 0..MAX_WAITING {
            inbox.give(Input::Heard);
        }
        let mut context = Context::from_waker(Waker::noop());
        assert!(matches!(
            inbox.poll_next(&mut context),
            Poll::Ready(Some(_))
        ));
        inbox.give(Input::Heard);
        inbox.give(Input::Heard);
        assert!(matches!(inbox.poll_next(&mut context), Poll::Ready(None)));
    }
}
