//! Plays by sampling: deals the unseen cards again and again as they may lie, tries every sensible move
//! in each of these worlds, plays each out to the end of the round, and takes the move with the most
//! points on average. (Perfect-information Monte Carlo; M. Ginsberg, "GIB: Imperfect information in a
//! computationally challenging game", 2001, describes it for bridge.) Moves that do badly in the first
//! worlds are not tried in all of them. (Z. Karnin et al., "Almost optimal exploration in multi-armed
//! bandits", 2013.)

use std::time::Instant;

use chassis::clock;
use protocol::decide::Decide;
use rand::rngs::ChaCha8Rng;
use rules::{Action, Card, Suit};

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
/// So many are never too few to go on with.
const FEWEST_TRIALS: usize = 2;

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
    let mut trials = Trial::all(&round, actions);
    let mut worlds = 0;
    while worlds < budget.worlds {
        if worlds % WORLDS_BETWEEN_GLANCES == 0 && clock::now() >= budget.until {
            break;
        }
        if worlds >= FEWEST_WORLDS && worlds.is_power_of_two() {
            drop_the_worse_half(&mut trials);
        }
        let hands = world::deal(&round, chance);
        try_out(&round, &hands, &mut trials);
        worlds += 1;
    }
    if worlds < FEWEST_WORLDS.min(budget.worlds) {
        return None;
    }
    // Of equals the first stays.
    let best = trials.iter().rev().max_by_key(|trial| trial.points)?;
    Some(best.action)
}

/// Something that may be done, and what it has brought so far.
struct Trial {
    action: Action,
    /// What is done: who names the trump bids at once, with the same cards in sight.
    step: Step,
    points: i64,
}

#[derive(Clone, Copy)]
enum Step {
    Trump(Suit, u8),
    Bid(u8),
    Play(Card),
}

impl Trial {
    fn all(round: &Round, actions: &[Action]) -> Vec<Self> {
        let most = round.held[round.seat.index()];
        let mut trials = Vec::with_capacity(actions.len());
        for action in actions {
            let mut add = |step| {
                trials.push(Self {
                    action: *action,
                    step,
                    points: 0,
                });
            };
            match *action {
                Action::Bid { value } => add(Step::Bid(value)),
                Action::Play { card } => add(Step::Play(card)),
                Action::ChooseTrump { suit } => {
                    (0..=most).for_each(|bid| add(Step::Trump(suit, bid)));
                }
            }
        }
        trials
    }
}

fn drop_the_worse_half(trials: &mut Vec<Trial>) {
    let kept = trials.len().div_ceil(2).max(FEWEST_TRIALS);
    // Stable, so that of equals the first stays.
    trials.sort_by_key(|trial| std::cmp::Reverse(trial.points));
    trials.truncate(kept);
}

/// Adds the points that each trial brings in this world.
fn try_out(round: &Round, hands: &world::Hands, trials: &mut [Trial]) {
    let mut trump = round.trump;
    let mut start = Rollout::new(round, hands, trump);
    for trial in trials {
        let rollout = match trial.step {
            Step::Bid(value) => start.with_bid(round.seat, value),
            Step::Play(card) => start.with_card(card),
            Step::Trump(suit, bid) => {
                if trump != Some(suit) {
                    trump = Some(suit);
                    start = Rollout::new(round, hands, trump);
                }
                start.with_bid(round.seat, bid)
            }
        };
        trial.points += i64::from(rollout.points(round.seat));
    }
}
