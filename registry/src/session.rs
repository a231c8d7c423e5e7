//! A player's session: who a token stands for, and which of its connections is the newest.

use serde::{Deserialize, Serialize};

use crate::Generation;

/// What is kept for a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Who it is.
    pub player_id: String,
    /// What they called themselves last.
    pub name: Option<String>,
    /// Where they sit or watch.
    pub lobby: Option<String>,
    /// The newest `hello`.
    pub generation: Generation,
}

/// Where a player has sat down to play or watch, as the lobby's owner writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seated {
    /// Who.
    pub player_id: String,
    /// The generation by which the owner knows them; a higher stored one stays, and another lobby
    /// that it names.
    pub generation: Generation,
    /// The last message of theirs, counted within that generation, that the owner has done. Where
    /// they sat down by a later one stays: the owner of another lobby does late what they have
    /// given up.
    pub number: u64,
    /// What they call themselves now; none leaves it as it is.
    pub name: Option<String>,
    /// The lobby.
    pub lobby: String,
}

/// A `hello` of somebody who has a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// When it was said, by the registry's clock in epoch ms as far as the gateway knows it. What
    /// is ahead of the registry's own clock counts as its present time.
    pub said_at_ms: u64,
    /// The newest generation that whoever asks has been told of: theirs comes after that one.
    pub after: Option<Generation>,
}

/// The answer to a [`Greeting`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opened {
    /// It is the newest; its generation is when it was said, or the one given + 1.
    Newest(Session),
    /// Another connection of this player is as new or newer; nothing was changed.
    Newer {
        /// Its generation.
        newest: Generation,
    },
    /// The token is unknown or has expired.
    Unknown,
}

/// The answer to writing a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionSet {
    /// Written.
    Ok,
    /// A newer connection of this player is there; nothing was changed.
    Older {
        /// Its generation.
        newest: Generation,
    },
}

/// Said to everybody when a player has connected: older connections of that player end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionOpened {
    /// Who.
    pub player_id: String,
    /// The generation that stays.
    pub generation: Generation,
}
