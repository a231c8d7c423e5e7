//! Presence in Redis: a hash a process, an index by expiry, two channels.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use redis::{Pipeline, RedisResult, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tracing::debug;

use super::connector::{Connector, unavailable};
use super::known::{Known, Row};
use super::line::Line;
use super::pool::Pool;
use super::reply::{next, of_batch, read};
use super::{Keys, milliseconds, scripts};
use crate::backend::{Answer, Heartbeats, Subscriber};
use crate::health::HealthCell;
use crate::presence::{Beat, Heard, Listing, Message, Presence};
use crate::{Incarnation, NodeId, RegistryError};

/// A heartbeat that is not answered within this has failed.
const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(1);
/// Messages that wait for the listener; beyond these the subscription is not read on.
const MESSAGES_KEPT: usize = 256;

/// The heartbeat's own connection, and what is known over it.
pub(super) struct HeartbeatLine {
    keys: Keys,
    line: Line,
    health: Arc<HealthCell>,
    known: Known,
    /// What was written last over the present connection, once that has been used.
    written: Option<Vec<(&'static str, String)>>,
}

impl HeartbeatLine {
    pub(super) fn new(keys: Keys, connector: Arc<Connector>, health: Arc<HealthCell>) -> Self {
        let line = Line::new(connector, Arc::clone(&health), HEARTBEAT_TIMEOUT);
        Self {
            keys,
            line,
            health,
            known: Known::default(),
            written: None,
        }
    }

    /// All values, or the first error: a heartbeat is whole or has failed.
    async fn run(&self, pipeline: &mut Pipeline, key: &str) -> Answer<Vec<Value>> {
        let results = self.line.run(pipeline).await?;
        whole(results, key)
    }

    /// Runs a script that ends with a listing; its answer's parts, and the connection's number.
    async fn ask(
        &self,
        pipeline: &mut Pipeline,
        key: &str,
    ) -> Answer<(std::vec::IntoIter<Value>, u64)> {
        let (results, number) = self.line.run_numbered(pipeline).await?;
        let answer = whole(results, key)?.pop().unwrap_or(Value::Nil);
        Ok((read::<Vec<Value>>(answer, key)?.into_iter(), number))
    }

    /// Reads the end of such an answer, then whoever is new or has said something new.
    async fn take_listing(
        &mut self,
        mut parts: std::vec::IntoIter<Value>,
        connection: u64,
    ) -> Answer<Listing> {
        let index = self.keys.servers();
        let now_ms = next(&mut parts, &index)?;
        let expiries: Vec<(String, f64)> = next(&mut parts, &index)?;
        let changed: Vec<String> = next(&mut parts, &index)?;
        self.health.saw_time(now_ms);
        let unread = self.known.note(connection, expiries, &changed);
        let rows = self.read_rows(&unread).await?;
        Ok(self.known.complete(now_ms, rows))
    }

    async fn read_rows(&self, ids: &[String]) -> Answer<Vec<Row>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut pipeline = hashes(&self.keys, ids);
        let values = self.run(&mut pipeline, &self.keys.servers()).await?;
        Ok(rows(values, &self.keys))
    }
}

fn whole(results: Vec<RedisResult<Value>>, key: &str) -> Answer<Vec<Value>> {
    results
        .into_iter()
        .map(|result| of_batch(result, key))
        .collect()
}

#[async_trait]
impl Heartbeats for HeartbeatLine {
    async fn beat(&mut self, own: &Presence, ttl: Duration) -> Answer<Beat> {
        let hash = self.keys.server(own.id.as_str());
        let (index, changes) = (self.keys.servers(), self.keys.changes());
        let said = fields(own);
        let mut pipeline = scripts::BEAT.batch();
        scripts::BEAT
            .call(&mut pipeline, &[&hash, &index, &changes])
            .arg(own.id.as_str())
            .arg(own.incarnation.to_string())
            .arg(own.started_at)
            .arg(milliseconds(ttl))
            .arg(self.known.until_ms())
            .arg(flag(self.written.as_ref() != Some(&said)))
            .arg(&said);
        let (mut parts, connection) = self.ask(&mut pipeline, &hash).await?;
        let started_at: i64 = next(&mut parts, &hash)?;
        let was_listed = next(&mut parts, &hash)?;
        // Over a new connection once more: the Redis that answers there may be an older copy.
        self.written = self.known.is_of(connection).then_some(said);
        Ok(Beat {
            started_at: u64::try_from(started_at).ok(),
            was_listed,
            listing: self.take_listing(parts, connection).await?,
        })
    }

    async fn list(&mut self, _: Duration) -> Answer<Listing> {
        let (index, changes) = (self.keys.servers(), self.keys.changes());
        let mut pipeline = scripts::LIST.batch();
        scripts::LIST
            .call(&mut pipeline, &[&index, &changes])
            .arg(self.known.until_ms());
        let (parts, connection) = self.ask(&mut pipeline, &index).await?;
        self.take_listing(parts, connection).await
    }

    async fn fetch(&mut self, ids: &[NodeId]) -> Answer<Vec<Presence>> {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        let rows = self.read_rows(&ids).await?;
        Ok(rows.into_iter().map(|row| row.presence).collect())
    }

    async fn publish(&mut self, message: &Message) -> Answer<()> {
        let channel = self.keys.events();
        let mut pipeline = redis::pipe();
        pipeline.cmd("PUBLISH").arg(&channel).arg(json(message)?);
        self.run(&mut pipeline, &channel).await.map(drop)
    }

    async fn probe(&mut self, own: &NodeId) -> Answer<()> {
        let (channel, hash) = (self.keys.probes(own), self.keys.server(own.as_str()));
        let mut pipeline = redis::pipe();
        pipeline.cmd("PUBLISH").arg(&channel).arg("probe");
        // Writes nothing, and yet no master that has become a replica takes it.
        pipeline.cmd("HDEL").arg(&hash).arg("probe");
        self.run(&mut pipeline, &channel).await.map(drop)
    }

    async fn depart(&mut self, own: &Presence) -> Answer<()> {
        let hash = self.keys.server(own.id.as_str());
        let (index, changes) = (self.keys.servers(), self.keys.changes());
        let mut pipeline = scripts::DEPART.batch();
        scripts::DEPART
            .call(&mut pipeline, &[&hash, &index, &changes])
            .arg(own.id.as_str())
            .arg(own.incarnation.to_string());
        self.run(&mut pipeline, &hash).await.map(drop)
    }
}

/// Makes subscriptions, each on a connection of its own.
pub(super) struct Subscriptions {
    pub(super) keys: Keys,
    pub(super) connector: Arc<Connector>,
    pub(super) own: NodeId,
}

#[async_trait]
impl Subscriber for Subscriptions {
    async fn subscribe(&mut self) -> Answer<mpsc::Receiver<Heard>> {
        let probes = self.keys.probes(&self.own);
        let mut subscription = self
            .connector
            .subscribe()
            .await
            .map_err(|error| unavailable(&error))?;
        subscription
            .subscribe(&[self.keys.events(), probes.clone()])
            .await
            .map_err(|error| unavailable(&error))?;
        let (sender, receiver) = mpsc::channel(MESSAGES_KEPT);
        tokio::spawn(async move {
            let mut messages = subscription.into_on_message();
            while let Some(message) = messages.next().await {
                let heard = if message.get_channel_name() == probes {
                    Heard::Probe
                } else {
                    match serde_json::from_slice(message.get_payload_bytes()) {
                        Ok(message) => Heard::Message(message),
                        Err(error) => {
                            // A later version may say what this one does not know.
                            debug!(%error, "a message that can't be read");
                            continue;
                        }
                    }
                };
                if sender.send(heard).await.is_err() {
                    return;
                }
            }
        });
        Ok(receiver)
    }
}

/// Who is there, asked by somebody who need not be a member.
pub(super) async fn list(pool: &Pool, keys: &Keys) -> Answer<Listing> {
    let (index, changes) = (keys.servers(), keys.changes());
    let mut call = scripts::LIST.script().key(&index);
    // Everything is read, so that no change is of interest.
    call.key(&changes).arg("+inf");
    let (now_ms, expiries, _): (u64, Vec<(String, f64)>, Vec<String>) =
        read(pool.script(&call, &index).await?, &index)?;
    let ids: Vec<String> = expiries.into_iter().map(|(id, _)| id).collect();
    if ids.is_empty() {
        return Ok(Listing {
            now_ms,
            servers: Vec::new(),
        });
    }
    let values = pool.pipeline(&hashes(keys, &ids), &index).await?;
    let servers = rows(values, keys).into_iter().map(|row| row.presence);
    Ok(Listing {
        now_ms,
        servers: servers.collect(),
    })
}

pub(super) async fn publish(pool: &Pool, keys: &Keys, message: &Message) -> Answer<()> {
    let channel = keys.events();
    pool.command(
        redis::cmd("PUBLISH").arg(&channel).arg(json(message)?),
        &channel,
    )
    .await
}

fn json(message: &Message) -> Answer<String> {
    serde_json::to_string(message).map_err(|error| RegistryError::corrupt("a message", &error))
}

fn hashes(keys: &Keys, ids: &[String]) -> Pipeline {
    let mut pipeline = redis::pipe();
    for id in ids {
        pipeline.cmd("HGETALL").arg(keys.server(id));
    }
    pipeline
}

/// What a process says, as fields and values; id, incarnation and times are the script's.
fn fields(own: &Presence) -> Vec<(&'static str, String)> {
    vec![
        ("role", own.role.to_string()),
        ("address", own.address.clone()),
        ("state", word(&own.state)),
        ("verified", flag(own.verified)),
        ("why", own.why.clone().unwrap_or_default()),
        ("load", word(&own.load)),
        ("accepting_games", flag(own.accepting_games)),
        ("players", own.players.to_string()),
        ("lobbies", own.lobbies.to_string()),
        ("active_games", own.active_games.to_string()),
        ("version", own.version.clone()),
        ("suspended", own.suspended.to_string()),
        ("uncommitted", own.uncommitted.to_string()),
        ("handed_over", own.handed_over.to_string()),
        ("taken_over", own.taken_over.to_string()),
    ]
}

/// Reads hashes; one that has lapsed meanwhile is left out, and one that can't be read too, or a
/// single entry of a later version would hide everybody.
fn rows(values: Vec<Value>, keys: &Keys) -> Vec<Row> {
    values
        .into_iter()
        .filter_map(|value| {
            let fields: HashMap<String, String> = read(value, &keys.servers()).ok()?;
            let id = fields.get("id")?.clone();
            let row = |presence| number(&fields, "ttl").map(|ttl_ms| Row { presence, ttl_ms });
            presence(&fields)
                .and_then(row)
                .map_err(|why| debug!(id, why, "a process whose entry can't be read"))
                .ok()
        })
        .collect()
}

fn presence(row: &HashMap<String, String>) -> Result<Presence, String> {
    Ok(Presence {
        id: required(row, "id", |text| NodeId::new(text))?,
        role: required(row, "role", |text| crate::Role::new(text))?,
        incarnation: required(row, "incarnation", str::parse::<Incarnation>)?,
        address: text(row, "address"),
        state: required(row, "state", from_word)?,
        verified: text(row, "verified") == "1",
        why: Some(text(row, "why")).filter(|why| !why.is_empty()),
        load: required(row, "load", from_word)?,
        accepting_games: text(row, "accepting_games") == "1",
        players: number(row, "players")?,
        lobbies: number(row, "lobbies")?,
        active_games: number(row, "active_games")?,
        version: text(row, "version"),
        suspended: number(row, "suspended")?,
        uncommitted: number(row, "uncommitted")?,
        handed_over: number(row, "handed_over")?,
        taken_over: number(row, "taken_over")?,
        started_at: number(row, "started_at")?,
        last_seen: number(row, "last_seen")?,
    })
}

fn text(row: &HashMap<String, String>, field: &str) -> String {
    row.get(field).cloned().unwrap_or_default()
}

fn required<T, E: ToString>(
    row: &HashMap<String, String>,
    field: &str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, String> {
    let value = row.get(field).map(String::as_str).unwrap_or_default();
    parse(value).map_err(|error| format!("{field}: {}", error.to_string()))
}

/// A count; an earlier version may not have written it.
fn number<T: FromStr + Default>(row: &HashMap<String, String>, field: &str) -> Result<T, String> {
    match row.get(field) {
        None => Ok(T::default()),
        Some(text) => text
            .parse()
            .map_err(|_| format!("{field}: {text:?} is no number")),
    }
}

fn flag(value: bool) -> String {
    u8::from(value).to_string()
}

/// An enumeration's word is the one of its JSON.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

fn from_word<T: DeserializeOwned>(word: &str) -> Result<T, serde_json::Error> {
    serde_json::from_value(serde_json::Value::String(word.to_owned()))
}
