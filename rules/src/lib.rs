//! The game of Wizard as a pure state machine: (state, action) → events or a refusal, and what one
//! seat may see.
//!
//! It knows no time, network or lobby; chance is one [`Seed`] given at the start, from which every
//! deal follows by a documented function ([`deal`]). Who wins a trick and what is led is in
//! [`trick`], what happens after one in `round`, who may do what and when in [`game`].

pub mod action;
pub mod bid;
pub mod card;
pub mod card_set;
pub mod deal;
pub mod event;
pub mod game;
pub mod legal_actions;
pub mod observation;
pub mod options;
pub mod refusal;
mod round;
pub mod score;
pub mod seat;
pub mod seed;
pub mod snapshot;
pub mod trick;
pub mod wire;

pub use action::Action;
pub use card::{Card, CardNumber, DECK_SIZE, NoSuchCard, Rank, Suit};
pub use card_set::{CardSet, Cards};
pub use deal::Deal;
pub use event::Event;
pub use game::Game;
pub use legal_actions::LegalActions;
pub use observation::{
    Forbidden, LastTrick, Observation, OwnView, Phase, TableView, TrickView, TrumpView,
};
pub use options::{BadOption, BidRule, Length, Options, OptionsPatch, TURN_SECONDS};
pub use refusal::{Reason, Refusal};
pub use score::{RankingRow, SheetRow};
pub use seat::{BadSeatCount, MAX_SEATS, NoSuchSeat, Seat, SeatCount};
pub use seed::{DealCommitment, NotHex, RevealedSeed, Seed};
pub use snapshot::{InvalidSnapshot, Snapshot};
pub use trick::{Trick, TrickPlay};
