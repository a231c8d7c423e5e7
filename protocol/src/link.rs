//! Between a gateway and a game node: one WebSocket for all players of both, dialled by the gateway.
//!
//! The gateway asks for `GET /link/gateway` with `Authorization: Bearer GATEWAY_SHARED_SECRET`; binary frames follow, one
//! message each ([`crate::frame`]). The gateway's first message is [`ToNode::Hello`], the node's [`ToGateway::Hello`].
//!
//! Every [`ToNode::Ask`] is answered by exactly one [`ToGateway::Answer`] with its number, after the change that it made has
//! been committed. The answer comes before the partings and the picture that it led to. What a connection sees comes as [`ToGateway::Show`], and ends with [`ToGateway::Parted`].

mod custody;

use rules::Action;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::code::ErrorCode;
use crate::id::{ConnectionId, LobbyCode, PlayerId, TokenHash};
use crate::lobby::{AiLevel, LobbyStatus, Reaction};
use crate::name::PlayerName;
use crate::parts::{Fragment, OwnPart, SharedParts};
use crate::player::SetOptions;
use crate::server::LoadLevel;
use crate::trace::TraceParent;

pub use custody::{Claim, Claimed, Handed, Known, KnownPerson, Question, Sight, Unsaved, Why};

/// Where a gateway dials a game node.
pub const GATEWAY_LINK_PATH: &str = "/link/gateway";

/// From a gateway to a game node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToNode {
    /// Opens the link.
    Hello {
        /// The gateway's id in the registry.
        gateway: String,
        /// This run of the gateway.
        incarnation: Uuid,
    },
    /// Asked every second; the lobby thread answers.
    Ping {
        /// Comes back in the pong.
        nonce: u64,
        /// How the gateway fares with the registry.
        registry: Sight,
    },
    /// Opens, steps and deletes a lobby that nobody sees: is this node able to serve?
    Probe {
        /// Comes back in the answer.
        request: u64,
    },
    /// For operators: who sits in this lobby?
    Inspect {
        /// Comes back in the answer.
        request: u64,
        /// Which lobby.
        code: LobbyCode,
    },
    /// A lobby shall be this node's, since its owner can't be reached or has given it up.
    Claim {
        /// Comes back in the answer.
        request: u64,
        /// Which one.
        claim: Claim,
    },
    /// Who knows what the registry does not?
    Question {
        /// Comes back in the answer.
        request: u64,
        /// What is asked.
        question: Question,
    },
    /// What a player wants of a lobby.
    Ask(Ask),
    /// A player's connection has closed; their seat stays.
    Detach {
        /// Which lobby.
        code: LobbyCode,
        /// Which connection.
        connection: ConnectionId,
    },
}

/// A player's wish, numbered so that its answer finds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// Who asks.
    pub person: Person,
    /// From which connection.
    pub connection: ConnectionId,
    /// Rises with each message of this connection.
    pub number: u64,
    /// Which lobby it is for.
    pub code: LobbyCode,
    /// What is wanted.
    pub request: Request,
    /// Where it comes from in its trace, if traces are collected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceParent>,
}

/// Somebody with a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// The session's player.
    pub player: PlayerId,
    /// Names the session.
    pub token: TokenHash,
    /// Rises with each connection of this session: an older one has been taken over.
    pub generation: u64,
}

/// What a player may want of a lobby. The order of checks is that of `docs/protocol.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// A new lobby under this code, with the asker as host.
    Create {
        /// 16 hexadecimal digits, the life of this lobby: the same in every retry.
        born: String,
        /// What the host wants to be called.
        name: PlayerName,
        /// Whether `quick_play` brings strangers.
        public: bool,
    },
    /// A seat.
    Join {
        /// What the player wants to be called.
        name: PlayerName,
        /// Only if strangers are welcome: `quick_play`.
        only_if_public: bool,
    },
    /// To see the lobby without a seat.
    Watch,
    /// Back at the seat, or the place to watch from, that this person has already; shows the whole picture. Takes no
    /// number: it is answered by [`Outcome::Attached`], and what the owner has not taken is sent again.
    Attach {
        /// The newest state that this connection was shown; what happened since comes with the picture.
        shown: Option<u64>,
    },
    /// Gives up the seat, or stops watching.
    Leave,
    /// `add_ai`.
    AddAi {
        /// How well it plays.
        level: AiLevel,
    },
    /// `remove_player`.
    RemovePlayer {
        /// Who has to go.
        player: PlayerId,
    },
    /// `set_options`.
    SetOptions(SetOptions),
    /// `start_game`.
    Start,
    /// `action`.
    Act {
        /// The move.
        action: Action,
        /// The turn that it answers.
        turn: Option<u32>,
    },
    /// `replace_player`.
    ReplacePlayer {
        /// Whose seat an AI shall play.
        player: PlayerId,
    },
    /// `react`.
    React {
        /// Which sign.
        reaction: Reaction,
    },
    /// `return_to_lobby`.
    ReturnToLobby,
}

/// From a game node to a gateway.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToGateway {
    /// Answers the gateway's hello.
    Hello {
        /// The node's id in the registry.
        node: String,
        /// This run of the node.
        incarnation: Uuid,
    },
    /// Answers a ping.
    Pong {
        /// The ping's.
        nonce: u64,
        /// What operators can't read in the registry while the node does not reach it; none of a node of before.
        #[serde(default)]
        unsaved: Option<Unsaved>,
    },
    /// Answers a probe.
    Probed {
        /// The probe's.
        request: u64,
        /// What went wrong, or none.
        failure: Option<String>,
    },
    /// Answers an inspection.
    Inspected {
        /// The inspection's.
        request: u64,
        /// What is known of it; none if this node does not have that lobby.
        lobby: Option<Inspection>,
    },
    /// How loaded the node is; after its hello and at every change.
    Status {
        /// Its level.
        level: LoadLevel,
        /// Whether it takes new games.
        accepting_games: bool,
    },
    /// Answers an [`Ask`].
    Answer {
        /// Whose.
        connection: ConnectionId,
        /// The ask's.
        number: u64,
        /// What came of it.
        outcome: Outcome,
    },
    /// Answers a claim.
    Claimed {
        /// The claim's.
        request: u64,
        /// What came of it.
        outcome: Claimed,
    },
    /// Answers a question.
    Knows {
        /// The question's.
        request: u64,
        /// What is known; none if it is nothing.
        known: Option<Known>,
    },
    /// This node alone can't commit: others shall take these lobbies over, which it shows no more. Sent in several
    /// messages if they are many, and again on a new link.
    HandsOver {
        /// Each with its code.
        lobbies: Vec<(LobbyCode, Handed)>,
    },
    /// This node commits again, or goes on since nobody could take anything over, and keeps what
    /// nobody has.
    CommitsAgain,
    /// What the players of one lobby on this gateway see now.
    Show(Show),
    /// This connection is at the table no longer.
    Parted {
        /// Which lobby.
        code: LobbyCode,
        /// Whose connection.
        connection: ConnectionId,
        /// Why.
        reason: Parting,
    },
}

/// What operators may know of a lobby: neither cards nor names nor tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inspection {
    /// Of the node's ownership.
    pub epoch: u64,
    /// The newest state's number.
    pub seq: u64,
    /// Where it is in its life.
    pub status: LobbyStatus,
    /// By seat number.
    pub seats: Vec<InspectedSeat>,
    /// People who watch.
    pub spectators: u32,
}

/// What operators may know of a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InspectedSeat {
    /// Whether an AI plays it.
    pub is_ai: bool,
    /// Whether whoever plays it is here; an AI always is.
    pub connected: bool,
}

/// What came of an [`Ask`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was done, and is committed.
    Done,
    /// Answers [`Request::Attach`]: it was done, and is committed.
    Attached {
        /// The last number of this connection that the lobby has taken: those after it have not been done.
        taken: u64,
    },
    /// It was not done, and nothing has changed.
    Refused {
        /// Why.
        code: ErrorCode,
        /// English, for people.
        message: String,
        /// When to try again, in milliseconds.
        retry_after_ms: Option<u32>,
    },
    /// This node does not own that lobby: look it up anew.
    NotOwner,
}

/// Why a connection is at a table no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parting {
    /// They left, or stopped watching.
    Left,
    /// The host removed them.
    Removed,
    /// A newer connection of the same session took the seat.
    TakenOver,
    /// The lobby has ended: nobody is left in it.
    Ended,
    /// The table was lost by a fault of ours.
    Lost,
    /// The node owns the lobby no longer: look it up anew.
    Moved,
}

/// One new picture of a lobby for all of its players on one gateway.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Show {
    /// Which lobby.
    pub code: LobbyCode,
    /// Of the node's ownership: a lower one is out of date.
    pub epoch: u64,
    /// What all of them see, its `seq` included.
    pub shared: SharedParts,
    /// What happened since the last picture, oldest first.
    pub events: Vec<Fragment>,
    /// What seats or spectators see alone; empty without a game.
    pub own: Vec<OwnPart>,
    /// Who is shown this.
    pub to: Vec<Receiver>,
    /// The moves that have led to it, each where it is in its trace; empty if none are collected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<TraceParent>,
}

/// One connection that is shown a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receiver {
    /// Which connection.
    pub connection: ConnectionId,
    /// Its place in [`Show::own`]; none without a game.
    pub own: Option<u32>,
}
