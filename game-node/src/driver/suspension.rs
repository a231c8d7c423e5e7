//! What happens to all lobbies while the registry does not answer, and when it does again.

use protocol::LobbyCode;
use protocol::limit::MAX_LINK_FRAME_BYTES;
use protocol::link::{Handed, ToGateway, Unsaved};
use tracing::{info, warn};

use super::batch::status_word;
use super::{Driver, Outgoing, Table, now};
use crate::custody::{Mode, Order};
use crate::lobby::{Input, LinkId};

/// Room in a frame for what is not a lobby, and in a lobby's part for what is not its state.
const FRAME_RESERVE_BYTES: usize = 1024;

impl Driver {
    /// Does whatever follows from how the registry and the gateways fare by now.
    pub(super) fn keep_custody(&mut self) {
        while let Some(order) = self.custody.decide(now()) {
            self.obey(order);
        }
    }

    pub(super) fn obey(&mut self, order: Order) {
        match order {
            Order::Suspend => {
                // The registry is away, or this node's way to it is broken.
                warn!("what has changed can't be saved: nothing new is shown until it can");
                self.tell_presence();
            }
            Order::GoOn => {
                // No gateway reaches it either, so nobody can take these lobbies over.
                warn!("the registry is away for everybody: the games go on unsaved");
                // Whatever was handed over before, nobody could take.
                self.gateways.send_to_all(&ToGateway::CommitsAgain);
                self.surroundings.saved = false;
                self.tell_surroundings();
                self.let_go_uncommitted();
            }
            Order::Doubt => self
                .tables
                .values_mut()
                .for_each(|table| table.doubt.alone()),
            Order::HandOver => {
                // Redis or the network between: the gateways' other nodes go on with the games.
                warn!(
                    lobbies = self.tables.len(),
                    "this node alone can't save: it hands its lobbies to its gateways"
                );
                self.hand_to(None);
            }
            Order::CommitAnew { handed_over } => self.commit_anew(handed_over),
        }
    }

    /// The registry answers again: it gets everything before anybody sees anything.
    fn commit_anew(&mut self, handed_over: bool) {
        info!(
            lobbies = self.tables.len(),
            "committing again: everything anew"
        );
        if handed_over {
            self.gateways.send_to_all(&ToGateway::CommitsAgain);
        }
        self.surroundings.saved = true;
        self.tell_surroundings();
        self.for_each_table(Self::write_anew);
        self.tell_presence();
    }

    /// The lobby and the sessions of its people are written whatever the registry has of them.
    pub(super) fn write_anew(&mut self, code: LobbyCode) {
        let session_ttl = self.settings.session_ttl;
        let Some(table) = self.tables.get_mut(&code) else {
            return;
        };
        if !table.giving.is_frozen() && !table.lobby.has_ended() {
            table.is_behind = true;
            table.write_sessions_anew(session_ttl);
            self.dirty.insert(code);
        }
    }

    /// Where the registry is to be tried, something must try it: any lobby will do.
    pub(super) fn keep_trying(&mut self) {
        if !self.custody.must_try(now()) || self.batch.is_some() {
            return;
        }
        let wants = |code: &LobbyCode| self.tables.get(code).is_some_and(Table::wants_writing);
        if self.dirty.iter().any(wants) {
            return;
        }
        // One under release only if there is no other: the same state at the same epoch changes
        // nothing, and tells as well whose it is.
        let tables = self.tables.iter_mut();
        let any = tables.min_by_key(|(_, table)| table.giving.is_frozen());
        if let Some((code, table)) = any {
            table.is_behind = true;
            self.dirty.insert(*code);
        } else if let Some(order) = self.custody.touched(now()) {
            // Nothing is here that could not be saved.
            self.obey(order);
        }
    }

    fn tell_surroundings(&mut self) {
        let surroundings = self.surroundings;
        self.for_each_table(|driver, code| {
            driver.step(code, Input::Surroundings(surroundings));
        });
    }

    /// Going on uncommitted: lets out what waits for a commit, and keeps in mind that it was none.
    pub(super) fn let_go_uncommitted(&mut self) {
        let items = self.batch.iter_mut().flat_map(|batch| &mut batch.items);
        let waiting: Vec<(LobbyCode, u64, Vec<Outgoing>)> = items
            .map(|item| (item.code, item.epoch, std::mem::take(&mut item.outgoing)))
            .collect();
        for (code, epoch, outgoing) in waiting {
            let table = self.tables.get_mut(&code);
            if let Some(table) = table.filter(|table| table.lobby.epoch() == epoch) {
                table.put_back(outgoing);
                self.dirty.insert(code);
            }
        }
        let codes: Vec<LobbyCode> = self.dirty.iter().copied().collect();
        for code in codes {
            self.show_uncommitted(code);
        }
    }

    fn show_uncommitted(&mut self, code: LobbyCode) {
        let at = now();
        let Some(table) = self.tables.get_mut(&code) else {
            return;
        };
        let is_held = !table.doubt.lets_out() || table.giving.is_frozen();
        if is_held || (table.outgoing.is_empty() && table.lobby.seq() <= table.pictured) {
            return;
        }
        let shown = self.at_table(code, None, |table| {
            table.picture(at);
            table.lobby.save(at)
        });
        let (Some(saved), Some(table)) = (shown, self.tables.get_mut(&code)) else {
            return;
        };
        // A lobby that breaks goes on from what was shown.
        table.saved = saved.into();
        table.formed = table.lobby.seq();
        (table.is_behind, table.is_uncommitted) = (true, true);
        for outgoing in table.take_outgoing() {
            self.send(code, outgoing);
        }
    }

    /// Hands all lobbies to one gateway, or to all of them.
    pub(super) fn hand_to(&mut self, link: Option<LinkId>) {
        let mut size = FRAME_RESERVE_BYTES;
        let mut frames = vec![Vec::new()];
        let codes: Vec<LobbyCode> = self.tables.keys().copied().collect();
        for code in codes {
            // One that breaks by this is handed over as it was saved before.
            let handed = self.handed(code).or_else(|| self.handed(code));
            let Some(handed) = handed else {
                continue;
            };
            let bytes = handed.saved.len() + FRAME_RESERVE_BYTES;
            if size + bytes > MAX_LINK_FRAME_BYTES {
                frames.push(Vec::new());
                size = FRAME_RESERVE_BYTES;
            }
            size += bytes;
            if let Some(frame) = frames.last_mut() {
                frame.push((code, handed));
            }
        }
        for lobbies in frames {
            let message = ToGateway::HandsOver { lobbies };
            match link {
                Some(link) => self.gateways.send(link, message),
                None => self.gateways.send_to_all(&message),
            }
        }
    }

    /// What is handed over of a lobby; none if there is nothing, or if it has broken. One under
    /// release is too: whether it has been released, the record says to whoever claims it.
    fn handed(&mut self, code: LobbyCode) -> Option<Handed> {
        let at = now();
        let handed = self.at_table(code, None, |table| {
            (!table.lobby.has_ended()).then(|| Handed {
                epoch: table.lobby.epoch(),
                seq: table.lobby.seq(),
                born: table.born.to_string(),
                status: status_word(table.lobby.status()).to_owned(),
                saved: table.lobby.save(at).into(),
            })
        });
        handed.flatten()
    }

    /// Lobbies that were shown without being saved.
    pub(super) fn uncommitted(&self) -> usize {
        let tables = self.tables.values();
        tables.filter(|table| table.is_uncommitted).count()
    }

    /// What gateways are told of all this, who see it before the registry does, if that ever will.
    pub(super) fn unsaved(&self) -> Unsaved {
        let count = |lobbies| u32::try_from(lobbies).unwrap_or(u32::MAX);
        Unsaved {
            suspended: if self.is_suspended() {
                count(self.tables.len())
            } else {
                0
            },
            uncommitted: count(self.uncommitted()),
            cut_off: self.custody.mode() == Mode::HandingOver,
        }
    }

    /// Whether this node is the owner that others may ask for a lobby: it shows what it does.
    pub(super) fn is_suspended(&self) -> bool {
        self.custody.mode().is_suspended()
    }

    pub(super) fn is_committing(&self) -> bool {
        self.custody.mode() == Mode::Committing
    }
}
