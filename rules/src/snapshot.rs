//! A game as it is kept outside of memory.
//!
//! Small, since it is written after every move: hands aren't in it, they follow from the seed, and
//! the present round is its moves. It holds the seed and hidden bids, so it is for the game's own
//! storage and never for players.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::card::{Card, Suit};
use crate::game::Game;
use crate::options::Options;
use crate::refusal::Refusal;
use crate::seat::SeatCount;
use crate::seed::RevealedSeed;

/// Everything that [`Game::restore`] needs.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    seats: SeatCount,
    options: Options,
    seed: RevealedSeed,
    /// The rounds before the present one.
    finished: Vec<FinishedRound>,
    /// Named by the dealer of the present round.
    trump: Option<Suit>,
    /// Bids of the present round, in the order in which they were made.
    bids: Vec<u8>,
    /// Cards of the present round, in the order in which they were played.
    plays: Vec<Card>,
}

/// One entry a seat.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FinishedRound {
    bids: Vec<u8>,
    tricks: Vec<u8>,
}

impl Game {
    /// The game as it is now.
    pub fn snapshot(&self) -> Snapshot {
        let round = &self.round;
        let named = round.turned.is_some_and(Card::is_wizard);
        let before_present = self.sheet.iter().take_while(|row| row.round < round.number);
        Snapshot {
            seats: self.seats,
            options: self.options,
            seed: RevealedSeed::of(&self.seed),
            finished: before_present
                .map(|row| FinishedRound {
                    bids: row.bids.clone(),
                    tricks: row.tricks.clone(),
                })
                .collect(),
            trump: round.trump.filter(|_| named),
            bids: (1..=self.seats.get())
                .filter_map(|steps| round.bids[self.seats.left_of(round.dealer, steps).index()])
                .collect(),
            plays: round.plays.clone(),
        }
    }

    /// The game of which [`Game::snapshot`] gave this.
    ///
    /// # Errors
    /// No game can have given it.
    pub fn restore(snapshot: Snapshot) -> Result<Game, InvalidSnapshot> {
        let Snapshot {
            seats,
            options,
            seed,
            finished,
            trump,
            bids,
            plays,
        } = snapshot;
        let (mut game, _) = Game::new(seats, options, seed.seed());
        for round in finished {
            game.skip_round(round)?;
        }
        let moves = trump
            .map(|suit| Action::ChooseTrump { suit })
            .into_iter()
            .chain(bids.into_iter().map(|value| Action::Bid { value }))
            .chain(plays.into_iter().map(|card| Action::Play { card }));
        for action in moves {
            let seat = game.to_act().ok_or(InvalidSnapshot::TooLong)?;
            game.apply(seat, action).map_err(InvalidSnapshot::Move)?;
        }
        Ok(game)
    }

    /// Goes on to the next round as if this one had been played with this result.
    fn skip_round(&mut self, result: FinishedRound) -> Result<(), InvalidSnapshot> {
        let FinishedRound { bids, tricks } = result;
        let (seats, cards) = (self.seats.get(), self.cards());
        let taken: u32 = tricks.iter().map(|&taken| u32::from(taken)).sum();
        let possible = bids.len() == usize::from(seats)
            && tricks.len() == usize::from(seats)
            && bids.iter().all(|&bid| bid <= cards)
            && taken == u32::from(cards);
        if !possible {
            return Err(InvalidSnapshot::Result {
                round: self.round(),
            });
        }
        let naming = self.round.turned.is_some_and(Card::is_wizard);
        self.turn += u32::from(naming) + u32::from(seats) * (1 + u32::from(cards));
        self.enter_row(bids, tricks);
        if self.deal_next_round() {
            Ok(())
        } else {
            Err(InvalidSnapshot::TooLong)
        }
    }
}

/// Nothing of a snapshot is for logs.
impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").finish_non_exhaustive()
    }
}

/// A snapshot that no game can have given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSnapshot {
    /// Bids or tricks that can't be.
    #[error("round {round} can't have ended like that")]
    Result {
        /// 1-based.
        round: u8,
    },
    /// More rounds or moves than the game has.
    #[error("more was played than the game has")]
    TooLong,
    /// A move that is against the rules.
    #[error("a move in it is refused: {0}")]
    Move(Refusal),
}
