//! The registry in this process' memory: the same answers as Redis', nothing to install, gone
//! with the process.

mod expiring;
mod lobbies;
mod presence;
mod sessions;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use self::expiring::Expiring;
use self::lobbies::Lobbies;
use self::presence::{Channel, Servers};
use self::sessions::Sessions;
use crate::backend::{Answer, Backend, Heartbeats, Subscriber};
use crate::health::HealthCell;
use crate::lobby::{
    Claim, Claimed, Commit, Committed, Create, Created, Delete, Deleted, Record, Release, Released,
    Touch, Touched,
};
use crate::presence::{Heard, Listing, Message};
use crate::registry::{CREATE_WINDOW, check_code};
use crate::session::{Greeting, Opened, Seated, Session, SessionSet};
use crate::{Generation, Lifetimes, NodeId, TokenHash};

/// One store, shared by all clones of its registry.
pub(crate) struct InProcess {
    shared: Arc<Shared>,
    health: Arc<HealthCell>,
}

struct Shared {
    store: Mutex<Store>,
    clock: Clock,
    channel: Channel,
}

/// Everything that is stored. Each operation gets the time, in epoch milliseconds.
#[derive(Clone)]
pub(crate) struct Store {
    pub(crate) servers: Servers,
    pub(crate) lobbies: Lobbies,
    pub(crate) sessions: Sessions,
    public: Expiring<String, ()>,
    public_ttl: Duration,
    creates: Expiring<String, u64>,
}

impl Store {
    pub(crate) fn new(lifetimes: Lifetimes) -> Self {
        Self {
            servers: Servers::default(),
            lobbies: Lobbies::new(lifetimes.session),
            sessions: Sessions::new(lifetimes.session),
            public: Expiring::default(),
            public_ttl: lifetimes.public,
            creates: Expiring::default(),
        }
    }

    pub(crate) fn public_add(&mut self, codes: &[String], now: u64) {
        for code in codes {
            self.public.put(code.clone(), (), self.public_ttl, now);
        }
    }

    pub(crate) fn public_remove(&mut self, code: &str) {
        self.public.remove(code);
    }

    pub(crate) fn public_list(&mut self, limit: usize, now: u64) -> Vec<String> {
        self.public.trim(now);
        let mut codes: Vec<String> = self.public.iter().map(|(code, ())| code.clone()).collect();
        codes.sort();
        codes.truncate(limit);
        codes
    }

    pub(crate) fn count_create(&mut self, address: &str, now: u64) -> u64 {
        if let Some(count) = self.creates.get_mut(address, now) {
            *count += 1;
            return *count;
        }
        self.creates.put(address.to_owned(), 1, CREATE_WINDOW, now);
        1
    }
}

impl InProcess {
    pub(crate) fn new(lifetimes: Lifetimes) -> Self {
        let shared = Shared {
            store: Mutex::new(Store::new(lifetimes)),
            clock: Clock::start(),
            channel: Channel::default(),
        };
        let health = HealthCell::new(true, Some("in-process".to_owned()));
        health.new_commit_connection();
        Self {
            shared: Arc::new(shared),
            health: Arc::new(health),
        }
    }
}

impl Shared {
    /// The store and the time at which it is used: one moment, as in a script of Redis.
    fn enter(&self) -> (MutexGuard<'_, Store>, u64) {
        let store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        (store, self.clock.now_ms())
    }
}

#[async_trait]
impl Backend for InProcess {
    fn health_cell(&self) -> Arc<HealthCell> {
        Arc::clone(&self.health)
    }

    fn now_ms(&self) -> Option<u64> {
        Some(self.shared.clock.now_ms())
    }

    async fn probe(&self) -> Answer<()> {
        Ok(())
    }

    fn heartbeats(&self) -> Box<dyn Heartbeats> {
        Box::new(presence::Line(Arc::clone(&self.shared)))
    }

    fn subscriber(&self, own: NodeId) -> Box<dyn Subscriber> {
        Box::new(presence::Listener {
            shared: Arc::clone(&self.shared),
            own,
        })
    }

    async fn list(&self) -> Answer<Listing> {
        let (mut store, now) = self.shared.enter();
        Ok(store.servers.list(now))
    }

    async fn publish(&self, message: &Message) -> Answer<()> {
        self.shared
            .channel
            .say(None, Heard::Message(message.clone()));
        Ok(())
    }

    async fn create(&self, create: &Create) -> Answer<Created> {
        let (mut store, now) = self.shared.enter();
        Ok(store.lobbies.create(create, now))
    }

    async fn commit(&self, commits: &[Commit]) -> Vec<Answer<Committed>> {
        let (mut store, now) = self.shared.enter();
        commits
            .iter()
            .map(|commit| check_code(&commit.code).map(|()| store.lobbies.commit(commit, now)))
            .collect()
    }

    async fn claim(&self, claim: &Claim) -> Answer<Claimed> {
        let (mut store, now) = self.shared.enter();
        Ok(store.lobbies.claim(claim, now))
    }

    async fn touch(&self, touches: &[Touch]) -> Vec<Answer<Touched>> {
        let (mut store, now) = self.shared.enter();
        touches
            .iter()
            .map(|touch| check_code(&touch.code).map(|()| store.lobbies.touch(touch, now)))
            .collect()
    }

    async fn release(&self, release: &Release) -> Answer<Released> {
        let (mut store, now) = self.shared.enter();
        Ok(store.lobbies.release(release, now))
    }

    async fn delete(&self, delete: &Delete) -> Answer<Deleted> {
        let (mut store, now) = self.shared.enter();
        Ok(store.lobbies.delete(delete, now))
    }

    async fn owner(&self, code: &str) -> Answer<Option<Record>> {
        let (store, now) = self.shared.enter();
        Ok(store.lobbies.owner(code, now))
    }

    async fn public_add(&self, codes: &[String]) -> Answer<()> {
        codes.iter().try_for_each(|code| check_code(code))?;
        let (mut store, now) = self.shared.enter();
        store.public_add(codes, now);
        Ok(())
    }

    async fn public_remove(&self, code: &str) -> Answer<()> {
        let (mut store, _) = self.shared.enter();
        store.public_remove(code);
        Ok(())
    }

    async fn public_list(&self, limit: usize) -> Answer<Vec<String>> {
        let (mut store, now) = self.shared.enter();
        Ok(store.public_list(limit, now))
    }

    async fn session_open(&self, token: &TokenHash, greeting: Greeting) -> Answer<Opened> {
        let (mut store, now) = self.shared.enter();
        Ok(store.sessions.open(token, greeting, now))
    }

    async fn session_create(&self, token: &TokenHash, player_id: &str) -> Answer<Session> {
        let (mut store, now) = self.shared.enter();
        Ok(store.sessions.create(token, player_id, now))
    }

    async fn session_set(&self, token: &TokenHash, session: &Session) -> Answer<SessionSet> {
        let (mut store, now) = self.shared.enter();
        Ok(store.sessions.set(token, session, now))
    }

    async fn session_sit(&self, token: &TokenHash, seated: &Seated) -> Answer<()> {
        let (mut store, now) = self.shared.enter();
        store.sessions.sit(token, seated, now);
        Ok(())
    }

    async fn session_stand(&self, token: &TokenHash, lobby: &str) -> Answer<()> {
        let (mut store, now) = self.shared.enter();
        store.sessions.stand(token, lobby, now);
        Ok(())
    }

    async fn sessions_read(&self, tokens: &[TokenHash]) -> Answer<Vec<Option<Session>>> {
        let (store, now) = self.shared.enter();
        Ok(tokens
            .iter()
            .map(|token| store.sessions.read(token, now))
            .collect())
    }

    async fn session_renew(&self, tokens: &[TokenHash]) -> Answer<Vec<bool>> {
        let (mut store, now) = self.shared.enter();
        Ok(tokens
            .iter()
            .map(|token| store.sessions.renew(token, now))
            .collect())
    }

    async fn session_drop(&self, token: &TokenHash, generation: Generation) -> Answer<bool> {
        let (mut store, now) = self.shared.enter();
        Ok(store.sessions.drop(token, generation, now))
    }

    async fn sessions_alive(&self, tokens: &[TokenHash]) -> Answer<Vec<bool>> {
        let (store, now) = self.shared.enter();
        Ok(tokens
            .iter()
            .map(|token| store.sessions.alive(token, now))
            .collect())
    }

    async fn count_create(&self, address: &str) -> Answer<u64> {
        let (mut store, now) = self.shared.enter();
        Ok(store.count_create(address, now))
    }
}

/// Epoch milliseconds that never go back.
struct Clock {
    started_ms: u64,
    started: std::time::Instant,
}

impl Clock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this store is its own clock, as Redis is"
    )]
    fn start() -> Self {
        let since_epoch = std::time::SystemTime::UNIX_EPOCH
            .elapsed()
            .unwrap_or_default()
            .as_millis();
        Self {
            started_ms: u64::try_from(since_epoch).unwrap_or_default(),
            started: std::time::Instant::now(),
        }
    }

    fn now_ms(&self) -> u64 {
        self.started_ms + u64::try_from(self.started.elapsed().as_millis()).unwrap_or_default()
    }
}
