//! Commits: all lobbies that have changed since the last one, one batch under way at a time.

use std::time::Instant;

use bytes::Bytes;
use chassis::trace::Span;
use protocol::link::{Outcome, ToGateway};
use protocol::lobby::LobbyStatus;
use protocol::{LobbyCode, TraceParent};
use registry::Lifetime;
use tracing::{debug, info};

use super::{Driver, Finished, Outgoing, Table, now, spans};
use crate::ai::Matter;
use crate::chance;
use crate::custody::{Mode, Said, Verdict};
use crate::store::{Tried, Write, Written};

/// Lobbies that are written at once: as many as Redis takes in the time that a commit may take.
const MAX_LOBBIES: usize = 128;

/// What leaves once a batch is written.
pub(super) struct Batch {
    pub(super) items: Vec<Item>,
    began: Instant,
}

/// One lobby of it.
pub(super) struct Item {
    pub(super) code: LobbyCode,
    pub(super) epoch: u64,
    seq: u64,
    /// With the picture as it was when the batch was formed: what is written, and nothing newer.
    pub(super) outgoing: Vec<Outgoing>,
    /// Of this commit, in the trace of each move that it saves.
    spans: Vec<Span>,
}

impl Driver {
    /// Forms a batch of what has changed, unless one is under way or it is too early for another try.
    pub(super) fn flush(&mut self) {
        if self.custody.mode() == Mode::Uncommitted {
            self.let_go_uncommitted();
        }
        let is_held = self.batch.is_some() || !self.custody.may_try(now());
        if is_held || self.dirty.is_empty() {
            return;
        }
        let (mut writes, mut sessions, mut items) = (Vec::new(), Vec::new(), Vec::new());
        for code in self.next_batch() {
            let Some((write, item)) = self.form(code) else {
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
        let began = now();
        self.custody.sends(began);
        self.batch = Some(Batch { items, began });
        let store = self.store.clone();
        self.under_way.push(Box::pin(async move {
            Finished::Batch(store.try_write(&writes, sessions).await)
        }));
    }

    /// What is to be written now, in turn. While the registry does not answer, one lobby tries it for
    /// all.
    fn next_batch(&mut self) -> Vec<LobbyCode> {
        let most = if self.is_committing() { MAX_LOBBIES } else { 1 };
        let first = self.next_in_batch.take();
        let (before, from): (Vec<LobbyCode>, Vec<LobbyCode>) = self
            .dirty
            .iter()
            .partition(|code| first.is_some_and(|first| **code < first));
        let mut batch = Vec::new();
        for code in from.into_iter().chain(before) {
            let table = self.tables.get(&code);
            if table.is_some_and(|table| !table.doubt.lets_commit()) {
                continue;
            }
            if !table.is_some_and(Table::wants_writing) {
                self.dirty.remove(&code);
                self.let_out(code);
                continue;
            }
            if batch.len() == most {
                self.next_in_batch = Some(code);
                break;
            }
            self.dirty.remove(&code);
            batch.push(code);
        }
        batch
    }

    /// What is written of a lobby now, and what leaves after; none if it has broken.
    fn form(&mut self, code: LobbyCode) -> Option<(Write, Item)> {
        let at = now();
        let saved = self.at_table(code, None, |table| {
            table.picture(at);
            (!table.lobby.has_ended()).then(|| Bytes::from(table.lobby.save(at)))
        })?;
        let table = self.tables.get_mut(&code)?;
        let (epoch, seq) = (table.lobby.epoch(), table.lobby.seq());
        let write = if let Some(saved) = saved {
            table.saved = saved;
            let status = status_word(table.lobby.status());
            let state = (status, table.saved.clone());
            let numbers = (epoch, seq);
            let mut commit = self
                .store
                .commit(code, table.born, numbers, state, Lifetime::Table);
            commit.accepted_input = table.has_accepted_input;
            Write::Commit(commit)
        } else {
            Write::Delete(table.delete(code))
        };
        (table.formed, table.in_flight, table.is_behind) = (seq, true, false);
        let outgoing = table.take_outgoing();
        let moves = std::mem::take(&mut table.traces);
        let spans = spans::commits(&moves, &self.store.owner().node, code);
        let item = Item {
            code,
            epoch,
            seq,
            outgoing,
            spans,
        };
        Some((write, item))
    }

    /// A batch was tried: what waited for it leaves, and what could not be written is tried again.
    pub(super) fn committed(&mut self, tried: Tried) {
        let Some(batch) = self.batch.take() else {
            return;
        };
        let took = now().saturating_duration_since(batch.began);
        let mut records = tried.records;
        for change in tried.sessions {
            let index = batch.items.iter().position(|item| item.code == change.code);
            // Its lobby says nothing before the session says where its player is.
            if let Some(Some(written)) = index.and_then(|index| records.get_mut(index))
                && *written == Written::Saved
                && let Some(index) = index
            {
                records[index] = None;
            }
            if let Some(table) = self.tables.get_mut(&change.code) {
                table.session_still_says(change);
            }
        }
        let works = records.iter().any(Option::is_some);
        if works {
            self.metrics.committed(took, batch.items.len());
        }
        let mode = self.custody.answered(now(), works, chance::fraction());
        for (item, written) in batch.items.into_iter().zip(records) {
            self.item_written(item, written, batch.began);
        }
        if let Some(order) = mode {
            self.obey(order);
        }
    }

    fn item_written(&mut self, item: Item, written: Option<Written>, began: Instant) {
        let (at, run, code) = (now(), self.run, item.code);
        let table = self.tables.get_mut(&code);
        // Not a newer copy, which may have taken this one's place meanwhile.
        let Some(table) = table.filter(|table| table.lobby.epoch() == item.epoch) else {
            match written {
                Some(Written::Saved) => self.let_go(item),
                Some(Written::Relieved) | None => self.bounce_all(item),
            }
            return;
        };
        table.in_flight = false;
        let said = match written {
            None => {
                table.is_behind = true;
                return self.put_back(item);
            }
            Some(Written::Saved) => Said::Ok,
            Some(Written::Relieved) => Said::Relieved,
        };
        match table.doubt.answered(at, began, run, said) {
            Verdict::Relieved => {
                self.bounce_all(item);
                self.relieved(code);
            }
            Verdict::Unsure => {
                // What was not asked early enough, or is not enough: the touches tell.
                table.is_behind |= !table.doubt.lets_commit();
                table.committed = table.committed.max(item.seq);
                self.put_back(item);
            }
            Verdict::Sure => {
                table.committed = table.committed.max(item.seq);
                table.is_uncommitted &= table.formed > item.seq;
                self.let_go(item);
                self.settle(code);
            }
        }
    }

    /// What could not leave waits for the next try.
    fn put_back(&mut self, item: Item) {
        if let Some(table) = self.tables.get_mut(&item.code) {
            table.put_back(item.outgoing);
            self.dirty.insert(item.code);
        }
    }

    fn bounce_all(&mut self, item: Item) {
        for outgoing in item.outgoing {
            self.bounce(outgoing);
        }
    }

    fn let_go(&mut self, item: Item) {
        // The commit ends here, and the way to the players begins.
        let traces: Vec<TraceParent> = item
            .spans
            .into_iter()
            .filter_map(|span| span.context().to_string().try_into().ok())
            .collect();
        for mut outgoing in item.outgoing {
            if let Outgoing::Show { show, .. } = &mut outgoing {
                show.traces.clone_from(&traces);
            }
            self.send(item.code, outgoing);
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
        let is_suspended = self.is_suspended();
        let Some(table) = self.tables.get_mut(&code) else {
            return;
        };
        if !table.doubt.lets_out() || is_suspended {
            // Not lost sight of.
            self.dirty.insert(code);
        } else if table.is_clean() {
            let pictured = self.at_table(code, None, |table| {
                table.picture(now());
                table.take_outgoing()
            });
            for outgoing in pictured.into_iter().flatten() {
                self.send(code, outgoing);
            }
        } else if table.wants_writing() {
            self.dirty.insert(code);
        }
    }

    pub(super) fn send(&mut self, code: LobbyCode, outgoing: Outgoing) {
        match outgoing {
            Outgoing::Show { link, show } => self.gateways.send(link, ToGateway::Show(*show)),
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
