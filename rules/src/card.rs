//! The sixty cards.
//!
//! A card is its suit and rank, or a Wizard or a Jester; nothing here knows what beats what (that
//! is [`crate::trick`]). Invariant: no card outside the deck can be made, also not through serde.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

/// The four suits, in the order in which hands are sorted and the deck is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[allow(missing_docs, reason = "a suit is its name")]
pub enum Suit {
    Blue,
    Green,
    Red,
    Yellow,
}

impl Suit {
    /// All four, in order.
    pub const ALL: [Suit; 4] = [Suit::Blue, Suit::Green, Suit::Red, Suit::Yellow];

    /// Position in [`Suit::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    const fn letter(self) -> char {
        match self {
            Suit::Blue => 'B',
            Suit::Green => 'G',
            Suit::Red => 'R',
            Suit::Yellow => 'Y',
        }
    }
}

/// The number on a suited card, 1 (low) to 13 (high).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(u8);

impl Rank {
    /// Highest rank.
    pub const HIGHEST: u8 = 13;

    /// None outside 1 to 13.
    pub const fn new(rank: u8) -> Option<Rank> {
        match rank {
            1..=Self::HIGHEST => Some(Rank(rank)),
            _ => None,
        }
    }

    /// 1 to 13.
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// Tells the four Wizards apart, and the four Jesters; it has no effect in the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CardNumber(u8);

impl CardNumber {
    /// None outside 1 to 4.
    pub const fn new(number: u8) -> Option<CardNumber> {
        match number {
            1..=4 => Some(CardNumber(number)),
            _ => None,
        }
    }

    /// 1 to 4.
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// One of the sixty cards; on the wire `B1` … `Y13`, `W1` … `W4`, `J1` … `J4`.
///
/// The order is that of a sorted hand and of the fresh deck: blue, green, red, yellow, each from 1
/// to 13, then the Wizards, then the Jesters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
pub enum Card {
    /// A card of a suit.
    Suited(Suit, Rank),
    /// Takes the trick, if it is the first of its kind in it.
    Wizard(CardNumber),
    /// Takes a trick only if there is nothing but Jesters in it.
    Jester(CardNumber),
}

/// How many cards there are.
pub const DECK_SIZE: u8 = 60;

const FIRST_WIZARD: u8 = 52;
const FIRST_JESTER: u8 = 56;

impl Card {
    /// The fresh deck, sorted.
    pub const ALL: [Card; DECK_SIZE as usize] = {
        let mut cards = [Card::Jester(CardNumber(1)); DECK_SIZE as usize];
        let mut index: u8 = 0;
        while index < DECK_SIZE {
            cards[index as usize] = match index {
                FIRST_JESTER.. => Card::Jester(CardNumber(index - FIRST_JESTER + 1)),
                FIRST_WIZARD.. => Card::Wizard(CardNumber(index - FIRST_WIZARD + 1)),
                _ => Card::Suited(
                    Suit::ALL[(index / Rank::HIGHEST) as usize],
                    Rank(index % Rank::HIGHEST + 1),
                ),
            };
            index += 1;
        }
        cards
    };

    /// Position in [`Card::ALL`].
    pub const fn index(self) -> u8 {
        match self {
            Card::Suited(suit, rank) => suit as u8 * Rank::HIGHEST + rank.0 - 1,
            Card::Wizard(number) => FIRST_WIZARD + number.0 - 1,
            Card::Jester(number) => FIRST_JESTER + number.0 - 1,
        }
    }

    /// The suit it is printed with.
    pub const fn suit(self) -> Option<Suit> {
        match self {
            Card::Suited(suit, _) => Some(suit),
            Card::Wizard(_) | Card::Jester(_) => None,
        }
    }

    /// Is it one of the four Wizards?
    pub const fn is_wizard(self) -> bool {
        matches!(self, Card::Wizard(_))
    }

    /// Is it one of the four Jesters?
    pub const fn is_jester(self) -> bool {
        matches!(self, Card::Jester(_))
    }
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Card::Suited(suit, rank) => write!(f, "{}{}", suit.letter(), rank.0),
            Card::Wizard(number) => write!(f, "W{}", number.0),
            Card::Jester(number) => write!(f, "J{}", number.0),
        }
    }
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Card {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The text names none of the sixty cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no such card: cards are B1 to B13, G, R and Y likewise, W1 to W4, J1 to J4")]
pub struct NoSuchCard;

impl FromStr for Card {
    type Err = NoSuchCard;

    fn from_str(text: &str) -> Result<Card, NoSuchCard> {
        let mut letters = text.chars();
        let letter = letters.next().ok_or(NoSuchCard)?;
        let digits = letters.as_str();
        // One way to write each card: no "B01", and no "B+1" either, which `parse` would take.
        if digits.starts_with(['0', '+']) {
            return Err(NoSuchCard);
        }
        let number: u8 = digits.parse().map_err(|_| NoSuchCard)?;
        let suited = |suit| Rank::new(number).map(|rank| Card::Suited(suit, rank));
        let card = match letter {
            'B' => suited(Suit::Blue),
            'G' => suited(Suit::Green),
            'R' => suited(Suit::Red),
            'Y' => suited(Suit::Yellow),
            'W' => CardNumber::new(number).map(Card::Wizard),
            'J' => CardNumber::new(number).map(Card::Jester),
            _ => None,
        };
        card.ok_or(NoSuchCard)
    }
}

impl TryFrom<String> for Card {
    type Error = NoSuchCard;

    fn try_from(text: String) -> Result<Card, NoSuchCard> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deck_is_sorted_and_every_card_survives_text() {
        assert!(Card::ALL.is_sorted());
        for (index, card) in Card::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(card.index()), index);
            assert_eq!(card.to_string().parse(), Ok(card));
            let json = serde_json::to_string(&card).unwrap();
            assert_eq!(json, format!("\"{card}\""));
            assert_eq!(serde_json::from_str::<Card>(&json).unwrap(), card);
        }
        let deck = Card::ALL.map(|card| card.to_string()).join(" ");
        assert!(deck.starts_with("B1 B2 ") && deck.contains(" B13 G1 "));
        assert!(deck.ends_with(" Y13 W1 W2 W3 W4 J1 J2 J3 J4"));
    }

    #[test]
    fn nothing_else_is_a_card() {
        for text in [
            "", "B", "B0", "B14", "B01", "B+1", "B-1", "b1", "W0", "W5", "J5", "X1", "B1 ", "1B",
            "B257", "ß1", "B१",
        ] {
            assert_eq!(text.parse::<Card>(), Err(NoSuchCard), "{text:?}");
        }
        assert!(serde_json::from_str::<Card>("7").is_err());
    }
}
