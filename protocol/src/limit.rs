//! Bounds that both ends of a connection know.

/// Longest frame that a player may send; a longer one closes the connection with 1009.
pub const MAX_PLAYER_FRAME_BYTES: usize = 64 * 1024;

/// Longest frame on a link between processes: a full `state` for every seat and spectator of the largest table is under
/// 100 KiB, so this leaves room for a lobby's saved state to be handed over.
pub const MAX_LINK_FRAME_BYTES: usize = 1024 * 1024;

/// Longest `id` or `nonce` of a player's message, in characters.
pub const MAX_ID_CHARS: usize = 64;

/// Longest name of a player, in characters after trimming and NFC.
pub const MAX_NAME_CHARS: usize = 20;

/// Seats of a lobby, at most.
pub const MAX_SEATS: usize = 6;

/// Seats that a game needs, at least.
pub const MIN_SEATS: usize = 3;

/// Spectators of a lobby, at most: each costs a frame for every move.
pub const MAX_SPECTATORS: usize = 50;

/// Events that a `state` carries, at most: who missed more sees the newest picture anyway.
pub const MAX_EVENTS: usize = 64;

/// Messages of one connection that may wait for an answer; beyond it its socket is not read on.
pub const MAX_WAITING_MESSAGES: usize = 16;
