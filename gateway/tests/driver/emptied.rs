//! A registry that was emptied under a running fleet, and shows no new run: the nodes know.

use std::time::Duration;

use protocol::LobbyCode;
use protocol::link::{Ask, Request};
use registry::{Lifetimes, Registry};
use serde_json::json;

use crate::bench::Bench;
use crate::client::Client;
use crate::node::Node;

/// Nobody here renews anything: after this and as much again, lobbies are gone too.
const SESSION_TTL: Duration = Duration::from_millis(1500);
const CEILING: Duration = Duration::from_secs(10);

async fn bench() -> Bench {
    let lifetimes = Lifetimes {
        session: SESSION_TTL,
        ..Lifetimes::default()
    };
    Bench::over(Registry::in_process(lifetimes), |_| {}).await
}

/// Waits until the registry knows nothing of that table and who sits there.
async fn emptied(bench: &Bench, seat: &Ask) {
    let token = [seat.person.token.as_str().parse().unwrap()];
    let emptying = async {
        loop {
            let record = bench.registry.owner(seat.code.as_str()).await.unwrap();
            let sessions = bench.registry.sessions_read(&token).await.unwrap();
            if record.is_none() && sessions == [None] {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(CEILING, emptying).await.unwrap();
}

async fn comes_back(client: &mut Client, seat: &Ask, node: &mut Node) {
    let attach = node.ask().await;
    assert_eq!(attach.code, seat.code);
    assert!(matches!(attach.request, Request::Attach { .. }));
    node.attached(&attach, seat.number);
    node.show(seat.code, 9, &[attach.connection]);
    let shown = |message: &serde_json::Value| message["seq"] == 9;
    client.receive_until(shown).await;
}

#[tokio::test]
async fn a_table_that_is_lost_with_its_link_is_still_its_owners() {
    let mut bench = bench().await;
    let (mut ada, seat) = bench.seated_client().await;
    emptied(&bench, &seat).await;
    bench.node.drop_links();
    comes_back(&mut ada, &seat, &mut bench.node).await;
}

#[tokio::test]
async fn a_hello_whose_session_is_gone_finds_its_seat_through_any_gateway() {
    let mut bench = bench().await;
    let other = bench.another_gateway().await;
    let (ada, seat) = bench.seated_client().await;
    bench.node.knows(&seat);
    emptied(&bench, &seat).await;
    for address in [bench.address(), other.address] {
        let mut again = Client::connect(address).await;
        let welcome = again.hello(json!(ada.token)).await;
        assert_eq!(welcome["player_id"], seat.person.player.as_str());
        comes_back(&mut again, &seat, &mut bench.node).await;
    }
}

#[tokio::test]
async fn a_friend_with_the_code_is_let_in_and_a_guess_is_not() {
    let mut bench = bench().await;
    let other = bench.another_gateway().await;
    let (_ada, seat) = bench.seated_client().await;
    emptied(&bench, &seat).await;
    let mut bob = Client::connect(other.address).await;
    bob.enter().await;
    let join = |code: LobbyCode| json!({ "type": "join_lobby", "code": code, "name": "Bob" });
    bob.send(join("ZZZZZZ".parse().unwrap())).await;
    assert_eq!(bob.receive().await["code"], "lobby_not_found");
    bob.send(join(seat.code)).await;
    let asked = bench.node.ask().await;
    assert!(matches!(asked.request, Request::Join { .. }));
}

#[tokio::test]
async fn what_was_handed_over_does_not_beat_who_has_taken_it_since() {
    let mut bench = bench().await;
    // It hears what is handed over, and nothing of who takes it.
    let elsewhere = bench.another_gateway().await;
    let (mut ada, seat) = bench.seated_client().await;
    let mut owner = bench.another_node("game-owner").await;
    let is_linked = |nodes: &serde_json::Value, id: &str, state: &str| {
        let mut nodes = nodes.as_array().into_iter().flatten();
        nodes.any(|one| one["id"] == id && one["link"] == "up" && one["state"] == state)
    };
    elsewhere
        .until_operations("/nodes", |nodes| is_linked(nodes, "game-owner", "ready"))
        .await;
    bench.node.hand_over(seat.code, b"older by now").await;
    comes_back(&mut ada, &seat, &mut owner).await;
    // Who is there to take the older state would be asked before its owner.
    let mut eager = bench.another_node("game-eager").await;
    owner.drain();
    elsewhere
        .until_operations("/nodes", |nodes| {
            is_linked(nodes, "game-eager", "ready") && is_linked(nodes, "game-owner", "draining")
        })
        .await;
    emptied(&bench, &seat).await;
    let mut bob = Client::connect(elsewhere.address).await;
    bob.enter().await;
    bob.send(json!({ "type": "join_lobby", "code": seat.code, "name": "Bob" }))
        .await;
    let asked = owner.ask().await;
    assert!(matches!(asked.request, Request::Join { .. }));
    assert_eq!(eager.claims_so_far(), 0);
}
