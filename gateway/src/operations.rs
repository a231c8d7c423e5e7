//! What operators read and do at a gateway: who is there, who owns a lobby, take a node out.
//!
//! * `nodes`, `board`, `events`: all processes as this gateway sees them, asked for or followed;
//!   `trails`: their last minutes.
//! * `lobbies`, `inspections`: one lobby, from its record and from its owner.
//! * `drain`: asks a node to leave; the only thing here that needs the operators' token.
//! * `page`: all of it for people.

mod board;
mod drain;
mod events;
mod inspections;
mod lobbies;
mod nodes;
mod page;
mod trails;

pub(crate) use inspections::inspections;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use chassis::Operations;
use serde_json::json;
use tokio::runtime::Handle;

use self::board::Board;
use crate::gateway::Gateway;

#[derive(Clone)]
struct Desk {
    gateway: Arc<Gateway>,
    board: Arc<Board>,
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
    let board = Arc::new(Board::default());
    tokio::spawn(board::follow(Arc::clone(&board), Arc::clone(gateway)));
    let desk = Desk {
        gateway: Arc::clone(gateway),
        board,
        runtime: Handle::current(),
    };
    operations.add_routes(routes(desk).merge(page::routes()));
}

fn routes(desk: Desk) -> Router {
    Router::new()
        .route("/nodes", get(nodes::list))
        .route("/nodes/events", get(events::follow))
        .route("/nodes/{id}/drain", post(drain::drain))
        .route("/lobbies/{code}", get(lobbies::show))
        .with_state(desk)
}
