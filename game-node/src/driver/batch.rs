//! Commits: all lobbies that have changed since the last one, one batch under way at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use chassis::trace::Span;
use protocol::link::{Outcome, Show, ToGateway};
use protocol::lobby::LobbyStatus;
use protocol::{LobbyCode, TraceParent};
use registry::Lifetime;
use tracing::{debug, info};

use super::{Driver, Finished, Outgoing, now, spans};
use crate::ai::Matter;
use crate::lobby::LinkId;
use crate::store::{Write, Written};

/// What leaves once a batch is written.
pub(super) struct Batch {
    items: Vec<Item>,
    began: Instant,
}

/// One lobby of it.
struct Item {
    code: LobbyCode,
    epoch: u64,
    seq: u64,
    outgoing: Vec<Outgoing>,
    /// The picture as it was when the batch was formed: what is written, and nothing newer.
    shows: Vec<(LinkId, Show)>,
    /// Of this commit, in the trace of each move that it saves.
    spans: Vec<Span>,
}

impl Driver {
    /// Forms a batch of what has changed, unless one is under way.
    pub(super) fn flush(&mut self) {
        if self.committing || self.dirty.is_empty() {
            return;
        }
        let mut writes = Vec::new();
        let mut sessions = Vec::new();
        let mut items = Vec::new();
        for code in std::mem::take(&mut self.dirty) {
            if !self
                .tables
                .get(&code)
                .is_some_and(super::Table::wants_writing)
            {
                self.let_out(code);
                continue;
            }
            let formed = catch_unwind(AssertUnwindSafe(|| self.form(code)));
            let Ok(Some((write, item))) = formed else {
                self.broken(code, None);
                continue;
            };
            writes.push(write);
            items.push(item);
            if let Some(table) = self.tables.get_mut(&code) {
                sessions.append(&mut table.sessions);
            }
        }
        if items.is_empty() {
            return;
        }
        self.committing = true;
        let began = now();
        let store = self.store.clone();
        self.under_way.push(Box::pin(async move {
            let written = store.write(&writes, sessions).await;
            Finished::Batch(Batch { items, began }, written)
        }));
    }

    /// What is written of a lobby now, and what leaves after.
    fn form(&mut self, code: LobbyCode) -> Option<(Write, Item)> {
        let at = now();
        let table = self.tables.get_mut(&code)?;
        let has_changed = table.lobby.seq() > table.formed;
        let shows = if has_changed {
            table.lobby.show(at)
        } else {
            Vec::new()
        };
        let (epoch, seq) = (table.lobby.epoch(), table.lobby.seq());
        let write = if table.lobby.has_ended() {
            Write::Delete(table.delete(code))
        } else {
            table.saved = table.lobby.save(at).into();
            let status = status_word(table.lobby.status());
            let state = (status, table.saved.clone());
            let numbers = (epoch, seq);
            let mut commit = self
                .store
                .commit(code, table.born, numbers, state, Lifetime::Table);
            commit.accepted_input = table.has_accepted_input;
            Write::Commit(commit)
        };
        (table.formed, table.in_flight, table.is_behind) = (seq, true, false);
        let outgoing = std::mem::take(&mut table.outgoing);
        let moves = std::mem::take(&mut table.traces);
        let spans = spans::commits(&moves, &self.store.owner().node, code);
        Some((
            write,
            Item {
                code,
                epoch,
                seq,
                outgoing,
                shows,
                spans,
            },
        ))
    }

    /// A batch is written: what waited for it leaves.
    pub(super) fn committed(&mut self, batch: Batch, written: &[Written]) {
        self.committing = false;
        let took = now().saturating_duration_since(batch.began);
        self.metrics.committed(took, batch.items.len());
        for (item, written) in batch.items.into_iter().zip(written) {
            let is_known = self.tables.get(&item.code);
            let is_known = is_known.is_some_and(|table| table.lobby.epoch() == item.epoch);
            match written {
                Written::Saved => {
                    let code = item.code;
                    self.let_go(item);
                    if is_known {
                        self.settle(code);
                    }
                }
                Written::Relieved => {
                    for outgoing in item.outgoing {
                        self.bounce(outgoing);
                    }
                    if is_known {
                        self.relieved(item.code);
                    }
                }
            }
        }
    }

    fn let_go(&mut self, item: Item) {
        let table = self.tables.get_mut(&item.code);
        // Not a newer copy, which may have taken this one's place meanwhile.
        if let Some(table) = table.filter(|table| table.lobby.epoch() == item.epoch) {
            table.in_flight = false;
            table.committed = table.committed.max(item.seq);
        }
        for outgoing in item.outgoing {
            self.send(item.code, outgoing);
        }
        // The commit ends here, and the way to the players begins.
        let traces: Vec<TraceParent> = item
            .spans
            .into_iter()
            .filter_map(|span| span.context().to_string().try_into().ok())
            .collect();
        for (link, mut show) in item.shows {
            show.traces.clone_from(&traces);
            self.gateways.send(link, ToGateway::Show(show));
        }
    }

    /// What a lobby needs beside, once a state of it is saved.
    fn settle(&mut self, code: LobbyCode) {
        self.let_out(code);
        let Some(table) = self.tables.get_mut(&code) else {
            return;
        };
        let is_public = table.lobby.welcomes_strangers();
        if table.is_listed != is_public {
            table.is_listed = is_public;
            let (public, hidden) = if is_public {
                (vec![code], vec![])
            } else {
                (vec![], vec![code])
            };
            self.list(public, hidden);
        }
        let table = &self.tables[&code];
        if table.lobby.has_ended() && table.is_clean() {
            debug!(%code, "the lobby has ended");
            self.drop_table(code);
        }
    }

    /// Lets out what waits for nothing but what is saved already.
    pub(super) fn let_out(&mut self, code: LobbyCode) {
        let Some(table) = self.tables.get_mut(&code) else {
            return;
        };
        if table.is_clean() {
            for outgoing in std::mem::take(&mut table.outgoing) {
                self.send(code, outgoing);
            }
        } else if table.wants_writing() {
            self.dirty.insert(code);
        }
    }

    fn send(&mut self, code: LobbyCode, outgoing: Outgoing) {
        match outgoing {
            Outgoing::Answer { asked, outcome } => self.answer(&asked, outcome),
            Outgoing::Parted { to, reason } => {
                let parted = ToGateway::Parted {
                    code,
                    connection: to.id,
                    reason,
                };
                self.gateways.send(to.link, parted);
            }
            Outgoing::Decide { game, turn, trace } => {
                self.ask_ai(Matter { code, game, turn }, trace);
            }
        }
    }

    /// What was done at a copy that counts no more has not been done.
    pub(super) fn bounce(&mut self, outgoing: Outgoing) {
        if let Outgoing::Answer { asked, .. } = outgoing {
            self.answer(&asked, Outcome::NotOwner);
        }
    }

    /// The lobby is another's: this copy is dropped, and its people look for it anew.
    pub(super) fn relieved(&mut self, code: LobbyCode) {
        if self.tables.contains_key(&code) {
            // Another node has claimed it, e.g. because this one could not be reached.
            info!(%code, "relieved of a lobby");
            self.part_with(code);
        }
    }
}

pub(super) fn status_word(status: LobbyStatus) -> &'static str {
    match status {
        LobbyStatus::Waiting => "waiting",
        LobbyStatus::Playing => "playing",
        LobbyStatus::Finished => "finished",
    }
}
