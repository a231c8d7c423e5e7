//! What happened, as everybody at the table may know it.

use serde::{Deserialize, Serialize};

use crate::card::{Card, Suit};
use crate::score::RankingRow;
use crate::seat::Seat;
use crate::seed::{DealCommitment, RevealedSeed};
use crate::trick::TrickPlay;

/// Something that happened in the game. The same for every seat and for spectators: nothing in it
/// is hidden from anybody. Lists have one entry a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "GameEvent"))]
pub enum Event {
    /// The first of a game.
    GameStarted {
        /// SHA-256 of the seed that all deals come from.
        deal_commitment: DealCommitment,
    },
    /// The cards of a round are dealt.
    RoundStarted {
        /// 1-based.
        round: u8,
        /// Hand size.
        cards: u8,
        /// Who dealt, and bids last.
        dealer: Seat,
        /// The card that was turned; null if all cards are dealt.
        trump_card: Option<Card>,
    },
    /// The dealer named trump after a Wizard was turned.
    TrumpChosen {
        /// The dealer.
        seat: Seat,
        /// Trump of this round.
        suit: Suit,
    },
    /// A bid is in.
    BidMade {
        /// Whose.
        seat: Seat,
        /// Null while bids are hidden.
        value: Option<u8>,
    },
    /// Hidden bids are shown, after the last is in.
    BidsRevealed {
        /// Tricks bid.
        bids: Vec<u8>,
    },
    /// A card was played.
    CardPlayed {
        /// By whom.
        seat: Seat,
        /// The card.
        card: Card,
    },
    /// Everybody has played a card.
    TrickCompleted {
        /// Takes the trick and leads the next.
        winner: Seat,
        /// In the order of play.
        plays: Vec<TrickPlay>,
    },
    /// All tricks of a round are played.
    RoundScored {
        /// Tricks bid.
        bids: Vec<u8>,
        /// Tricks taken.
        tricks: Vec<u8>,
        /// Points of this round.
        points: Vec<i32>,
        /// Totals so far.
        scores: Vec<i32>,
    },
    /// The last of a game.
    GameFinished {
        /// Best first.
        ranking: Vec<RankingRow>,
        /// For checking the deals against the commitment.
        seed: RevealedSeed,
    },
}
