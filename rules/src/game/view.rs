//! What a seat or a spectator is shown: the only place that decides what is hidden from whom.

use crate::observation::{
    Forbidden, LastTrick, Observation, OwnView, Phase, TableView, TrickView, TrumpView,
};
use crate::refusal::Reason;
use crate::score::SheetRow;
use crate::seat::Seat;

use super::Game;

impl Game {
    /// All that this seat, or a spectator (None), may see.
    pub fn observe(&self, viewer: Option<Seat>) -> Observation {
        Observation {
            table: self.table(),
            sheet: self.sheet().to_vec(),
            last_trick: self.last_trick(),
            own: self.own(viewer),
        }
    }

    /// What everybody sees.
    pub fn table(&self) -> TableView {
        let round = &self.round;
        let seats = usize::from(self.seats.get());
        TableView {
            turn: self.turn,
            round: round.number,
            rounds: self.rounds(),
            cards: round.cards,
            phase: self.phase(),
            dealer: round.dealer,
            to_act: self.to_act(),
            trump: TrumpView {
                card: round.turned,
                suit: round.trump,
            },
            bid_made: round.bids[..seats].iter().map(Option::is_some).collect(),
            tricks: round.tricks[..seats].to_vec(),
            trick: TrickView {
                leader: round.trick.leader(),
                plays: round.trick.plays().collect(),
                led: round.trick.led(),
                winning: round.trick.winning(round.trump),
            },
            scores: self.scores().to_vec(),
            ranking: self.ranking(),
        }
    }

    /// The finished rounds.
    pub fn sheet(&self) -> &[SheetRow] {
        &self.sheet
    }

    /// The last full trick of this round.
    pub fn last_trick(&self) -> Option<LastTrick> {
        let taken = self.round.last_trick.as_ref()?;
        Some(LastTrick {
            leader: taken.trick.leader(),
            plays: taken.trick.plays().collect(),
            led: taken.trick.led(),
            winner: taken.winner,
        })
    }

    /// What this seat sees beyond that; a spectator (None) sees the bids that everybody sees.
    pub fn own(&self, viewer: Option<Seat>) -> OwnView {
        let round = &self.round;
        OwnView {
            hand: viewer.map_or_else(Vec::new, |seat| {
                round.hands[seat.index()].into_iter().collect()
            }),
            bids: self
                .seats
                .seats()
                .map(|seat| self.bid_seen_by(viewer, seat))
                .collect(),
            legal_actions: viewer.map_or_else(Vec::new, |seat| self.legal_actions(seat)),
            forbidden: viewer.map_or_else(Vec::new, |seat| self.forbidden(seat)),
        }
    }

    fn bid_seen_by(&self, viewer: Option<Seat>, seat: Seat) -> Option<u8> {
        let hidden =
            self.options.hidden_bids() && self.phase() == Phase::Bid && viewer != Some(seat);
        if hidden {
            None
        } else {
            self.round.bids[seat.index()]
        }
    }

    fn forbidden(&self, seat: Seat) -> Vec<Forbidden> {
        if self.to_act() != Some(seat) {
            return Vec::new();
        }
        match self.phase() {
            Phase::Bid => self
                .forbidden_bid()
                .map(|value| Forbidden::Value {
                    value,
                    reason: Reason::BidRule,
                })
                .into_iter()
                .collect(),
            Phase::Play => self.round.hands[seat.index()]
                .without(self.round.playable(seat))
                .into_iter()
                .map(|card| Forbidden::Card {
                    card,
                    reason: Reason::MustFollow,
                })
                .collect(),
            Phase::ChooseTrump | Phase::Finished => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::options::{Options, OptionsPatch};
    use crate::seat::SeatCount;
    use crate::seed::Seed;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn what_one_seat_may_see_does_not_change_when_hidden_cards_are_swapped(
            players in 3u8..=6,
            hidden_bids: bool,
            seed: [u8; 32],
            chance: u64,
        ) {
            let seats = SeatCount::new(players).unwrap();
            let patch = OptionsPatch { hidden_bids: Some(hidden_bids), ..OptionsPatch::default() };
            let options = Options::default().with(patch).unwrap();
            let mut chance = ChaCha8Rng::seed_from_u64(chance);
            let (mut game, _) = Game::new(seats, options, Seed::new(seed));
            while let Some(seat) = game.to_act() {
                for viewer in seats.seats().map(Some).chain([None]) {
                    let mut other = game.clone();
                    other.swap_what_is_hidden_from(viewer, &mut chance);
                    prop_assert_eq!(other.observe(viewer), game.observe(viewer));
                }
                let mut moves = game.legal_moves(seat);
                let chosen = chance.random_range(0..moves.len());
                game.apply(seat, moves.nth(chosen).unwrap()).unwrap();
            }
        }
    }
}
