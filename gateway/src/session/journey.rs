//! The way to another table, to none, or back to one's own: several steps, one journey at a time.
//!
//! The present table stays the player's until the new one has answered [`Outcome::Done`]; only
//! then is it left. So a refused journey costs nobody their seat.

use std::time::{Duration, Instant};

use protocol::link::{Outcome, Request};
use protocol::{CloseCode, ErrorCode, LobbyCode, PlayerName};

use super::door::{Drawn, Effect, NoNode, RegistryAway, SessionRecord, Whereabouts};
use super::place::Place;
use super::{ANSWER_WITHIN, Phase, Session};
use crate::outbox::Picture;

/// New lobbies that are tried: a code in use, or a node that has just become full.
const MAX_CREATE_TRIES: u32 = 4;
/// Public lobbies that quick play tries before it makes one: they fill up while it looks.
pub(crate) const MAX_QUICK_PLAY_TRIES: usize = 4;
/// Between two tries to get back to a table; twice as long each time, up to the longest.
const RETRY_AFTER: Duration = Duration::from_millis(250);
const LONGEST_RETRY: Duration = Duration::from_secs(1);
/// A table that was there and can't be reached for so long: the player shall try through another
/// gateway.
const TABLE_LOST_AFTER: Duration = Duration::from_secs(10);
/// A player who comes back is not held up longer than this by a table that does not answer.
const RETURN_WITHIN: Duration = Duration::from_secs(5);
/// Seats given up for lost that are remembered: more than one is rare.
pub(crate) const MAX_ABANDONED: usize = 8;
/// `LOBBY_CREATE_RATE` counts by the minute.
const CREATE_RETRY_MS: u32 = 60_000;

/// One journey.
#[derive(Debug)]
pub(crate) struct Journey {
    /// Tells its answers from those of an earlier one.
    number: u64,
    /// The `id` of the message that began it.
    reply: Option<String>,
    goal: Goal,
    step: Step,
    /// When the present step has taken too long, or the pause is over.
    pub(crate) deadline: Instant,
    tries: u32,
    /// A picture of the new table that came before the answer.
    early: Option<Picture>,
}

/// Where a journey goes.
#[derive(Clone, Debug)]
pub(crate) enum Goal {
    /// Back to a table: after `hello`, or because its node is lost.
    Return {
        code: LobbyCode,
        give_up_at: Instant,
        was_there: bool,
    },
    /// To a new table.
    Create { name: PlayerName, public: bool },
    /// To a seat at somebody's table.
    Join { code: LobbyCode, name: PlayerName },
    /// To a place to watch from.
    Watch { code: LobbyCode },
    /// To any public table; the candidates are tried from the end.
    QuickPlay {
        name: PlayerName,
        candidates: Vec<LobbyCode>,
    },
    /// To no table.
    Leave,
}

#[derive(Debug)]
enum Step {
    /// The registry, or chance, is asked.
    Looking {
        code: Option<LobbyCode>,
        fresh: bool,
    },
    /// A node is asked.
    Asking {
        number: u64,
        place: Place,
        corrected: bool,
    },
    /// Nothing; then the table is looked for anew.
    Pausing,
}

impl Goal {
    /// Back to the table that the player's session names.
    pub(crate) fn returning_to(now: Instant, code: LobbyCode) -> Self {
        Self::Return {
            code,
            give_up_at: now + RETURN_WITHIN,
            was_there: false,
        }
    }

    /// Back to the table that the player was at until now.
    pub(crate) fn going_back_to(now: Instant, code: LobbyCode) -> Self {
        Self::Return {
            code,
            give_up_at: now + TABLE_LOST_AFTER,
            was_there: true,
        }
    }

    fn request(&self) -> Option<Request> {
        Some(match self {
            Self::Return { .. } => Request::Attach,
            Self::Join { name, .. } => Request::Join {
                name: name.clone(),
                only_if_public: false,
            },
            Self::QuickPlay { name, .. } => Request::Join {
                name: name.clone(),
                only_if_public: true,
            },
            Self::Watch { .. } => Request::Watch,
            Self::Leave => Request::Leave,
            // Its request needs what chance has drawn.
            Self::Create { .. } => return None,
        })
    }

    /// Whether the answer, when it comes after all, seats the player somewhere.
    fn seats(&self) -> bool {
        !matches!(self, Self::Return { .. } | Self::Leave)
    }
}

impl Journey {
    /// The table that a node is being asked for.
    pub(crate) fn asked(&self) -> Option<Place> {
        match &self.step {
            Step::Asking { place, .. } => Some(place.clone()),
            _ => None,
        }
    }

    /// Whether it tries to get back to a table and has failed before.
    pub(crate) fn is_retry(&self) -> bool {
        matches!(self.goal, Goal::Return { .. }) && self.tries > 0
    }

    /// Keeps a picture of the table that is being asked for until the answer is there.
    pub(crate) fn keep(&mut self, picture: Picture) {
        let Step::Asking { place, .. } = &self.step else {
            return;
        };
        if place.code == picture.code() {
            self.early = Some(match self.early.take() {
                Some(earlier) => picture.after(&earlier),
                None => picture,
            });
        }
    }
}

impl Session {
    pub(super) fn begin(&mut self, now: Instant, reply: Option<String>, goal: Goal) {
        self.last_journey += 1;
        let number = self.last_journey;
        let first = match &goal {
            Goal::Create { .. } => Some(Effect::CountCreate { journey: number }),
            Goal::QuickPlay { .. } => Some(Effect::ListPublic { journey: number }),
            Goal::Return { .. } | Goal::Join { .. } | Goal::Watch { .. } | Goal::Leave => None,
        };
        let target = match goal {
            // After a loss, what was found before is in doubt.
            Goal::Return {
                code, was_there, ..
            } => Some((code, was_there)),
            Goal::Join { code, .. } | Goal::Watch { code } => Some((code, false)),
            Goal::Create { .. } | Goal::QuickPlay { .. } | Goal::Leave => None,
        };
        let step = Step::Looking {
            code: None,
            fresh: false,
        };
        let deadline = now + ANSWER_WITHIN;
        self.journey = Some(Journey {
            number,
            reply,
            goal,
            step,
            deadline,
            tries: 0,
            early: None,
        });
        self.effects.extend(first);
        if let Some((code, fresh)) = target {
            self.look_for(now, code, fresh);
        }
    }

    /// Leaving needs nothing to be looked for: the present table's node is asked.
    pub(super) fn begin_leaving(&mut self, now: Instant, reply: Option<String>) {
        if let Some(place) = self.place.clone() {
            self.begin(now, reply, Goal::Leave);
            self.ask_on_journey(now, place, false, Request::Leave);
        }
    }

    pub(super) fn counted(
        &mut self,
        now: Instant,
        journey: u64,
        allowed: Result<bool, RegistryAway>,
    ) {
        if self.awaited(journey).is_none() {
            return;
        }
        match allowed {
            Ok(true) => self.draw(now),
            Ok(false) => {
                let message = "too many lobbies were created from this address";
                self.fail(ErrorCode::RateLimited, message, Some(CREATE_RETRY_MS));
            }
            Err(RegistryAway) => self.fail_unavailable("new tables are not possible right now"),
        }
    }

    pub(super) fn drawn(&mut self, now: Instant, journey: u64, drawn: Result<Drawn, NoNode>) {
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

    pub(super) fn listed(
        &mut self,
        now: Instant,
        journey: u64,
        codes: Result<Vec<LobbyCode>, RegistryAway>,
    ) {
        let Some(awaited) = self.awaited(journey) else {
            return;
        };
        match (codes, &mut awaited.goal) {
            (Ok(codes), Goal::QuickPlay { candidates, .. }) => {
                *candidates = codes;
                candidates.truncate(MAX_QUICK_PLAY_TRIES);
                self.try_next(now);
            }
            _ => self.fail_unavailable("public tables can't be found just now"),
        }
    }

    pub(super) fn found(&mut self, now: Instant, journey: u64, whereabouts: Whereabouts) {
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
        let (goal, request) = (awaited.goal.clone(), awaited.goal.request());
        match (whereabouts, request) {
            (Whereabouts::At(node), Some(request)) => {
                self.ask_on_journey(now, Place::new(code, node), fresh, request);
            }
            (Whereabouts::Unknown, _) => match goal {
                Goal::Return { .. } => self.forget_table(),
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

    pub(super) fn journey_answered(&mut self, now: Instant, number: u64, outcome: Outcome) {
        if !self.journey_asks(number) {
            return self.abandoned_answered(now, number, &outcome);
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
            Outcome::Done => self.arrive(now),
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

    fn journey_refused(
        &mut self,
        now: Instant,
        code: ErrorCode,
        message: &str,
        retry_after_ms: Option<u32>,
    ) {
        let passing = matches!(code, ErrorCode::Busy | ErrorCode::Unavailable);
        match self.journey.as_ref().map(|journey| &journey.goal) {
            Some(Goal::Return { .. }) if code == ErrorCode::TakenOver => self.taken_over(),
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

    /// The node has said yes: the new table is the player's, and the old one is left.
    fn arrive(&mut self, now: Instant) {
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
            Some(old) if old.code == place.code => place.shown = old.shown,
            Some(old) => self.leave_silently(now, old),
            None => {}
        }
        self.place = Some(place);
        if let Some(early) = journey.early {
            self.show(early);
        }
    }

    /// A seat that was given up for lost came after all.
    fn abandoned_answered(&mut self, now: Instant, number: u64, outcome: &Outcome) {
        let Some(index) = self
            .abandoned
            .iter()
            .position(|(asked, _)| *asked == number)
        else {
            return;
        };
        let Some((_, place)) = self.abandoned.remove(index) else {
            return;
        };
        let wanted = self
            .place
            .as_ref()
            .is_some_and(|present| present.code == place.code);
        if *outcome == Outcome::Done && !wanted {
            self.leave_silently(now, place);
        }
    }

    pub(super) fn expire_journey(&mut self, now: Instant) {
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
                if goal.seats() {
                    self.abandoned.push_back((*number, place.clone()));
                    let surplus = self.abandoned.len().saturating_sub(MAX_ABANDONED);
                    self.abandoned.drain(..surplus);
                }
                self.journey_unreachable(now);
            }
            _ => self.journey_unreachable(now),
        }
    }

    /// The node that was asked can't be reached, or nobody knows whom to ask.
    pub(super) fn journey_unreachable(&mut self, now: Instant) {
        match self.journey.as_ref().map(|journey| &journey.goal) {
            Some(&Goal::Return {
                give_up_at,
                was_there,
                ..
            }) if now >= give_up_at => {
                self.give_up(was_there);
            }
            Some(Goal::Return { .. }) => self.pause(now),
            Some(Goal::QuickPlay { .. }) => self.try_next(now),
            Some(_) => self.fail_unavailable("the table's server can't be reached just now"),
            None => {}
        }
    }

    /// Whether the journey waits for that answer.
    pub(super) fn journey_asks(&self, asked: u64) -> bool {
        let step = self.journey.as_ref().map(|journey| &journey.step);
        matches!(step, Some(Step::Asking { number, .. }) if *number == asked)
    }

    fn awaited(&mut self, journey: u64) -> Option<&mut Journey> {
        let looking = |step: &Step| matches!(step, Step::Looking { .. });
        self.journey
            .as_mut()
            .filter(|one| one.number == journey && looking(&one.step))
    }

    fn look_for(&mut self, now: Instant, code: LobbyCode, fresh: bool) {
        if let Some(journey) = &mut self.journey {
            journey.step = Step::Looking {
                code: Some(code),
                fresh,
            };
            journey.deadline = now + ANSWER_WITHIN;
            self.effects.push(Effect::Find {
                journey: journey.number,
                code,
                fresh,
            });
        }
    }

    fn ask_on_journey(&mut self, now: Instant, place: Place, corrected: bool, request: Request) {
        let number = self.ask(place.node.clone(), place.code, request);
        if let Some(journey) = &mut self.journey {
            journey.step = Step::Asking {
                number,
                place,
                corrected,
            };
            journey.deadline = now + ANSWER_WITHIN;
            journey.early = None;
        }
    }

    fn draw(&mut self, now: Instant) {
        if let Some(journey) = &mut self.journey {
            journey.tries += 1;
            journey.step = Step::Looking {
                code: None,
                fresh: false,
            };
            journey.deadline = now + ANSWER_WITHIN;
            self.effects.push(Effect::Draw {
                journey: journey.number,
            });
        }
    }

    fn may_draw_again(&self) -> bool {
        self.journey
            .as_ref()
            .is_some_and(|journey| journey.tries < MAX_CREATE_TRIES)
    }

    /// The code was in use, or the node full.
    fn draw_again(&mut self, now: Instant) {
        if self.may_draw_again() {
            self.draw(now);
        } else {
            self.fail_unavailable("no free code was found for a new table");
        }
    }

    /// Quick play: the next public lobby, or one of one's own.
    fn try_next(&mut self, now: Instant) {
        let Some(journey) = &mut self.journey else {
            return;
        };
        let Goal::QuickPlay { name, candidates } = &mut journey.goal else {
            return;
        };
        if let Some(code) = candidates.pop() {
            return self.look_for(now, code, false);
        }
        journey.goal = Goal::Create {
            name: name.clone(),
            public: true,
        };
        journey.step = Step::Looking {
            code: None,
            fresh: false,
        };
        journey.deadline = now + ANSWER_WITHIN;
        self.effects.push(Effect::CountCreate {
            journey: journey.number,
        });
    }

    fn pause(&mut self, now: Instant) {
        if let Some(journey) = &mut self.journey {
            let factor = 1 << journey.tries.min(8);
            journey.tries += 1;
            journey.step = Step::Pausing;
            journey.deadline = now + (RETRY_AFTER * factor).min(LONGEST_RETRY);
        }
    }

    /// The way back has taken too long.
    fn give_up(&mut self, was_there: bool) {
        self.journey = None;
        if was_there {
            self.unavailable(
                None,
                "the table's server can't be reached: trying another way",
            );
            self.close(CloseCode::Restart);
        } else {
            // The session still names the table: whoever comes back later may find it.
            self.effects.push(Effect::ShowNothing);
        }
    }

    /// There is nothing to go back to.
    fn forget_table(&mut self) {
        self.journey = None;
        self.leave_place();
        if let Phase::Inside { person, name } = &self.phase {
            let record = SessionRecord {
                person: person.clone(),
                name: name.clone(),
                lobby: None,
            };
            self.effects.push(Effect::ForgetLobby(record));
        }
    }

    fn fail(&mut self, code: ErrorCode, message: &str, retry_after_ms: Option<u32>) {
        if let Some(journey) = self.journey.take() {
            self.refuse_until(journey.reply, code, message, retry_after_ms);
        }
    }

    fn fail_unavailable(&mut self, message: &str) {
        if let Some(journey) = self.journey.take() {
            self.unavailable(journey.reply, message);
        }
    }
}
