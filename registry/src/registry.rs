//! The one interface in front of both back ends.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::backend::{Answer, Backend};
use crate::health::Health;
use crate::in_process::InProcess;
use crate::lobby::{
    Claim, Claimed, Commit, Committed, Create, Created, Delete, Deleted, Record, Release, Released,
    Touch, Touched,
};
use crate::presence::{Membership, Message, Observer, Presence, PresenceConfig};
use crate::redis::{RedisBackend, RedisConfig};
use crate::session::{Greeting, Opened, Seated, Session, SessionSet};
use crate::{Generation, NodeId, RegistryError, TokenHash};

/// How long things live that nobody renews.
#[derive(Clone, Copy, Debug)]
pub struct Lifetimes {
    /// A session since its last sign of life (`SESSION_TTL`). A lobby's record lives twice as
    /// long, a tombstone as long.
    pub session: Duration,
    /// A lobby's place in the public list; its owner renews it with its touches.
    pub public: Duration,
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self {
            session: Duration::from_mins(30),
            public: Duration::from_secs(15),
        }
    }
}

/// The window in which creations are counted.
pub(crate) const CREATE_WINDOW: Duration = Duration::from_mins(1);

/// Which back end a registry has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The memory of this process.
    InProcess,
    /// Redis.
    Redis,
}

/// Presence, ownership and saved state of lobbies, sessions. Cheap to clone.
///
/// With Redis, its connections live on the runtime that uses it: a process whose roles have
/// runtimes of their own makes one for each. In-process, its clones are the shared store.
#[derive(Clone)]
pub struct Registry {
    backend: Arc<dyn Backend>,
    kind: Kind,
}

impl Registry {
    /// A registry for one process, which forgets everything with it.
    pub fn in_process(lifetimes: Lifetimes) -> Self {
        Self {
            backend: Arc::new(InProcess::new(lifetimes)),
            kind: Kind::InProcess,
        }
    }

    /// A registry in Redis. Never waits for it: connections are made when they are needed.
    ///
    /// # Errors
    /// [`RegistryError::InvalidConfig`] names what is wrong.
    pub fn redis(config: &RedisConfig) -> Result<Self, RegistryError> {
        Ok(Self {
            backend: Arc::new(RedisBackend::new(config)?),
            kind: Kind::Redis,
        })
    }

    /// A registry in a simulated Redis.
    #[cfg(feature = "simulation")]
    pub(crate) fn simulated(backend: Arc<dyn Backend>) -> Self {
        Self {
            backend,
            kind: Kind::Redis,
        }
    }

    /// Which back end this is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether the last operations worked; in-process always.
    pub fn reachable(&self) -> bool {
        self.backend.health_cell().reachable()
    }

    /// Whether it can be reached, which run of Redis answers, over which connection.
    pub fn health(&self) -> watch::Receiver<Health> {
        self.backend.health_cell().subscribe()
    }

    /// The registry's clock in epoch ms, as far as it is known here: never ahead, behind by a
    /// round trip at most. Nothing until it has answered once.
    pub fn now_ms(&self) -> Option<u64> {
        self.backend.now_ms()
    }

    /// One round trip, which also brings the clock and the run id.
    pub async fn probe(&self) -> Answer<()> {
        self.backend.probe().await
    }

    /// Makes this process known, on a thread of its own; see [`Membership`]. Does not wait for
    /// Redis.
    pub fn join(&self, own: Presence, config: PresenceConfig) -> Answer<Membership> {
        Membership::start(&*self.backend, own, config)
    }

    /// Sees who comes, changes and goes without being seen, on a thread of its own: for operators.
    /// Does not wait for Redis.
    pub fn observe(&self, config: PresenceConfig) -> Answer<Observer> {
        Observer::start(&*self.backend, config)
    }

    /// Everybody whose heartbeat has not lapsed, read now: for operators who are no members.
    pub async fn servers(&self) -> Answer<Vec<Presence>> {
        let mut servers = self.backend.list().await?.servers;
        servers.sort_by(|left, right| left.id.cmp(&right.id));
        Ok(servers)
    }

    /// Asks a node to leave.
    pub async fn request_drain(&self, id: &NodeId) -> Answer<()> {
        self.backend
            .publish(&Message::Drain { id: id.clone() })
            .await
    }

    /// Tells everybody that a player has connected: their older connections end.
    pub async fn publish_session(&self, player_id: &str, generation: Generation) -> Answer<()> {
        let player_id = player_id.to_owned();
        self.backend
            .publish(&Message::Session {
                player_id,
                generation: generation.0,
            })
            .await
    }

    /// Writes a lobby's record if its code is free.
    pub async fn create(&self, create: &Create) -> Answer<Created> {
        check_code(&create.code)?;
        self.backend.create(create).await
    }

    /// Saves states, all in one batch; one answer each, in order. One batch at a time: an answer
    /// is awaited before the next is sent.
    pub async fn commit(&self, commits: &[Commit]) -> Vec<Answer<Committed>> {
        self.backend.commit(commits).await
    }

    /// Asks for a lobby; see [`Claim`].
    pub async fn claim(&self, claim: &Claim) -> Answer<Claimed> {
        check_code(&claim.code)?;
        self.backend.claim(claim).await
    }

    /// Asks whether lobbies are still owned, and renews them, all in one batch; one answer each,
    /// in order.
    pub async fn touch(&self, touches: &[Touch]) -> Vec<Answer<Touched>> {
        self.backend.touch(touches).await
    }

    /// Gives a lobby up.
    pub async fn release(&self, release: &Release) -> Answer<Released> {
        check_code(&release.code)?;
        self.backend.release(release).await
    }

    /// Ends a lobby.
    pub async fn delete(&self, delete: &Delete) -> Answer<Deleted> {
        check_code(&delete.code)?;
        self.backend.delete(delete).await
    }

    /// Who owns a code, without what is saved. A tombstone is an answer too (`deleted`).
    pub async fn owner(&self, code: &str) -> Answer<Option<Record>> {
        check_code(code)?;
        self.backend.owner(code).await
    }

    /// Lists lobbies for quick play, for [`Lifetimes::public`] from now; the owner does so again
    /// with each round of touches.
    pub async fn public_add(&self, codes: &[String]) -> Answer<()> {
        self.backend.public_add(codes).await
    }

    /// Takes a lobby off the list.
    pub async fn public_remove(&self, code: &str) -> Answer<()> {
        self.backend.public_remove(code).await
    }

    /// Up to `limit` public lobbies.
    pub async fn public_list(&self, limit: usize) -> Answer<Vec<String>> {
        self.backend.public_list(limit).await
    }

    /// A player comes back: a new generation for their session, which lives anew. It is the time of
    /// their `hello`, so that done late, twice or without an answer it comes to the same.
    pub async fn session_open(&self, token: &TokenHash, greeting: Greeting) -> Answer<Opened> {
        self.backend.session_open(token, greeting).await
    }

    /// A new player. If the token is known (an answer got lost), that one with a new generation.
    pub async fn session_create(&self, token: &TokenHash, player_id: &str) -> Answer<Session> {
        self.backend.session_create(token, player_id).await
    }

    /// Writes a whole session, which lives anew, unless the stored one is of a newer generation.
    /// Also writes it back when Redis has lost it.
    pub async fn session_set(&self, token: &TokenHash, session: &Session) -> Answer<SessionSet> {
        self.backend.session_set(token, session).await
    }

    /// Writes where a player sits now, whatever else the session says; it lives anew, and is
    /// written back when Redis has lost it.
    pub async fn session_sit(&self, token: &TokenHash, seated: &Seated) -> Answer<()> {
        self.backend.session_sit(token, seated).await
    }

    /// Writes that a player sits at no table, if the session still names this one.
    pub async fn session_stand(&self, token: &TokenHash, lobby: &str) -> Answer<()> {
        self.backend.session_stand(token, lobby).await
    }

    /// What sessions say, without renewing them; nothing for each that is gone.
    pub async fn sessions_read(&self, tokens: &[TokenHash]) -> Answer<Vec<Option<Session>>> {
        self.backend.sessions_read(tokens).await
    }

    /// Lets sessions live anew; false for each that is gone.
    pub async fn session_renew(&self, tokens: &[TokenHash]) -> Answer<Vec<bool>> {
        self.backend.session_renew(tokens).await
    }

    /// Ends a session; false if it is gone already or of a newer generation.
    pub async fn session_drop(&self, token: &TokenHash, generation: Generation) -> Answer<bool> {
        self.backend.session_drop(token, generation).await
    }

    /// Whether sessions have not expired.
    pub async fn sessions_alive(&self, tokens: &[TokenHash]) -> Answer<Vec<bool>> {
        self.backend.sessions_alive(tokens).await
    }

    /// Counts a creation of a lobby by this address; how many there were in the minute that began
    /// with the first.
    pub async fn count_create(&self, address: &str) -> Answer<u64> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".:/-".contains(&byte);
        check("address", address, fits)?;
        self.backend.count_create(address).await
    }
}

/// A code is part of a key; what it looks like is decided elsewhere.
pub(crate) fn check_code(code: &str) -> Answer<()> {
    check("lobby code", code, |byte| {
        byte.is_ascii_alphanumeric() || byte == b'-'
    })
}

/// The longest text that becomes part of a key.
const MAX_KEY_LENGTH: usize = 64;

fn check(what: &'static str, text: &str, fits: impl Fn(u8) -> bool) -> Answer<()> {
    if !text.is_empty() && text.len() <= MAX_KEY_LENGTH && text.bytes().all(fits) {
        return Ok(());
    }
    Err(RegistryError::InvalidId {
        what,
        text: text.chars().take(MAX_KEY_LENGTH).collect(),
    })
}
