//! Lobbies in Redis: what the scripts are given, and what their answers mean.

use bytes::Bytes;
use redis::{Pipeline, Value};

use super::reply::{next, of_batch, read, record, tagged, unexpected};
use super::scripts;
use super::{RedisBackend, milliseconds};
use crate::backend::Answer;
use crate::lobby::{
    CLAIM_WAIT, CLAIM_WINDOW, Claim, Claimed, Commit, Committed, Create, Created, Delete, Deleted,
    FREE_CLAIMS, KEPT_CLAIMS, Lifetime, Record, Release, Released, Touch, Touched,
};
use crate::registry::check_code;
use crate::{Epoch, RegistryError, Seq};

impl RedisBackend {
    pub(super) async fn create_lobby(&self, create: &Create) -> Answer<Created> {
        let key = self.keys.lobby(&create.code);
        let mut call = scripts::CREATE.script().key(&key);
        call.arg(create.born.to_string())
            .arg(create.owner.node.as_str())
            .arg(create.owner.incarnation.to_string())
            .arg(&create.saved[..])
            .arg(&create.status)
            .arg(self.ttl_ms(create.lifetime));
        let (word, mut parts) = tagged(self.pool.script(&call, &key).await?, &key)?;
        match word.as_str() {
            "ok" => Ok(Created::Ok {
                epoch: Epoch(next(&mut parts, &key)?),
                seq: Seq(next(&mut parts, &key)?),
            }),
            "exists" => Ok(Created::Exists(record(next(&mut parts, &key)?, &key)?)),
            other => Err(unexpected(other, &key)),
        }
    }

    pub(super) async fn commit_lobbies(&self, commits: &[Commit]) -> Vec<Answer<Committed>> {
        let add = |pipeline: &mut Pipeline, key: &str, commit: &Commit| {
            scripts::COMMIT
                .call(pipeline, &[key])
                .arg(commit.born.to_string())
                .arg(commit.epoch.0)
                .arg(commit.owner.node.as_str())
                .arg(commit.owner.incarnation.to_string())
                .arg(commit.seq.0)
                .arg(&commit.saved[..])
                .arg(&commit.status)
                .arg(u8::from(commit.accepted_input))
                .arg(self.ttl_ms(commit.lifetime));
        };
        let understand = |word: &str| match word {
            "ok" => Some(Committed::Ok),
            "superseded" => Some(Committed::Superseded),
            "relieved" => Some(Committed::Relieved),
            _ => None,
        };
        let batch = scripts::COMMIT.batch();
        self.batch(batch, commits, |commit| &commit.code, add, understand)
            .await
    }

    pub(super) async fn touch_lobbies(&self, touches: &[Touch]) -> Vec<Answer<Touched>> {
        let ttl_ms = self.ttl_ms(Lifetime::Table);
        let add = |pipeline: &mut Pipeline, key: &str, touch: &Touch| {
            scripts::TOUCH
                .call(pipeline, &[key])
                .arg(touch.born.to_string())
                .arg(touch.epoch.0)
                .arg(touch.owner.node.as_str())
                .arg(touch.owner.incarnation.to_string())
                .arg(touch.seq.0)
                .arg(ttl_ms);
        };
        let understand = |word: &str| match word {
            "ok" => Some(Touched::Ok),
            "behind" => Some(Touched::Behind),
            "relieved" => Some(Touched::Relieved),
            _ => None,
        };
        let batch = scripts::TOUCH.batch();
        self.batch(batch, touches, |touch| &touch.code, add, understand)
            .await
    }

    pub(super) async fn claim_lobby(&self, claim: &Claim) -> Answer<Claimed> {
        let key = self.keys.lobby(&claim.code);
        let mut call = scripts::CLAIM.script().key(&key);
        call.arg(claim.born.to_string())
            .arg(claim.seen_epoch.0)
            .arg(claim.seen_seq.0)
            .arg(claim.owner.node.as_str())
            .arg(claim.owner.incarnation.to_string())
            .arg(self.ttl_ms(Lifetime::Table))
            .arg(milliseconds(CLAIM_WINDOW))
            .arg(FREE_CLAIMS)
            .arg(milliseconds(CLAIM_WAIT))
            .arg(KEPT_CLAIMS);
        match &claim.handed {
            None => call.arg(0).arg(0).arg(0).arg("").arg(""),
            Some(handed) => call
                .arg(1)
                .arg(handed.epoch.0)
                .arg(handed.seq.0)
                .arg(&handed.saved[..])
                .arg(&handed.status),
        };
        let (word, mut parts) = tagged(self.pool.script(&call, &key).await?, &key)?;
        match word.as_str() {
            "saved" => Ok(Claimed::Saved {
                epoch: Epoch(next(&mut parts, &key)?),
                seq: Seq(next(&mut parts, &key)?),
                saved: Bytes::from(next::<Vec<u8>>(&mut parts, &key)?),
                status: next(&mut parts, &key)?,
            }),
            "owned" => Ok(Claimed::OwnedBy(record(next(&mut parts, &key)?, &key)?)),
            "gone" => Ok(Claimed::Gone),
            "wait" => Ok(Claimed::Wait {
                milliseconds: next(&mut parts, &key)?,
            }),
            other => Err(unexpected(other, &key)),
        }
    }

    pub(super) async fn release_lobby(&self, release: &Release) -> Answer<Released> {
        let key = self.keys.lobby(&release.code);
        let mut call = scripts::RELEASE.script().key(&key);
        call.arg(release.born.to_string())
            .arg(release.epoch.0)
            .arg(release.seq.0)
            .arg(self.ttl_ms(Lifetime::Table));
        let word: String = read(self.pool.script(&call, &key).await?, &key)?;
        match word.as_str() {
            "ok" => Ok(Released::Ok),
            "behind" => Ok(Released::Behind),
            "superseded" => Ok(Released::Superseded),
            "relieved" => Ok(Released::Relieved),
            other => Err(unexpected(other, &key)),
        }
    }

    pub(super) async fn delete_lobby(&self, delete: &Delete) -> Answer<Deleted> {
        let key = self.keys.lobby(&delete.code);
        let mut call = scripts::DELETE.script().key(&key);
        call.arg(delete.born.to_string())
            .arg(delete.epoch.0)
            .arg(milliseconds(self.lifetimes.session));
        let word: String = read(self.pool.script(&call, &key).await?, &key)?;
        match word.as_str() {
            "ok" => Ok(Deleted::Ok),
            "relieved" => Ok(Deleted::Relieved),
            other => Err(unexpected(other, &key)),
        }
    }

    pub(super) async fn owner_of_lobby(&self, code: &str) -> Answer<Option<Record>> {
        let key = self.keys.lobby(code);
        let mut command = redis::cmd("HMGET");
        command.arg(&key).arg(&[
            "born",
            "owner",
            "incarnation",
            "epoch",
            "seq",
            "status",
            "deleted",
        ]);
        let row: Vec<Value> = self.pool.command(&command, &key).await?;
        if row.first().is_none_or(|born| *born == Value::Nil) {
            return Ok(None);
        }
        record(Value::Array(row), &key).map(Some)
    }

    pub(super) async fn add_public(&self, codes: &[String]) -> Answer<()> {
        codes.iter().try_for_each(|code| check_code(code))?;
        if codes.is_empty() {
            return Ok(());
        }
        let key = self.keys.public();
        let mut call = scripts::PUBLIC_ADD.script().key(&key);
        call.arg(milliseconds(self.lifetimes.public)).arg(codes);
        self.pool.script(&call, &key).await.map(drop)
    }

    pub(super) async fn remove_public(&self, code: &str) -> Answer<()> {
        let key = self.keys.public();
        self.pool
            .command(redis::cmd("ZREM").arg(&key).arg(code), &key)
            .await
    }

    pub(super) async fn list_public(&self, limit: usize) -> Answer<Vec<String>> {
        let key = self.keys.public();
        let mut call = scripts::PUBLIC_LIST.script().key(&key);
        call.arg(limit);
        read(self.pool.script(&call, &key).await?, &key)
    }

    pub(super) async fn count_creates(&self, address: &str) -> Answer<u64> {
        let key = self.keys.creates(address);
        let mut call = scripts::COUNT_CREATE.script().key(&key);
        call.arg(milliseconds(crate::registry::CREATE_WINDOW));
        read(self.pool.script(&call, &key).await?, &key)
    }

    /// Runs one script over many lobbies in one batch on the commits' own connection.
    async fn batch<Item, Word>(
        &self,
        mut pipeline: Pipeline,
        items: &[Item],
        code_of: impl Fn(&Item) -> &String,
        add: impl Fn(&mut Pipeline, &str, &Item),
        understand: impl Fn(&str) -> Option<Word>,
    ) -> Vec<Answer<Word>> {
        let mut keys = Vec::with_capacity(items.len());
        for item in items {
            let code = code_of(item);
            if let Err(error) = check_code(code) {
                keys.push(Err(error));
                continue;
            }
            let key = self.keys.lobby(code);
            add(&mut pipeline, &key, item);
            keys.push(Ok(key));
        }
        if items.is_empty() {
            return Vec::new();
        }
        let mut results = match self.commits.run(&mut pipeline).await {
            Ok(results) => results.into_iter(),
            Err(error) => return items.iter().map(|_| Err(error.clone())).collect(),
        };
        let missing = || RegistryError::Unavailable("an answer is missing".to_owned());
        keys.into_iter()
            .map(|key| {
                let key = key?;
                let value = of_batch(results.next().ok_or_else(missing)?, &key)?;
                let word: String = read(value, &key)?;
                understand(&word).ok_or_else(|| unexpected(&word, &key))
            })
            .collect()
    }

    fn ttl_ms(&self, lifetime: Lifetime) -> u64 {
        milliseconds(lifetime.ttl(self.lifetimes.session))
    }
}
