//! What one seat has seen of a game, kept until the seed is shown; then the game is played again.

use std::collections::BTreeMap;

use rules::deal::first_dealer;
use rules::{
    Action, Card, CardSet, Deal, DealCommitment, Game, Observation, Options, RevealedSeed, Seat,
    SeatCount,
};

use crate::contradiction::{Contradiction, ensure, same};

/// An accepted action and whose it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Who acted.
    pub seat: Seat,
    /// What they did.
    pub action: Action,
}

/// How a round began for one seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SeenDeal {
    pub(super) round: u8,
    pub(super) cards: u8,
    pub(super) dealer: Seat,
    pub(super) turned: Option<Card>,
    /// What this seat was dealt; None for a spectator, and for who came later.
    pub(super) hand: Option<CardSet>,
}

/// One game from one seat.
#[derive(Clone, Debug)]
pub struct Record {
    pub(super) seats: SeatCount,
    pub(super) options: Options,
    pub(super) commitment: DealCommitment,
    pub(super) you: Option<Seat>,
    /// By turn; None where this seat missed it.
    pub(super) moves: Vec<Option<Move>>,
    pub(super) deals: Vec<SeenDeal>,
    /// Own moves, by turn, whose effect this seat has been shown: they must never be lost.
    pub(super) acknowledged: BTreeMap<u32, Action>,
    /// The last picture of the game, once it has finished.
    pub(super) end: Option<(RevealedSeed, Observation)>,
}

impl Record {
    /// The moves so far, by turn; None where this seat missed one.
    pub fn moves(&self) -> &[Option<Move>] {
        &self.moves
    }

    /// The seed, once the game has finished.
    pub fn seed(&self) -> Option<&RevealedSeed> {
        self.end.as_ref().map(|(seed, _)| seed)
    }

    /// Plays the game again from its seed; true if every move of it was known.
    ///
    /// `others` are records of the same game from other seats: they fill in what this one missed, and must agree with
    /// it.
    ///
    /// # Errors
    /// The seed is not the one that was promised, something was dealt or played otherwise than it was shown, or an
    /// acknowledged move is missing.
    pub fn replay(&self, others: &[&Record]) -> Result<bool, Contradiction> {
        let Some((seed, last)) = &self.end else {
            return Err(Contradiction::new(
                "game",
                "a finished game",
                &self.moves.len(),
            ));
        };
        same("seed", &self.commitment, &seed.seed().commitment())?;
        self.check_deals(seed)?;
        let moves = self.merged(others)?;
        for record in others.iter().chain([&self]) {
            check_acknowledged(record, &moves)?;
        }
        let Some(moves) = moves.into_iter().collect::<Option<Vec<Move>>>() else {
            return Ok(false);
        };
        let (mut game, _) = Game::new(self.seats, self.options, seed.seed());
        for (turn, played) in moves.iter().enumerate() {
            game.apply(played.seat, played.action).map_err(|refusal| {
                let what = format!("turn {turn} of the replay");
                Contradiction::new(&what, "a legal move", &(played, refusal))
            })?;
        }
        same("the replay's end", &game.observe(self.you), last)?;
        Ok(true)
    }

    fn check_deals(&self, seed: &RevealedSeed) -> Result<(), Contradiction> {
        let seed = seed.seed();
        let first = first_dealer(&seed, self.seats);
        for seen in &self.deals {
            let round = seen.round;
            let dealer = self.seats.left_of(first, round - 1);
            same(&format!("dealer of round {round}"), &dealer, &seen.dealer)?;
            let deal = Deal::of(&seed, round, dealer, self.seats, seen.cards);
            same(
                &format!("card turned in round {round}"),
                &deal.turned(),
                &seen.turned,
            )?;
            if let (Some(you), Some(hand)) = (self.you, seen.hand) {
                same(
                    &format!("hand dealt in round {round}"),
                    &deal.hand(you),
                    &hand,
                )?;
            }
        }
        Ok(())
    }

    fn merged(&self, others: &[&Record]) -> Result<Vec<Option<Move>>, Contradiction> {
        let mut moves = self.moves.clone();
        for other in others {
            same("deal_commitment", &self.commitment, &other.commitment)?;
            same("turn at the end", &moves.len(), &other.moves.len())?;
            for (turn, (mine, theirs)) in moves.iter_mut().zip(&other.moves).enumerate() {
                match (&mine, theirs) {
                    (Some(mine), Some(theirs)) => same(&format!("turn {turn}"), mine, theirs)?,
                    (None, Some(_)) => *mine = *theirs,
                    (_, None) => {}
                }
            }
        }
        Ok(moves)
    }
}

fn check_acknowledged(record: &Record, moves: &[Option<Move>]) -> Result<(), Contradiction> {
    let Some(seat) = record.you else {
        return Ok(());
    };
    for (&turn, &action) in &record.acknowledged {
        let kept = moves.get(turn as usize).copied();
        let kept = kept.ok_or_else(|| {
            Contradiction::new("acknowledged move", format!("turn {turn}"), &moves.len())
        })?;
        // Where nobody saw the move itself, the hand that had lost its card was the acknowledgement.
        ensure(
            kept.is_none_or(|kept| kept == Move { seat, action }),
            &format!("acknowledged move of turn {turn}"),
            &format!("{action:?} of {seat:?}"),
            &kept,
        )?;
    }
    Ok(())
}
