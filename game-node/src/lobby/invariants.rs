//! What is true of a lobby between any two steps. Stays on: a broken lobby must not be saved.

use std::collections::BTreeSet;

use protocol::limit::{MAX_EVENTS, MAX_SEATS, MAX_SPECTATORS};

use super::{Lobby, Place, Stage};

impl Lobby {
    pub(super) fn assert_invariants(&self) {
        assert!(self.places.len() <= MAX_SEATS, "a table has six seats");
        assert!(self.spectators.len() <= MAX_SPECTATORS, "few enough watch");
        assert!(self.events.len() <= MAX_EVENTS, "old events are dropped");
        let names: BTreeSet<_> = self.places.iter().map(|place| &place.name).collect();
        assert_eq!(names.len(), self.places.len(), "names are unique");
        let owners = self
            .places
            .iter()
            .filter_map(Place::owner)
            .map(|person| &person.player);
        let people = self.people().map(|person| &person.player).chain(owners);
        let ais = self
            .places
            .iter()
            .filter(|place| !place.is_person())
            .map(Place::id);
        assert!(
            ais.clone().all(protocol::PlayerId::is_ai),
            "an AI has an AI's id"
        );
        let ids: Vec<_> = people.chain(ais).collect();
        let unique: BTreeSet<_> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "nobody is here twice");
        if let Stage::Playing(play) = &self.stage {
            let seats = usize::from(play.game.seats().get());
            assert_eq!(
                seats,
                self.places.len(),
                "no seat comes or goes during a game"
            );
            assert!(!play.game.is_finished(), "a finished game is not played");
        }
        let is_host = |place: &Place| place.is_person() && *place.id() == self.host;
        assert!(
            self.ended || self.places.iter().any(is_host),
            "the host is a seated person"
        );
    }
}
