//! What an AI node is told at its start.

use std::num::NonZeroUsize;
use std::time::Duration;

use chassis::environment::Secret;
use registry::{NodeId, PresenceConfig};

/// The configuration of one AI node; the program reads it from the environment.
#[derive(Clone, Debug)]
pub struct Config {
    /// Its id in the registry (`NODE_ID`).
    pub node_id: NodeId,
    /// What game nodes want to see (`AI_SHARED_SECRET`); empty: nothing.
    pub secret: Secret,
    /// Threads that decide (`AI_WORKERS`).
    pub workers: NonZeroUsize,
    /// Requests that may wait for one of them (`AI_QUEUE`).
    pub queue: NonZeroUsize,
    /// Heartbeats (`HEARTBEAT_INTERVAL`, `PRESENCE_TTL`).
    pub presence: PresenceConfig,
    /// Ceiling of a start's self-check, from the start of the process (`READY_TIMEOUT`): then it is
    /// said what is missing, and tried on.
    pub ready_timeout: Duration,
    /// How long a stop may take (`DRAIN_TIMEOUT`).
    pub drain_timeout: Duration,
}
