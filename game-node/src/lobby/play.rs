//! The game at the table: moves of people, moves of AIs, and how long each may take.

use std::time::{Duration, Instant};

use protocol::ErrorCode;
use protocol::lobby::AiLevel;
use rules::{Action, Card, Event, Game, Observation, Options, Seat, SeatCount};

use super::effect::Effects;
use super::{Chance, Effect, Lobby, Pace, Refusal, Stage};

/// A running game with its turn's times.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Play {
    pub(super) game: Game,
    /// When an AI makes this turn's move for whoever did not.
    pub(super) deadline: Option<Instant>,
    /// The deadline has passed: an AI makes this one move.
    pub(super) overdue: bool,
    /// When the last trick was finished, if that was not long ago.
    trick_ended: Option<Instant>,
    /// Whether an AI is asked for this turn's move.
    asked: Option<Asked>,
}

/// An AI that is asked for a move.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Asked {
    /// It may think before, but not act.
    not_before: Instant,
    answer: Answer,
}

/// What an AI that is asked has said.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    /// Nothing yet.
    Thinking,
    /// This.
    Decided(Action),
    /// That it can't: the move is a random one.
    Random,
}

/// What an AI needs to decide: all that its seat may know, and nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Who must move.
    pub seat: Seat,
    /// How well to play.
    pub level: AiLevel,
    /// How the game is played.
    pub options: Options,
    /// What the seat sees.
    pub observation: Observation,
    /// All cards that it has seen played in this round, in order.
    pub plays: Vec<Card>,
}

impl Play {
    pub(super) fn new(now: Instant, game: Game) -> Self {
        let mut play = Self {
            game,
            deadline: None,
            overdue: false,
            trick_ended: None,
            asked: None,
        };
        play.begin_turn(now);
        play
    }

    /// A game that goes on from a saved state.
    pub(super) fn resumed(game: Game, deadline: Option<Instant>) -> Self {
        Self {
            game,
            deadline,
            overdue: false,
            trick_ended: None,
            asked: None,
        }
    }

    fn begin_turn(&mut self, now: Instant) {
        let turn_seconds = self.game.options().turn_seconds();
        self.deadline = turn_seconds.map(|seconds| now + Duration::from_secs(seconds.into()));
        self.overdue = false;
        self.asked = None;
    }

    /// Whatever an AI is still thinking about for this seat is of no use now.
    pub(super) fn seat_is_a_persons(&mut self, seat: Seat) {
        if self.game.to_act() == Some(seat) && !self.overdue {
            self.asked = None;
        }
    }

    /// When something happens by itself, if nobody moves before.
    pub(super) fn next_wake(&self) -> Option<Instant> {
        let decided = self.asked.filter(|asked| asked.answer != Answer::Thinking);
        let deadline = self.deadline.filter(|_| !self.overdue);
        [decided.map(|asked| asked.not_before), deadline]
            .into_iter()
            .flatten()
            .min()
    }

    fn moves_at(&self, now: Instant, pace: Pace) -> Instant {
        if self.overdue {
            return now;
        }
        let rested = self
            .trick_ended
            .map_or(now, |ended| ended + pace.trick_pause);
        rested.max(now + pace.ai_move_delay)
    }

    fn apply(
        &mut self,
        now: Instant,
        seat: Seat,
        action: Action,
    ) -> Result<Vec<Event>, rules::Refusal> {
        let events = self.game.apply(seat, action)?;
        if events
            .iter()
            .any(|event| matches!(event, Event::TrickCompleted { .. }))
        {
            self.trick_ended = Some(now);
        }
        self.begin_turn(now);
        Ok(events)
    }
}

impl Lobby {
    pub(super) fn start(
        &mut self,
        now: Instant,
        chance: &Chance,
        may_start: bool,
    ) -> Result<(), Refusal> {
        let seats = u8::try_from(self.places.len())
            .ok()
            .and_then(SeatCount::new);
        let Some(seats) = seats else {
            let message = "A game needs at least three players.";
            return Err(Refusal::new(ErrorCode::NotEnoughPlayers, message));
        };
        if !may_start {
            return Err(Refusal::busy());
        }
        let (game, events) = Game::new(seats, self.options, chance.seed());
        self.games += 1;
        self.stage = Stage::Playing(Play::new(now, game));
        for event in events {
            self.happened(event);
        }
        Ok(())
    }

    pub(super) fn act(
        &mut self,
        now: Instant,
        seat: Seat,
        action: Action,
        turn: Option<u32>,
    ) -> Result<(), Refusal> {
        let Stage::Playing(play) = &self.stage else {
            unreachable!("checked before")
        };
        if turn.is_some_and(|turn| turn < play.game.turn()) {
            return Err(Refusal::new(ErrorCode::StaleTurn, "That turn has passed."));
        }
        if play.game.to_act() == Some(seat) && turn.is_some_and(|turn| turn > play.game.turn()) {
            return Err(Refusal::new(
                ErrorCode::IllegalAction,
                "That turn has not come yet.",
            ));
        }
        self.make_move(now, seat, action).map_err(|refusal| {
            let code = match refusal {
                rules::Refusal::NotYourTurn => ErrorCode::NotYourTurn,
                rules::Refusal::Illegal(_) => ErrorCode::IllegalAction,
            };
            Refusal::new(code, refusal.to_string())
        })
    }

    /// Whose turn it is, while a game runs.
    pub fn to_act(&self) -> Option<Seat> {
        match &self.stage {
            Stage::Playing(play) => play.game.to_act(),
            Stage::Waiting | Stage::Finished(_) => None,
        }
    }

    /// What an AI that is asked for this turn's move needs to know; nothing if the turn has passed.
    pub fn question(&self, game: u32, turn: u32) -> Option<Question> {
        let Stage::Playing(play) = &self.stage else {
            return None;
        };
        if self.games != game || play.game.turn() != turn || play.asked.is_none() {
            return None;
        }
        let seat = play.game.to_act()?;
        Some(Question {
            seat,
            level: self.places[seat.index()].level(),
            options: *play.game.options(),
            observation: play.game.observe(Some(seat)),
            plays: play.game.plays().to_vec(),
        })
    }

    /// Asks an AI for the present turn's move, if one is to make it and none is asked yet.
    pub(super) fn ask_ai(&mut self, now: Instant, effects: &mut Effects) {
        let Stage::Playing(play) = &mut self.stage else {
            return;
        };
        let Some(seat) = play.game.to_act() else {
            return;
        };
        let is_an_ais = !self.places[seat.index()].is_person();
        if play.asked.is_none() && (is_an_ais || play.overdue) {
            play.asked = Some(Asked {
                not_before: play.moves_at(now, self.pace),
                answer: Answer::Thinking,
            });
            effects.push(Effect::Decide {
                game: self.games,
                turn: play.game.turn(),
            });
        }
    }

    /// An AI has decided. Whether that is still of use is looked at here, and again when it acts.
    pub(super) fn decided(
        &mut self,
        now: Instant,
        game: u32,
        turn: u32,
        action: Option<Action>,
        chance: &Chance,
        effects: &mut Effects,
    ) {
        let Stage::Playing(play) = &mut self.stage else {
            return;
        };
        if self.games != game || play.game.turn() != turn {
            return;
        }
        if let Some(asked) = &mut play.asked {
            asked.answer = action.map_or(Answer::Random, Answer::Decided);
            self.move_for_ai(now, chance, effects);
        }
    }

    /// Makes the move that an AI has decided on, once its time has come.
    pub(super) fn move_for_ai(&mut self, now: Instant, chance: &Chance, effects: &mut Effects) {
        let Stage::Playing(play) = &self.stage else {
            return;
        };
        let (Some(asked), Some(seat)) = (play.asked, play.game.to_act()) else {
            return;
        };
        if asked.answer == Answer::Thinking || now < asked.not_before {
            return;
        }
        let mut legal = play.game.legal_moves(seat);
        let action = match asked.answer {
            Answer::Decided(action) if legal.clone().any(|other| other == action) => action,
            _ => {
                let index = chance.index(legal.len());
                legal.nth(index).expect("who is to act has a legal action")
            }
        };
        self.make_move(now, seat, action)
            .expect("the action is legal");
        effects.changed = true;
    }

    /// A turn whose time is up is an AI's to make; whether that is new.
    pub(super) fn note_overdue(&mut self, now: Instant) -> bool {
        let Stage::Playing(play) = &mut self.stage else {
            return false;
        };
        let is_new = !play.overdue && play.deadline.is_some_and(|deadline| deadline <= now);
        play.overdue |= is_new;
        is_new
    }

    fn make_move(
        &mut self,
        now: Instant,
        seat: Seat,
        action: Action,
    ) -> Result<(), rules::Refusal> {
        let Stage::Playing(play) = &mut self.stage else {
            unreachable!("checked before")
        };
        let events = play.apply(now, seat, action)?;
        if play.game.is_finished() {
            self.stage = Stage::Finished(play.game.clone());
        }
        for event in events {
            self.happened(event);
        }
        Ok(())
    }
}
