//! Lobbies that this node gives up: all of them when it drains, or one whose game may start elsewhere.
//!
//! A lobby is released once all that it had to say is committed and said. From then on it is frozen
//! until the registry's answer is known: nothing is answered, shown or done, since another may own it.

use std::collections::BTreeSet;
use std::time::Instant;

use protocol::LobbyCode;
use protocol::link::{Outcome, Parting, ToGateway};
use registry::{Epoch, Release, Released, Seq};
use tracing::{debug, info};

use super::asks::Asked;
use super::{Driver, Finished, now};
use crate::chance;
use crate::custody::Giving;
use crate::lobby::Input;

/// Releases at the registry at once; gateways claim no more at once either.
const MAX_AT_ONCE: usize = 32;

/// What is given up, beside everything when this node drains.
#[derive(Default)]
pub(super) struct Handovers {
    /// Lobbies whose game is to start elsewhere.
    wanted: BTreeSet<LobbyCode>,
    under_way: usize,
}

impl Handovers {
    pub(super) fn are_done(&self) -> bool {
        self.under_way == 0
    }
}

impl Driver {
    /// Releases what is to leave and has nothing more to say.
    pub(super) fn hand_over(&mut self) {
        if self.handovers.under_way >= MAX_AT_ONCE || !self.is_committing() {
            return;
        }
        let drains = self.is_draining() && self.is_relieved_by_another();
        let candidates: Vec<LobbyCode> = if drains {
            self.tables.keys().copied().collect()
        } else {
            self.handovers.wanted.iter().copied().collect()
        };
        for code in candidates {
            if self.handovers.under_way >= MAX_AT_ONCE {
                return;
            }
            self.release(code);
        }
    }

    fn release(&mut self, code: LobbyCode) {
        let Some(table) = self.tables.get_mut(&code) else {
            self.handovers.wanted.remove(&code);
            return;
        };
        let may_leave = table.is_clean()
            && table.doubt.lets_out()
            && table.outgoing.is_empty()
            && !table.lobby.has_ended();
        if table.giving.is_frozen() || !may_leave {
            return;
        }
        table.giving = Giving::Frozen;
        self.handovers.under_way += 1;
        let release = Release {
            code: code.to_string(),
            born: table.born,
            epoch: Epoch(table.lobby.epoch()),
            seq: Seq(table.committed),
        };
        let (store, begun) = (self.store.clone(), now());
        self.custody.releases(begun);
        self.under_way.push(Box::pin(async move {
            let released = store.release(&release).await;
            Finished::Released(code, release.epoch, begun, released)
        }));
    }

    /// The registry has answered to a release.
    pub(super) fn released(
        &mut self,
        code: LobbyCode,
        epoch: Epoch,
        begun: Instant,
        released: Released,
    ) {
        self.handovers.under_way -= 1;
        let others = self.handovers.under_way > 0;
        if let Some(order) = self.custody.released(now(), others) {
            self.obey(order);
        }
        let table = self.tables.get(&code);
        if table.is_none_or(|table| table.lobby.epoch() != epoch.0) {
            return;
        }
        let is_stale = table.is_some_and(|table| table.doubt.is_older(begun));
        match released {
            // Asked before it came into doubt: what is there now is asked for anew.
            _ if is_stale => self.keep(code),
            Released::Ok => {
                info!(%code, "handed a lobby over");
                let (at, why) = (now(), if self.is_draining() { "drain" } else { "start" });
                let took = at.saturating_duration_since(begun);
                self.handed_over.add(at, self.store.now_ms(), why, took);
                self.metrics.handed_over(took, why);
                self.part_with(code);
            }
            Released::Relieved => self.relieved(code),
            Released::Behind | Released::Superseded => self.keep(code),
        }
    }

    /// The record is not what was thought: the lobby goes on here, is committed anew, and leaves then.
    fn keep(&mut self, code: LobbyCode) {
        debug!(%code, "a lobby can't be released yet: committing anew");
        let Some(table) = self.tables.get_mut(&code) else {
            return;
        };
        table.giving = Giving::Kept;
        // Above a later state of this owner, should that be there.
        table.lobby.advance();
        for input in table.take_postponed() {
            self.step(code, input);
        }
        self.step(code, Input::Wake(chance::draw()));
    }

    /// This copy ends, and its people look for the lobby anew.
    pub(super) fn part_with(&mut self, code: LobbyCode) {
        let Some(table) = self.tables.get_mut(&code) else {
            return;
        };
        let outgoing = std::mem::take(&mut table.outgoing);
        let starting = std::mem::take(&mut table.starting);
        let people: Vec<_> = table.lobby.connections().collect();
        for outgoing in outgoing {
            self.bounce(outgoing);
        }
        for asked in starting {
            self.answer(&asked, Outcome::NotOwner);
        }
        for to in people {
            let reason = Parting::Moved;
            let connection = to.id;
            self.gateways.send(
                to.link,
                ToGateway::Parted {
                    code,
                    connection,
                    reason,
                },
            );
        }
        self.handovers.wanted.remove(&code);
        self.drop_table(code);
    }

    /// Whether a game that may not start here goes to another node. Not if it has just come: then
    /// nobody has room, whatever they say.
    pub(super) fn may_start_elsewhere(&self, code: LobbyCode) -> bool {
        let at = now();
        let table = self.tables.get(&code);
        self.others_accept_games
            && table.is_some_and(|table| table.giving.may_leave(at, table.since))
    }

    /// The lobby leaves for a node that takes its game; who wants to start it is told to look there.
    pub(super) fn start_elsewhere(&mut self, code: LobbyCode, asked: Asked) {
        if let Some(table) = self.tables.get_mut(&code) {
            debug!(%code, "a game starts elsewhere");
            table.starting.push(asked);
            self.handovers.wanted.insert(code);
        }
    }
}

#[cfg(test)]
impl Driver {
    /// As if its release were under way; its newest committed state.
    pub(super) fn freezes(&mut self, code: LobbyCode) -> u64 {
        let table = self.tables.get_mut(&code).expect("it is here");
        table.giving = Giving::Frozen;
        self.handovers.under_way += 1;
        table.committed
    }

    /// That release is answered.
    pub(super) fn is_answered(&mut self, code: LobbyCode, released: Released) {
        let epoch = Epoch(self.tables[&code].lobby.epoch());
        self.released(code, epoch, now(), released);
    }
}
