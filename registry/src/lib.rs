//! Presence, ownership and sessions: in Redis, or in this process.
//!
//! One interface, [`Registry`], over two back ends that give the same answers. It knows neither
//! the game's rules nor any player's socket, and depends on nothing else of this project.
//!
//! - **Presence** ([`Membership`]): every process says what it is and how it does; all others
//!   know within 300 ms of a clean start or stop, within 20 s of a crash.
//! - **Ownership and saved state** ([`lobby`]): one fenced record a lobby. Only its owner at the
//!   present epoch can write it.
//! - **Sessions** ([`Session`]): who a token stands for.
//!
//! Whoever can read the registry can read what lobbies save, hands and seeds included.

mod backend;
mod backoff;
mod error;
mod health;
mod id;
mod in_process;
pub mod lobby;
mod metrics;
mod presence;
mod redis;
mod registry;
mod session;
#[cfg(feature = "simulation")]
pub mod simulation;

pub use error::RegistryError;
pub use health::Health;
pub use id::{Born, Epoch, Generation, Incarnation, NodeId, Role, Seq, TokenHash};
pub use lobby::{
    Claim, Claimed, Commit, Committed, Create, Created, Delete, Deleted, Handed, Lifetime, Owner,
    Record, Release, Released, Touch, Touched,
};
pub use presence::{
    Event, Events, LeftReason, Load, Membership, Moved, Observer, Presence, PresenceChecks,
    PresenceConfig, Servers, State,
};
pub use redis::RedisConfig;
pub use registry::{Kind, Lifetimes, Registry};
pub use session::{Greeting, Opened, Seated, Session, SessionOpened, SessionSet};
