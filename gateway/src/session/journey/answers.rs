//! What the registry, chance and the nodes answer on the way.

use std::time::Instant;

use protocol::ErrorCode;
use protocol::link::{Outcome, Request};

use super::{CREATE_RETRY_MS, Goal, Journey, Step};
use crate::gathering::Listing;
use crate::session::Session;
use crate::session::door::{Drawn, NoNode, RegistryAway, Whereabouts};
use crate::session::place::Place;

impl Session {
    pub(in crate::session) fn counted(&mut self, now: Instant, journey: u64, allowed: bool) {
        if self.awaited(journey).is_none() {
            return;
        }
        if allowed {
            self.draw(now);
        } else {
            let message = "too many lobbies were created from this address";
            self.fail(ErrorCode::RateLimited, message, Some(CREATE_RETRY_MS));
        }
    }

    pub(in crate::session) fn drawn(
        &mut self,
        now: Instant,
        journey: u64,
        drawn: Result<Drawn, NoNode>,
    ) {
        let Some(awaited) = self.awaited(journey) else {
            return;
        };
        let (name, public) = match &awaited.goal {
            Goal::Create { name, public } => (name.clone(), *public),
            _ => return,
        };
        match drawn {
            Ok(Drawn { code, born, node }) => {
                let request = Request::Create { born, name, public };
                self.ask_on_journey(now, Place::new(code, node), true, request);
            }
            Err(NoNode::Busy) => {
                let retry_after_ms = self.overview.status(None, false).retry_after_ms;
                self.fail(
                    ErrorCode::Busy,
                    "no server takes new tables just now",
                    retry_after_ms,
                );
            }
            Err(NoNode::Unavailable) => {
                self.fail_unavailable("new tables are not possible right now");
            }
        }
    }

    pub(in crate::session) fn listed(
        &mut self,
        now: Instant,
        journey: u64,
        listing: Result<Listing, RegistryAway>,
    ) {
        let Some(awaited) = self.awaited(journey) else {
            return;
        };
        match (listing, &mut awaited.goal) {
            (Ok(Listing { codes, turn }), Goal::QuickPlay { candidates, .. }) => {
                *candidates = codes;
                awaited.turn = turn;
                self.try_next(now);
            }
            _ => self.fail_unavailable("public tables can't be found just now"),
        }
    }

    pub(in crate::session) fn found(
        &mut self,
        now: Instant,
        journey: u64,
        whereabouts: Whereabouts,
    ) {
        let Some(awaited) = self.awaited(journey) else {
            return;
        };
        let Step::Looking {
            code: Some(code),
            fresh,
        } = awaited.step
        else {
            return;
        };
        let goal = awaited.goal.clone();
        let mine = self.place.as_ref().filter(|place| place.code == code);
        let request = goal.request(mine.and_then(Place::shown_seq));
        match (whereabouts, request) {
            (Whereabouts::At { node, epoch }, Some(request)) => {
                let mut place = Place::new(code, node);
                place.confirmed = epoch;
                self.ask_on_journey(now, place, fresh, request);
            }
            (Whereabouts::Alone, _) if matches!(goal, Goal::Return { .. }) => self.give_up(true),
            (Whereabouts::Unknown, _) => match goal {
                Goal::Return { .. } => {
                    // Whoever comes back later than a table has ended is told of no fault.
                    if self.place.is_some() {
                        self.table_lost();
                    }
                    self.forget_table();
                }
                Goal::QuickPlay { .. } => self.try_next(now),
                _ => self.fail(
                    ErrorCode::LobbyNotFound,
                    "there is no lobby with that code",
                    None,
                ),
            },
            _ => self.journey_unreachable(now),
        }
    }

    pub(in crate::session) fn journey_answered(
        &mut self,
        now: Instant,
        number: u64,
        outcome: Outcome,
    ) {
        if !self.journey_asks(number) {
            return self.abandoned_answered(number, &outcome);
        }
        let Some(journey) = &self.journey else {
            return;
        };
        let Step::Asking {
            place, corrected, ..
        } = &journey.step
        else {
            return;
        };
        match outcome {
            Outcome::Done => self.arrive(now, None),
            Outcome::Attached { taken } => self.arrive(now, Some(taken)),
            Outcome::Refused {
                code: ErrorCode::TakenOver,
                ..
            } => self.taken_over(),
            Outcome::Refused {
                code,
                message,
                retry_after_ms,
            } => {
                self.journey_refused(now, code, &message, retry_after_ms);
            }
            Outcome::NotOwner if matches!(journey.goal, Goal::Create { .. }) => {
                self.draw_again(now);
            }
            Outcome::NotOwner if *corrected => self.journey_unreachable(now),
            Outcome::NotOwner => self.look_for(now, place.code, true),
        }
    }

    pub(in crate::session) fn journey_refused(
        &mut self,
        now: Instant,
        code: ErrorCode,
        message: &str,
        retry_after_ms: Option<u32>,
    ) {
        let passing = matches!(code, ErrorCode::Busy | ErrorCode::Unavailable);
        match self.journey.as_ref().map(|journey| &journey.goal) {
            Some(Goal::Return { .. }) if passing => self.journey_unreachable(now),
            Some(Goal::Return { .. }) => self.forget_table(),
            Some(Goal::QuickPlay { .. }) => self.try_next(now),
            Some(Goal::Create { .. }) if passing && self.may_draw_again() => self.draw_again(now),
            Some(Goal::Leave) if code == ErrorCode::NotInLobby => {
                self.leave_place();
                self.fail(code, message, retry_after_ms);
            }
            _ => self.fail(code, message, retry_after_ms),
        }
    }

    /// Whether the journey waits for that answer.
    pub(in crate::session) fn journey_asks(&self, asked: u64) -> bool {
        let step = self.journey.as_ref().map(|journey| &journey.step);
        matches!(step, Some(Step::Asking { number, .. }) if *number == asked)
    }

    pub(in crate::session) fn awaited(&mut self, journey: u64) -> Option<&mut Journey> {
        let looking = |step: &Step| matches!(step, Step::Looking { .. });
        self.journey
            .as_mut()
            .filter(|one| one.number == journey && looking(&one.step))
    }
}
