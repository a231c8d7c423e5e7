//! Puts a game node together and runs it to its end.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::serve::ListenerExt;
use chassis::Process;
use registry::{Incarnation, Membership, Owner, Presence, Registry, RegistryError};
use tokio::sync::{mpsc, watch};
use tokio_util::task::AbortOnDropHandle;
use tracing::{Instrument, info_span, warn};
use uuid::Uuid;

use crate::Config;
use crate::ai::{BreakerLimits, Bridge, BridgeLimits};
use crate::driver::{Alive, Driver, INBOX_MESSAGES, Inputs, Settings};
use crate::health::HealthCell;
use crate::link::{FromLink, router};
use crate::load::{Load, monitor};
use crate::ready::become_ready;
use crate::store::Store;

/// How long the links may take at the end to write what they still have.
pub(crate) const LINKS_END_WITHIN: Duration = Duration::from_secs(2);

/// What keeps a game node from starting, or stops it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its listener.
    #[error("links can't be listened for: {0}")]
    Listener(#[from] io::Error),
    /// Its presence.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

/// Runs a game node until its process is told to stop and its tables are safe.
///
/// For a current-thread runtime: everything here runs on the thread that calls it, and no lobby is
/// ever touched from another.
///
/// # Errors
/// If the listener can't be used or the presence settings are wrong. The registry being away is no
/// error: it starts as soon as it can be reached.
pub async fn run(
    config: Config,
    listener: TcpListener,
    registry: Registry,
    process: Process,
) -> Result<(), Error> {
    warn_about_secrets(&config);
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let node = Node::assemble(&config, registry, &process)?;
    let router = router(
        config.gateway_secret.clone(),
        config.ai_secret.clone(),
        node.inbox,
    );
    // Each message is written whole; waiting for more would only delay it.
    let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
    let serving = axum::serve(listener, router);
    let (membership, ready) = (node.membership, node.ready);
    let span = info_span!("game_node", id = %config.node_id);
    // On the lobby thread, which is what it measures, until this node ends.
    let monitoring = monitor(config.load, node.load).instrument(span.clone());
    let _monitor = AbortOnDropHandle::new(tokio::spawn(monitoring));
    let driving = node.driver.run(node.inputs).instrument(span.clone());
    let starting = async {
        let mut drain = membership.drain_requested();
        tokio::select! {
            () = become_ready(&config, &process, &membership, ready).instrument(span) => {}
            // Whoever leaves before it is ready never says hello.
            () = process.shutdown.begun() => {}
            _ = drain.wait_for(|drain| *drain) => {}
        }
        std::future::pending::<()>().await;
    };
    let links = tokio::select! {
        links = driving => links,
        served = async { serving.await } => return Ok(served?),
        () = starting => unreachable!("it waits for ever"),
    };
    membership.leave().await;
    let _in_time = tokio::time::timeout(LINKS_END_WITHIN, closed(links)).await;
    Ok(())
}

/// A node but for the listener by which links come to it.
pub(crate) struct Node {
    pub(crate) driver: Driver,
    pub(crate) inputs: Inputs,
    pub(crate) membership: Membership,
    /// Where links say what they hear.
    pub(crate) inbox: mpsc::Sender<FromLink>,
    /// Turned true once it has tried itself.
    pub(crate) ready: watch::Sender<bool>,
    /// Who measures this thread says it here.
    pub(crate) load: watch::Sender<Load>,
}

impl Node {
    pub(crate) fn assemble(
        config: &Config,
        registry: Registry,
        process: &Process,
    ) -> Result<Self, RegistryError> {
        let incarnation = Incarnation::new(Uuid::new_v4());
        let own = Presence::new(
            config.node_id.clone(),
            crate::role(),
            incarnation,
            config.advertise_addr.clone(),
            env!("CARGO_PKG_VERSION"),
        );
        let membership = registry.join(own, config.presence.clone())?;
        let health = Arc::new(HealthCell::default());
        process.operations.add_health({
            let health = Arc::clone(&health);
            move || health.fields()
        });
        let owner = Owner {
            node: config.node_id.clone(),
            incarnation,
        };
        let pulse = Arc::new(AtomicU64::new(0));
        membership.watch_thread(Arc::clone(&pulse));
        let alive = Alive {
            pulse,
            supervised: process.supervisor.watch(),
        };
        let driver = Driver::new(
            settings(config),
            Store::new(registry, owner),
            membership.clone(),
            process.readiness.clone(),
            health,
            bridge(config),
            alive,
        );
        let (inbox, links) = mpsc::channel(INBOX_MESSAGES);
        let (ready, is_ready) = watch::channel(false);
        let (publisher, load) = watch::channel(config.load.at_start());
        let inputs = Inputs {
            links,
            ready: is_ready,
            load,
            events: membership.events(),
            drain_requested: membership.drain_requested(),
            shutdown: process.shutdown.clone(),
        };
        Ok(Self {
            driver,
            inputs,
            membership,
            inbox,
            ready,
            load: publisher,
        })
    }
}

/// Completes when the last link has ended.
pub(crate) async fn closed<T>(mut links: mpsc::Receiver<T>) {
    while links.recv().await.is_some() {}
}

fn settings(config: &Config) -> Settings {
    Settings {
        pace: config.pace,
        session_ttl: config.session_ttl,
        max_lobbies: config.max_lobbies,
        max_active_games: config.max_active_games,
        drain_timeout: config.drain_timeout,
    }
}

fn bridge(config: &Config) -> Bridge {
    Bridge::new(BridgeLimits {
        timeout: config.ai_decision_timeout,
        inflight: config.ai_max_inflight,
        breaker: BreakerLimits {
            failures: config.ai_breaker_failures,
            cooldown: config.ai_breaker_cooldown,
        },
    })
}

fn warn_about_secrets(config: &Config) {
    if config.gateway_secret.is_empty() {
        // Fine on one machine; in a network anybody who reaches the port is a gateway.
        warn!("GATEWAY_SHARED_SECRET is empty: every gateway is let in");
    }
    if config.ai_secret.is_empty() {
        warn!("AI_SHARED_SECRET is empty: every AI node is let in");
    }
}
