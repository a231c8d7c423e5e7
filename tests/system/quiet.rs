//! What is normal logs no warning.

use loadtest::strategy::random_moves;
use serde_json::{Value, json};

use crate::support::CEILING;
use crate::support::fleet::Fleet;
use crate::support::table::{agree_on, arrive, gather, play_to_the_end, start};

#[tokio::test]
async fn a_healthy_game_with_lost_connections_and_leavers_warns_of_nothing() {
    let fleet = Fleet::over_redis(&[("LOG_FORMAT", "json")]).await;
    let url = fleet.url();
    let (mut players, code) = gather(&url, 3, 1).await;
    let mut watcher = arrive(&url).await;
    watcher.watch(code).await.unwrap();
    agree_on(&mut players[0], json!({"length": "short"})).await;
    start(&mut players).await;
    let mut leaver = players.remove(2);
    leaver.leave().await.unwrap();
    players[1].disconnect().await;
    players[1].reconnect(&url).await.unwrap();
    drop(watcher);
    play_to_the_end(&mut players).await;

    // Another table is played while everything stops.
    let (mut last, _) = gather(&url, 1, 2).await;
    start(&mut last).await;
    let playing = last[0].play(random_moves(1));
    let (lines, _ended) = tokio::join!(fleet.stop(), tokio::time::timeout(CEILING, playing));
    nothing_is_worth_reading(&lines);
}

/// Each process gives way to another of its role, one after the other, while a game is played.
#[tokio::test]
async fn a_rolling_restart_under_a_game_warns_of_nothing() {
    let mut fleet = Fleet::over_redis(&[("LOG_FORMAT", "json")]).await;
    let (mut players, _) = gather(&fleet.url(), 2, 1).await;
    agree_on(&mut players[0], json!({"length": "short"})).await;
    start(&mut players).await;
    fleet.add("ai-node", "ai-2").await;
    fleet.end(3).await;
    for name in ["game-3", "game-4"] {
        fleet.add("game-node", name).await;
        fleet.end(1).await;
    }
    let address = fleet.add("gateway", "gateway-2").await;
    let url = format!("ws://{address}/ws");
    let (ended, closed) = tokio::join!(fleet.end(0), players[0].closed(CEILING));
    assert_eq!(((), closed.unwrap()), (ended, Some(1012)));
    for player in &mut players {
        player.reconnect(&url).await.unwrap();
    }
    play_to_the_end(&mut players).await;
    nothing_is_worth_reading(&fleet.stop().await);
}

fn nothing_is_worth_reading(lines: &[String]) {
    let told: Vec<&String> = lines.iter().filter(|line| is_worth_reading(line)).collect();
    assert!(told.is_empty(), "{told:#?}");
}

fn is_worth_reading(line: &str) -> bool {
    // Whatever is no event was printed by something that does not know of the log.
    let event: Result<Value, _> = serde_json::from_str(line);
    event.map_or(true, |event| {
        event["level"] == "WARN" || event["level"] == "ERROR"
    })
}
