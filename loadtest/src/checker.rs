//! Checks every state that one seat is sent against the rules and against the states before it.
//!
//! Pure: it reads no socket and no clock. It believes nothing: the public game is worked out anew from the events
//! (`mirror`), every picture must show exactly that (`picture`), and when the seed is shown at the end the whole
//! game is played again (`record`). Events may be missing only where [`Checker::reconnected`] said so, or where a
//! state is full of them; then the picture is taken over after it was checked by itself (`adopt`).

mod adopt;
mod mirror;
mod picture;
mod record;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use protocol::limit::MAX_EVENTS;
use protocol::lobby::LobbyView;
use protocol::server::{GameView, State};
use protocol::{Event, PlayerId};
use rules::{Action, SeatCount};

pub use record::{Move, Record};

use crate::contradiction::{Contradiction, ensure, same};
use mirror::Mirror;

/// Everything that one seat, or a spectator, has seen.
#[derive(Debug, Default)]
pub struct Checker {
    me: Option<PlayerId>,
    seq: u64,
    lobby: Option<LobbyView>,
    game: Option<Mirror>,
    /// Own actions on their way, by the turn that they answer.
    sent: BTreeMap<u32, Vec<Action>>,
    /// Events may be missing from the next state.
    gap: bool,
}

impl Checker {
    /// For the player of this id.
    pub fn new(me: PlayerId) -> Self {
        Self {
            me: Some(me),
            ..Self::default()
        }
    }

    /// Takes the next state.
    ///
    /// # Errors
    /// The first thing in it that can't be.
    pub fn see(&mut self, state: &State) -> Result<(), Contradiction> {
        let gap = std::mem::take(&mut self.gap) || state.events.len() == MAX_EVENTS;
        ensure(
            state.events.len() <= MAX_EVENTS,
            "events",
            &format!("at most {MAX_EVENTS}"),
            &state.events.len(),
        )?;
        let Some(lobby) = &state.lobby else {
            same("game without a lobby", &None, &state.game)?;
            *self = Self {
                me: self.me.take(),
                ..Self::default()
            };
            return Ok(());
        };
        let before = self.lobby.take().filter(|before| before.code == lobby.code);
        table::check(self.me.as_ref(), lobby, state)?;
        if let Some(before) = &before {
            ensure(
                state.seq > self.seq,
                "seq",
                &format!("more than {}", self.seq),
                &state.seq,
            )?;
            table::check_change(before, lobby, &state.events, !gap)?;
        }
        self.see_game(lobby, state, gap || before.is_none())?;
        self.acknowledge(lobby)?;
        self.seq = state.seq;
        self.lobby = Some(lobby.clone());
        Ok(())
    }

    /// Notes that an action is on its way; once its effect was shown it must never be lost.
    pub fn sent(&mut self, turn: u32, action: Action) {
        self.sent.entry(turn).or_default().push(action);
    }

    /// The connection is a new one: events may be missing from the next state.
    pub fn reconnected(&mut self) {
        self.gap = true;
    }

    /// Whose states these are; None before anybody was welcomed.
    pub fn player(&self) -> Option<&PlayerId> {
        self.me.as_ref()
    }

    /// What was seen of the present game.
    pub fn record(&self) -> Option<&Record> {
        self.game.as_ref().map(|game| &game.record)
    }

    /// How many own moves of the present game were acknowledged.
    pub fn acknowledged(&self) -> usize {
        self.record().map_or(0, |record| record.acknowledged.len())
    }

    fn see_game(
        &mut self,
        lobby: &LobbyView,
        state: &State,
        gap: bool,
    ) -> Result<(), Contradiction> {
        let Some(game) = &state.game else {
            self.game = None;
            self.sent.clear();
            return Ok(());
        };
        let was_finished = self.record().is_some_and(|record| record.end.is_some());
        match self.advanced(lobby, game, &state.events) {
            Ok(mirror) => self.game = Some(mirror),
            Err(contradiction) if !gap => return Err(contradiction),
            Err(_) => self.adopt(lobby, game)?,
        }
        let mirror = self.game.as_ref().expect("just set");
        if let Some((seed, _)) = &mirror.record.end {
            same("seed", &Some(seed), &game.seed.as_ref())?;
        }
        if mirror.record.end.is_some() && !was_finished {
            mirror.record.replay(&[])?;
        }
        Ok(())
    }

    /// The game after these events, if it can be worked out from them.
    fn advanced(
        &mut self,
        lobby: &LobbyView,
        game: &GameView,
        events: &[Event],
    ) -> Result<Mirror, Contradiction> {
        let mut mirror = self.game.clone();
        for event in events {
            let Event::Game(event) = event else { continue };
            if let rules::Event::GameStarted { deal_commitment } = event {
                self.sent.clear();
                let commitment = *deal_commitment;
                mirror = Some(Mirror::new(
                    seats(lobby)?,
                    lobby.options,
                    commitment,
                    game.you,
                ));
            } else {
                let mirror = mirror.as_mut();
                mirror.ok_or_else(|| no_start(event))?.apply(event)?;
            }
        }
        let mut mirror = mirror.ok_or_else(|| no_start(&events))?;
        let promised = mirror.record.commitment;
        same("deal_commitment", &promised, &game.deal_commitment)?;
        // Whoever gets a seat back sees from it again; a game that goes on keeps its seats.
        mirror.record.you = game.you;
        mirror.learn(&game.observation.observation)?;
        same_observation(&mirror, game)?;
        Ok(mirror)
    }

    fn adopt(&mut self, lobby: &LobbyView, game: &GameView) -> Result<(), Contradiction> {
        let mut mirror = Mirror::adopt(seats(lobby)?, lobby.options, game)?;
        same_observation(&mirror, game)?;
        let before = self.game.take();
        match before.filter(|before| before.record.commitment == game.deal_commitment) {
            None => self.sent.clear(),
            Some(before) => {
                mirror.follows(&before)?;
                for (&turn, actions) in self.sent.range(..mirror.turn) {
                    let effect = |action: &Action| mirror.shows_effect_of(&before, *action);
                    if let Some(shown) = actions.iter().find_map(effect) {
                        mirror.record.moves[turn as usize] = Some(shown);
                    }
                }
            }
        }
        self.game = Some(mirror);
        Ok(())
    }

    /// Moves from the sent to the acknowledged what has been shown to be played.
    fn acknowledge(&mut self, lobby: &LobbyView) -> Result<(), Contradiction> {
        let Some(mirror) = &mut self.game else {
            return Ok(());
        };
        let open = self.sent.split_off(&mirror.turn);
        for (turn, actions) in std::mem::replace(&mut self.sent, open) {
            let played = mirror.record.moves.get(turn as usize).copied().flatten();
            let Some(played) = played.filter(|played| Some(played.seat) == mirror.record.you)
            else {
                continue;
            };
            if actions.contains(&played.action) {
                mirror.record.acknowledged.insert(turn, played.action);
            } else if lobby.options.turn_seconds().is_none() {
                let what = format!("own move of turn {turn}");
                return Err(Contradiction::new(
                    &what,
                    format!("one of {actions:?}"),
                    &played,
                ));
            }
        }
        Ok(())
    }
}

fn seats(lobby: &LobbyView) -> Result<SeatCount, Contradiction> {
    let seats = u8::try_from(lobby.players.len())
        .ok()
        .and_then(SeatCount::new);
    seats.ok_or_else(|| Contradiction::new("players", "3 to 6 in a game", &lobby.players.len()))
}

fn no_start(got: &impl std::fmt::Debug) -> Contradiction {
    Contradiction::new("events", "game_started first", got)
}

/// Piece by piece, so that a difference names the piece.
fn same_observation(mirror: &Mirror, game: &GameView) -> Result<(), Contradiction> {
    let expected = mirror.observation();
    let shown = &game.observation.observation;
    let (public, table) = (&expected.table, &shown.table);
    same("turn", &public.turn, &table.turn)?;
    same("round", &public.round, &table.round)?;
    same("phase", &public.phase, &table.phase)?;
    same("to_act", &public.to_act, &table.to_act)?;
    same("trump", &public.trump, &table.trump)?;
    same("tricks", &public.tricks, &table.tricks)?;
    same("trick", &public.trick, &table.trick)?;
    same("scores", &public.scores, &table.scores)?;
    same("ranking", &public.ranking, &table.ranking)?;
    same("table", public, table)?;
    same("sheet", &expected.sheet, &shown.sheet)?;
    same("last_trick", &expected.last_trick, &shown.last_trick)?;
    same("hand", &expected.own.hand, &shown.own.hand)?;
    same("bids", &expected.own.bids, &shown.own.bids)?;
    same(
        "legal_actions",
        &expected.own.legal_actions,
        &shown.own.legal_actions,
    )?;
    same("forbidden", &expected.own.forbidden, &shown.own.forbidden)
}
