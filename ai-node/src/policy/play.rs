//! Which card to play.

use rules::{Action, Card, Trick};

use super::Situation;
use super::sight::Sight;

/// A card that is likelier than this to keep the trick is played for it.
const GOOD_CHANCE: f64 = 0.5;

/// The card that brings the tricks taken nearest to the bid.
pub(super) fn choose(situation: &Situation<'_>) -> Option<Action> {
    let sight = Sight::of(situation);
    let trick = sight.trick(situation);
    let choices: Vec<Choice> = situation
        .actions
        .iter()
        .filter_map(|action| match action {
            Action::Play { card } => Some(Choice::of(&sight, &trick, *card, situation)),
            _ => None,
        })
        .collect();
    let needed = tricks_needed(situation);
    let chosen = if needed <= 0 {
        duck(&choices)
    } else if needs_all(situation) {
        take_surely(&choices)
    } else {
        take_cheaply(&choices)
    };
    chosen.map(|choice| Action::Play { card: choice.card })
}

/// Whether every trick that is left is needed.
pub(super) fn needs_all(situation: &Situation<'_>) -> bool {
    let left = i32::try_from(situation.observation.own.hand.len()).unwrap_or(i32::MAX);
    left > 0 && tricks_needed(situation) >= left
}

/// Tricks between what was bid and what was taken; below zero when there are too many already.
fn tricks_needed(situation: &Situation<'_>) -> i32 {
    let seat = situation.seat.index();
    let bid = situation
        .observation
        .own
        .bids
        .get(seat)
        .copied()
        .flatten()
        .unwrap_or(0);
    let taken = situation
        .observation
        .table
        .tricks
        .get(seat)
        .copied()
        .unwrap_or(0);
    i32::from(bid) - i32::from(taken)
}

#[derive(Debug)]
struct Choice {
    card: Card,
    /// The chance to take this trick with it.
    chance: f64,
    strength: u8,
}

impl Choice {
    fn of(sight: &Sight, trick: &Trick, card: Card, situation: &Situation<'_>) -> Self {
        let played = u8::try_from(trick.plays().count()).unwrap_or(u8::MAX);
        let to_come = sight.seats.get().saturating_sub(played + 1);
        let chance = if sight.wins_now(trick, card, situation.seat) {
            let led = trick.led().or(card.suit());
            // Alone with Jesters so far: whoever comes next wins with anything else.
            sight.holds(card, led, f64::from(to_come))
        } else {
            0.0
        };
        // The last to play wins with whatever lies highest, a Jester among Jesters included.
        let sure = to_come == 0 && sight.wins_now(trick, card, situation.seat);
        Self {
            card,
            chance: if sure { 1.0 } else { chance },
            strength: sight.strength(card),
        }
    }
}

/// No trick is wanted: the strongest card that surely loses goes; else the one likeliest to lose.
fn duck(choices: &[Choice]) -> Option<&Choice> {
    let loses = choices.iter().filter(|choice| choice.chance == 0.0);
    let unlikeliest = || {
        choices
            .iter()
            .min_by(|one, other| one.chance.total_cmp(&other.chance))
    };
    // A trick that must be taken is taken with the card that would have taken another.
    let must_win = choices.iter().all(|choice| choice.chance >= 1.0);
    if must_win {
        return choices.iter().max_by_key(|choice| choice.strength);
    }
    loses
        .max_by_key(|choice| choice.strength)
        .or_else(unlikeliest)
}

/// Every trick that is left is needed.
fn take_surely(choices: &[Choice]) -> Option<&Choice> {
    let best = choices
        .iter()
        .map(|choice| choice.chance)
        .fold(0.0, f64::max);
    if best == 0.0 {
        return cheapest(choices.iter());
    }
    cheapest(choices.iter().filter(|choice| choice.chance >= best))
}

/// Some tricks are needed: this one if it comes cheap, else the weakest card goes.
fn take_cheaply(choices: &[Choice]) -> Option<&Choice> {
    cheapest(choices.iter().filter(|choice| choice.chance >= GOOD_CHANCE))
        .or_else(|| cheapest(choices.iter()))
}

fn cheapest<'a>(choices: impl Iterator<Item = &'a Choice>) -> Option<&'a Choice> {
    choices.min_by_key(|choice| choice.strength)
}
