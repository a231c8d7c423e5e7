//! What every process of Wizard has, whichever role it plays: telemetry, readiness, the operations
//! port, shutdown, limiters, and the value types of its configuration.
//!
//! It is not a framework: nothing here calls a role. A role gets a [`Process`] and uses what it
//! needs of it.
//!
//! Invariant: no module names a role, a lobby or a message. Whoever needs one of those here has
//! found code that belongs into a role.

pub mod clock;
pub mod environment;
pub mod limiter;
pub mod metrics;
pub mod operations;
mod process;
pub mod readiness;
mod resource;
pub mod shutdown;
#[cfg(feature = "simulation")]
pub mod simulation;
pub mod supervisor;
pub mod task;
pub mod telemetry;
pub mod trace;

pub use metrics::Metrics;
pub use operations::Operations;
pub use process::Process;
pub use readiness::{Check, Readiness};
pub use shutdown::Shutdown;
pub use supervisor::{Pulse, Supervisor};
