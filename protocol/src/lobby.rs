//! What everybody at a table sees of the lobby.

use rules::Options;
use serde::{Deserialize, Serialize};

use crate::id::{LobbyCode, PlayerId};
use crate::name::PlayerName;

/// Where a lobby is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum LobbyStatus {
    /// Seats fill up.
    Waiting,
    /// A game runs.
    Playing,
    /// A game has ended and is still on show.
    Finished,
}

/// How well an AI seat plays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum AiLevel {
    /// Slips as people do.
    Easy,
    /// Plays sensibly.
    #[default]
    Normal,
    /// Plays as well as it can.
    Hard,
}

impl AiLevel {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Easy => "easy",
            Self::Normal => "normal",
            Self::Hard => "hard",
        }
    }
}

/// A sign that a seated player shows to the table for a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[expect(missing_docs, reason = "each means what it says")]
pub enum Reaction {
    WellPlayed,
    Oops,
    Thinking,
    Hurry,
    Laugh,
    Angry,
    Thanks,
    Hello,
}

/// The lobby as everybody at the table sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[expect(
    clippy::struct_excessive_bools,
    reason = "these are the fields of the contract"
)]
pub struct LobbyView {
    /// Six letters.
    pub code: LobbyCode,
    /// Waiting, playing or finished.
    pub status: LobbyStatus,
    /// Who may change options, add AI players and start.
    pub host_id: PlayerId,
    /// How the game is played.
    pub options: Options,
    /// Whether `quick_play` brings strangers here.
    pub public: bool,
    /// The position is the seat number; it never changes during a game.
    pub players: Vec<PlayerView>,
    /// How many watch.
    pub spectators: u32,
    /// Seats that a game needs.
    pub min_players: u8,
    /// Seats that there are.
    pub max_players: u8,
    /// Whether an AI node is there to decide; without one AI seats play at random.
    pub ai_available: bool,
    /// Whether any node would take a new game.
    pub accepting_games: bool,
    /// False while moves could still be lost.
    pub saved: bool,
}

/// Who sits at a seat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PlayerView {
    /// A person's or an AI seat's id.
    pub id: PlayerId,
    /// Unique in the lobby.
    pub name: PlayerName,
    /// Whether an AI decides.
    pub is_ai: bool,
    /// Whether the person is here; true for an AI.
    pub connected: bool,
    /// Whether the host may give the seat to an AI: a person who has been away for 60 s in a running game.
    pub replaceable: bool,
    /// How well the AI plays; absent for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub level: Option<AiLevel>,
}
