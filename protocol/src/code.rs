//! Stable codes: of errors, which a connection survives, and of closings, which say whether to come back.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! error_codes {
    ($($(#[$doc:meta])* $code:ident = $text:literal,)*) => {
        /// Why something was refused or failed: the wire's `code`, the metric's `error.type` and the client's key for a text.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        pub enum ErrorCode {
            $($(#[$doc])* $code,)*
        }

        impl ErrorCode {
            /// All codes, in the order of the contract.
            pub const ALL: &[Self] = &[$(Self::$code,)*];

            /// The code as it is sent.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $text,)*
                }
            }
        }
    };
}

error_codes! {
    /// Not JSON, no such type, or a field that is missing or mistyped.
    InvalidMessage = "invalid_message",
    /// Something came before `hello`.
    HelloRequired = "hello_required",
    /// Too many messages in too short a time.
    RateLimited = "rate_limited",
    /// No node takes new work, or too many connections.
    Busy = "busy",
    /// A part that is needed can't be reached just now.
    Unavailable = "unavailable",
    /// No lobby has that code.
    LobbyNotFound = "lobby_not_found",
    /// All seats, or all places to watch from, are taken.
    LobbyFull = "lobby_full",
    /// The game has begun already.
    LobbyPlaying = "lobby_playing",
    /// Only from within a lobby.
    NotInLobby = "not_in_lobby",
    /// Only the host may.
    NotHost = "not_host",
    /// Only before the game.
    NotWaiting = "not_waiting",
    /// Only during the game.
    NotPlaying = "not_playing",
    /// Only after the game.
    NotFinished = "not_finished",
    /// A game needs three.
    NotEnoughPlayers = "not_enough_players",
    /// Nobody here has that id, or it is oneself.
    PlayerNotFound = "player_not_found",
    /// They are here, or have not been away for long enough.
    PlayerPresent = "player_present",
    /// Another seat is to act.
    NotYourTurn = "not_your_turn",
    /// The rules forbid it.
    IllegalAction = "illegal_action",
    /// That turn has passed.
    StaleTurn = "stale_turn",
    /// Options that contradict each other or are out of range.
    BadOption = "bad_option",
    /// Who watches has no seat to act from.
    Spectator = "spectator",
    /// The host removed this player.
    Removed = "removed",
    /// The session was opened elsewhere.
    TakenOver = "taken_over",
    /// The table ended by a fault of ours.
    LobbyLost = "lobby_lost",
    /// A fault of ours that has no better name.
    Internal = "internal",
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why the gateway ended a WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum CloseCode {
    /// Something that is no frame of a WebSocket's client: do not come back.
    NoFrame = 1002,
    /// A text that is not UTF-8: do not come back.
    NoText = 1007,
    /// Flooding, or an origin that is not allowed: do not come back.
    Policy = 1008,
    /// A frame over [`crate::limit::MAX_PLAYER_FRAME_BYTES`]: do not come back.
    TooBig = 1009,
    /// The gateway stops, or can't reach the table's owner: come back soon.
    Restart = 1012,
    /// Too many connections: come back slowly.
    TryLater = 1013,
    /// The session was opened elsewhere: stop and say so.
    TakenOver = 4000,
    /// No `hello` in time, or nothing heard for too long: come back.
    Idle = 4408,
    /// Read too slowly for too long: come back.
    SlowReader = 4413,
}

impl From<CloseCode> for u16 {
    fn from(code: CloseCode) -> Self {
        code as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_written_as_it_is_called() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }
}
