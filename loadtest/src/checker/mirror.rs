//! The game as far as one seat can know it, worked out from the events alone.
//!
//! Not the rules' own game: that one knows all hands. It takes from the rules only what needs no hidden card: who wins
//! a trick, what is led, what may be played from a hand, which bid is forbidden, what a bid scores. Invariant: after
//! the events of a state, [`Mirror::observation`] is what the state must show.

use rules::score::points;
use rules::{
    Action, Card, CardSet, DealCommitment, Event, LastTrick, Observation, Options, Phase,
    RevealedSeed, Seat, SeatCount, SheetRow, Suit, Trick,
};

use super::record::{Move, Record, SeenDeal};
use crate::contradiction::{Contradiction, ensure, same};

#[derive(Clone, Debug)]
pub(super) struct Mirror {
    pub(super) turn: u32,
    pub(super) sheet: Vec<SheetRow>,
    /// 1-based; 0 before the first round is dealt.
    pub(super) round: u8,
    pub(super) cards: u8,
    pub(super) dealer: Seat,
    pub(super) turned: Option<Card>,
    pub(super) trump: Option<Suit>,
    pub(super) bids: Vec<Bid>,
    pub(super) tricks: Vec<u8>,
    pub(super) trick: Trick,
    pub(super) last_trick: Option<LastTrick>,
    /// Cards of this round that everybody has seen, without the turned one.
    pub(super) played: CardSet,
    /// Those of them that this seat played.
    pub(super) played_by_you: CardSet,
    /// None from the event of the deal to the state that shows the hand.
    pub(super) hand: Option<CardSet>,
    pub(super) due: Due,
    pub(super) record: Record,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bid {
    Open,
    Hidden,
    Known(u8),
}

/// What must happen next: between two states never anything but a move, or nothing at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Deal,
    Move,
    Reveal,
    Trick,
    Score,
    Ranking,
    Nothing,
}

impl Mirror {
    /// A game that has just been announced.
    pub(super) fn new(
        seats: SeatCount,
        options: Options,
        commitment: DealCommitment,
        you: Option<Seat>,
    ) -> Self {
        Self {
            turn: 0,
            sheet: Vec::new(),
            round: 0,
            cards: 0,
            dealer: Seat::FIRST,
            turned: None,
            trump: None,
            bids: Vec::new(),
            tricks: Vec::new(),
            trick: Trick::new(seats, Seat::FIRST),
            last_trick: None,
            played: CardSet::EMPTY,
            played_by_you: CardSet::EMPTY,
            hand: None,
            due: Due::Deal,
            record: Record {
                seats,
                options,
                commitment,
                you,
                moves: Vec::new(),
                deals: Vec::new(),
                acknowledged: std::collections::BTreeMap::new(),
                end: None,
            },
        }
    }

    /// Takes one event of the game, in order.
    pub(super) fn apply(&mut self, event: &Event) -> Result<(), Contradiction> {
        match (self.due, event) {
            (
                Due::Deal,
                Event::RoundStarted {
                    round,
                    cards,
                    dealer,
                    trump_card,
                },
            ) => self.deal(*round, *cards, *dealer, *trump_card),
            (Due::Move, Event::TrumpChosen { seat, suit }) => {
                self.expect_move("trump_chosen", *seat, Phase::ChooseTrump)?;
                self.trump = Some(*suit);
                self.moved(Some(Move {
                    seat: *seat,
                    action: Action::ChooseTrump { suit: *suit },
                }));
                Ok(())
            }
            (Due::Move, Event::BidMade { seat, value }) => self.bid(*seat, *value),
            (Due::Reveal, Event::BidsRevealed { bids }) => self.reveal(bids),
            (Due::Move, Event::CardPlayed { seat, card }) => self.play(*seat, *card),
            (Due::Trick, Event::TrickCompleted { .. }) => self.take_trick(event),
            (Due::Score, Event::RoundScored { .. }) => self.score(event),
            (Due::Ranking, Event::GameFinished { ranking, seed }) => {
                same("ranking", &self.ranking(), ranking)?;
                self.finish(seed)
            }
            (due, event) => Err(Contradiction::new("events", format!("{due:?}"), event)),
        }
    }

    /// Takes from a picture what no event tells: the own hand of a new deal, and the own hidden bid.
    pub(super) fn learn(&mut self, shown: &Observation) -> Result<(), Contradiction> {
        let Some(you) = self.record.you else {
            return Ok(());
        };
        if self.hand.is_none() {
            self.learn_hand(shown.own.hand.iter().copied().collect())?;
        }
        if self.bids.get(you.index()) == Some(&Bid::Hidden) {
            let own = shown.own.bids.get(you.index()).copied().flatten();
            let own = own.filter(|bid| *bid <= self.cards).ok_or_else(|| {
                Contradiction::new(
                    "bids",
                    "the own bid, which is never hidden",
                    &shown.own.bids,
                )
            })?;
            self.bids[you.index()] = Bid::Known(own);
            let turn = self.turn_of_bid(you);
            self.record.moves[turn] = Some(Move {
                seat: you,
                action: Action::Bid { value: own },
            });
        }
        Ok(())
    }

    fn learn_hand(&mut self, hand: CardSet) -> Result<(), Contradiction> {
        let dealt = hand.or(self.played_by_you);
        let elsewhere = self.played.without(self.played_by_you);
        ensure(
            dealt.len() == u32::from(self.cards)
                && dealt.and(elsewhere).is_empty()
                && hand.and(self.played_by_you).is_empty()
                && self.turned.is_none_or(|turned| !dealt.contains(turned)),
            "hand",
            &format!("{} cards that lie nowhere else", self.cards),
            &hand,
        )?;
        self.hand = Some(hand);
        if let Some(deal) = self.record.deals.last_mut() {
            deal.hand = Some(dealt);
        }
        Ok(())
    }

    fn deal(
        &mut self,
        round: u8,
        cards: u8,
        dealer: Seat,
        turned: Option<Card>,
    ) -> Result<(), Contradiction> {
        let seats = self.record.seats;
        same("round", &(self.round + 1), &round)?;
        same("cards", &self.hand_sizes()[usize::from(round - 1)], &cards)?;
        let expected = if round == 1 {
            dealer
        } else {
            seats.left_of(self.dealer, 1)
        };
        same("dealer", &expected, &dealer)?;
        ensure(
            seats.contains(dealer),
            "dealer",
            "a seat of the table",
            &dealer,
        )?;
        let all_dealt = cards * seats.get() == rules::DECK_SIZE;
        same("no card turned", &all_dealt, &turned.is_none())?;
        self.round = round;
        self.cards = cards;
        self.dealer = dealer;
        self.turned = turned;
        self.trump = turned.and_then(Card::suit);
        self.bids = vec![Bid::Open; usize::from(seats.get())];
        self.tricks = vec![0; usize::from(seats.get())];
        self.trick = Trick::new(seats, seats.left_of(dealer, 1));
        self.last_trick = None;
        self.played = CardSet::EMPTY;
        self.played_by_you = CardSet::EMPTY;
        self.hand = None;
        self.due = Due::Move;
        self.record.deals.push(SeenDeal {
            round,
            cards,
            dealer,
            turned,
            hand: None,
        });
        Ok(())
    }

    fn bid(&mut self, seat: Seat, value: Option<u8>) -> Result<(), Contradiction> {
        self.expect_move("bid_made", seat, Phase::Bid)?;
        let hidden = self.record.options.hidden_bids();
        same("bid hidden", &hidden, &value.is_none())?;
        if let Some(value) = value {
            ensure(
                value <= self.cards && self.forbidden_bid() != Some(value),
                "bid_made",
                "a bid that the rule allows",
                &value,
            )?;
        }
        self.bids[seat.index()] = value.map_or(Bid::Hidden, Bid::Known);
        self.moved(value.map(|value| Move {
            seat,
            action: Action::Bid { value },
        }));
        if hidden && self.bids_made() == self.record.seats.get() {
            self.due = Due::Reveal;
        }
        Ok(())
    }

    fn reveal(&mut self, bids: &[u8]) -> Result<(), Contradiction> {
        same("bids revealed", &self.bids.len(), &bids.len())?;
        for (seat, &value) in self.record.seats.seats().zip(bids) {
            if let Bid::Known(own) = self.bids[seat.index()] {
                same("bids_revealed", &own, &value)?;
            }
            ensure(
                value <= self.cards,
                "bids_revealed",
                "at most the hand size",
                &value,
            )?;
            self.bids[seat.index()] = Bid::Known(value);
            let turn = self.turn_of_bid(seat);
            self.record.moves[turn] = Some(Move {
                seat,
                action: Action::Bid { value },
            });
        }
        self.due = Due::Move;
        Ok(())
    }

    /// Where a bid of this round stands among the moves; only while bids are the last moves.
    fn turn_of_bid(&self, seat: Seat) -> usize {
        let seats = self.record.seats.get();
        let steps =
            (seat.index() + usize::from(seats) - self.dealer.index() - 1) % usize::from(seats);
        self.turn as usize - usize::from(self.bids_made()) + steps
    }

    fn play(&mut self, seat: Seat, card: Card) -> Result<(), Contradiction> {
        self.expect_move("card_played", seat, Phase::Play)?;
        let fresh = !self.played.contains(card) && self.turned != Some(card);
        ensure(
            fresh,
            "card_played",
            "a card that has not been seen in this round",
            &card,
        )?;
        let own = self.record.you == Some(seat);
        if let Some(hand) = &mut self.hand {
            ensure(
                hand.contains(card) == own,
                "card_played",
                "a card of the hand of who plays it",
                &card,
            )?;
            ensure(
                !own || hand.playable(self.trick.led()).contains(card),
                "card_played",
                "a card that may be played",
                &card,
            )?;
            hand.remove(card);
        }
        self.played.insert(card);
        if own {
            self.played_by_you.insert(card);
        }
        self.trick.push(card);
        self.moved(Some(Move {
            seat,
            action: Action::Play { card },
        }));
        if self.trick.is_full() {
            self.due = Due::Trick;
        }
        Ok(())
    }

    fn take_trick(&mut self, event: &Event) -> Result<(), Contradiction> {
        let taken = LastTrick {
            leader: self.trick.leader(),
            plays: self.trick.plays().collect(),
            led: self.trick.led(),
            winner: self
                .trick
                .winning(self.trump)
                .expect("a full trick has a winner"),
        };
        let expected = Event::TrickCompleted {
            winner: taken.winner,
            plays: taken.plays.clone(),
        };
        same("trick_completed", &expected, event)?;
        self.tricks[taken.winner.index()] += 1;
        self.trick = Trick::new(self.record.seats, taken.winner);
        self.last_trick = Some(taken);
        self.due = if self.tricks_taken() == self.cards {
            Due::Score
        } else {
            Due::Move
        };
        Ok(())
    }

    fn score(&mut self, event: &Event) -> Result<(), Contradiction> {
        let bids = self.known_bids();
        let points: Vec<i32> = bids
            .iter()
            .zip(&self.tricks)
            .map(|(&b, &t)| points(b, t))
            .collect();
        self.sheet.push(SheetRow {
            round: self.round,
            cards: self.cards,
            bids: bids.clone(),
            tricks: self.tricks.clone(),
            points: points.clone(),
        });
        let tricks = self.tricks.clone();
        let expected = Event::RoundScored {
            bids,
            tricks,
            points,
            scores: self.scores(),
        };
        same("round_scored", &expected, event)?;
        let last = usize::from(self.round) == self.hand_sizes().len();
        self.due = if last { Due::Ranking } else { Due::Deal };
        Ok(())
    }

    /// The seed must be the promised one; that the game came from it is checked by [`Record::replay`].
    pub(super) fn finish(&mut self, seed: &RevealedSeed) -> Result<(), Contradiction> {
        same("seed", &self.record.commitment, &seed.seed().commitment())?;
        self.due = Due::Nothing;
        self.record.end = Some((seed.clone(), self.observation()));
        Ok(())
    }

    fn expect_move(&self, what: &str, seat: Seat, phase: Phase) -> Result<(), Contradiction> {
        same(what, &(self.to_act(), self.phase()), &(Some(seat), phase))
    }

    fn moved(&mut self, known: Option<Move>) {
        self.turn += 1;
        self.record.moves.push(known);
    }
}
