//! Plays a round to its end, fast and with a rule of thumb that knows about bids.
//!
//! Each seat looks at its own cards, its bid and the trick, never at the hands of others. Nothing is
//! allocated, and nothing is drawn from chance.

use rules::{Card, CardSet, MAX_SEATS, Seat, Suit};

use super::layout::{Bits, JESTERS, Layout, WIZARDS};
use super::round::Round;
use super::world::Hands;

/// A round that is being played out.
#[derive(Clone, Copy)]
pub(super) struct Rollout {
    layout: &'static Layout,
    hands: [Bits; MAX_SEATS],
    tricks: [u8; MAX_SEATS],
    bids: [u8; MAX_SEATS],
    seats: usize,
    /// Whose card comes next.
    player: usize,
    trick: Trick,
}

/// The trick that lies on the table.
#[derive(Clone, Copy)]
struct Trick {
    played: usize,
    /// Takes the trick as it lies.
    winner: usize,
    /// Cards that would take it from there; all, while it is empty.
    beaters: Bits,
    /// What must be followed; nothing, where nothing must.
    led: Bits,
    /// Whether another card than a Jester lies.
    is_led: bool,
}

impl Trick {
    const EMPTY: Self = Self {
        played: 0,
        winner: 0,
        beaters: Bits::MAX,
        led: 0,
        is_led: false,
    };
}

impl Rollout {
    /// Begins where the round is; who has not bid yet is taken to bid what their hand is worth.
    pub(super) fn new(round: &Round, hands: &Hands, trump: Option<Suit>) -> Self {
        let layout = Layout::of(trump);
        let mut rollout = Self {
            layout,
            hands: hands.map(|hand| layout.bits(hand)),
            tricks: round.tricks,
            bids: [0; MAX_SEATS],
            seats: usize::from(round.seats.get()),
            player: round.trick.leader().index(),
            trick: Trick::EMPTY,
        };
        for seat in round.seats.seats().map(Seat::index) {
            rollout.bids[seat] =
                round.bids[seat].unwrap_or_else(|| worth(hands[seat], trump, round.seats.get()));
        }
        for play in round.trick.plays() {
            rollout.put(layout.bit(play.card));
        }
        rollout
    }

    /// The same round with another bid of one seat.
    pub(super) fn with_bid(mut self, seat: Seat, bid: u8) -> Self {
        self.bids[seat.index()] = bid;
        self
    }

    /// Plays the card for whoever is to play.
    pub(super) fn with_card(mut self, card: Card) -> Self {
        self.put(self.layout.bit(card));
        self
    }

    /// Plays to the end; the points of one seat.
    pub(super) fn points(mut self, seat: Seat) -> i32 {
        while self.hands[self.player] != 0 {
            self.put(self.choose());
        }
        rules::score::points(self.bids[seat.index()], self.tricks[seat.index()])
    }

    fn put(&mut self, card: Bits) {
        let trick = &mut self.trick;
        self.hands[self.player] &= !card;
        if card & trick.beaters != 0 {
            trick.winner = self.player;
            trick.beaters = self.layout.beaten_by(card);
        }
        if !trick.is_led && card & JESTERS == 0 {
            trick.is_led = true;
            trick.led = self.layout.suit(card);
        }
        trick.played += 1;
        if trick.played == self.seats {
            self.player = trick.winner;
            self.tricks[self.player] += 1;
            self.trick = Trick::EMPTY;
        } else {
            self.player += 1;
            if self.player == self.seats {
                self.player = 0;
            }
        }
    }

    /// Of a hand with at least one card.
    fn choose(&self) -> Bits {
        let hand = self.hands[self.player];
        let following = hand & self.trick.led;
        let playable = if following == 0 {
            hand
        } else {
            following | hand & (WIZARDS | JESTERS)
        };
        if playable.is_power_of_two() {
            return playable;
        }
        let needed =
            u32::from(self.bids[self.player]).saturating_sub(self.tricks[self.player].into());
        if self.trick.played == 0 {
            return lead(playable, needed);
        }
        let (winning, losing) = (
            playable & self.trick.beaters,
            playable & !self.trick.beaters,
        );
        let is_last = self.trick.played + 1 == self.seats;
        if needed == 0 {
            duck(winning, losing, is_last)
        } else {
            take(winning, losing, is_last, needed >= hand.count_ones())
        }
    }
}

fn lead(playable: Bits, needed: u32) -> Bits {
    if needed > 0 {
        strongest(playable)
    } else {
        weakest(playable)
    }
}

/// The last to play wins as cheaply as possible; before that a card has to hold.
fn take(winning: Bits, losing: Bits, is_last: bool, needs_all: bool) -> Bits {
    if winning == 0 {
        weakest(losing)
    } else if is_last {
        weakest(winning)
    } else if needs_all || winning & !WIZARDS == 0 {
        strongest(winning)
    } else {
        strongest(winning & !WIZARDS)
    }
}

/// Gets rid of the strongest card that loses. If all win, the last to play gets rid of the strongest,
/// the others hope.
fn duck(winning: Bits, losing: Bits, is_last: bool) -> Bits {
    if losing != 0 {
        strongest(losing)
    } else if is_last {
        strongest(winning)
    } else {
        weakest(winning)
    }
}

/// Of at least one card.
fn weakest(cards: Bits) -> Bits {
    cards & cards.wrapping_neg()
}

/// Of at least one card.
fn strongest(cards: Bits) -> Bits {
    1 << (Bits::BITS - 1 - cards.leading_zeros())
}

/// The order in which cards take tricks.
pub(super) fn strength(card: Card, trump: Option<Suit>) -> u8 {
    match card {
        Card::Jester(_) => 0,
        Card::Wizard(_) => 40,
        Card::Suited(suit, rank) if Some(suit) == trump => 20 + rank.get(),
        Card::Suited(_, rank) => rank.get(),
    }
}

/// A bid by counting quarters of tricks, at most twice a fair share of them: what others who have not
/// bid yet are taken to be after.
fn worth(hand: CardSet, trump: Option<Suit>, seats: u8) -> u8 {
    let quarters: u32 = hand
        .into_iter()
        .map(|card| match strength(card, trump) {
            28.. => 4,
            24..28 | 13 => 3,
            20..24 | 12 => 2,
            10 | 11 => 1,
            _ => 0,
        })
        .sum();
    let counted = quarters / 4;
    let most = hand.len().div_ceil(u32::from(seats)) * 2;
    u8::try_from(counted.min(most)).unwrap_or(u8::MAX)
}
