//! Plays a round to its end with all hands open, fast and with a rule of thumb that knows about bids.

use rules::{Card, CardSet, MAX_SEATS, Suit, Trick};

use super::round::Round;
use super::world::Hands;

/// A round that is being played out.
#[derive(Clone, Copy)]
pub(super) struct Rollout {
    hands: Hands,
    tricks: [u8; MAX_SEATS],
    bids: [u8; MAX_SEATS],
    trick: Trick,
    trump: Option<Suit>,
    seats: rules::SeatCount,
}

impl Rollout {
    /// Begins where the round is; who has not bid yet is taken to bid what their hand is worth.
    pub(super) fn new(round: &Round, hands: Hands, trump: Option<Suit>) -> Self {
        let mut bids = [0; MAX_SEATS];
        for seat in round.seats.seats() {
            let hand = hands[seat.index()];
            bids[seat.index()] =
                round.bids[seat.index()].unwrap_or_else(|| worth(hand, trump, round.seats.get()));
        }
        Self {
            hands,
            tricks: round.tricks,
            bids,
            trick: round.trick,
            trump,
            seats: round.seats,
        }
    }

    /// The same round with another bid of one seat.
    pub(super) fn with_bid(mut self, seat: rules::Seat, bid: u8) -> Self {
        self.bids[seat.index()] = bid;
        self
    }

    /// Plays the card for whoever is to play.
    pub(super) fn play(&mut self, card: Card) {
        let Some(player) = self.trick.to_play() else {
            return;
        };
        self.hands[player.index()].remove(card);
        self.trick.push(card);
        if self.trick.is_full()
            && let Some(winner) = self.trick.winning(self.trump)
        {
            self.tricks[winner.index()] += 1;
            self.trick = Trick::new(self.seats, winner);
        }
    }

    /// Plays to the end; the tricks of each seat.
    pub(super) fn finish(mut self) -> [u8; MAX_SEATS] {
        while let Some(card) = self.choose() {
            self.play(card);
        }
        self.tricks
    }

    /// Nothing once the hands are empty.
    fn choose(&self) -> Option<Card> {
        let player = self.trick.to_play()?;
        let hand = self.hands[player.index()];
        let playable = hand.playable(self.trick.led());
        if playable.len() <= 1 {
            return playable.into_iter().next();
        }
        let needed = i32::from(self.bids[player.index()]) - i32::from(self.tricks[player.index()]);
        let left = i32::try_from(hand.len()).unwrap_or(i32::MAX);
        let empty = self.trick.plays().next().is_none();
        if empty {
            return self.lead(playable, needed);
        }
        let (winning, losing) = self.split(playable);
        if needed > 0 {
            self.take(winning, losing, needed >= left)
        } else {
            self.strongest(losing).or_else(|| self.duck(winning))
        }
    }

    fn lead(&self, playable: CardSet, needed: i32) -> Option<Card> {
        if needed > 0 {
            self.strongest(playable)
        } else {
            self.weakest(playable)
        }
    }

    /// The last to play wins as cheaply as possible; before that a card has to hold.
    fn take(&self, winning: CardSet, losing: CardSet, needs_all: bool) -> Option<Card> {
        let played = self.trick.plays().count();
        let last = played + 1 == usize::from(self.seats.get());
        if winning.is_empty() {
            self.weakest(losing)
        } else if last {
            self.weakest(winning)
        } else if needs_all {
            self.strongest(winning)
        } else {
            let no_wizards = winning.without(wizards());
            self.strongest(no_wizards).or_else(|| self.weakest(winning))
        }
    }

    /// All cards win as the trick lies: the last to play gets rid of the strongest, others hope.
    fn duck(&self, winning: CardSet) -> Option<Card> {
        let last = self.trick.plays().count() + 1 == usize::from(self.seats.get());
        if last {
            self.strongest(winning)
        } else {
            self.weakest(winning)
        }
    }

    /// Cards that would take the trick as it lies, and the others.
    fn split(&self, playable: CardSet) -> (CardSet, CardSet) {
        let (mut winning, mut losing) = (CardSet::EMPTY, CardSet::EMPTY);
        let player = self.trick.to_play();
        for card in playable {
            let mut after = self.trick;
            after.push(card);
            if after.winning(self.trump) == player {
                winning.insert(card);
            } else {
                losing.insert(card);
            }
        }
        (winning, losing)
    }

    fn weakest(&self, cards: CardSet) -> Option<Card> {
        cards
            .into_iter()
            .min_by_key(|card| strength(*card, self.trump))
    }

    fn strongest(&self, cards: CardSet) -> Option<Card> {
        cards
            .into_iter()
            .max_by_key(|card| strength(*card, self.trump))
    }
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

fn wizards() -> CardSet {
    Card::ALL
        .into_iter()
        .filter(|card| card.is_wizard())
        .collect()
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
