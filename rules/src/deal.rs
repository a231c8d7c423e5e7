//! Fair deals: every deal of a game as a documented function of its seed.
//!
//! `docs/fair-deals.md` describes it for strangers, `docs/check_deal.py` is a second
//! implementation, and `tests/vectors/deals.json` holds what both must give. Nothing here may ever
//! change: players check finished games against it.
//!
//! - **Words.** `ChaCha20` with the seed as key, 64-bit block counter from 0 and the stream number
//!   as 64-bit nonce; the key stream read as 32-bit little-endian words, one after the other.
//! - **A number below `n`.** Words are drawn until one is below the greatest multiple of `n` that
//!   is at most 2³²; its remainder by `n` is the number. So each is equally likely.
//! - **First dealer.** A number below the count of seats, from stream 0.
//! - **Round `r`** (1-based), from stream `r`: starting with the deck in the order of
//!   [`Card::ALL`], for `i` from 59 down to 1 the cards at `i` and at a number below `i + 1` change
//!   places (Fisher–Yates).
//! - **Dealing.** One card at a time from position 0 on, the first to the dealer's left, until each
//!   seat has its hand. The next card, if there is one, is turned.

use rand::rngs::ChaCha20Rng;
use rand::{Rng, SeedableRng};

use crate::card::{Card, DECK_SIZE};
use crate::card_set::CardSet;
use crate::seat::{MAX_SEATS, Seat, SeatCount};
use crate::seed::Seed;

/// What a round begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deal {
    hands: [CardSet; MAX_SEATS],
    turned: Option<Card>,
}

impl Deal {
    /// The deal of a round; `cards` is its hand size.
    ///
    /// # Panics
    /// If the deck is too small for that.
    pub fn of(seed: &Seed, round: u8, dealer: Seat, seats: SeatCount, cards: u8) -> Deal {
        let dealt = cards * seats.get();
        assert!(dealt <= DECK_SIZE, "{dealt} of {DECK_SIZE} cards dealt");
        let deck = shuffled_deck(seed, round);
        let (to_hands, rest) = deck.split_at(usize::from(dealt));
        let mut hands = [CardSet::EMPTY; MAX_SEATS];
        let mut seat = dealer;
        for &card in to_hands {
            seat = seats.left_of(seat, 1);
            hands[seat.index()].insert(card);
        }
        Deal {
            hands,
            turned: rest.first().copied(),
        }
    }

    /// The hand dealt to a seat.
    pub const fn hand(&self, seat: Seat) -> CardSet {
        self.hands[seat.index()]
    }

    /// The card that decides trump; none if all cards were dealt.
    pub const fn turned(&self) -> Option<Card> {
        self.turned
    }

    pub(crate) const fn hands(&self) -> &[CardSet; MAX_SEATS] {
        &self.hands
    }
}

/// Who deals the first round.
pub fn first_dealer(seed: &Seed, seats: SeatCount) -> Seat {
    let steps = number_below(u32::from(seats.get()), &mut words(seed, 0));
    let steps = u8::try_from(steps).expect("a number below six");
    seats.left_of(Seat::FIRST, steps)
}

/// The deck of a round, top card first.
pub fn shuffled_deck(seed: &Seed, round: u8) -> [Card; DECK_SIZE as usize] {
    let mut words = words(seed, round);
    let mut deck = Card::ALL;
    for i in (1..u32::from(DECK_SIZE)).rev() {
        let j = number_below(i + 1, &mut words);
        deck.swap(i as usize, j as usize);
    }
    deck
}

fn words(seed: &Seed, stream: u8) -> ChaCha20Rng {
    let mut words = ChaCha20Rng::from_seed(*seed.bytes());
    words.set_stream(u64::from(stream));
    words
}

/// Written out here, since a library's own sampling may differ from version to version.
fn number_below(n: u32, words: &mut impl Rng) -> u32 {
    // 2³² mod n, without leaving 32 bits.
    let excess = (u32::MAX % n + 1) % n;
    let highest = u32::MAX - excess;
    loop {
        let word = words.next_u32();
        if word <= highest {
            return word % n;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Gives the listed words.
    struct Words<'a>(std::slice::Iter<'a, u32>);

    impl rand::TryRng for Words<'_> {
        type Error = Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            Ok(*self.0.next().unwrap())
        }

        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            unreachable!("deals draw words of 32 bits")
        }

        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Infallible> {
            unreachable!("deals draw words of 32 bits")
        }
    }

    #[track_caller]
    fn check(n: u32, drawn: &[u32], expected: u32) {
        let mut words = Words(drawn.iter());
        assert_eq!(number_below(n, &mut words), expected);
        assert_eq!(words.0.next(), None, "every word is used");
    }

    #[test]
    fn words_above_the_last_full_multiple_are_drawn_again() {
        check(6, &[7], 1);
        // 2³² = 6 · 715,827,882 + 4
        check(6, &[u32::MAX, u32::MAX - 3, u32::MAX - 4], 5);
        check(60, &[u32::MAX - 15, u32::MAX - 16], 59);
        check(4, &[u32::MAX], 3);
        check(1, &[u32::MAX], 0);
    }
}
