//! Whether this node may show what its lobbies do, and when it gives them up.
//!
//! Pure: times are arguments and decisions come out as data, so that a simulation can drive it. It
//! knows of no socket, no registry and no game; the driver around it does what it says.
//!
//! * [`Custody`]: the whole node, by how its commits fare and what the gateways say.
//! * [`Doubt`]: one lobby whose ownership may have ended unnoticed.
//! * [`Giving`]: one lobby on its way out.

mod doubt;
mod giving;
mod mode;
#[cfg(test)]
mod tests;

pub(crate) use doubt::{Doubt, Said, Verdict};
pub(crate) use giving::Giving;
pub(crate) use mode::{Custody, Mode, Order};
