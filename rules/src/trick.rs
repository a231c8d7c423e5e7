//! One trick: what is led, and who wins.
//!
//! The only place that knows what beats what. Cards with effects of their own would get their
//! strength here, and what they do once the trick is full in `round.rs`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::card::{Card, Suit};
use crate::seat::{MAX_SEATS, Seat, SeatCount};

/// The cards on the table, in the order in which they were played.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Trick {
    seats: SeatCount,
    leader: Seat,
    cards: [Option<Card>; MAX_SEATS],
    len: u8,
}

impl Trick {
    /// An empty trick.
    pub const fn new(seats: SeatCount, leader: Seat) -> Trick {
        Trick {
            seats,
            leader,
            cards: [None; MAX_SEATS],
            len: 0,
        }
    }

    /// Who plays, or played, the first card.
    pub const fn leader(&self) -> Seat {
        self.leader
    }

    /// Whose card comes next; None once it is full.
    pub const fn to_play(&self) -> Option<Seat> {
        if self.is_full() {
            None
        } else {
            Some(self.seats.left_of(self.leader, self.len))
        }
    }

    /// Has everybody played?
    pub const fn is_full(&self) -> bool {
        self.len == self.seats.get()
    }

    /// The card of the next player.
    ///
    /// # Panics
    /// If the trick is full.
    pub const fn push(&mut self, card: Card) {
        assert!(!self.is_full(), "a card for a full trick");
        self.cards[self.len as usize] = Some(card);
        self.len += 1;
    }

    /// Who played what, in order.
    pub fn plays(&self) -> impl Iterator<Item = TrickPlay> + '_ {
        self.cards
            .iter()
            .flatten()
            .zip(0..)
            .map(|(&card, steps)| TrickPlay {
                seat: self.seats.left_of(self.leader, steps),
                card,
            })
    }

    /// The suit that must be followed: Jesters are skipped, and the first other card leads its
    /// suit; a Wizard there leads none for the whole trick.
    pub fn led(&self) -> Option<Suit> {
        self.cards
            .iter()
            .flatten()
            .find(|card| !card.is_jester())?
            .suit()
    }

    /// Who takes the trick as it lies; None while it is empty.
    ///
    /// The first Wizard; else the highest trump; else the highest card of the led suit; else, with
    /// nothing but Jesters, the first.
    pub fn winning(&self, trump: Option<Suit>) -> Option<Seat> {
        let led = self.led();
        let mut best: Option<(u8, u8)> = None;
        for (card, steps) in self.cards.iter().flatten().zip(0..) {
            let strength = strength(*card, trump, led);
            // Of equals (Wizards among themselves, or Jesters) the first stays.
            if best.is_none_or(|(strongest, _)| strength > strongest) {
                best = Some((strength, steps));
            }
        }
        best.map(|(_, steps)| self.seats.left_of(self.leader, steps))
    }
}

/// 0 for a card that can't win against any that can.
fn strength(card: Card, trump: Option<Suit>, led: Option<Suit>) -> u8 {
    match card {
        Card::Wizard(_) => u8::MAX,
        Card::Suited(suit, rank) if Some(suit) == trump => 100 + rank.get(),
        Card::Suited(suit, rank) if Some(suit) == led => rank.get(),
        Card::Suited(..) | Card::Jester(_) => 0,
    }
}

impl fmt::Debug for Trick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.plays()).finish()
    }
}

/// A card on the table, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TrickPlay {
    /// Who played it.
    pub seat: Seat,
    /// The card.
    pub card: Card,
}
