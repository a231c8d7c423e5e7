//! The whole gateway over loopback: real WebSocket clients in front, a game node that answers by
//! hand behind, the in-process registry between.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

#[path = "driver/bench.rs"]
mod bench;
#[path = "driver/client.rs"]
mod client;
#[path = "driver/emptied.rs"]
mod emptied;
#[path = "driver/limits.rs"]
mod limits;
#[path = "driver/moving.rs"]
mod moving;
#[path = "driver/node.rs"]
mod node;
#[path = "driver/operations.rs"]
mod operations;
#[path = "driver/real.rs"]
mod real;
#[path = "driver/routing.rs"]
mod routing;
#[path = "driver/standing_still.rs"]
mod standing_still;
#[path = "driver/wire.rs"]
mod wire;

use std::sync::{Arc, Mutex};

use bench::{Bench, config};
use client::Client;
use node::Node;
use protocol::ErrorCode;
use protocol::link::{Parting, Request};
use serde_json::{Value, json};

#[tokio::test]
async fn a_player_is_welcomed_sits_down_and_leaves() {
    let mut bench = Bench::start().await;
    let mut ada = bench.client().await;
    let welcome = ada.hello(Value::Null).await;
    assert_eq!(welcome["player_id"].as_str().unwrap().len(), 12);
    assert_eq!(welcome["reconnect_within_ms"], 5000);
    let status = ada.receive().await;
    assert_eq!(
        (&status["type"], &status["accepting_games"]),
        (&json!("server_status"), &json!(true))
    );
    let state = ada.receive().await;
    assert_eq!(
        (&state["type"], &state["lobby"]),
        (&json!("state"), &Value::Null)
    );

    ada.send(json!({ "type": "create_lobby", "name": "Ada" }))
        .await;
    let ask = bench.node.ask().await;
    assert!(matches!(
        &ask.request,
        Request::Create { public: false, .. }
    ));
    bench.node.own(&bench.registry, ask.code).await;
    bench.node.done(&ask);
    bench.node.show(ask.code, 1, &[ask.connection]);
    assert_eq!(ada.receive().await["lobby"]["code"], ask.code.as_str());

    let mut ben = bench.client().await;
    ben.enter().await;
    let code = ask.code.as_str().to_lowercase();
    ben.send(json!({ "type": "join_lobby", "code": code, "name": "Ben" }))
        .await;
    let join = bench.node.ask().await;
    assert_eq!(join.code, ask.code);
    bench.node.done(&join);
    bench
        .node
        .show(ask.code, 2, &[ask.connection, join.connection]);
    assert_eq!(ada.receive().await["seq"], 2);
    assert_eq!(ben.receive().await["seq"], 2);

    ben.send(json!({ "type": "leave_lobby" })).await;
    let leave = bench.node.ask().await;
    assert_eq!(leave.request, Request::Leave);
    bench.node.done(&leave);
    assert_eq!(ben.receive().await["lobby"], Value::Null);
}

#[tokio::test]
async fn nothing_reaches_a_node_before_hello() {
    let mut bench = Bench::start().await;
    let mut early = bench.client().await;
    for text in [
        r#"{"type":"create_lobby","name":"Ada"}"#,
        r#"{"type":"start_game"}"#,
    ] {
        early.send_text(text).await;
        assert_eq!(early.receive().await["code"], "hello_required");
    }
    for malformed in ["", "[]", "nonsense", r#"{"type":"hello"}"#] {
        early.send_text(malformed).await;
        assert_eq!(early.receive().await["code"], "invalid_message");
    }
    early.send_binary(br#"{"type":"hello","token":null}"#).await;
    assert_eq!(early.receive().await["code"], "invalid_message");
    early.enter().await;
    assert!(bench.node.asks_so_far().is_empty());
}

#[tokio::test]
async fn what_the_node_refuses_is_told_with_the_messages_id() {
    let mut bench = Bench::start().await;
    let (mut ada, _seat) = bench.seated_client().await;
    ada.send(json!({ "type": "start_game", "id": "seven" }))
        .await;
    let ask = bench.node.ask().await;
    bench.node.refuse(&ask, ErrorCode::NotEnoughPlayers);
    let error = ada.receive().await;
    assert_eq!(
        (&error["code"], &error["id"]),
        (&json!("not_enough_players"), &json!("seven"))
    );
}

#[tokio::test]
async fn a_token_brings_its_player_back_to_the_table() {
    let mut bench = Bench::start().await;
    let (ada, seat) = bench.seated_client().await;
    let token = ada.token.clone();
    drop(ada);
    assert_eq!(bench.node.detached().await, seat.connection);

    let mut again = bench.client().await;
    let welcome = again.hello(json!(token)).await;
    assert_eq!(welcome["player_id"], seat.person.player.as_str());
    assert_eq!(again.receive().await["type"], "server_status");
    let attach = bench.node.ask().await;
    assert_eq!(
        (attach.code, &attach.request),
        (seat.code, &Request::Attach { shown: None })
    );
    assert!(attach.person.generation > seat.person.generation);
    bench.node.done(&attach);
    bench.node.show(seat.code, 9, &[attach.connection]);
    assert_eq!(again.receive().await["seq"], 9);
}

#[tokio::test]
async fn a_second_window_takes_over_also_through_another_gateway() {
    let bench = Bench::start().await;
    let second = bench.another_gateway().await;
    let mut here = bench.client().await;
    here.enter().await;
    let mut there = Client::connect(second.address).await;
    there.hello(json!(here.token)).await;
    assert_eq!(here.receive().await["code"], "taken_over");
    assert_eq!(here.closed().await, 4000);
    there.send(json!({ "type": "ping", "nonce": "x" })).await;
    there
        .receive_until(|message| message["type"] == "pong")
        .await;
}

#[tokio::test]
async fn a_node_that_knows_a_newer_connection_ends_the_older() {
    let mut bench = Bench::start().await;
    let (mut ada, seat) = bench.seated_client().await;
    bench.node.part(&seat, Parting::TakenOver);
    assert_eq!(ada.receive().await["code"], "taken_over");
    assert_eq!(ada.closed().await, 4000);
}

#[tokio::test]
async fn two_gateways_bring_their_players_to_one_table() {
    let mut bench = Bench::start().await;
    let second = bench.another_gateway().await;
    let (mut ada, seat) = bench.seated_client().await;
    let mut ben = Client::connect(second.address).await;
    ben.enter().await;
    ben.send(json!({ "type": "watch_lobby", "code": seat.code }))
        .await;
    let watch = bench.node.ask().await;
    assert_eq!((watch.code, &watch.request), (seat.code, &Request::Watch));
    bench.node.done(&watch);
    bench.node.show(seat.code, 5, &[watch.connection]);
    assert_eq!(ben.receive().await["seq"], 5);
    ada.send(json!({ "type": "ping" })).await;
    assert_eq!(
        ada.receive().await["type"],
        "pong",
        "a number of another gateway's connection"
    );
}

#[tokio::test]
async fn an_ask_without_an_answer_blocks_nobody_for_ever() {
    let mut bench = Bench::start().await;
    let (mut ada, _seat) = bench.seated_client().await;
    ada.send(json!({ "type": "start_game", "id": "7" })).await;
    let ask = bench.node.ask().await;
    let error = ada.receive().await;
    assert_eq!(
        (&error["code"], &error["id"]),
        (&json!("unavailable"), &json!("7"))
    );
    ada.send(json!({ "type": "start_game", "id": "8" })).await;
    let next = bench.node.ask().await;
    assert!(next.number > ask.number);
    bench.node.refuse(&next, ErrorCode::NotHost);
    assert_eq!(ada.receive().await["id"], "8");
}

#[tokio::test]
async fn quick_play_finds_a_public_table() {
    let mut bench = Bench::start().await;
    let (_ada, seat) = bench.seated_client().await;
    bench
        .registry
        .public_add(&[seat.code.to_string()])
        .await
        .unwrap();
    let mut ben = bench.client().await;
    ben.enter().await;
    ben.send(json!({ "type": "quick_play", "name": "Ben" }))
        .await;
    let join = bench.node.ask().await;
    assert_eq!(join.code, seat.code);
    assert!(matches!(
        &join.request,
        Request::Join {
            only_if_public: true,
            ..
        }
    ));
    bench.node.refuse(&join, ErrorCode::LobbyFull);
    let create = bench.node.ask().await;
    assert!(matches!(
        &create.request,
        Request::Create { public: true, .. }
    ));
}

#[tokio::test]
async fn a_partial_state_leaves_out_what_has_not_changed() {
    let mut bench = Bench::start().await;
    let mut ada = bench.client().await;
    ada.send(json!({ "type": "hello", "token": null, "partial": true }))
        .await;
    ada.receive_until(|message| message["type"] == "state")
        .await;
    ada.send(json!({ "type": "create_lobby", "name": "Ada" }))
        .await;
    let ask = bench.node.ask().await;
    bench.node.done(&ask);
    bench.node.show(ask.code, 1, &[ask.connection]);
    assert!(ada.receive().await.get("lobby").is_some());
    bench.node.show(ask.code, 2, &[ask.connection]);
    let second = ada.receive().await;
    assert_eq!((&second["seq"], second.get("lobby")), (&json!(2), None));
}

#[tokio::test]
async fn without_an_accepting_node_new_tables_are_busy() {
    let bench = Bench::start().await;
    let mut ada = bench.client().await;
    ada.enter().await;
    bench.node.accept(false);
    let status = ada.receive().await;
    assert_eq!(
        (&status["accepting_games"], &status["reason"]),
        (&json!(false), &json!("full"))
    );
    for kind in ["create_lobby", "quick_play"] {
        ada.send(json!({ "type": kind, "name": "Ada" })).await;
        let busy = ada.receive().await;
        assert_eq!(
            (&busy["code"], busy["retry_after_ms"].is_u64()),
            (&json!("busy"), true)
        );
    }
}

#[tokio::test]
async fn the_end_closes_sockets_with_1012_and_says_goodbye() {
    let mut bench = Bench::start().await;
    let (mut ada, _seat) = bench.seated_client().await;
    let gone = bench.gateway.id.clone();
    bench.gateway.process.shutdown.begin();
    assert_eq!(ada.closed().await, 1012);
    bench.gateway.ended().await;
    let servers = bench.registry.servers().await.unwrap();
    assert!(servers.iter().all(|server| server.id != gone));
}

#[tokio::test]
async fn no_log_holds_a_token_or_a_secret() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_writer(move || writer.clone())
        .finish();
    let _here = tracing::subscriber::set_default(subscriber);
    let mut bench = Bench::start().await;
    let (ada, _seat) = bench.seated_client().await;
    let mut again = bench.client().await;
    again.hello(json!(ada.token)).await;
    let mut stranger = bench.client().await;
    stranger.hello(json!("made-up-by-somebody")).await;
    stranger
        .send(json!({ "type": "join_lobby", "code": "QQQQQQ", "name": "Ben" }))
        .await;
    stranger
        .receive_until(|message| message["code"] == "lobby_not_found")
        .await;
    let text = log.text();
    assert!(
        text.contains("lobby_not_found"),
        "refusals are logged at DEBUG: {text}"
    );
    for secret in [
        &ada.token,
        &stranger.token,
        "made-up-by-somebody",
        node::SECRET,
    ] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

/// What was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn operators_see_nodes_and_lobbies() {
    let mut bench = Bench::start().await;
    let (_ada, seat) = bench.seated_client().await;
    let (status, nodes) = bench.gateway.operations("/nodes").await;
    assert_eq!(status, 200);
    let game = nodes
        .as_array()
        .unwrap()
        .iter()
        .find(|node| node["role"] == "game")
        .unwrap();
    assert_eq!(
        (&game["link"], &game["id"]),
        (&json!("up"), &json!(Node::ID))
    );
    let own = nodes
        .as_array()
        .unwrap()
        .iter()
        .find(|node| node["role"] == "gateway")
        .unwrap();
    assert_eq!(
        (&own["link"], &own["state"]),
        (&Value::Null, &json!("ready"))
    );
    let (status, lobby) = bench
        .gateway
        .operations(&format!("/lobbies/{}", seat.code))
        .await;
    assert_eq!(
        (status, &lobby["owner"], &lobby["status"]),
        (200, &json!(Node::ID), &json!("waiting"))
    );
    assert_eq!(
        (&lobby["seats"], &lobby["why"]),
        (&Value::Null, &json!("its owner does not answer"))
    );
    assert_eq!(bench.gateway.operations("/lobbies/QQQQQQ").await.0, 404);
    bench
        .until(|health| health["connections"] == 1 && health["sessions"] == 1)
        .await;
    assert_eq!(bench.gateway.operations("/ready").await.0, 200);
}

#[tokio::test]
async fn a_gateway_without_a_game_node_is_not_ready() {
    let registry = registry::Registry::in_process(registry::Lifetimes::default());
    let gateway = bench::Gateway::start(config("gateway-alone"), registry);
    let (status, body) = gateway
        .until_operations("/ready", |body| {
            let ok = |name: &str| {
                body["checks"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|check| check["name"] == name && check["ok"] == true)
            };
            ok("registry") && ok("listener")
        })
        .await;
    assert_eq!((status, &body["ready"]), (503, &json!(false)));
}

#[tokio::test]
async fn the_page_keeps_to_itself() {
    let bench = Bench::start().await;
    let page = bench.gateway.get("/").await;
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    let head = page.to_lowercase();
    for header in [
        "content-security-policy: default-src 'none'; script-src 'self'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cache-control: no-cache",
        "content-type: text/html",
    ] {
        assert!(head.contains(header), "{header} in {page}");
    }
    assert!(
        bench
            .gateway
            .get("/no/such/page")
            .await
            .starts_with("HTTP/1.1 404")
    );
}
