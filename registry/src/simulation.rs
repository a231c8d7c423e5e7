//! A Redis of a simulation: the same answers as the real one, over a way that a test can break.
//!
//! Everything runs on the runtime of whoever uses it, whose clock may be paused; chance is the process'.
//! Not here: what only the client of the real one does (its pool, its sentinels, its TLS).

mod client;
mod deed;
mod presence;
mod server;
mod wire;

pub use self::client::Spawn;
pub use self::deed::{Deed, DeedKind};
pub use self::server::{Data, Redis};
pub use self::wire::Wire;
