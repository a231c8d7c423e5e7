//! Why a move is not taken.

use serde::{Deserialize, Serialize};

/// The move was not made, and the game is as it was. The text is for players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Another seat is to act, or the game has finished.
    #[error("It is not your turn.")]
    NotYourTurn,
    /// It is this seat's turn, but this move is against the rules.
    #[error("{0}")]
    Illegal(Reason),
}

/// Which rule speaks against a move. The text is for players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Reason {
    /// A bid while cards are played, and the like.
    #[error("That move is not possible in this part of the round.")]
    WrongPhase,
    /// More tricks than there are cards.
    #[error("You can't bid more tricks than you have cards.")]
    OutOfRange,
    /// The last bidder would make the sum equal the hand size.
    #[error("The bids may not add up to the number of tricks.")]
    BidRule,
    /// The player doesn't hold this card.
    #[error("You don't hold that card.")]
    NotInHand,
    /// The player holds the led suit.
    #[error("You must follow suit, or play a Wizard or a Jester.")]
    MustFollow,
}
