//! One process as operators see it from this gateway, and `GET /nodes`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use registry::Presence;
use serde_json::{Value, json};

use super::Desk;
use crate::gateway::Gateway;
use crate::links::Way;

/// What the registry knows of a process, and how the way to it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) presence: Arc<Presence>,
    /// None if it is not one that gateways dial.
    way: Option<Way>,
}

impl Node {
    pub(super) fn new(gateway: &Gateway, presence: Arc<Presence>) -> Self {
        let way = gateway.links.way(&presence.id);
        Self { presence, way }
    }

    pub(super) fn is_linked(&self) -> bool {
        self.way.is_some_and(|way| way.is_up)
    }

    /// As in `docs/protocol.md` §2.
    pub(super) fn to_json(&self) -> Value {
        let mut fields = serde_json::to_value(&*self.presence).unwrap_or_default();
        fields["link"] = json!(self.way.map(|way| if way.is_up { "up" } else { "down" }));
        fields["dead"] = json!(self.way.is_some_and(|way| way.is_dead));
        let unsaved = self.way.and_then(|way| way.unsaved);
        fields["cut_off"] = json!(unsaved.is_some_and(|unsaved| unsaved.cut_off));
        // Of now, where the registry has it from the last heartbeat that got through.
        if let Some(unsaved) = unsaved {
            fields["suspended"] = json!(unsaved.suspended);
            fields["uncommitted"] = json!(unsaved.uncommitted);
        }
        fields
    }

    /// Whether the two differ in more than the time of the last heartbeat.
    pub(super) fn differs_from(&self, other: &Self) -> bool {
        let mut same_age = Presence::clone(&self.presence);
        same_age.last_seen = other.presence.last_seen;
        self.way != other.way || same_age != *other.presence
    }
}

/// `GET /nodes`.
pub(super) async fn list(State(desk): State<Desk>) -> Json<Value> {
    let listed = desk.gateway.membership.servers();
    let mut present: Vec<_> = listed.iter().map(Arc::clone).collect();
    present.extend(desk.board.lapsed());
    present.sort_by(|left, right| left.id.cmp(&right.id));
    let nodes = present.into_iter();
    let nodes = nodes.map(|presence| Node::new(&desk.gateway, presence).to_json());
    Json(nodes.collect())
}
