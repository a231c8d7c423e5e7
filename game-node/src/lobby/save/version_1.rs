//! People as version 1 kept them: it did not know what they had been shown.

use protocol::{PlayerId, TokenHash};
use serde::Deserialize;

use super::SavedPerson;

#[derive(Deserialize)]
pub(super) struct Person {
    player: PlayerId,
    token: TokenHash,
    generation: u64,
    number: u64,
    away_ms: Option<u64>,
}

impl From<Person> for SavedPerson {
    fn from(person: Person) -> Self {
        let Person {
            player,
            token,
            generation,
            number,
            away_ms,
        } = person;
        // All events that are kept come with their next picture.
        Self {
            player,
            token,
            generation,
            number,
            shown: 0,
            away_ms,
        }
    }
}
