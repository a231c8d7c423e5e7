//! From the variables to the plain `Config` of each role.

use game_node::{CpuOf, LoadConfig, Thresholds};
use protocol::server::LoadLevel;
use registry::NodeId;

use crate::start::presence as presence_config;
use crate::variables::{
    AiVariables, GameVariables, GatewayVariables, LoadVariables, PresenceVariables,
    ProcessVariables,
};

/// A gateway's.
pub(crate) fn gateway(
    process: &ProcessVariables,
    presence: &PresenceVariables,
    gateway: &GatewayVariables,
    node_id: NodeId,
    advertise_addr: String,
) -> gateway::Config {
    gateway::Config {
        node_id,
        advertise_addr,
        presence: presence_config(presence),
        ready_timeout: process.ready_timeout,
        shared_secret: presence.gateway_shared_secret.clone(),
        operator_token: gateway.operator_token.clone(),
        session_ttl: presence.session_ttl,
        allowed_origins: gateway.allowed_origins.0.clone(),
        trusted_proxies: gateway.trusted_proxies.clone(),
        max_connections: gateway.max_connections,
        max_connections_per_ip: gateway.max_connections_per_ip,
        message_rate: gateway.message_rate,
        message_burst: gateway.message_burst,
        max_rate_violations: gateway.max_rate_violations,
        lobby_create_rate: gateway.lobby_create_rate,
        max_http_concurrency: gateway.http_concurrency(),
        accept_rate: gateway.accept_rate,
        reconnect_window: gateway.reconnect_window,
    }
}

/// A game node's.
pub(crate) fn game_node(
    process: &ProcessVariables,
    presence: &PresenceVariables,
    game: &GameVariables,
    node_id: NodeId,
    advertise_addr: String,
    cpu_of: CpuOf,
) -> game_node::Config {
    game_node::Config {
        node_id,
        advertise_addr,
        gateway_secret: presence.gateway_shared_secret.clone(),
        ai_secret: presence.ai_shared_secret.clone(),
        presence: presence_config(presence),
        ready_timeout: process.ready_timeout,
        drain_timeout: process.drain_timeout,
        pace: game_node::lobby::Pace {
            ai_move_delay: game.ai_move_delay,
            trick_pause: game.trick_pause,
        },
        ai_decision_timeout: game.ai_decision_timeout,
        ai_max_inflight: game.ai_max_inflight,
        ai_breaker_failures: game.ai_breaker_failures,
        ai_breaker_cooldown: game.ai_breaker_cooldown,
        session_ttl: presence.session_ttl,
        max_lobbies: game.max_lobbies,
        max_active_games: game.max_active_games,
        load: load(&game.load, cpu_of),
    }
}

fn load(load: &LoadVariables, cpu_of: CpuOf) -> LoadConfig {
    LoadConfig {
        sample_interval: load.load_sample_interval,
        thresholds: Thresholds {
            lag_busy: load.load_lag_busy,
            lag_overload: load.load_lag_overload,
            lag_severe: load.load_lag_severe,
            cpu_busy: load.load_cpu_busy,
            cpu_overload: load.load_cpu_overload,
            throttle_overload: load.load_throttle_overload,
            overload_samples: load.load_overload_samples,
            recover_samples: load.load_recover_samples,
        },
        force_level: load.load_force_level.map(LoadLevel::from),
        cpu_of,
    }
}

/// An AI node's.
pub(crate) fn ai_node(
    process: &ProcessVariables,
    presence: &PresenceVariables,
    ai: &AiVariables,
    node_id: NodeId,
) -> ai_node::Config {
    ai_node::Config {
        node_id,
        secret: presence.ai_shared_secret.clone(),
        workers: ai.workers(),
        queue: ai.ai_queue,
        presence: presence_config(presence),
        ready_timeout: process.ready_timeout,
        drain_timeout: process.drain_timeout,
    }
}
