//! Short ways to write cards, seats and games down.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rules::{Action, Card, Event, Game, Options, OptionsPatch, Phase, Seat, SeatCount, Seed};

/// `"B2 R5 W1"`.
pub(crate) fn cards(text: &str) -> Vec<Card> {
    text.split_whitespace()
        .map(|card| card.parse().unwrap())
        .collect()
}

pub(crate) fn seat(index: u8) -> Seat {
    Seat::new(index).unwrap()
}

pub(crate) fn seats(count: u8) -> SeatCount {
    SeatCount::new(count).unwrap()
}

pub(crate) fn play(card: Card) -> Action {
    Action::Play { card }
}

pub(crate) fn bid(value: u8) -> Action {
    Action::Bid { value }
}

pub(crate) fn options(patch: OptionsPatch) -> Options {
    Options::default().with(patch).unwrap()
}

/// Seeds without end, always the same.
pub(crate) fn seeds() -> impl Iterator<Item = Seed> {
    (0u64..).map(|number| {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        Seed::new(bytes)
    })
}

/// A new game for which this holds.
pub(crate) fn game_where(count: u8, options: Options, holds: impl Fn(&Game) -> bool) -> Game {
    seeds()
        .map(|seed| Game::new(seats(count), options, seed).0)
        .find(holds)
        .unwrap()
}

/// Makes this move for whoever is to act.
pub(crate) fn act(game: &mut Game, action: Action) -> Vec<Event> {
    game.apply(game.to_act().unwrap(), action).unwrap()
}

/// Makes first legal moves until this holds, and gives the events of the last move.
pub(crate) fn advance_until(game: &mut Game, holds: impl Fn(&Game) -> bool) -> Vec<Event> {
    let mut events = Vec::new();
    while !holds(game) {
        let action = game.legal_moves(game.to_act().unwrap()).next().unwrap();
        events = act(game, action);
    }
    events
}

/// To the first bid of this round.
pub(crate) fn advance_to_bids(game: &mut Game, round: u8) {
    advance_until(game, |game| {
        game.round() == round && game.phase() == Phase::Bid
    });
}

/// Random legal moves, the same for the same number.
pub(crate) struct Chance(ChaCha8Rng);

impl Chance {
    pub(crate) fn new(number: u64) -> Chance {
        Chance(ChaCha8Rng::seed_from_u64(number))
    }

    /// For whoever is to act; None when the game has finished.
    pub(crate) fn legal_move(&mut self, game: &Game) -> Option<(Seat, Action)> {
        let seat = game.to_act()?;
        let mut moves = game.legal_moves(seat);
        let chosen = self.0.random_range(0..moves.len());
        Some((seat, moves.nth(chosen).unwrap()))
    }

    /// Anything that can be sent by anybody.
    pub(crate) fn any_move(&mut self) -> (Seat, Action) {
        let action = match self.0.random_range(0..3) {
            0 => Action::ChooseTrump {
                suit: rules::Suit::ALL[self.0.random_range(0..4)],
            },
            1 => bid(self.0.random_range(0..=22)),
            _ => play(Card::ALL[self.0.random_range(0..60)]),
        };
        (seat(self.0.random_range(0..6)), action)
    }
}
