//! How many tricks a hand should take.

use rules::{Action, Card, Suit};

use super::Situation;
use super::sight::Sight;

/// The legal bid nearest to what the hand should take.
pub(super) fn choose(situation: &Situation<'_>) -> Option<Action> {
    let sight = Sight::of(situation);
    let expected = expected_tricks(&sight, leads_first(situation));
    let bids = situation.actions.iter().filter_map(|action| match action {
        Action::Bid { value } => Some(*value),
        _ => None,
    });
    let distance = |bid: u8| (f64::from(bid) - expected).abs();
    let nearest = bids.min_by(|one, other| distance(*one).total_cmp(&distance(*other)))?;
    Some(Action::Bid { value: nearest })
}

/// The suit that the hand would take most tricks with.
pub(super) fn choose_trump(situation: &Situation<'_>) -> Option<Action> {
    let suits = situation.actions.iter().filter_map(|action| match action {
        Action::ChooseTrump { suit } => Some(*suit),
        _ => None,
    });
    let worth = |suit: Suit| expected_tricks(&Sight::with_trump(situation, Some(suit)), false);
    let best = suits.max_by(|one, other| worth(*one).total_cmp(&worth(*other)))?;
    Some(Action::ChooseTrump { suit: best })
}

/// Whether this seat leads the first trick of the round.
fn leads_first(situation: &Situation<'_>) -> bool {
    situation.observation.table.trick.leader == situation.seat
}

/// Tricks that the hand should take: the sum of what each card promises.
fn expected_tricks(sight: &Sight, leads: bool) -> f64 {
    let promised: f64 = sight
        .hand
        .into_iter()
        .map(|card| card_tricks(sight, card, leads))
        .sum();
    let cards = f64::from(sight.hand.len());
    promised.min(cards)
}

fn card_tricks(sight: &Sight, card: Card, leads: bool) -> f64 {
    let cards = f64::from(sight.hand.len());
    match card {
        // Another Wizard may lie before it.
        Card::Wizard(_) => 0.95,
        Card::Jester(_) => 0.0,
        Card::Suited(suit, _) => {
            let others = f64::from(sight.seats.get() - 1);
            let opponents = others / (1.0 + SPENT_ELSEWHERE * (cards - 1.0));
            let holds = sight.holds(card, Some(suit), opponents);
            let follows = if Some(suit) == sight.trump || leads {
                1.0
            } else {
                1.0 - LED_BY_OTHERS / cards
            };
            holds * follows
        }
    }
}

/// With each card more in the hands, a beating card is likelier to be spent on another trick.
const SPENT_ELSEWHERE: f64 = 0.13;

/// A suited card that is no trump takes a trick only where its suit is led: with one card in the hand
/// that is for the leader to say, with more of them one leads oneself now and then.
const LED_BY_OTHERS: f64 = 0.75;
