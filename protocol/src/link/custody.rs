//! Between a gateway and a game node, when a lobby changes its owner: claims, what a suspended node hands over, and
//! questions to all nodes when the registry can't answer them.
//!
//! The rules are in `docs/architecture.md`, "Who owns a lobby".

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::id::{LobbyCode, PlayerId, TokenHash};
use crate::name::PlayerName;

/// A gateway wants a lobby owned by this node. Asked of the owner that the record names, it is the question whether it
/// holds the lobby: who does answers [`Claimed::Owned`] at once.
///
/// One that comes late, or twice, does no harm: by then the record is of a higher epoch than the one seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Which lobby.
    pub code: LobbyCode,
    /// 16 hexadecimal digits, the life of this lobby.
    pub born: String,
    /// The highest epoch that the gateway has seen.
    pub epoch: u64,
    /// The highest `seq` that the gateway has seen.
    pub seq: u64,
    /// What a suspended owner has handed over.
    pub handed: Option<Handed>,
    /// Why the owner is relieved; none if it is the owner itself that is asked, or by a gateway of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
    /// How long the gateway has looked for an owner, in ms.
    #[serde(default)]
    pub searched_ms: u64,
}

/// What of a node's lobbies is not saved, while the registry does not answer it: for operators, nothing follows from it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsaved {
    /// Lobbies that stand still until they can be saved.
    pub suspended: u32,
    /// Lobbies with moves that were shown without being saved.
    pub uncommitted: u32,
    /// Whether the node alone can't save, and has handed its lobbies to its gateways.
    pub cut_off: bool,
}

/// Why an owner is relieved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It gave the lobby up.
    Released,
    /// It can't commit, and has asked to be relieved.
    HandedOver,
    /// Its process is gone.
    Dead,
    /// A later run of that node answers.
    Restarted,
    /// Nothing was heard of it, over the link or through the registry.
    Silent,
}

impl Why {
    /// For logs, metrics and operators.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Released => "released",
            Self::HandedOver => "handed_over",
            Self::Dead => "dead",
            Self::Restarted => "restarted",
            Self::Silent => "silent",
        }
    }
}

/// A lobby as an owner hands it over that can't commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handed {
    /// Of the ownership that ends.
    pub epoch: u64,
    /// The state's number.
    pub seq: u64,
    /// 16 hexadecimal digits, the life of this lobby.
    pub born: String,
    /// The registry's word for where it is in its life.
    pub status: String,
    /// As in the registry.
    pub saved: Bytes,
}

/// What came of a [`Claim`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claimed {
    /// This node owns the lobby.
    Owned {
        /// Its epoch.
        epoch: u64,
    },
    /// The record has moved on: look it up anew.
    MovedOn,
    /// There is no such lobby, or it has ended.
    Gone,
    /// The lobby was claimed too often lately.
    Wait {
        /// Try again after so long.
        milliseconds: u64,
    },
    /// This node takes no lobby over, or gives this one away: it is going to stop, or is suspended.
    Refused,
    /// This node can't read what is saved, e.g. because a newer program wrote it. Nobody owns the lobby.
    Unreadable,
    /// The registry did not answer this node.
    Unavailable,
}

/// What a gateway asks all nodes when the registry does not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Who holds this lobby?
    Lobby(LobbyCode),
    /// Who knows this session?
    Session(TokenHash),
}

/// What a node knows of a [`Question`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// The lobby that it holds.
    pub code: LobbyCode,
    /// 16 hexadecimal digits, the life of that lobby.
    pub born: String,
    /// Of its ownership.
    pub epoch: u64,
    /// The node can't commit and shows nothing new.
    pub suspended: bool,
    /// Asked for a session: whose it is.
    pub person: Option<KnownPerson>,
}

/// Somebody whose session a lobby's owner knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownPerson {
    /// Who.
    pub player: PlayerId,
    /// What they are called at that table; none for who watches.
    pub name: Option<PlayerName>,
    /// The newest connection that the owner has seen.
    pub generation: u64,
}

/// How a gateway fares with the registry, on each ping of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sight {
    /// It answers.
    Reachable,
    /// It does not answer.
    Away {
        /// For so long, or since this gateway's start.
        since_ms: u64,
    },
}
