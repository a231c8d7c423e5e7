//! Sessions in Redis.

use redis::{FromRedisValue, Pipeline};

use super::reply::{next, read, tagged, unexpected};
use super::scripts;
use super::{RedisBackend, milliseconds};
use crate::backend::Answer;
use crate::session::{Greeting, Opened, Seated, Session, SessionSet};
use crate::{Generation, TokenHash};

/// Sessions asked about at once: bounds what one batch makes Redis and the pool's others wait.
const BATCH: usize = 500;

/// Player, generation, name, lobby.
type Row = (String, u64, Option<String>, Option<String>);
/// The same of a session that may be gone.
type MaybeRow = (Option<String>, Option<u64>, Option<String>, Option<String>);

impl RedisBackend {
    pub(super) async fn open_session(
        &self,
        token: &TokenHash,
        greeting: Greeting,
    ) -> Answer<Opened> {
        let key = self.keys.session(token);
        let mut call = scripts::SESSION_OPEN.script().key(&key);
        call.arg(milliseconds(self.lifetimes.session))
            .arg(greeting.said_at_ms)
            .arg(greeting.after.map_or(0, |after| after.0));
        let (word, mut parts) = tagged(self.pool.script(&call, &key).await?, &key)?;
        match word.as_str() {
            "opened" => Ok(Opened::Newest(session(next(&mut parts, &key)?))),
            "newer" => {
                let newest = Generation(next(&mut parts, &key)?);
                Ok(Opened::Newer { newest })
            }
            "unknown" => Ok(Opened::Unknown),
            other => Err(unexpected(other, &key)),
        }
    }

    pub(super) async fn create_session(
        &self,
        token: &TokenHash,
        player_id: &str,
    ) -> Answer<Session> {
        let key = self.keys.session(token);
        let mut call = scripts::SESSION_CREATE.script().key(&key);
        call.arg(milliseconds(self.lifetimes.session))
            .arg(player_id);
        read(self.pool.script(&call, &key).await?, &key).map(session)
    }

    pub(super) async fn set_session(
        &self,
        token: &TokenHash,
        session: &Session,
    ) -> Answer<SessionSet> {
        let key = self.keys.session(token);
        let mut call = scripts::SESSION_SET.script().key(&key);
        call.arg(milliseconds(self.lifetimes.session))
            .arg(&session.player_id)
            .arg(session.generation.0)
            .arg(session.name.as_deref().unwrap_or_default())
            .arg(session.lobby.as_deref().unwrap_or_default());
        match read(self.pool.script(&call, &key).await?, &key)? {
            0 => Ok(SessionSet::Ok),
            newest => Ok(SessionSet::Older {
                newest: Generation(newest),
            }),
        }
    }

    pub(super) async fn sit_session(&self, token: &TokenHash, seated: &Seated) -> Answer<()> {
        let key = self.keys.session(token);
        let mut call = scripts::SESSION_SIT.script().key(&key);
        call.arg(milliseconds(self.lifetimes.session))
            .arg(&seated.player_id)
            .arg(seated.generation.0)
            .arg(seated.name.as_deref().unwrap_or_default())
            .arg(&seated.lobby)
            .arg(seated.number);
        self.pool.script(&call, &key).await.map(drop)
    }

    pub(super) async fn stand_session(&self, token: &TokenHash, lobby: &str) -> Answer<()> {
        let key = self.keys.session(token);
        let mut call = scripts::SESSION_STAND.script().key(&key);
        call.arg(lobby);
        self.pool.script(&call, &key).await.map(drop)
    }

    pub(super) async fn read_sessions(&self, tokens: &[TokenHash]) -> Answer<Vec<Option<Session>>> {
        let rows: Vec<MaybeRow> = self
            .each(tokens, |pipeline, key| {
                let fields = ["player_id", "generation", "name", "lobby"];
                pipeline.cmd("HMGET").arg(key).arg(&fields);
            })
            .await?;
        let known = |(player_id, generation, name, lobby): MaybeRow| {
            Some(session((player_id?, generation?, name, lobby)))
        };
        Ok(rows.into_iter().map(known).collect())
    }

    pub(super) async fn renew_sessions(&self, tokens: &[TokenHash]) -> Answer<Vec<bool>> {
        let ttl_ms = milliseconds(self.lifetimes.session);
        self.each(tokens, |pipeline, key| {
            pipeline.cmd("PEXPIRE").arg(key).arg(ttl_ms);
        })
        .await
    }

    pub(super) async fn living_sessions(&self, tokens: &[TokenHash]) -> Answer<Vec<bool>> {
        self.each(tokens, |pipeline, key| {
            pipeline.cmd("EXISTS").arg(key);
        })
        .await
    }

    pub(super) async fn drop_session(
        &self,
        token: &TokenHash,
        generation: Generation,
    ) -> Answer<bool> {
        let key = self.keys.session(token);
        let mut call = scripts::SESSION_DROP.script().key(&key);
        call.arg(generation.0);
        read(self.pool.script(&call, &key).await?, &key)
    }

    async fn each<T: FromRedisValue>(
        &self,
        tokens: &[TokenHash],
        add: impl Fn(&mut Pipeline, String) + Sync,
    ) -> Answer<Vec<T>> {
        let mut answers = Vec::with_capacity(tokens.len());
        for batch in tokens.chunks(BATCH) {
            let mut pipeline = redis::pipe();
            for token in batch {
                add(&mut pipeline, self.keys.session(token));
            }
            answers.extend(self.pool.pipeline::<Vec<T>>(&pipeline, "sessions").await?);
        }
        Ok(answers)
    }
}

fn session((player_id, generation, name, lobby): Row) -> Session {
    Session {
        player_id,
        name,
        lobby,
        generation: Generation(generation),
    }
}
