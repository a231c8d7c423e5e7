//! A set of cards: a hand, or what may be played from one.

use std::fmt;

use crate::card::{Card, Rank, Suit};

/// Up to sixty different cards in one word, so that a hand is copied and searched at no cost.
///
/// Iterates in the order of a sorted hand.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct CardSet(u64);

impl CardSet {
    /// No card.
    pub const EMPTY: CardSet = CardSet(0);

    /// Wizards and Jesters.
    const SUITLESS: CardSet = CardSet(0xFF << 52);

    /// All thirteen cards of a suit.
    pub const fn of_suit(suit: Suit) -> CardSet {
        CardSet(0x1FFF << (suit as u8 * Rank::HIGHEST))
    }

    /// Is the card in it?
    pub const fn contains(self, card: Card) -> bool {
        self.0 & Self::only(card).0 != 0
    }

    /// Adds the card, if it isn't in it yet.
    pub const fn insert(&mut self, card: Card) {
        self.0 |= Self::only(card).0;
    }

    /// Takes the card out, if it is in it.
    pub const fn remove(&mut self, card: Card) {
        self.0 &= !Self::only(card).0;
    }

    /// How many cards.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// No card in it?
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The cards in both.
    #[must_use]
    pub const fn and(self, other: CardSet) -> CardSet {
        CardSet(self.0 & other.0)
    }

    /// The cards in either.
    #[must_use]
    pub const fn or(self, other: CardSet) -> CardSet {
        CardSet(self.0 | other.0)
    }

    /// The cards that are in this one only.
    #[must_use]
    pub const fn without(self, other: CardSet) -> CardSet {
        CardSet(self.0 & !other.0)
    }

    /// What may be played from this hand: whoever holds the led suit plays it, or any Wizard or
    /// Jester; whoever doesn't, plays anything. Empty only for an empty hand.
    #[must_use]
    pub const fn playable(self, led: Option<Suit>) -> CardSet {
        let Some(suit) = led else { return self };
        let following = self.and(Self::of_suit(suit));
        if following.is_empty() {
            self
        } else {
            following.or(self.and(Self::SUITLESS))
        }
    }

    const fn only(card: Card) -> CardSet {
        CardSet(1 << card.index())
    }
}

impl FromIterator<Card> for CardSet {
    fn from_iter<I: IntoIterator<Item = Card>>(cards: I) -> CardSet {
        let mut set = CardSet::EMPTY;
        for card in cards {
            set.insert(card);
        }
        set
    }
}

impl IntoIterator for CardSet {
    type Item = Card;
    type IntoIter = Cards;

    fn into_iter(self) -> Cards {
        Cards(self)
    }
}

impl fmt::Debug for CardSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(*self).finish()
    }
}

/// The cards of a [`CardSet`], sorted.
#[derive(Clone, Debug)]
pub struct Cards(CardSet);

impl Iterator for Cards {
    type Item = Card;

    fn next(&mut self) -> Option<Card> {
        let card = *Card::ALL.get(self.0.0.trailing_zeros() as usize)?;
        self.0.remove(card);
        Some(card)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.0.len() as usize;
        (len, Some(len))
    }
}

impl ExactSizeIterator for Cards {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_each_card_once_and_sorted() {
        let mut set: CardSet = Card::ALL.into_iter().rev().collect();
        assert!(set.into_iter().eq(Card::ALL));
        for card in Card::ALL {
            assert!(set.contains(card));
            set.remove(card);
            assert!(!set.contains(card));
        }
        assert!(set.is_empty());
    }

    #[test]
    fn a_suit_is_thirteen_cards() {
        for suit in Suit::ALL {
            let cards = CardSet::of_suit(suit);
            assert_eq!(cards.len(), 13);
            assert!(cards.into_iter().all(|card| card.suit() == Some(suit)));
        }
    }
}
