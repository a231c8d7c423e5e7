//! Whether the registry answers, and whether it is still the same one.

mod clock;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio::time::Instant;
use tracing::{info, warn};

use self::clock::Clock;
use crate::RegistryError;

/// What is known about the way to the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The last operations worked. Told by the presence thread's probe each second while there is
    /// a membership.
    pub reachable: bool,
    /// Which run of Redis answered last. Another one may have lost data: whoever holds sessions
    /// and lobbies writes them anew.
    pub run_id: Option<String>,
    /// When that run began, by its own clock in epoch ms, up to a second early; nothing where the
    /// registry is this process' memory.
    pub run_began_ms: Option<u64>,
    /// It has not answered at least once since the start. The first run that is seen then may be
    /// another one than that of before.
    pub missed: bool,
    /// Counts the connections over which commits and touches go: over a new one everything is
    /// committed anew, since what went over the last one may have been lost.
    pub commit_connection: u64,
    /// When `reachable` or `run_id` changed last.
    pub changed_at: Instant,
}

/// Collects what the connections see; shared by all of one registry.
pub(crate) struct HealthCell {
    sender: watch::Sender<Health>,
    /// Presence threads, which probe each second: while there is one it alone says that the
    /// registry is away, so that one broken connection of a pool does not.
    probers: AtomicUsize,
    /// Another run was seen while the registry was away: said together with its return.
    other_run: AtomicBool,
    /// It has been said since the last answer that the registry refuses to write.
    refusal_told: AtomicBool,
    clock: Mutex<Clock>,
}

/// What a connection finds at its other end.
pub(crate) struct Server {
    pub(crate) run_id: String,
    pub(crate) run_began_ms: u64,
    pub(crate) now_ms: u64,
}

/// Which connection saw something.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sight {
    Heartbeat,
    Other,
}

impl HealthCell {
    pub(crate) fn new(reachable: bool, run_id: Option<String>) -> Self {
        let health = Health {
            reachable,
            run_id,
            run_began_ms: None,
            missed: false,
            commit_connection: 0,
            changed_at: Instant::now(),
        };
        Self {
            sender: watch::Sender::new(health),
            probers: AtomicUsize::new(0),
            other_run: AtomicBool::new(false),
            refusal_told: AtomicBool::new(false),
            clock: Mutex::default(),
        }
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Health> {
        self.sender.subscribe()
    }

    pub(crate) fn reachable(&self) -> bool {
        self.sender.borrow().reachable
    }

    pub(crate) fn add_prober(&self) {
        self.probers.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn remove_prober(&self) {
        self.probers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether this sight counts.
    fn believes(&self, sight: Sight) -> bool {
        sight == Sight::Heartbeat || self.probers.load(Ordering::Relaxed) == 0
    }

    /// The registry's clock now, in epoch ms: never ahead of it, behind by a round trip at most.
    pub(crate) fn now_ms(&self) -> Option<u64> {
        self.clock().now_ms(Instant::now())
    }

    pub(crate) fn saw_time(&self, now_ms: u64) {
        self.clock().see(Instant::now(), now_ms);
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn answered(&self, sight: Sight) {
        if !self.believes(sight) {
            return;
        }
        self.sender.send_if_modified(|health| {
            let back = !health.reachable;
            if back {
                (health.reachable, health.changed_at) = (true, Instant::now());
                self.refusal_told.store(false, Ordering::Relaxed);
                // After another run data may be older.
                let other_run = self.other_run.swap(false, Ordering::Relaxed);
                info!(other_run, "the registry answers");
            }
            back
        });
    }

    pub(crate) fn failed(&self, sight: Sight, error: &RegistryError) {
        if !self.believes(sight) {
            return;
        }
        self.sender.send_if_modified(|health| {
            let lost = health.reachable;
            if lost {
                (health.reachable, health.changed_at) = (false, Instant::now());
            }
            let first = !std::mem::replace(&mut health.missed, true);
            if matches!(error, RegistryError::Refused(_)) {
                // Also where it was away first: then it is there again, and yet of no use.
                if !self.refusal_told.swap(true, Ordering::Relaxed) {
                    // It is full, only reads, or can't save: retried for ever.
                    warn!(%error, "the registry refuses to write");
                }
            } else if lost || first {
                // Redis stopped, or the network between: retried for ever.
                warn!(%error, "the registry does not answer");
            }
            lost || first
        });
    }

    /// Takes note of who answers over a new connection.
    pub(crate) fn saw(&self, server: &Server) {
        let known = self.sender.borrow().run_id.clone();
        let mut clock = self.clock();
        if known.as_ref() != Some(&server.run_id) {
            // It may be another host's.
            clock.forget();
        }
        clock.see(Instant::now(), server.now_ms);
        drop(clock);
        self.sender.send_if_modified(|health| {
            if health.run_id.as_ref() == Some(&server.run_id) {
                return false;
            }
            if health.run_id.is_some() && !health.reachable {
                self.other_run.store(true, Ordering::Relaxed);
            } else if health.run_id.is_some() {
                // Restarted or failed over so fast that nothing else was noticed.
                warn!(run_id = server.run_id, "another run of Redis answers");
            }
            health.run_id = Some(server.run_id.clone());
            health.run_began_ms = Some(server.run_began_ms);
            health.changed_at = Instant::now();
            true
        });
    }

    pub(crate) fn new_commit_connection(&self) {
        self.sender
            .send_modify(|health| health.commit_connection += 1);
    }
}
