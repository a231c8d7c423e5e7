//! What a lobby can be told.

use protocol::PlayerId;
use protocol::link::{Person, Request};
use rules::Action;

use super::{Chance, Connection, LinkId};

/// One thing that a lobby is told.
#[derive(Clone, Debug)]
pub enum Input {
    /// A person wants something.
    Ask {
        /// Who wants what.
        wish: Wish,
        /// For whatever it begins.
        chance: Chance,
        /// Whether this node takes one more game.
        may_start: bool,
    },
    /// A person's connection has closed; their seat stays.
    Detach(Connection),
    /// A whole gateway is gone, with all of its connections.
    LinkLost(LinkId),
    /// An AI has decided, or nobody could: then a random legal move is made.
    Decision {
        /// Which of the lobby's games.
        game: u32,
        /// Which turn of it.
        turn: u32,
        /// The move, if there is one.
        action: Option<Action>,
        /// For a random move.
        chance: Chance,
    },
    /// [`super::Lobby::next_wake`] has come; may be stale, then nothing happens.
    Wake(Chance),
    /// A person's session has expired, or names another lobby by now.
    Gone {
        /// Whose.
        player: PlayerId,
        /// For the AI that takes the seat.
        chance: Chance,
    },
    /// What the lobby shows of the world around it has changed.
    Surroundings(Surroundings),
    /// Panics, after it has done some damage; or does later.
    #[cfg(test)]
    Break(Breaking),
}

/// Where a lobby panics.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breaking {
    /// At once.
    Step,
    /// When a picture of it is made.
    Picture,
    /// When it is saved.
    Save,
}

/// What a person wants, with the connection that it came by.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// Who.
    pub person: Person,
    /// Where the answer goes.
    pub connection: Connection,
    /// Rises with each message of the connection.
    pub number: u64,
    /// What.
    pub request: Request,
}

/// What a lobby shows of the world around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// Whether an AI node is there to decide.
    pub ai_available: bool,
    /// Whether any game node takes new games.
    pub accepting_games: bool,
    /// Whether what happens here is saved before it is shown.
    pub saved: bool,
}

impl Default for Surroundings {
    fn default() -> Self {
        Self {
            ai_available: false,
            accepting_games: false,
            saved: true,
        }
    }
}
