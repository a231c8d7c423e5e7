//! Players by the thousand over real connections.
//!
//! * [`player`]: one connection, typed, for load and for whole-system tests.
//! * [`checker`]: every state that a seat is sent, against the rules.
//!
//! Nothing here knows how the servers work: it relies on what `docs/protocol.md` promises to programs outside, and ends
//! at the first promise that is broken.

pub mod checker;
pub mod contradiction;
pub mod secrecy;

pub use checker::Checker;
pub use contradiction::Contradiction;
