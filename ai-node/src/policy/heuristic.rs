//! Plays sensibly by rule of thumb, in microseconds.

use rand::rngs::ChaCha8Rng;
use rules::{Action, Phase};

use super::{Policy, Situation, bid, play};

/// Bids what its hand should take, takes tricks cheaply while it needs them, and ducks when it has
/// what it bid. Draws nothing from chance.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heuristic;

impl Policy for Heuristic {
    fn decide(&self, situation: &Situation<'_>, _chance: &mut ChaCha8Rng) -> Option<Action> {
        let thought = match situation.observation.table.phase {
            Phase::ChooseTrump => bid::choose_trump(situation),
            Phase::Bid => bid::choose(situation),
            Phase::Play => play::choose(situation),
            Phase::Finished => None,
        };
        thought.or_else(|| situation.actions.first().copied())
    }
}
