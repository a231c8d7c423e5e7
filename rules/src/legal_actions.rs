//! What a seat may do now, without allocating.

use crate::action::Action;
use crate::card::{Card, Suit};
use crate::card_set::{CardSet, Cards};

/// Exactly the actions that would be accepted, in the order of suits, bids or a sorted hand.
///
/// Cheap to make and to copy; `len` and `nth` pick one at random.
#[derive(Clone, Debug)]
pub struct LegalActions(Kind);

#[derive(Clone, Debug)]
enum Kind {
    None,
    Suits(std::array::IntoIter<Suit, 4>),
    /// Bids as bits of a mask, lowest first.
    Bids(u32),
    Cards(Cards),
}

impl LegalActions {
    pub(crate) const fn none() -> LegalActions {
        LegalActions(Kind::None)
    }

    pub(crate) fn suits() -> LegalActions {
        LegalActions(Kind::Suits(Suit::ALL.into_iter()))
    }

    /// Bids from 0 to the hand size, which is at most 20.
    pub(crate) fn bids(cards: u8, forbidden: Option<u8>) -> LegalActions {
        let all = (2 << cards) - 1;
        LegalActions(Kind::Bids(forbidden.map_or(all, |bid| all & !(1 << bid))))
    }

    pub(crate) fn plays(cards: CardSet) -> LegalActions {
        LegalActions(Kind::Cards(cards.into_iter()))
    }
}

impl Iterator for LegalActions {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        match &mut self.0 {
            Kind::None | Kind::Bids(0) => None,
            Kind::Suits(suits) => suits.next().map(|suit| Action::ChooseTrump { suit }),
            Kind::Bids(bids) => {
                let value = u8::try_from(bids.trailing_zeros()).expect("below 32");
                *bids &= *bids - 1;
                Some(Action::Bid { value })
            }
            Kind::Cards(cards) => cards.next().map(|card: Card| Action::Play { card }),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = match &self.0 {
            Kind::None => 0,
            Kind::Suits(suits) => suits.len(),
            Kind::Bids(bids) => bids.count_ones() as usize,
            Kind::Cards(cards) => cards.len(),
        };
        (len, Some(len))
    }
}

impl ExactSizeIterator for LegalActions {}
