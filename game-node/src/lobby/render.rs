//! What is shown of a lobby, in parts that are each serialised once however many see them.
//!
//! Nothing of a seat's own is ever in a part of another: [`Game::own`] makes it for one viewer.

use std::collections::BTreeMap;
use std::time::Instant;

use protocol::limit::{MAX_SEATS, MIN_SEATS};
use protocol::link::{InspectedSeat, Inspection, Receiver, Show};
use protocol::lobby::{LobbyStatus, LobbyView};
use protocol::parts::{Fragment, GameParts, OwnPart, SharedParts};
use rules::{DealCommitment, Game, RevealedSeed, Seat, TableView};
use serde::Serialize;

use super::requests::seat_at;
use super::{LinkId, Lobby, Person, Stage};

impl Lobby {
    /// The present picture for everybody who is here, one [`Show`] a link; those who missed
    /// pictures get one of their own, with the events that they missed.
    pub fn show(&mut self, now: Instant) -> Vec<(LinkId, Show)> {
        #[cfg(test)]
        assert_ne!(
            self.breaks,
            Some(super::Breaking::Picture),
            "a lobby breaks"
        );
        let shared = self.shared(now);
        let mut shows: BTreeMap<(LinkId, u64), Audience> = BTreeMap::new();
        for (seat, person) in self.viewers() {
            if let Some(connection) = person.connection() {
                let audience = shows.entry((connection.link, person.shown)).or_default();
                audience.push((seat, connection.id));
            }
        }
        let mut own_parts = OwnParts::default();
        let shows = shows.into_iter().map(|((link, shown), audience)| {
            let mut show = Show {
                code: self.code,
                epoch: self.epoch,
                shared: shared.clone(),
                events: self.events.after(shown),
                own: Vec::new(),
                to: Vec::with_capacity(audience.len()),
                traces: Vec::new(),
            };
            own_parts.place(self.game(), audience, &mut show);
            (link, show)
        });
        let shows = shows.collect();
        let seq = self.seq;
        for person in self.people_mut().filter(|person| person.is_here()) {
            person.shown = seq;
        }
        shows
    }

    /// What operators may know: who sits where, and nothing of the game or of people.
    pub fn inspect(&self) -> Inspection {
        let seats = self.places.iter().map(|place| InspectedSeat {
            is_ai: !place.is_person(),
            connected: place.person().is_none_or(Person::is_here),
        });
        Inspection {
            epoch: self.epoch,
            seq: self.seq,
            status: self.status(),
            seats: seats.collect(),
            spectators: u32::try_from(self.spectators.len()).expect("bounded"),
        }
    }

    /// Everybody with their seat, or none for who watches.
    fn viewers(&self) -> impl Iterator<Item = (Option<Seat>, &Person)> {
        let seated = self.places.iter().enumerate();
        let seated = seated.filter_map(|(index, place)| {
            place.person().map(|person| (Some(seat_at(index)), person))
        });
        seated.chain(self.spectators.iter().map(|person| (None, person)))
    }

    fn game(&self) -> Option<&Game> {
        match &self.stage {
            Stage::Waiting => None,
            Stage::Playing(play) => Some(&play.game),
            Stage::Finished(game) => Some(game),
        }
    }

    fn shared(&self, now: Instant) -> SharedParts {
        let deadline = match &self.stage {
            Stage::Playing(play) => play.deadline,
            Stage::Waiting | Stage::Finished(_) => None,
        };
        let deadline_ms = deadline.map(|deadline| {
            let left = deadline.saturating_duration_since(now).as_millis();
            u32::try_from(left).unwrap_or(u32::MAX)
        });
        SharedParts {
            seq: self.seq,
            lobby: Fragment::of(&self.view()),
            game: self.game().map(|game| game_parts(game, deadline_ms)),
        }
    }

    fn view(&self) -> LobbyView {
        let playing = self.status() == LobbyStatus::Playing;
        LobbyView {
            code: self.code,
            status: self.status(),
            host_id: self.host.clone(),
            options: self.options,
            public: self.public,
            players: self
                .places
                .iter()
                .map(|place| place.view(playing))
                .collect(),
            spectators: u32::try_from(self.spectators.len()).expect("bounded"),
            min_players: u8::try_from(MIN_SEATS).expect("few"),
            max_players: u8::try_from(MAX_SEATS).expect("few"),
            ai_available: self.surroundings.ai_available,
            accepting_games: self.surroundings.accepting_games,
            saved: self.surroundings.saved,
        }
    }
}

type Audience = Vec<(Option<Seat>, protocol::ConnectionId)>;

/// Each viewer's own part, made when the first connection of theirs needs it.
#[derive(Default)]
struct OwnParts(BTreeMap<Option<Seat>, OwnPart>);

impl OwnParts {
    fn place(&mut self, game: Option<&Game>, audience: Audience, show: &mut Show) {
        let mut places: BTreeMap<Option<Seat>, u32> = BTreeMap::new();
        for (viewer, connection) in audience {
            let own = game.map(|game| {
                *places.entry(viewer).or_insert_with(|| {
                    let part = self
                        .0
                        .entry(viewer)
                        .or_insert_with(|| own_part(game, viewer));
                    show.own.push(part.clone());
                    u32::try_from(show.own.len() - 1).expect("one a seat, and one for all others")
                })
            });
            show.to.push(Receiver { connection, own });
        }
    }
}

fn own_part(game: &Game, viewer: Option<Seat>) -> OwnPart {
    #[derive(Serialize)]
    struct You {
        you: Option<Seat>,
    }
    OwnPart {
        you: Fragment::of(&You { you: viewer }),
        own: Fragment::of(&game.own(viewer)),
    }
}

fn game_parts(game: &Game, deadline_ms: Option<u32>) -> GameParts {
    #[derive(Serialize)]
    struct Deal {
        deal_commitment: DealCommitment,
        seed: Option<RevealedSeed>,
    }
    #[derive(Serialize)]
    struct Table {
        #[serde(flatten)]
        table: TableView,
        deadline_ms: Option<u32>,
    }
    GameParts {
        deal: Fragment::of(&Deal {
            deal_commitment: game.commitment(),
            seed: game.revealed_seed(),
        }),
        table: Fragment::of(&Table {
            table: game.table(),
            deadline_ms,
        }),
        sheet: Fragment::of(&game.sheet()),
        last_trick: Fragment::of(&game.last_trick()),
    }
}
