//! `GET /lobbies/{code}`: who owns a lobby and who sits there; no cards, no names, no tokens.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use protocol::LobbyCode;
use protocol::link::Inspection;
use registry::Record;
use serde_json::{Value, json};

use super::Desk;
use super::inspections::{NotInspected, inspect};

pub(super) async fn show(State(desk): State<Desk>, Path(code): Path<String>) -> Response {
    let Ok(code) = code.parse::<LobbyCode>() else {
        return (StatusCode::NOT_FOUND, "no lobby code").into_response();
    };
    let gateway = desk.gateway;
    let asked = desk.runtime.spawn(async move {
        let Some(record) = gateway.registry.owner(code.as_str()).await? else {
            return Ok(None);
        };
        let seats = match &record.owner {
            Some(owner) => Some(inspect(&gateway.links, &owner.node, code).await),
            None => None,
        };
        Ok(Some((record, seats)))
    });
    match asked.await {
        Ok(Ok(Some((record, seats)))) => Json(fields(code, &record, seats)).into_response(),
        Ok(Ok(None)) => (StatusCode::NOT_FOUND, "no such lobby").into_response(),
        Ok(Err(error)) => {
            let error: registry::RegistryError = error;
            (StatusCode::SERVICE_UNAVAILABLE, error.to_string()).into_response()
        }
        // The gateway's runtime has ended.
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// The record, and what its owner says where it has answered.
fn fields(
    code: LobbyCode,
    record: &Record,
    inspected: Option<Result<Inspection, NotInspected>>,
) -> Value {
    let node = record.owner.as_ref().map(|owner| &owner.node);
    let incarnation = record.owner.as_ref().map(|owner| owner.incarnation);
    let status = if record.deleted {
        "ended"
    } else {
        &record.status
    };
    let mut fields = json!({
        "code": code,
        "owner": node,
        "incarnation": incarnation,
        "epoch": record.epoch,
        "seq": record.seq,
        "status": status,
        "seats": null,
        "spectators": null,
        "why": null,
    });
    match inspected {
        Some(Ok(inspection)) => {
            fields["status"] = json!(inspection.status);
            fields["seats"] = seats(&inspection);
            fields["spectators"] = json!(inspection.spectators);
        }
        Some(Err(why)) => fields["why"] = json!(why.to_string()),
        None => {}
    }
    fields
}

fn seats(inspection: &Inspection) -> Value {
    let seats = inspection.seats.iter().enumerate().map(
        |(seat, there)| json!({ "seat": seat, "is_ai": there.is_ai, "connected": there.connected }),
    );
    seats.collect()
}
