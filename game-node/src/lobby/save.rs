//! A lobby as the registry keeps it: everything needed to go on, in versioned bytes.
//!
//! The first byte is the version; `MessagePack` with named fields follows, so that a field can be
//! added within a version. The version before is read too: nodes of two versions run side by side
//! while one takes the other's place. It holds the seed, and with it all hands. Times are kept as
//! what remains or has passed of them, since no clock is shared between nodes.

mod version_1;

use std::time::{Duration, Instant};

use protocol::lobby::AiLevel;
use protocol::{LobbyCode, PlayerId, PlayerName, TokenHash, frame};
use rules::{Game, InvalidSnapshot, Options, Snapshot};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::events::{Events, Happened};
use super::person::Presence;
use super::place::AiSeat;
use super::play::Play;
use super::{Lobby, Occupant, Pace, Person, Place, Stage, Surroundings};

const VERSION: u8 = 2;
const VERSION_BEFORE: u8 = 1;

/// Bytes that are no lobby.
#[derive(Debug, thiserror::Error)]
pub enum InvalidSave {
    /// Written by a newer program, or not by ours.
    #[error("version {0:?} of a saved lobby is unknown")]
    Version(Option<u8>),
    /// Not what this version writes.
    #[error(transparent)]
    Form(#[from] frame::InvalidFrame),
    /// A game that can't have been.
    #[error(transparent)]
    Game(#[from] InvalidSnapshot),
}

#[derive(Serialize, Deserialize)]
struct SavedLobby<P> {
    public: bool,
    options: Options,
    places: Vec<SavedPlace<P>>,
    host: PlayerId,
    game: Option<Snapshot>,
    /// What remains of the turn; 0 once an AI is to make the move.
    deadline_ms: Option<u64>,
    games: u32,
    spectators: Vec<P>,
    events: Vec<Happened>,
}

#[derive(Serialize, Deserialize)]
struct SavedPlace<P> {
    name: PlayerName,
    occupant: SavedOccupant<P>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SavedOccupant<P> {
    Person(P),
    Ai {
        id: PlayerId,
        level: AiLevel,
        owner: Option<P>,
    },
}

#[derive(Serialize, Deserialize)]
struct SavedPerson {
    player: PlayerId,
    token: TokenHash,
    generation: u64,
    number: u64,
    /// The newest state that was sent their way.
    shown: u64,
    /// None: was here.
    away_ms: Option<u64>,
}

impl Lobby {
    /// Everything needed to go on from here.
    pub fn save(&self, now: Instant) -> Vec<u8> {
        #[cfg(test)]
        assert_ne!(self.breaks, Some(super::Breaking::Save), "a lobby breaks");
        let (game, deadline) = match &self.stage {
            Stage::Waiting => (None, None),
            Stage::Playing(play) => (Some(&play.game), play.deadline),
            Stage::Finished(game) => (Some(game), None),
        };
        let remaining = deadline.map(|deadline| deadline.saturating_duration_since(now));
        let saved = SavedLobby {
            public: self.public,
            options: self.options,
            places: self
                .places
                .iter()
                .map(|place| save_place(place, now))
                .collect(),
            host: self.host.clone(),
            game: game.map(Game::snapshot),
            deadline_ms: remaining.map(chassis::clock::milliseconds),
            games: self.games,
            spectators: self
                .spectators
                .iter()
                .map(|person| save_person(person, now))
                .collect(),
            events: self.events.to_vec(),
        };
        let mut bytes = vec![VERSION];
        bytes.append(&mut frame::encode(&saved));
        bytes
    }

    /// The lobby of which [`Lobby::save`] gave these bytes. Everybody is away; who was here is
    /// shown as if they were, for as long as coming back may take. An [`super::Input::Wake`] sets
    /// the game going again. [`Lobby::own`] comes first.
    ///
    /// # Errors
    /// [`InvalidSave`] if no lobby can have given them.
    pub fn restore(
        now: Instant,
        code: LobbyCode,
        bytes: &[u8],
        surroundings: Surroundings,
        pace: Pace,
    ) -> Result<Self, InvalidSave> {
        let Some((&version, body)) = bytes.split_first() else {
            return Err(InvalidSave::Version(None));
        };
        match version {
            VERSION => read::<SavedPerson>(now, code, body, surroundings, pace),
            VERSION_BEFORE => read::<version_1::Person>(now, code, body, surroundings, pace),
            other => Err(InvalidSave::Version(Some(other))),
        }
    }
}

/// A lobby whose people are kept as `P`.
fn read<P: DeserializeOwned + Into<SavedPerson>>(
    now: Instant,
    code: LobbyCode,
    body: &[u8],
    surroundings: Surroundings,
    pace: Pace,
) -> Result<Lobby, InvalidSave> {
    let saved: SavedLobby<P> = frame::decode(body)?;
    let places = saved.places.into_iter();
    let spectators = saved.spectators.into_iter();
    Ok(Lobby {
        code,
        pace,
        surroundings,
        epoch: 0,
        seq: 0,
        public: saved.public,
        options: saved.options,
        places: places.map(|place| restore_place(place, now)).collect(),
        host: saved.host,
        stage: restore_stage(saved.game, saved.deadline_ms, now)?,
        games: saved.games,
        spectators: spectators
            .map(|person| restore_person(person, now))
            .collect(),
        events: Events::from_vec(saved.events),
        ended: false,
        #[cfg(test)]
        breaks: None,
    })
}

fn save_place(place: &Place, now: Instant) -> SavedPlace<SavedPerson> {
    let occupant = match &place.occupant {
        Occupant::Person(person) => SavedOccupant::Person(save_person(person, now)),
        Occupant::Ai(ai) => SavedOccupant::Ai {
            id: ai.id.clone(),
            level: ai.level,
            owner: ai.owner.as_ref().map(|person| save_person(person, now)),
        },
    };
    SavedPlace {
        name: place.name.clone(),
        occupant,
    }
}

fn restore_place<P: Into<SavedPerson>>(saved: SavedPlace<P>, now: Instant) -> Place {
    let occupant = match saved.occupant {
        SavedOccupant::Person(person) => Occupant::Person(restore_person(person, now)),
        SavedOccupant::Ai { id, level, owner } => {
            let owner = owner.map(|person| restore_person(person, now));
            Occupant::Ai(AiSeat { id, level, owner })
        }
    };
    Place {
        name: saved.name,
        occupant,
    }
}

fn save_person(person: &Person, now: Instant) -> SavedPerson {
    let away = person.away_since().filter(|_| !person.seems_here());
    let away = away.map(|since| now.saturating_duration_since(since));
    SavedPerson {
        player: person.player.clone(),
        token: person.token.clone(),
        generation: person.generation,
        number: person.number,
        shown: person.shown,
        away_ms: away.map(chassis::clock::milliseconds),
    }
}

fn restore_person(saved: impl Into<SavedPerson>, now: Instant) -> Person {
    let saved = saved.into();
    let away = saved.away_ms.map(Duration::from_millis);
    let presence = away.map_or(Presence::Returning { since: now }, |away| Presence::Away {
        // A host that was started later than somebody left knows no earlier time than its start.
        since: now.checked_sub(away).unwrap_or(now),
        long: false,
    });
    Person {
        player: saved.player,
        token: saved.token,
        generation: saved.generation,
        number: saved.number,
        presence,
        shown: saved.shown,
        reacted: None,
    }
}

fn restore_stage(
    game: Option<Snapshot>,
    deadline_ms: Option<u64>,
    now: Instant,
) -> Result<Stage, InvalidSave> {
    let Some(snapshot) = game else {
        return Ok(Stage::Waiting);
    };
    let game = Game::restore(snapshot)?;
    if game.is_finished() {
        return Ok(Stage::Finished(game));
    }
    let deadline = deadline_ms.map(|left| now + Duration::from_millis(left));
    Ok(Stage::Playing(Play::resumed(game, deadline)))
}

#[cfg(test)]
mod tests {
    use protocol::link::Request;
    use protocol::lobby::AiLevel;

    use super::super::testing::*;
    use super::*;

    const GOLDEN: &[u8] = include_bytes!("../../golden/lobby-2.bin");
    const GOLDEN_BEFORE: &[u8] = include_bytes!("../../golden/lobby-1.bin");

    /// Every kind of seat, a deadline, somebody who watches, a game under way.
    fn table() -> Table {
        let mut table = Table::new();
        table.does(1, join("Ada"));
        table.does(2, join("Bob"));
        table.does(
            0,
            Request::AddAi {
                level: AiLevel::Hard,
            },
        );
        table.does(7, Request::Watch);
        let options = rules::OptionsPatch {
            turn_seconds: Some(Some(300)),
            ..rules::OptionsPatch::default()
        };
        let options = protocol::player::SetOptions {
            options,
            public: Some(false),
        };
        table.does(0, Request::SetOptions(options));
        table.does(0, Request::Start);
        table.goes_offline(1);
        table.goes_offline(2);
        for _ in 0..3 {
            if table.to_act() == 3 {
                table.moves().unwrap();
            }
        }
        table.wait(Duration::from_secs(61));
        table.does(0, Request::ReplacePlayer { player: id(1) });
        table.show();
        table
    }

    fn restored(bytes: &[u8], now: Instant) -> Lobby {
        Lobby::restore(now, code(), bytes, Surroundings::default(), PACE).unwrap()
    }

    #[test]
    fn what_was_written_by_this_version_and_the_one_before_is_read() {
        for (golden, shown) in [(GOLDEN_BEFORE, 0), (GOLDEN, 100)] {
            let lobby = restored(golden, chassis::clock::now());
            let names: Vec<&str> = lobby
                .places
                .iter()
                .map(|place| place.name.as_str())
                .collect();
            assert_eq!(names[..3], ["Host", "Ada", "Bob"]);
            assert!(lobby.places[1].owner().is_some() && !lobby.places[1].is_person());
            let Stage::Playing(play) = &lobby.stage else {
                panic!("a game runs")
            };
            assert!(play.deadline.is_some());
            assert_eq!((lobby.games, lobby.spectators.len()), (1, 1));
            assert!(lobby.people().all(|person| person.shown >= shown));
        }
    }

    #[test]
    fn the_golden_file_is_what_is_written_today() {
        let table = table();
        let bytes = table.lobby.save(table.now);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write("golden/lobby-2.bin", &bytes).unwrap();
        }
        assert_eq!(
            bytes, GOLDEN,
            "a field was added? then UPDATE_GOLDEN=1, and keep the old file"
        );
    }

    #[test]
    fn who_was_here_is_away_since_now_and_deadlines_keep_what_remained() {
        let table = table();
        let bytes = table.lobby.save(table.now);
        let later = table.now + Duration::from_secs(1000);
        let copy = restored(&bytes, later);
        let Stage::Playing(play) = &copy.stage else {
            panic!("a game runs")
        };
        let Stage::Playing(before) = &table.lobby.stage else {
            panic!("a game runs")
        };
        assert_eq!(
            play.deadline.unwrap() - later,
            before.deadline.unwrap() - table.now
        );
        let away: Vec<Duration> = copy.absent(later).into_iter().map(|one| one.away).collect();
        assert_eq!(
            away.iter().filter(|away| away.is_zero()).count(),
            2,
            "host and spectator"
        );
        assert_eq!(
            away.iter()
                .filter(|away| **away >= super::super::AWAY_GRACE)
                .count(),
            2
        );
    }

    #[test]
    fn other_bytes_are_no_lobby() {
        let refused = |bytes: &[u8]| {
            let now = chassis::clock::now();
            Lobby::restore(now, code(), bytes, Surroundings::default(), PACE).unwrap_err()
        };
        assert!(matches!(refused(&[]), InvalidSave::Version(None)));
        assert!(matches!(refused(&[3, 1]), InvalidSave::Version(Some(3))));
        assert!(matches!(
            refused(&GOLDEN[..GOLDEN.len() / 2]),
            InvalidSave::Form(_)
        ));
    }
}
