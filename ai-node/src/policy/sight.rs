//! What a seat can conclude from what it sees: which cards are still somewhere else, and how likely
//! one of its own is to take a trick.

use rules::{Card, CardSet, Seat, SeatCount, Suit, Trick};

use super::Situation;
use super::rollout::strength;

/// Cards that no hand of this round can hold in full view of the seat, and what follows from them.
pub(super) struct Sight {
    pub(super) trump: Option<Suit>,
    pub(super) hand: CardSet,
    /// Cards that others may hold.
    pub(super) unseen: CardSet,
    pub(super) seats: SeatCount,
    /// Cards that each of the others still holds, on average.
    cards_each: f64,
}

impl Sight {
    pub(super) fn of(situation: &Situation<'_>) -> Self {
        Self::with_trump(situation, situation.observation.table.trump.suit)
    }

    /// As if that suit were trump.
    pub(super) fn with_trump(situation: &Situation<'_>, trump: Option<Suit>) -> Self {
        let table = &situation.observation.table;
        let hand: CardSet = situation.observation.own.hand.iter().copied().collect();
        let players = u8::try_from(table.scores.len())
            .ok()
            .and_then(SeatCount::new);
        Self {
            trump,
            hand,
            unseen: situation.unseen,
            // An observation always has one score for each of its three to six seats.
            seats: players.unwrap_or(SeatCount::MIN),
            cards_each: f64::from(hand.len()),
        }
    }

    /// The chance that one given unseen card is in one given hand of the others.
    fn held_by_one(&self) -> f64 {
        let unseen = f64::from(self.unseen.len()).max(1.0);
        (self.cards_each / unseen).min(1.0)
    }

    /// The chance that a card which wins the trick as it lies still wins it after so many more have
    /// played.
    pub(super) fn holds(&self, card: Card, led: Option<Suit>, to_come: f64) -> f64 {
        let one_hand_lets_it_pass = match card {
            Card::Wizard(_) => return 1.0,
            Card::Jester(_) => return 0.0,
            Card::Suited(..) => self.lets_pass(card, led),
        };
        one_hand_lets_it_pass.powf(to_come)
    }

    /// The chance that the next player does not beat the card.
    fn lets_pass(&self, card: Card, led: Option<Suit>) -> f64 {
        let held = self.held_by_one();
        let wizards = self.unseen_where(Card::is_wizard);
        // Who has a Wizard does not always spend it here.
        let no_wizard = 1.0 - 0.6 * (1.0 - (1.0 - held).powf(wizards));
        let beaten_in_suit = self.unseen_where(|other| outranks(other, card));
        let no_higher = (1.0 - held).powf(beaten_in_suit);
        let suit = card.suit();
        if suit == self.trump || self.trump.is_none() {
            return no_wizard * no_higher;
        }
        // A ruff needs a hand that has a trump and may play it.
        let led_left = self.unseen_where(|other| other.suit() == led);
        let void = (1.0 - held).powf(led_left);
        let trumps = self.unseen_where(|other| other.suit() == self.trump);
        let has_trump = 1.0 - (1.0 - held).powf(trumps);
        no_wizard * no_higher * (1.0 - void * has_trump * 0.8)
    }

    fn unseen_where(&self, is: impl Fn(Card) -> bool) -> f64 {
        let count = self.unseen.into_iter().filter(|card| is(*card)).count();
        // At most 60.
        f64::from(u8::try_from(count).unwrap_or(u8::MAX))
    }

    /// Whether no card of the others takes a trick that this one leads.
    pub(super) fn nothing_beats(&self, card: Card) -> bool {
        let wizards = self.unseen.into_iter().any(Card::is_wizard);
        let trumps = self.unseen.into_iter().any(|other| self.is_trump(other));
        match card {
            Card::Wizard(_) => true,
            Card::Jester(_) => false,
            Card::Suited(..) => {
                let outranked = self.unseen.into_iter().any(|other| outranks(other, card));
                !wizards && !outranked && (self.is_trump(card) || !trumps)
            }
        }
    }

    /// Whether only a Wizard beats this card.
    pub(super) fn is_top_trump(&self, card: Card) -> bool {
        self.is_trump(card) && !self.unseen.into_iter().any(|other| outranks(other, card))
    }

    fn is_trump(&self, card: Card) -> bool {
        self.trump.is_some() && card.suit() == self.trump
    }

    /// What a card is worth keeping for, from 0 (a Jester) up (a Wizard): its order of strength.
    pub(super) fn strength(&self, card: Card) -> u8 {
        strength(card, self.trump)
    }

    /// The trick that lies on the table.
    pub(super) fn trick(&self, situation: &Situation<'_>) -> Trick {
        let view = &situation.observation.table.trick;
        let mut trick = Trick::new(self.seats, view.leader);
        for play in view.plays.iter().take(usize::from(self.seats.get()) - 1) {
            trick.push(play.card);
        }
        trick
    }

    /// Whether this seat would take the trick as it lies after playing the card.
    pub(super) fn wins_now(&self, trick: &Trick, card: Card, seat: Seat) -> bool {
        let mut after = *trick;
        after.push(card);
        after.winning(self.trump) == Some(seat)
    }
}

fn outranks(other: Card, card: Card) -> bool {
    match (other, card) {
        (Card::Suited(suit, rank), Card::Suited(own_suit, own_rank)) => {
            suit == own_suit && rank > own_rank
        }
        _ => false,
    }
}
