//! Presence in Redis: a hash a process, an index by expiry, two channels.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;
use redis::{Pipeline, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tracing::debug;

use super::Keys;
use super::connector::{Connector, unavailable};
use super::known::{self, Row};
use super::pool::Pool;
use super::reply::read;
use crate::backend::{Answer, Subscriber};
use crate::presence::{Heard, Listing, Message, Moved, Presence};
use crate::{Incarnation, NodeId, RegistryError};

/// Messages that wait for the listener; beyond these the subscription is not read on.
const MESSAGES_KEPT: usize = 256;

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
    let index = keys.servers();
    let mut pipeline = redis::pipe();
    let range = pipeline.cmd("TIME").cmd("ZRANGE").arg(&index);
    range.arg(0).arg(-1).arg("WITHSCORES");
    let ((seconds, micros), expiries): ((u64, u64), Vec<(String, f64)>) =
        pool.pipeline(&pipeline, &index).await?;
    let now_ms = seconds * 1000 + micros / 1000;
    let ids: Vec<String> = known::living(now_ms, expiries).into_keys().collect();
    let mut servers = Vec::new();
    if !ids.is_empty() {
        let values = pool.pipeline(&hashes(keys, &ids), &index).await?;
        servers.extend(rows(values, keys).into_iter().map(|row| row.presence));
    }
    Ok(Listing { now_ms, servers })
}

pub(super) async fn publish(pool: &Pool, keys: &Keys, message: &Message) -> Answer<()> {
    let channel = keys.events();
    pool.command(
        redis::cmd("PUBLISH").arg(&channel).arg(json(message)?),
        &channel,
    )
    .await
}

pub(super) fn json(message: &Message) -> Answer<String> {
    serde_json::to_string(message).map_err(|error| RegistryError::corrupt("a message", &error))
}

pub(super) fn hashes(keys: &Keys, ids: &[String]) -> Pipeline {
    let mut pipeline = redis::pipe();
    for id in ids {
        pipeline.cmd("HGETALL").arg(keys.server(id));
    }
    pipeline
}

/// What a process says, as fields and values; id, incarnation and times are the script's.
pub(super) fn fields(own: &Presence) -> Vec<(&'static str, String)> {
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
        (
            "last_handed_over",
            moved_text(own.last_handed_over.as_ref()),
        ),
        ("last_taken_over", moved_text(own.last_taken_over.as_ref())),
    ]
}

/// Reads hashes; one that has lapsed meanwhile is left out, and one that can't be read too, or a
/// single entry of a later version would hide everybody.
pub(super) fn rows(values: Vec<Value>, keys: &Keys) -> Vec<Row> {
    values
        .into_iter()
        .filter_map(|value| {
            let fields: HashMap<String, String> = read(value, &keys.servers()).ok()?;
            let id = fields.get("id")?.clone();
            let row = |presence| {
                number(&fields, "ttl").map(|ttl_ms| Row {
                    presence,
                    ttl_ms,
                    revision: fields.get("revision").cloned(),
                })
            };
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
        last_handed_over: moved(row, "last_handed_over"),
        last_taken_over: moved(row, "last_taken_over"),
        started_at: number(row, "started_at")?,
        last_seen: number(row, "last_seen")?,
    })
}

fn moved_text(moved: Option<&Moved>) -> String {
    // Numbers and strings always have a JSON form.
    let text = moved.and_then(|moved| serde_json::to_string(moved).ok());
    text.unwrap_or_default()
}

/// None too if another version tells it otherwise: it is for people to look at.
fn moved(row: &HashMap<String, String>, field: &str) -> Option<Moved> {
    serde_json::from_str(row.get(field)?).ok()
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
