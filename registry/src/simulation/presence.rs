//! Heartbeats and subscriptions over the simulated way.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc;

use super::client::{Line, Purpose, unavailable};
use super::server::Redis;
use super::wire::Wire;
use crate::NodeId;
use crate::backend::{Answer, Heartbeats, Subscriber};
use crate::health::HealthCell;
use crate::presence::{Beat, Heard, Listing, Message, Presence};

const MESSAGES_KEPT: usize = 1024;

/// The heartbeat's own connection.
pub(super) struct Heart {
    redis: Redis,
    line: Line,
    health: Arc<HealthCell>,
}

impl Heart {
    pub(super) fn new(redis: &Redis, wire: &Wire, health: &Arc<HealthCell>) -> Self {
        Self {
            redis: redis.clone(),
            line: Line::new(redis, wire, health, Purpose::Heartbeat),
            health: Arc::clone(health),
        }
    }
}

#[async_trait]
impl Heartbeats for Heart {
    async fn beat(&mut self, own: &Presence, ttl: Duration) -> Answer<Beat> {
        let own = own.clone();
        let beat = self
            .line
            .ask(move |store, now| store.servers.beat(&own, ttl, now))
            .await?;
        self.health.saw_time(beat.listing.now_ms);
        Ok(beat)
    }

    async fn list(&mut self) -> Answer<Listing> {
        self.line.ask(|store, now| store.servers.list(now)).await
    }

    async fn fetch(&mut self, ids: &BTreeMap<NodeId, Option<String>>) -> Answer<Vec<Presence>> {
        let ids = ids.clone();
        self.line
            .ask(move |store, now| store.servers.fetch(&ids, now))
            .await
    }

    async fn publish(&mut self, message: &Message) -> Answer<()> {
        let (redis, message) = (self.redis.clone(), message.clone());
        self.line
            .ask(move |_, _| redis.publish(None, Heard::Message(message)))
            .await
    }

    async fn probe(&mut self, own: &NodeId) -> Answer<()> {
        let (redis, own) = (self.redis.clone(), own.clone());
        self.line
            .ask(move |_, _| redis.publish(Some(own), Heard::Probe))
            .await
    }

    async fn depart(&mut self, own: &Presence) -> Answer<()> {
        let own = own.clone();
        self.line
            .ask(move |store, now| store.servers.depart(&own, now))
            .await
    }
}

pub(super) struct Subscriptions {
    pub(super) redis: Redis,
    pub(super) wire: Wire,
    pub(super) own: NodeId,
}

#[async_trait]
impl Subscriber for Subscriptions {
    async fn subscribe(&mut self) -> Answer<mpsc::Receiver<Heard>> {
        self.wire.travel(Wire::arrives()).await;
        let mut standing = self.redis.standing();
        let up = standing.wait_for(|standing| !standing.stopped).await;
        if up.map_or(true, |standing| !standing.up) {
            return Err(unavailable("connection refused"));
        }
        let mut channel = self.redis.subscribe();
        let (sender, receiver) = mpsc::channel(MESSAGES_KEPT);
        let (own, wire) = (self.own.clone(), self.wire.clone());
        tokio::spawn(async move {
            // Ends with the server, and when this subscriber lags.
            while let Ok((to, heard)) = channel.recv().await {
                if to.is_some_and(|to| to != own) {
                    continue;
                }
                wire.travel(Wire::arrives()).await;
                if sender.send(heard).await.is_err() {
                    return;
                }
            }
        });
        Ok(receiver)
    }
}
