//! The game node: owns lobbies and runs them on one thread.
//!
//! [`lobby`] is the game's table as a pure machine.

mod config;
pub mod lobby;

pub use config::Config;
