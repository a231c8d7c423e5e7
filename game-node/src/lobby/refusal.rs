//! Why a person may not have what they want.

use std::time::Duration;

use protocol::ErrorCode;

/// A wish that was not done; the lobby is as it was. The message is English, for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Refusal {
    /// Stable.
    pub code: ErrorCode,
    /// One sentence.
    pub message: String,
    /// When the same wish will be done.
    pub retry_after: Option<Duration>,
}

impl Refusal {
    /// A refusal without a time to come back at.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            retry_after: None,
        }
    }

    pub(super) fn lobby_not_found() -> Self {
        Self::new(ErrorCode::LobbyNotFound, "This table has ended.")
    }

    pub(super) fn not_in_lobby() -> Self {
        Self::new(ErrorCode::NotInLobby, "You are not at this table.")
    }

    pub(super) fn spectator() -> Self {
        Self::new(
            ErrorCode::Spectator,
            "You are watching: only players can do that.",
        )
    }

    pub(super) fn taken_over() -> Self {
        Self::new(ErrorCode::TakenOver, "This session was opened elsewhere.")
    }

    pub(super) fn not_host() -> Self {
        Self::new(ErrorCode::NotHost, "Only the host can do that.")
    }

    pub(super) fn lobby_full() -> Self {
        Self::new(ErrorCode::LobbyFull, "All seats of this table are taken.")
    }

    pub(super) fn no_such_player() -> Self {
        Self::new(
            ErrorCode::PlayerNotFound,
            "There is no such player to do that to.",
        )
    }

    /// This node has as many games as it may, or as it can carry.
    pub fn busy() -> Self {
        Self {
            code: ErrorCode::Busy,
            message: "No server takes a new game just now.".to_owned(),
            retry_after: Some(BUSY_RETRY),
        }
    }

    /// Something that is needed can't be reached.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self {
            code: ErrorCode::Unavailable,
            message: message.into(),
            retry_after: Some(UNAVAILABLE_RETRY),
        }
    }

    /// [`Refusal::retry_after`] as the wire has it, never less than the time itself.
    pub fn retry_after_ms(&self) -> Option<u32> {
        let rounded_up = |wait: Duration| wait.as_micros().div_ceil(1000);
        self.retry_after
            .map(|wait| u32::try_from(rounded_up(wait)).unwrap_or(u32::MAX))
    }
}

/// Games end by the minute, and a node that was overloaded takes ten seconds to trust itself again.
const BUSY_RETRY: Duration = Duration::from_secs(15);
/// A restart of Redis takes about as long.
const UNAVAILABLE_RETRY: Duration = Duration::from_secs(2);
