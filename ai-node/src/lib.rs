//! Decides for the AI seats: it dials every game node that it finds, and answers what they ask.
//!
//! * [`policy`]: which move is best, from what one seat may see and nothing else.
//! * [`pool`]: worker threads with a bounded queue, apart from the async runtime.
//! * `links`: one connection to each game node.
//! * `probe`: a real decision from the own pool, before this node says that it is ready.
//!
//! It keeps nothing between two decisions, so it may be killed at any time: whoever waits for an
//! answer asks another AI node.

pub mod arena;
mod config;
mod links;
mod metrics;
pub mod policy;
pub mod pool;
mod probe;

use std::sync::Arc;
use std::time::Duration;

use chassis::{Check, Process, Pulse};
use registry::{Incarnation, Membership, Presence, Registry, RegistryError, Role};
use uuid::Uuid;

pub use config::Config;
use links::{Dialler, Links};
use pool::Pool;

/// How often a check that has not passed is tried again.
const RETRY: Duration = Duration::from_millis(200);

/// What keeps an AI node from starting.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The workers' threads.
    #[error("the AI's worker threads can't be started: {0}")]
    Workers(std::io::Error),
    /// Presence.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

/// Runs an AI node until the process is told to stop, or operators ask it to leave.
///
/// # Errors
/// If its threads can't be started or its presence settings are wrong. The registry being away is
/// no error: it starts as soon as it can be reached.
pub async fn run(config: Config, registry: Registry, process: Process) -> Result<(), Error> {
    let pool = Arc::new(Pool::start(config.workers, config.queue).map_err(Error::Workers)?);
    let incarnation = Uuid::new_v4();
    let role = Role::new(protocol::role::AI)?;
    let own = Presence::new(
        config.node_id.clone(),
        role,
        Incarnation::new(incarnation),
        "",
        env!("CARGO_PKG_VERSION"),
    );
    let membership = registry.join(own, config.presence.clone())?;
    add_health(&process, &pool);

    let dialler = Dialler {
        node_id: config.node_id.to_string(),
        incarnation,
        secret: config.secret.clone(),
        pool: Arc::clone(&pool),
    };
    let mut links = Links::start(membership.clone(), dialler);
    let load = tokio::spawn(tell_load(
        membership.clone(),
        Arc::clone(&pool),
        process.supervisor.watch(),
    ));
    let mut drain = membership.drain_requested();
    tokio::select! {
        () = become_ready(config.ready_timeout, &process, &membership, &pool) => {}
        () = process.shutdown.begun() => {}
        // The sender lives in `membership`, so this ends only when it turns true.
        _ = drain.wait_for(|drain| *drain) => tracing::info!("operators ask this node to leave"),
    }

    process.readiness.drain("told to stop");
    load.abort();
    membership.leave().await;
    // Answers that are under way are still sent: the links close once their requests are answered.
    links.finish(config.drain_timeout.min(MAX_FAREWELL)).await;
    Ok(())
}

/// Nobody waits longer than this for a decision, so no link has anything to do afterwards.
const MAX_FAREWELL: Duration = Duration::from_secs(5);

/// Keeps the load in the presence up to date; a change of level is published at once.
async fn tell_load(membership: Membership, pool: Arc<Pool>, pulse: Pulse) {
    let mut clock = tokio::time::interval(LOAD_INTERVAL);
    loop {
        clock.tick().await;
        pulse.beat();
        membership.update(|own| own.load = pool.load());
    }
}

/// How often the load is looked at.
const LOAD_INTERVAL: Duration = Duration::from_secs(1);

/// Goes on to show how the registry does, and never ends.
async fn become_ready(
    ready_timeout: Duration,
    process: &Process,
    membership: &Membership,
    pool: &Pool,
) {
    let [presence, decision] = process.readiness.checks(["presence", "decision"]);
    let trying = async {
        tokio::join!(
            presence_works(membership, &presence),
            decision_works(pool, &decision)
        );
        process.readiness.ready().await;
    };
    tokio::select! {
        () = trying => {}
        () = say_why_when_late(ready_timeout, process, membership) => {}
    }
    membership.update(|own| own.why = None);
    membership.ready().await;
    tracing::info!(node = %membership.own().id, "ready to decide");
    follow_registry(membership, &presence).await;
}

/// Never ends; after `READY_TIMEOUT` it says to operators what is missing.
async fn say_why_when_late(ready_timeout: Duration, process: &Process, membership: &Membership) {
    process.late(ready_timeout).await;
    loop {
        let missing = process.readiness.missing();
        membership.update(|own| own.why = Some(missing));
        tokio::time::sleep(LOAD_INTERVAL).await;
    }
}

/// Shows for ever whether the registry answers. Once ready, that alone takes nothing away.
async fn follow_registry(membership: &Membership, check: &Check) {
    let mut checks = membership.checks();
    while checks.changed().await.is_ok() {
        if checks.borrow_and_update().current {
            check.pass("the last heartbeat was written");
        } else {
            check.fail("the registry can't be reached; what was known stays");
        }
    }
}

async fn presence_works(membership: &Membership, check: &Check) {
    let mut checks = membership.checks();
    check.fail("no heartbeat written and no own message heard yet");
    // An error means that the membership has ended, and with it this start.
    let works = checks
        .wait_for(|checks| checks.heartbeat_written && checks.probe_heard)
        .await;
    if works.is_ok() {
        check.pass("heartbeat written, own message heard");
    }
}

async fn decision_works(pool: &Pool, check: &Check) {
    loop {
        match probe::decide(pool).await {
            Ok(took) => {
                check.pass(format!("decided in {} ms", took.as_millis()));
                return;
            }
            Err(why) => check.fail(why),
        }
        tokio::time::sleep(RETRY).await;
    }
}

fn add_health(process: &Process, pool: &Arc<Pool>) {
    let pool = Arc::downgrade(pool);
    process.operations.add_health(move || {
        let Some(pool) = pool.upgrade() else {
            return serde_json::Map::new();
        };
        let counts = pool.counts();
        let fields = serde_json::json!({
            "decisions": counts.decided,
            "waiting": counts.waiting,
            "refused": counts.refused,
            "late": counts.late,
        });
        fields.as_object().cloned().unwrap_or_default()
    });
}
