//! A lobby that has panicked: it goes on from its saved state, and nobody else notices.
//!
//! Invariant: whatever a lobby does by itself, a step, a picture, a save, it does under
//! [`Driver::at_table`], or, before it is a table, under [`contained`].

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use protocol::LobbyCode;
use protocol::link::{Parting, ToGateway};
use tracing::error;

use super::asks::{Asked, refused};
use super::{Driver, Finished, Outgoing, Table, now};
use crate::chance;
use crate::lobby::{Input, Lobby, Refusal, SessionChange, SessionPlace};
use crate::store::Write;

/// A second fault within this time ends the table: it would break for ever.
const FAULTS_APART: Duration = Duration::from_mins(1);

impl Driver {
    /// Lets a lobby do something, for whoever has `asked`. None if it is not here, or if it has
    /// panicked, which costs nobody else anything: then it is not as it was.
    pub(super) fn at_table<T>(
        &mut self,
        code: LobbyCode,
        asked: Option<&Asked>,
        work: impl FnOnce(&mut Table) -> T,
    ) -> Option<T> {
        let table = self.tables.get_mut(&code)?;
        let done = contained(|| work(table));
        if done.is_none() {
            self.broken(code, asked);
        }
        done
    }

    /// A bug has shown itself in a lobby. What was done since its saved state has not been done;
    /// what that has in it has, though its commit may have failed.
    fn broken(&mut self, code: LobbyCode, asked: Option<&Asked>) {
        // Where and why is in the panic's own line above.
        error!(%code, "a lobby has broken");
        let (restored, session_ttl) = (self.restored(code), self.settings.session_ttl);
        let Some(table) = self.tables.get_mut(&code) else {
            return;
        };
        let undone = if let Some(lobby) = &restored {
            // Whoever sat or watched here when it was saved does; the others have left then, or
            // have not come.
            let left = |change: &SessionChange| {
                change.place == SessionPlace::Elsewhere && lobby.known(&change.token).is_none()
            };
            table.sessions.retain(left);
            for change in lobby.sessions(now(), session_ttl) {
                table.session_says(change);
            }
            table.take_undone()
        } else {
            table.take_outgoing()
        };
        let undone = undone.into_iter().filter_map(|outgoing| match outgoing {
            Outgoing::Answer { asked, .. } => Some(asked),
            Outgoing::Show { .. } | Outgoing::Parted { .. } | Outgoing::Decide { .. } => None,
        });
        let undone: Vec<Asked> = undone.chain(asked.cloned()).collect();
        // What comes now is newer, and so are its pictures than all that have left.
        table.pictured = table.formed.max(table.committed);
        let refusal = Refusal::unavailable("Something went wrong at this table; try it again.");
        for asked in undone {
            self.answer(&asked, refused(&refusal));
        }
        match restored {
            Some(lobby) => {
                if let Some(table) = self.tables.get_mut(&code) {
                    table.lobby = lobby;
                }
                self.step(code, Input::Wake(chance::draw()));
            }
            None => self.lose(code),
        }
    }

    /// The lobby as it was saved last, with its people where they are.
    fn restored(&mut self, code: LobbyCode) -> Option<Lobby> {
        let at = now();
        let table = self.tables.get_mut(&code)?;
        let last = table.last_fault.replace(at);
        if last.is_some_and(|last| at.saturating_duration_since(last) < FAULTS_APART) {
            return None;
        }
        let (pace, surroundings) = (self.settings.pace, self.surroundings);
        contained(|| {
            let mut lobby = Lobby::restore(at, code, &table.saved, surroundings, pace).ok()?;
            // Above everything that was given to a commit, so that what follows is newer.
            lobby.own(table.lobby.epoch(), table.formed.max(table.committed));
            lobby.reconnect(&table.lobby);
            Some(lobby)
        })?
    }

    /// The table ends, and its people are told.
    fn lose(&mut self, code: LobbyCode) {
        let Some(table) = self.tables.get(&code) else {
            return;
        };
        error!(%code, "a table is lost: it broke twice within a minute");
        let parted = table.lobby.connections().map(|to| {
            let reason = Parting::Lost;
            (
                to.link,
                ToGateway::Parted {
                    code,
                    connection: to.id,
                    reason,
                },
            )
        });
        for (link, message) in parted.collect::<Vec<_>>() {
            self.gateways.send(link, message);
        }
        let (delete, sessions) = (Write::Delete(table.delete(code)), table.lobby.farewell());
        let store = self.store.clone();
        self.under_way.push(Box::pin(async move {
            store.write(&[delete], sessions).await;
            Finished::Nothing
        }));
        self.drop_table(code);
    }
}

/// What is done here; none if it panics. What it had to do with is not to be used then.
pub(super) fn contained<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}
