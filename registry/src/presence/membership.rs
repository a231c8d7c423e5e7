//! A process' place in the registry, and its view of the others.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tokio::sync::{Notify, broadcast, mpsc, oneshot, watch};
use tokio::time::Instant;

use super::keeper::{Keeper, Order, Part};
use super::roster::{Roster, Snapshot};
use super::{Event, Events, Presence, PresenceConfig, Servers, State};
use crate::backend::Backend;
use crate::{NodeId, RegistryError, Role, SessionOpened, metrics};

/// Events that a reader may be behind before it gets the difference instead.
const EVENTS_KEPT: usize = 1024;
/// Sessions that a reader may be behind; whoever misses one is corrected by the lobby's owner.
const SESSIONS_KEPT: usize = 4096;
/// Orders come from the own process only, one at a time.
const ORDERS_KEPT: usize = 16;

/// This process in the registry. Cheap to clone; when the last clone is dropped without
/// [`Membership::leave`], the heartbeats end without a goodbye, as after a crash.
#[derive(Clone)]
pub struct Membership {
    shared: Arc<Shared>,
    orders: mpsc::Sender<Order>,
}

/// What the registry has been seen to do for this process; part of being ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PresenceChecks {
    /// A heartbeat was written.
    pub heartbeat_written: bool,
    /// A published probe came back on the subscription.
    pub probe_heard: bool,
    /// The last heartbeat worked: the snapshot is current. Otherwise it is the last one known,
    /// and links decide who lives.
    pub current: bool,
}

impl Membership {
    pub(crate) fn start(
        backend: &dyn Backend,
        own: Presence,
        config: PresenceConfig,
    ) -> Result<Self, RegistryError> {
        let (shared, orders) = start(backend, own, Part::Member, config)?;
        Ok(Self { shared, orders })
    }

    /// What this process says about itself.
    pub fn own(&self) -> Presence {
        self.shared.own().clone()
    }

    /// Everybody known, this process included, ordered by id. Never waits for Redis.
    pub fn servers(&self) -> Servers {
        Arc::clone(&self.shared.snapshot().servers)
    }

    /// Everybody known of that role, this process included, ordered by id. Never waits for Redis.
    pub fn servers_by_role(&self, role: &Role) -> Servers {
        self.shared
            .snapshot()
            .by_role
            .get(role)
            .cloned()
            .unwrap_or_default()
    }

    /// One process, if it is known. Never waits for Redis.
    pub fn server(&self, id: &NodeId) -> Option<Arc<Presence>> {
        self.shared.snapshot().by_id.get(id).cloned()
    }

    /// Who comes, changes and goes, from everybody who is there already on. Not this process.
    pub fn events(&self) -> Events {
        Events::new(Arc::clone(&self.shared))
    }

    /// Sessions that were opened anywhere; a reader that lags misses some.
    pub fn sessions(&self) -> broadcast::Receiver<SessionOpened> {
        self.shared.sessions.subscribe()
    }

    /// Turns true when operators ask this node to leave.
    pub fn drain_requested(&self) -> watch::Receiver<bool> {
        self.shared.drain.subscribe()
    }

    /// What the registry has been seen to do for this process.
    pub fn checks(&self) -> watch::Receiver<PresenceChecks> {
        self.shared.checks.subscribe()
    }

    /// Changes what this process says about itself. A change of state, load, acceptance, address
    /// or verification is written and published at once, at most once a second; counts go with
    /// the next heartbeat. Id, role, incarnation and times stay as they are.
    pub fn update(&self, change: impl FnOnce(&mut Presence)) {
        self.shared.update(change);
    }

    /// Says that this process is ready, once it has tried what its users will do. Returns when
    /// the others have been told; if the registry is away, at once: they are told later.
    pub async fn ready(&self) {
        self.shared.update(|own| own.state = State::Ready);
        self.order(Order::Hello).await;
    }

    /// Says goodbye and deletes what was written. Returns when that is done, or has been tried.
    pub async fn leave(&self) {
        self.order(Order::Leave).await;
    }

    /// Watches a thread: `pulse` must rise at least every second while it runs. If it doesn't
    /// for [`PresenceConfig::stall_after`], this process says `stalled` until it does again.
    pub fn watch_thread(&self, pulse: Arc<AtomicU64>) {
        *self
            .shared
            .pulse
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(pulse);
    }

    async fn order(&self, order: fn(oneshot::Sender<()>) -> Order) {
        let (done, wait) = oneshot::channel();
        if self.orders.send(order(done)).await.is_ok() {
            // An error means that the keeper has ended: nothing more will be done.
            let _ended = wait.await;
        }
    }
}

/// Starts the presence, apart from whoever asks for it. It ends when the orders' sender does.
pub(super) fn start(
    backend: &dyn Backend,
    own: Presence,
    part: Part,
    config: PresenceConfig,
) -> Result<(Arc<Shared>, mpsc::Sender<Order>), RegistryError> {
    config.check()?;
    let heartbeats = backend.heartbeats();
    let subscriber = backend.subscriber(own.id.clone());
    let shared = Arc::new(Shared::new(own, part));
    let (orders, inbox) = mpsc::channel(ORDERS_KEPT);
    let health = backend.health_cell();
    if part == Part::Member {
        metrics::watch_presence(&shared, &health);
    }
    let keeper = Keeper::new(Arc::clone(&shared), part, config, heartbeats, health, inbox);
    backend.run_presence(Box::pin(keeper.run(subscriber)))?;
    Ok((shared, orders))
}

/// What the handles and the keeper's thread share.
pub(crate) struct Shared {
    own: RwLock<Presence>,
    snapshot: RwLock<Arc<Snapshot>>,
    events: Mutex<Option<broadcast::Sender<Event>>>,
    pub(super) sessions: broadcast::Sender<SessionOpened>,
    pub(super) drain: watch::Sender<bool>,
    pub(super) checks: watch::Sender<PresenceChecks>,
    pub(super) news: Notify,
    pub(super) pulse: Mutex<Option<Arc<AtomicU64>>>,
    /// The last heartbeat that worked, or the start.
    beaten_at: Mutex<Instant>,
}

impl Shared {
    fn new(own: Presence, part: Part) -> Self {
        let listed = (part == Part::Member).then(|| Arc::new(own.clone()));
        let snapshot = Roster::default().snapshot(listed);
        Self {
            own: RwLock::new(own),
            snapshot: RwLock::new(Arc::new(snapshot)),
            events: Mutex::new(Some(broadcast::channel(EVENTS_KEPT).0)),
            sessions: broadcast::channel(SESSIONS_KEPT).0,
            drain: watch::Sender::new(false),
            checks: watch::Sender::default(),
            news: Notify::new(),
            pulse: Mutex::new(None),
            beaten_at: Mutex::new(Instant::now()),
        }
    }

    pub(super) fn beaten(&self, at: Instant) {
        *self
            .beaten_at
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = at;
    }

    /// When the last heartbeat worked, or the start was.
    pub(crate) fn beaten_at(&self) -> Instant {
        *self
            .beaten_at
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn own(&self) -> std::sync::RwLockReadGuard<'_, Presence> {
        self.own.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the registry's answer says about the own times.
    pub(super) fn set_times(&self, started_at: u64, last_seen: u64) {
        let mut own = self.own.write().unwrap_or_else(PoisonError::into_inner);
        own.started_at = started_at;
        own.last_seen = last_seen;
    }

    fn update(&self, change: impl FnOnce(&mut Presence)) {
        let mut own = self.own.write().unwrap_or_else(PoisonError::into_inner);
        let before = own.clone();
        change(&mut own);
        own.id = before.id.clone();
        own.role = before.role.clone();
        own.incarnation = before.incarnation;
        (own.started_at, own.last_seen) = (before.started_at, before.last_seen);
        if own.is_news_after(&before) {
            self.news.notify_one();
        }
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Shows a new snapshot and says what is new in it, as one step for whoever subscribes.
    pub(super) fn publish(&self, snapshot: Snapshot, news: Vec<Event>) {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        *self
            .snapshot
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(snapshot);
        if let Some(events) = events.as_ref() {
            for event in news {
                // Fails if nobody listens, which is their choice.
                let _listeners = events.send(event);
            }
        }
    }

    /// Everything from now on, and everybody who is there now but the own process.
    pub(super) fn subscribe(&self) -> (broadcast::Receiver<Event>, Vec<Arc<Presence>>) {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let receiver = match events.as_ref() {
            Some(events) => events.subscribe(),
            // Ended: a channel without a sender says so.
            None => broadcast::channel(1).1,
        };
        let own = self.own().id.clone();
        let snapshot = self.snapshot();
        let members = snapshot
            .servers
            .iter()
            .filter(|one| one.id != own)
            .cloned()
            .collect();
        (receiver, members)
    }

    /// No more events will come.
    pub(super) fn end(&self) {
        *self.events.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
