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
