//! Sessions in memory.

use std::time::Duration;

use super::expiring::Expiring;
use crate::session::{Greeting, Opened, Seated, Session, SessionSet};
use crate::{Generation, TokenHash};

#[derive(Clone)]
pub(crate) struct Sessions {
    entries: Expiring<TokenHash, Kept>,
    ttl: Duration,
}

#[derive(Clone)]
struct Kept {
    session: Session,
    /// By which message they have last sat down.
    sat: Option<(Generation, u64)>,
}

impl Sessions {
    pub(crate) fn new(ttl: Duration) -> Self {
        Self {
            entries: Expiring::default(),
            ttl,
        }
    }

    pub(crate) fn open(&mut self, token: &TokenHash, greeting: Greeting, now: u64) -> Opened {
        let Some(Kept { session, .. }) = self.entries.get_mut(token, now) else {
            return Opened::Unknown;
        };
        let newest = session.generation;
        // A gateway whose clock is ahead must not lock out those who come after.
        let said = Generation(greeting.said_at_ms.min(now));
        session.generation = if said > newest {
            said
        } else if greeting.after == Some(newest) {
            Generation(newest.0 + 1)
        } else {
            return Opened::Newer { newest };
        };
        let session = session.clone();
        self.renew(token, now);
        Opened::Newest(session)
    }

    pub(crate) fn create(&mut self, token: &TokenHash, player_id: &str, now: u64) -> Session {
        let stored = self.entries.get(token, now).cloned();
        let mut kept = stored.unwrap_or_else(|| Kept {
            session: Session {
                player_id: player_id.to_owned(),
                name: None,
                lobby: None,
                generation: Generation(0),
            },
            sat: None,
        });
        let session = &mut kept.session;
        session.generation = Generation(now.max(session.generation.0 + 1));
        let session = session.clone();
        self.entries.put(*token, kept, self.ttl, now);
        session
    }

    pub(crate) fn set(&mut self, token: &TokenHash, session: &Session, now: u64) -> SessionSet {
        let stored = self.entries.get(token, now);
        if let Some(Kept {
            session: stored, ..
        }) = stored
            && stored.generation > session.generation
        {
            return SessionSet::Older {
                newest: stored.generation,
            };
        }
        let kept = Kept {
            session: session.clone(),
            sat: stored.and_then(|stored| stored.sat),
        };
        self.entries.put(*token, kept, self.ttl, now);
        SessionSet::Ok
    }

    pub(crate) fn sit(&mut self, token: &TokenHash, seated: &Seated, now: u64) {
        let stored = self.entries.get(token, now);
        let sits = (seated.generation, seated.number);
        if let Some(stored) = stored
            && is_late(stored, seated)
        {
            return;
        }
        let sat = stored.and_then(|stored| stored.sat);
        let stored = stored.map(|stored| &stored.session);
        let session = Session {
            player_id: seated.player_id.clone(),
            name: (seated.name.clone()).or_else(|| stored.and_then(|stored| stored.name.clone())),
            lobby: Some(seated.lobby.clone()),
            generation: stored.map_or(seated.generation, |stored| {
                stored.generation.max(seated.generation)
            }),
        };
        let sat = sat.max(Some(sits));
        self.entries
            .put(*token, Kept { session, sat }, self.ttl, now);
    }

    pub(crate) fn stand(&mut self, token: &TokenHash, lobby: &str, now: u64) {
        if let Some(Kept { session, .. }) = self.entries.get_mut(token, now)
            && session.lobby.as_deref() == Some(lobby)
        {
            session.lobby = None;
        }
    }

    pub(crate) fn read(&self, token: &TokenHash, now: u64) -> Option<Session> {
        let kept = self.entries.get(token, now);
        kept.map(|kept| kept.session.clone())
    }

    pub(crate) fn renew(&mut self, token: &TokenHash, now: u64) -> bool {
        self.entries.renew(token, self.ttl, now)
    }

    pub(crate) fn drop(&mut self, token: &TokenHash, generation: Generation, now: u64) -> bool {
        let dropped = self
            .entries
            .get(token, now)
            .is_some_and(|kept| kept.session.generation <= generation);
        if dropped {
            self.entries.remove(token);
        }
        dropped
    }

    pub(crate) fn alive(&self, token: &TokenHash, now: u64) -> bool {
        self.entries.get(token, now).is_some()
    }
}

/// Whether somebody sits in another lobby by a newer connection, or by a later message.
fn is_late(stored: &Kept, seated: &Seated) -> bool {
    let lobby = stored.session.lobby.as_ref();
    let is_older = stored.session.generation > seated.generation && lobby.is_some();
    let is_earlier = stored.sat.is_some_and(|(generation, number)| {
        generation == seated.generation && number > seated.number
    });
    (is_older || is_earlier) && lobby != Some(&seated.lobby)
}
