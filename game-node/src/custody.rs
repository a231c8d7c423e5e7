//! Whether this node may show what its lobbies do, and when it gives them up.
//!
//! Pure: times are arguments and decisions come out as data, so that a simulation can drive it. It
//! knows of no socket, no registry and no game; the driver around it does what it says.

mod giving;

pub(crate) use giving::Giving;
