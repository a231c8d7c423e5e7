//! What must happen after a step, once the lobby is committed.

use protocol::link::Parting;
use protocol::{LobbyCode, PlayerId, PlayerName, TokenHash};

use super::{Connection, Wish};

/// One thing that must happen. That everybody is shown the new picture goes without saying.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// The wish was done.
    Answer {
        /// Whose.
        to: Connection,
        /// The wish's number.
        number: u64,
        /// If they have come back: the last number of theirs that was taken.
        taken: Option<u64>,
    },
    /// A connection is at this table no longer.
    Parted {
        /// Whose.
        to: Connection,
        /// Why.
        reason: Parting,
    },
    /// A person's session says something else now.
    Session(SessionChange),
    /// An AI is asked for a move; [`super::Lobby::question`] says what.
    Decide {
        /// Which of the lobby's games.
        game: u32,
        /// Which turn of it.
        turn: u32,
    },
    /// Nobody is left: the lobby's record becomes a tombstone.
    End,
}

/// What a session must say of its player's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionChange {
    /// Whose session.
    pub token: TokenHash,
    /// Its player.
    pub player: PlayerId,
    /// The connection by which they are known here.
    pub generation: u64,
    /// The last message that was taken of that connection.
    pub number: u64,
    /// Which lobby.
    pub code: LobbyCode,
    /// Whether they came or went; who went may already be elsewhere, which then stays.
    pub place: SessionPlace,
}

impl SessionChange {
    /// This one, where an earlier one of the same person has not been written: the name by which they came is still theirs.
    #[must_use]
    pub(crate) fn after(mut self, earlier: Self) -> Self {
        if let (SessionPlace::Here(name @ None), SessionPlace::Here(given)) =
            (&mut self.place, earlier.place)
        {
            *name = given;
        }
        self
    }
}

/// Whether a session names this lobby.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionPlace {
    /// They sit or watch here, under this name if they gave one.
    Here(Option<PlayerName>),
    /// They don't.
    Elsewhere,
}

/// What a step has collected.
#[derive(Debug, Default)]
pub(super) struct Effects {
    pub(super) list: Vec<Effect>,
    /// Whether anything that is saved or shown has changed.
    pub(super) changed: bool,
}

impl Effects {
    pub(super) fn answer(&mut self, wish: &Wish) {
        self.list.push(Effect::Answer {
            to: wish.connection,
            number: wish.number,
            taken: None,
        });
    }

    pub(super) fn parted(&mut self, to: Option<Connection>, reason: Parting) {
        self.list.extend(to.map(|to| Effect::Parted { to, reason }));
    }

    pub(super) fn push(&mut self, effect: Effect) {
        self.list.push(effect);
    }
}
