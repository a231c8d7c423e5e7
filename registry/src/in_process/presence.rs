//! Presence in memory: the same steps as over Redis, with a channel in place of pub/sub.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{broadcast, mpsc};

use super::Shared;
use super::expiring::Expiring;
use crate::NodeId;
use crate::backend::{Answer, Heartbeats, Subscriber};
use crate::presence::{Beat, Heard, Listing, Message, Presence};

/// Messages that a subscriber may be behind before its subscription ends and a new one begins.
const CHANNEL_CAPACITY: usize = 4096;

#[derive(Clone, Default)]
pub(crate) struct Servers(Expiring<NodeId, Presence>);

impl Servers {
    /// Writes unless a later run has the id; then lists.
    pub(crate) fn beat(&mut self, own: &Presence, ttl: Duration, now: u64) -> Beat {
        let was_listed = self.0.get(&own.id, now).is_some();
        Beat {
            started_at: self.write(own, ttl, now),
            was_listed,
            listing: self.list(now),
        }
    }

    /// Writes unless a later run has the id; the start of the run that was written.
    fn write(&mut self, own: &Presence, ttl: Duration, now: u64) -> Option<u64> {
        let mut own = own.clone();
        if let Some(stored) = self.0.get(&own.id, now) {
            if stored.incarnation == own.incarnation {
                own.started_at = stored.started_at;
            } else if own.started_at == 0 {
                own.started_at = now.max(stored.started_at + 1);
            } else if stored.started_at > own.started_at {
                return None;
            }
        }
        if own.started_at == 0 {
            own.started_at = now;
        }
        own.last_seen = now;
        let started_at = own.started_at;
        self.0.put(own.id.clone(), own, ttl, now);
        Some(started_at)
    }

    pub(crate) fn list(&mut self, now: u64) -> Listing {
        self.0.trim(now);
        Listing {
            now_ms: now,
            servers: self.0.iter().map(|(_, one)| one.clone()).collect(),
        }
    }

    pub(crate) fn fetch(&self, ids: &BTreeMap<NodeId, Option<String>>, now: u64) -> Vec<Presence> {
        let listed = ids.keys().filter_map(|id| self.0.get(id, now));
        listed.cloned().collect()
    }

    pub(crate) fn depart(&mut self, own: &Presence, now: u64) {
        let later = self
            .0
            .get(&own.id, now)
            .is_some_and(|stored| stored.incarnation != own.incarnation);
        if !later {
            self.0.remove(&own.id);
        }
    }
}

/// Who is meant (nobody: all), and what is said.
pub(crate) struct Channel(broadcast::Sender<(Option<NodeId>, Heard)>);

impl Default for Channel {
    fn default() -> Self {
        Self(broadcast::channel(CHANNEL_CAPACITY).0)
    }
}

impl Channel {
    pub(crate) fn say(&self, to: Option<NodeId>, heard: Heard) {
        // Fails if nobody listens, as publishing to Redis would succeed.
        let _listeners = self.0.send((to, heard));
    }
}

pub(crate) struct Line(pub(crate) Arc<Shared>);

#[async_trait]
impl Heartbeats for Line {
    async fn beat(&mut self, own: &Presence, ttl: Duration) -> Answer<Beat> {
        let (mut store, now) = self.0.enter();
        Ok(store.servers.beat(own, ttl, now))
    }

    async fn list(&mut self) -> Answer<Listing> {
        let (mut store, now) = self.0.enter();
        Ok(store.servers.list(now))
    }

    async fn fetch(&mut self, ids: &BTreeMap<NodeId, Option<String>>) -> Answer<Vec<Presence>> {
        let (store, now) = self.0.enter();
        Ok(store.servers.fetch(ids, now))
    }

    async fn publish(&mut self, message: &Message) -> Answer<()> {
        self.0.channel.say(None, Heard::Message(message.clone()));
        Ok(())
    }

    async fn probe(&mut self, own: &NodeId) -> Answer<()> {
        self.0.channel.say(Some(own.clone()), Heard::Probe);
        Ok(())
    }

    async fn depart(&mut self, own: &Presence) -> Answer<()> {
        let (mut store, now) = self.0.enter();
        store.servers.depart(own, now);
        Ok(())
    }
}

pub(crate) struct Listener {
    pub(crate) shared: Arc<Shared>,
    pub(crate) own: NodeId,
}

#[async_trait]
impl Subscriber for Listener {
    async fn subscribe(&mut self) -> Answer<mpsc::Receiver<Heard>> {
        let mut channel = self.shared.channel.0.subscribe();
        let (sender, receiver) = mpsc::channel(CHANNEL_CAPACITY);
        let own = self.own.clone();
        tokio::spawn(async move {
            // Ends when this subscriber lags, so that it reads the whole list again.
            while let Ok((to, heard)) = channel.recv().await {
                let for_us = to.is_none_or(|to| to == own);
                if for_us && sender.send(heard).await.is_err() {
                    return;
                }
            }
        });
        Ok(receiver)
    }
}
