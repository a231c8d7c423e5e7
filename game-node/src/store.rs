//! The driver's way to the registry: what must be written is written, however long it takes.
//!
//! It decides nothing: what is written, and what follows from an answer, is the driver's.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use protocol::{LobbyCode, TokenHash};
use registry::{
    Born, Claim, Claimed, Commit, Committed, Create, Created, Delete, Deleted, Generation, Health,
    Lifetime, Owner, Registry, RegistryError, Release, Released, Seated, Session, Touch, Touched,
};
use tokio::sync::{Mutex, watch};
use tracing::{error, warn};

use crate::chance;
use crate::lobby::{SessionChange, SessionPlace};

/// Between two tries while the registry is away: doubling, with jitter, for ever.
const SHORTEST_BACKOFF: Duration = Duration::from_millis(100);
const LONGEST_BACKOFF: Duration = Duration::from_secs(1);

/// Sessions that are read in one request.
const SESSIONS_AT_ONCE: usize = 500;

/// One lobby's record, to be changed.
#[derive(Clone, Debug)]
pub(crate) enum Write {
    Commit(Commit),
    /// Its lobby has ended.
    Delete(Delete),
}

/// What became of a [`Write`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Saved,
    /// The lobby is another's.
    Relieved,
}

/// What became of one try to write.
pub(crate) struct Tried {
    /// In order; none for what is to be tried again.
    pub(crate) records: Vec<Option<Written>>,
    /// Those that are to be tried again.
    pub(crate) sessions: Vec<SessionChange>,
}

/// The registry as this run of this node uses it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Store {
    registry: Registry,
    owner: Owner,
    /// Held while public lobbies are listed or hidden, one after the other in the order in which that
    /// is wanted: over two connections a lobby could be listed anew just after it was hidden.
    listing: Arc<Mutex<()>>,
    /// Shut, nothing is written: a registry that does not answer.
    #[cfg(test)]
    pub(crate) gate: tokio::sync::watch::Receiver<bool>,
}

impl Store {
    pub(crate) fn new(registry: Registry, owner: Owner) -> Self {
        Self {
            registry,
            owner,
            listing: Arc::default(),
            #[cfg(test)]
            gate: tokio::sync::watch::channel(true).1,
        }
    }

    pub(crate) fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The registry's clock, in epoch ms; 0 before it has answered once.
    pub(crate) fn now_ms(&self) -> u64 {
        self.registry.now_ms().unwrap_or_default()
    }

    /// A commit of this owner.
    pub(crate) fn commit(
        &self,
        code: LobbyCode,
        born: Born,
        (epoch, seq): (u64, u64),
        (status, saved): (&str, Bytes),
        lifetime: Lifetime,
    ) -> Commit {
        Commit {
            code: code.to_string(),
            born,
            epoch: registry::Epoch(epoch),
            owner: self.owner.clone(),
            seq: registry::Seq(seq),
            saved,
            status: status.to_owned(),
            accepted_input: true,
            lifetime,
        }
    }

    /// Whether the registry can be reached, and which it is.
    pub(crate) fn health(&self) -> watch::Receiver<Health> {
        self.registry.health()
    }

    /// Writes records and sessions; answers for the records, in order, once all is written.
    pub(crate) async fn write(
        &self,
        writes: &[Write],
        sessions: Vec<SessionChange>,
    ) -> Vec<Written> {
        let mut open = sessions;
        let mut backoff = Backoff::default();
        loop {
            let tried = self.try_write(writes, open).await;
            let written: Option<Vec<Written>> = tried.records.into_iter().collect();
            open = tried.sessions;
            match written {
                Some(written) if open.is_empty() => return written,
                _ => backoff.wait().await,
            }
        }
    }

    /// Tries once to write records and sessions.
    pub(crate) async fn try_write(&self, writes: &[Write], sessions: Vec<SessionChange>) -> Tried {
        self.pass_gate().await;
        let (records, sessions) =
            tokio::join!(self.try_records(writes.iter()), self.try_sessions(sessions));
        Tried { records, sessions }
    }

    /// None for what is to be tried again.
    async fn try_records(
        &self,
        writes: impl Iterator<Item = &Write> + Clone,
    ) -> Vec<Option<Written>> {
        let commits = writes.clone().filter_map(|write| match write {
            Write::Commit(commit) => Some(commit.clone()),
            Write::Delete(_) => None,
        });
        let commits: Vec<Commit> = commits.collect();
        let endings = writes.clone().filter_map(|write| match write {
            Write::Commit(_) => None,
            Write::Delete(delete) => Some(self.registry.delete(delete)),
        });
        let (committed, ended) = tokio::join!(self.registry.commit(&commits), join_all(endings));
        let mut committed = committed.into_iter();
        let mut ended = ended.into_iter();
        let answers = writes.map(|write| match write {
            Write::Commit(commit) => {
                let written = |answer| match answer {
                    Committed::Ok | Committed::Superseded => Written::Saved,
                    Committed::Relieved => Written::Relieved,
                };
                settled(&commit.code, committed.next()?.map(written))
            }
            Write::Delete(delete) => {
                let written = |answer| match answer {
                    Deleted::Ok => Written::Saved,
                    Deleted::Relieved => Written::Relieved,
                };
                settled(&delete.code, ended.next()?.map(written))
            }
        });
        answers.collect()
    }

    /// Those that are to be tried again.
    async fn try_sessions(&self, changes: Vec<SessionChange>) -> Vec<SessionChange> {
        let tries = changes.into_iter().map(async |change| {
            let written = self.write_session(&change).await;
            written
                .is_err_and(|error| error.may_pass())
                .then_some(change)
        });
        join_all(tries).await.into_iter().flatten().collect()
    }

    async fn write_session(&self, change: &SessionChange) -> Result<(), RegistryError> {
        let token = registry_token(&change.token);
        let code = change.code.to_string();
        let written = match &change.place {
            SessionPlace::Elsewhere => self.registry.session_stand(&token, &code).await,
            SessionPlace::Here(name) => {
                let seated = Seated {
                    player_id: change.player.to_string(),
                    generation: Generation(change.generation),
                    number: change.number,
                    name: name.as_ref().map(ToString::to_string),
                    lobby: code,
                };
                self.registry.session_sit(&token, &seated).await
            }
        };
        if let Err(error @ RegistryError::Corrupt { .. }) = &written {
            // A newer program wrote it, or not ours.
            error!(%error, "a session can't be written");
        }
        written
    }

    pub(crate) async fn create(
        &self,
        code: LobbyCode,
        born: Born,
        saved: Bytes,
        lifetime: Lifetime,
    ) -> Result<Created, RegistryError> {
        self.pass_gate().await;
        let create = Create {
            code: code.to_string(),
            born,
            owner: self.owner.clone(),
            saved,
            status: "waiting".to_owned(),
            lifetime,
        };
        self.registry.create(&create).await
    }

    pub(crate) async fn claim(&self, claim: &Claim) -> Result<Claimed, RegistryError> {
        self.pass_gate().await;
        self.registry.claim(claim).await
    }

    /// Gives a lobby up; tries on for as long as the registry is away.
    pub(crate) async fn release(&self, release: &Release) -> Released {
        let mut backoff = Backoff::default();
        loop {
            self.pass_gate().await;
            match self.registry.release(release).await {
                Ok(released) => return released,
                Err(error) if error.may_pass() => backoff.wait().await,
                Err(error) => {
                    // A newer program wrote the record, or not ours: this node can't own it.
                    error!(code = release.code, %error, "a lobby can't be released");
                    return Released::Relieved;
                }
            }
        }
    }

    /// Renews lobbies; nothing for each of which nothing is known.
    pub(crate) async fn touch(&self, touches: &[Touch]) -> Vec<Option<Touched>> {
        self.pass_gate().await;
        let answers = self.registry.touch(touches).await;
        answers.into_iter().map(Result::ok).collect()
    }

    /// Whether quick play finds these lobbies; those that it finds stay for some seconds only.
    pub(crate) async fn list(&self, public: Vec<LobbyCode>, hidden: Vec<LobbyCode>) {
        let public: Vec<String> = public.iter().map(ToString::to_string).collect();
        let _turn = self.listing.lock().await;
        let mut results = Vec::new();
        if !public.is_empty() {
            results.push(self.registry.public_add(&public).await);
        }
        for code in hidden {
            results.push(self.registry.public_remove(code.as_str()).await);
        }
        for error in results.into_iter().filter_map(Result::err) {
            // The registry is away; the next round writes it anew, and a late entry lapses.
            tracing::debug!(%error, "the list of public lobbies is not up to date");
        }
    }

    /// What these sessions say; nothing if the registry does not answer.
    pub(crate) async fn sessions(&self, tokens: &[TokenHash]) -> Option<Vec<Option<Session>>> {
        let tokens: Vec<registry::TokenHash> = tokens.iter().map(registry_token).collect();
        let mut sessions = Vec::with_capacity(tokens.len());
        for some in tokens.chunks(SESSIONS_AT_ONCE) {
            sessions.extend(self.registry.sessions_read(some).await.ok()?);
        }
        Some(sessions)
    }

    #[cfg(test)]
    async fn pass_gate(&self) {
        let mut gate = self.gate.clone();
        // Without a keeper the gate stands as it was left: open.
        let _open = gate.wait_for(|open| *open).await;
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_async, reason = "tests can shut it")]
    async fn pass_gate(&self) {}
}

/// None: to be tried again.
fn settled(code: &str, answer: Result<Written, RegistryError>) -> Option<Written> {
    match answer {
        Ok(written) => Some(written),
        Err(error) if error.may_pass() => None,
        Err(error) => {
            // A newer program wrote the record, or not ours: this node can't own it.
            error!(code, %error, "a lobby can't be saved");
            Some(Written::Relieved)
        }
    }
}

/// The registry keeps hashes as bytes, the protocol as text.
fn registry_token(token: &TokenHash) -> registry::TokenHash {
    token
        .as_str()
        .parse()
        .expect("both are 64 hexadecimal digits")
}

#[derive(Default)]
struct Backoff {
    tries: u32,
}

impl Backoff {
    async fn wait(&mut self) {
        if self.tries == 0 {
            // The registry is away, or this node's way to it is broken.
            warn!("the registry can't be written: trying on");
        }
        let longest = (SHORTEST_BACKOFF * 2_u32.pow(self.tries.min(4))).min(LONGEST_BACKOFF);
        self.tries += 1;
        let jitter = chance::fraction();
        tokio::time::sleep(longest.mul_f64(0.5 + jitter / 2.0)).await;
    }
}

#[cfg(test)]
mod tests {
    use registry::simulation::{Redis, Spawn, Wire};
    use registry::{Incarnation, Lifetimes, NodeId};
    use uuid::Uuid;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_hidden_while_it_is_being_listed_is_hidden_after_that() {
        let redis = Redis::start(Lifetimes::default());
        let spawn: Spawn = Arc::new(|task| drop(tokio::spawn(task)));
        let wire = Wire::default();
        let registry = redis.client(wire.clone(), spawn);
        let owner = Owner {
            node: NodeId::new("game-1").unwrap(),
            incarnation: Incarnation::new(Uuid::from_u128(1)),
        };
        let store = Store::new(registry.clone(), owner);
        let code: LobbyCode = "ABCD23".parse().unwrap();
        store.list(vec![code], vec![]).await;
        assert_eq!(registry.public_list(9).await.unwrap(), ["ABCD23"]);

        // What renews it comes late.
        wire.delay(1, Duration::from_millis(400));
        tokio::join!(
            store.list(vec![code], vec![]),
            store.list(vec![], vec![code])
        );
        assert_eq!(registry.public_list(9).await.unwrap(), [""; 0]);
    }
}
