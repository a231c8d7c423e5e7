//! What a process records about its way to the registry, by OpenTelemetry's names.

use std::collections::BTreeMap;
use std::sync::Arc;

use opentelemetry::metrics::Counter;
use opentelemetry::{KeyValue, global};
use redis::RedisError;
use tokio::time::Instant;

use crate::health::HealthCell;
use crate::presence::{Shared, State};

/// What a connection to Redis is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Commits and touches.
    Commits,
    Heartbeat,
    Subscription,
    /// Everything else.
    Pool,
}

impl Purpose {
    fn attribute(self) -> KeyValue {
        let name = match self {
            Self::Commits => "commits",
            Self::Heartbeat => "heartbeat",
            Self::Subscription => "subscription",
            Self::Pool => "pool",
        };
        KeyValue::new("registry.connection.purpose", name)
    }
}

/// The instruments of one way to Redis.
pub(crate) struct Metrics {
    opened: Counter<u64>,
    errors: Counter<u64>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let meter = global::meter("registry");
        let counter = |name, unit, description| {
            meter
                .u64_counter(name)
                .with_unit(unit)
                .with_description(description)
                .build()
        };
        Self {
            opened: counter(
                "registry.connection.opened",
                "{connection}",
                "Connections to Redis that were made; each after the first is one made anew",
            ),
            errors: counter(
                "registry.error",
                "{error}",
                "Connections to Redis that failed, and answers of it that were errors or none",
            ),
        }
    }

    pub(crate) fn opened(&self, purpose: Purpose) {
        self.opened.add(1, &[purpose.attribute()]);
    }

    pub(crate) fn failed(&self, purpose: Purpose, error: &RedisError) {
        let kind = if error.is_timeout() {
            "timeout"
        } else if error.is_io_error() || error.is_connection_dropped() {
            "connection"
        } else {
            "answer"
        };
        let kind = KeyValue::new("error.type", kind);
        self.errors.add(1, &[purpose.attribute(), kind]);
    }
}

/// Shows from now on how old what is known of the others is, and who they are. Asked whenever somebody
/// reads, until the membership has ended.
pub(crate) fn watch_presence(shared: &Arc<Shared>, health: &Arc<HealthCell>) {
    let meter = global::meter("registry");
    let role = KeyValue::new("wizard.role", shared.own().role.to_string());
    let (weak, own_role) = (Arc::downgrade(shared), role.clone());
    let _registered = meter
        .f64_observable_gauge("registry.presence.age")
        .with_unit("s")
        .with_description("Since the last heartbeat that worked, and with it the last list of all")
        .with_callback(move |age| {
            if let Some(shared) = weak.upgrade() {
                let since = Instant::now().saturating_duration_since(shared.beaten_at());
                age.observe(since.as_secs_f64(), std::slice::from_ref(&own_role));
            }
        })
        .build();
    let weak = Arc::downgrade(health);
    let _registered = meter
        .u64_observable_gauge("registry.reachable")
        .with_description("1 while the registry answers")
        .with_callback(move |reachable| {
            if let Some(health) = weak.upgrade() {
                reachable.observe(health.reachable().into(), std::slice::from_ref(&role));
            }
        })
        .build();
    let weak = Arc::downgrade(shared);
    let _registered = meter
        .u64_observable_gauge("registry.process.count")
        .with_unit("{process}")
        .with_description("Processes that this one knows of, itself included")
        .with_callback(move |count| {
            let Some(shared) = weak.upgrade() else { return };
            let mut processes: BTreeMap<(String, &'static str), u64> = BTreeMap::new();
            for server in &*shared.snapshot().servers {
                let kind = (server.role.to_string(), state_name(server.state));
                *processes.entry(kind).or_default() += 1;
            }
            for ((role, state), number) in processes {
                let role = KeyValue::new("registry.process.role", role);
                let state = KeyValue::new("registry.process.state", state);
                count.observe(number, &[role, state]);
            }
        })
        .build();
}

fn state_name(state: State) -> &'static str {
    match state {
        State::Starting => "starting",
        State::Ready => "ready",
        State::Stalled => "stalled",
        State::Draining => "draining",
    }
}
