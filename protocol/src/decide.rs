//! Between a game node and an AI node: one WebSocket for all AI seats of both, dialled by the AI node.
//!
//! The AI node asks for `GET /link/ai` with `Authorization: Bearer AI_SHARED_SECRET`; binary frames follow, one message each
//! ([`crate::frame`]). The AI node's first message is [`ToNode::Hello`].

use rules::{Action, Card, Observation, Options, Seat};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::lobby::AiLevel;
use crate::trace::TraceParent;

/// Where an AI node dials a game node.
pub const AI_LINK_PATH: &str = "/link/ai";

/// From a game node to an AI node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToAi {
    /// Asks for one move.
    Decide(Box<Decide>),
    /// Asks for a sign of life.
    Ping {
        /// Comes back in the pong.
        nonce: u64,
    },
}

/// A seat that must move, and all that it may know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decide {
    /// Comes back in the answer.
    pub request_id: Uuid,
    /// Who must move.
    pub seat: Seat,
    /// How well to play.
    pub level: AiLevel,
    /// How the game is played.
    pub options: Options,
    /// What the seat sees, its legal actions included.
    pub observation: Observation,
    /// The cards that were played in this round, in order, the present trick included: the seat saw them all, and the
    /// observation shows only the last two tricks of them. The player to the left of the dealer played the first.
    #[serde(default)]
    pub plays: Vec<Card>,
    /// How long an answer is of use, in milliseconds.
    pub timeout_ms: u32,
    /// Where it comes from in its trace, if traces are collected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceParent>,
}

/// From an AI node to a game node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToNode {
    /// Opens the link.
    Hello {
        /// The AI node's id in the registry.
        ai_node: String,
        /// This run of the AI node.
        incarnation: Uuid,
    },
    /// One move.
    Decision {
        /// The request's.
        request_id: Uuid,
        /// The move.
        action: Action,
    },
    /// No move.
    Failed {
        /// The request's.
        request_id: Uuid,
        /// Why.
        failure: DecideFailure,
    },
    /// A sign of life.
    Pong {
        /// The ping's.
        nonce: u64,
    },
}

/// Why an AI node has no move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecideFailure {
    /// Its queue is full.
    Overloaded,
    /// The observation has no legal action to choose from.
    NothingToDecide,
    /// A fault of its own.
    Internal,
}
