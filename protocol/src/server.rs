//! What a player is sent.

use rules::{DealCommitment, Observation, RevealedSeed, Seat};
use serde::{Deserialize, Serialize};

use crate::code::ErrorCode;
use crate::event::Event;
use crate::id::{PlayerId, Token};
use crate::lobby::LobbyView;
use crate::name::PlayerName;

/// Everything the gateway can say, by its `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum ServerMessage {
    /// Answers `hello`.
    Welcome(Welcome),
    /// How loaded the servers are; after `welcome` and at every change.
    ServerStatus(ServerStatus),
    /// The whole picture of the table.
    State(Box<State>),
    /// Something was refused or failed.
    Error(Refused),
    /// Answers `ping`.
    Pong(Pong),
}

/// Who the player is from now on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Welcome {
    /// 12 hexadecimal digits.
    pub player_id: PlayerId,
    /// The secret to come back with.
    pub token: Token,
    /// The name last used, or null.
    pub name: Option<PlayerName>,
    /// When the connection breaks, come back after a random time up to this, in milliseconds.
    pub reconnect_within_ms: u32,
}

/// How loaded a node is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum LoadLevel {
    /// Room for more.
    #[default]
    Normal,
    /// Works, with little to spare.
    Busy,
    /// Takes no new games.
    Overloaded,
}

impl LoadLevel {
    /// The level as it is sent.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Busy => "busy",
            Self::Overloaded => "overloaded",
        }
    }
}

/// Why new tables are not possible, or the table stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum StatusReason {
    /// The table changes its node.
    Moving,
    /// The registry can't be reached.
    RedisAway,
    /// All nodes are overloaded.
    Overloaded,
    /// All nodes have as many games as they may.
    Full,
}

/// Whether the servers take new games.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ServerStatus {
    /// Of the lobby's node; outside a lobby of the least loaded one.
    pub level: LoadLevel,
    /// Whether any node would take a new game.
    pub accepting_games: bool,
    /// Why not, or what the table waits for.
    pub reason: Option<StatusReason>,
    /// When to try again, in milliseconds.
    pub retry_after_ms: Option<u32>,
    /// From now on instead of the one in `welcome`: longer where the servers are loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub reconnect_within_ms: Option<u32>,
}

/// A refusal or a fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Refused {
    /// Stable.
    pub code: ErrorCode,
    /// English, for people.
    pub message: String,
    /// When to try again, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub retry_after_ms: Option<u32>,
    /// The `id` of the message that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub id: Option<String>,
}

/// Answers `ping`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Pong {
    /// The ping's.
    #[serde(default)]
    pub nonce: Option<String>,
}

/// A full picture; what it does not show does not exist for this player.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct State {
    /// Rises from one state of a lobby to the next.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub seq: u64,
    /// Null when neither seated nor watching.
    pub lobby: Option<LobbyView>,
    /// Null before the game.
    pub game: Option<GameView>,
    /// What happened since the last state that this player got, oldest first; at most [`crate::limit::MAX_EVENTS`].
    pub events: Vec<Event>,
}

impl State {
    /// What somebody sees who is at no table.
    pub fn empty() -> Self {
        Self {
            seq: 0,
            lobby: None,
            game: None,
            events: Vec::new(),
        }
    }
}

/// The game as one player sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GameView {
    /// Own seat, or null for a spectator.
    pub you: Option<Seat>,
    /// SHA-256 of the seed that all deals come from.
    pub deal_commitment: DealCommitment,
    /// The seed itself; null until the game has finished.
    pub seed: Option<RevealedSeed>,
    /// The table from this seat.
    pub observation: TimedObservation,
}

/// What a seat sees, and how long whoever is to act has left: the rules know no time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TimedObservation {
    /// What the rules let this seat see.
    #[serde(flatten)]
    pub observation: Observation,
    /// Milliseconds left for `to_act`, or null.
    pub deadline_ms: Option<u32>,
}
