//! How a journey ends: at a table, at none, or where it began.

use std::time::Instant;

use protocol::link::Outcome;
use protocol::{CloseCode, ErrorCode};

use super::{Abandoned, Goal, MAX_ABANDONED, Step};
use crate::session::door::Effect;
use crate::session::place::Place;
use crate::session::{Phase, Session};

impl Session {
    /// The node has said yes: the new table is the player's, and the old one is left. `taken` is
    /// the last number of this connection that a table's owner knows.
    pub(in crate::session) fn arrive(&mut self, now: Instant, taken: Option<u64>) {
        let Some(journey) = self.journey.take() else {
            return;
        };
        let Step::Asking { mut place, .. } = journey.step else {
            return;
        };
        if let Goal::Create { name, .. } | Goal::Join { name, .. } | Goal::QuickPlay { name, .. } =
            &journey.goal
            && let Phase::Inside {
                name: last_name, ..
            } = &mut self.phase
        {
            *last_name = Some(name.clone());
        }
        if matches!(journey.goal, Goal::Create { public: true, .. }) {
            self.effects.push(Effect::Gathered {
                code: place.code,
                turn: journey.turn,
            });
        }
        if matches!(journey.goal, Goal::Leave) {
            if self
                .place
                .as_ref()
                .is_some_and(|present| present.code == place.code)
            {
                self.leave_place();
            }
            return;
        }
        match self.place.take() {
            Some(old) if old.code == place.code => {
                place.follows(&old);
                if old.node != place.node {
                    self.detach_from(old);
                }
            }
            Some(old) => self.leave_silently(now, old),
            None => {}
        }
        self.abandoned
            .retain(|abandoned| !abandoned.place.is_at(&place));
        self.place = Some(place);
        if let Some(early) = journey.early {
            self.show(early);
        }
        if let Some(taken) = taken {
            self.resend(taken);
        }
    }

    /// A place that was given up for lost has come after all, or will not.
    pub(in crate::session) fn abandoned_answered(&mut self, number: u64, outcome: &Outcome) {
        if matches!(outcome, Outcome::Done | Outcome::Attached { .. }) {
            let mut all = self.abandoned.iter_mut();
            if let Some(abandoned) = all.find(|abandoned| abandoned.number == number) {
                abandoned.has_come = true;
            }
        } else {
            self.abandoned
                .retain(|abandoned| abandoned.number != number);
        }
    }

    /// What has come after all is left again, unless the player is there by now. Not on the way,
    /// which may lead there.
    pub(in crate::session) fn settle_abandoned(&mut self, now: Instant) {
        while self.journey.is_none() && !self.is_closed() {
            let has_come = |abandoned: &Abandoned| abandoned.has_come;
            let next = self.abandoned.iter().position(has_come);
            let Some(mut abandoned) = next.and_then(|index| self.abandoned.remove(index)) else {
                return;
            };
            let place = abandoned.place.clone();
            match &self.place {
                _ if abandoned.is_new => self.leave_silently(now, place),
                Some(_) => self.detach_from(place),
                None => {
                    // The table that was waited for in vain. Its node may still be left alone.
                    abandoned.has_come = false;
                    self.abandoned.push_back(abandoned);
                    self.begin(now, None, Goal::returning_to(now, place.code));
                }
            }
        }
    }

    fn detach_from(&mut self, place: Place) {
        let Place { node, code, .. } = place;
        self.effects.push(Effect::Detach { node, code });
    }

    pub(in crate::session) fn expire_journey(&mut self, now: Instant) {
        let Some(journey) = self
            .journey
            .as_mut()
            .filter(|journey| now >= journey.deadline)
        else {
            return;
        };
        match (&journey.step, &journey.goal) {
            (Step::Pausing, Goal::Return { code, .. }) => {
                let code = *code;
                self.look_for(now, code, true);
            }
            (Step::Asking { number, place, .. }, goal) => {
                if goal.arrives() {
                    self.abandoned.push_back(Abandoned {
                        number: *number,
                        place: place.clone(),
                        is_new: !matches!(goal, Goal::Return { .. }),
                        has_come: false,
                    });
                }
                if self.abandoned.len() > MAX_ABANDONED
                    && let Some(oldest) = self.abandoned.pop_front()
                {
                    self.detach_from(oldest.place);
                }
                self.journey_unreachable(now);
            }
            _ => self.journey_unreachable(now),
        }
    }

    /// The node that was asked can't be reached, or nobody knows whom to ask.
    pub(in crate::session) fn journey_unreachable(&mut self, now: Instant) {
        let is_due = self
            .journey
            .as_ref()
            .is_some_and(|journey| now >= journey.due);
        match self.journey.as_ref().map(|journey| &journey.goal) {
            Some(&Goal::Return {
                give_up_at,
                was_there,
                ..
            }) if now >= give_up_at => {
                self.give_up(was_there);
            }
            Some(Goal::Return { .. }) => self.pause(now),
            Some(Goal::QuickPlay { .. }) if !is_due => self.try_next(now),
            Some(_) => self.fail_unavailable("the table's server can't be reached just now"),
            None => {}
        }
    }

    /// The way back has taken too long.
    pub(in crate::session) fn give_up(&mut self, was_there: bool) {
        self.journey = None;
        // While the registry is away the table can't have another owner yet.
        if was_there || !self.overview.registry_reachable {
            self.unavailable(
                None,
                "the table's server can't be reached: trying another way",
            );
            self.close(CloseCode::Restart);
        } else {
            // The session still names the table: whoever comes back later may find it.
            self.unavailable(None, "your table can't be reached now: it may be later");
            self.effects.push(Effect::ShowNothing);
        }
    }

    /// There is nothing to go back to.
    pub(in crate::session) fn forget_table(&mut self) {
        let goal = self.journey.take().map(|journey| journey.goal);
        if let Some(place) = self.place.clone() {
            // A node that still shows it, against the record's word, shows it to nobody here.
            self.detach_from(place);
        }
        self.leave_place();
        let Some(Goal::Return { code, .. }) = goal else {
            return;
        };
        self.drop_asks(code);
        if let Some(person) = self.person() {
            let token = person.token.clone();
            self.effects.push(Effect::ForgetLobby { token, code });
        }
    }

    pub(in crate::session) fn fail(
        &mut self,
        code: ErrorCode,
        message: &str,
        retry_after_ms: Option<u32>,
    ) {
        if let Some(journey) = self.journey.take() {
            self.within(journey.trace, |session| {
                session.refuse_until(journey.reply, code, message, retry_after_ms);
            });
        }
    }

    pub(in crate::session) fn fail_unavailable(&mut self, message: &str) {
        if let Some(journey) = self.journey.take() {
            self.within(journey.trace, |session| {
                session.unavailable(journey.reply, message);
            });
        }
    }
}
