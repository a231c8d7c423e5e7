//! Lobbies that another may own by now: the registry is asked before anything of them leaves.

use std::time::Instant;

use protocol::LobbyCode;
use registry::{Seq, Touch, Touched};
use tracing::{debug, warn};

use super::{Driver, Finished, now};
use crate::custody::{Doubt, Said, Verdict};

impl Driver {
    /// Notices that this loop has not run for a while, or that the registry is another, before
    /// anything is done about what has come.
    pub(super) fn look_at_the_clock(&mut self) {
        let at = now();
        if self.custody.looks(at) {
            // The process was stopped, its host was busy or slept, or a step took that long.
            warn!("this node has not run for more than two seconds: it asks what is still its own");
            self.last_gap = Some(at);
            self.tables
                .values_mut()
                .for_each(|table| table.doubt.gap(at));
            self.doubting = true;
            self.touch_in_doubt();
        }
        if !self.registry_health.has_changed().unwrap_or(false) {
            return;
        }
        let health = self.registry_health.borrow_and_update().clone();
        let before = std::mem::replace(&mut self.run_id, health.run_id);
        let is_another_run = before.is_some() && before != self.run_id;
        self.run += u64::from(is_another_run);
        let connection = health.commit_connection;
        let is_new = std::mem::replace(&mut self.connection, connection) != connection;
        if is_another_run || is_new {
            // What was written before may be lost.
            self.for_each_table(Self::write_anew);
        }
    }

    /// What is to be thought of a lobby that the registry gave in answer to a request of `begun`.
    pub(super) fn doubt_since(&mut self, begun: Instant) -> Doubt {
        let mut doubt = Doubt::none(self.run);
        if let Some(gap) = self.last_gap.filter(|gap| begun < *gap) {
            doubt.gap(gap);
            self.doubting = true;
        }
        doubt
    }

    /// Asks about lobbies in doubt, if their time has come and nothing is asked yet.
    pub(super) fn touch_in_doubt(&mut self) {
        if !self.doubting || self.rounds.is_touching() {
            return;
        }
        let at = now();
        let mut in_doubt = self.tables.values().map(|table| &table.doubt);
        if in_doubt.clone().any(|doubt| doubt.asks(at)) {
            self.touch();
        } else {
            self.doubting = in_doubt.any(|doubt| !doubt.lets_out());
        }
    }

    /// Renews all lobbies, and asks whether they are still this node's.
    pub(super) fn touch(&mut self) {
        let owner = self.store.owner();
        let living = self.tables.iter().filter(|(_, table)| table.is_touched());
        let touches = living.map(|(code, table)| {
            let touch = Touch {
                code: code.to_string(),
                born: table.born,
                epoch: registry::Epoch(table.lobby.epoch()),
                owner: owner.clone(),
                seq: Seq(table.committed),
            };
            (*code, touch)
        });
        let (codes, touches): (Vec<LobbyCode>, Vec<Touch>) = touches.unzip();
        if touches.is_empty() {
            return;
        }
        let listed = self.tables.iter().filter(|(_, table)| table.is_listed);
        let listed: Vec<LobbyCode> = listed.map(|(code, _)| *code).collect();
        self.rounds.begin_touch();
        let (store, asked) = (self.store.clone(), now());
        self.under_way.push(Box::pin(async move {
            let ((), answers) = tokio::join!(store.list(listed, Vec::new()), store.touch(&touches));
            let asked_of = touches.iter().map(|touch| touch.epoch.0);
            let answers = codes.into_iter().zip(asked_of).zip(answers);
            let answers = answers.map(|((code, epoch), answer)| (code, epoch, answer));
            Finished::Touched(asked, answers.collect())
        }));
    }

    pub(super) fn touched(
        &mut self,
        asked: Instant,
        touched: Vec<(LobbyCode, u64, Option<Touched>)>,
    ) {
        self.rounds.end_touch();
        if touched.iter().any(|(_, _, answer)| answer.is_some())
            && let Some(order) = self.custody.touched(now())
        {
            self.obey(order);
        }
        let is_answered = touched.iter().all(|(_, _, answer)| answer.is_some());
        for (code, epoch, answer) in touched {
            let said = match answer {
                Some(Touched::Ok) => Said::Ok,
                Some(Touched::Behind) => Said::Behind,
                Some(Touched::Relieved) => Said::Relieved,
                // The registry is away, and the next round asks again.
                None => continue,
            };
            self.touched_one(code, epoch, asked, said);
        }
        // Else with the next tick: it would be asked again and again.
        if is_answered {
            self.touch_in_doubt();
        }
    }

    fn touched_one(&mut self, code: LobbyCode, epoch: u64, asked: Instant, said: Said) {
        let (run, session_ttl) = (self.run, self.settings.session_ttl);
        let Some(table) = self.tables.get_mut(&code) else {
            return;
        };
        if table.lobby.epoch() != epoch || !table.is_touched() {
            return;
        }
        let was_in_doubt = !table.doubt.lets_out();
        match table.doubt.answered(now(), asked, run, said) {
            Verdict::Relieved => self.relieved(code),
            Verdict::Sure if !was_in_doubt => {}
            Verdict::Unsure if !was_in_doubt && said != Said::Behind => {}
            Verdict::Sure | Verdict::Unsure => {
                debug!(%code, ?said, "committing a lobby anew");
                table.is_behind = true;
                if said == Said::Behind {
                    // What has lost the record may have lost the sessions too.
                    table.write_sessions_anew(session_ttl);
                }
                self.dirty.insert(code);
            }
        }
    }
}
