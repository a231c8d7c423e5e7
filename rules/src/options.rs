//! What a table may agree on before the game.
//!
//! Invariant: the options of an [`Options`] don't contradict each other, also when read by serde.

use std::ops::RangeInclusive;

use serde::{Deserialize, Deserializer, Serialize};

use crate::seat::SeatCount;
use crate::wire::{WholeNumber, word_or_none};

/// Seconds that a turn may take.
pub const TURN_SECONDS: RangeInclusive<u16> = 10..=300;

/// The options of one game; the default is the game as its publisher describes it.
///
/// Missing fields are read as their default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "OptionsPatch")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Options {
    hidden_bids: bool,
    bid_rule: BidRule,
    length: Length,
    turn_seconds: Option<u16>,
}

impl Options {
    /// Bids are made in turn but secretly, and revealed together when the last is in.
    pub const fn hidden_bids(&self) -> bool {
        self.hidden_bids
    }

    /// What the last bidder may not bid; always [`BidRule::Free`] with hidden bids.
    pub const fn bid_rule(&self) -> BidRule {
        self.bid_rule
    }

    /// Which hand sizes are played.
    pub const fn length(&self) -> Length {
        self.length
    }

    /// Seconds that each turn may take; None: the game waits. Only carried: the rules know no time.
    pub const fn turn_seconds(&self) -> Option<u16> {
        self.turn_seconds
    }

    /// These options with the patch's fields changed.
    ///
    /// # Errors
    /// What the result contradicts, or a value out of its range.
    pub fn with(&self, patch: OptionsPatch) -> Result<Options, BadOption> {
        let turn_seconds = match patch.turn_seconds {
            None => self.turn_seconds,
            Some(None) => None,
            Some(Some(seconds)) => Some(
                u16::try_from(seconds)
                    .ok()
                    .filter(|seconds| TURN_SECONDS.contains(seconds))
                    .ok_or(BadOption::TurnSeconds)?,
            ),
        };
        let options = Options {
            hidden_bids: patch.hidden_bids.unwrap_or(self.hidden_bids),
            bid_rule: patch.bid_rule.unwrap_or(self.bid_rule),
            length: patch.length.unwrap_or(self.length),
            turn_seconds,
        };
        if options.hidden_bids && options.bid_rule != BidRule::Free {
            return Err(BadOption::BidRuleWithHiddenBids);
        }
        Ok(options)
    }
}

impl TryFrom<OptionsPatch> for Options {
    type Error = BadOption;

    fn try_from(patch: OptionsPatch) -> Result<Options, BadOption> {
        Options::default().with(patch)
    }
}

/// Whether the last bidder is free to bid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum BidRule {
    /// Any bid.
    #[default]
    Free,
    /// The bids may not add up to the hand size.
    Hook,
    /// As [`BidRule::Hook`], but only for a dealer who alone leads in total score, and never
    /// against a bid of zero.
    Canadian,
}

/// Which hand sizes are played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Length {
    /// Every round from one card to the whole deck.
    #[default]
    Full,
    /// Ten rounds, as at tournaments.
    Tournament,
    /// Five rounds.
    Short,
}

impl Length {
    /// The hand size of each round.
    pub const fn hand_sizes(self, seats: SeatCount) -> &'static [u8] {
        const EVERY: [u8; 20] = [
            1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
        ];
        match (self, seats.get()) {
            (Length::Full, 3) => &EVERY,
            (Length::Full, 4) => EVERY.split_at(15).0,
            (Length::Full, 5) => EVERY.split_at(12).0,
            (Length::Full | Length::Tournament, 6..) => EVERY.split_at(10).0,
            (Length::Tournament, 4) => &[1, 3, 5, 7, 9, 11, 12, 13, 14, 15],
            (Length::Tournament, 5) => &[2, 4, 5, 6, 7, 8, 9, 10, 11, 12],
            (Length::Full | Length::Tournament, _) => &[2, 4, 6, 8, 10, 12, 14, 16, 18, 20],
            (Length::Short, _) => &[1, 3, 5, 7, 9],
        }
    }
}

/// A change of some options: what is None stays. Unknown fields are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(default)]
pub struct OptionsPatch {
    /// See [`Options::hidden_bids`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden_bids: Option<bool>,
    /// See [`Options::bid_rule`].
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "word_or_none"
    )]
    pub bid_rule: Option<BidRule>,
    /// See [`Options::length`].
    #[serde(
        skip_serializing_if = "Option::is_none",
        deserialize_with = "word_or_none"
    )]
    pub length: Option<Length>,
    /// See [`Options::turn_seconds`]; a present null takes the deadline away. Wider than the option
    /// itself, so that a large number is a bad option and not a malformed message.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[cfg_attr(feature = "typescript", ts(type = "number | null", optional))]
    pub turn_seconds: Option<Option<u32>>,
}

/// Called only for a field that is there: null is then a value.
#[expect(clippy::option_option, reason = "a missing field and a null differ")]
fn present<'de, D: Deserializer<'de>>(field: D) -> Result<Option<Option<u32>>, D::Error> {
    let seconds = Option::<WholeNumber>::deserialize(field)?;
    let nearest = |WholeNumber(seconds)| u32::try_from(seconds.max(0)).unwrap_or(u32::MAX);
    Ok(Some(seconds.map(nearest)))
}

/// Options that can't be played by; the text names the field and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadOption {
    /// Outside [`TURN_SECONDS`].
    #[error("turn_seconds: a turn takes from 10 to 300 seconds, or null for no deadline")]
    TurnSeconds,
    /// Nobody can be held to a sum that nobody sees.
    #[error("bid_rule: with hidden_bids the rule can only be \"free\"")]
    BidRuleWithHiddenBids,
}
