//! A seat and who plays it.

use protocol::lobby::{AiLevel, PlayerView};
use protocol::{PlayerId, PlayerName};

use super::Person;

/// One seat; its number is its position.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    /// Unique at the table; stays when the seat changes between a person and an AI.
    pub(super) name: PlayerName,
    pub(super) occupant: Occupant,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Occupant {
    Person(Person),
    Ai(AiSeat),
}

/// A seat that an AI plays.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AiSeat {
    pub(super) id: PlayerId,
    pub(super) level: AiLevel,
    /// Whose seat it is, if the host gave it to an AI: they take it back by coming back.
    pub(super) owner: Option<Person>,
}

impl Place {
    pub(super) fn id(&self) -> &PlayerId {
        match &self.occupant {
            Occupant::Person(person) => &person.player,
            Occupant::Ai(ai) => &ai.id,
        }
    }

    pub(super) fn person(&self) -> Option<&Person> {
        match &self.occupant {
            Occupant::Person(person) => Some(person),
            Occupant::Ai(_) => None,
        }
    }

    pub(super) fn person_mut(&mut self) -> Option<&mut Person> {
        match &mut self.occupant {
            Occupant::Person(person) => Some(person),
            Occupant::Ai(_) => None,
        }
    }

    /// The absent person whose seat an AI plays.
    pub(super) fn owner(&self) -> Option<&Person> {
        match &self.occupant {
            Occupant::Person(_) => None,
            Occupant::Ai(ai) => ai.owner.as_ref(),
        }
    }

    pub(super) fn is_person(&self) -> bool {
        self.person().is_some()
    }

    /// How well an AI plays this seat, should it be its turn to.
    pub(super) fn level(&self) -> AiLevel {
        match &self.occupant {
            Occupant::Person(_) => AiLevel::default(),
            Occupant::Ai(ai) => ai.level,
        }
    }

    pub(super) fn view(&self, playing: bool) -> PlayerView {
        let person = self.person();
        PlayerView {
            id: self.id().clone(),
            name: self.name.clone(),
            is_ai: person.is_none(),
            connected: person.is_none_or(Person::seems_here),
            replaceable: playing && person.is_some_and(Person::is_long_away),
            level: if person.is_none() {
                Some(self.level())
            } else {
                None
            },
        }
    }
}
