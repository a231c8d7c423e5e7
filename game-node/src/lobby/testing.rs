//! A table for tests: people by number, a clock that moves when it is told to, chance by counting.

use std::time::{Duration, Instant};

use protocol::link::{Person, Request, Show};
use protocol::{ConnectionId, ErrorCode, LobbyCode, PlayerId, PlayerName};
use rules::Action;

use super::{
    Chance, Connection, Effect, Founding, Input, LinkId, Lobby, Pace, Stage, Surroundings, Wish,
};

pub(crate) const PACE: Pace = Pace {
    ai_move_delay: Duration::from_millis(800),
    trick_pause: Duration::from_millis(1800),
};

pub(crate) fn code() -> LobbyCode {
    "TABLE2".parse().unwrap()
}

pub(crate) fn name(text: &str) -> PlayerName {
    text.parse().unwrap()
}

/// The person of this number, by their newest `hello`.
pub(crate) fn person(number: u8, generation: u64) -> Person {
    Person {
        player: id(number),
        token: format!("{number:02x}").repeat(32).parse().unwrap(),
        generation,
    }
}

pub(crate) fn id(number: u8) -> PlayerId {
    PlayerId::person([number; 6])
}

/// Everybody comes by one gateway; each `hello` is a connection of its own.
pub(crate) fn connection(number: u8, generation: u64) -> Connection {
    Connection {
        link: LinkId(1),
        id: ConnectionId(u64::from(number) * 1000 + generation),
    }
}

pub(crate) fn join(text: &str) -> Request {
    Request::Join {
        name: name(text),
        only_if_public: false,
    }
}

pub(crate) fn chance(number: u32) -> Chance {
    let mut seed = [0; 32];
    seed[..4].copy_from_slice(&number.to_be_bytes());
    Chance {
        seed,
        ai_id: number.to_be_bytes(),
        pick: number.wrapping_mul(0x9e37_79b9),
    }
}

pub(crate) struct Table {
    pub(crate) lobby: Lobby,
    pub(crate) now: Instant,
    pub(crate) may_start: bool,
    asked: u32,
}

impl Table {
    /// Person 0, called Host, alone.
    pub(crate) fn new() -> Self {
        let now = chassis::clock::now();
        let born = "0123456789abcdef".to_owned();
        let wish = Wish {
            person: person(0, 1),
            connection: connection(0, 1),
            number: 0,
            request: Request::Create {
                born,
                name: name("Host"),
                public: true,
            },
        };
        let founding = Founding {
            code: code(),
            public: true,
            name: name("Host"),
            wish,
        };
        let surroundings = Surroundings {
            ai_available: true,
            accepting_games: true,
            saved: true,
        };
        let (mut lobby, _) = Lobby::found(now, founding, surroundings, PACE);
        lobby.own(5, 100);
        Self {
            lobby,
            now,
            may_start: true,
            asked: 0,
        }
    }

    pub(crate) fn wish(&mut self, number: u8, generation: u64, request: Request) -> Wish {
        self.asked += 1;
        Wish {
            person: person(number, generation),
            connection: connection(number, generation),
            number: self.asked.into(),
            request,
        }
    }

    pub(crate) fn step(&mut self, input: Input) -> Result<Vec<Effect>, ErrorCode> {
        let before = self.lobby.clone();
        let result = self
            .lobby
            .step(self.now, input)
            .map_err(|refusal| refusal.code);
        if result.is_err() {
            assert_eq!(self.lobby, before, "a refusal changes nothing");
        }
        result
    }

    pub(crate) fn hears(&mut self, wish: Wish) -> Result<Vec<Effect>, ErrorCode> {
        let chance = self.chance();
        let may_start = self.may_start;
        self.step(Input::Ask {
            wish,
            chance,
            may_start,
        })
    }

    /// What comes of a wish.
    pub(crate) fn asks(&mut self, number: u8, request: Request) -> Result<Vec<Effect>, ErrorCode> {
        let wish = self.wish(number, 1, request);
        self.hears(wish)
    }

    /// A wish that is granted.
    pub(crate) fn does(&mut self, number: u8, request: Request) -> Vec<Effect> {
        let shown = format!("{request:?}");
        self.asks(number, request)
            .unwrap_or_else(|code| panic!("{shown}: {code}"))
    }

    /// A wish that is not.
    pub(crate) fn refused(&mut self, number: u8, request: Request) -> ErrorCode {
        let shown = format!("{request:?}");
        self.asks(number, request).expect_err(&shown)
    }

    pub(crate) fn chance(&mut self) -> Chance {
        self.asked += 1;
        chance(self.asked)
    }

    pub(crate) fn goes_offline(&mut self, number: u8) {
        self.step(Input::Detach(connection(number, 1))).unwrap();
    }

    /// Time passes, and the lobby is woken whenever it wants to be.
    pub(crate) fn wait(&mut self, time: Duration) -> Vec<Effect> {
        let until = self.now + time;
        let mut effects = Vec::new();
        while let Some(wake) = self.lobby.next_wake().filter(|wake| *wake <= until) {
            self.now = self.now.max(wake);
            let chance = self.chance();
            effects.extend(self.step(Input::Wake(chance)).unwrap());
        }
        self.now = until;
        effects
    }

    pub(crate) fn game(&self) -> &rules::Game {
        match &self.lobby.stage {
            Stage::Playing(play) => &play.game,
            Stage::Finished(game) => game,
            Stage::Waiting => panic!("no game"),
        }
    }

    pub(crate) fn to_act(&self) -> u8 {
        self.game().to_act().expect("a running game").into()
    }

    /// Person or AI, whoever is to act makes some legal move.
    pub(crate) fn moves(&mut self) -> Result<Vec<Effect>, ErrorCode> {
        let seat = self.game().to_act().expect("a running game");
        let action = self.game().legal_actions(seat)[0];
        match self.lobby.places[seat.index()].person() {
            Some(person) => {
                let number = u8::from_str_radix(&person.player.as_str()[..2], 16).unwrap();
                self.asks(number, Request::Act { action, turn: None })
            }
            None => self.ai_moves(Some(action)),
        }
    }

    /// The AI that is asked answers, and its time comes.
    pub(crate) fn ai_moves(&mut self, action: Option<Action>) -> Result<Vec<Effect>, ErrorCode> {
        let (game, turn) = (self.lobby.games, self.game().turn());
        let chance = self.chance();
        let mut effects = self.step(Input::Decision {
            game,
            turn,
            action,
            chance,
        })?;
        if let Some(wake) = self.lobby.next_wake() {
            effects.extend(self.wait(wake.saturating_duration_since(self.now)));
        }
        Ok(effects)
    }

    /// Everybody plays on until the game has finished.
    pub(crate) fn play_to_the_end(&mut self) {
        while matches!(self.lobby.stage, Stage::Playing(_)) {
            self.moves().unwrap();
        }
    }

    pub(crate) fn show(&mut self) -> Vec<Show> {
        self.lobby
            .show(self.now)
            .into_iter()
            .map(|(_, show)| show)
            .collect()
    }

    /// The one picture of everybody, once all have seen the same before.
    pub(crate) fn shows_all(&mut self) -> Show {
        self.show();
        self.show().remove(0)
    }

    /// The lobby as everybody sees it.
    pub(crate) fn view(&mut self) -> protocol::lobby::LobbyView {
        let show = self.lobby.clone().show(self.now).remove(0).1;
        serde_json::from_slice(show.shared.lobby.as_bytes()).unwrap()
    }

    pub(crate) fn names(&mut self) -> Vec<String> {
        self.view()
            .players
            .iter()
            .map(|player| player.name.to_string())
            .collect()
    }

    /// The events that led to the newest state, as they are sent.
    pub(crate) fn events(&self) -> Vec<serde_json::Value> {
        let newest = self.lobby.events.after(self.lobby.seq - 1);
        newest
            .iter()
            .map(|event| serde_json::from_slice(event.as_bytes()).unwrap())
            .collect()
    }
}
