//! Processes of a simulation: several in one thread, each of which can be stopped, woken and killed.
//!
//! What stands for the scheduler of an operating system: a process' tasks run only while it does. Time goes
//! on meanwhile, so that whoever wakes finds its timers overdue and its messages there, as after a SIGSTOP.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tracing::{Span, info_span};

/// One process. Clones are the same.
#[derive(Clone, Debug)]
pub struct Host {
    tasks: Arc<Mutex<Tasks>>,
    /// In which its tasks run, so that a log says whose line is whose.
    span: Span,
}

#[derive(Debug, Default)]
struct Tasks {
    state: State,
    last: u64,
    wakers: BTreeMap<u64, Waker>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Running,
    Stopped,
    Dead,
}

thread_local! {
    /// Whose task runs.
    static CURRENT: RefCell<Option<Host>> = const { RefCell::new(None) };
}

impl Host {
    /// A process that runs.
    pub fn new(name: &str) -> Self {
        Self {
            tasks: Arc::default(),
            span: info_span!("process", name),
        }
    }

    /// A task of this process: it goes on while the process runs, and is dropped when that is killed.
    pub fn task<F: Future<Output = ()>>(&self, task: F) -> Task<F> {
        Task {
            host: Some(self.clone()),
            number: None,
            future: Some(Box::pin(task)),
        }
    }

    /// None of its tasks runs until it is woken.
    pub fn stop(&self) {
        let mut tasks = self.lock();
        if tasks.state == State::Running {
            tasks.state = State::Stopped;
        }
    }

    /// Its tasks go on.
    pub fn wake(&self) {
        let mut tasks = self.lock();
        if tasks.state == State::Stopped {
            tasks.state = State::Running;
        }
        tasks.wake_all();
    }

    /// Its tasks end where they are.
    pub fn kill(&self) {
        let mut tasks = self.lock();
        tasks.state = State::Dead;
        tasks.wake_all();
    }

    /// Whether it was killed.
    pub fn is_dead(&self) -> bool {
        self.lock().state == State::Dead
    }

    fn lock(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tasks {
    fn wake_all(&mut self) {
        for waker in self.wakers.values() {
            waker.wake_by_ref();
        }
    }
}

/// A task of the process whose task spawns it; of nobody's, outside of one.
pub fn of_this_process<F: Future<Output = ()>>(task: F) -> Task<F> {
    Task {
        host: CURRENT.with_borrow(Clone::clone),
        number: None,
        future: Some(Box::pin(task)),
    }
}

/// See [`Host::task`].
#[derive(Debug)]
pub struct Task<F> {
    host: Option<Host>,
    number: Option<u64>,
    future: Option<Pin<Box<F>>>,
}

impl<F: Future<Output = ()>> Future for Task<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let Some(task) = &mut this.future else {
            return Poll::Ready(());
        };
        let Some(host) = &this.host else {
            return task.as_mut().poll(context);
        };
        let state = {
            let mut tasks = host.lock();
            let number = *this.number.get_or_insert_with(|| {
                tasks.last += 1;
                tasks.last
            });
            let waker = tasks.wakers.entry(number);
            waker
                .and_modify(|known| known.clone_from(context.waker()))
                .or_insert_with(|| context.waker().clone());
            tasks.state
        };
        let (_current, _span) = (Current::set(host), host.span.enter());
        let polled = match state {
            State::Running => task.as_mut().poll(context),
            State::Stopped => Poll::Pending,
            State::Dead => Poll::Ready(()),
        };
        if polled.is_ready() {
            // What it held goes with it, while it is still known whose it was.
            this.future = None;
        }
        polled
    }
}

impl<F> Drop for Task<F> {
    fn drop(&mut self) {
        if let (Some(host), Some(number)) = (&self.host, self.number) {
            host.lock().wakers.remove(&number);
        }
    }
}

struct Current(Option<Host>);

impl Current {
    fn set(host: &Host) -> Self {
        Self(CURRENT.replace(Some(host.clone())))
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stopped_process_does_nothing_and_then_goes_on() {
        let (host, ticks) = (Host::new("one"), Arc::new(AtomicU64::new(0)));
        let counted = Arc::clone(&ticks);
        let ticking = async move {
            // A task that is spawned by a task is of the same process.
            let inner = of_this_process(async move {
                loop {
                    sleep(Duration::from_secs(1)).await;
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            });
            tokio::spawn(inner);
        };
        tokio::spawn(host.task(ticking));
        let so_far = async |milliseconds| {
            sleep(Duration::from_millis(milliseconds)).await;
            ticks.load(Ordering::Relaxed)
        };
        assert_eq!(so_far(2_500).await, 2);
        host.stop();
        assert_eq!(so_far(10_000).await, 2);
        host.wake();
        // At 12.5 s the sleep that was over at 3 s is seen to be.
        assert_eq!(so_far(500).await, 3);
        host.kill();
        assert_eq!(so_far(10_000).await, 3);
        assert_eq!(Arc::strong_count(&ticks), 1, "dropped");
    }
}
