//! A player as a program outside: it plays at its table, comes back when its connection breaks, and believes nothing.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use loadtest::Checker;
use protocol::lobby::{AiLevel, LobbyStatus};
use protocol::player::{Act, AddAi, Hello, JoinLobby, Named, PlayerMessage};
use protocol::server::{Refused, ServerMessage, State};
use protocol::{ErrorCode, LobbyCode, PlayerName, Token};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rules::Action;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_tungstenite::tungstenite::Message;

use crate::ledger::Ledger;
use crate::lock;
use crate::moment::{Moment, Moments};
use crate::network::{Network, Socket};
use crate::verdict::{History, Verdict};

/// People at a table; the first one is the host.
pub(crate) const SEATS: usize = 3;
/// Of those who are not the host, so many leave in the middle of the game.
const LEAVING: f64 = 0.1;
/// A request without an answer is made again after so long.
const PATIENCE: Duration = Duration::from_secs(8);
/// So long after a move was sent again one of the two may be refused.
const REPEATED_FOR: Duration = Duration::from_secs(30);
/// Longer than any run.
const FOR_EVER: Duration = Duration::from_hours(1);

/// What the players of one table share.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) code: Option<LobbyCode>,
    history: History,
}

/// What all players share.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) network: Network,
    pub(crate) gateways: Vec<String>,
    pub(crate) ai_seats: usize,
    pub(crate) thinks_ms: Range<u64>,
    pub(crate) verdict: Verdict,
    pub(crate) ledger: Ledger,
    pub(crate) moments: Moments,
}

/// One of them.
pub(crate) struct Player {
    name: String,
    is_host: bool,
    table: Arc<Mutex<Table>>,
    around: Surroundings,
    pub(crate) seen: Arc<Mutex<Seen>>,
    chance: ChaCha8Rng,
    token: Option<Token>,
    /// On this connection.
    welcomed: bool,
    checker: Checker,
    state: State,
    /// Own moves, by the turns that they were for.
    sent: BTreeMap<u32, Vec<Action>>,
    /// When a move was last sent that had been sent before.
    repeated_at: Option<Instant>,
    /// When what is to be done next is due.
    due: Instant,
    /// Which move was sent last, and on which connection.
    asked: Option<u32>,
    /// The turn from which on this player wants to leave.
    leaves_at: Option<u32>,
}

/// What the end of a run asks, and who breaks something near this player.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The number of the gateway that was dialled last.
    pub(crate) gateway: usize,
    /// When the last state came.
    pub(crate) state_at: Option<Instant>,
    /// When an own move was last seen to be played.
    pub(crate) moved_at: Option<Instant>,
    /// The last refusal, and how often there was one.
    pub(crate) refused: Option<ErrorCode>,
    pub(crate) has_left: bool,
}

impl Player {
    pub(crate) fn new(
        seed: u64,
        name: String,
        is_host: bool,
        table: Arc<Mutex<Table>>,
        around: Surroundings,
    ) -> Self {
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        let leaves = !is_host && chance.random_bool(LEAVING);
        let leaves_at = leaves.then(|| chance.random_range(2..40));
        Self {
            name,
            is_host,
            table,
            around,
            seen: Arc::default(),
            chance,
            leaves_at,
            token: None,
            welcomed: false,
            checker: Checker::default(),
            state: State::empty(),
            sent: BTreeMap::new(),
            repeated_at: None,
            due: Instant::now(),
            asked: None,
        }
    }

    /// Plays for ever.
    pub(crate) async fn run(mut self) {
        loop {
            let number = self.chance.random_range(0..self.around.gateways.len());
            lock(&self.seen).gateway = number;
            let gateway = self.around.gateways[number].clone();
            let dialled = self.around.network.clone().dial(self.name.clone(), gateway);
            if let Ok(mut socket) = dialled.await {
                self.connected(&mut socket).await;
            }
            let pause = self.chance.random_range(100..1_500);
            sleep(Duration::from_millis(pause)).await;
        }
    }

    /// Plays until the connection ends.
    async fn connected(&mut self, socket: &mut Socket) {
        self.checker.reconnected();
        (self.asked, self.welcomed) = (None, false);
        let token = self.token.as_ref().map(|token| token.reveal().to_owned());
        let hello = Hello {
            token,
            partial: false,
        };
        self.send(socket, &PlayerMessage::Hello(hello)).await;
        self.around.moments.tell(Moment::Hello);
        self.due = Instant::now() + PATIENCE;
        loop {
            tokio::select! {
                biased;
                message = socket.next() => match message {
                    Some(Ok(Message::Text(text))) => {
                        let message = serde_json::from_str(text.as_str());
                        let message = message.expect("the gateway sends what the contract says");
                        if !self.hear(message) {
                            return;
                        }
                    }
                    Some(Ok(Message::Ping(_))) => {
                        let _closed = socket.send(Message::Pong(bytes::Bytes::new())).await;
                    }
                    Some(Ok(Message::Close(frame))) => {
                        tracing::debug!(player = self.name, ?frame, "closed");
                        return;
                    }
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return,
                },
                () = sleep_until(self.due) => {
                    if !self.welcomed {
                        // A gateway that stands still: another may not.
                        return;
                    }
                    self.act(socket).await;
                }
            }
        }
    }

    /// False if the connection is of no use any more.
    fn hear(&mut self, message: ServerMessage) -> bool {
        match message {
            ServerMessage::Welcome(welcome) => {
                if self
                    .token
                    .as_ref()
                    .is_some_and(|token| *token != welcome.token)
                    && !self.is_leaving()
                {
                    self.breach("came back as a stranger");
                    self.checker = Checker::default();
                }
                if self.token.is_none() {
                    self.checker = Checker::new(welcome.player_id);
                }
                self.token = Some(welcome.token);
                self.welcomed = true;
                self.think();
            }
            ServerMessage::State(state) => self.see(*state),
            ServerMessage::Error(refused) => return self.refused(&refused),
            ServerMessage::ServerStatus(_) | ServerMessage::Pong(_) => {}
        }
        true
    }

    /// Whether this player wants to leave by now.
    fn is_leaving(&self) -> bool {
        let turn = turn(&self.state);
        self.leaves_at
            .is_some_and(|at| turn.is_some_and(|turn| turn >= at))
    }

    /// The seat is an AI's from now on.
    fn has_left(&mut self) {
        lock(&self.seen).has_left = true;
        self.due = Instant::now() + FOR_EVER;
    }

    fn see(&mut self, state: State) {
        if state.lobby.is_none() && self.is_leaving() {
            return self.has_left();
        }
        tracing::debug!(player = self.name, seq = state.seq, turn = turn(&state), events = ?state.events, "sees");
        if let Err(contradiction) = self.checker.see(&state) {
            self.breach(&contradiction.to_string());
        }
        if state.lobby.is_none() && self.state.lobby.is_some() {
            self.breach("lost its seat");
        }
        let record = self.checker.record();
        let seen = self.table().history.see(&state, record);
        if let Err(what) = seen {
            self.breach(&what);
        }
        if let Some(lobby) = &state.lobby {
            let code = lobby.code;
            self.around.ledger.shows(code.as_str(), state.seq);
            if self.is_host {
                self.table().code = Some(code);
            }
        }
        self.check_own_moves(&state);
        let before = turn(&self.state);
        let mut seen = lock(&self.seen);
        seen.state_at = Some(Instant::now());
        if let Some(asked) = self.asked
            && turn(&state).is_some_and(|turn| turn > asked)
        {
            seen.moved_at = Some(Instant::now());
            self.asked = None;
            self.around.verdict.moved();
        }
        drop(seen);
        let news = turn(&state) != before || self.asked.is_none();
        self.state = state;
        if news {
            self.think();
        }
    }

    /// Nobody plays for a player what that has not sent.
    fn check_own_moves(&self, state: &State) {
        let seat = state.game.as_ref().and_then(|game| game.you);
        let moves = self
            .checker
            .record()
            .map_or(&[][..], |record| record.moves());
        for (turn, played) in (0..).zip(moves) {
            if let Some(played) = played
                && Some(played.seat) == seat
                && !self
                    .sent
                    .get(&turn)
                    .is_some_and(|sent| sent.contains(&played.action))
            {
                self.breach(&format!(
                    "a move that was not sent: turn {turn}, {played:?}"
                ));
            }
        }
    }

    fn refused(&mut self, refused: &Refused) -> bool {
        tracing::debug!(player = self.name, code = %refused.code, why = refused.message, "refused");
        lock(&self.seen).refused = Some(refused.code);
        match refused.code {
            ErrorCode::Unavailable | ErrorCode::Busy | ErrorCode::RateLimited => {
                self.asked = None;
                let pause = self.chance.random_range(200..1_000);
                self.due = Instant::now() + Duration::from_millis(pause);
                true
            }
            // A newer state is on its way, or the table is not what was thought.
            ErrorCode::StaleTurn | ErrorCode::NotYourTurn => {
                if self
                    .repeated_at
                    .is_none_or(|at| at.elapsed() > REPEATED_FOR)
                {
                    self.breach("was refused a move as one that had been done already");
                }
                self.asked = None;
                self.due = Instant::now() + Duration::from_secs(2);
                true
            }
            // What was asked twice has been done.
            ErrorCode::LobbyPlaying | ErrorCode::NotWaiting | ErrorCode::LobbyFull => {
                self.due = Instant::now() + Duration::from_secs(2);
                true
            }
            ErrorCode::NotInLobby if self.is_leaving() => {
                self.has_left();
                true
            }
            ErrorCode::LobbyNotFound => {
                // The host may not have made it anew yet.
                self.due = Instant::now() + Duration::from_secs(2);
                true
            }
            code => {
                self.breach(&format!("refused: {code} ({})", refused.message));
                false
            }
        }
    }

    /// Does what a person would do now.
    async fn act(&mut self, socket: &mut Socket) {
        self.due = Instant::now() + PATIENCE;
        if self.is_leaving() {
            if !lock(&self.seen).has_left {
                self.send(socket, &PlayerMessage::LeaveLobby).await;
            }
            return;
        }
        let Some(lobby) = &self.state.lobby else {
            return self.sit_down(socket).await;
        };
        let Some(game) = &self.state.game else {
            let ais = lobby.players.iter().filter(|player| player.is_ai).count();
            let complete = lobby.players.len() == SEATS + ais;
            if self.is_host && complete && lobby.status == LobbyStatus::Waiting {
                let next = if ais < self.around.ai_seats {
                    PlayerMessage::AddAi(AddAi {
                        level: AiLevel::Easy,
                    })
                } else {
                    PlayerMessage::StartGame
                };
                self.send(socket, &next).await;
            }
            return;
        };
        let observation = &game.observation.observation;
        let (turn, legal) = (observation.table.turn, &observation.own.legal_actions);
        if legal.is_empty() {
            return;
        }
        let before = self.sent.get(&turn).and_then(|sent| sent.last());
        // Only what is repeated has to say its turn: the servers themselves do nothing twice.
        let (action, says_turn) = match before {
            Some(before) => {
                self.repeated_at = Some(Instant::now());
                (*before, true)
            }
            None => (
                legal[self.chance.random_range(0..legal.len())],
                self.chance.random_bool(0.3),
            ),
        };
        self.asked = Some(turn);
        tracing::debug!(player = self.name, turn, ?action, "plays");
        self.sent.entry(turn).or_default().push(action);
        self.checker.sent(turn, action);
        let turn = says_turn.then_some(turn);
        self.send(socket, &PlayerMessage::Action(Act { action, turn }))
            .await;
        self.around.moments.tell(Moment::Move);
    }

    async fn sit_down(&mut self, socket: &mut Socket) {
        let name: PlayerName = self.name.parse().expect("a name");
        let code = self.table().code;
        let message = match code {
            _ if self.token.is_none() => return,
            Some(code) => PlayerMessage::JoinLobby(JoinLobby { code, name }),
            None if self.is_host => PlayerMessage::CreateLobby(Named { name }),
            None => {
                self.due = Instant::now() + Duration::from_millis(300);
                return;
            }
        };
        self.send(socket, &message).await;
    }

    async fn send(&self, socket: &mut Socket, message: &PlayerMessage) {
        let text = serde_json::to_string(message).expect("messages have string keys");
        // What a closed connection does not take is sent again over the next one.
        let _closed = socket.send(Message::Text(text.into())).await;
    }

    fn think(&mut self) {
        let pause = self.chance.random_range(self.around.thinks_ms.clone());
        self.due = Instant::now() + Duration::from_millis(pause);
    }

    fn breach(&self, what: &str) {
        let code = self.table().code;
        let is_lost = |code: LobbyCode| self.around.ledger.may_be_lost(code.as_str());
        if !code.is_some_and(is_lost) {
            self.around.verdict.breach(format!("{}: {what}", self.name));
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        lock(&self.table)
    }
}

fn turn(state: &State) -> Option<u32> {
    let game = state.game.as_ref();
    game.map(|game| game.observation.observation.table.turn)
}
