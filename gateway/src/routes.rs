//! How a lobby code finds its owner, and how it gets another one when that is gone.
//!
//! One [`resolver`] a code, however many players wait for it: all of them get its answer. It asks
//! the registry whom the record names, lets [`judge`] say what follows, and asks nodes to claim
//! the lobby where that is due, in the [`order`] that all gateways share. It never decides by the
//! clock alone, and [`caution`] keeps this gateway from judging while it may be the one that was
//! away. The decisions are pure; what they need is gathered here.
//!
//! Invariant: claims are asked for only while somebody waits for that lobby.

mod caution;
mod judge;
mod order;
mod resolver;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chassis::{clock, task};
use protocol::LobbyCode;
use registry::{Health, Membership, NodeId, Registry};
use tokio::sync::{Semaphore, watch};
use tokio::time::{MissedTickBehavior, interval, timeout_at};

use crate::gateway::Gateway;
use crate::links::game_role;
use crate::session::Whereabouts;
use caution::{Caution, RegistryView};
use resolver::Resolver;

pub(crate) use judge::SILENT_AFTER;
pub(crate) use order::Claimant;

/// Claims that are asked for at once: a node that dies must not make the next one stall.
const MAX_CLAIMS: usize = 32;
/// Codes without a record that nodes are asked for at once, which nobody here misses: most are
/// mistyped or guessed, and whoever guesses shall not keep the nodes busy.
const MAX_GUESSES: usize = 32;
/// Between two looks at the clock and the registry.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// All codes that somebody looks for.
pub(crate) struct Routes {
    /// Bounded by the connections, each of which looks for a code or two.
    under_way: Arc<Searches>,
    claims: Semaphore,
    guesses: Semaphore,
    caution: Mutex<Caution>,
    registry: Registry,
    health: watch::Receiver<Health>,
    membership: Membership,
}

type Searches = Mutex<HashMap<LobbyCode, Search>>;

/// One code that is looked for.
struct Search {
    needs: Arc<Mutex<Needs>>,
    found: watch::Receiver<Option<Whereabouts>>,
}

/// Keeps a search listed until it is dropped, also by a panic: who looks for that code from then on
/// begins anew.
struct Listed {
    searches: Arc<Searches>,
    code: LobbyCode,
}

impl Drop for Listed {
    fn drop(&mut self) {
        lock(&self.searches).remove(&self.code);
    }
}

/// What those who wait for one code have seen of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Needs {
    /// It is the table of one of them, so that it is not only somebody's guess.
    pub(crate) home: bool,
    /// What was found before has turned out to be wrong: its owner has to say that it holds it.
    pub(crate) fresh: bool,
    /// Epoch and `seq` of the newest picture that any of them was shown.
    pub(crate) shown: (u64, u64),
}

impl Needs {
    fn join(&mut self, other: Self) {
        self.home |= other.home;
        self.fresh |= other.fresh;
        self.shown = self.shown.max(other.shown);
    }
}

impl Routes {
    pub(crate) fn new(registry: Registry, membership: Membership) -> Self {
        Self {
            under_way: Arc::default(),
            claims: Semaphore::new(MAX_CLAIMS),
            guesses: Semaphore::new(MAX_GUESSES),
            caution: Mutex::new(Caution::new(clock::now())),
            health: registry.health(),
            registry,
            membership,
        }
    }

    /// Keeps looking at the clock: a process that stood still must know that it did.
    pub(crate) async fn follow(&self) {
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            drop(self.look(clock::now()));
        }
    }

    /// When another run of the registry was seen: it may have lost data or brought back old data.
    pub(crate) fn another_run_at(&self) -> Option<Instant> {
        let now = clock::now();
        self.look(now).another_run_at(now)
    }

    /// Whether lobbies may be claimed now, and what nobody says to know is nobody's: after another
    /// run, owners need the time to be listed again.
    pub(crate) fn may_claim(&self) -> bool {
        let now = clock::now();
        self.look(now).may_claim(now)
    }

    fn look(&self, now: Instant) -> MutexGuard<'_, Caution> {
        let mut caution = lock(&self.caution);
        let now_ms = self.registry.now_ms();
        let health = self.health.borrow();
        let began_ms = health.run_began_ms;
        let age_ms = began_ms.zip(now_ms);
        let age_ms = age_ms.map(|(began_ms, now_ms)| now_ms.saturating_sub(began_ms));
        let view = RegistryView {
            reachable: health.reachable,
            run_id: health.run_id.as_deref(),
            run_age: age_ms.map(Duration::from_millis),
            missed: health.missed,
        };
        caution.look(now, view);
        drop(health);
        if caution.asks_for_witnesses()
            && let Some(knows_another_run) = began_ms.and_then(|at| self.was_somebody_there(at))
        {
            caution.hear_witness(knows_another_run);
        }
        caution
    }

    /// Whether some game node was there at that time of the registry's clock; none while no node
    /// is listed.
    fn was_somebody_there(&self, at_ms: u64) -> Option<bool> {
        let nodes = self.membership.servers_by_role(&game_role());
        let earliest = nodes.iter().map(|node| node.started_at).min();
        earliest.map(|started_at| started_at < at_ms)
    }
}

impl Gateway {
    /// Who owns a lobby: as remembered, unless that is known to be wrong or its node can't be
    /// reached; otherwise as soon as it is known, or there is a new owner.
    /// [`Whereabouts::Unavailable`] after `until`.
    pub(crate) async fn find(
        self: &Arc<Self>,
        code: LobbyCode,
        needs: Needs,
        until: Instant,
    ) -> Whereabouts {
        if !needs.fresh
            && let Some(node) = self.directory.owner(code)
            && self.links.is_up(&node)
        {
            return Whereabouts::At { node, epoch: None };
        }
        let mut found = self.search(code, needs);
        let found = timeout_at(until.into(), found.wait_for(Option::is_some)).await;
        match found {
            Ok(Ok(found)) => found.clone().unwrap_or(Whereabouts::Unavailable),
            Ok(Err(_)) | Err(_) => Whereabouts::Unavailable,
        }
    }

    /// Joins the search for a code, or begins it.
    fn search(
        self: &Arc<Self>,
        code: LobbyCode,
        needs: Needs,
    ) -> watch::Receiver<Option<Whereabouts>> {
        let mut under_way = lock(&self.routes.under_way);
        if let Some(search) = under_way.get(&code) {
            lock(&search.needs).join(needs);
            return search.found.clone();
        }
        let needs = Arc::new(Mutex::new(needs));
        let (sender, found) = watch::channel(None);
        let resolver = Resolver::new(Arc::clone(self), code, Arc::clone(&needs));
        let search = Search {
            needs,
            found: found.clone(),
        };
        under_way.insert(code, search);
        drop(under_way);
        let searches = Arc::clone(&self.routes.under_way);
        let listed = Listed { searches, code };
        tokio::spawn(task::of_this_process(async move {
            let answer = resolver.run(&sender).await;
            drop(listed);
            sender.send_replace(answer);
        }));
        found
    }

    /// What the registry says of a node; none if it is not listed. Never waits.
    fn sign_of(&self, node: &NodeId, now: Instant) -> Option<judge::Sign> {
        let servers = self.membership.servers();
        let find = |id: &NodeId| {
            let place = servers.binary_search_by(|one| one.id.cmp(id)).ok()?;
            Some(&servers[place])
        };
        let presence = find(node)?;
        // This gateway's own heartbeat brought the list.
        let read_at_ms = find(&self.config.node_id)?.last_seen;
        let since =
            |then_ms: u64, now_ms: u64| Duration::from_millis(now_ms.saturating_sub(then_ms));
        let ago = since(presence.last_seen, self.registry.now_ms()?);
        Some(judge::Sign {
            incarnation: presence.incarnation,
            heartbeat_age: since(presence.last_seen, read_at_ms),
            heartbeat_at: now.checked_sub(ago)?,
            stalled: presence.state == registry::State::Stalled,
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_search_that_panics_is_listed_no_more() {
        let (searches, code) = (Arc::new(Searches::default()), LobbyCode::from_bits(7));
        let search = Search {
            needs: Arc::default(),
            found: watch::channel(None).1,
        };
        lock(&searches).insert(code, search);
        let listed = Listed {
            searches: Arc::clone(&searches),
            code,
        };
        let search = tokio::spawn(async move {
            let _listed = listed;
            panic!("a search breaks");
        });
        assert!(search.await.is_err());
        assert!(lock(&searches).is_empty());
    }
}
