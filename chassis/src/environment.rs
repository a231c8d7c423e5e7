//! The value types of the configuration: how a text becomes a duration, a limit, a secret.
//!
//! No variable is read here. The program reads them all in one place before it binds a port, and
//! gives each part its plain `Config`.

mod duration;
mod limit;
mod networks;
mod secret;

pub use duration::{InvalidDuration, duration};
pub use limit::{InvalidLimit, Limit};
pub use networks::{InvalidNetwork, Networks};
pub use secret::Secret;
