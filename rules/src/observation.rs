//! What one seat, or a spectator, may see, in pieces that are each serialised once however many
//! see them.
//!
//! Only `game/view.rs` fills these types in; a card or bid that isn't in them can't get out.

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::card::{Card, Suit};
use crate::refusal::Reason;
use crate::score::{RankingRow, SheetRow};
use crate::seat::Seat;
use crate::trick::TrickPlay;

/// Everything that one viewer may see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Observation {
    /// The same for everybody.
    #[serde(flatten)]
    pub table: TableView,
    /// Finished rounds; the same for everybody.
    pub sheet: Vec<SheetRow>,
    /// The last full trick of this round; the same for everybody.
    pub last_trick: Option<LastTrick>,
    /// This viewer's own.
    #[serde(flatten)]
    pub own: OwnView,
}

/// The public state of the table. Lists have one entry a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TableView {
    /// Number of actions accepted so far.
    pub turn: u32,
    /// 1-based.
    pub round: u8,
    /// How many rounds the game has.
    pub rounds: u8,
    /// Hand size of this round.
    pub cards: u8,
    /// What is to be done next.
    pub phase: Phase,
    /// Dealt this round.
    pub dealer: Seat,
    /// Whose turn it is; null when the game has finished.
    pub to_act: Option<Seat>,
    /// The turned card and trump.
    pub trump: TrumpView,
    /// Who has bid in this round.
    pub bid_made: Vec<bool>,
    /// Tricks won in this round.
    pub tricks: Vec<u8>,
    /// The trick on the table.
    pub trick: TrickView,
    /// Totals of the finished rounds.
    pub scores: Vec<i32>,
    /// The places, best first, once the game has finished.
    pub ranking: Option<Vec<RankingRow>>,
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Phase {
    /// A Wizard was turned, and the dealer names trump.
    ChooseTrump,
    /// Bids are made.
    Bid,
    /// Cards are played.
    Play,
    /// Nothing: the game is over.
    Finished,
}

/// What decides trump in this round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TrumpView {
    /// The turned card; null if all cards are dealt.
    pub card: Option<Card>,
    /// Null: there is none, or it has not been named yet.
    pub suit: Option<Suit>,
}

/// The trick on the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TrickView {
    /// Who plays, or played, the first card.
    pub leader: Seat,
    /// In the order of play.
    pub plays: Vec<TrickPlay>,
    /// The suit to follow; null if nothing is led.
    pub led: Option<Suit>,
    /// Who would take the trick as it lies; null while it is empty.
    pub winning: Option<Seat>,
}

/// A full trick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LastTrick {
    /// Who played the first card.
    pub leader: Seat,
    /// In the order of play.
    pub plays: Vec<TrickPlay>,
    /// The suit that was to be followed; null if nothing was led.
    pub led: Option<Suit>,
    /// Who took it.
    pub winner: Seat,
}

/// What only this viewer sees; a spectator has no hand and no actions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OwnView {
    /// Own cards, sorted.
    pub hand: Vec<Card>,
    /// One entry a seat; null: not yet, or hidden. One's own bid is never hidden from oneself.
    pub bids: Vec<Option<u8>>,
    /// Exactly the actions that would be accepted now.
    pub legal_actions: Vec<Action>,
    /// What this player might expect to be able to do now, and why not.
    pub forbidden: Vec<Forbidden>,
}

/// A move that the rules forbid just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Forbidden {
    /// A card of the own hand.
    Card {
        /// Which.
        card: Card,
        /// Why it can't be played.
        reason: Reason,
    },
    /// A bid.
    Value {
        /// Which.
        value: u8,
        /// Why it can't be bid.
        reason: Reason,
    },
}
