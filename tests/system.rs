//! The whole system: real processes of the program, a real Redis, players over real connections.
//!
//! Every state that a player gets here goes through the load test's checker, so each test also says that all that was
//! shown on the way was right.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/support.rs"]
mod support;

#[path = "system/ai.rs"]
mod ai;
#[path = "system/complete_games.rs"]
mod complete_games;
#[path = "system/faults/faults.rs"]
mod faults;
#[path = "system/front_door.rs"]
mod front_door;
#[path = "system/leaving.rs"]
mod leaving;
#[path = "system/load.rs"]
mod load;
#[path = "system/load_test.rs"]
mod load_test;
#[path = "system/lobbies.rs"]
mod lobbies;
#[path = "system/metrics.rs"]
mod metrics;
#[path = "system/operators.rs"]
mod operators;
#[path = "system/quiet.rs"]
mod quiet;
#[path = "system/readiness.rs"]
mod readiness;
#[path = "system/refusals.rs"]
mod refusals;
#[path = "system/room.rs"]
mod room;
#[path = "system/secrecy.rs"]
mod secrecy;
#[path = "system/sessions.rs"]
mod sessions;
#[path = "system/start.rs"]
mod start;
#[path = "system/stopping.rs"]
mod stopping;
#[path = "system/systemd.rs"]
mod systemd;
#[path = "system/telemetry.rs"]
mod telemetry;
