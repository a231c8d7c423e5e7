//! What a game node can be told from outside.

use std::time::Duration;

use chassis::environment::{Limit, Secret};
use registry::{NodeId, PresenceConfig};

use crate::load::LoadConfig;
use crate::lobby::Pace;

/// The variables of a game node, read and checked by the program.
#[derive(Clone, Debug)]
pub struct Config {
    /// `NODE_ID`, or `game-` and 8 hexadecimal digits drawn at this start.
    pub node_id: NodeId,
    /// `ADVERTISE_ADDR`: host and port where gateways and AI nodes dial this node.
    pub advertise_addr: String,
    /// `GATEWAY_SHARED_SECRET`; empty: every gateway is let in.
    pub gateway_secret: Secret,
    /// `AI_SHARED_SECRET`; empty: every AI node is let in.
    pub ai_secret: Secret,
    /// `HEARTBEAT_INTERVAL` and `PRESENCE_TTL`.
    pub presence: PresenceConfig,
    /// `READY_TIMEOUT`, from the start of the process: the ceiling of the start's self-check.
    pub ready_timeout: Duration,
    /// `DRAIN_TIMEOUT`: how long a node that is told to stop waits for its tables.
    pub drain_timeout: Duration,
    /// `AI_MOVE_DELAY` and `TRICK_PAUSE`.
    pub pace: Pace,
    /// `AI_DECISION_TIMEOUT`: how long an AI may think before a random legal move is made.
    pub ai_decision_timeout: Duration,
    /// `AI_MAX_INFLIGHT`: waiting requests of each AI link.
    pub ai_max_inflight: Limit,
    /// `AI_BREAKER_FAILURES`: so many failures in a row stop asking an AI link …
    pub ai_breaker_failures: u32,
    /// … for `AI_BREAKER_COOLDOWN`.
    pub ai_breaker_cooldown: Duration,
    /// `SESSION_TTL`: who has been away for so long leaves.
    pub session_ttl: Duration,
    /// `MAX_LOBBIES`: tables of this node.
    pub max_lobbies: Limit,
    /// `MAX_ACTIVE_GAMES`: running games of this node.
    pub max_active_games: Limit,
    /// When this node calls itself busy or overloaded.
    pub load: LoadConfig,
}

impl Config {
    /// The defaults of `docs/protocol.md` §4.
    pub fn new(node_id: NodeId, advertise_addr: impl Into<String>) -> Self {
        Self {
            node_id,
            advertise_addr: advertise_addr.into(),
            gateway_secret: Secret::default(),
            ai_secret: Secret::default(),
            presence: PresenceConfig::default(),
            ready_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_mins(1),
            pace: Pace {
                ai_move_delay: Duration::from_millis(800),
                trick_pause: Duration::from_millis(1800),
            },
            ai_decision_timeout: Duration::from_secs(5),
            ai_max_inflight: Limit::at_most(32),
            ai_breaker_failures: 5,
            ai_breaker_cooldown: Duration::from_secs(30),
            session_ttl: Duration::from_mins(30),
            max_lobbies: Limit::at_most(1000),
            max_active_games: Limit::at_most(50),
            load: LoadConfig::default(),
        }
    }
}
