//! Lobbies that change their owner by a claim: two nodes at one registry.

use protocol::link::{Claimed, Question};
use registry::{Owner, Record};

use super::*;

/// One node's table of a person and two AIs, which plays, and another node.
async fn playing() -> (World, World, Gateway) {
    let world = World::start();
    let other = World::start_with(&world.registry, settings());
    let mut gateway = world.gateway(1);
    gateway.creates(0).await;
    for request in [ADD_AI, ADD_AI, Request::Start] {
        gateway.done(0, request).await;
    }
    gateway.until(|gateway| gateway.is_to_act(0)).await;
    (world, other, gateway)
}

async fn record(world: &World) -> Record {
    world.registry.owner(CODE).await.unwrap().unwrap()
}

fn attach(shown: Option<u64>) -> Request {
    Request::Attach { shown }
}

#[tokio::test(start_paused = true)]
async fn a_claimed_lobby_goes_on_where_it_was_saved_and_its_owner_before_drops_it() {
    let (world, other, mut gateway) = playing().await;
    let taken = gateway.last_asked();
    let (seq, game) = (
        gateway.state(0)["seq"].clone(),
        gateway.game(0)["observation"].clone(),
    );
    let mut far = other.gateway(1);
    let before = record(&world).await;
    let Claimed::Owned { epoch } = far.claims(&world.registry).await else {
        panic!("it is given")
    };
    let now = record(&world).await;
    assert!(epoch > before.epoch.0 && now.epoch.0 == epoch && now.owner != before.owner);
    assert_eq!(
        far.outcome(0, attach(seq.as_u64())).await,
        Outcome::Attached { taken },
        "nothing after that has been done"
    );
    far.until(|far| !far.seen(0).is_empty()).await;
    let state = far.state(0);
    assert!(state["seq"].as_u64() > seq.as_u64());
    assert_eq!(state["game"]["observation"], game);
    assert_eq!(
        state["events"].as_array().unwrap().len(),
        0,
        "all was shown"
    );
    // The one before is told at its next touch, and its gateways by it.
    gateway.is_sent_on(0).await;
    assert_eq!(other.membership.own().taken_over, 1);
}

#[tokio::test(start_paused = true)]
async fn an_attach_takes_no_number_and_what_is_sent_again_is_done_once() {
    let (world, other, mut gateway) = playing().await;
    let act = gateway.legal_act(0);
    let number = gateway.asks(0, act.clone());
    gateway.answered(number).await;
    let mut far = other.gateway(1);
    far.claims(&world.registry).await;
    // The attach comes under a higher number than what is sent again after it.
    far.goes_on_from(number + 10);
    let attached = far.outcome(0, attach(None)).await;
    assert_eq!(attached, Outcome::Attached { taken: number });
    far.repeats(0, number, act);
    assert_eq!(far.answered(number).await, Outcome::Done, "not done again");
    far.repeats(0, number + 1, Request::Leave);
    assert_eq!(far.answered(number + 1).await, Outcome::Done);
    far.until(|far| far.partings.contains(&(connection(0, 1), Parting::Left)))
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_newer_connection_has_taken_nothing_and_an_older_one_is_told() {
    let (world, other, _gateway) = playing().await;
    let mut far = other.gateway(1);
    far.claims(&world.registry).await;
    far.generation = 2;
    let attached = far.outcome(0, attach(None)).await;
    assert_eq!(attached, Outcome::Attached { taken: 0 });
    far.generation = 1;
    let attached = far.outcome(0, attach(None)).await;
    assert_eq!(code_of(&attached), Some(ErrorCode::TakenOver));
}

#[tokio::test(start_paused = true)]
async fn after_a_claim_the_events_since_the_last_state_shown_come_with_the_picture() {
    let (world, other, mut gateway) = playing().await;
    let shown = gateway.state(0)["seq"].as_u64();
    let act = gateway.legal_act(0);
    gateway.done(0, act).await;
    let before = gateway.state(0)["events"].as_array().unwrap().len();
    assert!(before > 0);
    let mut far = other.gateway(1);
    far.claims(&world.registry).await;
    far.done(0, attach(shown)).await;
    assert!(far.state(0)["events"].as_array().unwrap().len() >= before);
}

#[tokio::test(start_paused = true)]
async fn after_a_claim_who_does_not_come_back_shows_as_away_after_ten_seconds() {
    let world = World::start();
    let other = World::start_with(&world.registry, settings());
    let mut gateway = world.gateway(1);
    gateway.creates(0).await;
    gateway.done(1, join("Ada")).await;
    let mut far = other.gateway(1);
    far.claims(&world.registry).await;
    let since = tokio::time::Instant::now();
    far.done(0, attach(None)).await;
    let ada = |far: &Gateway| far.lobby(0)["players"][1]["connected"].clone();
    assert_eq!(ada(&far), true, "nobody sees a lobby move");
    far.until(|far| ada(far) == false).await;
    let took = since.elapsed();
    assert!(
        took >= Duration::from_secs(9) && took < Duration::from_secs(11),
        "{took:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn asked_of_its_owner_a_claim_is_the_question_whether_it_holds_the_lobby() {
    let (world, _other, mut gateway) = playing().await;
    let record = record(&world).await;
    world.shut();
    let answer = gateway.claims_as(&record).await;
    let epoch = record.epoch.0;
    assert_eq!(answer, Claimed::Owned { epoch }, "without the registry");
}

#[tokio::test(start_paused = true)]
async fn a_node_that_the_record_names_without_holding_the_lobby_claims_it_again() {
    let (world, other, _gateway) = playing().await;
    let record = record(&world).await;
    // The answer to this claim was lost.
    let claim = registry::Claim {
        code: CODE.to_owned(),
        born: record.born,
        seen_epoch: record.epoch,
        seen_seq: record.seq,
        owner: Owner {
            node: other.membership.own().id,
            incarnation: other.membership.own().incarnation,
        },
        handed: None,
    };
    world.registry.claim(&claim).await.unwrap();
    let mut far = other.gateway(1);
    assert_eq!(far.outcome(0, attach(None)).await, Outcome::NotOwner);
    assert!(matches!(
        far.claims(&world.registry).await,
        Claimed::Owned { .. }
    ));
    far.done(0, attach(None)).await;
}

#[tokio::test(start_paused = true)]
async fn several_who_want_a_lobby_wait_for_one_claim() {
    let (world, other, _gateway) = playing().await;
    let record = record(&world).await;
    let (mut one, mut two) = (other.gateway(1), other.gateway(2));
    other.shut();
    let requests = [one.sends_claim(&record), one.sends_claim(&record)];
    let last = two.sends_claim(&record);
    one.hears_nothing_for(Duration::from_secs(1)).await;
    other.open();
    let answer = two.claim_answered(last).await;
    assert!(matches!(answer, Claimed::Owned { .. }));
    for request in requests {
        assert_eq!(one.claim_answered(request).await, answer);
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(other.membership.own().taken_over, 1);
}

#[tokio::test(start_paused = true)]
async fn of_two_who_claim_a_lobby_the_late_one_gets_nothing_and_a_claim_that_comes_twice_is_one() {
    let (world, slow, _gateway) = playing().await;
    let third = World::start_with(&world.registry, settings());
    let before = record(&world).await;
    let (mut late, mut far) = (slow.gateway(1), third.gateway(1));
    slow.shut();
    let request = late.sends_claim(&before);
    late.hears_nothing_for(Duration::from_secs(3)).await;
    let answer = far.claims_as(&before).await;
    assert!(matches!(answer, Claimed::Owned { .. }));
    slow.open();
    assert_eq!(late.claim_answered(request).await, Claimed::MovedOn);
    assert_eq!(far.claims_as(&before).await, answer, "asked again");
    assert_eq!(late.claims_as(&before).await, Claimed::MovedOn);
    let owner = record(&world).await.owner.unwrap();
    assert_eq!(owner.node, third.membership.own().id);
    // Presence tells at most once a second.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let counts = [&slow, &third].map(|node| node.membership.own().taken_over);
    assert_eq!(counts, [0, 1]);
}

#[tokio::test(start_paused = true)]
async fn what_can_not_be_claimed_is_answered_as_the_registry_says() {
    let (world, other, mut gateway) = playing().await;
    let mut far = other.gateway(1);
    let record = record(&world).await;
    let mut foreign = record.clone();
    foreign.born = "00000000000000ff".parse().unwrap();
    assert_eq!(far.claims_as(&foreign).await, Claimed::MovedOn);
    gateway.done(0, Request::Leave).await;
    assert_eq!(far.claims_as(&record).await, Claimed::Gone, "a tombstone");
    far.code = "GHST22".parse().unwrap();
    assert_eq!(far.claims_as(&record).await, Claimed::Gone);
}

#[tokio::test(start_paused = true)]
async fn the_third_claim_within_a_minute_without_an_accepted_input_waits() {
    let (world, other, _gateway) = playing().await;
    let third = World::start_with(&world.registry, settings());
    let (mut far, mut farther) = (other.gateway(1), third.gateway(1));
    for gateway in [&mut far, &mut farther] {
        let claimed = gateway.claims(&world.registry).await;
        assert!(matches!(claimed, Claimed::Owned { .. }));
        gateway.done(0, attach(None)).await;
    }
    let wait = far.claims(&world.registry).await;
    assert!(matches!(wait, Claimed::Wait { .. }), "{wait:?}");
    // A player's wish that was done shows that it is no lobby that kills its owners.
    farther.until(|gateway| gateway.is_to_act(0)).await;
    let act = farther.legal_act(0);
    farther.goes_on_from(100);
    farther.done(0, act).await;
    let claimed = far.claims(&world.registry).await;
    assert!(matches!(claimed, Claimed::Owned { .. }), "{claimed:?}");
}

#[tokio::test(start_paused = true)]
async fn neither_load_nor_limits_refuse_a_claim_but_a_node_that_drains_does() {
    let (world, _other, _gateway) = playing().await;
    let mut full = settings();
    full.max_lobbies = Limit::at_most(1);
    full.max_active_games = Limit::at_most(1);
    let full = World::start_with(&world.registry, full);
    full.is_loaded(protocol::server::LoadLevel::Overloaded);
    let mut far = full.gateway(1);
    far.until(|far| far.accepting == Some(false)).await;
    let claimed = far.claims(&world.registry).await;
    assert!(matches!(claimed, Claimed::Owned { .. }));
    let leaving = World::start_with(&world.registry, settings());
    let mut gateway = leaving.gateway(1);
    gateway.code = "SECND2".parse().unwrap();
    gateway.creates(1).await;
    gateway
        .until(|gateway| gateway.lobby(1)["accepting_games"] == true)
        .await;
    leaving.shut();
    gateway.asks(1, ADD_AI);
    gateway.hears_nothing_for(Duration::from_secs(1)).await;
    leaving.process.shutdown.begin();
    gateway
        .until(|gateway| gateway.accepting == Some(false))
        .await;
    gateway.code = CODE.parse().unwrap();
    assert_eq!(gateway.claims(&world.registry).await, Claimed::Refused);
}

#[tokio::test(start_paused = true)]
async fn what_can_not_be_read_is_given_back_so_that_another_may_take_it() {
    let world = World::start();
    let create = registry::Create {
        code: CODE.to_owned(),
        born: BORN.parse().unwrap(),
        owner: Owner {
            node: registry::NodeId::new("game-newer").unwrap(),
            incarnation: registry::Incarnation::new(uuid::Uuid::from_u128(9)),
        },
        saved: vec![250, 1, 2].into(),
        status: "waiting".to_owned(),
        lifetime: registry::Lifetime::Table,
    };
    world.registry.create(&create).await.unwrap();
    let mut gateway = world.gateway(1);
    assert_eq!(gateway.claims(&world.registry).await, Claimed::Unreadable);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let record = record(&world).await;
    assert!(record.owner.is_none() && !record.deleted);
}

#[tokio::test(start_paused = true)]
async fn gateways_may_ask_who_holds_a_lobby_and_who_knows_a_session() {
    let world = World::start();
    let mut gateway = world.gateway(1);
    gateway.creates(0).await;
    gateway.done(1, join("Ada")).await;
    let epoch = record(&world).await.epoch.0;
    let code = CODE.parse().unwrap();
    let known = gateway.knows(Question::Lobby(code)).await.unwrap();
    assert_eq!((known.epoch, known.born.as_str()), (epoch, BORN));
    assert!(known.person.is_none() && !known.suspended);
    let token = |number| crate::lobby::testing::person(number, 1).token;
    let known = gateway.knows(Question::Session(token(1))).await.unwrap();
    let person = known.person.unwrap();
    assert_eq!(known.code, code);
    assert_eq!(
        (person.name.unwrap().as_str(), person.generation),
        ("Ada", 1)
    );
    assert_eq!(gateway.knows(Question::Session(token(2))).await, None);
    let other = "NEVER2".parse().unwrap();
    assert_eq!(gateway.knows(Question::Lobby(other)).await, None);
}

#[tokio::test(start_paused = true)]
async fn who_has_been_away_for_as_long_as_a_session_lives_is_a_stranger_here_too() {
    let world = World::start();
    let mut gateway = world.gateway(1);
    gateway.creates(0).await;
    gateway.done(1, join("Ada")).await;
    gateway.detaches(1, 1);
    let ada = crate::lobby::testing::person(1, 1).token;
    tokio::time::sleep(TTL / 2).await;
    let known = gateway.knows(Question::Session(ada.clone())).await;
    assert!(known.is_some());
    tokio::time::sleep(TTL / 2 + Duration::from_secs(1)).await;
    assert_eq!(gateway.knows(Question::Session(ada)).await, None);
    let players = gateway.lobby(0)["players"].as_array().unwrap();
    assert_eq!(players.len(), 2, "the seat is not given away yet");
}
