//! Lobbies that are given up: by a node that drains, or so that a game starts elsewhere.

use protocol::LobbyCode;
use protocol::link::{Claimed, Sight};
use protocol::server::LoadLevel;

use super::*;
use crate::lobby::Input;

fn attach() -> Request {
    Request::Attach { shown: None }
}

/// A node with a table of a person and two AIs, and another node; each knows the other.
async fn two_nodes() -> (World, World, Gateway) {
    let world = World::start();
    let other = World::start_with(&world.registry, settings());
    world.membership.ready().await;
    other.membership.ready().await;
    world.sees_another_accept().await;
    let mut gateway = world.gateway(1);
    gateway.creates(0).await;
    gateway.done(0, ADD_AI).await;
    gateway.done(0, ADD_AI).await;
    (world, other, gateway)
}

fn is_moved(gateway: &Gateway) -> bool {
    gateway
        .partings
        .contains(&(connection(0, 1), Parting::Moved))
}

#[tokio::test(start_paused = true)]
async fn a_node_that_drains_releases_its_lobbies_and_leaves_when_the_last_is_gone() {
    let (mut world, other, mut gateway) = two_nodes().await;
    gateway.done(0, Request::Start).await;
    world.process.shutdown.begin();
    gateway.until(is_moved).await;
    let record = world.registry.owner(CODE).await.unwrap().unwrap();
    assert!(record.owner.is_none() && record.status == "playing");
    world.leaves().await;
    // What it says of itself when it leaves, whatever the last heartbeat said.
    let own = world.membership.own();
    let last = own.last_handed_over.expect("one is handed over");
    assert_eq!((last.why.as_str(), last.lobbies), ("drain", 1));
    assert_eq!((own.handed_over, own.lobbies, own.active_games), (1, 0, 0));
    let mut far = other.gateway(1);
    assert!(matches!(
        far.claims(&other.registry).await,
        Claimed::Owned { .. }
    ));
    far.done(0, attach()).await;
    assert_eq!(far.lobby(0)["status"], "playing");
}

#[tokio::test(start_paused = true)]
async fn a_node_that_drains_waits_for_what_it_is_just_taking_over_and_gives_that_up_too() {
    let (world, mut other, _gateway) = two_nodes().await;
    other.sees_another_accept().await;
    let record = world.registry.owner(CODE).await.unwrap().unwrap();
    let mut far = other.gateway(2);
    other.shut();
    let request = far.sends_claim(&record);
    far.hears_nothing_for(Duration::from_millis(10)).await;
    other.process.shutdown.begin();
    far.hears_nothing_for(Duration::from_millis(800)).await;
    assert!(!other.driving.is_finished());
    other.open();
    let claimed = far.claim_answered(request).await;
    assert!(matches!(claimed, Claimed::Owned { .. }), "{claimed:?}");
    other.leaves().await;
    let record = world.registry.owner(CODE).await.unwrap().unwrap();
    assert_eq!(record.owner, None);
}

#[tokio::test(start_paused = true)]
async fn a_lobby_under_release_stays_frozen_until_the_answer_is_known() {
    let (world, _other, mut gateway) = two_nodes().await;
    let record = world.registry.owner(CODE).await.unwrap().unwrap();
    world.shut();
    world.process.shutdown.begin();
    gateway.hears_nothing_for(Duration::from_secs(1)).await;
    assert_eq!(gateway.outcome(0, ADD_AI).await, Outcome::NotOwner);
    assert_eq!(gateway.claims_as(&record).await, Claimed::Refused);
    assert!(!is_moved(&gateway));
    world.open();
    gateway.until(is_moved).await;
}

#[tokio::test(start_paused = true)]
async fn a_node_that_alone_is_cut_off_hands_over_what_it_was_just_releasing() {
    let (mut world, other, mut gateway) = two_nodes().await;
    gateway.done(0, Request::Start).await;
    world.shut();
    world.process.shutdown.begin();
    let since = tokio::time::Instant::now();
    gateway.pings(Sight::Reachable);
    gateway.until(|gateway| !gateway.handed.is_empty()).await;
    assert!(since.elapsed() < Duration::from_secs(6));
    let mut far = other.gateway(1);
    far.handed = std::mem::take(&mut gateway.handed);
    let claimed = far.claims(&other.registry).await;
    assert!(matches!(claimed, Claimed::Owned { .. }));
    far.done(0, attach()).await;
    assert_eq!(far.lobby(0)["status"], "playing");
    // Its release, when it gets through, is of an epoch that has passed.
    world.open();
    gateway.until(is_moved).await;
    world.leaves().await;
    let record = other.registry.owner(CODE).await.unwrap().unwrap();
    assert_eq!(record.owner.unwrap().node, other.membership.own().id);
}

#[tokio::test(start_paused = true)]
async fn a_lobby_that_is_not_saved_is_committed_before_it_is_released() {
    let (world, _other, mut gateway) = two_nodes().await;
    world.shut();
    let added = gateway.asks(0, ADD_AI);
    gateway.hears_nothing_for(Duration::from_secs(1)).await;
    world.process.shutdown.begin();
    gateway.hears_nothing_for(Duration::from_secs(1)).await;
    world.open();
    assert_eq!(gateway.answered(added).await, Outcome::Done);
    gateway.until(is_moved).await;
    assert_eq!(gateway.lobby(0)["players"].as_array().unwrap().len(), 4);
    assert!(world.session(0).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn behind_means_commit_anew_and_what_came_meanwhile_is_done() {
    let mut manual = Manual::new();
    let mut gateway = manual.gateway(1);
    manual.hears(&mut gateway, 0, create(BORN)).await;
    manual.hears(&mut gateway, 1, join("Ada")).await;
    let code = CODE.parse().unwrap();
    let seq = manual.driver.freezes(code);
    gateway.detaches(1, 1);
    manual.takes_in();
    manual.pump(&mut gateway).await;
    assert_eq!(gateway.lobby(0)["players"][1]["connected"], true, "frozen");
    for _ in 0..100 {
        // Of the same, and of somebody who is not here.
        gateway.detaches(1, 1);
        gateway.detaches(2, 1);
        manual.takes_in();
        let surroundings = manual.driver.surroundings;
        manual.driver.step(code, Input::Surroundings(surroundings));
    }
    let postponed = manual
        .driver
        .tables
        .get_mut(&code)
        .unwrap()
        .take_postponed();
    assert_eq!(postponed.len(), 2, "{postponed:?}");
    for input in postponed {
        manual.driver.step(code, input);
    }
    manual.driver.is_answered(code, registry::Released::Behind);
    manual.pump(&mut gateway).await;
    assert_eq!(gateway.lobby(0)["players"][1]["connected"], false);
    let record = manual.registry.owner(CODE).await.unwrap().unwrap();
    assert!(record.seq.0 > seq && record.owner.is_some());
}

#[tokio::test(start_paused = true)]
async fn with_nobody_to_take_over_a_node_leaves_once_all_is_committed() {
    let mut world = World::start();
    world.membership.ready().await;
    let mut gateway = world.gateway(1);
    gateway.creates(0).await;
    world.process.shutdown.begin();
    world.leaves().await;
    let record = world.registry.owner(CODE).await.unwrap().unwrap();
    assert!(record.owner.is_some(), "it is not given up");
    assert!(!is_moved(&gateway));
}

#[tokio::test(start_paused = true)]
async fn what_can_not_be_saved_keeps_no_node_beyond_its_drain_timeout() {
    let (mut world, _other, mut gateway) = two_nodes().await;
    world.shut();
    let added = gateway.asks(0, ADD_AI);
    gateway.hears_nothing_for(Duration::from_secs(1)).await;
    let since = tokio::time::Instant::now();
    world.process.shutdown.begin();
    world.leaves().await;
    let (took, timeout) = (since.elapsed(), settings().drain_timeout);
    assert!(
        took >= timeout && took < timeout + Duration::from_secs(2),
        "{took:?}"
    );
    assert!(gateway.answers.iter().all(|(number, _)| *number != added));
}

#[tokio::test(start_paused = true)]
async fn thirty_two_lobbies_are_released_at_once_and_then_the_others() {
    let (mut world, _other, mut gateway) = two_nodes().await;
    let tables = (1..=40).map(|number| (number, LobbyCode::from_bits(number.into())));
    for (number, code) in tables.clone() {
        gateway.code = code;
        gateway.creates(number).await;
    }
    world.shut();
    world.process.shutdown.begin();
    gateway.hears_nothing_for(Duration::from_millis(100)).await;
    gateway.answers.clear();
    for (number, code) in tables {
        gateway.code = code;
        gateway.asks(number, ADD_AI);
    }
    gateway.code = CODE.parse().unwrap();
    gateway.asks(0, ADD_AI);
    // Whatever is under release is answered at once, and the rest once it is saved.
    gateway.until(|gateway| gateway.answers.len() == 32).await;
    gateway.hears_nothing_for(Duration::from_millis(100)).await;
    let mut answers = gateway.answers.iter();
    assert!(answers.all(|(_, outcome)| *outcome == Outcome::NotOwner));
    world.open();
    world.leaves().await;
    assert_eq!(world.membership.own().handed_over, 41);
}

#[tokio::test(start_paused = true)]
async fn a_start_that_is_refused_moves_the_lobby_to_a_node_that_takes_it() {
    let (world, other, mut gateway) = two_nodes().await;
    world.is_loaded(LoadLevel::Overloaded);
    gateway
        .until(|gateway| gateway.accepting == Some(false))
        .await;
    let start = gateway.asks(0, Request::Start);
    assert_eq!(gateway.answered(start).await, Outcome::NotOwner);
    gateway.until(is_moved).await;
    let mut far = other.gateway(1);
    far.claims(&other.registry).await;
    far.goes_on_from(100);
    far.done(0, attach()).await;
    far.repeats(0, start, Request::Start);
    assert_eq!(far.answered(start).await, Outcome::Done);
    far.until(|far| far.lobby(0)["status"] == "playing").await;
}

#[tokio::test(start_paused = true)]
async fn a_lobby_that_has_just_come_for_a_start_does_not_walk_on() {
    let (world, other, mut gateway) = two_nodes().await;
    // Both say that they take games, and when it comes to it neither does.
    other.is_loaded(LoadLevel::Overloaded);
    let mut far = other.gateway(1);
    far.until(|far| far.accepting == Some(false)).await;
    far.claims(&other.registry).await;
    gateway.until(is_moved).await;
    far.goes_on_from(100);
    far.done(0, attach()).await;
    let refused = far.outcome(0, Request::Start).await;
    assert_eq!(code_of(&refused), Some(ErrorCode::Busy));
    tokio::time::sleep(Duration::from_secs(10)).await;
    drop(world);
}
