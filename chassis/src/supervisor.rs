//! What systemd is told of this process, if it has started it (`Type=notify`): that it is ready, that
//! it is stopping, and that the threads that serve still run (`WatchdogSec=`).
//!
//! No timer feeds the watchdog: each watched thread says itself that it runs, and systemd is told
//! when all of them have. Without systemd nothing here does anything.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sd_notify::NotifyState;
use tracing::warn;

use crate::{Readiness, Shutdown, clock};

/// systemd is told so many times within its patience: one lost or late message is no restart.
const TOLD_IN_PATIENCE: u32 = 4;

/// A handle on the supervisor; every clone is the same.
#[derive(Clone, Debug)]
pub struct Supervisor(Arc<Mutex<Watch>>);

/// One thread that is watched, for as long as this lives.
#[derive(Debug)]
pub struct Pulse {
    supervisor: Supervisor,
    thread: u64,
}

/// Which threads have said that they run since the watchdog was fed.
#[derive(Debug)]
struct Watch {
    /// How often it is fed; none without a watchdog.
    feed_every: Option<Duration>,
    fed: Option<Instant>,
    last_thread: u64,
    /// Each with whether it has been heard of.
    threads: Vec<(u64, bool)>,
}

impl Supervisor {
    /// By what systemd has put into the environment.
    pub fn of_this_process() -> Self {
        let patience = sd_notify::watchdog_enabled();
        Self::new(patience)
    }

    fn new(patience: Option<Duration>) -> Self {
        Self(Arc::new(Mutex::new(Watch {
            feed_every: patience.map(|patience| patience / TOLD_IN_PATIENCE),
            fed: None,
            last_thread: 0,
            threads: Vec::new(),
        })))
    }

    /// Watches one more thread, which must call [`Pulse::beat`] at least once a second.
    pub fn watch(&self) -> Pulse {
        let mut watch = self.lock();
        watch.last_thread += 1;
        let thread = watch.last_thread;
        watch.threads.push((thread, false));
        Pulse {
            supervisor: self.clone(),
            thread,
        }
    }

    /// Tells systemd once the process is ready, and once it is stopping. Then it returns.
    pub async fn follow(&self, readiness: &Readiness, shutdown: &Shutdown) {
        tokio::select! {
            () = readiness.process_ready() => {
                tell(&NotifyState::Ready);
                shutdown.begun().await;
            }
            () = shutdown.begun() => {}
        }
        tell(&NotifyState::Stopping);
    }

    fn lock(&self) -> MutexGuard<'_, Watch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pulse {
    /// The thread that calls this runs.
    pub fn beat(&self) {
        let due = self.supervisor.lock().beat(self.thread, clock::now());
        if due {
            tell(&NotifyState::Watchdog);
        }
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        let mut watch = self.supervisor.lock();
        watch.threads.retain(|(thread, _)| *thread != self.thread);
    }
}

impl Watch {
    /// Whether the watchdog is to be fed now.
    fn beat(&mut self, thread: u64, now: Instant) -> bool {
        let Some(every) = self.feed_every else {
            return false;
        };
        for (one, heard) in &mut self.threads {
            *heard |= *one == thread;
        }
        let early = self
            .fed
            .is_some_and(|fed| now.saturating_duration_since(fed) < every);
        if early || !self.threads.iter().all(|(_, heard)| *heard) {
            return false;
        }
        for (_, heard) in &mut self.threads {
            *heard = false;
        }
        self.fed = Some(now);
        true
    }
}

fn tell(state: &NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(std::slice::from_ref(state)) {
        // NOTIFY_SOCKET names what can't be written to.
        warn!(%error, ?state, "systemd was not told");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_watchdog_is_fed_only_while_all_threads_run() {
        let start = clock::now();
        let supervisor = Supervisor::new(Some(Duration::from_secs(4)));
        let (one, two) = (supervisor.watch(), supervisor.watch());
        let beat = |pulse: &Pulse, second: u64| {
            let now = start + Duration::from_secs(second);
            supervisor.lock().beat(pulse.thread, now)
        };
        assert!(!beat(&one, 0), "the other was not heard of");
        assert!(beat(&two, 0));
        assert!(!beat(&one, 1) && !beat(&one, 2) && !beat(&one, 3));
        assert!(beat(&two, 4), "it runs again");
        drop(two);
        assert!(beat(&one, 5), "who has ended is not waited for");
        assert!(!beat(&one, 5), "not more often than needed");
    }

    #[test]
    fn without_a_watchdog_nothing_is_fed() {
        let supervisor = Supervisor::new(None);
        let pulse = supervisor.watch();
        assert!(!supervisor.lock().beat(pulse.thread, clock::now()));
    }
}
