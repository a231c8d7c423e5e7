//! Plays by rule of thumb, and slips as people do.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use rules::{Action, Phase};

use super::{Heuristic, Policy, Situation};

/// The heuristic, with a bid that is one off now and then and a card played without thinking.
#[derive(Clone, Copy, Debug)]
pub struct Slips {
    /// How many of 1 bids are off by one.
    pub misjudged_bids: f64,
    /// How many of 1 cards are any sensible card.
    pub thoughtless_cards: f64,
}

impl Default for Slips {
    fn default() -> Self {
        Self {
            misjudged_bids: 0.3,
            thoughtless_cards: 0.15,
        }
    }
}

impl Policy for Slips {
    fn decide(&self, situation: &Situation<'_>, chance: &mut ChaCha8Rng) -> Option<Action> {
        let thought = Heuristic.decide(situation, chance)?;
        let legal = &situation.actions;
        let slip = match (situation.observation.table.phase, thought) {
            (Phase::Bid, Action::Bid { value }) if chance.random_bool(self.misjudged_bids) => {
                let off = if chance.random_bool(0.5) {
                    value.saturating_sub(1)
                } else {
                    value.saturating_add(1)
                };
                Some(Action::Bid { value: off }).filter(|bid| legal.contains(bid))
            }
            (Phase::Play, _) if chance.random_bool(self.thoughtless_cards) => {
                legal.choose(chance).copied()
            }
            _ => None,
        };
        Some(slip.unwrap_or(thought))
    }
}
