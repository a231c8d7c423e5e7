//! What the roles are called in the registry.

/// Takes the players' WebSockets.
pub const GATEWAY: &str = "gateway";
/// Owns lobbies.
pub const GAME: &str = "game";
/// Decides for AI seats.
pub const AI: &str = "ai";
