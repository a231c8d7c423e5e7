//! One process as operators see it from this gateway, and `GET /nodes`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use registry::Presence;
use serde_json::{Value, json};

use super::Desk;
use crate::gateway::Gateway;

/// What the registry knows of a process, and whether there is a link to it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) presence: Arc<Presence>,
    /// None if it is not one that gateways dial.
    pub(super) link: Option<bool>,
}

impl Node {
    pub(super) fn new(gateway: &Gateway, presence: Arc<Presence>) -> Self {
        let link = gateway.links.state(&presence.id);
        Self { presence, link }
    }

    /// As in `docs/protocol.md` §2.
    pub(super) fn to_json(&self) -> Value {
        let link = self.link.map(|up| if up { "up" } else { "down" });
        let mut fields = serde_json::to_value(&*self.presence).unwrap_or_default();
        fields["link"] = json!(link);
        fields
    }

    /// Whether the two differ in more than the time of the last heartbeat.
    pub(super) fn differs_from(&self, other: &Self) -> bool {
        let mut same_age = Presence::clone(&self.presence);
        same_age.last_seen = other.presence.last_seen;
        self.link != other.link || same_age != *other.presence
    }
}

/// `GET /nodes`.
pub(super) async fn list(State(desk): State<Desk>) -> Json<Value> {
    let servers = desk.gateway.membership.servers();
    let nodes = servers
        .iter()
        .map(|presence| Node::new(&desk.gateway, Arc::clone(presence)).to_json());
    Json(nodes.collect())
}
