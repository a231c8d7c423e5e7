//! A table whose owner is lost, stops, or can't commit: how its players get to the next one.

use std::collections::BTreeSet;
use std::time::Duration;

use chassis::environment::Limit;
use protocol::link::{Ask, Parting, Request};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::bench::Bench;
use crate::client::Client;
use crate::node::Node;

/// What a player waits for their table after its owner was killed: less than it takes until one is believed to be silent.
/// How short it is on a quiet machine the fault suite measures.
const BACK_WITHIN: Duration = Duration::from_millis(4_500);
/// A released table is followed by word of it. Without that it would be missed with the next message that has no answer,
/// and here nobody sends one.
const FOLLOWED_WITHIN: Duration = Duration::from_secs(4);

/// Claims that a gateway asks for.
const AT_ONCE: usize = 32;
/// What it waits for the answer to one.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(2);

/// A player at a table of the bench's node, and another node.
async fn seated_and_another() -> (Bench, Client, Ask, Node) {
    let mut bench = Bench::start().await;
    let (ada, seat) = bench.seated_client().await;
    let other = bench.another_node("game-other").await;
    (bench, ada, seat, other)
}

async fn state(client: &mut Client) -> Value {
    client
        .receive_until(|message| message["type"] == "state")
        .await
}

async fn comes_back(client: &mut Client, seat: &Ask, node: &mut Node, taken: u64) {
    let attach = node.ask().await;
    let shown = Request::Attach { shown: Some(1) };
    assert_eq!((attach.code, &attach.request), (seat.code, &shown));
    assert_eq!(attach.connection, seat.connection);
    node.attached(&attach, taken);
    node.show(seat.code, 9, &[attach.connection]);
    assert_eq!(state(client).await["seq"], 9);
}

#[tokio::test]
async fn a_lost_link_is_told_as_moving_and_brought_back_by_the_same_owner() {
    let mut bench = Bench::start().await;
    let (mut ada, seat) = bench.seated_client().await;
    ada.send(json!({ "type": "start_game" })).await;
    let start = bench.node.ask().await;
    bench.node.drop_links();
    let moving = ada
        .receive_until(|message| message["reason"] == "moving")
        .await;
    assert_eq!(moving["type"], "server_status");
    comes_back(&mut ada, &seat, &mut bench.node, seat.number).await;
    let again = bench.node.ask().await;
    assert_eq!(
        (again.number, &again.request),
        (start.number, &start.request)
    );
    bench.node.done(&again);
}

#[tokio::test]
async fn a_killed_owner_is_relieved_and_its_players_follow() {
    let (bench, mut ada, seat, mut other) = seated_and_another().await;
    let killed_at = Instant::now();
    bench.node.kill();
    comes_back(&mut ada, &seat, &mut other, seat.number).await;
    assert!(
        killed_at.elapsed() < BACK_WITHIN,
        "{:?}",
        killed_at.elapsed()
    );
    let record = bench.registry.owner(seat.code.as_str()).await.unwrap();
    assert_eq!(record.unwrap().owner, Some(other.owner()));
    assert_eq!(other.claims_so_far(), 1, "once, however many wait");
}

#[tokio::test]
async fn a_released_table_moves_at_once_and_without_an_error() {
    let (bench, mut ada, seat, mut other) = seated_and_another().await;
    bench.node.refuse_claims();
    let released_at = Instant::now();
    bench.node.release(&seat).await;
    let attach = other.ask().await;
    assert!(
        released_at.elapsed() < FOLLOWED_WITHIN,
        "{:?}",
        released_at.elapsed()
    );
    other.attached(&attach, seat.number);
    other.show(seat.code, 2, &[attach.connection]);
    let mut said = Vec::new();
    loop {
        let message = ada.receive().await;
        if message["type"] == "state" {
            break;
        }
        said.push(message);
    }
    assert!(
        said.iter()
            .all(|message| message["type"] == "server_status"),
        "{said:?}"
    );
}

#[tokio::test]
async fn a_player_who_says_hello_finds_the_table_of_a_dead_owner() {
    let (bench, ada, seat, mut other) = seated_and_another().await;
    let token = ada.token.clone();
    drop(ada);
    bench.node.kill();
    let mut again = Client::connect(bench.gateway.address).await;
    again.hello(json!(token)).await;
    let attach = other.ask().await;
    assert_eq!(attach.request, Request::Attach { shown: None });
    other.attached(&attach, 0);
    other.show(seat.code, 9, &[attach.connection]);
    assert_eq!(state(&mut again).await["seq"], 9);
}

#[tokio::test]
async fn a_node_that_refuses_is_followed_by_the_next() {
    let (bench, mut ada, seat, mut other) = seated_and_another().await;
    let mut third = bench.another_node("game-third").await;
    other.refuse_claims();
    bench.node.kill();
    comes_back(&mut ada, &seat, &mut third, seat.number).await;
    assert!(other.claims_so_far() <= 1);
}

#[tokio::test]
async fn an_owner_that_has_lost_the_lobby_is_asked_to_take_it_again() {
    let mut bench = Bench::start().await;
    let (mut ada, seat) = bench.seated_client().await;
    bench.node.lose(seat.code);
    ada.send(json!({ "type": "start_game" })).await;
    let start = bench.node.ask().await;
    bench.node.not_owner(&start);
    comes_back(&mut ada, &seat, &mut bench.node, seat.number).await;
    assert!(bench.node.holds(seat.code));
    assert_eq!(bench.node.ask().await.request, Request::Start);
}

/// Redis came back older than it was: the record is of the owner before.
#[tokio::test]
async fn who_holds_more_than_the_record_keeps_the_table_unless_it_is_suspended() {
    for is_suspended in [false, true] {
        let (bench, mut ada, seat, mut holder) = seated_and_another().await;
        let mut third = bench.another_node("game-third").await;
        let record = bench.registry.owner(seat.code.as_str()).await.unwrap();
        let epoch = record.unwrap().epoch.0 + 1_000;
        bench.node.hold(seat.code, epoch);
        bench.node.show(seat.code, 2, &[seat.connection]);
        assert_eq!(state(&mut ada).await["seq"], 2);
        holder.hold(seat.code, epoch);
        if is_suspended {
            holder.suspend();
        }
        // Who could only claim would be asked before it.
        holder.drain();
        let is_last = |nodes: &Value| {
            let mut nodes = nodes.as_array().into_iter().flatten();
            nodes.any(|node| node["id"] == "game-other" && node["state"] == "draining")
        };
        bench.gateway.until_operations("/nodes", is_last).await;
        bench.node.kill();
        let next = if is_suspended {
            &mut third
        } else {
            &mut holder
        };
        let attach = next.ask().await;
        assert_eq!(attach.request, Request::Attach { shown: Some(2) });
        next.attached(&attach, seat.number);
        next.show(seat.code, 9, &[attach.connection]);
        assert_eq!(state(&mut ada).await["seq"], 9);
        assert_eq!(third.claims_so_far(), usize::from(is_suspended));
    }
}

#[tokio::test]
async fn thirty_two_tables_are_claimed_at_once_and_only_those_that_somebody_waits_for() {
    let mut bench = Bench::with(|config| {
        config.max_connections_per_ip = Limit::NONE;
        config.lobby_create_rate = Limit::NONE;
    })
    .await;
    let mut players = Vec::new();
    for _ in 0..=AT_ONCE {
        players.push(bench.seated_client().await);
    }
    let deserted = "NBDY22".parse().unwrap();
    bench.node.own(&bench.registry, deserted).await;
    let mut other = bench.another_node("game-other").await;
    other.answer_no_claim();
    bench.node.kill();
    let mut claimed = BTreeSet::from([other.claim().await.code]);
    let since = Instant::now();
    for _ in 0..AT_ONCE {
        claimed.insert(other.claim().await.code);
    }
    let took = since.elapsed();
    assert!(took >= GIVEN_UP_AFTER / 2, "the last waits: {took:?}");
    let codes = players.iter().map(|(_, seat)| seat.code).collect();
    assert_eq!(claimed, codes);
}

#[tokio::test]
async fn what_a_suspended_owner_hands_over_is_claimed_with_its_state() {
    let (mut bench, mut ada, seat, mut other) = seated_and_another().await;
    bench.node.hand_over(seat.code, b"newer").await;
    comes_back(&mut ada, &seat, &mut other, seat.number).await;
    let claim = other.claim().await;
    assert_eq!(&claim.handed.unwrap().saved[..], b"newer");
    assert!(bench.node.asks_so_far().is_empty());
}

#[tokio::test]
async fn an_owner_that_commits_again_keeps_its_table() {
    let mut bench = Bench::start().await;
    let (mut ada, seat) = bench.seated_client().await;
    // Nobody else is there to take it.
    bench.node.hand_over(seat.code, b"newer").await;
    ada.receive_until(|message| message["reason"] == "moving")
        .await;
    bench.node.commit_again();
    comes_back(&mut ada, &seat, &mut bench.node, seat.number).await;
}

#[tokio::test]
async fn a_dead_owner_that_is_listed_no_more_is_still_found_dead() {
    let (bench, mut ada, seat, mut other) = seated_and_another().await;
    let Bench { node, registry, .. } = &bench;
    // Its goodbye is heard, and its lobby was not released.
    node.say_goodbye().await;
    registry.owner(seat.code.as_str()).await.unwrap().unwrap();
    bench.node.kill();
    comes_back(&mut ada, &seat, &mut other, seat.number).await;
}

#[tokio::test]
async fn a_late_parting_of_a_former_owner_moves_nobody() {
    let (bench, mut ada, seat, mut other) = seated_and_another().await;
    bench.node.refuse_claims();
    bench.node.release(&seat).await;
    comes_back(&mut ada, &seat, &mut other, seat.number).await;
    bench.node.part(&seat, Parting::Moved);
    ada.send(json!({ "type": "start_game" })).await;
    assert_eq!(other.ask().await.request, Request::Start);
}
