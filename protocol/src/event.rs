//! What happened between one `state` and the next: the game's events and the table's.

use rules::Seat;
use serde::{Deserialize, Serialize};

use crate::id::PlayerId;
use crate::lobby::Reaction;

/// One thing that happened, the same for everybody who sees the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Event {
    /// An event of the game.
    Game(rules::Event),
    /// An event of the table around it.
    Table(TableEvent),
}

/// What happens at a table beside the game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum TableEvent {
    /// A seat changed from a person to an AI, or back.
    SeatReplaced {
        /// Which one.
        seat: Seat,
        /// Who plays it from now on.
        by: ReplacedBy,
    },
    /// Another person is host now.
    HostChanged {
        /// The new host.
        player_id: PlayerId,
    },
    /// A player showed a sign.
    Reaction {
        /// Whose seat.
        seat: Seat,
        /// Which sign.
        reaction: Reaction,
    },
}

/// Who plays a seat after it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum ReplacedBy {
    /// An AI.
    Ai,
    /// The person who owns the seat.
    Player,
}

impl From<rules::Event> for Event {
    fn from(event: rules::Event) -> Self {
        Self::Game(event)
    }
}

impl From<TableEvent> for Event {
    fn from(event: TableEvent) -> Self {
        Self::Table(event)
    }
}
