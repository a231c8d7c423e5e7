//! The way to another table, to none, or back to one's own: several steps, one journey at a time.
//!
//! The present table stays the player's until the new one has answered `Done`; only
//! then is it left. So a refused journey costs nobody their seat.

mod answers;
mod arrival;

use std::time::{Duration, Instant};

use chassis::trace::TraceContext;
use protocol::link::Request;
use protocol::{LobbyCode, PlayerName};

use super::door::Effect;
use super::place::Place;
use super::{ANSWER_WITHIN, Session};
use crate::gathering::Turn;
use crate::outbox::Picture;

/// New lobbies that are tried: a code in use, or a node that has just become full.
const MAX_CREATE_TRIES: u32 = 4;
/// Public lobbies that quick play is told of at once.
pub(crate) const MAX_QUICK_PLAY_TRIES: usize = 4;
/// Public lobbies that quick play tries before it makes one whatever others there are: they fill
/// up while it looks.
const MAX_TRIED: usize = 16;
/// Between two tries to get back to a table; twice as long each time, up to the longest. Short,
/// because whoever looks for a table waits there for its new owner.
const RETRY_AFTER: Duration = Duration::from_millis(50);
const LONGEST_RETRY: Duration = Duration::from_millis(400);
/// A table that can't be reached for so long: the player shall try through another gateway, or,
/// having just come back, see that there is none. A stalled owner is relieved within 13 s, and
/// another one has to have answered then.
const TABLE_LOST_AFTER: Duration = Duration::from_secs(20);
/// Quick play does not wait longer for one of several public tables.
const CANDIDATE_WITHIN: Duration = Duration::from_millis(600);
/// Places given up for lost that are remembered: more than one is rare.
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
    /// When the player has an answer, however many steps it takes.
    due: Instant,
    tries: u32,
    /// A node has been asked to go on from the newest picture that the player was shown.
    attaches: bool,
    /// Of the message that began it.
    trace: TraceContext,
    /// A picture of the new table that came before the answer.
    early: Option<Picture>,
    /// Quick play makes a table, for which others wait.
    turn: Option<Turn>,
}

/// A place that was asked for and given up for lost. Its node takes the player for present once it
/// has done what was asked, whenever that is.
#[derive(Debug)]
pub(crate) struct Abandoned {
    number: u64,
    pub(super) place: Place,
    /// Whether the player sits or watches there now who did not before.
    is_new: bool,
    /// It has come after all.
    has_come: bool,
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
        tried: Vec<LobbyCode>,
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
            give_up_at: now + TABLE_LOST_AFTER,
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

    /// What the table's node is asked for; `shown` is what was last seen of that table.
    fn request(&self, shown: Option<u64>) -> Option<Request> {
        Some(match self {
            Self::Return { .. } => Request::Attach { shown },
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

    /// Whether its answer, when it comes after all, makes the player present somewhere.
    fn arrives(&self) -> bool {
        !matches!(self, Self::Leave)
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

    /// Gives the step that begins now its time.
    fn allow(&mut self, now: Instant) {
        self.deadline = match self.goal {
            // Nobody waits for an answer, and there is an end to the tries.
            Goal::Return { .. } => now + ANSWER_WITHIN,
            Goal::QuickPlay { .. } => self.due.min(now + CANDIDATE_WITHIN),
            _ => self.due,
        };
    }

    /// The table that it leads back to.
    pub(crate) fn returns_to(&self) -> Option<LobbyCode> {
        match self.goal {
            Goal::Return { code, .. } => Some(code),
            _ => None,
        }
    }

    /// Whether that table goes on with what an attach brings: all that has happened since the last picture that
    /// was shown. One that was on its way before would say a part of it twice.
    pub(crate) fn goes_on_with(&self, code: LobbyCode) -> bool {
        self.attaches && self.returns_to() == Some(code)
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
    pub(in crate::session) fn begin(&mut self, now: Instant, reply: Option<String>, goal: Goal) {
        self.last_journey += 1;
        let number = self.last_journey;
        let first = match &goal {
            Goal::Create { .. } => Some(Effect::CountCreate { journey: number }),
            Goal::QuickPlay { .. } => Some(Effect::ListPublic {
                journey: number,
                tried: Vec::new(),
            }),
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
        let due = now + ANSWER_WITHIN;
        self.journey = Some(Journey {
            number,
            reply,
            goal,
            step,
            deadline: due,
            due,
            tries: 0,
            attaches: false,
            trace: self.trace,
            early: None,
            turn: None,
        });
        self.effects.extend(first);
        if let Some((code, fresh)) = target {
            self.look_for(now, code, fresh);
        }
    }

    /// Leaving needs nothing to be looked for: the present table's node is asked.
    pub(in crate::session) fn begin_leaving(&mut self, now: Instant, reply: Option<String>) {
        if let Some(place) = self.place.clone() {
            self.begin(now, reply, Goal::Leave);
            self.ask_on_journey(now, place, false, Request::Leave);
        }
    }

    pub(in crate::session) fn look_for(&mut self, now: Instant, code: LobbyCode, fresh: bool) {
        let shown = self.shown_of(code);
        if let Some(journey) = &mut self.journey {
            journey.step = Step::Looking {
                code: Some(code),
                fresh,
            };
            journey.allow(now);
            self.effects.push(Effect::Find {
                journey: journey.number,
                code,
                home: journey.returns_to() == Some(code),
                fresh,
                shown,
                until: journey.deadline,
            });
        }
    }

    /// The newest picture of a table that was shown, if it is the player's.
    fn shown_of(&self, code: LobbyCode) -> (u64, u64) {
        let place = self.place.as_ref().filter(|place| place.code == code);
        place.map_or((0, 0), |place| place.shown)
    }

    pub(in crate::session) fn ask_on_journey(
        &mut self,
        now: Instant,
        place: Place,
        corrected: bool,
        request: Request,
    ) {
        if let Some(journey) = &self.journey {
            self.trace = journey.trace;
        }
        let attaches = matches!(request, Request::Attach { shown: Some(_) });
        let number = self.ask(place.node.clone(), place.code, request);
        if let Some(journey) = &mut self.journey {
            journey.attaches |= attaches;
            journey.step = Step::Asking {
                number,
                place,
                corrected,
            };
            journey.allow(now);
            journey.early = None;
        }
    }

    pub(in crate::session) fn draw(&mut self, now: Instant) {
        if let Some(journey) = &mut self.journey {
            journey.tries += 1;
            journey.step = Step::Looking {
                code: None,
                fresh: false,
            };
            journey.allow(now);
            self.effects.push(Effect::Draw {
                journey: journey.number,
            });
        }
    }

    pub(in crate::session) fn may_draw_again(&self) -> bool {
        self.journey
            .as_ref()
            .is_some_and(|journey| journey.tries < MAX_CREATE_TRIES)
    }

    /// The code was in use, or the node full.
    pub(in crate::session) fn draw_again(&mut self, now: Instant) {
        if self.may_draw_again() {
            self.draw(now);
        } else {
            self.fail_unavailable("no free code was found for a new table");
        }
    }

    /// Quick play: the next public lobby, others if there are any by now, or one of one's own.
    pub(in crate::session) fn try_next(&mut self, now: Instant) {
        let Some(journey) = &mut self.journey else {
            return;
        };
        let Goal::QuickPlay {
            name,
            candidates,
            tried,
        } = &mut journey.goal
        else {
            return;
        };
        if let Some(code) = candidates.pop() {
            tried.push(code);
            return self.look_for(now, code, false);
        }
        if journey.turn.is_none() && tried.len() < MAX_TRIED {
            let tried = tried.clone();
            journey.step = Step::Looking {
                code: None,
                fresh: false,
            };
            // Others may hold the turn: there is time for that.
            journey.deadline = journey.due;
            return self.effects.push(Effect::ListPublic {
                journey: journey.number,
                tried,
            });
        }
        journey.goal = Goal::Create {
            name: name.clone(),
            public: true,
        };
        journey.step = Step::Looking {
            code: None,
            fresh: false,
        };
        journey.allow(now);
        self.effects.push(Effect::CountCreate {
            journey: journey.number,
        });
    }

    pub(in crate::session) fn pause(&mut self, now: Instant) {
        if let Some(journey) = &mut self.journey {
            let factor = 1 << journey.tries.min(8);
            journey.tries += 1;
            journey.step = Step::Pausing;
            journey.deadline = now + (RETRY_AFTER * factor).min(LONGEST_RETRY);
        }
    }
}
