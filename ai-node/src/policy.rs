//! Which move to make.
//!
//! A policy sees a [`Situation`], which is what one seat may see, and nothing else: no hand of
//! another, no time, no network. The same situation and the same chance give the same move.

mod bid;
mod heuristic;
mod layout;
mod monte_carlo;
mod play;
mod rollout;
mod round;
mod sense;
mod sight;
mod slips;
mod world;

use protocol::decide::Decide;
use protocol::lobby::AiLevel;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rules::{Action, Card, CardSet, Observation, Seat};

pub use heuristic::Heuristic;
pub use monte_carlo::Budget;
pub use slips::Slips;

/// All that a policy may know.
#[derive(Clone, Debug)]
pub struct Situation<'a> {
    /// Who must move.
    pub seat: Seat,
    /// What that seat sees.
    pub observation: &'a Observation,
    /// What it may do, without what nobody would.
    pub actions: Vec<Action>,
    /// Cards that are neither in the own hand nor have been seen in this round.
    pub unseen: CardSet,
}

impl<'a> Situation<'a> {
    /// What the request's seat knows.
    pub fn of(request: &'a Decide) -> Self {
        let observation = &request.observation;
        let mut unseen: CardSet = Card::ALL.into_iter().collect();
        let seen = observation
            .own
            .hand
            .iter()
            .chain(&request.plays)
            .chain(&observation.table.trump.card);
        seen.for_each(|card| unseen.remove(*card));
        let actions = observation.own.legal_actions.clone();
        let mut situation = Self {
            seat: request.seat,
            observation,
            actions,
            unseen,
        };
        situation.actions = sense::sensible(&situation);
        situation
    }
}

/// A way to play.
pub trait Policy: Send + Sync {
    /// One of the situation's actions; nothing only if there is none.
    fn decide(&self, situation: &Situation<'_>, chance: &mut ChaCha8Rng) -> Option<Action>;
}

/// Decides a request by the policy of its level. When the budget gives no time to sample, the
/// heuristic takes its place.
///
/// Chance is drawn from the request's id, so that a request decides the same wherever it is asked.
pub fn decide(request: &Decide, budget: Budget) -> Option<Action> {
    decide_by(request, budget).map(|(action, _)| action)
}

/// The same, with the name of the policy that has decided.
pub(crate) fn decide_by(request: &Decide, budget: Budget) -> Option<(Action, &'static str)> {
    let mut chance = ChaCha8Rng::seed_from_u64(request.request_id.as_u64_pair().0);
    let situation = Situation::of(request);
    let sampled = match request.level {
        AiLevel::Hard => monte_carlo::decide(request, &situation.actions, budget, &mut chance),
        AiLevel::Normal | AiLevel::Easy => None,
    };
    let (action, policy) = match (request.level, sampled) {
        (_, Some(action)) => (action, "monte_carlo"),
        (AiLevel::Easy, None) => (Slips::default().decide(&situation, &mut chance)?, "slips"),
        (AiLevel::Normal | AiLevel::Hard, None) => {
            (Heuristic.decide(&situation, &mut chance)?, "heuristic")
        }
    };
    debug_assert!(
        request.observation.own.legal_actions.contains(&action),
        "{action:?}"
    );
    Some((action, policy))
}

#[cfg(test)]
mod tests;
