//! How a player of the load test chooses its moves.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rules::{Action, Observation};

/// Any legal move, each as likely; the same moves for the same seed and states.
///
/// # Panics
/// The choice panics where nothing is legal: it is for the states in which this player acts.
pub fn random_moves(seed: u64) -> impl FnMut(&Observation) -> Action + Send {
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    move |shown| any_of(&shown.own.legal_actions, &mut chance)
}

pub(crate) fn any_of(actions: &[Action], chance: &mut ChaCha8Rng) -> Action {
    actions[chance.random_range(0..actions.len())]
}
