//! Somebody at the table with a session.

use std::time::Instant;

use protocol::link::Person as Caller;
use protocol::{ConnectionId, PlayerId, TokenHash};

use super::{AWAY_GRACE, Wish};

/// A link of a gateway; a number that this process never gives twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u64);

/// A player's connection: which link leads to it, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Connection {
    /// The gateway's link.
    pub link: LinkId,
    /// The gateway's own number for it.
    pub id: ConnectionId,
}

/// A person with a seat or a place to watch from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Person {
    pub(super) player: PlayerId,
    pub(super) token: TokenHash,
    /// The newest `hello` known here; what comes by an older one has been taken over.
    pub(super) generation: u64,
    /// The last number taken of that generation.
    pub(super) number: u64,
    pub(super) presence: Presence,
    /// The newest state that was sent their way; they get the events after it.
    pub(super) shown: u64,
    /// Their last reaction.
    pub(super) reacted: Option<Instant>,
}

/// Whether somebody is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Here(Connection),
    Away {
        since: Instant,
        /// For longer than [`AWAY_GRACE`]; set by a wake, so that it shows when it changes.
        long: bool,
    },
}

impl Person {
    /// Who has just come, at a lobby whose present state they have not missed.
    pub(super) fn new(wish: &Wish, seq: u64) -> Self {
        Self {
            player: wish.person.player.clone(),
            token: wish.person.token.clone(),
            generation: wish.person.generation,
            number: wish.number,
            presence: Presence::Here(wish.connection),
            shown: seq,
            reacted: None,
        }
    }

    /// Takes note of a wish that is being done; gives back a connection that it replaces.
    pub(super) fn hear(&mut self, wish: &Wish) -> Option<Connection> {
        let replaced = self.connection().filter(|old| *old != wish.connection);
        let newer = wish.person.generation > self.generation;
        self.generation = wish.person.generation;
        self.number = if newer {
            wish.number
        } else {
            wish.number.max(self.number)
        };
        self.presence = Presence::Here(wish.connection);
        replaced
    }

    /// Whether a newer connection of the same session is known.
    pub(super) fn has_been_taken_over(&self, caller: &Caller) -> bool {
        caller.generation < self.generation
    }

    /// Whether this very message was done already.
    pub(super) fn has_taken(&self, wish: &Wish) -> bool {
        wish.person.generation == self.generation && wish.number <= self.number
    }

    pub(super) fn connection(&self) -> Option<Connection> {
        match self.presence {
            Presence::Here(connection) => Some(connection),
            Presence::Away { .. } => None,
        }
    }

    pub(super) fn is_here(&self) -> bool {
        self.connection().is_some()
    }

    /// Away for longer than [`AWAY_GRACE`].
    pub(super) fn is_long_away(&self) -> bool {
        matches!(self.presence, Presence::Away { long: true, .. })
    }

    pub(super) fn away_since(&self) -> Option<Instant> {
        match self.presence {
            Presence::Here(_) => None,
            Presence::Away { since, .. } => Some(since),
        }
    }

    pub(super) fn leave_connection(&mut self, now: Instant) {
        self.presence = Presence::Away {
            since: now,
            long: false,
        };
    }

    /// When they will have been away for long.
    pub(super) fn long_away_at(&self) -> Option<Instant> {
        match self.presence {
            Presence::Away { since, long: false } => Some(since + AWAY_GRACE),
            _ => None,
        }
    }

    /// Notes that they are away for long now; whether that is new.
    pub(super) fn note_long_away(&mut self, now: Instant) -> bool {
        let due = self.long_away_at().is_some_and(|at| at <= now);
        if let (true, Presence::Away { long, .. }) = (due, &mut self.presence) {
            *long = true;
        }
        due
    }
}
