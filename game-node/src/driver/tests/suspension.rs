//! The registry is away: for everybody, or for this node alone.

use protocol::link::{Claimed, Question, Sight};

use super::*;

const AWAY: Sight = Sight::Away { since_ms: 500 };

fn players(gateway: &Gateway) -> usize {
    gateway.lobby(0)["players"].as_array().unwrap().len()
}

#[tokio::test(start_paused = true)]
async fn with_the_registry_away_for_everybody_the_games_go_on_unsaved_and_say_so() {
    let world = World::start();
    let mut gateway = world.settled_table().await;
    world.shut();
    let added = gateway.asks(0, ADD_AI);
    gateway.hears_nothing_for(Duration::from_millis(800)).await;
    gateway.pings(AWAY);
    let since = tokio::time::Instant::now();
    assert_eq!(gateway.answered(added).await, Outcome::Done);
    gateway.until(|gateway| players(gateway) == 2).await;
    assert!(since.elapsed() < Duration::from_millis(100));
    gateway
        .until(|gateway| gateway.lobby(0)["saved"] == false)
        .await;
    gateway.done(0, ADD_AI).await;
    assert_eq!(players(&gateway), 3);
    assert_eq!(gateway.lobby(0)["saved"], false);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(world.membership.own().uncommitted, 1);

    world.open();
    gateway
        .until(|gateway| gateway.lobby(0)["saved"] == true)
        .await;
    let record = world.registry.owner(CODE).await.unwrap().unwrap();
    let seq = gateway.state(0)["seq"].as_u64().unwrap();
    assert_eq!(record.seq.0, seq);
    let seqs = gateway.seen(0).iter().map(|state| state["seq"].as_u64());
    assert!(seqs.is_sorted_by(|earlier, later| earlier < later));
    assert!(world.session(0).await.is_some());
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(world.membership.own().uncommitted, 0);
    assert!(gateway.handed.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_gateway_that_reaches_the_registry_or_is_silent_keeps_it_suspended() {
    for sight in [Some(Sight::Reachable), None] {
        let world = World::start();
        let mut gateway = world.settled_table().await;
        let other = world.gateway_called(2, "other");
        world.shut();
        let added = gateway.asks(0, ADD_AI);
        for _ in 0..4 {
            gateway.pings(AWAY);
            if let Some(sight) = sight {
                other.pings(sight);
            }
            gateway.hears_nothing_for(Duration::from_secs(1)).await;
        }
        world.open();
        assert_eq!(gateway.answered(added).await, Outcome::Done);
        assert!(gateway.handed.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_alone_can_not_commit_hands_its_lobbies_to_who_can() {
    let world = World::start();
    let other = World::start_with(&world.registry, settings());
    let mut gateway = world.settled_table().await;
    world.shut();
    let added = gateway.asks(0, ADD_AI);
    gateway.pings(Sight::Reachable);
    gateway.until(|gateway| !gateway.handed.is_empty()).await;
    let known = gateway.knows(Question::Lobby(CODE.parse().unwrap())).await;
    assert!(known.unwrap().suspended);
    assert_eq!(gateway.claims(&world.registry).await, Claimed::Refused);
    assert!(gateway.answers.iter().all(|(number, _)| *number != added));
    // Again for whoever comes now.
    let mut late = world.gateway_called(2, "late");
    late.until(|late| !late.handed.is_empty()).await;

    let mut far = other.gateway(1);
    far.handed = std::mem::take(&mut gateway.handed);
    let claimed = far.claims(&other.registry).await;
    assert!(matches!(claimed, Claimed::Owned { .. }));
    let attached = far.outcome(0, Request::Attach { shown: None }).await;
    assert_eq!(attached, Outcome::Attached { taken: added });
    far.until(|far| !far.seen(0).is_empty()).await;
    assert_eq!(
        players(&far),
        2,
        "what was done and not shown has moved too"
    );
    world.open();
    assert_eq!(gateway.answered(added).await, Outcome::NotOwner);
    gateway.is_sent_on(0).await;
    gateway.until(|gateway| gateway.commits_again).await;
}

#[tokio::test(start_paused = true)]
async fn what_nobody_could_take_over_goes_on_unsaved_and_is_taken_back() {
    let world = World::start();
    let mut gateway = world.settled_table().await;
    world.shut();
    let added = gateway.asks(0, ADD_AI);
    // A gateway that stands still, and says for too long nothing of how it fares.
    gateway.until(|gateway| !gateway.handed.is_empty()).await;
    gateway.pings(Sight::Away { since_ms: 5000 });
    assert_eq!(gateway.answered(added).await, Outcome::Done);
    assert!(gateway.commits_again);
    gateway
        .until(|gateway| gateway.lobby(0)["saved"] == false)
        .await;
    let known = gateway.knows(Question::Lobby(CODE.parse().unwrap())).await;
    assert!(!known.unwrap().suspended);
    world.open();
    gateway
        .until(|gateway| gateway.lobby(0)["saved"] == true)
        .await;
}
