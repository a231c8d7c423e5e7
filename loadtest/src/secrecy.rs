//! Finds what the types of a message would hide: a card in a field that the contract doesn't know.

use std::collections::BTreeSet;

use protocol::Event;
use protocol::server::State;
use rules::Card;

/// A card that is named in the text of a state but stands in no field where a card may be; those fields are checked by
/// the [`crate::Checker`].
///
/// Players called like a card would be taken for one.
pub fn foreign_card(text: &str, state: &State) -> Option<Card> {
    let shown = shown_cards(state);
    cards_in(text)
        .into_iter()
        .find(|card| !shown.contains(card))
}

/// Every card that is named in a text of JSON.
pub fn cards_in(text: &str) -> BTreeSet<Card> {
    let quoted = text.split('"');
    quoted
        .filter(|word| (2..=3).contains(&word.len()))
        .filter_map(|word| word.parse().ok())
        .collect()
}

fn shown_cards(state: &State) -> BTreeSet<Card> {
    let mut cards = BTreeSet::new();
    if let Some(game) = &state.game {
        let shown = &game.observation.observation;
        cards.extend(&shown.own.hand);
        cards.extend(shown.table.trump.card);
        cards.extend(shown.table.trick.plays.iter().map(|play| play.card));
        let last = shown.last_trick.iter().flat_map(|last| &last.plays);
        cards.extend(last.map(|play| play.card));
    }
    for event in &state.events {
        match event {
            Event::Game(rules::Event::RoundStarted { trump_card, .. }) => cards.extend(*trump_card),
            Event::Game(rules::Event::CardPlayed { card, .. }) => {
                cards.insert(*card);
            }
            Event::Game(rules::Event::TrickCompleted { plays, .. }) => {
                cards.extend(plays.iter().map(|play| play.card));
            }
            Event::Game(_) | Event::Table(_) => {}
        }
    }
    cards
}
