//! What is done again and again: lobbies renewed, sessions looked for, presence kept up to date.

use std::time::{Duration, Instant};

use protocol::lobby::LobbyStatus;
use protocol::{LobbyCode, PlayerId};
use registry::{Session, State};
use tracing::debug;

use super::{Driver, Finished, now};
use crate::chance;
use crate::lobby::{Input, Surroundings};
use crate::metrics::Population;

/// Between two touches of every lobby.
const TOUCH_EVERY: Duration = Duration::from_secs(5);
/// Sessions of people who are away are looked for at least so often.
const LONGEST_SESSION_ROUND: Duration = Duration::from_secs(30);

/// When the next rounds begin, and which are under way.
pub(super) struct Rounds {
    next_touch: Option<Instant>,
    next_sessions: Option<Instant>,
    sessions_every: Duration,
    touching: bool,
    reading_sessions: bool,
}

/// What the registry says of somebody who is away.
pub(super) struct Found {
    code: LobbyCode,
    player: PlayerId,
    away: Duration,
    session: Option<Session>,
}

impl Rounds {
    pub(super) fn new(session_ttl: Duration) -> Self {
        Self {
            next_touch: None,
            next_sessions: None,
            sessions_every: session_ttl.min(LONGEST_SESSION_ROUND),
            touching: false,
            reading_sessions: false,
        }
    }

    pub(super) fn is_touching(&self) -> bool {
        self.touching
    }

    pub(super) fn begin_touch(&mut self) {
        self.touching = true;
    }

    pub(super) fn end_touch(&mut self) {
        self.touching = false;
    }
}

/// Whether a round is due; then the next one is set.
fn is_due(next: &mut Option<Instant>, every: Duration, at: Instant) -> bool {
    let due = next.is_none_or(|next| next <= at);
    if due {
        *next = Some(at + every);
    }
    due
}

impl Driver {
    /// Once a second.
    pub(super) fn tick(&mut self) {
        self.alive.beat();
        self.look_at_the_clock();
        let at = now();
        if is_due(&mut self.rounds.next_touch, TOUCH_EVERY, at) && !self.rounds.touching {
            self.touch();
        }
        self.touch_in_doubt();
        let every = self.rounds.sessions_every;
        if is_due(&mut self.rounds.next_sessions, every, at) && !self.rounds.reading_sessions {
            self.look_for_sessions(at);
        }
        self.tell_presence();
        self.look_around();
    }

    fn look_for_sessions(&mut self, at: Instant) {
        let mut away = Vec::new();
        for (code, table) in &self.tables {
            away.extend(
                table
                    .lobby
                    .absent(at)
                    .into_iter()
                    .map(|absent| (*code, absent)),
            );
        }
        if away.is_empty() {
            return;
        }
        self.rounds.reading_sessions = true;
        let store = self.store.clone();
        self.under_way.push(Box::pin(async move {
            let tokens: Vec<_> = away
                .iter()
                .map(|(_, absent)| absent.token.clone())
                .collect();
            let sessions = store.sessions(&tokens).await.unwrap_or_default();
            let found = away
                .into_iter()
                .zip(sessions)
                .map(|((code, absent), session)| Found {
                    code,
                    player: absent.player,
                    away: absent.away,
                    session,
                });
            Finished::Sessions(found.collect())
        }));
    }

    /// Whose session has expired, or sits elsewhere, leaves.
    pub(super) fn sessions_found(&mut self, found: Vec<Found>) {
        self.rounds.reading_sessions = false;
        for Found {
            code,
            player,
            away,
            session,
        } in found
        {
            let is_gone = match session {
                // Only if they have been away for as long: the registry may have lost it.
                None => away >= self.settings.session_ttl,
                Some(session) => session.lobby.is_some_and(|other| other != code.as_str()),
            };
            if is_gone && self.tables.contains_key(&code) {
                debug!(%code, %player, "a session has expired or sits elsewhere");
                self.step(
                    code,
                    Input::Gone {
                        player,
                        chance: chance::draw(),
                    },
                );
            }
        }
    }

    /// Counts for the registry and for operators.
    pub(super) fn tell_presence(&mut self) {
        let (census, lobbies) = (self.census, self.tables.len());
        let accepting_games = self.standing.accepting_games;
        let unsaved = self.unsaved();
        self.membership.update(|own| {
            own.players = census.players;
            own.lobbies = u32::try_from(lobbies).unwrap_or(u32::MAX);
            own.active_games = census.active_games;
            own.load = self.load.registry_level();
            own.accepting_games = accepting_games;
            own.handed_over = self.handed_over.lobbies();
            own.taken_over = self.taken_over.lobbies();
            own.last_handed_over = self.handed_over.last().cloned();
            own.last_taken_over = self.taken_over.last().cloned();
            own.suspended = unsaved.suspended;
            own.uncommitted = unsaved.uncommitted;
        });
        self.health.set(crate::health::Snapshot {
            lobbies,
            census,
            load: self.load,
            accepting_games,
            handed_over: self.handed_over.clone(),
            taken_over: self.taken_over.clone(),
            is_suspended: self.is_suspended(),
            uncommitted: unsaved.uncommitted,
            ai_links: self.bridge.load(),
            ai_counters: self.bridge.counters(),
        });
        let population = self.population();
        self.metrics.count(population);
    }

    fn population(&self) -> Population {
        let lobbies = |status| {
            let tables = self.tables.values();
            let count = tables
                .filter(|table| table.lobby.status() == status)
                .count();
            i64::try_from(count).unwrap_or(i64::MAX)
        };
        let here = i64::from(self.census.connections);
        let (ai_nodes, _, _) = self.bridge.load();
        Population {
            waiting: lobbies(LobbyStatus::Waiting),
            playing: lobbies(LobbyStatus::Playing),
            finished: lobbies(LobbyStatus::Finished),
            connected: here,
            away: i64::from(self.census.sessions) - here,
            gateways: i64::try_from(self.gateways.count()).unwrap_or(i64::MAX),
            ai_nodes: i64::try_from(ai_nodes).unwrap_or(i64::MAX),
            accepting_games: self.standing.accepting_games,
            suspended: self.is_suspended(),
            uncommitted: i64::try_from(self.uncommitted()).unwrap_or(i64::MAX),
        }
    }

    /// What lobbies show of the world around them.
    pub(super) fn look_around(&mut self) {
        let own = &self.store.owner().node;
        let nodes = self.membership.servers_by_role(&crate::role());
        let mut others = nodes
            .iter()
            .filter(|node| node.id != *own && node.state == State::Ready);
        self.others_accept_games = others.any(|node| node.accepting_games);
        let surroundings = Surroundings {
            saved: self.surroundings.saved,
            ai_available: self.bridge.is_available(),
            accepting_games: self.standing.accepting_games || self.others_accept_games,
        };
        if std::mem::replace(&mut self.surroundings, surroundings) != surroundings {
            self.for_each_table(|driver, code| {
                driver.step(code, Input::Surroundings(surroundings));
            });
        }
    }

    pub(super) fn list(&mut self, public: Vec<LobbyCode>, hidden: Vec<LobbyCode>) {
        let store = self.store.clone();
        self.under_way.push(Box::pin(async move {
            store.list(public, hidden).await;
            Finished::Nothing
        }));
    }
}
