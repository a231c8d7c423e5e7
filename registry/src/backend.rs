//! What both back ends can do. The conformance suite in `tests/` holds them to the same answers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;

use crate::health::HealthCell;
use crate::lobby::{
    Claim, Claimed, Commit, Committed, Create, Created, Delete, Deleted, Record, Release, Released,
    Touch, Touched,
};
use crate::presence::{Beat, Heard, Listing, Message, Presence};
use crate::session::{Greeting, Opened, Seated, Session, SessionSet};
use crate::{Generation, NodeId, RegistryError, TokenHash};

pub(crate) type Answer<T> = Result<T, RegistryError>;

/// Lobbies, sessions, limits and what operators ask: anything that a runtime's tasks call.
#[async_trait]
pub(crate) trait Backend: Send + Sync {
    fn health_cell(&self) -> Arc<HealthCell>;
    /// The registry's clock in epoch ms, as far as it is known here.
    fn now_ms(&self) -> Option<u64>;
    async fn probe(&self) -> Answer<()>;

    fn heartbeats(&self) -> Box<dyn Heartbeats>;
    fn subscriber(&self, own: NodeId) -> Box<dyn Subscriber>;
    async fn list(&self) -> Answer<Listing>;
    async fn publish(&self, message: &Message) -> Answer<()>;

    async fn create(&self, create: &Create) -> Answer<Created>;
    async fn commit(&self, commits: &[Commit]) -> Vec<Answer<Committed>>;
    async fn claim(&self, claim: &Claim) -> Answer<Claimed>;
    async fn touch(&self, touches: &[Touch]) -> Vec<Answer<Touched>>;
    async fn release(&self, release: &Release) -> Answer<Released>;
    async fn delete(&self, delete: &Delete) -> Answer<Deleted>;
    async fn owner(&self, code: &str) -> Answer<Option<Record>>;

    async fn public_add(&self, codes: &[String]) -> Answer<()>;
    async fn public_remove(&self, code: &str) -> Answer<()>;
    async fn public_list(&self, limit: usize) -> Answer<Vec<String>>;

    async fn session_open(&self, token: &TokenHash, greeting: Greeting) -> Answer<Opened>;
    async fn session_create(&self, token: &TokenHash, player_id: &str) -> Answer<Session>;
    async fn session_set(&self, token: &TokenHash, session: &Session) -> Answer<SessionSet>;
    async fn session_sit(&self, token: &TokenHash, seated: &Seated) -> Answer<()>;
    async fn session_stand(&self, token: &TokenHash, lobby: &str) -> Answer<()>;
    async fn sessions_read(&self, tokens: &[TokenHash]) -> Answer<Vec<Option<Session>>>;
    async fn session_renew(&self, tokens: &[TokenHash]) -> Answer<Vec<bool>>;
    async fn session_drop(&self, token: &TokenHash, generation: Generation) -> Answer<bool>;
    async fn sessions_alive(&self, tokens: &[TokenHash]) -> Answer<Vec<bool>>;

    async fn count_create(&self, address: &str) -> Answer<u64>;

    /// Runs the presence on a thread of its own: no lobby, however busy, delays a heartbeat.
    fn run_presence(&self, keeping: BoxFuture<'static, ()>) -> Answer<()> {
        let unavailable = |error: std::io::Error| RegistryError::Unavailable(error.to_string());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(unavailable)?;
        thread::Builder::new()
            .name("presence".to_owned())
            .spawn(move || runtime.block_on(keeping))
            .map_err(unavailable)?;
        Ok(())
    }
}

/// The heartbeat's own way to the registry, used by the presence thread alone. A failed call
/// leaves it able to try again.
#[async_trait]
pub(crate) trait Heartbeats: Send {
    /// Writes the own presence unless a later run has the id, trims what has lapsed, lists.
    async fn beat(&mut self, own: &Presence, ttl: Duration) -> Answer<Beat>;
    /// Lists without writing anything.
    async fn list(&mut self) -> Answer<Listing>;
    /// Reads some, but for those whose revision given has been read before.
    async fn fetch(&mut self, ids: &BTreeMap<NodeId, Option<String>>) -> Answer<Vec<Presence>>;
    async fn publish(&mut self, message: &Message) -> Answer<()>;
    /// Publishes to the own channel; fails also where nothing could be written.
    async fn probe(&mut self, own: &NodeId) -> Answer<()>;
    /// Deletes the own presence unless a later run has the id.
    async fn depart(&mut self, own: &Presence) -> Answer<()>;
}

/// Makes subscriptions, one at a time.
#[async_trait]
pub(crate) trait Subscriber: Send {
    /// A new subscription; the channel closes when it has ended.
    async fn subscribe(&mut self) -> Answer<mpsc::Receiver<Heard>>;
}
