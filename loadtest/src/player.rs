//! One player over one real connection: what a program outside would write against `docs/protocol.md`.
//!
//! Everything that arrives is read into the types of the contract, and every state goes through a [`Checker`] before
//! anybody sees it. A player outlives its connection: [`Player::reconnect`] goes on with the same checks, at any gateway.

mod partial;
mod socket;

use std::time::Duration;

use protocol::player::{Act, Hello, JoinLobby, Named, Ping, PlayerMessage, WatchLobby};
use protocol::server::{Refused, ServerMessage, ServerStatus, State, Welcome};
use protocol::{ErrorCode, LobbyCode, PlayerId, PlayerName, Token};
use rules::{Action, Observation};
use tokio::time::{Instant, sleep, timeout_at};

use crate::checker::Checker;
use crate::contradiction::Contradiction;
use crate::secrecy::foreign_card;
use partial::Whole;
use socket::Socket;

/// How long [`Player::next`] and the requests wait for an answer. Far above every pause that the servers may take.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// What a request that was refused for lack of room waits where the refusal names no time.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// Why a player can't go on.
#[derive(Debug, thiserror::Error)]
pub enum PlayerError {
    /// No connection came about.
    #[error("can't connect to {url}: {reason}")]
    Connect {
        /// Where to.
        url: String,
        /// What went wrong.
        reason: String,
    },
    /// The connection has ended.
    #[error("the connection was closed: {code:?} {reason}")]
    Closed {
        /// The close frame's code; None if the connection just broke.
        code: Option<u16>,
        /// The close frame's text, or what broke.
        reason: String,
    },
    /// Nothing that was waited for has come.
    #[error("{what} did not come within {waited:?} after {newest}")]
    Silent {
        /// What was waited for.
        what: &'static str,
        /// For how long.
        waited: Duration,
        /// The newest state, in short.
        newest: String,
    },
    /// A frame that is no message of the contract.
    #[error("{reason}: {text}")]
    Unreadable {
        /// What is wrong with it.
        reason: String,
        /// Its beginning.
        text: String,
    },
    /// The server refused something.
    #[error("refused: {} ({})", .0.code, .0.message)]
    Refused(Refused),
    /// A state that can't be.
    #[error("{0}")]
    Contradiction(#[from] Contradiction),
}

/// A player, seated, watching or neither.
pub struct Player {
    socket: Socket,
    partial: Option<Whole>,
    welcome: Option<Welcome>,
    status: Option<ServerStatus>,
    state: State,
    checker: Checker,
    requests: u64,
    transcript: Option<Vec<String>>,
}

impl Player {
    /// Opens a connection to a gateway's `ws://…/ws`.
    pub async fn connect(url: &str) -> Result<Self, PlayerError> {
        Ok(Self {
            socket: Socket::connect(url).await?,
            partial: None,
            welcome: None,
            status: None,
            state: State::empty(),
            checker: Checker::default(),
            requests: 0,
            transcript: None,
        })
    }

    /// From now on keeps every text that arrives.
    #[must_use]
    pub fn keeping_transcript(mut self) -> Self {
        self.transcript = Some(Vec::new());
        self
    }

    /// Asks for partial states, which are made whole here; before `hello`.
    #[must_use]
    pub fn asking_for_partial_states(mut self) -> Self {
        self.partial = Some(Whole::default());
        self
    }

    /// Says who this is, and waits for all that follows: `welcome`, `server_status` and a `state`.
    pub async fn hello(&mut self, token: Option<&Token>) -> Result<Welcome, PlayerError> {
        let token = token.map(|token| token.reveal().to_owned());
        let partial = self.partial.is_some();
        self.send(PlayerMessage::Hello(Hello { token, partial }))
            .await?;
        (self.welcome, self.status) = (None, None);
        let mut has_state = false;
        while !has_state || self.status.is_none() || self.welcome.is_none() {
            match self.next().await? {
                ServerMessage::State(_) => has_state = true,
                ServerMessage::Error(refused) => return Err(PlayerError::Refused(refused)),
                ServerMessage::Welcome(_)
                | ServerMessage::ServerStatus(_)
                | ServerMessage::Pong(_) => {}
            }
        }
        Ok(self.welcome.clone().expect("waited for above"))
    }

    /// Comes back as the same player on a new connection, perhaps at another gateway.
    pub async fn reconnect(&mut self, url: &str) -> Result<Welcome, PlayerError> {
        self.socket = Socket::connect(url).await?;
        if let Some(whole) = &mut self.partial {
            *whole = Whole::default();
        }
        let token = self.welcome.as_ref().map(|welcome| welcome.token.clone());
        self.hello(token.as_ref()).await
    }

    /// A lobby of one's own.
    pub async fn create(&mut self, name: &str) -> Result<LobbyCode, PlayerError> {
        let before = self.code();
        let message = PlayerMessage::CreateLobby(Named {
            name: player_name(name)?,
        });
        let another = |state: &State| {
            state
                .lobby
                .as_ref()
                .is_some_and(|lobby| Some(lobby.code) != before)
        };
        self.ask(message, another).await?;
        Ok(self.code().expect("the state has a lobby"))
    }

    /// A seat in somebody's lobby.
    pub async fn join(&mut self, code: LobbyCode, name: &str) -> Result<(), PlayerError> {
        let message = PlayerMessage::JoinLobby(JoinLobby {
            code,
            name: player_name(name)?,
        });
        self.ask(message, |state| in_lobby(state, code)).await
    }

    /// The public view of a lobby.
    pub async fn watch(&mut self, code: LobbyCode) -> Result<(), PlayerError> {
        let message = PlayerMessage::WatchLobby(WatchLobby { code });
        self.ask(message, |state| in_lobby(state, code)).await
    }

    /// Gives the seat up, or stops watching.
    pub async fn leave(&mut self) -> Result<(), PlayerError> {
        self.ask(PlayerMessage::LeaveLobby, |state| state.lobby.is_none())
            .await
    }

    /// Sends a message and waits until a state shows what was asked for, or for the refusal.
    pub async fn ask(
        &mut self,
        message: PlayerMessage,
        shows: impl Fn(&State) -> bool,
    ) -> Result<(), PlayerError> {
        self.send(message).await?;
        let ceiling = Instant::now() + PATIENCE;
        loop {
            match self.next_before(ceiling, "an answer").await? {
                ServerMessage::State(state) if shows(&state) => return Ok(()),
                ServerMessage::Error(refused) => return Err(PlayerError::Refused(refused)),
                _ => {}
            }
        }
    }

    /// Sends a message; the answer is for [`Player::next`] and its kin.
    pub async fn send(&mut self, message: PlayerMessage) -> Result<(), PlayerError> {
        if let PlayerMessage::Action(act) = &message {
            let turn = act.turn.or(self.turn()).unwrap_or_default();
            self.checker.sent(turn, act.action);
        }
        self.requests += 1;
        let mut json = serde_json::to_value(&message).expect("messages have string keys");
        json["id"] = self.requests.to_string().into();
        self.socket.send(json.to_string()).await
    }

    /// Sends a text as it is: for what a well-behaved player would never say.
    pub async fn send_text(&mut self, text: &str) -> Result<(), PlayerError> {
        self.socket.send(text.to_owned()).await
    }

    /// Sends a move for the turn of the newest state.
    pub async fn act(&mut self, action: Action) -> Result<(), PlayerError> {
        let turn = self.turn();
        self.send(PlayerMessage::Action(Act { action, turn })).await
    }

    /// The next message; [`PATIENCE`] is the ceiling.
    pub async fn next(&mut self) -> Result<ServerMessage, PlayerError> {
        self.next_before(Instant::now() + PATIENCE, "a message")
            .await
    }

    /// Reads on until the newest state is as wanted; at once, if it is already.
    pub async fn until(
        &mut self,
        wanted: impl Fn(&State) -> bool,
        ceiling: Duration,
    ) -> Result<&State, PlayerError> {
        let end = Instant::now() + ceiling;
        while !wanted(&self.state) {
            if let ServerMessage::Error(refused) = self.next_before(end, "the state").await? {
                return Err(PlayerError::Refused(refused));
            }
        }
        Ok(&self.state)
    }

    /// Reads on to the next refusal.
    pub async fn refusal(&mut self, ceiling: Duration) -> Result<Refused, PlayerError> {
        let end = Instant::now() + ceiling;
        loop {
            if let ServerMessage::Error(refused) = self.next_before(end, "a refusal").await? {
                return Ok(refused);
            }
        }
    }

    /// Sends a `ping` and reads on to its `pong`: the connection is open and answers.
    pub async fn echo(&mut self, ceiling: Duration) -> Result<(), PlayerError> {
        let nonce = Some(format!("echo {}", self.requests));
        self.send(PlayerMessage::Ping(Ping {
            nonce: nonce.clone(),
        }))
        .await?;
        let end = Instant::now() + ceiling;
        loop {
            match self.next_before(end, "a pong").await? {
                ServerMessage::Pong(pong) if pong.nonce == nonce => return Ok(()),
                ServerMessage::Error(refused) => return Err(PlayerError::Refused(refused)),
                _ => {}
            }
        }
    }

    /// Reads on to the end of the connection; gives the close code.
    pub async fn closed(&mut self, ceiling: Duration) -> Result<Option<u16>, PlayerError> {
        let end = Instant::now() + ceiling;
        loop {
            match self.next_before(end, "the end of the connection").await {
                Err(PlayerError::Closed { code, .. }) => return Ok(code),
                Err(error) => return Err(error),
                Ok(_) => {}
            }
        }
    }

    /// Plays the running game to its end.
    pub async fn play(
        &mut self,
        mut choose: impl FnMut(&Observation) -> Action,
    ) -> Result<(), PlayerError> {
        let mut answered = None;
        while self
            .observation()
            .is_none_or(|shown| shown.table.ranking.is_none())
        {
            let open = self.observation().filter(|shown| {
                !shown.own.legal_actions.is_empty() && Some(shown.table.turn) != answered
            });
            if let Some(shown) = open {
                answered = Some(shown.table.turn);
                let action = choose(shown);
                self.act(action).await?;
            }
            if let ServerMessage::Error(refused) = self.next().await? {
                // A deadline was faster: the newer state is on its way.
                if refused.code == ErrorCode::StaleTurn {
                    continue;
                }
                let pause = pause_after(&refused).ok_or(PlayerError::Refused(refused))?;
                sleep(pause).await;
                answered = None;
            }
        }
        Ok(())
    }

    /// Ends the connection as a closed window does; [`Player::reconnect`] comes back.
    pub async fn disconnect(&mut self) {
        self.socket.close().await;
    }

    /// The newest state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What the newest state shows of a game.
    pub fn observation(&self) -> Option<&Observation> {
        self.state
            .game
            .as_ref()
            .map(|game| &game.observation.observation)
    }

    /// Number of moves so far in the game that is shown.
    pub fn turn(&self) -> Option<u32> {
        self.observation().map(|shown| shown.table.turn)
    }

    /// The lobby that is shown.
    pub fn code(&self) -> Option<LobbyCode> {
        self.state.lobby.as_ref().map(|lobby| lobby.code)
    }

    /// Own id, after `hello`.
    pub fn id(&self) -> Option<&PlayerId> {
        self.welcome.as_ref().map(|welcome| &welcome.player_id)
    }

    /// What the last `hello` was answered.
    pub fn welcome(&self) -> Option<&Welcome> {
        self.welcome.as_ref()
    }

    /// The newest word on the servers' load.
    pub fn server_status(&self) -> Option<ServerStatus> {
        self.status
    }

    /// How many messages were sent so far, over all connections: the `id` of the newest.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// What was seen and acknowledged.
    pub fn checker(&self) -> &Checker {
        &self.checker
    }

    /// All texts that have arrived, if they were to be kept.
    pub fn transcript(&self) -> &[String] {
        self.transcript.as_deref().unwrap_or_default()
    }

    async fn next_before(
        &mut self,
        end: Instant,
        what: &'static str,
    ) -> Result<ServerMessage, PlayerError> {
        let started = Instant::now();
        let text =
            timeout_at(end, self.socket.next())
                .await
                .map_err(|_| PlayerError::Silent {
                    what,
                    waited: started.elapsed(),
                    newest: in_short(&self.state),
                })??;
        if let Some(transcript) = &mut self.transcript {
            transcript.push(text.clone());
        }
        let message = self.read(&text)?;
        match &message {
            ServerMessage::Welcome(welcome) => self.welcomed(welcome),
            ServerMessage::ServerStatus(status) => self.status = Some(*status),
            ServerMessage::State(state) => {
                self.checker.see(state)?;
                self.state.clone_from(state);
            }
            ServerMessage::Error(_) | ServerMessage::Pong(_) => {}
        }
        Ok(message)
    }

    fn read(&mut self, text: &str) -> Result<ServerMessage, PlayerError> {
        let unreadable = |reason: String| PlayerError::Unreadable {
            reason,
            text: text.chars().take(300).collect(),
        };
        let message = match &mut self.partial {
            Some(whole) => whole.read(text),
            None => serde_json::from_str(text),
        };
        let message = message.map_err(|error| unreadable(error.to_string()))?;
        if let ServerMessage::State(state) = &message {
            if self.partial.is_none() && !text.contains("\"lobby\":") {
                return Err(unreadable("a full state has a lobby, or null".to_owned()));
            }
            if let Some(card) = foreign_card(text, state) {
                return Err(unreadable(format!("{card} is shown where no card may be")));
            }
        }
        Ok(message)
    }

    fn welcomed(&mut self, welcome: &Welcome) {
        let known = self.checker.player() == Some(&welcome.player_id);
        if known {
            self.checker.reconnected();
        } else {
            self.checker = Checker::new(welcome.player_id.clone());
        }
        self.welcome = Some(welcome.clone());
    }
}

/// How long to wait before the same is asked again; None if asking again is of no use.
pub fn pause_after(refused: &Refused) -> Option<Duration> {
    let wait = refused
        .retry_after_ms
        .map(|wait| Duration::from_millis(wait.into()));
    match refused.code {
        ErrorCode::RateLimited | ErrorCode::Busy | ErrorCode::Unavailable => {
            Some(wait.unwrap_or(RETRY_PAUSE))
        }
        _ => None,
    }
}

fn in_short(state: &State) -> String {
    let Some(lobby) = &state.lobby else {
        return "a state without a lobby".to_owned();
    };
    let (code, seq, status) = (lobby.code, state.seq, lobby.status);
    let game = state.game.as_ref().map(|game| {
        let table = &game.observation.observation.table;
        format!(", turn {}, {:?} to act", table.turn, table.to_act)
    });
    let game = game.unwrap_or_default();
    format!("seq {seq} of {code}, {status:?}{game}")
}

fn in_lobby(state: &State, code: LobbyCode) -> bool {
    state.lobby.as_ref().is_some_and(|lobby| lobby.code == code)
}

fn player_name(name: &str) -> Result<PlayerName, PlayerError> {
    name.parse().map_err(|error| PlayerError::Unreadable {
        reason: format!("no name: {error}"),
        text: name.to_owned(),
    })
}
