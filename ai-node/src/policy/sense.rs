//! What no player of any level would do: the actions that are left when these are taken away.
//!
//! * Nobody bids less than the tricks that no deal can take from them, unless the bid rule forbids
//!   all that they could bid instead.
//! * Nobody who needs all tricks that are left leads a card that others can beat while holding one
//!   that they can't.

use rules::{Action, Card, CardSet, Phase};

use super::sight::Sight;
use super::{Situation, play};

/// The sensible ones among the situation's actions; all of them if none is.
pub(super) fn sensible(situation: &Situation<'_>) -> Vec<Action> {
    let table = &situation.observation.table;
    match table.phase {
        Phase::Bid => keep(situation, |action| match action {
            Action::Bid { value } => *value >= sure_tricks(situation),
            _ => true,
        }),
        Phase::Play if table.trick.plays.is_empty() && play::needs_all(situation) => {
            let sight = Sight::of(situation);
            keep(situation, |action| match action {
                Action::Play { card } => sight.nothing_beats(*card),
                _ => true,
            })
        }
        _ => situation.actions.clone(),
    }
}

fn keep(situation: &Situation<'_>, is_sensible: impl Fn(&Action) -> bool) -> Vec<Action> {
    let kept: Vec<Action> = situation
        .actions
        .iter()
        .copied()
        .filter(is_sensible)
        .collect();
    if kept.is_empty() {
        situation.actions.clone()
    } else {
        kept
    }
}

/// Tricks that the seat takes before the first card is played, however the other cards lie and
/// whatever the others do.
///
/// A Wizard takes each trick to which no other Wizard was played before. Whoever leads plays theirs
/// one after the other. Whoever does not, can be kept from it only while another Wizard lies: at most
/// as often as others have one, and each time any other card can be played instead, for as long as
/// there is one. Cards that only a Wizard beats (the highest trumps in a row) lose one trick to each
/// Wizard of the others at most.
pub(super) fn sure_tricks(situation: &Situation<'_>) -> u8 {
    let sight = Sight::of(situation);
    let cards = sight.hand.len();
    let wizards = count(sight.hand, Card::is_wizard);
    let wizards_elsewhere = count(sight.unseen, Card::is_wizard);
    let leads = situation.observation.table.trick.leader == situation.seat;
    let by_wizards = if leads {
        wizards
    } else {
        wizards.min(cards.saturating_sub(wizards_elsewhere))
    };
    let only_wizards_beat = count(sight.hand, |card| {
        card.is_wizard() || sight.is_top_trump(card)
    });
    let by_rank = only_wizards_beat.saturating_sub(wizards_elsewhere);
    u8::try_from(by_wizards.max(by_rank)).unwrap_or(u8::MAX)
}

fn count(cards: CardSet, is: impl Fn(Card) -> bool) -> u32 {
    cards.into_iter().map(|card| u32::from(is(card))).sum()
}
