//! Players by the thousand over real connections.
//!
//! * [`player`]: one connection, typed, for load and for whole-system tests.
//! * [`checker`]: every state that a seat is sent, against the rules. [`agreement`]: what the seats of a table are sent,
//!   against each other.
//! * [`run()`]: many tables at once, until the time is over or a promise is broken; [`Run`] can be watched meanwhile.
//!
//! Nothing here knows how the servers work: it relies on what `docs/protocol.md` promises to programs outside, and ends
//! at the first promise that is broken.

pub mod agreement;
pub mod checker;
pub mod contradiction;
pub mod player;
mod report;
mod run;
pub mod secrecy;
pub mod strategy;
mod table;

pub use agreement::Agreement;
pub use checker::Checker;
pub use contradiction::Contradiction;
pub use player::{Player, PlayerError};
pub use report::Report;
pub use run::{Config, Fault, Pause, Run, run};
