//! Plays by sampling: deals the unseen cards again and again as they may lie, tries every sensible move
//! in each of these worlds, plays each out to the end of the round, and takes the move with the most
//! points on average. (Perfect-information Monte Carlo; M. Ginsberg, "GIB: Imperfect information in a
//! computationally challenging game", 2001, describes it for bridge.)

use std::time::Instant;

use chassis::clock;
use protocol::decide::Decide;
use rand::rngs::ChaCha8Rng;
use rules::{Action, Suit};

use super::rollout::Rollout;
use super::round::Round;
use super::world;

/// How much thinking a move may cost.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Worlds that are tried, at most. The same number gives the same move.
    pub worlds: u32,
    /// No further world is begun after this.
    pub until: Instant,
}

/// Worlds after which a glance at the clock is due.
const WORLDS_BETWEEN_GLANCES: u32 = 8;
/// With fewer worlds than this an average says little, and the heuristic is the better choice.
const FEWEST_WORLDS: u32 = 16;

/// The best of the actions by sampling; nothing if there was no time, or nothing to sample from.
pub(super) fn decide(
    request: &Decide,
    actions: &[Action],
    budget: Budget,
    chance: &mut ChaCha8Rng,
) -> Option<Action> {
    if actions.len() <= 1 || budget.worlds == 0 {
        return actions.first().copied().filter(|_| actions.len() == 1);
    }
    let round = Round::of(request)?;
    let mut points = vec![0_i64; actions.len()];
    let mut tried = 0;
    while tried < budget.worlds {
        if tried % WORLDS_BETWEEN_GLANCES == 0 && clock::now() >= budget.until {
            break;
        }
        let hands = world::deal(&round, chance);
        for (action, sum) in actions.iter().zip(&mut points) {
            *sum += i64::from(try_out(&round, hands, *action));
        }
        tried += 1;
    }
    if tried < FEWEST_WORLDS.min(budget.worlds) {
        return None;
    }
    // Of equals the first stays.
    let best = (0..actions.len())
        .rev()
        .max_by_key(|place| points[*place])?;
    Some(actions[best])
}

/// Points that the action brings in this world.
fn try_out(round: &Round, hands: world::Hands, action: Action) -> i32 {
    let seat = round.seat.index();
    match action {
        Action::Bid { value } => {
            let tricks = Rollout::new(round, hands, round.trump)
                .with_bid(round.seat, value)
                .finish();
            Round::points(value, tricks[seat])
        }
        Action::Play { card } => {
            let mut rollout = Rollout::new(round, hands, round.trump);
            rollout.play(card);
            let bid = round.bids[seat].unwrap_or(0);
            Round::points(bid, rollout.finish()[seat])
        }
        Action::ChooseTrump { suit } => best_bid(round, hands, suit),
    }
}

/// What the best bid would bring with this suit as trump, were all cards open.
fn best_bid(round: &Round, hands: world::Hands, suit: Suit) -> i32 {
    let rollout = Rollout::new(round, hands, Some(suit));
    let cards = round.held[round.seat.index()];
    let bring = |bid| {
        Round::points(
            bid,
            rollout.with_bid(round.seat, bid).finish()[round.seat.index()],
        )
    };
    (0..=cards).map(bring).max().unwrap_or(0)
}
