//! A whole game, from the first deal to the ranking.
//!
//! A machine with one door, [`Game::apply`]. It knows no time, chance or network: the seed is an
//! argument, and everything follows from it and the actions. Invariants: exactly one seat has legal
//! actions until the game has finished; a refused action changes nothing.

#[cfg(any(test, feature = "testing"))]
mod hidden;
mod view;

use std::fmt;

use crate::action::Action;
use crate::bid::{forbidden_bid, leads_alone};
use crate::card::{Card, Suit};
use crate::deal::first_dealer;
use crate::event::Event;
use crate::legal_actions::LegalActions;
use crate::observation::Phase;
use crate::options::Options;
use crate::refusal::{Reason, Refusal};
use crate::round::Round;
use crate::score::{RankingRow, SheetRow, points, ranking};
use crate::seat::{MAX_SEATS, Seat, SeatCount};
use crate::seed::{DealCommitment, RevealedSeed, Seed};

/// One game.
#[derive(Clone, PartialEq, Eq)]
pub struct Game {
    pub(crate) seats: SeatCount,
    pub(crate) options: Options,
    pub(crate) seed: Seed,
    pub(crate) turn: u32,
    /// One row a finished round.
    pub(crate) sheet: Vec<SheetRow>,
    /// Totals of the sheet; one entry a seat, 0 beyond the table's seats.
    pub(crate) scores: [i32; MAX_SEATS],
    /// The round that is played; the last one stays when the game has finished.
    pub(crate) round: Round,
}

impl Game {
    /// Deals the first round.
    pub fn new(seats: SeatCount, options: Options, seed: Seed) -> (Game, Vec<Event>) {
        let dealer = first_dealer(&seed, seats);
        let cards = options.length().hand_sizes(seats)[0];
        let game = Game {
            seats,
            options,
            turn: 0,
            sheet: Vec::new(),
            scores: [0; MAX_SEATS],
            round: Round::deal(&seed, 1, dealer, seats, cards),
            seed,
        };
        let events = vec![
            Event::GameStarted {
                deal_commitment: game.commitment(),
            },
            game.round_started(),
        ];
        (game, events)
    }

    /// Takes one action of a seat and says what happened.
    ///
    /// # Errors
    /// It isn't this seat's turn, or the rules forbid the action; the game is then as it was.
    pub fn apply(&mut self, seat: Seat, action: Action) -> Result<Vec<Event>, Refusal> {
        if self.to_act() != Some(seat) {
            return Err(Refusal::NotYourTurn);
        }
        let mut events = Vec::with_capacity(1);
        match (self.phase(), action) {
            (Phase::ChooseTrump, Action::ChooseTrump { suit }) => {
                self.round.trump = Some(suit);
                events.push(Event::TrumpChosen { seat, suit });
            }
            (Phase::Bid, Action::Bid { value }) => {
                self.check_bid(value)?;
                self.bid(seat, value, &mut events);
            }
            (Phase::Play, Action::Play { card }) => {
                self.check_play(seat, card)?;
                self.play(seat, card, &mut events);
            }
            _ => return Err(Refusal::Illegal(Reason::WrongPhase)),
        }
        self.turn += 1;
        Ok(events)
    }

    /// Exactly the actions that [`Game::apply`] would take from this seat now.
    pub fn legal_moves(&self, seat: Seat) -> LegalActions {
        if self.to_act() != Some(seat) {
            return LegalActions::none();
        }
        match self.phase() {
            Phase::ChooseTrump => LegalActions::suits(),
            Phase::Bid => LegalActions::bids(self.cards(), self.forbidden_bid()),
            Phase::Play => LegalActions::plays(self.round.playable(seat)),
            Phase::Finished => LegalActions::none(),
        }
    }

    /// [`Game::legal_moves`] as a list.
    pub fn legal_actions(&self, seat: Seat) -> Vec<Action> {
        self.legal_moves(seat).collect()
    }

    /// How many play.
    pub const fn seats(&self) -> SeatCount {
        self.seats
    }

    /// The cards that were played in this round, in order, the present trick included. Everybody
    /// saw them.
    pub fn plays(&self) -> &[Card] {
        &self.round.plays
    }

    /// What was agreed on before the game.
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Number of actions accepted so far.
    pub const fn turn(&self) -> u32 {
        self.turn
    }

    /// What is to be done next.
    pub fn phase(&self) -> Phase {
        self.round.phase()
    }

    /// Whose turn it is; None when the game has finished.
    pub fn to_act(&self) -> Option<Seat> {
        self.round.to_act()
    }

    /// Number of the present round, 1-based; when the game has finished, of the last.
    pub const fn round(&self) -> u8 {
        self.round.number
    }

    /// How many rounds the game has.
    pub fn rounds(&self) -> u8 {
        u8::try_from(self.hand_sizes().len()).expect("at most 20 rounds")
    }

    /// Hand size of the present round.
    pub const fn cards(&self) -> u8 {
        self.round.cards
    }

    /// Who dealt the present round.
    pub const fn dealer(&self) -> Seat {
        self.round.dealer
    }

    /// Trump of the present round; None: there is none, or it has not been named yet.
    pub const fn trump(&self) -> Option<Suit> {
        self.round.trump
    }

    /// Totals of the finished rounds, one entry a seat.
    pub fn scores(&self) -> &[i32] {
        &self.scores[..usize::from(self.seats.get())]
    }

    /// Are all rounds played?
    pub fn is_finished(&self) -> bool {
        self.phase() == Phase::Finished
    }

    /// The places, best first, once the game has finished.
    pub fn ranking(&self) -> Option<Vec<RankingRow>> {
        self.is_finished()
            .then(|| ranking(self.seats, self.scores()))
    }

    /// What players get at the start, to check the deals by at the end.
    pub fn commitment(&self) -> DealCommitment {
        self.seed.commitment()
    }

    /// The seed, once the game has finished.
    pub fn revealed_seed(&self) -> Option<RevealedSeed> {
        self.is_finished().then(|| RevealedSeed::of(&self.seed))
    }

    pub(crate) fn hand_sizes(&self) -> &'static [u8] {
        self.options.length().hand_sizes(self.seats)
    }

    /// The bid that the seat to act may not make, if it is the last bidder.
    fn forbidden_bid(&self) -> Option<u8> {
        let round = &self.round;
        if round.bids_made() + 1 < self.seats.get() {
            return None;
        }
        let dealer_leads = leads_alone(self.scores(), round.dealer.index());
        forbidden_bid(
            self.options.bid_rule(),
            round.cards,
            round.bid_sum(),
            dealer_leads,
        )
    }

    fn check_bid(&self, value: u8) -> Result<(), Refusal> {
        if value > self.cards() {
            return Err(Refusal::Illegal(Reason::OutOfRange));
        }
        if self.forbidden_bid() == Some(value) {
            return Err(Refusal::Illegal(Reason::BidRule));
        }
        Ok(())
    }

    fn check_play(&self, seat: Seat, card: Card) -> Result<(), Refusal> {
        if !self.round.hands[seat.index()].contains(card) {
            return Err(Refusal::Illegal(Reason::NotInHand));
        }
        if !self.round.playable(seat).contains(card) {
            return Err(Refusal::Illegal(Reason::MustFollow));
        }
        Ok(())
    }

    fn bid(&mut self, seat: Seat, value: u8, events: &mut Vec<Event>) {
        self.round.bids[seat.index()] = Some(value);
        let hidden = self.options.hidden_bids();
        events.push(Event::BidMade {
            seat,
            value: (!hidden).then_some(value),
        });
        if hidden && self.round.bids_made() == self.seats.get() {
            events.push(Event::BidsRevealed {
                bids: self.bids_of_all(),
            });
        }
    }

    fn play(&mut self, seat: Seat, card: Card, events: &mut Vec<Event>) {
        let taken = self.round.play(seat, card);
        events.push(Event::CardPlayed { seat, card });
        if let Some(taken) = taken {
            let plays = taken.trick.plays().collect();
            events.push(Event::TrickCompleted {
                winner: taken.winner,
                plays,
            });
            if self.round.phase() == Phase::Finished {
                self.finish_round(events);
            }
        }
    }

    /// Scores the round, then deals the next or ends the game.
    fn finish_round(&mut self, events: &mut Vec<Event>) {
        let bids = self.bids_of_all();
        let tricks = self.round.tricks[..bids.len()].to_vec();
        self.enter_row(bids, tricks);
        let row = self.sheet.last().expect("just entered");
        events.push(Event::RoundScored {
            bids: row.bids.clone(),
            tricks: row.tricks.clone(),
            points: row.points.clone(),
            scores: self.scores().to_vec(),
        });
        if self.deal_next_round() {
            events.push(self.round_started());
        } else {
            events.push(Event::GameFinished {
                ranking: ranking(self.seats, self.scores()),
                seed: RevealedSeed::of(&self.seed),
            });
        }
    }

    /// Enters the present round, one entry a seat, into the sheet and the totals.
    pub(crate) fn enter_row(&mut self, bids: Vec<u8>, tricks: Vec<u8>) {
        let points: Vec<i32> = bids
            .iter()
            .zip(&tricks)
            .map(|(&bid, &taken)| points(bid, taken))
            .collect();
        for (total, points) in self.scores.iter_mut().zip(&points) {
            *total += points;
        }
        let (round, cards) = (self.round.number, self.round.cards);
        self.sheet.push(SheetRow {
            round,
            cards,
            bids,
            tricks,
            points,
        });
    }

    /// The deal passes to the left; false after the last round, which then stays.
    pub(crate) fn deal_next_round(&mut self) -> bool {
        let Some(&cards) = self.hand_sizes().get(usize::from(self.round.number)) else {
            return false;
        };
        let dealer = self.seats.left_of(self.round.dealer, 1);
        self.round = Round::deal(&self.seed, self.round.number + 1, dealer, self.seats, cards);
        true
    }

    /// Once all have bid.
    fn bids_of_all(&self) -> Vec<u8> {
        self.round.bids.iter().flatten().copied().collect()
    }

    fn round_started(&self) -> Event {
        Event::RoundStarted {
            round: self.round.number,
            cards: self.round.cards,
            dealer: self.round.dealer,
            trump_card: self.round.turned,
        }
    }
}

/// Hands and seed stay hidden.
impl fmt::Debug for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Game")
            .field("seats", &self.seats)
            .field("turn", &self.turn)
            .field("round", &self.round.number)
            .field("phase", &self.phase())
            .finish_non_exhaustive()
    }
}
