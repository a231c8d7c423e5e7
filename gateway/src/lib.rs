//! The gateway: takes the players' sockets and routes each lobby to the game node that owns it.
//!
//! It holds no game truth and reads no `state`: it knows who a connection is, where their table
//! is, and how much may wait. [`run`] is all of it; a test runs the same.
//!
//! * `session`: one connection as a pure machine; `connection` drives it, `socket` and `outbox`
//!   are its two ends.
//! * `links`, `link`: one WebSocket to each game node. `choice`: which node gets a new lobby.
//! * `routes`, `directory`: which node owns a lobby, and who takes it when that node is gone.
//! * `gathering`: strangers who come together get the same table.
//! * `gateway`: what connections share, and what they ask the registry.
//! * `listener`, `admission`, `creates`: how many sockets, requests and lobbies are too many.
//! * `ready`, `operations`, `web`: for machines, operators and browsers.

mod address;
mod admission;
mod chance;
mod choice;
mod config;
mod connection;
mod connections;
mod creates;
mod directory;
mod frame;
mod gateway;
mod gathering;
mod link;
mod links;
mod listener;
mod metrics;
mod operations;
mod outbox;
mod polled;
mod ready;
mod requests;
mod routes;
mod session;
#[cfg(feature = "simulation")]
pub mod simulation;
mod socket;
mod status;
mod web;

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::any;
use chassis::Process;
use registry::{Incarnation, Presence, PresenceConfig, Registry, RegistryError, Role};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_util::task::TaskTracker;
use tracing::{debug, info};

use crate::admission::Admission;
use crate::connections::Connections;
use crate::creates::Creates;
use crate::directory::Directory;
use crate::gateway::Gateway;
use crate::gathering::Gathering;
use crate::links::Links;
use crate::metrics::Metrics;
use crate::ready::Checks;
use crate::routes::Routes;
use crate::session::Input;

pub use config::Config;

/// Nodes that can't commit stand still until every gateway says that it can't reach the registry
/// either: that has to be known within about a second.
const REGISTRY_PROBED_EVERY: Duration = Duration::from_millis(500);
/// Players who may be looked for at all nodes at a time: some hundred of them come back in one
/// second without a node noticing, and the rest waits.
const MAX_INQUIRIES: usize = 256;
/// At the end of a gateway its sockets are closed one after the other, so long apart: all at once,
/// their players would come back to the others as a herd.
const STOP_SPACING: Duration = Duration::from_millis(5);
/// Of more sockets than that, several are closed at a time: all within 3 s.
const STOPS: usize = 600;
/// How long the players' sockets may take to close at the end.
const SOCKETS_END_WITHIN: Duration = Duration::from_secs(10);

/// Why a gateway can't start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The listener can't be used.
    #[error("the players' listener can't be used: {0}")]
    Listener(#[from] io::Error),
    /// The registry's settings are wrong.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

/// Runs a gateway on `listener` until `process` is told to end, or operators ask it to leave, and
/// the players' sockets are closed. It is ready when `process.readiness` says so.
///
/// # Errors
/// [`Error`] if it can't start; what fails later is tried again for ever.
pub async fn run(
    config: Config,
    listener: TcpListener,
    registry: Registry,
    process: Process,
) -> Result<(), Error> {
    // Operators may end this gateway alone.
    let shutdown = process.shutdown.child();
    let process = Process {
        shutdown,
        ..process
    };
    listener::prepare(&listener)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let address = listener.local_addr()?;
    let gateway = assemble(config, registry, &process)?;
    let checks = Checks::new(&process);
    operations::open(&process.operations, &gateway);

    let limits = listener::Limits::from(&gateway.config);
    let serving = listener::serve(
        listener,
        routes(&gateway),
        limits,
        gateway.metrics.clone(),
        process.shutdown.clone(),
    );
    info!(%address, id = %gateway.config.node_id, "listening for players");

    let following = async {
        // The first of them never ends.
        tokio::join!(
            follow(&gateway),
            checks.run(Arc::clone(&gateway), process.clone(), address),
        );
    };
    let serving = tokio::spawn(serving);
    let mut drain = gateway.membership.drain_requested();
    tokio::select! {
        () = following => {}
        () = process.shutdown.begun() => {}
        // The sender lives in the membership, so this ends only when it turns true.
        _ = drain.wait_for(|drain| *drain) => info!("operators ask this gateway to leave"),
    }
    process.shutdown.begin();
    stop(&gateway, &process).await;
    serving.abort();
    gateway.links.close().await;
    Ok(())
}

/// Keeps up with what happens elsewhere, for as long as the gateway runs.
async fn follow(gateway: &Arc<Gateway>) {
    let events = gateway.membership.events();
    tokio::join!(
        Arc::clone(&gateway.links).follow(events),
        Arc::clone(&gateway.links).follow_health(),
        gateway.routes.follow(),
        gateway
            .links
            .handed
            .forget_after(2 * gateway.config.session_ttl),
        follow_sessions(gateway),
    );
}

fn assemble(
    config: Config,
    registry: Registry,
    process: &Process,
) -> Result<Arc<Gateway>, RegistryError> {
    let role = Role::new(protocol::role::GATEWAY).expect("a role is a word");
    let incarnation = Incarnation::new(uuid::Uuid::from_bytes(chance::bytes()));
    let version = env!("CARGO_PKG_VERSION");
    let address = config.advertise_addr.clone();
    let own = Presence::new(config.node_id.clone(), role, incarnation, address, version);
    let connections = Arc::new(Connections::default());
    let links = Links::new(
        config.shared_secret.clone(),
        &own,
        Arc::clone(&connections),
        registry.health(),
    );
    metrics::watch_links(&links);
    let presence = PresenceConfig {
        probe_interval: REGISTRY_PROBED_EVERY,
        ..config.presence.clone()
    };
    let membership = registry.join(own, presence)?;
    let routes = Routes::new(registry.clone(), membership.clone());
    let admission = Admission::new(config.max_connections, config.max_connections_per_ip);
    Ok(Arc::new(Gateway {
        config,
        registry,
        membership,
        connections,
        links,
        admission,
        directory: Directory::default(),
        gathering: Gathering::default(),
        routes,
        inquiries: Semaphore::new(MAX_INQUIRIES),
        creates: Creates::default(),
        metrics: Metrics::new(),
        shutdown: process.shutdown.clone(),
        sockets: TaskTracker::new(),
    }))
}

fn routes(gateway: &Arc<Gateway>) -> Router {
    let players = Router::new()
        .route("/ws", any(socket::upgrade))
        .with_state(Arc::clone(gateway));
    players.merge(web::routes())
}

/// Ends older connections of whoever says `hello` anywhere.
async fn follow_sessions(gateway: &Gateway) {
    use tokio::sync::broadcast::error::RecvError;
    let mut sessions = gateway.membership.sessions();
    loop {
        match sessions.recv().await {
            Ok(opened) => {
                if let Ok(player) = opened.player_id.parse() {
                    let generation = opened.generation.0;
                    gateway
                        .connections
                        .deliver_to_player(&player, || Input::Opened { generation });
                }
            }
            // Whoever is missed is ended by the lobby's owner.
            Err(RecvError::Lagged(missed)) => debug!(missed, "session events missed"),
            Err(RecvError::Closed) => return,
        }
    }
}

/// Not ready, goodbye, and every socket closed with 1012.
async fn stop(gateway: &Gateway, process: &Process) {
    process.readiness.drain("told to stop");
    gateway.links.wind_down();
    gateway.sockets.close();
    let closing = timeout(SOCKETS_END_WITHIN, gateway.sockets.wait());
    let ((), (), closed) = tokio::join!(
        gateway.membership.leave(),
        stop_players(&gateway.connections),
        closing
    );
    let left = gateway.admission.total();
    info!(all_closed = closed.is_ok(), left, "stopped");
}

/// Ends the players' connections one after the other.
async fn stop_players(connections: &Connections) {
    let open = connections.ids();
    let at_once = open.len().div_ceil(STOPS).max(1);
    for some in open.chunks(at_once) {
        for connection in some {
            connections.deliver(*connection, Input::Stop);
        }
        sleep(STOP_SPACING).await;
    }
}
