//! Sessions in memory.

use std::time::Duration;

use super::expiring::Expiring;
use crate::session::{Greeting, Opened, Seated, Session, SessionSet};
use crate::{Generation, TokenHash};

#[derive(Clone)]
pub(crate) struct Sessions {
    entries: Expiring<TokenHash, Session>,
    ttl: Duration,
}

impl Sessions {
    pub(crate) fn new(ttl: Duration) -> Self {
        Self {
            entries: Expiring::default(),
            ttl,
        }
    }

    pub(crate) fn open(&mut self, token: &TokenHash, greeting: Greeting, now: u64) -> Opened {
        let Some(session) = self.entries.get_mut(token, now) else {
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
        let session = match stored {
            Some(known) => Session {
                generation: Generation(now.max(known.generation.0 + 1)),
                ..known
            },
            None => Session {
                player_id: player_id.to_owned(),
                name: None,
                lobby: None,
                generation: Generation(now),
            },
        };
        self.entries.put(*token, session.clone(), self.ttl, now);
        session
    }

    pub(crate) fn set(&mut self, token: &TokenHash, session: &Session, now: u64) -> SessionSet {
        if let Some(stored) = self.entries.get(token, now)
            && stored.generation > session.generation
        {
            return SessionSet::Older {
                newest: stored.generation,
            };
        }
        self.entries.put(*token, session.clone(), self.ttl, now);
        SessionSet::Ok
    }

    pub(crate) fn sit(&mut self, token: &TokenHash, seated: &Seated, now: u64) {
        let stored = self.entries.get(token, now);
        if let Some(stored) = stored
            && stored.generation > seated.generation
            && stored.lobby.as_ref().is_some_and(|at| *at != seated.lobby)
        {
            return;
        }
        let session = Session {
            player_id: seated.player_id.clone(),
            name: (seated.name.clone()).or_else(|| stored.and_then(|stored| stored.name.clone())),
            lobby: Some(seated.lobby.clone()),
            generation: stored.map_or(seated.generation, |stored| {
                stored.generation.max(seated.generation)
            }),
        };
        self.entries.put(*token, session, self.ttl, now);
    }

    pub(crate) fn stand(&mut self, token: &TokenHash, lobby: &str, now: u64) {
        if let Some(stored) = self.entries.get_mut(token, now)
            && stored.lobby.as_deref() == Some(lobby)
        {
            stored.lobby = None;
        }
    }

    pub(crate) fn read(&self, token: &TokenHash, now: u64) -> Option<Session> {
        self.entries.get(token, now).cloned()
    }

    pub(crate) fn renew(&mut self, token: &TokenHash, now: u64) -> bool {
        self.entries.renew(token, self.ttl, now)
    }

    pub(crate) fn drop(&mut self, token: &TokenHash, generation: Generation, now: u64) -> bool {
        let dropped = self
            .entries
            .get(token, now)
            .is_some_and(|stored| stored.generation <= generation);
        if dropped {
            self.entries.remove(token);
        }
        dropped
    }

    pub(crate) fn alive(&self, token: &TokenHash, now: u64) -> bool {
        self.entries.get(token, now).is_some()
    }
}
