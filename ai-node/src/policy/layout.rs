//! The sixty cards as bits of one word, the weakest lowest, for one trump suit or none.
//!
//! The weakest and the strongest card of a hand are then its lowest and its highest bit, and what
//! takes a trick is one mask: that is what makes a played-out round cost a microsecond.

use rules::{Card, CardSet, Rank, Suit};

/// Cards, as bits of a [`Layout`].
pub(super) type Bits = u64;

const CARDS: usize = Card::ALL.len();
/// The four lowest bits of every layout.
pub(super) const JESTERS: Bits = 0b1111;
const LOWEST_PLAIN: u8 = 4;
const LOWEST_TRUMP: u8 = LOWEST_PLAIN + 3 * Rank::HIGHEST;
const LOWEST_WIZARD: u8 = LOWEST_PLAIN + 4 * Rank::HIGHEST;
/// The four highest bits of every layout.
pub(super) const WIZARDS: Bits = 0b1111 << LOWEST_WIZARD;

/// Where each card lies, and what follows from lying there.
#[derive(Debug)]
pub(super) struct Layout {
    /// By [`Card::index`].
    place: [u8; CARDS],
    /// The thirteen cards of the suit of the card at this place; none of a Wizard or Jester.
    suit: [Bits; CARDS],
    /// Cards that take a trick from the card at this place while that one wins it.
    beaten_by: [Bits; CARDS],
}

/// By [`Suit::index`] of the trump; the last without.
static LAYOUTS: [Layout; 5] = [
    Layout::new(Some(Suit::Blue)),
    Layout::new(Some(Suit::Green)),
    Layout::new(Some(Suit::Red)),
    Layout::new(Some(Suit::Yellow)),
    Layout::new(None),
];

impl Layout {
    pub(super) fn of(trump: Option<Suit>) -> &'static Self {
        &LAYOUTS[trump.map_or(4, Suit::index)]
    }

    pub(super) fn bit(&self, card: Card) -> Bits {
        1 << self.place[usize::from(card.index())]
    }

    pub(super) fn bits(&self, cards: CardSet) -> Bits {
        cards.into_iter().map(|card| self.bit(card)).sum()
    }

    /// Of one card.
    pub(super) fn suit(&self, bit: Bits) -> Bits {
        self.suit[bit.trailing_zeros() as usize]
    }

    /// Of one card that wins the trick as it lies.
    pub(super) fn beaten_by(&self, bit: Bits) -> Bits {
        self.beaten_by[bit.trailing_zeros() as usize]
    }

    const fn new(trump: Option<Suit>) -> Self {
        let mut layout = Self {
            place: [0; CARDS],
            suit: [0; CARDS],
            beaten_by: [0; CARDS],
        };
        let trumps = suit_bits(trump, trump);
        let mut index = 0;
        while index < CARDS {
            let card = Card::ALL[index];
            let place = place(card, trump);
            let suit = suit_bits(card.suit(), trump);
            let higher = suit & !((2 << place) - 1);
            layout.place[index] = place;
            layout.suit[place as usize] = suit;
            layout.beaten_by[place as usize] = match card {
                Card::Wizard(_) => 0,
                // Among nothing but Jesters the first stays.
                Card::Jester(_) => !JESTERS,
                Card::Suited(..) if suit == trumps => higher | WIZARDS,
                Card::Suited(..) => higher | trumps | WIZARDS,
            };
            index += 1;
        }
        layout
    }
}

/// Ranks go up suit by suit, so that cards of the same rank lie side by side; trumps above them.
const fn place(card: Card, trump: Option<Suit>) -> u8 {
    match card {
        // Each four begin at a multiple of four among all cards.
        Card::Jester(_) => card.index() % 4,
        Card::Wizard(_) => LOWEST_WIZARD + card.index() % 4,
        Card::Suited(suit, rank) => {
            let (suit, rank) = (suit as u8, rank.get() - 1);
            match trump {
                None => LOWEST_PLAIN + rank * 4 + suit,
                Some(trump) if trump as u8 == suit => LOWEST_TRUMP + rank,
                Some(trump) => LOWEST_PLAIN + rank * 3 + suit - (suit > trump as u8) as u8,
            }
        }
    }
}

const fn suit_bits(suit: Option<Suit>, trump: Option<Suit>) -> Bits {
    let mut bits = 0;
    let mut index = 0;
    while index < CARDS {
        if let (Some(suit), Some(of_card)) = (suit, Card::ALL[index].suit())
            && suit as u8 == of_card as u8
        {
            bits |= 1 << place(Card::ALL[index], trump);
        }
        index += 1;
    }
    bits
}

#[cfg(test)]
mod tests {
    use rules::{SeatCount, Trick};

    use super::*;
    use crate::policy::rollout::strength;

    #[test]
    fn every_card_has_a_place_of_its_own_in_the_order_of_strength() {
        for trump in [None, Some(Suit::Blue), Some(Suit::Red), Some(Suit::Yellow)] {
            let layout = Layout::of(trump);
            assert_eq!(layout.bits(Card::ALL.into_iter().collect()), (1 << 60) - 1);
            let mut cards = Card::ALL;
            cards.sort_by_key(|card| layout.bit(*card));
            assert!(
                cards.is_sorted_by_key(|card| strength(*card, trump)),
                "{cards:?}"
            );
        }
    }

    #[test]
    fn what_beats_a_card_is_what_the_rules_say() {
        for trump in [None, Some(Suit::Green), Some(Suit::Yellow)] {
            let layout = Layout::of(trump);
            for first in Card::ALL {
                for second in Card::ALL.into_iter().filter(|second| *second != first) {
                    let mut trick = Trick::new(SeatCount::MIN, rules::Seat::FIRST);
                    trick.push(first);
                    trick.push(second);
                    let beats = trick.winning(trump) != Some(rules::Seat::FIRST);
                    let said = layout.beaten_by(layout.bit(first)) & layout.bit(second) != 0;
                    assert_eq!(said, beats, "{first} {second}, trump {trump:?}");
                    let follows = first.suit().is_some() && first.suit() == second.suit();
                    let said = layout.suit(layout.bit(first)) & layout.bit(second) != 0;
                    assert_eq!(said, follows, "{first} {second}");
                }
            }
        }
    }
}
