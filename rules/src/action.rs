//! What a player can do.

use serde::{Deserialize, Serialize};

use crate::card::{Card, Suit};

/// A move as it is sent: `{"type":"play","card":"R13"}`.
///
/// A bid that is no whole number from 0 to 255 is no action at all; one above the hand size is an
/// action that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Action {
    /// The dealer names trump, after a Wizard was turned.
    ChooseTrump {
        /// "No trump" can't be named.
        suit: Suit,
    },
    /// How many tricks the player means to take.
    Bid {
        /// 0 to the hand size.
        value: u8,
    },
    /// A card onto the trick.
    Play {
        /// From the player's own hand.
        card: Card,
    },
}
