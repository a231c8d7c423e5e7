//! A lobby that nobody sees: opened, stepped, saved and deleted, to find out whether this node can.

use std::time::Duration;

use protocol::link::{Person, Request};
use protocol::lobby::AiLevel;
use protocol::{ConnectionId, LobbyCode, PlayerId};
use registry::{Born, Created, Delete, Epoch, Lifetime, RegistryError};

use super::now;
use crate::chance;
use crate::lobby::{Connection, Founding, Input, LinkId, Lobby, Pace, Refusal, Surroundings, Wish};
use crate::store::{Store, Write, Written};

/// Whoever asks for a probe waits about as long.
const PROBE_WITHIN: Duration = Duration::from_secs(2);

/// Why a probe failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProbeError {
    #[error("the probe lobby can't be created: {0}")]
    Registry(#[from] RegistryError),
    #[error("the probe lobby's code is in use")]
    CodeInUse,
    #[error("the probe lobby refuses a step: {0}")]
    Step(#[from] Refusal),
    #[error("the probe lobby's own record is another's")]
    Relieved,
    #[error("the registry does not answer within {} s", PROBE_WITHIN.as_secs())]
    TimedOut,
}

/// Sets up a table of one person and two AIs, starts a game there, saves and deletes it.
pub(super) async fn probe(store: &Store, pace: Pace) -> Result<(), ProbeError> {
    tokio::time::timeout(PROBE_WITHIN, try_everything(store, pace))
        .await
        .unwrap_or(Err(ProbeError::TimedOut))
}

async fn try_everything(store: &Store, pace: Pace) -> Result<(), ProbeError> {
    let code = LobbyCode::from_bits(chance::number());
    let born = Born::new(chance::born());
    let founding = Founding {
        code,
        public: false,
        name: "Probe".parse().expect("a name"),
        wish: wish(0, Request::Attach { shown: None }),
    };
    let (mut lobby, _) = Lobby::found(now(), founding, Surroundings::default(), pace);
    let saved = lobby.save(now()).into();
    match store.create(code, born, saved, Lifetime::Probe).await? {
        Created::Ok { epoch, seq } => lobby.own(epoch.0, seq.0),
        Created::Exists(_) => return Err(ProbeError::CodeInUse),
    }
    let add = Request::AddAi {
        level: AiLevel::Normal,
    };
    for (number, request) in (1..).zip([add.clone(), add, Request::Start]) {
        let wish = wish(number, request);
        let input = Input::Ask {
            wish,
            chance: chance::draw(),
            may_start: true,
        };
        lobby.step(now(), input)?;
    }
    let state = ("playing", lobby.save(now()).into());
    let numbers = (lobby.epoch(), lobby.seq());
    let commit = store.commit(code, born, numbers, state, Lifetime::Probe);
    let delete = Delete {
        code: code.to_string(),
        born,
        epoch: Epoch(lobby.epoch()),
    };
    let written = store.write(&[Write::Commit(commit)], Vec::new()).await;
    store.write(&[Write::Delete(delete)], Vec::new()).await;
    if written == [Written::Saved] {
        Ok(())
    } else {
        Err(ProbeError::Relieved)
    }
}

/// Nobody's: it has no session, and nothing is sent to its connection.
fn wish(number: u64, request: Request) -> Wish {
    let token = "0".repeat(64).parse().expect("64 hexadecimal digits");
    let person = Person {
        player: PlayerId::person([0; 6]),
        token,
        generation: 0,
    };
    let connection = Connection {
        link: LinkId(0),
        id: ConnectionId(0),
    };
    Wish {
        person,
        connection,
        number,
        request,
    }
}
