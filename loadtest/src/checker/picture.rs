//! What a state must show of a mirrored game.

use rules::bid::{forbidden_bid, leads_alone};
use rules::score::ranking;
use rules::{
    Action, Card, Forbidden, Observation, OwnView, Phase, RankingRow, Reason, Seat, Suit,
    TableView, TrickView, TrumpView,
};

use super::mirror::{Bid, Due, Mirror};

impl Mirror {
    /// Everything that this seat is to be shown now.
    pub(super) fn observation(&self) -> Observation {
        Observation {
            table: TableView {
                turn: self.turn,
                round: self.round,
                rounds: u8::try_from(self.hand_sizes().len()).expect("at most 20 rounds"),
                cards: self.cards,
                phase: self.phase(),
                dealer: self.dealer,
                to_act: self.to_act(),
                trump: TrumpView {
                    card: self.turned,
                    suit: self.trump,
                },
                bid_made: self.bids.iter().map(|bid| *bid != Bid::Open).collect(),
                tricks: self.tricks.clone(),
                trick: TrickView {
                    leader: self.trick.leader(),
                    plays: self.trick.plays().collect(),
                    led: self.trick.led(),
                    winning: self.trick.winning(self.trump),
                },
                scores: self.scores(),
                ranking: (self.due == Due::Nothing).then(|| self.ranking()),
            },
            sheet: self.sheet.clone(),
            last_trick: self.last_trick.clone(),
            own: self.own(),
        }
    }

    pub(super) fn phase(&self) -> Phase {
        if self.trump.is_none() && self.turned.is_some_and(Card::is_wizard) {
            Phase::ChooseTrump
        } else if self.bids_made() < self.record.seats.get() {
            Phase::Bid
        } else if self.tricks_taken() < self.cards {
            Phase::Play
        } else {
            Phase::Finished
        }
    }

    pub(super) fn to_act(&self) -> Option<Seat> {
        match self.phase() {
            Phase::ChooseTrump => Some(self.dealer),
            Phase::Bid => Some(self.record.seats.left_of(self.dealer, self.bids_made() + 1)),
            Phase::Play => self.trick.to_play(),
            Phase::Finished => None,
        }
    }

    pub(super) fn bids_made(&self) -> u8 {
        self.bids
            .iter()
            .map(|bid| u8::from(*bid != Bid::Open))
            .sum()
    }

    pub(super) fn known_bids(&self) -> Vec<u8> {
        let known = |bid: &Bid| match bid {
            Bid::Known(value) => Some(*value),
            Bid::Open | Bid::Hidden => None,
        };
        self.bids.iter().filter_map(known).collect()
    }

    pub(super) fn tricks_taken(&self) -> u8 {
        self.tricks.iter().sum()
    }

    pub(super) fn scores(&self) -> Vec<i32> {
        let seats = usize::from(self.record.seats.get());
        (0..seats)
            .map(|seat| self.sheet.iter().map(|row| row.points[seat]).sum())
            .collect()
    }

    pub(super) fn ranking(&self) -> Vec<RankingRow> {
        ranking(self.record.seats, &self.scores())
    }

    pub(super) fn hand_sizes(&self) -> &'static [u8] {
        self.record.options.length().hand_sizes(self.record.seats)
    }

    /// The bid that the last bidder may not make. With hidden bids there is none, so all bids that it looks at are known.
    pub(super) fn forbidden_bid(&self) -> Option<u8> {
        if self.bids_made() + 1 < self.record.seats.get() {
            return None;
        }
        let leads = leads_alone(&self.scores(), self.dealer.index());
        let sum = self.known_bids().iter().sum();
        forbidden_bid(self.record.options.bid_rule(), self.cards, sum, leads)
    }

    fn own(&self) -> OwnView {
        let hand = self.hand.unwrap_or_default();
        let acts = self.record.you.is_some() && self.record.you == self.to_act();
        let playable = hand.playable(self.trick.led());
        let play = |card| Action::Play { card };
        let (legal_actions, forbidden) = match self.phase() {
            _ if !acts => (Vec::new(), Vec::new()),
            Phase::Finished => (Vec::new(), Vec::new()),
            Phase::ChooseTrump => (
                Suit::ALL.map(|suit| Action::ChooseTrump { suit }).to_vec(),
                Vec::new(),
            ),
            Phase::Bid => self.bids_to_choose_from(),
            Phase::Play => (
                playable.into_iter().map(play).collect(),
                hand.without(playable)
                    .into_iter()
                    .map(|card| Forbidden::Card {
                        card,
                        reason: Reason::MustFollow,
                    })
                    .collect(),
            ),
        };
        OwnView {
            hand: hand.into_iter().collect(),
            bids: self
                .bids
                .iter()
                .map(|bid| match bid {
                    Bid::Known(value) => Some(*value),
                    Bid::Open | Bid::Hidden => None,
                })
                .collect(),
            legal_actions,
            forbidden,
        }
    }

    fn bids_to_choose_from(&self) -> (Vec<Action>, Vec<Forbidden>) {
        let forbidden = self.forbidden_bid();
        let legal = (0..=self.cards)
            .filter(|value| Some(*value) != forbidden)
            .map(|value| Action::Bid { value });
        let refused = forbidden.map(|value| Forbidden::Value {
            value,
            reason: Reason::BidRule,
        });
        (legal.collect(), refused.into_iter().collect())
    }
}
