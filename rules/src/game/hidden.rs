//! Other games that look the same to one seat: for tests of what must not depend on hidden cards.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

use crate::card::Card;
use crate::card_set::CardSet;
use crate::observation::Phase;
use crate::seat::Seat;
use crate::seed::Seed;

use super::Game;

impl Game {
    /// Deals the cards that the viewer can't see anew, among the other hands and the undealt rest,
    /// and makes the bids that the viewer can't see other ones.
    pub fn swap_what_is_hidden_from(&mut self, viewer: Option<Seat>, chance: &mut ChaCha8Rng) {
        // Not asked of the code under test.
        let hidden = self.options.hidden_bids() && self.phase() == Phase::Bid;
        let hidden_bids: Vec<Seat> = self
            .seats
            .seats()
            .filter(|seat| hidden && Some(*seat) != viewer)
            .filter(|seat| self.round.bids[seat.index()].is_some())
            .collect();
        for seat in hidden_bids {
            let other = chance.random_range(0..=self.round.cards);
            self.round.bids[seat.index()] = Some(other);
        }

        let round = &mut self.round;
        let own = viewer.map_or(CardSet::EMPTY, |seat| round.hands[seat.index()]);
        let seen: CardSet = own
            .into_iter()
            .chain(round.plays.iter().copied())
            .chain(round.turned)
            .collect();
        let mut unseen: Vec<Card> = Card::ALL
            .into_iter()
            .filter(|card| !seen.contains(*card))
            .collect();
        unseen.shuffle(chance);
        for seat in self.seats.seats().filter(|seat| Some(*seat) != viewer) {
            let hand = &mut round.hands[seat.index()];
            *hand = unseen.drain(..hand.len() as usize).collect();
        }
        self.seed = Seed::new(chance.random());
    }
}
