//! One lobby at this node, with everything that the driver keeps beside it.

use std::time::{Duration, Instant};

use bytes::Bytes;
use chassis::trace::TraceContext;
use protocol::LobbyCode;
use protocol::link::{Outcome, Parting, Show};
use registry::{Born, Delete, Epoch};
use rules::Seat;
use tokio_util::time::DelayQueue;
use tokio_util::time::delay_queue::Key;

use super::asks::Asked;
use super::now;
use super::spans::MAX_TRACES;
use crate::custody::{Doubt, Giving};
use crate::lobby::{Census, Connection, Effect, Input, LinkId, Lobby, SessionChange};

/// See the module.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is true or not whatever the others are"
)]
pub(super) struct Table {
    pub(super) lobby: Lobby,
    pub(super) born: Born,
    /// What leaves once everything before is committed.
    pub(super) outgoing: Vec<Outgoing>,
    /// How much of that, from the front, is of what is saved below: a commit of it has failed.
    returned: usize,
    /// What is written of sessions with the next commit: of each person the newest.
    pub(super) sessions: Vec<SessionChange>,
    /// The seq of the newest state that was given to a commit.
    pub(super) formed: u64,
    /// The newest state that is known to be saved.
    pub(super) committed: u64,
    /// A commit of this lobby is under way.
    pub(super) in_flight: bool,
    /// The registry has lost it or an older one: it is to be written anew, changed or not.
    pub(super) is_behind: bool,
    /// A player's wish was done here since this node owns it: the registry then counts no claims.
    pub(super) has_accepted_input: bool,
    /// What the newest commit saves: where the lobby goes on from after a fault.
    pub(super) saved: Bytes,
    /// The seq of the newest picture that was made.
    pub(super) pictured: u64,
    /// It was shown without being saved, and is not saved yet.
    pub(super) is_uncommitted: bool,
    /// Whether another may own it by now.
    pub(super) doubt: Doubt,
    /// Whether it is being given up.
    pub(super) giving: Giving,
    /// What has come since it was frozen and is not a wish: done should the lobby stay.
    postponed: Vec<Input>,
    /// Who wants a game started that starts elsewhere.
    pub(super) starting: Vec<Asked>,
    /// When it was taken over.
    pub(super) since: Option<Instant>,
    pub(super) last_fault: Option<Instant>,
    pub(super) timer: Option<Timer>,
    pub(super) census: Census,
    /// Whether quick play finds it.
    pub(super) is_listed: bool,
    /// The steps since the last commit was formed, each where it is in its trace.
    pub(super) traces: Vec<TraceContext>,
    /// The newest decision of an AI that has not been carried out.
    pub(super) decision: TraceContext,
}

pub(super) struct Timer {
    pub(super) key: Key,
    at: Instant,
}

/// What leaves a lobby for outside.
#[derive(Debug)]
pub(super) enum Outgoing {
    /// What everybody of one link sees.
    Show {
        link: LinkId,
        show: Box<Show>,
    },
    Answer {
        asked: Asked,
        outcome: Outcome,
    },
    Parted {
        to: Connection,
        reason: Parting,
    },
    Decide {
        game: u32,
        turn: u32,
        trace: TraceContext,
    },
}

impl Table {
    /// A lobby whose state with this seq is saved.
    pub(super) fn new(
        lobby: Lobby,
        born: Born,
        saved: Bytes,
        committed: u64,
        doubt: Doubt,
    ) -> Self {
        Self {
            lobby,
            born,
            outgoing: Vec::new(),
            returned: 0,
            sessions: Vec::new(),
            formed: committed,
            committed,
            in_flight: false,
            is_behind: false,
            has_accepted_input: true,
            saved,
            pictured: committed,
            is_uncommitted: false,
            doubt,
            giving: Giving::default(),
            postponed: Vec::new(),
            starting: Vec::new(),
            since: None,
            last_fault: None,
            timer: None,
            census: Census::default(),
            is_listed: false,
            traces: Vec::new(),
            decision: TraceContext::NONE,
        }
    }

    /// A lobby of another owner before, which may be what has ended that one.
    pub(super) fn taken_over(
        lobby: Lobby,
        born: Born,
        saved: Bytes,
        committed: u64,
        doubt: Doubt,
        now: Instant,
    ) -> Self {
        Self {
            has_accepted_input: false,
            since: Some(now),
            ..Self::new(lobby, born, saved, committed, doubt)
        }
    }

    /// Keeps a step's effects until they may leave.
    pub(super) fn take_in(
        &mut self,
        effects: Vec<Effect>,
        asked: Option<&Asked>,
        trace: TraceContext,
    ) {
        if !trace.is_none() && self.traces.len() < MAX_TRACES {
            self.traces.push(trace);
        }
        for effect in effects {
            match effect {
                Effect::Answer { taken, .. } => {
                    let answer = |asked: &Asked| Outgoing::Answer {
                        asked: asked.clone(),
                        outcome: taken.map_or(Outcome::Done, |taken| Outcome::Attached { taken }),
                    };
                    self.outgoing.extend(asked.map(answer));
                }
                Effect::Parted { to, reason } => {
                    self.outgoing.push(Outgoing::Parted { to, reason });
                }
                Effect::Decide { game, turn } => {
                    self.outgoing.push(Outgoing::Decide { game, turn, trace });
                }
                Effect::Session(change) => self.session_says(change),
                // That it has ended, the lobby itself says.
                Effect::End => {}
            }
        }
    }

    /// Keeps what a session must say until it is written.
    pub(super) fn session_says(&mut self, change: SessionChange) {
        let is_theirs = |earlier: &SessionChange| earlier.token == change.token;
        let change = match self.sessions.iter().position(is_theirs) {
            Some(place) => change.after(self.sessions.swap_remove(place)),
            None => change,
        };
        self.sessions.push(change);
    }

    /// What could not be written of a session is written with the next commit, unless it says something newer by now.
    pub(super) fn session_still_says(&mut self, change: SessionChange) {
        let is_theirs = |newer: &SessionChange| newer.token == change.token;
        match self.sessions.iter().position(is_theirs) {
            Some(place) => {
                let newer = self.sessions.swap_remove(place);
                self.sessions.push(newer.after(change));
            }
            None => self.sessions.push(change),
        }
    }

    /// The sessions of all people are written anew, whatever the registry has of them; not of those
    /// whose session has ended meanwhile.
    pub(super) fn write_sessions_anew(&mut self, session_ttl: Duration) {
        for change in self.lobby.sessions(now(), session_ttl) {
            self.session_says(change);
        }
    }

    /// What leaves now, or with the commit that is formed.
    pub(super) fn take_outgoing(&mut self) -> Vec<Outgoing> {
        self.returned = 0;
        std::mem::take(&mut self.outgoing)
    }

    /// What could not leave with its commit waits for the next one, before what has come since.
    pub(super) fn put_back(&mut self, outgoing: Vec<Outgoing>) {
        self.returned += outgoing.len();
        self.outgoing.splice(0..0, outgoing);
    }

    /// What waits and is of nothing that is saved.
    pub(super) fn take_undone(&mut self) -> Vec<Outgoing> {
        self.outgoing.split_off(self.returned)
    }

    /// Keeps an input until it is known whether the lobby stays. What says nothing new about the same
    /// is kept once, and what is of nobody here not at all: no more waits than there are people.
    pub(super) fn postpone(&mut self, input: Input) {
        if let Input::Detach(connection) = input
            && !self.lobby.connections().any(|known| known == connection)
        {
            return;
        }
        self.postponed.retain(|earlier| !replaces(&input, earlier));
        self.postponed.push(input);
    }

    /// What was kept, in order.
    pub(super) fn take_postponed(&mut self) -> Vec<Input> {
        std::mem::take(&mut self.postponed)
    }

    /// Which seat a step is about, for its trace.
    pub(super) fn seat_of(&self, input: &Input, asked: Option<&Asked>) -> Option<Seat> {
        match (input, asked) {
            (Input::Ask { wish, .. }, Some(_)) => self.lobby.seat_of(&wish.person.player),
            _ => self.lobby.to_act(),
        }
    }

    /// Makes the newest picture, unless it is made or an earlier one still waits: then that comes
    /// first, and this one once it has left.
    pub(super) fn picture(&mut self, now: Instant) {
        let mut outgoing = self.outgoing.iter();
        let waits = outgoing.any(|outgoing| matches!(outgoing, Outgoing::Show { .. }));
        if waits || self.lobby.seq() <= self.pictured {
            return;
        }
        let shows = self.lobby.show(now).into_iter();
        self.pictured = self.lobby.seq();
        self.outgoing
            .extend(shows.map(|(link, show)| Outgoing::Show {
                link,
                show: Box::new(show),
            }));
    }

    /// Whether the registry does not have the newest state, nor will have by what is under way.
    pub(super) fn wants_writing(&self) -> bool {
        self.lobby.seq() > self.formed || self.is_behind || !self.sessions.is_empty()
    }

    /// Whether the registry is asked about it: not once it has ended or is being released.
    pub(super) fn is_touched(&self) -> bool {
        !self.lobby.has_ended() && !self.giving.is_frozen()
    }

    /// Whether something may leave at once.
    pub(super) fn is_clean(&self) -> bool {
        !self.in_flight && !self.wants_writing()
    }

    pub(super) fn delete(&self, code: LobbyCode) -> Delete {
        Delete {
            code: code.to_string(),
            born: self.born,
            epoch: Epoch(self.lobby.epoch()),
        }
    }

    /// Sets the timer to what the lobby wants.
    pub(super) fn set_timer(&mut self, code: LobbyCode, timers: &mut DelayQueue<LobbyCode>) {
        let at = self.lobby.next_wake();
        match (&mut self.timer, at) {
            (Some(timer), Some(at)) if timer.at == at => {}
            (Some(timer), Some(at)) => {
                timers.reset_at(&timer.key, at.into());
                timer.at = at;
            }
            (Some(timer), None) => {
                timers.try_remove(&timer.key);
                self.timer = None;
            }
            (None, Some(at)) => {
                self.timer = Some(Timer {
                    key: timers.insert_at(code, at.into()),
                    at,
                });
            }
            (None, None) => {}
        }
    }
}

/// Whether of two inputs only the later one counts.
fn replaces(later: &Input, earlier: &Input) -> bool {
    match (later, earlier) {
        (Input::Detach(later), Input::Detach(earlier)) => later == earlier,
        (Input::LinkLost(later), Input::LinkLost(earlier)) => later == earlier,
        (
            Input::Gone { player: later, .. },
            Input::Gone {
                player: earlier, ..
            },
        ) => later == earlier,
        _ => std::mem::discriminant(later) == std::mem::discriminant(earlier),
    }
}
