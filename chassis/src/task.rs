//! Tasks that belong to this process.

/// What a driver hands to `spawn`: it runs as long as this process does.
///
/// Outside of a simulation that is said of every task, and this does nothing.
#[cfg(not(feature = "simulation"))]
pub fn of_this_process<F: Future>(task: F) -> F {
    task
}

#[cfg(feature = "simulation")]
pub use crate::simulation::of_this_process;
