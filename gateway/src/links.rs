//! The links to all game nodes: who has one, how each node does, and the way to send.
//!
//! A link is kept to every game node that the registry names, and to one that it names no more
//! for as long as somebody's table depends on whether that node lives: what its link shows is what
//! [`mod@crate::routes`] judges by.

mod asking;
mod handed;
mod heard;
mod keeping;
mod received;
mod standing;
#[cfg(test)]
mod tests;
mod way;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chassis::environment::Secret;
use chassis::{clock, task};
use protocol::link::{Claimed, Inspection, Known, Sight, ToNode, Unsaved};
use registry::{Event, Events, Health, Incarnation, NodeId, Presence, Role, State};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::choice::{Candidate, choose};
use crate::connections::Connections;
use crate::link;
use crate::operations;
use crate::requests::Requests;
use crate::routes::Claimant;
use crate::session::Input;
use crate::status::{NodeStatus, Overview};

pub(crate) use handed::HandedOver;
pub(crate) use heard::Heard;
pub(crate) use standing::{Failure, Standing};
pub(crate) use way::Way;

/// A node that was silent for longer is not asked to take a lobby: two pongs are missing.
const CLAIMANT_HEARD_WITHIN: Duration = Duration::from_millis(2_500);
/// How long a node is dialled on that the registry names no more, at most, while nobody's table
/// depends on it: whoever has lost a table there may still look it up.
const UNLISTED_FOR: Duration = Duration::from_secs(3);

/// The role whose processes are dialled.
pub(crate) fn game_role() -> Role {
    Role::new(protocol::role::GAME).expect("a role is a word")
}

/// All links of this gateway; one entry a game node.
pub(crate) struct Links {
    pub(crate) secret: Secret,
    pub(crate) own_id: NodeId,
    pub(crate) own_incarnation: Incarnation,
    connections: Arc<Connections>,
    entries: Mutex<BTreeMap<NodeId, Entry>>,
    overview: watch::Sender<Arc<Overview>>,
    health: watch::Receiver<Health>,
    /// One a link; each ends within moments of its stop.
    tasks: TaskTracker,
    stopping: AtomicBool,
    /// Probes under way, of this process' own start only.
    probes: Requests<Option<String>>,
    claims: Requests<Claimed>,
    questions: Requests<Option<Known>>,
    pub(crate) inspections: Requests<Option<Inspection>>,
    pub(crate) handed: HandedOver,
    /// What there is in place of a network.
    #[cfg(feature = "simulation")]
    pub(crate) network: std::sync::OnceLock<crate::simulation::Dial>,
}

struct Entry {
    presence: Arc<Presence>,
    /// Since when the registry names it no more.
    unlisted_at: Option<Instant>,
    /// How many wait for a table whose record names it.
    wanted: usize,
    /// Lobbies that this gateway has sent there since its last heartbeat, which counts the others.
    created: u32,
    standing: Standing,
    up: Option<Up>,
    stop: CancellationToken,
}

struct Up {
    queue: mpsc::Sender<ToNode>,
    /// Ends this link, which has not taken what must not be lost.
    overrun: CancellationToken,
    status: NodeStatus,
    unsaved: Option<Unsaved>,
    heard: Arc<Heard>,
}

/// Keeps a node dialled, whether the registry names it or not, until it is dropped.
pub(crate) struct Wanted {
    links: Arc<Links>,
    node: NodeId,
}

/// Why something was not sent to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotSent {
    /// There is no link to it.
    NoLink,
    /// It takes nothing more just now.
    Full,
}

impl Links {
    pub(crate) fn new(
        secret: Secret,
        own: &Presence,
        connections: Arc<Connections>,
        health: watch::Receiver<Health>,
    ) -> Arc<Self> {
        Arc::new(Self {
            secret,
            own_id: own.id.clone(),
            own_incarnation: own.incarnation,
            connections,
            entries: Mutex::default(),
            overview: watch::Sender::new(Arc::new(Overview::new())),
            health,
            tasks: TaskTracker::new(),
            stopping: AtomicBool::new(false),
            probes: Requests::default(),
            claims: Requests::default(),
            questions: Requests::default(),
            inspections: operations::inspections(),
            handed: HandedOver::default(),
            #[cfg(feature = "simulation")]
            network: std::sync::OnceLock::new(),
        })
    }

    /// Keeps a link to every game node that comes, each in a task of its own, until
    /// [`Links::close`].
    pub(crate) async fn follow(self: Arc<Self>, mut events: Events) {
        let role = game_role();
        while let Some(event) = events.next().await {
            match event {
                Event::Joined(presence) | Event::Changed(presence) if presence.role == role => {
                    self.listed(presence);
                }
                Event::Left { presence, .. } if presence.role == role => self.unlisted(&presence),
                _ => {}
            }
        }
    }

    /// Keeps what the registry's health says in the overview.
    pub(crate) async fn follow_health(self: Arc<Self>) {
        let mut health = self.health.clone();
        let mut run_id = health.borrow().run_id.clone();
        loop {
            let seen = health.borrow_and_update().clone();
            // The first one that is heard of is not another one.
            let another = run_id.is_some() && seen.run_id != run_id;
            run_id = seen.run_id.or(run_id);
            self.change_overview(|overview| {
                overview.registry_reachable = seen.reachable;
                overview.registry_run += u64::from(another);
            });
            if health.changed().await.is_err() {
                return;
            }
        }
    }

    /// This gateway stops, and hears of no goodbye any more: links that are up stay for the players
    /// who are still here, and one that breaks is not dialled anew.
    pub(crate) fn wind_down(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        let now = clock::now();
        self.lock().retain(|_, entry| {
            entry.unlisted_at = Some(now);
            if entry.up.is_none() {
                entry.stop.cancel();
            }
            entry.up.is_some()
        });
    }

    /// Ends all links, and waits until their nodes have been told.
    pub(crate) async fn close(&self) {
        for entry in self.lock().values() {
            entry.stop.cancel();
        }
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Sends to a node; never waits.
    pub(crate) fn send(&self, node: &NodeId, message: ToNode) -> Result<(), NotSent> {
        let entries = self.lock();
        let up = entries
            .get(node)
            .and_then(|entry| entry.up.as_ref())
            .ok_or(NotSent::NoLink)?;
        up.queue.try_send(message).map_err(|error| match error {
            TrySendError::Full(_) => NotSent::Full,
            TrySendError::Closed(_) => NotSent::NoLink,
        })
    }

    /// Tells a node what must not be lost. If it takes nothing more the link is ended, and both
    /// sides begin anew: that too tells the node who is there no longer.
    pub(crate) fn tell(&self, node: &NodeId, message: ToNode) {
        let entries = self.lock();
        // Without a link the node knows already.
        if let Some(up) = entries.get(node).and_then(|entry| entry.up.as_ref())
            && let Err(TrySendError::Full(_)) = up.queue.try_send(message)
        {
            up.overrun.cancel();
        }
    }

    /// Whether there is a live link to that node.
    pub(crate) fn is_up(&self, node: &NodeId) -> bool {
        self.lock()
            .get(node)
            .is_some_and(|entry| entry.up.is_some())
    }

    /// Whether there is any live link.
    pub(crate) fn any_up(&self) -> bool {
        !self.overview.borrow().nodes.is_empty()
    }

    /// How the servers do, now and from now on.
    pub(crate) fn overview(&self) -> watch::Receiver<Arc<Overview>> {
        self.overview.subscribe()
    }

    /// The node for a new lobby, which counts as being there from now on.
    pub(crate) fn draw(&self, chance: [u32; 2]) -> Option<NodeId> {
        let node = choose(self.candidates(), chance)?;
        if let Some(entry) = self.lock().get_mut(&node) {
            entry.created = entry.created.saturating_add(1);
        }
        Some(node)
    }

    /// Nodes with a live link that want new games.
    fn candidates(&self) -> Vec<Candidate> {
        let candidate = |(node, entry): (&NodeId, &Entry)| {
            let status = entry.up.as_ref()?.status;
            status.accepting_games.then(|| Candidate {
                node: node.clone(),
                level: status.level,
                games: entry.presence.active_games.saturating_add(entry.created),
                players: entry.presence.players.saturating_add(entry.created),
            })
        };
        self.lock().iter().filter_map(candidate).collect()
    }

    /// Who could be asked to take a lobby over.
    pub(crate) fn claimants(&self, now: Instant) -> Vec<Claimant> {
        let claimant = |(node, entry): (&NodeId, &Entry)| {
            let up = entry.up.as_ref()?;
            let heard = now < up.heard.at() + CLAIMANT_HEARD_WITHIN;
            (heard && !self.handed.has_any_of(node)).then(|| Claimant {
                node: node.clone(),
                accepts_games: up.status.accepting_games,
                draining: entry.presence.state == State::Draining,
            })
        };
        self.lock().iter().filter_map(claimant).collect()
    }

    /// What is known of the way to a node.
    pub(crate) fn standing(&self, node: &NodeId) -> Option<Standing> {
        let entries = self.lock();
        let entry = entries.get(node)?;
        let mut standing = entry.standing.clone();
        if let Some(up) = &entry.up {
            standing.heard_at = up.heard.at();
        }
        Some(standing)
    }

    /// Keeps that node dialled, and often; none if its address is not known.
    pub(crate) fn want(self: &Arc<Self>, node: &NodeId) -> Option<Wanted> {
        self.lock().get_mut(node)?.wanted += 1;
        Some(Wanted {
            links: Arc::clone(self),
            node: node.clone(),
        })
    }

    fn listed(self: &Arc<Self>, presence: Arc<Presence>) {
        let mut entries = self.lock();
        let mut wanted = 0;
        if let Some(entry) = entries.get_mut(&presence.id) {
            let same = entry.presence.incarnation == presence.incarnation
                && entry.presence.address == presence.address;
            if same {
                entry.presence = presence;
                entry.unlisted_at = None;
                entry.created = 0;
                return;
            }
            wanted = entry.wanted;
            entry.stop.cancel();
        }
        let stop = CancellationToken::new();
        let (node, address) = (presence.id.clone(), presence.address.clone());
        let entry = Entry {
            standing: Standing::new(clock::now(), presence.incarnation),
            presence,
            unlisted_at: None,
            wanted,
            created: 0,
            up: None,
            stop: stop.clone(),
        };
        entries.insert(node.clone(), entry);
        drop(entries);
        let keeping = link::keep(Arc::clone(self), node, address, stop);
        self.tasks.spawn(task::of_this_process(keeping));
    }

    /// The registry names it no more; a link that is up stays until it breaks.
    fn unlisted(&self, presence: &Presence) {
        let mut entries = self.lock();
        if let Some(entry) = entries.get_mut(&presence.id)
            && entry.presence.incarnation == presence.incarnation
        {
            entry.unlisted_at = Some(clock::now());
        }
    }

    /// Changes whenever the registry goes away, comes back or is another one.
    pub(crate) fn registry(&self) -> watch::Receiver<Health> {
        self.health.clone()
    }

    /// How this gateway fares with the registry, for the links' pings.
    pub(crate) fn sight(&self) -> Sight {
        let health = self.health.borrow();
        if health.reachable {
            return Sight::Reachable;
        }
        let since_ms = u64::try_from(health.changed_at.elapsed().as_millis()).unwrap_or(u64::MAX);
        Sight::Away { since_ms }
    }

    /// Links that are up, and links that are not.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let entries = self.lock();
        let up = entries.values().filter(|entry| entry.up.is_some()).count() as u64;
        (up, entries.len() as u64 - up)
    }

    /// Tells every connection, if anything is other than before.
    fn change_overview(&self, change: impl FnOnce(&mut Overview)) {
        let differs = self.overview.send_if_modified(|overview| {
            let mut changed = Overview::clone(overview);
            change(&mut changed);
            let differs = changed != **overview;
            if differs {
                *overview = Arc::new(changed);
            }
            differs
        });
        if differs {
            let overview = Arc::clone(&self.overview.borrow());
            self.connections
                .deliver_to_all(|| Input::Overview(Arc::clone(&overview)));
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<NodeId, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Wanted {
    fn drop(&mut self) {
        if let Some(entry) = self.links.lock().get_mut(&self.node) {
            entry.wanted = entry.wanted.saturating_sub(1);
        }
    }
}
