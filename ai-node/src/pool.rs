//! Worker threads that decide, with a bounded queue in front of them.
//!
//! Thinking is work for a processor, so it happens on threads of its own: the async runtime, which
//! answers pings and reads links, never waits for it.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use chassis::clock;
use chassis::trace::TraceContext;
use protocol::TraceParent;
use protocol::decide::{Decide, DecideFailure};
use registry::Load;
use rules::Action;
use tokio::sync::oneshot;

use crate::metrics::{Metrics, Outcome};
use crate::policy::{self, Budget};

/// Worlds that a hard seat samples for a move: more are hardly stronger, and cost as much again.
pub const WORLDS: u32 = 400;
/// A hard seat thinks no longer than this, nor than half of the time that its request has left: ten
/// times what a move takes, and short enough for a hundred of them a second where a core is shared.
pub const LONGEST_THOUGHT: Duration = Duration::from_millis(15);

/// Instead of a policy's name, where none was asked.
const NO_POLICY: &str = "none";

/// What comes of a request; nothing at all if its time had passed before a worker got to it.
pub type Answer = Result<Action, DecideFailure>;

/// The worker threads of this process. They end when the pool is dropped.
#[derive(Debug)]
pub struct Pool {
    jobs: SyncSender<Job>,
    /// Requests that may wait.
    room: usize,
    counters: Arc<Counters>,
    metrics: Arc<Metrics>,
}

/// What the workers share.
struct Shared {
    inbox: Mutex<Receiver<Job>>,
    counters: Arc<Counters>,
    metrics: Arc<Metrics>,
    room: usize,
}

/// What the pool has done since its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Requests that got a move.
    pub decided: u64,
    /// Requests that wait for a worker now.
    pub waiting: usize,
    /// Requests that found the queue full.
    pub refused: u64,
    /// Requests whose time had passed before a worker got to them.
    pub late: u64,
}

#[derive(Debug, Default)]
struct Counters {
    decided: AtomicU64,
    waiting: AtomicUsize,
    refused: AtomicU64,
    late: AtomicU64,
}

struct Job {
    request: Box<Decide>,
    asked: Instant,
    /// Nobody waits for the move any more after this.
    useful_until: Instant,
    answer: oneshot::Sender<Answer>,
}

impl Pool {
    /// Starts so many workers, with room for so many requests that wait for them.
    ///
    /// # Errors
    /// If the operating system gives no thread.
    pub fn start(workers: NonZeroUsize, queue: NonZeroUsize) -> std::io::Result<Self> {
        let (pool, shared) = Self::unattended(queue);
        let shared = Arc::new(shared);
        for number in 1..=workers.get() {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name(format!("ai-{number}"))
                .spawn(move || shared.work())?;
        }
        Ok(pool)
    }

    /// A queue, and what works it off once somebody lets it.
    fn unattended(queue: NonZeroUsize) -> (Self, Shared) {
        let (jobs, inbox) = sync_channel(queue.get());
        let counters = Arc::new(Counters::default());
        let metrics = Arc::new(Metrics::new());
        let shared = Shared {
            inbox: Mutex::new(inbox),
            counters: Arc::clone(&counters),
            metrics: Arc::clone(&metrics),
            room: queue.get(),
        };
        let pool = Self {
            jobs,
            room: queue.get(),
            counters,
            metrics,
        };
        (pool, shared)
    }

    /// Puts a request into the queue. The receiver fails if the request's time passes unplayed.
    ///
    /// # Errors
    /// [`DecideFailure::Overloaded`] at once if the queue is full.
    pub fn submit(&self, request: Box<Decide>) -> Result<oneshot::Receiver<Answer>, DecideFailure> {
        let (answer, receiver) = oneshot::channel();
        let asked = clock::now();
        let useful_until = asked + Duration::from_millis(u64::from(request.timeout_ms));
        self.counters.waiting.fetch_add(1, Ordering::Relaxed);
        match self.jobs.try_send(Job {
            request,
            asked,
            useful_until,
            answer,
        }) {
            Ok(()) => Ok(receiver),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.counters.waiting.fetch_sub(1, Ordering::Relaxed);
                self.counters.refused.fetch_add(1, Ordering::Relaxed);
                self.metrics
                    .decided(Duration::ZERO, NO_POLICY, Outcome::Refused);
                Err(DecideFailure::Overloaded)
            }
        }
    }

    /// Busy while moves are made by rule of thumb only, overloaded while requests are refused.
    pub fn load(&self) -> Load {
        match self.counters.waiting.load(Ordering::Relaxed) {
            waiting if waiting >= self.room => Load::Overloaded,
            waiting if waiting > busy_above(self.room) => Load::Busy,
            _ => Load::Normal,
        }
    }

    /// What it has done so far.
    pub fn counts(&self) -> Counts {
        Counts {
            decided: self.counters.decided.load(Ordering::Relaxed),
            waiting: self.counters.waiting.load(Ordering::Relaxed),
            refused: self.counters.refused.load(Ordering::Relaxed),
            late: self.counters.late.load(Ordering::Relaxed),
        }
    }
}

/// With more requests than this waiting, moves are made by rule of thumb: a simple move in time is
/// better than a good one too late.
fn busy_above(room: usize) -> usize {
    room / 2
}

impl Shared {
    /// Until the pool is dropped.
    fn work(&self) {
        loop {
            // One idle worker waits in `recv`, the others for the lock: whoever gets a job lets go of it.
            let job = self
                .inbox
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .recv();
            let Ok(job) = job else { return };
            let waiting = self.counters.waiting.fetch_sub(1, Ordering::Relaxed) - 1;
            let now = clock::now();
            if job.answer.is_closed() || now >= job.useful_until {
                self.counters.late.fetch_add(1, Ordering::Relaxed);
                let waited = now.saturating_duration_since(job.asked);
                self.metrics.decided(waited, NO_POLICY, Outcome::Late);
                continue;
            }
            let decided = decide(&job.request, self.budget(waiting, now, job.useful_until));
            let (policy, outcome) = match decided {
                Ok((_, policy)) => (policy, Outcome::Decided),
                Err(DecideFailure::NothingToDecide) => (NO_POLICY, Outcome::NothingToDecide),
                Err(DecideFailure::Internal | DecideFailure::Overloaded) => {
                    (NO_POLICY, Outcome::Internal)
                }
            };
            let took = clock::now().saturating_duration_since(job.asked);
            self.metrics.decided(took, policy, outcome);
            let answer = decided.map(|(action, _)| action);
            if answer.is_ok() {
                self.counters.decided.fetch_add(1, Ordering::Relaxed);
            }
            // Fails if the link has closed meanwhile: the game node asks somebody else.
            let _nobody_waits = job.answer.send(answer);
        }
    }

    fn budget(&self, waiting: usize, now: Instant, useful_until: Instant) -> Budget {
        let worlds = if waiting > busy_above(self.room) {
            0
        } else {
            WORLDS
        };
        let left = useful_until.saturating_duration_since(now);
        Budget {
            worlds,
            until: now + LONGEST_THOUGHT.min(left / 2),
        }
    }
}

/// A policy that panics costs one answer, not the worker.
fn decide(request: &Decide, budget: Budget) -> Result<(Action, &'static str), DecideFailure> {
    let trace = TraceContext::read(request.trace.as_ref().map(TraceParent::as_str));
    let _log = trace.enter();
    match catch_unwind(AssertUnwindSafe(|| policy::decide_by(request, budget))) {
        Ok(Some(decided)) => Ok(decided),
        Ok(None) => Err(DecideFailure::NothingToDecide),
        Err(_) => {
            // The panic has already been logged with its place by the panic hook.
            tracing::error!(request_id = %request.request_id, "a policy panicked: this is a bug");
            Err(DecideFailure::Internal)
        }
    }
}

#[cfg(test)]
mod tests {
    use chassis::Supervisor;
    use registry::{
        Incarnation, Lifetimes, Membership, NodeId, Presence, PresenceConfig, Registry, Role,
    };
    use rules::Seat;
    use uuid::Uuid;

    use super::*;
    use crate::probe;

    const ONE: NonZeroUsize = NonZeroUsize::MIN;

    #[tokio::test]
    async fn a_request_gets_a_legal_move() {
        let pool = Pool::start(ONE, ONE).unwrap();
        let request = probe::request(5000);
        let legal = request.observation.own.legal_actions.clone();
        let action = pool.submit(request).unwrap().await.unwrap().unwrap();
        assert!(legal.contains(&action));
        assert_eq!(
            pool.counts(),
            Counts {
                decided: 1,
                waiting: 0,
                refused: 0,
                late: 0
            }
        );
    }

    #[tokio::test]
    async fn a_request_whose_time_has_passed_is_dropped_unplayed() {
        let pool = Pool::start(ONE, ONE).unwrap();
        assert!(pool.submit(probe::request(0)).unwrap().await.is_err());
        assert_eq!(
            pool.counts(),
            Counts {
                decided: 0,
                waiting: 0,
                refused: 0,
                late: 1
            }
        );
    }

    #[tokio::test]
    async fn an_observation_without_a_legal_action_is_an_error_and_not_a_panic() {
        let pool = Pool::start(ONE, ONE).unwrap();
        let mut request = probe::request(5000);
        request.observation.own.legal_actions.clear();
        request.seat = Seat::new(5).unwrap();
        let answer = pool.submit(request).unwrap().await.unwrap();
        assert_eq!(answer, Err(DecideFailure::NothingToDecide));
    }

    #[test]
    fn a_full_queue_refuses_at_once() {
        let (pool, _nobody_works) = Pool::unattended(ONE);
        let _first = pool.submit(probe::request(5000)).unwrap();
        assert_eq!(
            pool.submit(probe::request(5000)).unwrap_err(),
            DecideFailure::Overloaded
        );
        assert_eq!(pool.load(), Load::Overloaded);
        assert_eq!(
            pool.counts(),
            Counts {
                decided: 0,
                waiting: 1,
                refused: 1,
                late: 0
            }
        );
    }
    /// Far longer than it takes to be told, however busy the machine is.
    const CEILING: Duration = Duration::from_secs(20);

    async fn until(watching: &Membership, load: Load) {
        let ai_node = NodeId::new("ai-1").unwrap();
        let seen = async {
            while watching
                .server(&ai_node)
                .is_none_or(|seen| seen.load != load)
            {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let seen = tokio::time::timeout(CEILING, seen).await;
        assert!(seen.is_ok(), "{load:?} is in the presence");
    }

    #[tokio::test]
    async fn others_see_how_much_waits() {
        let (pool, workers) = Pool::unattended(NonZeroUsize::new(4).unwrap());
        let pool = Arc::new(pool);
        let registry = Registry::in_process(Lifetimes::default());
        let join = |id: &str, role: &str| {
            let (id, role) = (NodeId::new(id).unwrap(), Role::new(role).unwrap());
            let own = Presence::new(id, role, Incarnation::new(Uuid::new_v4()), "", "0");
            registry.join(own, PresenceConfig::default()).unwrap()
        };
        let own = join("ai-1", protocol::role::AI);
        let watching = join("game-1", protocol::role::GAME);
        own.ready().await;
        let pulse = Supervisor::of_this_process().watch();
        let telling = tokio::spawn(crate::tell_load(own, Arc::clone(&pool), pulse));

        let mut answers = Vec::new();
        for (waiting, load) in [(2, Load::Normal), (3, Load::Busy), (4, Load::Overloaded)] {
            while answers.len() < waiting {
                answers.push(pool.submit(probe::request(60_000)).unwrap());
            }
            until(&watching, load).await;
        }
        let _ends_with_the_pool = thread::spawn(move || workers.work());
        until(&watching, Load::Normal).await;
        telling.abort();
    }
}
