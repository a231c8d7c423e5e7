//! What a player can do.

use serde::{Deserialize, Deserializer, Serialize};

use crate::card::{Card, Suit};
use crate::wire::{WholeNumber, word};

/// A move as it is sent: `{"type":"play","card":"R13"}`.
///
/// A bid that is no whole number is no action at all; one below 0 or above the hand size is an action
/// that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Action {
    /// The dealer names trump, after a Wizard was turned.
    ChooseTrump {
        /// "No trump" can't be named.
        #[serde(deserialize_with = "word")]
        suit: Suit,
    },
    /// How many tricks the player means to take.
    Bid {
        /// 0 to the hand size.
        #[serde(deserialize_with = "any_whole_number")]
        value: u8,
    },
    /// A card onto the trick.
    Play {
        /// From the player's own hand.
        card: Card,
    },
}

/// What no round has cards for: -1 and 300 are bids that the rules refuse, and not malformed ones.
const IMPOSSIBLE_BID: u8 = u8::MAX;

fn any_whole_number<'de, D: Deserializer<'de>>(value: D) -> Result<u8, D::Error> {
    let WholeNumber(value) = WholeNumber::deserialize(value)?;
    Ok(u8::try_from(value).unwrap_or(IMPOSSIBLE_BID))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bid_out_of_range_is_an_action_and_half_a_bid_is_none() {
        let bid = |value: &str| {
            serde_json::from_str::<Action>(&format!(r#"{{"type":"bid","value":{value}}}"#)).ok()
        };
        assert_eq!(bid("2"), Some(Action::Bid { value: 2 }));
        for impossible in ["-1", "255", "300", "9223372036854775808", "1e30", "-1e30"] {
            assert_eq!(
                bid(impossible),
                Some(Action::Bid {
                    value: IMPOSSIBLE_BID
                }),
                "{impossible}"
            );
        }
        assert!(
            serde_json::from_str::<Action>(r#"{"type":"choose_trump","suit":{"red":null}}"#)
                .is_err()
        );
        for nonsense in ["1.5", "2.0", "1e1", "\"2\"", "null", "true"] {
            assert_eq!(bid(nonsense), None, "{nonsense}");
        }
    }
}
