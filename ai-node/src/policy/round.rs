//! The present round as one seat has seen it, rebuilt from the cards that were played.

use protocol::decide::Decide;
use rules::{Card, CardSet, MAX_SEATS, Seat, SeatCount, Suit, Trick};

/// What is known of a round to the seat that must move.
#[derive(Clone, Debug)]
pub(super) struct Round {
    pub(super) seats: SeatCount,
    pub(super) seat: Seat,
    pub(super) trump: Option<Suit>,
    pub(super) hand: CardSet,
    /// Cards that others may hold, or that were not dealt.
    pub(super) unseen: CardSet,
    /// How many cards each seat holds.
    pub(super) held: [u8; MAX_SEATS],
    /// Suits that a seat has shown not to have, by not following.
    pub(super) void: [CardSet; MAX_SEATS],
    /// None: not made yet, or hidden.
    pub(super) bids: [Option<u8>; MAX_SEATS],
    pub(super) tricks: [u8; MAX_SEATS],
    pub(super) trick: Trick,
}

impl Round {
    /// Nothing if the request contradicts itself, as no game node's does.
    pub(super) fn of(request: &Decide) -> Option<Self> {
        let observation = &request.observation;
        let table = &observation.table;
        let seats = u8::try_from(table.scores.len())
            .ok()
            .and_then(SeatCount::new)?;
        let hand: CardSet = observation.own.hand.iter().copied().collect();
        let mut unseen = Card::ALL.into_iter().collect::<CardSet>().without(hand);
        table
            .trump
            .card
            .into_iter()
            .for_each(|turned| unseen.remove(turned));
        let mut round = Self {
            seats,
            seat: request.seat,
            trump: table.trump.suit,
            hand,
            unseen,
            held: held_at_first(seats, table.cards),
            void: [CardSet::EMPTY; MAX_SEATS],
            bids: per_seat(&observation.own.bids)?,
            tricks: per_seat(&table.tricks)?,
            trick: Trick::new(seats, seats.left_of(table.dealer, 1)),
        };
        for card in &request.plays {
            round.replay(*card)?;
        }
        let whole = round.held[round.seat.index()] == u8::try_from(hand.len()).ok()?;
        whole.then_some(round)
    }

    /// One more card that everybody saw; nothing if its player can't have had another card.
    fn replay(&mut self, card: Card) -> Option<()> {
        let player = self.trick.to_play()?;
        if let Some(led) = self.trick.led()
            && card.suit().is_some_and(|suit| suit != led)
        {
            self.void[player.index()] = self.void[player.index()].or(CardSet::of_suit(led));
        }
        self.held[player.index()] = self.held[player.index()].checked_sub(1)?;
        self.unseen.remove(card);
        self.trick.push(card);
        if self.trick.is_full() {
            self.trick = Trick::new(self.seats, self.trick.winning(self.trump)?);
        }
        Some(())
    }

    /// All seats but the own.
    pub(super) fn others(&self) -> impl Iterator<Item = Seat> + '_ {
        self.seats.seats().filter(|seat| *seat != self.seat)
    }
}

fn held_at_first(seats: SeatCount, cards: u8) -> [u8; MAX_SEATS] {
    let mut held = [0; MAX_SEATS];
    held[..usize::from(seats.get())].fill(cards);
    held
}

fn per_seat<T: Copy + Default>(values: &[T]) -> Option<[T; MAX_SEATS]> {
    let mut all = [T::default(); MAX_SEATS];
    all.get_mut(..values.len())?.copy_from_slice(values);
    Some(all)
}
