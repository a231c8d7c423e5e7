//! One process of one role, which finds the others through Redis.

use std::net::{Ipv4Addr, SocketAddr};

use chassis::environment::Secret;
use game_node::CpuOf;
use tracing::warn;

use crate::address::{advertised, bind};
use crate::command_line::{AiNodeCommand, GameNodeCommand, GatewayCommand};
use crate::configuration;
use crate::start::{self, RegistrySource};

/// Runs a gateway until it is told to stop.
///
/// # Errors
/// Whatever stops the start, or a fault of the gateway.
pub(crate) fn gateway(command: &GatewayCommand) -> anyhow::Result<()> {
    let GatewayCommand {
        process,
        listen,
        presence,
        gateway,
    } = command;
    let registry = RegistrySource::shared(presence)?;
    let id = start::node_id(presence, "gateway", "")?;
    let listener = bind(
        "LISTEN_ADDR",
        listen.listen_addr.unwrap_or(everywhere(8080)),
    )?;
    let address = advertised(listen.advertise_addr.as_deref(), listener.local_addr()?);
    let config = configuration::gateway(process, presence, gateway, id, address);
    start::process(
        "wizard-gateway",
        process,
        9090,
        async |process, mut roles| {
            warn_if_open("GATEWAY_SHARED_SECRET", &presence.gateway_shared_secret);
            roles.spawn("gateway", async move || {
                Ok(::gateway::run(config, listener, registry.open()?, process).await?)
            })?;
            Ok(roles)
        },
    )
}

/// Runs a game node until it is told to stop.
///
/// # Errors
/// Whatever stops the start, or a fault of the game node.
pub(crate) fn game_node(command: &GameNodeCommand) -> anyhow::Result<()> {
    let GameNodeCommand {
        process,
        listen,
        presence,
        game,
    } = command;
    let registry = RegistrySource::shared(presence)?;
    let id = start::node_id(presence, "game", "")?;
    let listener = bind(
        "LISTEN_ADDR",
        listen.listen_addr.unwrap_or(everywhere(7000)),
    )?;
    let address = advertised(listen.advertise_addr.as_deref(), listener.local_addr()?);
    let config = configuration::game_node(process, presence, game, id, address, CpuOf::Process);
    start::process(
        "wizard-game-node",
        process,
        9091,
        async |process, mut roles| {
            roles.spawn("lobbies", async move || {
                Ok(::game_node::run(config, listener, registry.open()?, process).await?)
            })?;
            Ok(roles)
        },
    )
}

/// Runs an AI node until it is told to stop.
///
/// # Errors
/// Whatever stops the start, or a fault of the AI node.
pub(crate) fn ai_node(command: &AiNodeCommand) -> anyhow::Result<()> {
    let AiNodeCommand {
        process,
        presence,
        ai,
    } = command;
    let registry = RegistrySource::shared(presence)?;
    let id = start::node_id(presence, "ai", "")?;
    let config = configuration::ai_node(process, presence, ai, id);
    start::process(
        "wizard-ai-node",
        process,
        9092,
        async |process, mut roles| {
            warn_if_open("AI_SHARED_SECRET", &presence.ai_shared_secret);
            roles.spawn("ai", async move || {
                Ok(::ai_node::run(config, registry.open()?, process).await?)
            })?;
            Ok(roles)
        },
    )
}

/// Where a single role listens if nothing else is said: other hosts must reach it.
fn everywhere(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::UNSPECIFIED, port))
}

fn warn_if_open(variable: &str, secret: &Secret) {
    if secret.is_empty() {
        warn!("{variable} is empty: game nodes are not shown who this is");
    }
}
