//! One round: a deal, trump, the bids and the tricks.
//!
//! Not here: whether a move is allowed (that is [`crate::game`], before it calls), points, and
//! other rounds. Invariant: every dealt card is in one hand or was played.

use crate::card::{Card, Suit};
use crate::card_set::CardSet;
use crate::deal::Deal;
use crate::observation::Phase;
use crate::seat::{MAX_SEATS, Seat, SeatCount};
use crate::seed::Seed;
use crate::trick::Trick;

/// Lists have one entry a seat; those beyond the table's seats stay at their default.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Round {
    pub(crate) seats: SeatCount,
    /// 1-based.
    pub(crate) number: u8,
    /// Hand size.
    pub(crate) cards: u8,
    pub(crate) dealer: Seat,
    pub(crate) turned: Option<Card>,
    pub(crate) trump: Option<Suit>,
    pub(crate) hands: [CardSet; MAX_SEATS],
    pub(crate) bids: [Option<u8>; MAX_SEATS],
    pub(crate) tricks: [u8; MAX_SEATS],
    pub(crate) trick: Trick,
    pub(crate) last_trick: Option<TakenTrick>,
    /// All cards played in this round, in order.
    pub(crate) plays: Vec<Card>,
}

/// A full trick and who took it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct TakenTrick {
    pub(crate) trick: Trick,
    pub(crate) winner: Seat,
}

impl Round {
    pub(crate) fn deal(
        seed: &Seed,
        number: u8,
        dealer: Seat,
        seats: SeatCount,
        cards: u8,
    ) -> Round {
        let deal = Deal::of(seed, number, dealer, seats, cards);
        Round {
            seats,
            number,
            cards,
            dealer,
            turned: deal.turned(),
            trump: deal.turned().and_then(Card::suit),
            hands: *deal.hands(),
            bids: [None; MAX_SEATS],
            tricks: [0; MAX_SEATS],
            trick: Trick::new(seats, seats.left_of(dealer, 1)),
            last_trick: None,
            plays: Vec::with_capacity(usize::from(cards * seats.get())),
        }
    }

    /// [`Phase::Finished`] when all cards of the round are played.
    pub(crate) fn phase(&self) -> Phase {
        if self.trump.is_none() && self.turned.is_some_and(Card::is_wizard) {
            Phase::ChooseTrump
        } else if self.bids_made() < self.seats.get() {
            Phase::Bid
        } else if self.plays.len() < usize::from(self.cards * self.seats.get()) {
            Phase::Play
        } else {
            Phase::Finished
        }
    }

    pub(crate) fn to_act(&self) -> Option<Seat> {
        match self.phase() {
            Phase::ChooseTrump => Some(self.dealer),
            Phase::Bid => Some(self.seats.left_of(self.dealer, self.bids_made() + 1)),
            Phase::Play => self.trick.to_play(),
            Phase::Finished => None,
        }
    }

    /// How many have bid.
    pub(crate) fn bids_made(&self) -> u8 {
        self.bids.iter().map(|bid| u8::from(bid.is_some())).sum()
    }

    pub(crate) fn bid_sum(&self) -> u8 {
        self.bids.iter().flatten().sum()
    }

    /// What this seat could play, if it were its turn.
    pub(crate) fn playable(&self, seat: Seat) -> CardSet {
        self.hands[seat.index()].playable(self.trick.led())
    }

    /// Moves the card from the hand onto the trick; gives the trick if this card fills it.
    pub(crate) fn play(&mut self, seat: Seat, card: Card) -> Option<TakenTrick> {
        self.hands[seat.index()].remove(card);
        self.plays.push(card);
        self.trick.push(card);
        self.trick.is_full().then(|| self.take_trick())
    }

    /// What happens after a trick: its winner takes it and leads the next.
    fn take_trick(&mut self) -> TakenTrick {
        let winner = self
            .trick
            .winning(self.trump)
            .expect("a full trick has a winner");
        let taken = TakenTrick {
            trick: self.trick,
            winner,
        };
        self.tricks[winner.index()] += 1;
        self.last_trick = Some(taken);
        self.trick = Trick::new(self.seats, winner);
        taken
    }
}
