//! What a gateway asks all nodes when the registry does not know. Whose session has expired is a
//! stranger here too, though their seat may not be given away yet.

use protocol::link::{Known, KnownPerson, Question, ToGateway};
use protocol::{LobbyCode, TokenHash};

use super::{Driver, Table, now};
use crate::lobby::LinkId;

impl Driver {
    pub(super) fn question(&self, link: LinkId, request: u64, question: &Question) {
        let suspended = self.is_suspended();
        let (at, session_ttl) = (now(), self.settings.session_ttl);
        let is_expired = |table: &Table, token: &TokenHash| {
            let mut absent = table.lobby.absent(at).into_iter();
            absent.any(|absent| absent.token == *token && absent.away >= session_ttl)
        };
        let known = match question {
            Question::Lobby(code) => {
                let table = self.tables.get_key_value(code);
                table.and_then(|(code, table)| known(*code, table, None, suspended))
            }
            Question::Session(token) => self.tables.iter().find_map(|(code, table)| {
                let person = table.lobby.known(token)?;
                if is_expired(table, token) {
                    return None;
                }
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
