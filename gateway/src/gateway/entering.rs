//! Who says hello: as the registry knows them, or, where it can't be asked or may have forgotten
//! them, as the owner of their table does.

use std::sync::Arc;

use chassis::clock;
use protocol::link::{Known, KnownPerson, Person, Question};
use protocol::{ConnectionId, PlayerId, Token};
use registry::{Generation, Greeting, Opened, Session, TokenHash};
use tracing::{debug, warn};

use super::{Gateway, in_time, registry_hash};
use crate::chance;
use crate::session::{Entered, Input, NotEntered, RegistryAway, SessionRecord};

impl Gateway {
    /// Recognises a player by their token, or makes a new one. A token becomes a stranger only
    /// where nobody can know it: until then its player shall come again.
    pub(crate) async fn enter(
        self: &Arc<Self>,
        connection: ConnectionId,
        token: Option<Token>,
    ) -> Result<Entered, NotEntered> {
        // By the clock that all gateways share, as soon as it has been seen here.
        let said_at_ms = self.registry.now_ms();
        let said_at_ms = said_at_ms.unwrap_or_else(clock::unix_milliseconds);
        let known = match token {
            Some(token) => self.recognise(token, said_at_ms).await?,
            None => None,
        };
        let returning = known.is_some();
        let entered = match known {
            Some(entered) => entered,
            None => self.newcomer().await?,
        };
        let person = &entered.person;
        self.connections.identify(connection, person.player.clone());
        if returning {
            self.tell_others(connection, person).await;
        }
        Ok(entered)
    }

    /// Whose token it is; none if it is nobody's.
    async fn recognise(
        self: &Arc<Self>,
        token: Token,
        said_at_ms: u64,
    ) -> Result<Option<Entered>, NotEntered> {
        let (opened, generation) = self.open(&token, said_at_ms).await;
        let Ok(session) = opened else {
            return self.recognise_without_registry(token, generation).await;
        };
        let seated = session.as_ref().is_some_and(|one| one.lobby.is_some());
        let has_lost_data = self.may_have_lost_data();
        // One that is not there may be lost without that too: then whoever owns the table knows.
        if seated || (session.is_some() && !has_lost_data) {
            return Ok(session.and_then(|session| recognised(token, session)));
        }
        let (known, complete) = self.inquire(&token).await;
        if let Some((known, person)) = known {
            let generation = generation.max(person.generation + 1);
            let mut entered = entered(token, &known, person, generation);
            let record = SessionRecord {
                person: entered.person.clone(),
                name: entered.name.clone(),
                lobby: entered.lobby,
            };
            entered.written = self.write_session(record).await.is_ok();
            return Ok(Some(entered));
        }
        // A node that is not listed yet was not asked either.
        if !has_lost_data || (complete && self.routes.may_claim()) {
            Ok(session.and_then(|session| recognised(token, session)))
        } else {
            Err(NotEntered::Unavailable)
        }
    }

    /// Has the registry open the session for this connection; also the generation that it has from
    /// then on, which without an answer is what an opening that is done all the same has written.
    async fn open(
        &self,
        token: &Token,
        said_at_ms: u64,
    ) -> (Result<Option<Session>, RegistryAway>, u64) {
        let (token, mut after) = (hash(token), None);
        let opened = in_time(async {
            loop {
                let greeting = Greeting { said_at_ms, after };
                match self.registry.session_open(&token, greeting).await? {
                    Opened::Newest(session) => return Ok(Some(session)),
                    Opened::Unknown => return Ok(None),
                    // Said at the same time, or by a gateway that knows the time a little better.
                    // Had this connection ended, it would not come to ask again.
                    Opened::Newer { newest } => after = Some(newest),
                }
            }
        })
        .await;
        let generation = match (&opened, after) {
            (Ok(Some(session)), _) => session.generation.0,
            (_, Some(Generation(newest))) => newest + 1,
            (_, None) => said_at_ms,
        };
        (opened, generation)
    }

    /// The registry does not answer: only the owner of the player's table may know them.
    async fn recognise_without_registry(
        self: &Arc<Self>,
        token: Token,
        generation: u64,
    ) -> Result<Option<Entered>, NotEntered> {
        let (known, _) = self.inquire(&token).await;
        let (known, person) = known.ok_or(NotEntered::Unavailable)?;
        if person.generation >= generation {
            // Another gateway's clock is ahead: there they are told apart.
            return Err(NotEntered::Elsewhere);
        }
        Ok(Some(entered(token, &known, person, generation)))
    }

    /// Asks all nodes whose token it is; also whether each has answered or is dead.
    async fn inquire(self: &Arc<Self>, token: &Token) -> (Option<(Known, KnownPerson)>, bool) {
        let Ok(_turn) = self.inquiries.acquire().await else {
            return (None, false);
        };
        let question = Question::Session(token.hash());
        let answers = self.links.ask_all(&question).await;
        let complete = answers.complete();
        let known = answers.known.into_iter().filter_map(|(_, mut known)| {
            let person = known.person.take()?;
            Some((known, person))
        });
        let newest = known.max_by_key(|(known, person)| (person.generation, known.epoch));
        (newest, complete)
    }

    /// Older connections of the same player shall end, also at other gateways.
    async fn tell_others(&self, connection: ConnectionId, person: &Person) {
        if !self.registry.reachable() {
            // The owner of their table tells them.
            return;
        }
        // Whoever misses it is told by the lobby's owner.
        let generation = Generation(person.generation);
        let told = self
            .registry
            .publish_session(person.player.as_str(), generation);
        // Who has come after this one, and before it could be told.
        let token = [registry_hash(&person.token)];
        let newest = self.registry.sessions_read(&token);
        let (told, newest) = tokio::join!(in_time(told), in_time(newest));
        if let Err(RegistryAway) = told {
            debug!(player = %person.player, "older connections were not told");
        }
        if let Some(newest) = newest.ok().into_iter().flatten().flatten().next() {
            let generation = newest.generation.0;
            self.connections
                .deliver(connection, Input::Opened { generation });
        }
    }

    async fn newcomer(&self) -> Result<Entered, NotEntered> {
        let token = Token::new(chance::bytes());
        let player = PlayerId::person(chance::bytes());
        let hash = hash(&token);
        let session = in_time(self.registry.session_create(&hash, player.as_str()))
            .await
            .map_err(|RegistryAway| NotEntered::Unavailable)?;
        recognised(token, session).ok_or(NotEntered::Unavailable)
    }
}

/// A session as the rest of the gateway knows it; none if it can't be read.
fn recognised(token: Token, session: Session) -> Option<Entered> {
    let Ok(player) = session.player_id.parse() else {
        // Somebody else writes under our keys.
        warn!("a session holds no player's id; it is replaced");
        return None;
    };
    let person = Person {
        player,
        token: token.hash(),
        generation: session.generation.0,
    };
    Some(Entered {
        person,
        token,
        name: session.name.and_then(|name| name.parse().ok()),
        lobby: session.lobby.and_then(|code| code.parse().ok()),
        written: true,
    })
}

/// Somebody whom the owner of their table knows, and the registry does not, or not so.
fn entered(token: Token, known: &Known, person: KnownPerson, generation: u64) -> Entered {
    Entered {
        person: Person {
            player: person.player,
            token: token.hash(),
            generation,
        },
        token,
        name: person.name,
        lobby: Some(known.code),
        written: false,
    }
}

fn hash(token: &Token) -> TokenHash {
    registry_hash(&token.hash())
}
