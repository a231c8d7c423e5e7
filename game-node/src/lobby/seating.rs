//! Coming, going, and who sits where.

use protocol::event::{ReplacedBy, TableEvent};
use protocol::limit::MAX_SPECTATORS;
use protocol::link::Parting;
use protocol::lobby::{AiLevel, LobbyStatus};
use protocol::{ErrorCode, PlayerId, PlayerName};

use super::effect::Effects;
use super::people::Standing;
use super::place::AiSeat;
use super::requests::seat_at;
use super::{Chance, Lobby, Occupant, Person, Place, Refusal, SessionPlace, Stage, Wish, wizards};

impl Lobby {
    /// Seats a person at the next free seat.
    pub(super) fn sit_down(&mut self, wish: &Wish, name: &PlayerName, effects: &mut Effects) {
        self.seat(Person::new(wish, self.seq), name, effects);
    }

    fn seat(&mut self, person: Person, name: &PlayerName, effects: &mut Effects) {
        self.session_says(&person, SessionPlace::Here(Some(name.clone())), effects);
        let name = name.unique_among(|other| self.is_taken(other));
        self.places.push(Place {
            name,
            occupant: Occupant::Person(person),
        });
        effects.changed = true;
    }

    fn is_taken(&self, name: &PlayerName) -> bool {
        self.places.iter().any(|place| place.name.looks_like(name))
    }

    /// Back to one's seat or place to watch from.
    pub(super) fn come_back(
        &mut self,
        standing: Standing,
        wish: &Wish,
        effects: &mut Effects,
    ) -> Result<(), Refusal> {
        match standing {
            Standing::Stranger => return Err(Refusal::not_in_lobby()),
            Standing::Replaced(index) => self.take_back(index, wish, effects),
            Standing::Seated(_) | Standing::Watching(_) => self.hear(standing, wish, effects),
        }
        Ok(())
    }

    pub(super) fn join(
        &mut self,
        standing: Standing,
        wish: &Wish,
        name: &PlayerName,
        only_if_public: bool,
        effects: &mut Effects,
    ) -> Result<(), Refusal> {
        if matches!(standing, Standing::Seated(_) | Standing::Replaced(_)) {
            return self.come_back(standing, wish, effects);
        }
        if self.status() != LobbyStatus::Waiting {
            return Err(Refusal::new(
                ErrorCode::LobbyPlaying,
                "The game has begun already.",
            ));
        }
        if only_if_public && !self.public {
            return Err(Refusal::new(
                ErrorCode::LobbyNotFound,
                "This table is not public.",
            ));
        }
        if !self.has_free_seat() {
            return Err(Refusal::lobby_full());
        }
        self.hear(standing, wish, effects);
        match standing {
            Standing::Watching(index) => {
                let person = self.spectators.remove(index);
                self.seat(person, name, effects);
            }
            _ => self.sit_down(wish, name, effects),
        }
        Ok(())
    }

    pub(super) fn watch(
        &mut self,
        standing: Standing,
        wish: &Wish,
        effects: &mut Effects,
    ) -> Result<(), Refusal> {
        if standing != Standing::Stranger {
            return self.come_back(standing, wish, effects);
        }
        if self.spectators.len() >= MAX_SPECTATORS {
            return Err(Refusal::new(
                ErrorCode::LobbyFull,
                "Too many watch this table already.",
            ));
        }
        let person = Person::new(wish, self.seq);
        self.session_says(&person, SessionPlace::Here(None), effects);
        self.spectators.push(person);
        effects.changed = true;
        Ok(())
    }

    pub(super) fn leave(
        &mut self,
        standing: Standing,
        wish: &Wish,
        chance: &Chance,
        effects: &mut Effects,
    ) -> Result<(), Refusal> {
        // What they came by last hears of it, even if it is not what they left by.
        self.hear(standing, wish, effects);
        if standing == Standing::Stranger {
            return Err(Refusal::not_in_lobby());
        }
        self.depart(standing, Parting::Left, chance, effects);
        Ok(())
    }

    /// A session that has expired, or that sits elsewhere by now, leaves; not if it is here.
    pub(super) fn gone(&mut self, player: &PlayerId, chance: &Chance, effects: &mut Effects) {
        let standing = self.standing(player);
        if self
            .person_of(standing)
            .is_some_and(|person| !person.is_here())
        {
            self.depart(standing, Parting::Left, chance, effects);
        }
    }

    pub(super) fn add_ai(&mut self, level: AiLevel, chance: &Chance) -> Result<(), Refusal> {
        if !self.has_free_seat() {
            return Err(Refusal::lobby_full());
        }
        let name = wizards::name(chance.index(wizards::COUNT), |other| self.is_taken(other));
        let occupant = Occupant::Ai(self.new_ai(level, None, chance));
        self.places.push(Place { name, occupant });
        Ok(())
    }

    pub(super) fn remove_player(
        &mut self,
        own_index: usize,
        player: &PlayerId,
        effects: &mut Effects,
    ) -> Result<(), Refusal> {
        let index = self.index_of(player).filter(|index| *index != own_index);
        let index = index.ok_or_else(Refusal::no_such_player)?;
        let removed = self.places.remove(index);
        let owner = match removed.occupant {
            Occupant::Person(person) => Some(person),
            Occupant::Ai(ai) => ai.owner,
        };
        if let Some(person) = owner {
            effects.parted(person.connection(), Parting::Removed);
            self.session_says(&person, SessionPlace::Elsewhere, effects);
        }
        Ok(())
    }

    pub(super) fn replace_player(
        &mut self,
        player: &PlayerId,
        chance: &Chance,
    ) -> Result<(), Refusal> {
        let index = self.index_of(player).ok_or_else(Refusal::no_such_player)?;
        let person = self.places[index]
            .person()
            .ok_or_else(Refusal::no_such_player)?;
        if !person.is_long_away() {
            let message = "They are here, or have not been away for a minute.";
            return Err(Refusal::new(ErrorCode::PlayerPresent, message));
        }
        self.put_ai(index, Some(person.clone()), chance);
        Ok(())
    }

    fn index_of(&self, player: &PlayerId) -> Option<usize> {
        self.places.iter().position(|place| place.id() == player)
    }

    fn new_ai(&self, level: AiLevel, owner: Option<Person>, chance: &Chance) -> AiSeat {
        let id = chance.ai_id(|id| self.index_of(id).is_some());
        AiSeat { id, level, owner }
    }

    /// From now on an AI plays this seat.
    fn put_ai(&mut self, index: usize, owner: Option<Person>, chance: &Chance) {
        let ai = self.new_ai(AiLevel::default(), owner, chance);
        self.places[index].occupant = Occupant::Ai(ai);
        self.happened(TableEvent::SeatReplaced {
            seat: seat_at(index),
            by: ReplacedBy::Ai,
        });
    }

    /// The owner of a seat that an AI plays is back.
    fn take_back(&mut self, index: usize, wish: &Wish, effects: &mut Effects) {
        let place = &mut self.places[index];
        let Occupant::Ai(AiSeat { owner, .. }) = &mut place.occupant else {
            return;
        };
        let Some(mut person) = owner.take() else {
            return;
        };
        person.hear(wish);
        place.occupant = Occupant::Person(person.clone());
        self.session_says(&person, SessionPlace::Here(None), effects);
        let seat = seat_at(index);
        if let Stage::Playing(play) = &mut self.stage {
            play.seat_is_a_persons(seat);
        }
        self.happened(TableEvent::SeatReplaced {
            seat,
            by: ReplacedBy::Player,
        });
        effects.changed = true;
    }

    /// Takes a person out: from a waiting table with their seat, else an AI goes on for them.
    fn depart(
        &mut self,
        standing: Standing,
        reason: Parting,
        chance: &Chance,
        effects: &mut Effects,
    ) {
        let Some(person) = self.person_of(standing).cloned() else {
            return;
        };
        match standing {
            Standing::Seated(index) => {
                let successor = self
                    .next_person(index, false)
                    .or(self.next_person(index, true));
                if self.status() == LobbyStatus::Waiting {
                    self.places.remove(index);
                } else {
                    self.put_ai(index, None, chance);
                }
                if let (true, Some(successor)) = (self.host == person.player, successor) {
                    self.set_host(successor);
                }
            }
            Standing::Replaced(index) => {
                if let Occupant::Ai(ai) = &mut self.places[index].occupant {
                    ai.owner = None;
                }
            }
            Standing::Watching(index) => {
                self.spectators.remove(index);
            }
            Standing::Stranger => {}
        }
        effects.parted(person.connection(), reason);
        self.session_says(&person, SessionPlace::Elsewhere, effects);
        effects.changed = true;
    }

    /// A host who is away for long passes the role on as soon as anybody else is here.
    pub(super) fn pass_host_on(&mut self, effects: &mut Effects) {
        let Some(index) = self.index_of(&self.host) else {
            return;
        };
        if !self.places[index]
            .person()
            .is_some_and(Person::is_long_away)
        {
            return;
        }
        if let Some(successor) = self.next_person(index, false) {
            self.set_host(successor);
            effects.changed = true;
        }
    }

    fn set_host(&mut self, player: PlayerId) {
        self.host = player.clone();
        self.happened(TableEvent::HostChanged { player_id: player });
    }

    /// The next person after a seat, not counting the one who sits there.
    fn next_person(&self, index: usize, may_be_away: bool) -> Option<PlayerId> {
        let (before, from) = self.places.split_at(index);
        let others = from.iter().skip(1).chain(before);
        let mut people = others.filter_map(Place::person);
        let next = people.find(|person| may_be_away || person.is_here());
        next.map(|person| person.player.clone())
    }
}
