//! The registry in Redis.
//!
//! Four kinds of connection, so that none waits behind another: commits and touches have one, the
//! heartbeat one, the subscription one, and a small pool serves everything else.

mod config;
mod connector;
mod heartbeat;
mod known;
mod line;
mod lobbies;
mod pool;
mod presence;
mod reply;
mod scripts;
mod sessions;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

pub use self::config::RedisConfig;
use self::connector::Connector;
use self::line::Line;
use self::pool::Pool;
#[cfg(feature = "simulation")]
pub(crate) use self::{
    heartbeat::HEARTBEAT_TIMEOUT, line::TIMEOUTS_BEFORE_NEW, pool::RESPONSE_TIMEOUT,
};
use crate::backend::{Answer, Backend, Heartbeats, Subscriber};
use crate::health::HealthCell;
use crate::lobby::{
    Claim, Claimed, Commit, Committed, Create, Created, Delete, Deleted, Record, Release, Released,
    Touch, Touched,
};
use crate::metrics::Purpose;
use crate::presence::{Listing, Message};
use crate::session::{Greeting, Opened, Seated, Session, SessionSet};
use crate::{Generation, Lifetimes, NodeId, TokenHash};

/// Without an answer for so long a commit has failed.
pub(crate) const COMMIT_TIMEOUT: Duration = Duration::from_millis(500);

/// Everything that is asked of Redis by name of key.
pub(crate) struct RedisBackend {
    keys: Keys,
    lifetimes: Lifetimes,
    connector: Arc<Connector>,
    pool: Pool,
    commits: Line,
    health: Arc<HealthCell>,
}

impl RedisBackend {
    pub(crate) fn new(config: &RedisConfig) -> Answer<Self> {
        let connector = Arc::new(Connector::new(config)?);
        let health = Arc::new(HealthCell::new(false, None));
        let commits = Line::new(
            Arc::clone(&connector),
            Purpose::Commits,
            Arc::clone(&health),
            COMMIT_TIMEOUT,
        )
        .counting_connections();
        Ok(Self {
            keys: Keys::new(&config.key_prefix)?,
            lifetimes: config.lifetimes,
            pool: Pool::new(Arc::clone(&connector), Arc::clone(&health))?,
            commits,
            connector,
            health,
        })
    }
}

/// Where everything is.
#[derive(Clone, Debug)]
struct Keys {
    prefix: String,
}

impl Keys {
    fn new(prefix: &str) -> Answer<Self> {
        let fits = |byte: u8| byte.is_ascii_graphic() && !b"{}*?[]\\".contains(&byte);
        if prefix.len() > 64 || !prefix.bytes().all(fits) {
            return Err(crate::RegistryError::InvalidConfig {
                setting: "REDIS_KEY_PREFIX",
                why: "at most 64 visible ASCII characters, none of {}*?[]\\".to_owned(),
            });
        }
        Ok(Self {
            prefix: prefix.to_owned(),
        })
    }

    fn servers(&self) -> String {
        format!("{}servers", self.prefix)
    }

    /// The revision of what each process says: only what is another one is read again.
    fn revisions(&self) -> String {
        format!("{}revisions", self.prefix)
    }

    fn server(&self, id: &str) -> String {
        format!("{}servers:{id}", self.prefix)
    }

    fn events(&self) -> String {
        format!("{}events", self.prefix)
    }

    fn probes(&self, id: &NodeId) -> String {
        format!("{}events:{id}", self.prefix)
    }

    fn lobby(&self, code: &str) -> String {
        format!("{}lobbies:{code}", self.prefix)
    }

    fn public(&self) -> String {
        format!("{}public", self.prefix)
    }

    fn session(&self, token: &TokenHash) -> String {
        format!("{}sessions:{token}", self.prefix)
    }

    fn creates(&self, address: &str) -> String {
        format!("{}limits:create:{address}", self.prefix)
    }
}

fn milliseconds(duration: Duration) -> u64 {
    // At least one: Redis takes a time to live of zero for a deletion.
    u64::try_from(duration.as_millis())
        .unwrap_or(u64::MAX)
        .max(1)
}

#[async_trait]
impl Backend for RedisBackend {
    fn health_cell(&self) -> Arc<HealthCell> {
        Arc::clone(&self.health)
    }

    fn now_ms(&self) -> Option<u64> {
        self.health.now_ms()
    }

    async fn probe(&self) -> Answer<()> {
        self.pool.probe().await
    }

    fn heartbeats(&self) -> Box<dyn Heartbeats> {
        Box::new(heartbeat::HeartbeatLine::new(
            self.keys.clone(),
            Arc::clone(&self.connector),
            Arc::clone(&self.health),
        ))
    }

    fn subscriber(&self, own: NodeId) -> Box<dyn Subscriber> {
        let (keys, connector) = (self.keys.clone(), Arc::clone(&self.connector));
        Box::new(presence::Subscriptions {
            keys,
            connector,
            own,
        })
    }

    async fn list(&self) -> Answer<Listing> {
        presence::list(&self.pool, &self.keys).await
    }

    async fn publish(&self, message: &Message) -> Answer<()> {
        presence::publish(&self.pool, &self.keys, message).await
    }

    async fn create(&self, create: &Create) -> Answer<Created> {
        self.create_lobby(create).await
    }

    async fn commit(&self, commits: &[Commit]) -> Vec<Answer<Committed>> {
        self.commit_lobbies(commits).await
    }

    async fn claim(&self, claim: &Claim) -> Answer<Claimed> {
        self.claim_lobby(claim).await
    }

    async fn touch(&self, touches: &[Touch]) -> Vec<Answer<Touched>> {
        self.touch_lobbies(touches).await
    }

    async fn release(&self, release: &Release) -> Answer<Released> {
        self.release_lobby(release).await
    }

    async fn delete(&self, delete: &Delete) -> Answer<Deleted> {
        self.delete_lobby(delete).await
    }

    async fn owner(&self, code: &str) -> Answer<Option<Record>> {
        self.owner_of_lobby(code).await
    }

    async fn public_add(&self, codes: &[String]) -> Answer<()> {
        self.add_public(codes).await
    }

    async fn public_remove(&self, code: &str) -> Answer<()> {
        self.remove_public(code).await
    }

    async fn public_list(&self, limit: usize) -> Answer<Vec<String>> {
        self.list_public(limit).await
    }

    async fn session_open(&self, token: &TokenHash, greeting: Greeting) -> Answer<Opened> {
        self.open_session(token, greeting).await
    }

    async fn session_create(&self, token: &TokenHash, player_id: &str) -> Answer<Session> {
        self.create_session(token, player_id).await
    }

    async fn session_set(&self, token: &TokenHash, session: &Session) -> Answer<SessionSet> {
        self.set_session(token, session).await
    }

    async fn session_sit(&self, token: &TokenHash, seated: &Seated) -> Answer<()> {
        self.sit_session(token, seated).await
    }

    async fn session_stand(&self, token: &TokenHash, lobby: &str) -> Answer<()> {
        self.stand_session(token, lobby).await
    }

    async fn sessions_read(&self, tokens: &[TokenHash]) -> Answer<Vec<Option<Session>>> {
        self.read_sessions(tokens).await
    }

    async fn session_renew(&self, tokens: &[TokenHash]) -> Answer<Vec<bool>> {
        self.renew_sessions(tokens).await
    }

    async fn session_drop(&self, token: &TokenHash, generation: Generation) -> Answer<bool> {
        self.drop_session(token, generation).await
    }

    async fn sessions_alive(&self, tokens: &[TokenHash]) -> Answer<Vec<bool>> {
        self.living_sessions(tokens).await
    }

    async fn count_create(&self, address: &str) -> Answer<u64> {
        self.count_creates(address).await
    }
}
