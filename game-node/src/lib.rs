//! The game node: owns lobbies and runs them on one thread.
//!
//! * [`lobby`]: one table as a pure machine, without clock, chance or socket.
//! * `driver`: the loop around all of them: step, commit, and only then show.
//! * `custody`: whether what lobbies do may be shown, and when they are given up; pure.
//! * `store`: its way to the registry. `link`: the WebSockets of gateways and AI nodes.
//! * `ai`: which AI node is asked for a move, and what if it does not answer.
//! * `ready`: tries itself before it says hello. `load`, `health`, `metrics`: for operators.
//!
//! [`run()`] is all of it; a test runs the same.

mod ai;
mod chance;
mod config;
mod custody;
mod driver;
mod health;
mod link;
mod load;
pub mod lobby;
mod metrics;
mod ready;
mod run;
#[cfg(feature = "simulation")]
pub mod simulation;
mod store;

pub use config::Config;
pub use load::{CpuOf, LoadConfig, Thresholds};
pub use run::{Error, run};

/// What a game node is called in the registry.
fn role() -> registry::Role {
    registry::Role::new(protocol::role::GAME).expect("a role is a word")
}
