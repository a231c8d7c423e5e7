//! The server: one store, that stands still, dies, and comes back with what its file had.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep};

use super::client::{Client, Spawn};
use super::deed::Deed;
use super::wire::Wire;
use crate::in_process::Store;
use crate::presence::Heard;
use crate::{Lifetimes, NodeId, Record, Registry};

/// The clock of this Redis at its start: some day in 2026.
const EPOCH_MS: u64 = 1_780_000_000_000;
/// Its file is written so often.
const FILE_EVERY: Duration = Duration::from_secs(1);
/// Files that it may come back with.
const FILES_KEPT: usize = 16;
const CHANNEL_MESSAGES: usize = 4096;

/// With what it comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Everything.
    Whole,
    /// What was there so many seconds before.
    Older(usize),
    /// Nothing.
    Empty,
}

/// A Redis. Clones are the same.
#[derive(Clone)]
pub struct Redis(Arc<Shared>);

struct Shared {
    started: Instant,
    lifetimes: Lifetimes,
    store: Mutex<Store>,
    files: Mutex<VecDeque<Store>>,
    channel: Mutex<broadcast::Sender<(Option<NodeId>, Heard)>>,
    standing: watch::Sender<Standing>,
    /// So far its clock has been put forward or back, in ms.
    clock_shift_ms: AtomicI64,
    watcher: OnceLock<Watcher>,
}

/// Is told of each deed while it is done.
type Watcher = Box<dyn Fn(&Deed) + Send + Sync>;

/// How it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) run: u64,
    /// When that run began, by its clock.
    pub(super) began_ms: u64,
    pub(super) up: bool,
    /// It has been stopped: connections stay, and nothing is answered.
    pub(super) stopped: bool,
}

impl Redis {
    /// One that is up and empty.
    pub fn start(lifetimes: Lifetimes) -> Self {
        let standing = Standing {
            run: 1,
            began_ms: EPOCH_MS,
            up: true,
            stopped: false,
        };
        let redis = Self(Arc::new(Shared {
            started: Instant::now(),
            lifetimes,
            store: Mutex::new(Store::new(lifetimes)),
            files: Mutex::default(),
            channel: Mutex::new(broadcast::channel(CHANNEL_MESSAGES).0),
            standing: watch::Sender::new(standing),
            clock_shift_ms: AtomicI64::new(0),
            watcher: OnceLock::new(),
        }));
        let writing = redis.clone();
        tokio::spawn(async move { writing.write_files().await });
        redis
    }

    /// As one process uses it, over a way of its own; what runs for it is given to `spawn`.
    pub fn client(&self, wire: Wire, spawn: Spawn) -> Registry {
        Registry::simulated(Arc::new(Client::new(self.clone(), wire, spawn)))
    }

    /// It is killed: connections are reset, new ones refused.
    pub fn kill(&self) {
        self.0.standing.send_modify(|standing| standing.up = false);
        // Subscriptions end with their sender.
        *lock(&self.0.channel) = broadcast::channel(CHANNEL_MESSAGES).0;
    }

    /// It is started again, with this of what it had.
    pub fn restart(&self, data: Data) {
        let mut files = lock(&self.0.files);
        let mut store = lock(&self.0.store);
        match data {
            Data::Whole => {}
            Data::Older(seconds) => {
                let newest = files.len().saturating_sub(1);
                files.truncate(newest.saturating_sub(seconds.saturating_sub(1)) + 1);
                if let Some(file) = files.back() {
                    *store = file.clone();
                }
            }
            Data::Empty => {
                files.clear();
                *store = Store::new(self.0.lifetimes);
            }
        }
        drop((files, store));
        let began_ms = self.now_ms();
        self.0.standing.send_modify(|standing| {
            *standing = Standing {
                run: standing.run + 1,
                began_ms,
                up: true,
                stopped: false,
            };
        });
    }

    /// A replica that has everything takes over, whose clock is so much ahead, or behind if it is
    /// negative.
    pub fn fail_over(&self, ahead_ms: i64) {
        self.kill();
        self.0.clock_shift_ms.fetch_add(ahead_ms, Ordering::Relaxed);
        self.restart(Data::Whole);
    }

    /// It stands still, or goes on.
    pub fn stop(&self, stopped: bool) {
        self.0
            .standing
            .send_modify(|standing| standing.stopped = stopped);
    }

    /// Whoever is given here is told of all that is done to lobbies' records. It may not ask this server anything then.
    pub fn watch(&self, watcher: impl Fn(&Deed) + Send + Sync + 'static) {
        // The first one stays.
        let _first = self.0.watcher.set(Box::new(watcher));
    }

    pub(super) fn tell(&self, deed: Option<Deed>) {
        if let (Some(watcher), Some(deed)) = (self.0.watcher.get(), deed) {
            watcher(&deed);
        }
    }

    /// Whether that run of it is up.
    pub(super) fn is_running(&self, run: u64) -> bool {
        let standing = self.0.standing.borrow();
        standing.up && standing.run == run
    }

    /// Whom the record of a code names, whatever the way to it is like.
    pub fn record(&self, code: &str) -> Option<Record> {
        lock(&self.0.store).lobbies.owner(code, self.now_ms())
    }

    pub(super) fn standing(&self) -> watch::Receiver<Standing> {
        self.0.standing.subscribe()
    }

    /// Does one operation, at one moment.
    pub(super) fn execute<T>(&self, operation: impl FnOnce(&mut Store, u64) -> T) -> T {
        operation(&mut lock(&self.0.store), self.now_ms())
    }

    pub(super) fn publish(&self, to: Option<NodeId>, heard: Heard) {
        // Fails if nobody listens.
        let _listeners = lock(&self.0.channel).send((to, heard));
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<(Option<NodeId>, Heard)> {
        lock(&self.0.channel).subscribe()
    }

    pub(super) fn now_ms(&self) -> u64 {
        let passed = self.0.started.elapsed().as_millis();
        let now_ms = EPOCH_MS + u64::try_from(passed).unwrap_or_default();
        now_ms.saturating_add_signed(self.0.clock_shift_ms.load(Ordering::Relaxed))
    }

    async fn write_files(self) {
        loop {
            sleep(FILE_EVERY).await;
            let standing = *self.0.standing.borrow();
            if !standing.up || standing.stopped {
                continue;
            }
            let mut files = lock(&self.0.files);
            files.push_back(lock(&self.0.store).clone());
            if files.len() > FILES_KEPT {
                files.pop_front();
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
