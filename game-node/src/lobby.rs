//! One table: who sits where, and the game they play.
//!
//! A machine with one door, [`Lobby::step`]. No await, clock, randomness, log, channel or socket
//! inside: time and chance come with the input, and what must happen comes out as effects. Timers
//! are data ([`Lobby::next_wake`]).
//!
//! Invariants, asserted after every step: seats are never removed or reordered while a game runs;
//! ids and names are unique; the host is a seated person; a refused input has changed nothing.

mod chance;
mod effect;
mod events;
mod input;
mod invariants;
mod people;
mod person;
mod place;
mod play;
mod refusal;
mod render;
mod requests;
mod save;
mod seating;
mod timers;
mod wizards;

#[cfg(test)]
mod scripts;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use protocol::lobby::LobbyStatus;
use protocol::name::PlayerName;
use protocol::{LobbyCode, PlayerId};
use rules::{Game, Options};

pub use chance::Chance;
use effect::Effects;
pub use effect::{Effect, SessionChange, SessionPlace};
use events::Events;
#[cfg(test)]
pub use input::Breaking;
pub use input::{Input, Surroundings, Wish};
pub use people::Absent;
use person::Person;
pub use person::{Connection, LinkId};
use place::{Occupant, Place};
use play::Play;
pub use play::Question;
pub use refusal::Refusal;
pub use save::InvalidSave;

/// How long somebody is away before the host's role passes on, their seat may be given to an AI,
/// or their place to watch from is free again.
pub const AWAY_GRACE: Duration = Duration::from_mins(1);

/// How fast the AI seats play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The least time of an AI's move (`AI_MOVE_DELAY`).
    pub ai_move_delay: Duration,
    /// How long a finished trick rests before an AI goes on (`TRICK_PAUSE`).
    pub trick_pause: Duration,
}

/// What a new lobby begins with.
#[derive(Clone, Debug)]
pub struct Founding {
    /// The code that its gateway drew.
    pub code: LobbyCode,
    /// Whether `quick_play` brings strangers.
    pub public: bool,
    /// What the host wants to be called.
    pub name: PlayerName,
    /// The host's wish; its request is the creation itself.
    pub wish: Wish,
}

/// One table; see the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Lobby {
    code: LobbyCode,
    pace: Pace,
    surroundings: Surroundings,
    /// The present ownership, for the links: a picture of a lower one is out of date.
    epoch: u64,
    /// Rises with every change; numbers what is saved and what is shown.
    seq: u64,
    public: bool,
    options: Options,
    /// By seat number.
    places: Vec<Place>,
    /// A seated person, for as long as there is one.
    host: PlayerId,
    stage: Stage,
    /// Games begun so far: tells a decision for an earlier one apart.
    games: u32,
    spectators: Vec<Person>,
    events: Events,
    /// Nobody is left; every further wish is refused.
    ended: bool,
    #[cfg(test)]
    breaks: Option<Breaking>,
}

#[derive(Clone, Debug, PartialEq)]
enum Stage {
    Waiting,
    Playing(Play),
    Finished(Game),
}

/// How many of what a lobby holds, for presence and health.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// People with a seat.
    pub players: u32,
    /// People with a seat or a place to watch from, here or away.
    pub sessions: u32,
    /// People who are here.
    pub connections: u32,
    /// 1 if a game runs.
    pub active_games: u32,
}

impl Census {
    /// This sum with one lobby's part of it changed.
    pub fn change(&mut self, before: Census, after: Census) {
        let change = |sum: &mut u32, before: u32, after: u32| *sum = *sum - before + after;
        change(&mut self.players, before.players, after.players);
        change(&mut self.sessions, before.sessions, after.sessions);
        change(&mut self.connections, before.connections, after.connections);
        change(
            &mut self.active_games,
            before.active_games,
            after.active_games,
        );
    }
}

impl Lobby {
    /// Seats the host at a new table. It is nobody's yet: [`Lobby::own`] comes next.
    pub fn found(
        now: Instant,
        founding: Founding,
        surroundings: Surroundings,
        pace: Pace,
    ) -> (Self, Vec<Effect>) {
        let Founding {
            code,
            public,
            name,
            wish,
        } = founding;
        let host = wish.person.player.clone();
        let mut lobby = Self {
            code,
            pace,
            surroundings,
            epoch: 0,
            seq: 0,
            public,
            options: Options::default(),
            places: Vec::new(),
            host,
            stage: Stage::Waiting,
            games: 0,
            spectators: Vec::new(),
            events: Events::default(),
            ended: false,
            #[cfg(test)]
            breaks: None,
        };
        let mut effects = Effects::default();
        lobby.sit_down(&wish, &name, &mut effects);
        effects.answer(&wish);
        lobby.settle(now, &mut effects);
        lobby.assert_invariants();
        (lobby, effects.list)
    }

    /// Makes this copy the owner's at an epoch whose newest saved state has this seq.
    pub fn own(&mut self, epoch: u64, saved_seq: u64) {
        self.epoch = epoch;
        // What is written next must be above what is there.
        self.seq = self.seq.max(saved_seq) + 1;
    }

    /// Makes the next state of the present one: what is written next must be above what is there.
    pub fn advance(&mut self) {
        self.seq += 1;
    }

    /// Takes one input and says what must happen now.
    ///
    /// # Errors
    /// A [`Refusal`] leaves the lobby exactly as it was.
    pub fn step(&mut self, now: Instant, input: Input) -> Result<Vec<Effect>, Refusal> {
        let mut effects = Effects::default();
        if self.ended {
            return match input {
                Input::Ask { .. } => Err(Refusal::lobby_not_found()),
                _ => Ok(Vec::new()),
            };
        }
        match input {
            Input::Ask {
                wish,
                chance,
                may_start,
            } => {
                self.ask(now, &wish, &chance, may_start, &mut effects)?;
            }
            Input::Detach(connection) => self.detach(now, connection, &mut effects),
            Input::LinkLost(link) => self.link_lost(now, link, &mut effects),
            Input::Decision {
                game,
                turn,
                action,
                chance,
            } => {
                self.decided(now, game, turn, action, &chance, &mut effects);
            }
            Input::Wake(chance) => self.wake(now, &chance, &mut effects),
            Input::Gone { player, chance } => self.gone(&player, &chance, &mut effects),
            Input::Surroundings(surroundings) => {
                effects.changed |= self.surroundings != surroundings;
                self.surroundings = surroundings;
            }
            #[cfg(test)]
            Input::Break(Breaking::Step) => {
                self.seq += 1000;
                panic!("a lobby breaks");
            }
            #[cfg(test)]
            Input::Break(later) => self.breaks = Some(later),
        }
        self.settle(now, &mut effects);
        if effects.changed {
            self.seq += 1;
        }
        self.assert_invariants();
        Ok(effects.list)
    }

    /// When the lobby wants an [`Input::Wake`], if nothing comes before.
    pub fn next_wake(&self) -> Option<Instant> {
        if self.ended {
            None
        } else {
            self.timers().min()
        }
    }

    /// Its code.
    pub fn code(&self) -> LobbyCode {
        self.code
    }

    /// The number of the newest state.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The ownership at which this copy may write.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether nobody is left.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Where it is in its life.
    pub fn status(&self) -> LobbyStatus {
        match self.stage {
            Stage::Waiting => LobbyStatus::Waiting,
            Stage::Playing(_) => LobbyStatus::Playing,
            Stage::Finished(_) => LobbyStatus::Finished,
        }
    }

    /// Whether `quick_play` may bring somebody here now.
    pub fn welcomes_strangers(&self) -> bool {
        self.public && !self.ended && self.status() == LobbyStatus::Waiting && self.has_free_seat()
    }

    /// Everything that follows from a change, whichever it was.
    fn settle(&mut self, now: Instant, effects: &mut Effects) {
        if !self.places.iter().any(Place::is_person) {
            self.end(effects);
            return;
        }
        self.pass_host_on(effects);
        self.ask_ai(now, effects);
    }
}
