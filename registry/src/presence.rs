//! Who is there: what each process says about itself, and how the others learn of it.
//!
//! A [`Membership`] runs on a thread of its own and keeps a local snapshot; reading it never
//! waits for Redis.

mod events;
mod keeper;
mod listener;
mod membership;
mod message;
mod observer;
mod roster;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use events::{Event, Events, LeftReason};
pub(crate) use membership::Shared;
pub use membership::{Membership, PresenceChecks};
pub(crate) use message::{Farewell, Heard, Message, Who};
pub use observer::Observer;

use crate::{Incarnation, NodeId, RegistryError, Role};

/// What a process says about itself; also the operators' JSON. Times are epoch milliseconds of
/// Redis' clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presence {
    /// Which process.
    pub id: NodeId,
    /// What it does.
    pub role: Role,
    /// Which run of it.
    pub incarnation: Incarnation,
    /// Where links connect; of a gateway its players' address, of an AI node empty.
    pub address: String,
    /// Where it is in its life.
    pub state: State,
    /// Whether it has reached itself by its address.
    pub verified: bool,
    /// Why not, or whatever else operators should know.
    pub why: Option<String>,
    /// How loaded it is.
    pub load: Load,
    /// Whether it wants new games.
    pub accepting_games: bool,
    /// Players with a seat here, or connections of a gateway.
    pub players: u32,
    /// Lobbies here.
    pub lobbies: u32,
    /// Games that are being played here.
    pub active_games: u32,
    /// The program's version.
    pub version: String,
    /// Lobbies that show nothing new because they can't be committed.
    pub suspended: u32,
    /// Lobbies that go on without being committed.
    pub uncommitted: u32,
    /// Lobbies handed to other nodes since the start.
    pub handed_over: u64,
    /// Lobbies taken over since the start.
    pub taken_over: u64,
    /// Of those handed to others, the last that went together.
    #[serde(default)]
    pub last_handed_over: Option<Moved>,
    /// Of those taken over, the last that came together.
    #[serde(default)]
    pub last_taken_over: Option<Moved>,
    /// When this run wrote its first heartbeat; 0 until then. Later means newer.
    pub started_at: u64,
    /// Its last heartbeat.
    pub last_seen: u64,
}

impl Presence {
    /// A process that has just started: `starting`, verified, accepting nothing.
    pub fn new(
        id: NodeId,
        role: Role,
        incarnation: Incarnation,
        address: impl Into<String>,
        version: impl Into<String>,
    ) -> Self {
        Self {
            id,
            role,
            incarnation,
            address: address.into(),
            state: State::Starting,
            verified: true,
            why: None,
            load: Load::Normal,
            accepting_games: false,
            players: 0,
            lobbies: 0,
            active_games: 0,
            version: version.into(),
            suspended: 0,
            uncommitted: 0,
            handed_over: 0,
            taken_over: 0,
            last_handed_over: None,
            last_taken_over: None,
            started_at: 0,
            last_seen: 0,
        }
    }

    /// Whether `self` is a later run than `other` under the same id.
    pub(crate) fn replaces(&self, other: &Self) -> bool {
        self.incarnation != other.incarnation && self.started_at > other.started_at
    }

    /// Whether the two differ in more than the time of the last heartbeat.
    pub(crate) fn differs_from(&self, other: &Self) -> bool {
        let mut same_age = self.clone();
        same_age.last_seen = other.last_seen;
        same_age != *other
    }

    /// Whether the others should know at once, not at the next heartbeat.
    pub(crate) fn is_news_after(&self, before: &Self) -> bool {
        let news = |presence: &Self| {
            (
                presence.state,
                presence.load,
                presence.accepting_games,
                presence.verified,
                presence.why.clone(),
                presence.address.clone(),
                // Those that follow soon after can wait.
                presence.last_handed_over.as_ref().map(|moved| moved.at),
                presence.last_taken_over.as_ref().map(|moved| moved.at),
            )
        };
        news(self) != news(before)
    }
}

/// Lobbies that have changed their owner for the same reason, each soon after the one before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// When the first of them did.
    pub at: u64,
    /// In one word.
    pub why: String,
    /// How many.
    pub lobbies: u32,
    /// The longest that one of them took, in ms.
    pub longest_ms: u64,
}

/// Where a process is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is still trying what its users will do.
    Starting,
    /// It can serve.
    Ready,
    /// It lives, but the thread that serves has not run for some seconds.
    Stalled,
    /// It takes nothing new and will leave.
    Draining,
}

/// How loaded a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// There is room.
    Normal,
    /// Better somewhere else.
    Busy,
    /// No new work at all.
    Overloaded,
}

/// How presence is kept.
#[derive(Clone, Debug)]
pub struct PresenceConfig {
    /// Between two heartbeats.
    pub heartbeat_interval: Duration,
    /// Between two probes: how soon it is known that the registry is away. At most a second, since
    /// without three of them a new subscription is made.
    pub probe_interval: Duration,
    /// A process whose heartbeat is older is gone.
    pub ttl: Duration,
    /// A watched thread that has not run for so long makes its process `stalled`.
    pub stall_after: Duration,
}

impl Default for PresenceConfig {
    fn default() -> Self {
        Self {
            heartbeat_interval: Duration::from_secs(5),
            probe_interval: Duration::from_secs(1),
            ttl: Duration::from_secs(15),
            stall_after: Duration::from_secs(5),
        }
    }
}

impl PresenceConfig {
    /// The longest time between two heartbeats: crashes must be known within 20 s.
    pub const MAX_HEARTBEAT_INTERVAL: Duration = Duration::from_secs(5);

    /// Whether these times fit each other.
    ///
    /// # Errors
    /// [`RegistryError::InvalidConfig`] names the variable that does not.
    pub fn check(&self) -> Result<(), RegistryError> {
        let invalid = |setting, why: &str| {
            Err(RegistryError::InvalidConfig {
                setting,
                why: why.to_owned(),
            })
        };
        if self.heartbeat_interval.is_zero()
            || self.heartbeat_interval > Self::MAX_HEARTBEAT_INTERVAL
        {
            return invalid("HEARTBEAT_INTERVAL", "must be above zero and at most 5s");
        }
        if self.ttl < self.heartbeat_interval * 3 {
            return invalid("PRESENCE_TTL", "must be at least three HEARTBEAT_INTERVALs");
        }
        Ok(())
    }
}

/// A list of processes that costs nothing to pass on.
pub type Servers = Arc<[Arc<Presence>]>;

/// Everybody whose heartbeat has not lapsed, with the registry's time of the reading.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    pub(crate) now_ms: u64,
    pub(crate) servers: Vec<Presence>,
}

/// What a heartbeat brought back.
#[derive(Clone, Debug)]
pub(crate) struct Beat {
    /// The start of this run as the registry knows it; nothing if a later run has the id.
    pub(crate) started_at: Option<u64>,
    /// The registry held an entry of this id: nobody can have missed it.
    pub(crate) was_listed: bool,
    pub(crate) listing: Listing,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use uuid::Uuid;

    pub(crate) fn presence(id: &str, run: u128, started_at: u64) -> Presence {
        let mut presence = Presence::new(
            NodeId::new(id).expect("a valid id"),
            Role::new("game").expect("a valid role"),
            Incarnation::new(Uuid::from_u128(run)),
            "127.0.0.1:7000",
            "1.0.0",
        );
        presence.started_at = started_at;
        presence
    }

    #[test]
    fn counts_wait_for_the_heartbeat_and_states_do_not() {
        let before = presence("a", 1, 1);
        let mut after = before.clone();
        after.players = 5;
        assert!(!after.is_news_after(&before));
        assert!(after.differs_from(&before));
        after.accepting_games = true;
        assert!(after.is_news_after(&before));
    }

    #[test]
    fn settings_that_would_lose_members_are_refused() {
        let check = |interval, ttl| {
            PresenceConfig {
                heartbeat_interval: Duration::from_millis(interval),
                ttl: Duration::from_millis(ttl),
                ..PresenceConfig::default()
            }
            .check()
            .err()
            .map(|error| error.to_string())
        };
        assert_eq!(check(5_000, 15_000), None);
        assert!(check(5_001, 30_000).is_some_and(|error| error.starts_with("HEARTBEAT_INTERVAL")));
        assert!(check(0, 30_000).is_some_and(|error| error.starts_with("HEARTBEAT_INTERVAL")));
        assert!(check(5_000, 14_999).is_some_and(|error| error.starts_with("PRESENCE_TTL")));
    }
}
