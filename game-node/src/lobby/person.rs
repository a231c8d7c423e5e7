//! Somebody at the table with a session.

use std::time::{Duration, Instant};

use protocol::link::{Person as Caller, Request};
use protocol::{ConnectionId, PlayerId, TokenHash};

use super::{AWAY_GRACE, Wish};

/// How long somebody who was here shows as connected at a new owner, until they have come back:
/// nobody shall see a lobby change hands.
pub(super) const RETURN_GRACE: Duration = Duration::from_secs(10);

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
    /// Was here when the lobby was saved, and will come back by their gateway. They are shown as
    /// if they were here; in everything else they are away.
    Returning {
        since: Instant,
    },
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
        if wish.person.generation > self.generation {
            (self.generation, self.number) = (wish.person.generation, 0);
        }
        match wish.request {
            // Takes no number: what is sent again after it may have lower ones.
            Request::Attach { shown } => self.shown = shown.unwrap_or(self.shown),
            _ => self.number = self.number.max(wish.number),
        }
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
            Presence::Returning { .. } | Presence::Away { .. } => None,
        }
    }

    pub(super) fn is_here(&self) -> bool {
        self.connection().is_some()
    }

    /// Whether others are shown that they are here.
    pub(super) fn seems_here(&self) -> bool {
        !matches!(self.presence, Presence::Away { .. })
    }

    /// Away for longer than [`AWAY_GRACE`].
    pub(super) fn is_long_away(&self) -> bool {
        matches!(self.presence, Presence::Away { long: true, .. })
    }

    pub(super) fn away_since(&self) -> Option<Instant> {
        match self.presence {
            Presence::Here(_) => None,
            Presence::Returning { since } | Presence::Away { since, .. } => Some(since),
        }
    }

    pub(super) fn leave_connection(&mut self, now: Instant) {
        self.presence = Presence::Away {
            since: now,
            long: false,
        };
    }

    /// When it shows that they are away, or away for long.
    pub(super) fn changes_at(&self) -> Option<Instant> {
        match self.presence {
            Presence::Returning { since } => Some(since + RETURN_GRACE),
            Presence::Away { since, long: false } => Some(since + AWAY_GRACE),
            Presence::Here(_) | Presence::Away { long: true, .. } => None,
        }
    }

    /// Notes what shows of their absence by now; whether that is new.
    pub(super) fn note_absence(&mut self, now: Instant) -> bool {
        if self.changes_at().is_none_or(|at| at > now) {
            return false;
        }
        if let Some(since) = self.away_since() {
            let long = since + AWAY_GRACE <= now;
            self.presence = Presence::Away { since, long };
        }
        true
    }
}
