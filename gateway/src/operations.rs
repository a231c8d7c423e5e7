//! What operators read of a gateway: `GET /nodes`, `GET /lobbies/{code}`, its fields in `/health`.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use chassis::Operations;
use protocol::LobbyCode;
use registry::{Presence, Record};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use crate::gateway::Gateway;

#[derive(Clone)]
struct Desk {
    gateway: Arc<Gateway>,
    /// The registry's connections live on the gateway's runtime, and these handlers don't.
    runtime: Handle,
}

/// Adds the gateway's routes and fields to the operations port.
pub(crate) fn open(operations: &Operations, gateway: &Arc<Gateway>) {
    let counted = Arc::clone(gateway);
    operations.add_health(move || {
        let connections = counted.admission.total();
        let sessions = counted.connections.players();
        let links = counted.links.overview().borrow().nodes.len();
        let fields = json!({ "connections": connections, "sessions": sessions, "links": links });
        fields.as_object().cloned().unwrap_or_default()
    });
    let desk = Desk {
        gateway: Arc::clone(gateway),
        runtime: Handle::current(),
    };
    let routes = Router::new()
        .route("/nodes", get(nodes))
        .route("/lobbies/{code}", get(lobby))
        .with_state(desk);
    operations.add_routes(routes);
}

async fn nodes(State(desk): State<Desk>) -> Json<Value> {
    let servers = desk.gateway.membership.servers();
    Json(
        servers
            .iter()
            .map(|server| node(&desk.gateway, server))
            .collect(),
    )
}

/// What the registry knows of a process, and whether there is a link to it.
fn node(gateway: &Gateway, server: &Presence) -> Value {
    let link = gateway
        .links
        .state(&server.id)
        .map(|up| if up { "up" } else { "down" });
    let mut fields = serde_json::to_value(server).unwrap_or_default();
    fields["link"] = json!(link);
    fields
}

async fn lobby(State(desk): State<Desk>, Path(code): Path<String>) -> Response {
    let Ok(code) = code.parse::<LobbyCode>() else {
        return (StatusCode::NOT_FOUND, "no lobby code").into_response();
    };
    let gateway = Arc::clone(&desk.gateway);
    let asked = desk
        .runtime
        .spawn(async move { gateway.registry.owner(code.as_str()).await });
    match asked.await {
        Ok(Ok(Some(record))) => Json(owner(code, &record)).into_response(),
        Ok(Ok(None)) => (StatusCode::NOT_FOUND, "no such lobby").into_response(),
        Ok(Err(error)) => (StatusCode::SERVICE_UNAVAILABLE, error.to_string()).into_response(),
        // The gateway's runtime has ended.
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

fn owner(code: LobbyCode, record: &Record) -> Value {
    let node = record.owner.as_ref().map(|owner| &owner.node);
    let incarnation = record.owner.as_ref().map(|owner| owner.incarnation);
    json!({
        "code": code,
        "owner": node,
        "incarnation": incarnation,
        "epoch": record.epoch,
        "seq": record.seq,
        "status": if record.deleted { "ended" } else { record.status.as_str() },
    })
}
