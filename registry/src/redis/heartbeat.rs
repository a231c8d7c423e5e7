//! The heartbeat's way to Redis: a connection of its own, on which nothing else waits.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use redis::{Pipeline, Value};

use super::connector::Connector;
use super::known::{Known, Row};
use super::line::Line;
use super::presence::{fields, hashes, json, rows};
use super::reply::{of_batch, read};
use super::{Keys, milliseconds, scripts};
use crate::backend::{Answer, Heartbeats};
use crate::health::HealthCell;
use crate::metrics::Purpose;
use crate::presence::{Beat, Listing, Message, Presence};
use crate::{Incarnation, NodeId};

/// A heartbeat that is not answered within this has failed.
pub(crate) const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(1);

/// The heartbeat's own connection, and what is known over it.
pub(super) struct HeartbeatLine {
    keys: Keys,
    line: Line,
    health: Arc<HealthCell>,
    known: Known,
    /// What the process said last, and how often it has said something new.
    said: Vec<(&'static str, String)>,
    revision: u64,
}

impl HeartbeatLine {
    pub(super) fn new(keys: Keys, connector: Arc<Connector>, health: Arc<HealthCell>) -> Self {
        let line = Line::new(
            connector,
            Purpose::Heartbeat,
            Arc::clone(&health),
            HEARTBEAT_TIMEOUT,
        );
        Self {
            keys,
            line,
            health,
            known: Known::default(),
            said: Vec::new(),
            revision: 0,
        }
    }

    /// All values, or the first error: a heartbeat is whole or has failed.
    async fn run(&self, pipeline: &mut Pipeline, key: &str) -> Answer<Vec<Value>> {
        let results = self.line.run(pipeline).await?;
        results
            .into_iter()
            .map(|result| of_batch(result, key))
            .collect()
    }

    /// Which revision of what this process says is the present one; no other run has the same.
    fn revision(&self, own: &Incarnation) -> String {
        let (_, run) = own.uuid().as_u64_pair();
        format!("{run:x}-{}", self.revision)
    }

    /// Adds what lists everybody; [`HeartbeatLine::take_listing`] reads the answers. No script:
    /// Lua would take a long list apart and put it together again.
    fn ask_for_listing(&self, pipeline: &mut Pipeline) {
        let (index, revisions) = (self.keys.servers(), self.keys.revisions());
        let range = pipeline.cmd("ZRANGE").arg(index).arg(0).arg(-1);
        range.arg("WITHSCORES").cmd("HGETALL").arg(revisions);
    }

    /// Takes the last two answers, then reads whoever is new or says something new.
    async fn take_listing(&mut self, now_ms: u64, mut answers: Vec<Value>) -> Answer<Listing> {
        let index = self.keys.servers();
        let revisions: HashMap<String, String> = read(answers.pop().unwrap_or(Value::Nil), &index)?;
        let expiries: Vec<(String, f64)> = read(answers.pop().unwrap_or(Value::Nil), &index)?;
        self.health.saw_time(now_ms);
        let unread = self.known.note(now_ms, expiries, &revisions);
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

#[async_trait]
impl Heartbeats for HeartbeatLine {
    async fn beat(&mut self, own: &Presence, ttl: Duration) -> Answer<Beat> {
        let hash = self.keys.server(own.id.as_str());
        let (index, revisions) = (self.keys.servers(), self.keys.revisions());
        let said = fields(own);
        if said != self.said {
            self.said = said;
            self.revision += 1;
        }
        let mut pipeline = scripts::BEAT.batch();
        scripts::BEAT
            .call(&mut pipeline, &[&hash, &index, &revisions])
            .arg(own.id.as_str())
            .arg(own.incarnation.to_string())
            .arg(own.started_at)
            .arg(milliseconds(ttl))
            .arg(self.revision(&own.incarnation))
            .arg(&self.said);
        self.ask_for_listing(&mut pipeline);
        let mut answers = self.run(&mut pipeline, &hash).await?;
        let listed = answers.split_off(answers.len().saturating_sub(2));
        let answer = answers.pop().unwrap_or(Value::Nil);
        let (started_at, was_listed, now_ms): (i64, bool, u64) = read(answer, &hash)?;
        Ok(Beat {
            started_at: u64::try_from(started_at).ok(),
            was_listed,
            listing: self.take_listing(now_ms, listed).await?,
        })
    }

    async fn list(&mut self) -> Answer<Listing> {
        let mut pipeline = redis::pipe();
        pipeline.cmd("TIME");
        self.ask_for_listing(&mut pipeline);
        let index = self.keys.servers();
        let mut answers = self.run(&mut pipeline, &index).await?;
        let listed = answers.split_off(answers.len().saturating_sub(2));
        let (seconds, micros): (u64, u64) = read(answers.pop().unwrap_or(Value::Nil), &index)?;
        self.take_listing(seconds * 1000 + micros / 1000, listed)
            .await
    }

    async fn fetch(&mut self, ids: &BTreeMap<NodeId, Option<String>>) -> Answer<Vec<Presence>> {
        let unread = ids.iter().filter(|(id, revision)| {
            let revision = revision.as_deref();
            revision.is_none() || revision != self.known.revision(id.as_str())
        });
        let unread: Vec<String> = unread.map(|(id, _)| id.to_string()).collect();
        let rows = self.read_rows(&unread).await?;
        let presences = rows.iter().map(|row| row.presence.clone()).collect();
        self.known.add(rows);
        Ok(presences)
    }

    async fn publish(&mut self, message: &Message) -> Answer<()> {
        let channel = self.keys.events();
        let mut message = message.clone();
        if let Message::Hello(who) | Message::Changed(who) = &mut message {
            who.revision = Some(self.revision(&who.incarnation));
        }
        let mut pipeline = redis::pipe();
        pipeline.cmd("PUBLISH").arg(&channel).arg(json(&message)?);
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
        let (index, revisions) = (self.keys.servers(), self.keys.revisions());
        let mut pipeline = scripts::DEPART.batch();
        scripts::DEPART
            .call(&mut pipeline, &[&hash, &index, &revisions])
            .arg(own.id.as_str())
            .arg(own.incarnation.to_string());
        self.run(&mut pipeline, &hash).await.map(drop)
    }
}
