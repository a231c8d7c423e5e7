//! Who says hello: as the registry knows them, or, where it can't be asked or may have forgotten
//! them, as the owner of their table does.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chassis::clock;
use protocol::link::{Known, KnownPerson, Person, Question};
use protocol::{ConnectionId, PlayerId, Token};
use registry::{Generation, Greeting, Opened, Session, TokenHash};
use tokio::time::timeout_at;
use tracing::{debug, warn};

use super::{Gateway, in_time, registry_hash};
use crate::chance;
use crate::session::{ANSWER_WITHIN, Entered, Input, NotEntered, RegistryAway, SessionRecord};

/// Of two hellos that are further apart it is known which came later, whoever heard them: gateways
/// know the registry's clock better than by this, unless its answers take as long.
const SURELY_LATER: Duration = Duration::from_millis(250);

/// A `hello` that is to be answered.
#[derive(Clone, Copy)]
struct Said {
    /// When it was read.
    at: Instant,
    /// The same by the clock that all gateways share, as soon as it has been seen here.
    at_ms: u64,
}

impl Said {
    fn until(self) -> Instant {
        self.at + ANSWER_WITHIN
    }
}

impl Gateway {
    /// Recognises a player by their token, or makes a new one. A token becomes a stranger only
    /// where nobody can know it: until then its player shall come again.
    pub(crate) async fn enter(
        self: &Arc<Self>,
        connection: ConnectionId,
        token: Option<Token>,
    ) -> Result<Entered, NotEntered> {
        let at_ms = self.registry.now_ms();
        let said = Said {
            at: clock::now(),
            at_ms: at_ms.unwrap_or_else(clock::unix_milliseconds),
        };
        let known = match token {
            Some(token) => self.recognise(token, said).await?,
            None => None,
        };
        let returning = known.is_some();
        let entered = match known {
            Some(entered) => entered,
            None => by(said.until(), self.newcomer())
                .await
                .unwrap_or(Err(NotEntered::Unavailable))?,
        };
        let person = &entered.person;
        self.connections.identify(connection, person.player.clone());
        if returning {
            let told = by(said.until(), self.tell_others(connection, person)).await;
            if told.is_none() {
                debug!(player = %person.player, "older connections were not told in time");
            }
        }
        Ok(entered)
    }

    /// Whose token it is; none if it is nobody's.
    async fn recognise(
        self: &Arc<Self>,
        token: Token,
        said: Said,
    ) -> Result<Option<Entered>, NotEntered> {
        let (opened, generation) = self.open(&token, said).await?;
        let Ok(session) = opened else {
            return self
                .recognise_without_registry(token, generation, said)
                .await;
        };
        let seated = session.as_ref().is_some_and(|one| one.lobby.is_some());
        let has_lost_data = self.may_have_lost_data();
        // One that is not there may be lost without that too: then whoever owns the table knows.
        if seated || (session.is_some() && !has_lost_data) {
            return Ok(session.and_then(|session| recognised(token, session)));
        }
        let (known, complete) = self.inquire(&token, said).await;
        if let Some((known, person)) = known {
            let generation = generation.max(person.generation + 1);
            let mut entered = entered(token, &known, person, generation);
            let record = SessionRecord {
                person: entered.person.clone(),
                name: entered.name.clone(),
                lobby: entered.lobby,
            };
            let written = by(said.until(), self.write_session(record)).await;
            entered.written = matches!(written, Some(Ok(())));
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
        said: Said,
    ) -> Result<(Result<Option<Session>, RegistryAway>, u64), NotEntered> {
        let (token, mut after, mut is_older) = (hash(token), None, false);
        let opened = in_time(async {
            loop {
                let greeting = Greeting {
                    said_at_ms: said.at_ms,
                    after,
                };
                match self.registry.session_open(&token, greeting).await? {
                    Opened::Newest(session) => return Ok(Some(session)),
                    Opened::Unknown => return Ok(None),
                    Opened::Newer { newest } if self.is_later(newest, said) => {
                        is_older = true;
                        return Ok(None);
                    }
                    // Said at the same time, or by a gateway that knows the time a little better.
                    // Had this connection ended, it would not come to ask again.
                    Opened::Newer { newest } => after = Some(newest),
                }
            }
        })
        .await;
        if is_older {
            return Err(NotEntered::Older);
        }
        let generation = match (&opened, after) {
            (Ok(Some(session)), _) => session.generation.0,
            (_, Some(Generation(newest))) => newest + 1,
            (_, None) => said.at_ms,
        };
        Ok((opened, generation))
    }

    /// Whether that connection's hello came after this one, which has waited here or on its way:
    /// its player has come back without waiting for the answer, and this socket may be one that
    /// has not noticed. A number from ahead of the registry's clock is of another clock.
    fn is_later(&self, newest: Generation, said: Said) -> bool {
        let Some(now_ms) = self.registry.now_ms() else {
            return false;
        };
        is_later(newest.0, now_ms, clock::now().duration_since(said.at))
    }

    /// The registry does not answer: only the owner of the player's table may know them.
    async fn recognise_without_registry(
        self: &Arc<Self>,
        token: Token,
        generation: u64,
        said: Said,
    ) -> Result<Option<Entered>, NotEntered> {
        let (known, _) = self.inquire(&token, said).await;
        let (known, person) = known.ok_or(NotEntered::Unavailable)?;
        if person.generation >= generation {
            // Another gateway's clock is ahead: there they are told apart.
            return Err(NotEntered::Elsewhere);
        }
        Ok(Some(entered(token, &known, person, generation)))
    }

    /// Asks all nodes whose token it is; also whether each has answered or is dead.
    /// Who has no turn in time is told to come again.
    async fn inquire(
        self: &Arc<Self>,
        token: &Token,
        said: Said,
    ) -> (Option<(Known, KnownPerson)>, bool) {
        let Some(Ok(_turn)) = by(said.until(), self.inquiries.acquire()).await else {
            return (None, false);
        };
        let question = Question::Session(token.hash());
        let answers = self.links.ask_all(&question, Some(said.until())).await;
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

/// What comes of it by then; none if nothing does.
async fn by<T>(until: Instant, work: impl Future<Output = T>) -> Option<T> {
    timeout_at(until.into(), work).await.ok()
}

/// Whether a generation is the time of a hello that came after one which was read so long ago. What
/// is ahead of the registry's clock is the time of none.
fn is_later(generation: u64, now_ms: u64, ago: Duration) -> bool {
    let Ok(ago_ms) = u64::try_from(ago.saturating_sub(SURELY_LATER).as_millis()) else {
        return false;
    };
    generation <= now_ms && generation > now_ms.saturating_sub(ago_ms)
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

#[cfg(test)]
mod tests {
    use tokio::sync::Semaphore;

    use super::*;

    #[test]
    fn a_hello_is_surely_later_only_if_it_came_well_after_the_other_and_by_the_same_clock() {
        let read_ago =
            |ago_ms| move |generation| is_later(generation, 100_000, Duration::from_millis(ago_ms));
        let waited = read_ago(3_000);
        assert!(!waited(97_000) && !waited(97_250), "about the same time");
        assert!(waited(97_251) && waited(100_000));
        assert!(!waited(100_001), "ahead of the clock");
        let just_read = read_ago(200);
        assert!(!just_read(99_999), "nothing can be told yet");
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_longer_for_their_turn_than_for_an_answer() {
        let turns = Semaphore::new(0);
        let said = clock::now();
        assert!(by(said + ANSWER_WITHIN, turns.acquire()).await.is_none());
        assert_eq!(clock::now().duration_since(said), ANSWER_WITHIN);
    }
}
