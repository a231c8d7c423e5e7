//! What a gateway asks all nodes when the registry does not know.

use protocol::LobbyCode;
use protocol::link::{Known, KnownPerson, Question, ToGateway};

use super::{Driver, Table};
use crate::lobby::LinkId;

impl Driver {
    pub(super) fn question(&self, link: LinkId, request: u64, question: &Question) {
        let suspended = self.is_suspended();
        let known = match question {
            Question::Lobby(code) => {
                let table = self.tables.get_key_value(code);
                table.and_then(|(code, table)| known(*code, table, None, suspended))
            }
            Question::Session(token) => self.tables.iter().find_map(|(code, table)| {
                let person = table.lobby.known(token)?;
                known(*code, table, Some(person), suspended)
            }),
        };
        self.gateways
            .send(link, ToGateway::Knows { request, known });
    }
}

fn known(
    code: LobbyCode,
    table: &Table,
    person: Option<KnownPerson>,
    suspended: bool,
) -> Option<Known> {
    let is_there = !table.lobby.has_ended() && !table.giving.is_frozen();
    is_there.then(|| Known {
        code,
        born: table.born.to_string(),
        epoch: table.lobby.epoch(),
        suspended,
        person,
    })
}
