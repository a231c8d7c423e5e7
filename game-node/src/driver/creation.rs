//! New lobbies: the registry decides whether a code is free.

use std::collections::HashMap;

use bytes::Bytes;
use protocol::link::{Outcome, Request};
use protocol::{ErrorCode, LobbyCode};
use registry::{Born, Created, Lifetime, RegistryError};
use tracing::{debug, info};

use super::asks::{Asked, refused};
use super::faults::contained;
use super::{Driver, Finished, Table, now};
use crate::lobby::{Connection, Effect, Founding, Input, LinkId, Lobby, Refusal, Wish};

/// A lobby that the registry does not know yet.
pub(super) struct Creation {
    code: LobbyCode,
    born: Born,
    lobby: Lobby,
    effects: Vec<Effect>,
    saved: Bytes,
    asked: Asked,
}

/// Lobbies that are being created, each with what has happened to its only connection meanwhile.
#[derive(Default)]
pub(super) struct Creations(HashMap<LobbyCode, Meanwhile>);

struct Meanwhile {
    host: Connection,
    is_gone: bool,
}

impl Creations {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn detach(&mut self, code: LobbyCode, connection: Connection) {
        if let Some(meanwhile) = self.0.get_mut(&code) {
            meanwhile.is_gone |= meanwhile.host == connection;
        }
    }

    pub(super) fn link_lost(&mut self, link: LinkId) {
        for meanwhile in self.0.values_mut() {
            meanwhile.is_gone |= meanwhile.host.link == link;
        }
    }
}

impl Driver {
    /// Begins a creation; it is answered once the registry has.
    pub(super) fn create(
        &mut self,
        code: LobbyCode,
        wish: Wish,
        asked: Asked,
    ) -> Result<(), Refusal> {
        let Request::Create { born, name, public } = wish.request.clone() else {
            unreachable!("only creations are created");
        };
        let malformed = |_| Refusal::new(ErrorCode::InvalidMessage, "born: 16 hexadecimal digits");
        let born: Born = born.parse().map_err(malformed)?;
        if self.creations.0.contains_key(&code) {
            return Err(Refusal::unavailable("This table is being set up."));
        }
        if !self.admits_a_lobby() {
            return Err(Refusal::busy());
        }
        let host = wish.connection;
        let founding = Founding {
            code,
            public,
            name,
            wish,
        };
        let pace = self.settings.pace;
        let surroundings = self.surroundings;
        let founded = contained(|| {
            let (lobby, effects) = Lobby::found(now(), founding, surroundings, pace);
            let saved = Bytes::from(lobby.save(now()));
            (lobby, effects, saved)
        });
        let broken = || Refusal::unavailable("Something went wrong at this table; try it again.");
        let (lobby, effects, saved) = founded.ok_or_else(broken)?;
        self.creations.0.insert(
            code,
            Meanwhile {
                host,
                is_gone: false,
            },
        );
        let creation = Creation {
            code,
            born,
            lobby,
            effects,
            saved,
            asked,
        };
        let store = self.store.clone();
        self.under_way.push(Box::pin(async move {
            let saved = creation.saved.clone();
            let created = store
                .create(creation.code, creation.born, saved, Lifetime::Table)
                .await;
            Finished::Created(Box::new(creation), created)
        }));
        Ok(())
    }

    /// The registry has answered to a creation.
    pub(super) fn created(&mut self, creation: Creation, created: Result<Created, RegistryError>) {
        let meanwhile = self.creations.0.remove(&creation.code);
        let is_gone = meanwhile.as_ref().is_none_or(|meanwhile| meanwhile.is_gone);
        match created {
            // Taken over while the answer was on its way: the newer copy stays, and is found.
            Ok(_) if self.tables.contains_key(&creation.code) => {
                self.answer(&creation.asked, Outcome::NotOwner);
            }
            Ok(Created::Ok { epoch, seq }) => self.open(creation, epoch.0, seq.0, is_gone),
            // An earlier try of the same creation, whose answer got lost: it is ours.
            Ok(Created::Exists(record))
                if record.born == creation.born
                    && record.owner.as_ref() == Some(self.store.owner()) =>
            {
                self.open(creation, record.epoch.0, record.seq.0, is_gone);
            }
            Ok(Created::Exists(_)) => self.answer(&creation.asked, Outcome::NotOwner),
            Err(error) => {
                debug!(code = %creation.code, %error, "a lobby can't be created");
                let message = "New tables are not possible right now.";
                self.answer(&creation.asked, refused(&Refusal::unavailable(message)));
            }
        }
        self.update_standing();
    }

    fn open(&mut self, creation: Creation, epoch: u64, seq: u64, is_gone: bool) {
        let Creation {
            code,
            born,
            mut lobby,
            effects,
            saved,
            asked,
        } = creation;
        lobby.own(epoch, seq);
        info!(%code, "a lobby is open");
        let mut table = Table::new(lobby, born, saved, seq, self.doubt_since(asked.since()));
        table.take_in(effects, Some(&asked), asked.trace());
        self.tables.insert(code, table);
        self.after_step(code);
        // What has changed around it meanwhile has been told to those who were there.
        self.step(code, Input::Surroundings(self.surroundings));
        if is_gone {
            self.step(code, Input::Detach(asked.connection()));
        }
    }
}
