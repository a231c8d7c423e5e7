//! Who is known here, and by which connection.

use std::time::{Duration, Instant};

use protocol::limit::MAX_SEATS;
use protocol::link::{KnownPerson, Parting};
use protocol::{PlayerId, TokenHash};
use rules::Seat;

use super::effect::Effects;
use super::requests::seat_at;
use super::{
    Census, Connection, Effect, LinkId, Lobby, Person, Place, SessionChange, SessionPlace, Stage,
    Wish,
};

/// What somebody is to this lobby.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Has this seat.
    Seated(usize),
    /// Owns this seat, which an AI plays until they come back.
    Replaced(usize),
    /// Watches from this place.
    Watching(usize),
    Stranger,
}

/// A person who is not here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// Who.
    pub player: PlayerId,
    /// Their session.
    pub token: TokenHash,
    /// For how long, as far as it is known here.
    pub away: Duration,
}

impl Lobby {
    pub(super) fn standing(&self, player: &PlayerId) -> Standing {
        let is_player = |person: Option<&Person>| person.is_some_and(|p| p.player == *player);
        for (index, place) in self.places.iter().enumerate() {
            if is_player(place.person()) {
                return Standing::Seated(index);
            }
            if is_player(place.owner()) {
                return Standing::Replaced(index);
            }
        }
        let watching = self
            .spectators
            .iter()
            .position(|person| person.player == *player);
        watching.map_or(Standing::Stranger, Standing::Watching)
    }

    /// The seat of a person.
    pub fn seat_of(&self, player: &PlayerId) -> Option<Seat> {
        match self.standing(player) {
            Standing::Seated(index) | Standing::Replaced(index) => Some(seat_at(index)),
            Standing::Watching(_) | Standing::Stranger => None,
        }
    }

    pub(super) fn person_of(&self, standing: Standing) -> Option<&Person> {
        match standing {
            Standing::Seated(index) => self.places[index].person(),
            Standing::Replaced(index) => self.places[index].owner(),
            Standing::Watching(index) => self.spectators.get(index),
            Standing::Stranger => None,
        }
    }

    /// Takes note of a wish that is being done, by which its person is here now.
    pub(super) fn hear(&mut self, standing: Standing, wish: &Wish, effects: &mut Effects) {
        let person = match standing {
            Standing::Seated(index) => self.places[index].person_mut(),
            Standing::Watching(index) => self.spectators.get_mut(index),
            Standing::Replaced(_) | Standing::Stranger => None,
        };
        if let Some(person) = person {
            effects.parted(person.hear(wish), Parting::TakenOver);
            effects.changed = true;
        }
    }

    pub(super) fn detach(&mut self, now: Instant, connection: Connection, effects: &mut Effects) {
        self.disconnect(now, |there| there == connection, effects);
    }

    pub(super) fn link_lost(&mut self, now: Instant, link: LinkId, effects: &mut Effects) {
        self.disconnect(now, |there| there.link == link, effects);
    }

    fn disconnect(
        &mut self,
        now: Instant,
        is_lost: impl Fn(Connection) -> bool,
        effects: &mut Effects,
    ) {
        for person in self.people_mut() {
            if person.connection().is_some_and(&is_lost) {
                person.leave_connection(now);
                effects.changed = true;
            }
        }
    }

    /// Everybody with a seat or a place to watch from.
    pub(super) fn people(&self) -> impl Iterator<Item = &Person> {
        self.places
            .iter()
            .filter_map(Place::person)
            .chain(&self.spectators)
    }

    pub(super) fn people_mut(&mut self) -> impl Iterator<Item = &mut Person> {
        self.places
            .iter_mut()
            .filter_map(Place::person_mut)
            .chain(&mut self.spectators)
    }

    /// The connections of everybody who is here.
    pub fn connections(&self) -> impl Iterator<Item = Connection> {
        self.people().filter_map(Person::connection)
    }

    /// Whether anybody is here by this link.
    pub fn is_reached_by(&self, link: LinkId) -> bool {
        self.connections().any(|connection| connection.link == link)
    }

    /// Brings the people of a copy that was made from a saved state back to their connections, as
    /// the copy that it replaces knew them.
    pub fn reconnect(&mut self, before: &Lobby) {
        for person in self.people_mut() {
            let known = before.people().find(|known| known.player == person.player);
            if let Some(known) = known.filter(|known| known.generation == person.generation) {
                person.presence = known.presence;
                person.shown = known.shown;
            }
        }
    }

    /// What the sessions of all people say once this lobby is no more.
    pub fn farewell(&self) -> Vec<SessionChange> {
        let owners = self.places.iter().filter_map(Place::owner);
        let change = |person: &Person| self.session_change(person, SessionPlace::Elsewhere);
        self.people().chain(owners).map(change).collect()
    }

    /// What the sessions of all people say while this lobby is. Whoever has been away for as long
    /// as a session lives has none any more, and shall not get it back by this.
    pub fn sessions(&self, now: Instant, session_ttl: Duration) -> Vec<SessionChange> {
        let expired: Vec<_> = (self.absent(now).into_iter())
            .filter(|absent| absent.away >= session_ttl)
            .map(|absent| absent.player)
            .collect();
        let owners = self.places.iter().filter_map(Place::owner);
        let change = |person: &Person| self.session_change(person, SessionPlace::Here(None));
        self.people()
            .chain(owners)
            .filter(|person| !expired.contains(&person.player))
            .map(change)
            .collect()
    }

    /// Everybody who is not here but still belongs here, the owners of replaced seats included.
    pub fn absent(&self, now: Instant) -> Vec<Absent> {
        let owners = self.places.iter().filter_map(Place::owner);
        let away = |person: &Person| {
            person.away_since().map(|since| Absent {
                player: person.player.clone(),
                token: person.token.clone(),
                away: now.saturating_duration_since(since),
            })
        };
        self.people().chain(owners).filter_map(away).collect()
    }

    /// Whose session this is, if they sit or watch here, or own a seat that an AI plays.
    pub fn known(&self, token: &TokenHash) -> Option<KnownPerson> {
        let places = self.places.iter().filter_map(|place| {
            let person = place.person().or(place.owner())?;
            Some((person, Some(&place.name)))
        });
        let watching = self.spectators.iter().map(|person| (person, None));
        let mut all = places.chain(watching);
        let (person, name) = all.find(|(person, _)| person.token == *token)?;
        Some(KnownPerson {
            player: person.player.clone(),
            name: name.cloned(),
            generation: person.generation,
        })
    }

    /// How many of what.
    pub fn census(&self) -> Census {
        if self.ended {
            return Census::default();
        }
        let count = |number: usize| u32::try_from(number).expect("a table is small");
        Census {
            players: count(self.places.iter().filter(|place| place.is_person()).count()),
            sessions: count(self.people().count()),
            connections: count(self.connections().count()),
            active_games: u32::from(matches!(self.stage, Stage::Playing(_))),
        }
    }

    pub(super) fn has_free_seat(&self) -> bool {
        self.places.len() < MAX_SEATS
    }

    pub(super) fn session_says(&self, person: &Person, place: SessionPlace, effects: &mut Effects) {
        effects.push(Effect::Session(self.session_change(person, place)));
    }

    fn session_change(&self, person: &Person, place: SessionPlace) -> SessionChange {
        SessionChange {
            token: person.token.clone(),
            player: person.player.clone(),
            generation: person.generation,
            number: person.number,
            code: self.code,
            place,
        }
    }

    /// Nobody is left: who watches is sent away, and nobody can come back.
    pub(super) fn end(&mut self, effects: &mut Effects) {
        self.ended = true;
        effects.changed = true;
        let owners = self.places.iter().filter_map(Place::owner);
        for person in self.spectators.iter().chain(owners) {
            effects.parted(person.connection(), Parting::Ended);
            self.session_says(person, SessionPlace::Elsewhere, effects);
        }
        self.spectators.clear();
        effects.push(Effect::End);
    }
}
