//! From the start of the program to the first game.

use std::process::Command;

use serde_json::Value;

use crate::support::fleet::Fleet;
use crate::support::table::{arrive, gather, start};
use crate::support::{free_address, http};

/// Nothing here tries twice: when the line is there, everything works.
#[tokio::test]
async fn when_the_address_is_printed_a_game_begins_at_once() {
    let fleet = Fleet::in_one_process(&[]).await;
    let mut first = arrive(&fleet.url()).await;
    assert!(first.server_status().unwrap().accepting_games);
    first.create("First").await.unwrap();
    assert!(first.state().lobby.as_ref().unwrap().ai_available);
    let (mut players, _) = gather(&fleet.url(), 1, 2).await;
    start(&mut players).await;

    let (status, ready) = http::get(fleet.operations(), "/ready").await.unwrap();
    let ready: Value = serde_json::from_str(&ready).unwrap();
    assert_eq!((status, &ready["ready"]), (200, &true.into()), "{ready}");
    let health = http::get_json(fleet.operations(), "/health").await.unwrap();
    assert_eq!(health["status"], "ok");
    let nodes = http::get_json(fleet.operations(), "/nodes").await.unwrap();
    let mut roles: Vec<_> = nodes
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["role"].as_str().unwrap())
        .collect();
    roles.sort_unstable();
    assert_eq!(roles, ["ai", "game", "game", "gateway"]);
}

#[tokio::test]
async fn the_health_command_tells_a_ready_process_from_none() {
    let fleet = Fleet::in_one_process(&[]).await;
    assert!(is_healthy(fleet.operations()));
    assert!(!is_healthy(free_address()));
}

fn is_healthy(operations: std::net::SocketAddr) -> bool {
    let health = Command::new(env!("CARGO_BIN_EXE_wizard"))
        .arg("health")
        .env("OPS_ADDR", operations.to_string())
        .output()
        .unwrap();
    health.status.success()
}
