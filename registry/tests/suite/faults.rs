//! What only Redis can do wrong, against a real one.

use std::time::Duration;

use registry::{Claimed, Committed, Event, Kind, RedisConfig, Registry, RegistryError};

use super::node::Node;
use super::operations::{claim, claimed, taken};
use super::proxy::Proxy;
use super::redis_server::RedisServer;
use super::world::{
    World, at_most, commit, connect, create, event, join, presence, quick, until, within,
};

/// Everybody sees everybody.
async fn all_see(members: &[&registry::Membership], count: usize) {
    until("all lists are whole", || async {
        members
            .iter()
            .all(|member| member.servers().len() == count && member.checks().borrow().current)
    })
    .await;
}

#[tokio::test]
async fn a_registry_waits_for_no_redis() {
    let server = RedisServer::start();
    server.kill();
    let registry = connect(&server);
    assert_eq!(registry.kind(), Kind::Redis);
    assert!(!registry.reachable());
    let answer = registry.owner("AAAAAA").await;
    assert!(
        matches!(answer, Err(RegistryError::Unavailable(_))),
        "{answer:?}"
    );
    let member = registry
        .join(presence("one", "game", 1), quick())
        .expect("no need of Redis");
    within("ready is tried", member.ready()).await;
    assert!(!member.checks().borrow().heartbeat_written);
    assert_eq!(member.servers().len(), 1, "oneself");
    server.start_again();
    let mut health = registry.health();
    within("Redis is found", health.wait_for(|health| health.reachable))
        .await
        .expect("alive");
    until("listed", || async {
        registry.servers().await.is_ok_and(|list| list.len() == 1)
    })
    .await;
}

#[tokio::test]
async fn a_redis_that_writes_nothing_is_told_from_one_that_is_away() {
    let server = RedisServer::start();
    let node = Node::start(&server.url(), "one");
    node.says("ready").await;
    let limit = |bytes| server.command::<String>(&["CONFIG", "SET", "maxmemory", bytes]);
    let logged = |what: &str| {
        let log = node.log();
        log.iter().filter(|line| line.contains(what)).count()
    };
    limit("1mb");
    let refuses = || logged("WARN registry::health: the registry refuses to write error=");
    until("it is told", || async { refuses() > 0 }).await;
    assert_eq!(logged("OOM"), 1, "and why");
    limit("0");
    until("it takes what is written again", || async {
        node.log()
            .last()
            .is_some_and(|line| line.contains("the registry answers"))
    })
    .await;
    assert_eq!(refuses(), 1, "once, not once a try");
}

#[tokio::test]
async fn redis_restarted_empty_loses_nobody() {
    let world = World::redis();
    let mut slow = quick();
    slow.heartbeat_interval = Duration::from_secs(5);
    slow.ttl = Duration::from_secs(15);
    let join = |registry: &Registry, id: &str, run| {
        registry
            .join(presence(id, "game", run), slow.clone())
            .expect("a valid configuration")
    };
    let (one, two) = (join(&world.one, "one", 1), join(&world.other, "two", 2));
    within("ready", one.ready()).await;
    within("ready", two.ready()).await;
    all_see(&[&one, &two], 2).await;
    let mut events = one.events();
    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    let old = commit("AAAAAA", 1, epoch, seq.0 + 1);
    assert!(matches!(
        world.one.commit(std::slice::from_ref(&old)).await[0],
        Ok(Committed::Ok)
    ));
    let before = world.one.health().borrow().clone();

    world.server().kill();
    let mut health = world.one.health();
    within("it is missed", health.wait_for(|health| !health.reachable))
        .await
        .expect("alive");
    let answer = world.one.commit(std::slice::from_ref(&old)).await;
    assert!(
        matches!(answer[0], Err(RegistryError::Unavailable(_))),
        "{answer:?}"
    );
    assert_eq!(one.servers().len(), 2, "the last snapshot stays");
    assert!(!one.checks().borrow().current, "marked as old");

    world.server().start_again();
    let back = tokio::time::Instant::now();
    until("both are listed again", || async {
        world.one.servers().await.is_ok_and(|list| list.len() == 2)
    })
    .await;
    all_see(&[&one, &two], 2).await;
    assert!(
        back.elapsed() < at_most(Duration::from_secs(5)),
        "{:?}",
        back.elapsed()
    );
    until("committed anew", || async {
        matches!(
            world.one.commit(std::slice::from_ref(&old)).await[0],
            Ok(Committed::Ok)
        )
    })
    .await;
    let after = world.one.health().borrow().clone();
    assert_ne!(
        after.run_id, before.run_id,
        "another run of Redis is noticed"
    );
    // In whole seconds.
    let passed_ms = u64::try_from(back.elapsed().as_millis()).unwrap() + 1_000;
    let began_ms = after.run_began_ms.expect("Redis says it");
    let now_ms = world.one.now_ms().expect("it has answered");
    assert!(began_ms <= now_ms && began_ms + passed_ms + 1_000 >= now_ms);
    assert!(before.run_began_ms.expect("Redis said it") <= began_ms);
    assert!(
        after.commit_connection > before.commit_connection,
        "and the new connection"
    );
    let third = join(&world.other, "three", 3);
    event(&mut events, "nobody has left", |event| match event {
        Event::Left { presence, reason } => panic!("{} left: {reason}", presence.id),
        Event::Joined(presence) if presence.id == third.own().id => Some(()),
        _ => None,
    })
    .await;
}

#[tokio::test]
async fn a_killed_subscription_heals() {
    let world = World::redis();
    let one = join(&world.one, "one", 1).await;
    let mut events = one.events();
    for round in 0..5 {
        world
            .server()
            .command::<usize>(&["CLIENT", "KILL", "TYPE", "pubsub"]);
        let id = format!("new-{round}");
        let member = join(&world.other, &id, 10 + round).await;
        event(&mut events, "a new one is seen", |event| match event {
            Event::Joined(presence) if presence.id.as_str() == id => Some(()),
            _ => None,
        })
        .await;
        within("leave", member.leave()).await;
    }
    until("messages come again", || async {
        world
            .other
            .publish_session("a", registry::Generation(1))
            .await
            .expect("an answer");
        let subscribers: (String, usize) =
            world
                .server()
                .command(&["PUBSUB", "NUMSUB", "network:events"]);
        subscribers.1 == 1
    })
    .await;
}

#[tokio::test]
async fn a_stopped_redis_is_left_and_found_again() {
    let world = World::redis();
    let mut patient = quick();
    patient.ttl = Duration::from_secs(15);
    let join = |registry: &Registry, id: &str, run| {
        registry
            .join(presence(id, "game", run), patient.clone())
            .expect("a valid configuration")
    };
    let (one, two) = (join(&world.one, "one", 1), join(&world.other, "two", 2));
    within("ready", one.ready()).await;
    within("ready", two.ready()).await;
    all_see(&[&one, &two], 2).await;
    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    let next = commit("AAAAAA", 1, epoch, seq.0 + 1);
    assert!(matches!(
        world.one.commit(std::slice::from_ref(&next)).await[0],
        Ok(Committed::Ok)
    ));

    world.server().signal("STOP");
    let asked = tokio::time::Instant::now();
    let answer = world.one.commit(std::slice::from_ref(&next)).await;
    assert!(
        matches!(answer[0], Err(RegistryError::Unavailable(_))),
        "{answer:?}"
    );
    assert!(
        asked.elapsed() < at_most(Duration::from_secs(2)),
        "{:?}",
        asked.elapsed()
    );
    let mut health = world.one.health();
    within("it is missed", health.wait_for(|health| !health.reachable))
        .await
        .expect("alive");
    world.server().signal("CONT");
    within("it is back", health.wait_for(|health| health.reachable))
        .await
        .expect("alive");
    until("commits go again", || async {
        matches!(
            world.one.commit(std::slice::from_ref(&next)).await[0],
            Ok(Committed::Ok)
        )
    })
    .await;
    all_see(&[&one, &two], 2).await;
}

#[tokio::test]
async fn a_silent_connection_is_given_up() {
    let world = World::redis();
    let proxy = Proxy::start(world.server().port()).await;
    let registry = Registry::redis(&RedisConfig::new(proxy.url())).expect("a valid configuration");
    let mut patient = quick();
    patient.ttl = Duration::from_secs(15);
    let member = registry
        .join(presence("one", "game", 1), patient)
        .expect("a valid configuration");
    within("ready", member.ready()).await;
    let (epoch, seq) = create(&registry, "AAAAAA").await;
    let next = commit("AAAAAA", 1, epoch, seq.0 + 1);
    let answer = registry.commit(std::slice::from_ref(&next)).await;
    assert!(matches!(answer[0], Ok(Committed::Ok)), "{answer:?}");

    proxy.silence();
    let start = tokio::time::Instant::now();
    let mut health = registry.health();
    within("it is missed", health.wait_for(|health| !health.reachable))
        .await
        .expect("alive");
    within("it is back", health.wait_for(|health| health.reachable))
        .await
        .expect("alive");
    until("commits go again", || async {
        let answer = registry.commit(std::slice::from_ref(&next)).await;
        matches!(answer[0], Ok(Committed::Ok))
    })
    .await;
    until("the pool goes again", || async {
        registry.owner("AAAAAA").await.is_ok()
    })
    .await;
    let mut sessions = member.sessions();
    within("messages come again", async {
        while sessions.try_recv().is_err() {
            let told = world
                .one
                .publish_session("a", registry::Generation(1))
                .await;
            told.expect("Redis itself is well");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert!(
        start.elapsed() < at_most(Duration::from_secs(8)),
        "{:?}",
        start.elapsed()
    );
}

#[tokio::test]
async fn claims_older_than_a_minute_are_forgotten() {
    let world = World::redis();
    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    let set = |ages_ms: &[u64]| {
        let times: Vec<String> = ages_ms
            .iter()
            .map(|age| (seq.0 - age).to_string())
            .collect();
        let words = ["HSET", "network:lobbies:AAAAAA", "claims", &times.join(",")];
        world.server().command::<usize>(&words);
    };
    set(&[50_000, 25_000, 15_000]);
    match claimed(&world.one, &claim("AAAAAA", 2, epoch, seq)).await {
        Claimed::Wait { milliseconds } => assert!(milliseconds <= 5_000, "{milliseconds} ms"),
        other => panic!("the fourth waits 20 s: {other:?}"),
    }
    set(&[90_000, 61_000, 1_000]);
    taken(&world.one, &claim("AAAAAA", 2, epoch, seq)).await;
}

#[tokio::test]
async fn what_cannot_be_read_is_named_and_hurts_nobody_else() {
    let world = World::redis();
    let (epoch, seq) = create(&world.one, "AAAAAA").await;
    world
        .server()
        .command::<String>(&["SET", "network:lobbies:BBBBBB", "?"]);
    let batch = [
        commit("BBBBBB", 1, epoch, 1),
        commit("AAAAAA", 1, epoch, seq.0 + 1),
    ];
    let answers = world.one.commit(&batch).await;
    match &answers[0] {
        Err(RegistryError::Corrupt { key, .. }) => assert_eq!(key, "network:lobbies:BBBBBB"),
        other => panic!("unexpected: {other:?}"),
    }
    assert!(matches!(answers[1], Ok(Committed::Ok)), "{answers:?}");

    let far = "99999999999999";
    world
        .server()
        .command::<usize>(&["ZADD", "network:servers", far, "strange"]);
    world
        .server()
        .command::<usize>(&["HSET", "network:servers:strange", "id", "strange"]);
    let one = join(&world.one, "one", 1).await;
    all_see(&[&one], 1).await;
    assert_eq!(world.one.servers().await.expect("an answer").len(), 1);
}
