//! The game from one full picture: for who comes in the middle, or has missed events.
//!
//! A picture shows all that the rest of the game follows from, so the mirror goes on from it. It must agree with
//! itself, and with what was seen before: [`Mirror::follows`].

use rules::score::points;
use rules::{
    Action, CardSet, LastTrick, Observation, Options, Phase, Seat, SeatCount, SheetRow, Trick,
    TrickPlay,
};

use super::mirror::{Bid, Due, Mirror};
use super::record::{Move, SeenDeal};
use crate::contradiction::{Contradiction, ensure, same};
use protocol::server::GameView;

impl Mirror {
    /// Takes a picture over as it is, if it agrees with itself.
    pub(super) fn adopt(
        seats: SeatCount,
        options: Options,
        game: &GameView,
    ) -> Result<Self, Contradiction> {
        let shown = &game.observation.observation;
        check_lengths(seats, shown)?;
        let mut mirror = Mirror::new(seats, options, game.deal_commitment, game.you);
        let table = &shown.table;
        let finished_rounds = table.round - u8::from(table.phase != Phase::Finished);
        same(
            "rows of the sheet",
            &usize::from(finished_rounds),
            &shown.sheet.len(),
        )?;
        for row in &shown.sheet {
            mirror.check_row(row)?;
        }
        mirror.sheet.clone_from(&shown.sheet);
        mirror.round = table.round;
        same(
            "cards",
            &mirror.hand_sizes()[usize::from(table.round - 1)],
            &table.cards,
        )?;
        mirror.cards = table.cards;
        mirror.dealer = table.dealer;
        mirror.turned = table.trump.card;
        mirror.trump = table.trump.suit;
        mirror.bids = shown_bids(shown);
        mirror.tricks.clone_from(&table.tricks);
        mirror.turn = table.turn;
        mirror.check_turn()?;
        mirror.adopt_tricks(shown)?;
        mirror.adopt_hand(shown)?;
        mirror.record.moves = vec![None; table.turn as usize];
        mirror.due = Due::Move;
        if let Some(seed) = &game.seed {
            mirror.finish(seed)?;
        }
        Ok(mirror)
    }

    /// Keeps what was seen of the same game before, and checks that this picture can come after it.
    pub(super) fn follows(&mut self, before: &Mirror) -> Result<(), Contradiction> {
        ensure(
            self.turn >= before.turn,
            "turn",
            &format!("at least {}", before.turn),
            &self.turn,
        )?;
        let rows = before.sheet.len().min(self.sheet.len());
        same("sheet", &before.sheet[..], &self.sheet[..rows])?;
        if self.turn == before.turn {
            same(
                "the picture of an old turn",
                &before.observation(),
                &self.observation(),
            )?;
        }
        let same_round = self.round == before.round;
        if same_round {
            self.follows_in_round(before)?;
        }
        let mut moves = before.record.moves.clone();
        moves.resize(self.turn as usize, None);
        self.record.moves = moves;
        let mut deals = before.record.deals.clone();
        if !same_round {
            deals.append(&mut self.record.deals);
        }
        self.record.deals = deals;
        self.record
            .acknowledged
            .clone_from(&before.record.acknowledged);
        if let Some(end) = &before.record.end {
            self.record.end = Some(end.clone());
        }
        Ok(())
    }

    fn follows_in_round(&mut self, before: &Mirror) -> Result<(), Contradiction> {
        same("dealer", &before.dealer, &self.dealer)?;
        same("trump.card", &before.turned, &self.turned)?;
        for (old, new) in before.bids.iter().zip(&self.bids) {
            let kept = matches!(
                (old, new),
                (Bid::Open, _) | (Bid::Hidden, Bid::Hidden | Bid::Known(_))
            ) || old == new;
            ensure(kept, "bids", "the bids made before", &self.bids)?;
        }
        if let (Some(old), Some(new)) = (before.hand, self.hand) {
            ensure(
                new.without(old).is_empty(),
                "hand",
                &format!("cards of {old:?}"),
                &new,
            )?;
        }
        self.played = self.played.or(before.played);
        self.played_by_you = match (before.hand, self.hand) {
            (Some(old), Some(new)) => before.played_by_you.or(old.without(new)),
            _ => self.played_by_you.or(before.played_by_you),
        };
        Ok(())
    }

    /// An own move that no event told, but whose effect this picture shows against the one before.
    pub(super) fn shows_effect_of(&self, before: &Mirror, action: Action) -> Option<Move> {
        let seat = self.record.you?;
        let shown = self.round == before.round
            && match action {
                Action::Play { card } => {
                    before.hand.is_some_and(|hand| hand.contains(card))
                        && self.hand.is_some_and(|hand| !hand.contains(card))
                }
                Action::Bid { value } => self.bids[seat.index()] == Bid::Known(value),
                Action::ChooseTrump { suit } => self.trump == Some(suit),
            };
        shown.then_some(Move { seat, action })
    }

    fn check_row(&self, row: &SheetRow) -> Result<(), Contradiction> {
        let seats = usize::from(self.record.seats.get());
        let size = self
            .hand_sizes()
            .get(usize::from(row.round).wrapping_sub(1));
        let expected: Vec<i32> = row
            .bids
            .iter()
            .zip(&row.tricks)
            .map(|(&bid, &taken)| points(bid, taken))
            .collect();
        let taken: u32 = row.tricks.iter().map(|&taken| u32::from(taken)).sum();
        ensure(
            size == Some(&row.cards)
                && row.bids.len() == seats
                && row.tricks.len() == seats
                && row.bids.iter().all(|bid| *bid <= row.cards)
                && taken == u32::from(row.cards)
                && row.points == expected,
            "sheet",
            "a round that can have ended so",
            row,
        )
    }

    /// Which of the former rounds had a trump named is not shown, so the turn is known within that many.
    fn check_turn(&self) -> Result<(), Contradiction> {
        let seats = u32::from(self.record.seats.get());
        let moves_of = |cards: u8| seats * (1 + u32::from(cards));
        let mut least = self.sheet.iter().map(|row| moves_of(row.cards)).sum();
        let mut named = u32::try_from(self.sheet.len()).expect("at most 20 rounds");
        if self.sheet.len() < usize::from(self.round) {
            named += 1;
            least += u32::from(self.bids_made()) + seats * u32::from(self.tricks_taken());
        }
        let most = least + named + seats;
        ensure(
            (least..=most).contains(&self.turn),
            "turn",
            &format!("from {least} to {most}"),
            &self.turn,
        )
    }

    fn adopt_tricks(&mut self, shown: &Observation) -> Result<(), Contradiction> {
        let seats = self.record.seats;
        let leader = match &shown.last_trick {
            None => seats.left_of(self.dealer, 1),
            Some(last) => last.winner,
        };
        same(
            "last_trick",
            &(self.tricks_taken() > 0),
            &shown.last_trick.is_some(),
        )?;
        if let Some(last) = &shown.last_trick {
            let trick = laid(seats, last.leader, &last.plays)?;
            let expected = LastTrick {
                leader: last.leader,
                plays: trick.plays().collect(),
                led: trick.led(),
                winner: trick.winning(self.trump).unwrap_or(last.leader),
            };
            ensure(trick.is_full(), "last_trick", "a full trick", &trick)?;
            same("last_trick", &expected, last)?;
            self.last_trick = Some(expected);
        }
        self.trick = laid(seats, leader, &shown.table.trick.plays)?;
        ensure(
            !self.trick.is_full(),
            "trick",
            "a trick with a place for a card",
            &self.trick,
        )?;
        let last = self
            .last_trick
            .iter()
            .flat_map(|last| last.plays.iter().copied());
        for play in last.chain(self.trick.plays()) {
            ensure(
                !self.played.contains(play.card),
                "trick",
                "different cards",
                &play,
            )?;
            self.played.insert(play.card);
            if self.record.you == Some(play.seat) {
                self.played_by_you.insert(play.card);
            }
        }
        Ok(())
    }

    fn adopt_hand(&mut self, shown: &Observation) -> Result<(), Contradiction> {
        let hand: CardSet = shown.own.hand.iter().copied().collect();
        let Some(you) = self.record.you else {
            return Ok(());
        };
        let played =
            self.tricks_taken() + u8::from(self.trick.plays().any(|play| play.seat == you));
        same(
            "cards in the hand",
            &u32::from(self.cards - played),
            &hand.len(),
        )?;
        ensure(
            hand.and(self.played).is_empty() && self.turned.is_none_or(|card| !hand.contains(card)),
            "hand",
            "cards that lie nowhere else",
            &hand,
        )?;
        self.hand = Some(hand);
        self.record.deals.push(SeenDeal {
            round: self.round,
            cards: self.cards,
            dealer: self.dealer,
            turned: self.turned,
            hand: (played == 0).then_some(hand),
        });
        Ok(())
    }
}

fn laid(seats: SeatCount, leader: Seat, plays: &[TrickPlay]) -> Result<Trick, Contradiction> {
    let mut trick = Trick::new(seats, leader);
    for play in plays {
        ensure(
            trick.to_play() == Some(play.seat),
            "trick",
            "cards in turn",
            &plays,
        )?;
        trick.push(play.card);
    }
    Ok(trick)
}

fn shown_bids(shown: &Observation) -> Vec<Bid> {
    let bids = shown.own.bids.iter().zip(&shown.table.bid_made);
    bids.map(|(bid, made)| match (bid, made) {
        (Some(value), _) => Bid::Known(*value),
        (None, true) => Bid::Hidden,
        (None, false) => Bid::Open,
    })
    .collect()
}

/// Lists of one entry a seat, and numbers that index others.
fn check_lengths(seats: SeatCount, shown: &Observation) -> Result<(), Contradiction> {
    let table = &shown.table;
    let count = usize::from(seats.get());
    let lists = [
        table.bid_made.len(),
        table.tricks.len(),
        table.scores.len(),
        shown.own.bids.len(),
    ];
    same("entries a seat", &[count; 4], &lists)?;
    let taken: u32 = table.tricks.iter().map(|&taken| u32::from(taken)).sum();
    ensure(
        taken <= u32::from(table.cards),
        "tricks",
        "at most the hand size",
        &table.tricks,
    )?;
    ensure(
        (1..=table.rounds).contains(&table.round),
        "round",
        "one of the rounds",
        &table.round,
    )?;
    ensure(
        seats.contains(table.dealer),
        "dealer",
        "a seat of the table",
        &table.dealer,
    )?;
    let within = shown
        .own
        .bids
        .iter()
        .flatten()
        .all(|bid| *bid <= table.cards);
    ensure(within, "bids", "at most the hand size", &shown.own.bids)
}
