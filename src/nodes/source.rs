//! Where operators' commands look: the registry itself, or a gateway.

use std::future::Future;

use anyhow::{Context, bail};
use chassis::clock;
use registry::{Lifetimes, NodeId, RedisConfig, Registry, RegistryError};
use tokio::runtime::{Builder, Runtime};

use super::Node;
use crate::operations_port::OperationsPort;
use crate::variables::OperatorsVariables;

/// See the module.
pub(crate) enum Source {
    Registry(RedisConfig),
    Gateway(OperationsPort),
}

impl Source {
    /// # Errors
    /// If what is set for Redis can't be used.
    pub(crate) fn new(variables: &OperatorsVariables) -> Result<Self, RegistryError> {
        let Some(url) = &variables.redis_url else {
            return Ok(Self::Gateway(OperationsPort::new(variables.ops_addr)));
        };
        let config = RedisConfig {
            url: url.reveal().to_owned(),
            key_prefix: variables.redis_key_prefix.clone(),
            lifetimes: Lifetimes::default(),
        };
        // Only to see that it can be used: it connects to nothing yet.
        Registry::redis(&config)?;
        Ok(Self::Registry(config))
    }

    /// The registry's time in epoch ms, and everybody, ordered by id.
    ///
    /// # Errors
    /// If nobody can be asked.
    pub(crate) fn list(&self) -> anyhow::Result<(u64, Vec<Node>)> {
        match self {
            Self::Registry(config) => {
                let listed = ask(config, async |registry| {
                    let servers = registry.servers().await?;
                    Ok((registry.now_ms(), servers))
                });
                let (now_ms, servers) = listed?;
                let nodes = servers.into_iter().map(Node::of_registry).collect();
                Ok((now_ms.unwrap_or_else(clock::unix_milliseconds), nodes))
            }
            Self::Gateway(port) => {
                let answer = port.get("/nodes")?;
                if answer.status != 200 {
                    bail!("{port} is no gateway's operations port: it knows no /nodes");
                }
                let nodes: Vec<Node> = serde_json::from_str(&answer.body)
                    .with_context(|| format!("{port} is of another version"))?;
                Ok((now_of(&nodes), nodes))
            }
        }
    }

    /// Asks a node to leave.
    ///
    /// # Errors
    /// If nobody could be asked, or the gateway refuses.
    pub(crate) fn request_drain(
        &self,
        id: &NodeId,
        token: &chassis::environment::Secret,
    ) -> anyhow::Result<()> {
        match self {
            Self::Registry(config) => {
                ask(config, async |registry| registry.request_drain(id).await)
            }
            Self::Gateway(port) => {
                let answer = port.post(&format!("/nodes/{}/drain", id.as_str()), token)?;
                match answer.status {
                    202 => Ok(()),
                    401 => bail!("OPERATOR_TOKEN is not the one that {port} knows"),
                    _ => bail!("{}", answer.body),
                }
            }
        }
    }
}

/// Asks Redis once.
///
/// # Errors
/// If it can't be reached.
pub(crate) fn ask<T>(
    config: &RedisConfig,
    question: impl AsyncFnOnce(Registry) -> Result<T, RegistryError>,
) -> anyhow::Result<T> {
    let asking = async { question(Registry::redis(config)?).await };
    Ok(block_on(asking)??)
}

fn block_on<T>(future: impl Future<Output = T>) -> anyhow::Result<T> {
    Ok(runtime()?.block_on(future))
}

/// For one command.
pub(super) fn runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// A gateway says times by the registry's clock, which may be ahead of ours.
pub(super) fn now_of(nodes: &[Node]) -> u64 {
    let newest = nodes.iter().map(|node| node.presence.last_seen).max();
    clock::unix_milliseconds().max(newest.unwrap_or(0))
}
