//! What all starts have in common: logs, the operations port, signals, the registry, an id.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};

use chassis::{Process, telemetry};
use registry::{Lifetimes, NodeId, PresenceConfig, RedisConfig, Registry, RegistryError, Role};

use crate::address::bind;
use crate::chance;
use crate::role_threads::RoleThreads;
use crate::variables::{Misconfigured, PresenceVariables, ProcessVariables};

/// Sets up the process, which telemetry knows as `service`, lets `start` start its roles, and waits until all of them have ended.
///
/// # Errors
/// Whatever stops the start, or the first fault of a role.
pub(crate) fn process<F>(
    service: &'static str,
    variables: &ProcessVariables,
    operations_port: u16,
    start: impl FnOnce(Process, RoleThreads) -> F,
) -> anyhow::Result<()>
where
    F: Future<Output = anyhow::Result<RoleThreads>>,
{
    let operations = SocketAddr::from((Ipv4Addr::LOCALHOST, operations_port));
    let operations = bind("OPS_ADDR", variables.ops_addr.unwrap_or(operations))?;
    let telemetry = telemetry::start(service, &variables.log_level, variables.log_format())
        .map_err(by_whose_fault)?;
    let process = Process::start(operations, telemetry.metrics())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        process.shutdown.on_signals()?;
        let roles = RoleThreads::new(process.shutdown.clone());
        let supervised = process.clone();
        tokio::spawn(async move {
            let Process {
                supervisor,
                readiness,
                shutdown,
                ..
            } = supervised;
            supervisor.follow(&readiness, &shutdown).await;
        });
        start(process, roles)
            .await?
            .ended(variables.drain_timeout)
            .await
    })
}

/// What a variable says that can't be done is the configuration's fault.
fn by_whose_fault(error: telemetry::Error) -> anyhow::Error {
    match error {
        telemetry::Error::Trust { variable, why } => Misconfigured::new(variable, why).into(),
        telemetry::Error::Exporter(why) => {
            Misconfigured::new("OTEL_EXPORTER_OTLP_ENDPOINT", why.to_string()).into()
        }
        other => other.into(),
    }
}

/// Where a role gets its registry from. It asks on its own thread, because connections belong to
/// the runtime in which they are made.
#[derive(Clone)]
pub(crate) enum RegistrySource {
    /// Shared by all roles of this process.
    InProcess(Registry),
    Redis(RedisConfig),
}

impl RegistrySource {
    /// Redis if there is a `REDIS_URL`, otherwise the memory of this process.
    ///
    /// # Errors
    /// If what is set for Redis can't be used.
    pub(crate) fn new(variables: &PresenceVariables) -> Result<Self, RegistryError> {
        let lifetimes = Lifetimes {
            session: variables.session_ttl,
            ..Lifetimes::default()
        };
        let Some(url) = &variables.redis_url else {
            return Ok(Self::InProcess(Registry::in_process(lifetimes)));
        };
        let config = RedisConfig {
            url: url.reveal().to_owned(),
            key_prefix: variables.redis_key_prefix.clone(),
            lifetimes,
        };
        // Only to see that it can be used: it connects to nothing yet.
        Registry::redis(&config)?;
        Ok(Self::Redis(config))
    }

    /// Redis, which a single role can't do without.
    pub(crate) fn shared(variables: &PresenceVariables) -> anyhow::Result<Self> {
        if variables.redis_url.is_none() {
            let problem = "needed by a single role: only there it finds the others";
            return Err(Misconfigured::new("REDIS_URL", problem).into());
        }
        Ok(Self::new(variables)?)
    }

    /// The registry, for the runtime in which this is called.
    pub(crate) fn open(&self) -> Result<Registry, RegistryError> {
        match self {
            Self::InProcess(registry) => Ok(registry.clone()),
            Self::Redis(config) => Registry::redis(config),
        }
    }
}

/// How presence is kept.
pub(crate) fn presence(variables: &PresenceVariables) -> PresenceConfig {
    PresenceConfig {
        heartbeat_interval: variables.heartbeat_interval,
        ttl: variables.presence_ttl,
        ..PresenceConfig::default()
    }
}

/// The id of a role: `NODE_ID` if there is one, with `suffix` where several roles share it, else
/// drawn anew.
pub(crate) fn node_id(
    variables: &PresenceVariables,
    role: &str,
    suffix: &str,
) -> anyhow::Result<NodeId> {
    match &variables.node_id {
        Some(id) => NodeId::new(format!("{id}{suffix}"))
            .map_err(|error| Misconfigured::new("NODE_ID", error.to_string()).into()),
        None => Ok(NodeId::drawn(&Role::new(role)?, chance::bytes()?)),
    }
}
