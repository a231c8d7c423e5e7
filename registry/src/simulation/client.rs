//! One process' end: connections with the time-outs of the real one's, and answers that may not come.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use super::deed::Deed;
use super::presence::{Heart, Subscriptions};
use super::server::Redis;
use super::wire::Wire;
use crate::backend::{Answer, Backend, Heartbeats, Subscriber};
use crate::backoff::Backoff;
use crate::health::{HealthCell, Server, Sight};
use crate::in_process::Store;
use crate::lobby::{
    Claim, Claimed, Commit, Committed, Create, Created, Delete, Deleted, Record, Release, Released,
    Touch, Touched,
};
use crate::presence::{Heard, Listing, Message};
use crate::redis::{COMMIT_TIMEOUT, HEARTBEAT_TIMEOUT, RESPONSE_TIMEOUT, TIMEOUTS_BEFORE_NEW};
use crate::registry::check_code;
use crate::session::{Greeting, Opened, Seated, Session, SessionSet};
use crate::{Generation, NodeId, RegistryError, TokenHash};

/// Runs something for as long as its process does.
pub type Spawn = Arc<dyn Fn(BoxFuture<'static, ()>) + Send + Sync>;

pub(super) struct Client {
    redis: Redis,
    health: Arc<HealthCell>,
    wire: Wire,
    spawn: Spawn,
    commits: Line,
    pool: Line,
}

/// Connections of one purpose.
pub(super) struct Line {
    redis: Redis,
    wire: Wire,
    health: Arc<HealthCell>,
    purpose: Purpose,
    state: Mutex<State>,
}

/// What connections are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Commits,
    Heartbeat,
    Pool,
}

impl Purpose {
    fn timeout(self) -> Duration {
        match self {
            Self::Commits => COMMIT_TIMEOUT,
            Self::Heartbeat => HEARTBEAT_TIMEOUT,
            Self::Pool => RESPONSE_TIMEOUT,
        }
    }
}

struct State {
    /// To which run of the server it is connected.
    run: Option<u64>,
    timeouts: u32,
    retry_at: Option<Instant>,
    backoff: Backoff,
    /// When the last request arrives: on one connection none overtakes another.
    last: Instant,
}

impl Client {
    pub(super) fn new(redis: Redis, wire: Wire, spawn: Spawn) -> Self {
        let health = Arc::new(HealthCell::new(false, None));
        let line = |purpose| Line::new(&redis, &wire, &health, purpose);
        Self {
            commits: line(Purpose::Commits),
            pool: line(Purpose::Pool),
            redis,
            health,
            wire,
            spawn,
        }
    }

    async fn ask<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Store, u64) -> T + Send + 'static,
    ) -> Answer<T> {
        let answer = self.pool.ask(operation).await;
        match &answer {
            Ok(_) => self.health.answered(Sight::Other),
            Err(error) => self.health.failed(Sight::Other, error),
        }
        answer
    }
}

impl Line {
    pub(super) fn new(
        redis: &Redis,
        wire: &Wire,
        health: &Arc<HealthCell>,
        purpose: Purpose,
    ) -> Self {
        Self {
            redis: redis.clone(),
            wire: wire.clone(),
            health: Arc::clone(health),
            purpose,
            state: Mutex::new(State {
                run: None,
                timeouts: 0,
                retry_at: None,
                backoff: Backoff::new(),
                last: Instant::now(),
            }),
        }
    }

    /// Has one operation done, and waits for its answer. It may be done without one, and later.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Store, u64) -> T + Send + 'static,
    ) -> Answer<T> {
        let run = self.connection().await?;
        let arrives = {
            let arrives = self.wire.request_arrives();
            let mut state = self.lock();
            // Those of a pool overtake one another.
            if self.purpose == Purpose::Pool {
                arrives
            } else {
                state.last = state.last.max(arrives);
                state.last
            }
        };
        let (redis, wire) = (self.redis.clone(), self.wire.clone());
        let (tell, answer) = oneshot::channel();
        // On its way it belongs to nobody.
        tokio::spawn(async move {
            wire.travel(arrives).await;
            let mut standing = redis.standing();
            let up = standing.wait_for(|standing| !standing.stopped).await;
            if up.map_or(true, |standing| !standing.up || standing.run != run) {
                return;
            }
            let done = redis.execute(operation);
            if wire.loses_answer() {
                // No answer is no end of the connection either.
                tokio::time::sleep(Duration::from_mins(1)).await;
                return;
            }
            wire.travel(Wire::arrives()).await;
            if redis.is_running(run) {
                // Fails if nobody waits any more. An answer that a killed server had not sent is lost with it.
                let _told = tell.send(done);
            }
        });
        match timeout(self.purpose.timeout(), answer).await {
            Ok(Ok(done)) => {
                self.lock().timeouts = 0;
                Ok(done)
            }
            Ok(Err(_)) => {
                self.lock().run = None;
                Err(unavailable("the connection was reset"))
            }
            Err(_) => {
                let mut state = self.lock();
                state.timeouts += 1;
                if state.timeouts >= TIMEOUTS_BEFORE_NEW {
                    state.run = None;
                }
                Err(unavailable("no answer in time"))
            }
        }
    }

    /// To which run the connection leads, which is made if there is none.
    async fn connection(&self) -> Answer<u64> {
        {
            let state = self.lock();
            if let Some(run) = state.run {
                return Ok(run);
            }
            if state.retry_at.is_some_and(|at| at > Instant::now()) {
                return Err(unavailable("waiting to connect again"));
            }
        }
        let connected = timeout(self.purpose.timeout(), self.connect()).await;
        let connected = connected.unwrap_or_else(|_| Err(unavailable("still connecting")));
        let mut state = self.lock();
        match connected {
            Ok((run, server)) => {
                (state.run, state.timeouts, state.retry_at) = (Some(run), 0, None);
                state.backoff.reset();
                drop(state);
                self.health.saw(&server);
                if self.purpose == Purpose::Commits {
                    self.health.new_commit_connection();
                }
                Ok(run)
            }
            Err(error) => {
                state.retry_at = Some(Instant::now() + state.backoff.next());
                Err(error)
            }
        }
    }

    async fn connect(&self) -> Answer<(u64, Server)> {
        self.wire.travel(Wire::arrives()).await;
        let mut standing = self.redis.standing();
        let standing = standing.wait_for(|standing| !standing.stopped).await;
        let standing = standing.map_or_else(|_| Err(()), |standing| Ok(*standing));
        let standing = match standing {
            Ok(standing) if standing.up => standing,
            _ => return Err(unavailable("connection refused")),
        };
        let server = Server {
            run_id: format!("run-{}", standing.run),
            run_began_ms: standing.began_ms,
            now_ms: self.redis.now_ms(),
        };
        self.wire.travel(Wire::arrives()).await;
        Ok((standing.run, server))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn unavailable(why: &str) -> RegistryError {
    RegistryError::Unavailable(why.to_owned())
}

#[async_trait]
impl Backend for Client {
    fn health_cell(&self) -> Arc<HealthCell> {
        Arc::clone(&self.health)
    }

    fn now_ms(&self) -> Option<u64> {
        self.health.now_ms()
    }

    async fn probe(&self) -> Answer<()> {
        let now_ms = self.ask(|_, now| now).await?;
        self.health.saw_time(now_ms);
        Ok(())
    }

    fn heartbeats(&self) -> Box<dyn Heartbeats> {
        Box::new(Heart::new(&self.redis, &self.wire, &self.health))
    }

    fn subscriber(&self, own: NodeId) -> Box<dyn Subscriber> {
        Box::new(Subscriptions {
            redis: self.redis.clone(),
            wire: self.wire.clone(),
            own,
        })
    }

    fn run_presence(&self, keeping: BoxFuture<'static, ()>) -> Answer<()> {
        (self.spawn)(keeping);
        Ok(())
    }

    async fn list(&self) -> Answer<Listing> {
        self.ask(|store, now| store.servers.list(now)).await
    }

    async fn publish(&self, message: &Message) -> Answer<()> {
        let (redis, message) = (self.redis.clone(), message.clone());
        self.ask(move |_, _| redis.publish(None, Heard::Message(message)))
            .await
    }

    async fn create(&self, create: &Create) -> Answer<Created> {
        let (create, redis) = (create.clone(), self.redis.clone());
        self.ask(move |store, now| {
            let created = store.lobbies.create(&create, now);
            redis.tell(Deed::of_create(&create, &created));
            created
        })
        .await
    }

    async fn commit(&self, commits: &[Commit]) -> Vec<Answer<Committed>> {
        let (all, redis) = (commits.to_vec(), self.redis.clone());
        let answers = self.commits.ask(move |store, now| {
            let commit = |commit: &Commit| {
                let before = store.lobbies.owner(&commit.code, now);
                let committed = store.lobbies.commit(commit, now);
                redis.tell(Deed::of_commit(commit, before, committed));
                committed
            };
            all.iter().map(commit).collect::<Vec<_>>()
        });
        each(answers.await, commits.len())
    }

    async fn claim(&self, claim: &Claim) -> Answer<Claimed> {
        let (claim, redis) = (claim.clone(), self.redis.clone());
        self.ask(move |store, now| {
            let before = store.lobbies.owner(&claim.code, now);
            let claimed = store.lobbies.claim(&claim, now);
            redis.tell(Deed::of_claim(&claim, before, &claimed));
            claimed
        })
        .await
    }

    async fn touch(&self, touches: &[Touch]) -> Vec<Answer<Touched>> {
        let all = touches.to_vec();
        let answers = self.commits.ask(move |store, now| {
            let touch = |touch| store.lobbies.touch(touch, now);
            all.iter().map(touch).collect::<Vec<_>>()
        });
        each(answers.await, touches.len())
    }

    async fn release(&self, release: &Release) -> Answer<Released> {
        let (release, redis) = (release.clone(), self.redis.clone());
        self.ask(move |store, now| {
            let before = store.lobbies.owner(&release.code, now);
            let released = store.lobbies.release(&release, now);
            redis.tell(Deed::of_release(&release, before, released));
            released
        })
        .await
    }

    async fn delete(&self, delete: &Delete) -> Answer<Deleted> {
        let delete = delete.clone();
        self.ask(move |store, now| store.lobbies.delete(&delete, now))
            .await
    }

    async fn owner(&self, code: &str) -> Answer<Option<Record>> {
        let code = code.to_owned();
        self.ask(move |store, now| store.lobbies.owner(&code, now))
            .await
    }

    async fn public_add(&self, codes: &[String]) -> Answer<()> {
        codes.iter().try_for_each(|code| check_code(code))?;
        let codes = codes.to_vec();
        self.ask(move |store, now| store.public_add(&codes, now))
            .await
    }

    async fn public_remove(&self, code: &str) -> Answer<()> {
        let code = code.to_owned();
        self.ask(move |store, _| store.public_remove(&code)).await
    }

    async fn public_list(&self, limit: usize) -> Answer<Vec<String>> {
        self.ask(move |store, now| store.public_list(limit, now))
            .await
    }

    async fn session_open(&self, token: &TokenHash, greeting: Greeting) -> Answer<Opened> {
        let token = *token;
        self.ask(move |store, now| store.sessions.open(&token, greeting, now))
            .await
    }

    async fn session_create(&self, token: &TokenHash, player_id: &str) -> Answer<Session> {
        let (token, player) = (*token, player_id.to_owned());
        self.ask(move |store, now| store.sessions.create(&token, &player, now))
            .await
    }

    async fn session_set(&self, token: &TokenHash, session: &Session) -> Answer<SessionSet> {
        let (token, session) = (*token, session.clone());
        self.ask(move |store, now| store.sessions.set(&token, &session, now))
            .await
    }

    async fn session_sit(&self, token: &TokenHash, seated: &Seated) -> Answer<()> {
        let (token, seated) = (*token, seated.clone());
        self.ask(move |store, now| store.sessions.sit(&token, &seated, now))
            .await
            .map(drop)
    }

    async fn session_stand(&self, token: &TokenHash, lobby: &str) -> Answer<()> {
        let (token, lobby) = (*token, lobby.to_owned());
        self.ask(move |store, now| store.sessions.stand(&token, &lobby, now))
            .await
            .map(drop)
    }

    async fn sessions_read(&self, tokens: &[TokenHash]) -> Answer<Vec<Option<Session>>> {
        let tokens = tokens.to_vec();
        self.ask(move |store, now| {
            let read = |token| store.sessions.read(token, now);
            tokens.iter().map(read).collect()
        })
        .await
    }

    async fn session_renew(&self, tokens: &[TokenHash]) -> Answer<Vec<bool>> {
        let tokens = tokens.to_vec();
        self.ask(move |store, now| {
            let renew = |token| store.sessions.renew(token, now);
            tokens.iter().map(renew).collect()
        })
        .await
    }

    async fn session_drop(&self, token: &TokenHash, generation: Generation) -> Answer<bool> {
        let token = *token;
        self.ask(move |store, now| store.sessions.drop(&token, generation, now))
            .await
    }

    async fn sessions_alive(&self, tokens: &[TokenHash]) -> Answer<Vec<bool>> {
        let tokens = tokens.to_vec();
        self.ask(move |store, now| {
            let alive = |token| store.sessions.alive(token, now);
            tokens.iter().map(alive).collect()
        })
        .await
    }

    async fn count_create(&self, address: &str) -> Answer<u64> {
        let address = address.to_owned();
        self.ask(move |store, now| store.count_create(&address, now))
            .await
    }
}

/// One answer each.
fn each<T>(answers: Answer<Vec<T>>, count: usize) -> Vec<Answer<T>> {
    match answers {
        Ok(answers) => answers.into_iter().map(Ok).collect(),
        Err(error) => (0..count).map(|_| Err(error.clone())).collect(),
    }
}
