//! The connections of one table: whichever breaks comes back, and all must be shown the same table.

use std::sync::Arc;
use std::time::Duration;

use protocol::player::{JoinLobby, Named, PlayerMessage};
use protocol::server::{Refused, ServerMessage, State};
use protocol::{ErrorCode, LobbyCode, PlayerName};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rules::{Action, Observation};
use tokio::time::{Instant, sleep};

use super::{may_be_refused, may_return, turn_of};
use crate::agreement::Agreement;
use crate::contradiction::same;
use crate::player::{PATIENCE, Player, PlayerError, pause_after};
use crate::run::{Fault, Shared};

/// How long a player tries to come back, and how long one request may be refused for lack of room: longer than any
/// move of a table to another node may take, and than the minute in which an address may create so many lobbies.
const PERSISTENCE: Duration = Duration::from_secs(90);

/// Between two tries to come back.
const RETURN_PAUSE: Duration = Duration::from_millis(300);

pub(super) struct Company {
    number: u32,
    shared: Arc<Shared>,
    /// Pauses before coming back; apart from the table's own, so that a broken connection changes no later choice.
    chance: ChaCha8Rng,
    players: Vec<Player>,
    /// Of each player the newest message of those that are done and were asked again: a refusal of it, or of one
    /// before, is late word on what needs none.
    settled: Vec<u64>,
    agreement: Agreement,
    /// From now on it is no loss to come back to no lobby.
    leaving: bool,
}

impl Company {
    pub(super) fn new(number: u32, shared: Arc<Shared>) -> Self {
        let chance = ChaCha8Rng::seed_from_u64(u64::from(number));
        Self {
            number,
            shared,
            chance,
            players: Vec::new(),
            settled: Vec::new(),
            agreement: Agreement::default(),
            leaving: false,
        }
    }

    /// Connects all and brings them into one new lobby; the first is its host.
    pub(super) async fn gather(&mut self, humans: usize) -> Result<(), Fault> {
        for seat in 0..humans {
            let player = self
                .enter(seat)
                .await
                .map_err(|what| self.fault(Some(seat), what))?;
            self.players.push(player);
            self.settled.push(0);
        }
        let create = PlayerMessage::CreateLobby(Named { name: name(0) });
        self.ask(0, create, |state| state.lobby.is_some()).await?;
        let code = self.players[0].code().expect("the state has a lobby");
        for seat in 1..humans {
            let join = PlayerMessage::JoinLobby(JoinLobby {
                code,
                name: name(seat),
            });
            self.ask(seat, join, move |state| is_in(state, code))
                .await?;
        }
        Ok(())
    }

    async fn enter(&self, seat: usize) -> Result<Player, PlayerError> {
        let _turn = self.shared.opening.acquire().await.expect("never closed");
        let mut player = Player::connect(self.url(seat)).await?;
        player.hello(None).await?;
        Ok(player)
    }

    pub(super) async fn leave(mut self) -> Result<(), Fault> {
        self.leaving = true;
        for seat in 0..self.players.len() {
            self.ask(seat, PlayerMessage::LeaveLobby, |state| {
                state.lobby.is_none()
            })
            .await?;
        }
        for player in &mut self.players {
            player.disconnect().await;
        }
        Ok(())
    }

    /// Sends a request until it is done, as long as it is only for lack of room that it is refused.
    pub(super) async fn ask(
        &mut self,
        seat: usize,
        message: PlayerMessage,
        done: impl Fn(&State) -> bool,
    ) -> Result<(), Fault> {
        let end = Instant::now() + PERSISTENCE;
        let mut is_repeated = false;
        loop {
            self.send(seat, message.clone()).await?;
            match self.receive_until(seat, &done).await? {
                Outcome::Shown => break,
                Outcome::Returned if done(self.players[seat].state()) => break,
                Outcome::Returned => is_repeated = true,
                Outcome::Refused(refused) => {
                    let room = may_be_refused(refused.code);
                    if room && Instant::now() < end {
                        is_repeated |= refused.code == ErrorCode::Unavailable;
                        sleep(pause_after(&refused).unwrap_or(RETURN_PAUSE).min(PATIENCE)).await;
                    } else if is_repeated && !room {
                        // The first was not lost with the connection, nor for want of an answer in time: its effect
                        // is on the way.
                        break;
                    } else {
                        return Err(self.fault(Some(seat), PlayerError::Refused(refused)));
                    }
                }
            }
        }
        if is_repeated {
            self.settled[seat] = self.players[seat].requests();
        }
        self.bring(seat, &done).await
    }

    /// Makes a move, again and again until it is shown: with its turn it is played once.
    pub(super) async fn act(
        &mut self,
        seat: usize,
        turn: u32,
        action: Action,
    ) -> Result<(), Fault> {
        let act = protocol::player::Act {
            action,
            turn: Some(turn),
        };
        self.ask(seat, PlayerMessage::Action(act), move |state| {
            turn_of(state) > turn
        })
        .await
    }

    /// Reads on at one seat until it is as wanted.
    pub(super) async fn bring(
        &mut self,
        seat: usize,
        wanted: impl Fn(&State) -> bool,
    ) -> Result<(), Fault> {
        while !wanted(self.players[seat].state()) {
            if let Outcome::Refused(refused) = self.receive_until(seat, &wanted).await? {
                // Word that a table can't be reached just now.
                if !may_be_refused(refused.code) {
                    return Err(self.fault(Some(seat), PlayerError::Refused(refused)));
                }
            }
        }
        Ok(())
    }

    /// Reads on at all seats.
    pub(super) async fn bring_all(&mut self, wanted: impl Fn(&State) -> bool) -> Result<(), Fault> {
        for seat in 0..self.players.len() {
            self.bring(seat, &wanted).await?;
        }
        Ok(())
    }

    pub(super) fn state(&self, seat: usize) -> &State {
        self.players[seat].state()
    }

    pub(super) fn observation(&self, seat: usize) -> &Observation {
        self.players[seat].observation().expect("a game runs")
    }

    pub(super) fn newest_turn(&self) -> u32 {
        self.players
            .iter()
            .map(|player| turn_of(player.state()))
            .max()
            .unwrap_or_default()
    }

    pub(super) fn all_finished(&self) -> bool {
        self.players.iter().all(|player| {
            player
                .observation()
                .is_some_and(|shown| shown.table.ranking.is_some())
        })
    }

    /// Whose turn it is, if it is one of these; None: an AI's.
    pub(super) fn acting(&self) -> Option<usize> {
        self.players.iter().position(|player| {
            player
                .observation()
                .is_some_and(|shown| !shown.own.legal_actions.is_empty())
        })
    }

    /// The finished game again from its seed, with what each seat saw of it.
    pub(super) fn replay(&self) -> Result<(), Fault> {
        let records: Vec<_> = self
            .players
            .iter()
            .filter_map(|player| player.checker().record())
            .collect();
        let Some((first, others)) = records.split_first() else {
            return Ok(());
        };
        match first.replay(others) {
            Ok(_) => Ok(()),
            Err(contradiction) => Err(self.fault(None, contradiction.into())),
        }
    }

    async fn send(&mut self, seat: usize, message: PlayerMessage) -> Result<(), Fault> {
        match self.players[seat].send(message).await {
            Ok(()) => Ok(()),
            // What was sent into a broken connection is lost; reading finds it broken too.
            Err(error) if may_return(&error) => Ok(()),
            Err(error) => Err(self.fault(Some(seat), error)),
        }
    }

    /// Reads on until it is as wanted, something was refused, or the connection had to be opened anew.
    async fn receive_until(
        &mut self,
        seat: usize,
        wanted: &impl Fn(&State) -> bool,
    ) -> Result<Outcome, Fault> {
        loop {
            match self.players[seat].next().await {
                Ok(ServerMessage::State(state)) => {
                    self.shared.tally().states += 1;
                    self.agree(&state)?;
                    if wanted(&state) {
                        return Ok(Outcome::Shown);
                    }
                }
                Ok(ServerMessage::Error(refused)) => {
                    self.shared.tally().refused(refused.code);
                    if !self.is_late(seat, &refused) {
                        return Ok(Outcome::Refused(refused));
                    }
                }
                Ok(_) => {}
                Err(error) if may_return(&error) => {
                    self.come_back(seat, error).await?;
                    return Ok(Outcome::Returned);
                }
                Err(error) => return Err(self.fault(Some(seat), error)),
            }
        }
    }

    fn is_late(&self, seat: usize, refused: &Refused) -> bool {
        let id = refused.id.as_ref().and_then(|id| id.parse::<u64>().ok());
        id.is_some_and(|id| id <= self.settled[seat])
    }

    /// As a client does: after a random time, by its token, at the next gateway.
    async fn come_back(&mut self, seat: usize, broken: PlayerError) -> Result<(), Fault> {
        let end = Instant::now() + PERSISTENCE;
        let id = self.players[seat].id().cloned();
        let lobby = self.players[seat].code();
        let within = self.players[seat]
            .welcome()
            .map_or(0, |welcome| welcome.reconnect_within_ms);
        sleep(Duration::from_millis(
            self.chance.random_range(0..=within).into(),
        ))
        .await;
        let mut error = broken;
        for attempt in 1.. {
            if Instant::now() >= end {
                break;
            }
            let url = self.url(seat + attempt).to_owned();
            match self.players[seat].reconnect(&url).await {
                Ok(_) if self.players[seat].id() == id.as_ref() => {
                    self.shared.tally().reconnects += 1;
                    let state = self.players[seat].state().clone();
                    return self
                        .agree(&state)
                        .and_then(|()| self.check_lobby(seat, lobby));
                }
                Ok(welcome) => {
                    let expected = format!("{id:?}, who holds the token");
                    let found =
                        crate::Contradiction::new("player_id", expected, &welcome.player_id);
                    return Err(self.fault(Some(seat), found.into()));
                }
                Err(PlayerError::Contradiction(found)) => {
                    return Err(self.fault(Some(seat), found.into()));
                }
                Err(again) => error = again,
            }
            sleep(RETURN_PAUSE).await;
        }
        Err(self.fault(Some(seat), error))
    }

    /// Whoever had a seat comes back to it.
    fn check_lobby(&self, seat: usize, before: Option<LobbyCode>) -> Result<(), Fault> {
        if before.is_none() || self.leaving {
            return Ok(());
        }
        let now = self.players[seat].code();
        same("the lobby after coming back", &before, &now)
            .map_err(|found| self.fault(Some(seat), found.into()))
    }

    fn agree(&mut self, state: &State) -> Result<(), Fault> {
        self.agreement
            .see(state)
            .map_err(|found| self.fault(None, found.into()))
    }

    fn url(&self, offset: usize) -> &str {
        let urls = &self.shared.config.urls;
        &urls[(self.number as usize + offset) % urls.len()]
    }

    fn fault(&self, seat: Option<usize>, what: PlayerError) -> Fault {
        Fault {
            seed: self.shared.config.seed,
            table: self.number,
            seat,
            what,
        }
    }
}

enum Outcome {
    Shown,
    Refused(Refused),
    Returned,
}

fn is_in(state: &State, code: LobbyCode) -> bool {
    state.lobby.as_ref().is_some_and(|lobby| lobby.code == code)
}

fn name(seat: usize) -> PlayerName {
    format!("Player {}", seat + 1)
        .parse()
        .expect("short and printable")
}
