//! One table of a run: its connections play game after game, move by move.
//!
//! The players of a table are driven by one task, one after the other: a move is over when all have its state, which is
//! also what its latency means.

mod company;

use std::sync::Arc;
use std::time::Duration;

use protocol::ErrorCode;
use protocol::lobby::{AiLevel, LobbyStatus};
use protocol::player::{AddAi, PlayerMessage, SetOptions};
use protocol::server::State;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rules::{BidRule, Length, OptionsPatch};
use tokio::time::{Instant, sleep_until};

use crate::player::PlayerError;
use crate::run::{Fault, Shared};
use crate::strategy::any_of;
use company::Company;

/// The seat that creates the lobby, and so is its host.
const HOST: usize = 0;

pub(crate) struct Table {
    number: u32,
    company: Company,
    shared: Arc<Shared>,
    chance: ChaCha8Rng,
}

impl Table {
    pub(crate) fn new(number: u32, shared: Arc<Shared>) -> Self {
        // Far apart, so that no table repeats another's choices under the next seed.
        let seed = shared.config.seed ^ (u64::from(number) << 32);
        Self {
            number,
            company: Company::new(number, shared.clone()),
            shared,
            chance: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// Plays until games or time are over.
    pub(crate) async fn run(mut self) -> Result<(), Fault> {
        self.sit_down().await?;
        while self.shared.may_begin_game() {
            self.start_game().await?;
            self.shared.tally().game_begun();
            let to_the_end = self.play_game().await?;
            self.shared.tally().game_ended(to_the_end);
            if !to_the_end {
                break;
            }
            self.company
                .ask(HOST, PlayerMessage::ReturnToLobby, is_waiting)
                .await?;
            self.company.bring_all(is_waiting).await?;
        }
        self.company.leave().await
    }

    async fn sit_down(&mut self) -> Result<(), Fault> {
        let config = &self.shared.config;
        let (humans, seats) = (
            usize::from(config.humans),
            usize::from(config.players.get()),
        );
        self.company.gather(humans).await?;
        // All have joined before the first AI is added, so that each state tells one addition.
        self.company
            .bring(HOST, |state| has_seats(state, humans))
            .await?;
        for players in humans + 1..=seats {
            let message = PlayerMessage::AddAi(AddAi {
                level: AiLevel::default(),
            });
            let more = |state: &State| has_seats(state, players);
            self.company.ask(HOST, message, more).await?;
        }
        self.company
            .bring_all(|state| has_seats(state, seats))
            .await
    }

    async fn start_game(&mut self) -> Result<(), Fault> {
        let options = self
            .shared
            .config
            .options
            .clone()
            .unwrap_or_else(|| self.some_options());
        let wanted = options.options;
        let agreed = move |state: &State| {
            state
                .lobby
                .as_ref()
                .is_some_and(|lobby| lobby.options.with(wanted) == Ok(lobby.options))
        };
        // What changes nothing is not shown again.
        if !agreed(self.company.state(HOST)) {
            let message = PlayerMessage::SetOptions(options);
            self.company.ask(HOST, message, agreed).await?;
        }
        self.company
            .ask(HOST, PlayerMessage::StartGame, |state| state.game.is_some())
            .await?;
        self.company.bring_all(|state| state.game.is_some()).await
    }

    /// Every combination comes up, short games most often.
    fn some_options(&mut self) -> SetOptions {
        let chance = &mut self.chance;
        let hidden_bids = chance.random_bool(0.3);
        let bid_rule = match chance.random_range(0..3) {
            1 if !hidden_bids => BidRule::Hook,
            2 if !hidden_bids => BidRule::Canadian,
            _ => BidRule::Free,
        };
        let length = match chance.random_range(0..6) {
            0 => Length::Full,
            1 => Length::Tournament,
            _ => Length::Short,
        };
        SetOptions {
            options: OptionsPatch {
                hidden_bids: Some(hidden_bids),
                bid_rule: Some(bid_rule),
                length: Some(length),
                // As long as can be: it must never run out.
                turn_seconds: Some(chance.random_bool(0.2).then_some(300)),
            },
            public: None,
        }
    }

    /// False if the time was over first.
    async fn play_game(&mut self) -> Result<bool, Fault> {
        loop {
            let turn = self.company.newest_turn();
            self.company
                .bring_all(|state| turn_of(state) >= turn)
                .await?;
            if self.company.newest_turn() > turn {
                continue;
            }
            if self.company.all_finished() {
                self.company.replay()?;
                return Ok(true);
            }
            if self.shared.is_over() {
                return Ok(false);
            }
            if let Some(seat) = self.company.acting() {
                self.act(seat, turn).await?;
            } else {
                let begun = Instant::now();
                self.company
                    .bring(HOST, |state| turn_of(state) > turn)
                    .await?;
                self.shared.tally().waited(self.number, begun);
            }
        }
    }

    async fn act(&mut self, seat: usize, turn: u32) -> Result<(), Fault> {
        let shown = self.company.observation(seat);
        let action = any_of(&shown.own.legal_actions, &mut self.chance);
        self.think().await;
        let begun = Instant::now();
        self.company.act(seat, turn, action).await?;
        self.company
            .bring_all(|state| turn_of(state) > turn)
            .await?;
        self.shared.tally().moved(self.number, begun);
        Ok(())
    }

    async fn think(&mut self) {
        let mean = self.shared.config.think;
        let pause = mean.mul_f64(self.chance.random_range(0.5..1.5));
        if pause > Duration::ZERO && !self.shared.is_finishing() {
            sleep_until((Instant::now() + pause).min(self.shared.end)).await;
        }
    }
}

fn is_waiting(state: &State) -> bool {
    state
        .lobby
        .as_ref()
        .is_some_and(|lobby| lobby.status == LobbyStatus::Waiting)
}

fn has_seats(state: &State, seats: usize) -> bool {
    state
        .lobby
        .as_ref()
        .is_some_and(|lobby| lobby.players.len() == seats)
}

/// 0 without a game.
fn turn_of(state: &State) -> u32 {
    state
        .game
        .as_ref()
        .map_or(0, |game| game.observation.observation.table.turn)
}

/// Refusals that a well-behaved player meets all the same: they are counted, and what was asked is asked again.
fn may_be_refused(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::RateLimited | ErrorCode::Busy | ErrorCode::Unavailable
    )
}

/// Closings after which a client comes back, by the contract; a connection that just broke is one, and so is a proxy
/// in front that stops (1001).
fn may_return(error: &PlayerError) -> bool {
    matches!(
        error,
        PlayerError::Closed {
            code: None | Some(1001 | 1006 | 1012 | 4408 | 4413),
            ..
        }
    )
}
