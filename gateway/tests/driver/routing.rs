//! How a code finds its owner, and what is said when it does not.

use std::time::Duration;

use protocol::ErrorCode;
use protocol::link::Request;
use serde_json::json;
use tokio::time::Instant;

use crate::bench::Bench;
use crate::client::Client;

/// Any answer is there by then, with as much again for a machine that has other things to do.
const WITHIN: Duration = Duration::from_secs(4);

#[tokio::test]
async fn unknown_codes_are_not_found() {
    let bench = Bench::start().await;
    let mut ada = bench.client().await;
    ada.enter().await;
    for kind in ["join_lobby", "watch_lobby"] {
        ada.send(json!({ "type": kind, "code": "QQQQQQ", "name": "Ada" }))
            .await;
        assert_eq!(ada.receive().await["code"], "lobby_not_found");
    }
}

async fn join(client: &mut Client, code: &str) {
    client
        .send(json!({ "type": "join_lobby", "code": code, "name": "Ben" }))
        .await;
}

#[tokio::test]
async fn unknown_full_and_silent_are_three_codes_each_in_time() {
    let mut bench = Bench::start().await;
    let (_ada, seat) = bench.seated_client().await;
    let mut ben = bench.client().await;
    ben.enter().await;

    let asked = Instant::now();
    join(&mut ben, "QQQQQQ").await;
    assert_eq!(ben.receive().await["code"], "lobby_not_found");
    assert!(asked.elapsed() < WITHIN);

    let asked = Instant::now();
    join(&mut ben, seat.code.as_str()).await;
    let full = bench.node.ask().await;
    bench.node.refuse(&full, ErrorCode::LobbyFull);
    assert_eq!(ben.receive().await["code"], "lobby_full");
    assert!(asked.elapsed() < WITHIN);

    for kind in ["join_lobby", "watch_lobby", "quick_play"] {
        let asked = Instant::now();
        ben.send(json!({ "type": kind, "code": seat.code, "name": "Ben" }))
            .await;
        assert_eq!(ben.receive().await["code"], "unavailable", "{kind}");
        assert!(asked.elapsed() < WITHIN, "{kind}: {:?}", asked.elapsed());
        assert_eq!(bench.node.asks_so_far().len(), 1, "{kind}: asked once");
    }
}

#[tokio::test]
async fn a_node_that_does_not_own_the_table_is_asked_once_more_and_no_more() {
    let mut bench = Bench::start().await;
    let (_ada, seat) = bench.seated_client().await;
    let mut ben = bench.client().await;
    ben.enter().await;
    join(&mut ben, seat.code.as_str()).await;
    for _ in 0..2 {
        let ask = bench.node.ask().await;
        assert!(matches!(ask.request, Request::Join { .. }));
        bench.node.not_owner(&ask);
    }
    let answer = ben.receive().await;
    assert_eq!(
        (&answer["code"], answer["retry_after_ms"].is_u64()),
        (&json!("unavailable"), true)
    );
    ben.send(json!({ "type": "ping" })).await;
    assert_eq!(ben.receive().await["type"], "pong");
    assert!(bench.node.asks_so_far().is_empty(), "no loop");
}

#[tokio::test]
async fn what_a_gateway_remembers_wrongly_is_put_right_within_one_try() {
    let mut bench = Bench::start().await;
    let (_ada, seat) = bench.seated_client().await;
    // Another gateway remembers the owner; then the table has gone.
    let second = bench.another_gateway().await;
    let mut ben = Client::connect(second.address).await;
    ben.enter().await;
    join(&mut ben, seat.code.as_str()).await;
    let ask = bench.node.ask().await;
    bench.node.refuse(&ask, ErrorCode::LobbyFull);
    assert_eq!(ben.receive().await["code"], "lobby_full");
    bench.node.end(&bench.registry, seat.code).await;
    join(&mut ben, seat.code.as_str()).await;
    let ask = bench.node.ask().await;
    bench.node.not_owner(&ask);
    assert_eq!(ben.receive().await["code"], "lobby_not_found");
    assert!(bench.node.asks_so_far().is_empty());
}
