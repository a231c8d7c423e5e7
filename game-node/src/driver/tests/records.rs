//! What the registry knows of lobbies and of the people in them.

use registry::{Claim, Claimed, Epoch, Generation, Incarnation, NodeId, Owner, Seated, Seq};

use super::*;

#[tokio::test(start_paused = true)]
async fn a_lobby_is_created_once_however_often_it_is_asked_for() {
    let world = World::start();
    let mut gateway = world.gateway(1);
    gateway.creates(0).await;
    assert_eq!(
        gateway.outcome(0, create(BORN)).await,
        Outcome::Done,
        "a retry"
    );
    assert_eq!(gateway.lobby(0)["players"].as_array().unwrap().len(), 1);
    assert_eq!(
        gateway.outcome(1, create("00000000000000ff")).await,
        Outcome::NotOwner
    );
    assert_eq!(
        code_of(&gateway.outcome(1, create("nonsense")).await),
        None,
        "another life's code"
    );

    let other = World::start_with(&world.registry, settings());
    let mut far = other.gateway(1);
    assert_eq!(
        far.outcome(0, create(BORN)).await,
        Outcome::NotOwner,
        "it is the other node's"
    );
    assert_eq!(far.outcome(0, join("Ada")).await, Outcome::NotOwner);
}

#[tokio::test(start_paused = true)]
async fn whoever_disconnects_while_the_lobby_is_created_is_away_in_it() {
    let world = World::start();
    let mut gateway = world.gateway(1);
    world.shut();
    gateway.asks(0, create(BORN));
    gateway.detaches(0, 1);
    gateway.hears_nothing_for(Duration::from_secs(1)).await;
    world.open();
    gateway.until(|gateway| !gateway.answers.is_empty()).await;
    gateway.done(1, join("Ada")).await;
    assert_eq!(gateway.lobby(1)["players"][0]["connected"], false);
}

#[tokio::test(start_paused = true)]
async fn a_lobby_that_is_being_created_hears_of_what_changes_around_it() {
    let world = World::start();
    let mut gateway = world.gateway(1);
    world.shut();
    gateway.asks(0, create(BORN));
    gateway.hears_nothing_for(Duration::from_secs(1)).await;
    let _ai = world.ai(7);
    gateway.hears_nothing_for(Duration::from_secs(1)).await;
    world.open();
    let is_there = |gateway: &Gateway| !gateway.answers.is_empty();
    gateway.until(is_there).await;
    gateway
        .until(|gateway| gateway.lobby(0)["ai_available"] == true)
        .await;
}

#[tokio::test(start_paused = true)]
async fn sessions_say_where_their_players_are() {
    let world = World::start();
    let mut gateway = world.gateway(1);
    gateway.creates(0).await;
    gateway.done(1, join("Ada")).await;
    let session = world.session(1).await.unwrap();
    assert_eq!(
        (session.lobby.as_deref(), session.name.as_deref()),
        (Some(CODE), Some("Ada"))
    );
    gateway.done(2, Request::Watch).await;
    let session = world.session(2).await.unwrap();
    assert_eq!((session.lobby.as_deref(), session.name), (Some(CODE), None));
    gateway.done(1, Request::Leave).await;
    assert_eq!(world.session(1).await.unwrap().lobby, None);
    let mut elsewhere = world.session(2).await.unwrap();
    elsewhere.lobby = Some("ELSE22".to_owned());
    world
        .registry
        .session_set(&token(2), &elsewhere)
        .await
        .unwrap();
    gateway.done(2, Request::Leave).await;
    assert_eq!(
        world.session(2).await.unwrap().lobby.as_deref(),
        Some("ELSE22"),
        "it stays"
    );
}

/// A node that stood still makes a table that its maker has given up, and sits elsewhere since.
#[tokio::test(start_paused = true)]
async fn a_table_that_is_made_late_does_not_take_its_makers_session() {
    let world = World::start();
    let mut gateway = world.gateway(1);
    let sits_elsewhere = async |person, number| {
        let elsewhere = Seated {
            player_id: "000000000000".to_owned(),
            generation: Generation(1),
            number,
            name: None,
            lobby: "ELSE22".to_owned(),
        };
        let token = token(person);
        world
            .registry
            .session_sit(&token, &elsewhere)
            .await
            .unwrap();
    };
    let sits_at = async |person| world.session(person).await.unwrap().lobby.unwrap();
    sits_elsewhere(0, 1_000).await;
    gateway.creates(0).await;
    assert_eq!(sits_at(0).await, "ELSE22");
    sits_elsewhere(1, 0).await;
    gateway.done(1, join("Ada")).await;
    assert_eq!(sits_at(1).await, CODE, "asked for later");
}

/// As while a Redis answers that takes no commit: after each of them the connection is a new one.
#[tokio::test(start_paused = true)]
async fn no_more_waits_to_be_written_of_sessions_than_there_are_people() {
    let mut world = Manual::new();
    let mut gateway = world.gateway(1);
    world.hears(&mut gateway, 0, create(BORN)).await;
    gateway.asks(1, join("Ada"));
    world.takes_in();
    for _ in 0..3 {
        world.connects_anew();
    }
    let table = &world.driver.tables[&CODE.parse().unwrap()];
    assert_eq!(table.sessions.len(), 2);

    world.pump(&mut gateway).await;
    let tokens = [token(0), token(1)];
    let sessions = world.registry.sessions_read(&tokens).await.unwrap();
    let names: Vec<_> = sessions.into_iter().map(|one| one.unwrap().name).collect();
    let expected = ["Host", "Ada"].map(|name| Some(name.to_owned()));
    assert_eq!(names, expected, "the name by which they came is written");
}

#[tokio::test(start_paused = true)]
async fn whose_session_has_expired_is_replaced_by_an_ai() {
    let world = World::start();
    let mut gateway = world.gateway(1);
    gateway.creates(0).await;
    gateway.done(1, join("Ada")).await;
    gateway.done(0, ADD_AI).await;
    gateway.done(0, Request::Start).await;
    gateway.detaches(1, 1);
    gateway
        .until(|gateway| gateway.lobby(0)["players"][1]["connected"] == false)
        .await;
    world
        .registry
        .session_drop(&token(1), Generation(u64::MAX))
        .await
        .unwrap();
    let since = tokio::time::Instant::now();
    gateway
        .until(|gateway| gateway.lobby(0)["players"][1]["is_ai"] == true)
        .await;
    let took = since.elapsed();
    assert!(
        took >= TTL && took <= TTL + Duration::from_secs(31),
        "{took:?}"
    );
    assert_eq!(gateway.lobby(0)["players"][1]["name"], "Ada");
}

#[tokio::test(start_paused = true)]
async fn whose_session_sits_elsewhere_leaves() {
    let world = World::start();
    let mut gateway = world.gateway(1);
    gateway.creates(0).await;
    gateway.done(1, join("Ada")).await;
    gateway.detaches(1, 1);
    let mut session = world.session(1).await.unwrap();
    session.lobby = Some("ELSE22".to_owned());
    world
        .registry
        .session_set(&token(1), &session)
        .await
        .unwrap();
    gateway
        .until(|gateway| gateway.lobby(0)["players"].as_array().unwrap().len() == 1)
        .await;
    assert_eq!(
        world.session(1).await.unwrap().lobby.as_deref(),
        Some("ELSE22")
    );
}

#[tokio::test(start_paused = true)]
async fn a_lobby_that_another_has_claimed_is_dropped_and_its_people_are_sent_on() {
    for by_a_move in [true, false] {
        let world = World::start();
        let mut gateway = world.gateway(1);
        gateway.creates(0).await;
        claimed_by_another(&world.registry).await;
        if by_a_move {
            assert_eq!(gateway.outcome(0, ADD_AI).await, Outcome::NotOwner);
        }
        // Else the next touch tells.
        gateway.is_sent_on(0).await;
        assert_eq!(gateway.outcome(0, ADD_AI).await, Outcome::NotOwner);
    }
}

#[tokio::test(start_paused = true)]
async fn who_leaves_a_table_last_that_is_anothers_by_now_is_sent_there() {
    let world = World::start();
    let mut gateway = world.gateway(1);
    gateway.creates(0).await;
    claimed_by_another(&world.registry).await;
    let left = gateway.outcome(0, Request::Leave).await;
    assert_eq!(left, Outcome::NotOwner);
    let record = world.registry.owner(CODE).await.unwrap().unwrap();
    assert!(!record.deleted && record.owner.is_some());
}

pub(super) async fn claimed_by_another(registry: &registry::Registry) {
    let record = registry.owner(CODE).await.unwrap().unwrap();
    let owner = Owner {
        node: NodeId::new("game-other").unwrap(),
        incarnation: Incarnation::new(uuid::Uuid::from_u128(9)),
    };
    let claim = Claim {
        code: CODE.to_owned(),
        born: record.born,
        seen_epoch: Epoch(u64::MAX >> 12),
        seen_seq: Seq(0),
        owner,
        handed: None,
    };
    assert!(matches!(
        registry.claim(&claim).await.unwrap(),
        Claimed::Saved { .. }
    ));
}

#[tokio::test(start_paused = true)]
async fn quick_play_finds_public_tables_with_a_free_seat() {
    let world = World::start();
    let mut gateway = world.gateway(1);
    gateway.creates(0).await;
    let listed = async || world.registry.public_list(9).await.unwrap();
    let settled = async |expected: &[&str]| {
        for _ in 0..100 {
            if listed().await == expected {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(listed().await, expected);
    };
    settled(&[CODE]).await;
    for _ in 0..5 {
        gateway.done(0, ADD_AI).await;
    }
    settled(&[]).await;
    gateway
        .until(|gateway| gateway.lobby(0)["players"][5].is_object())
        .await;
    let ai = gateway.lobby(0)["players"][5]["id"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    gateway.done(0, Request::RemovePlayer { player: ai }).await;
    settled(&[CODE]).await;
    gateway.done(0, Request::Start).await;
    settled(&[]).await;
}
