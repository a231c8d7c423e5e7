//! Who learns what of whom.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use registry::{
    Event, Generation, LeftReason, Load, NodeId, PresenceConfig, Role, SessionOpened, State,
};

use super::world::{World, event, join, presence, quick, until, within};

fn joined(event: Event) -> Option<String> {
    match event {
        Event::Joined(presence) => Some(presence.id.to_string()),
        _ => None,
    }
}

fn left(event: Event) -> Option<(String, LeftReason)> {
    match event {
        Event::Left { presence, reason } => Some((presence.id.to_string(), reason)),
        _ => None,
    }
}

pub(crate) async fn everybody_learns_of_start_and_stop(world: &World) {
    let one = join(&world.one, "one", 1).await;
    let mut events = one.events();
    let two = join(&world.other, "two", 2).await;
    assert_eq!(event(&mut events, "two joins", joined).await, "two");
    let two_id = NodeId::new("two").expect("a valid id");
    // It may have been listed while it was still starting.
    until("two is ready", || async {
        let seen = one.server(&two_id).expect("it has joined");
        seen.state == State::Ready
    })
    .await;
    let seen = one.server(&two_id).expect("it has joined");
    assert_eq!(*seen, {
        let mut expected = presence("two", "game", 2);
        expected.state = State::Ready;
        expected.started_at = seen.started_at;
        expected.last_seen = seen.last_seen;
        expected
    });
    assert!(seen.started_at > 0 && seen.last_seen >= seen.started_at);

    let mut late = two.events();
    assert_eq!(
        event(&mut late, "one is there already", joined).await,
        "one"
    );
    let ids = |servers: registry::Servers| -> Vec<String> {
        servers.iter().map(|server| server.id.to_string()).collect()
    };
    assert_eq!(ids(two.servers()), ["one", "two"], "oneself included");
    let role = |word| Role::new(word).expect("a valid role");
    assert_eq!(ids(two.servers_by_role(&role("game"))), ["one", "two"]);
    assert!(two.servers_by_role(&role("gateway")).is_empty());
    until("a probe comes back", || async {
        two.checks().borrow().probe_heard
    })
    .await;
    assert!(two.checks().borrow().heartbeat_written && two.checks().borrow().current);
    assert!(world.other.reachable());

    // Nobody has read that when two leaves: its goodbye says it.
    two.update(|own| own.handed_over = 34);
    within("two leaves", two.leave()).await;
    let handed = |event| match event {
        Event::Left {
            presence,
            reason: LeftReason::Goodbye,
        } => Some((presence.id.to_string(), presence.handed_over)),
        _ => None,
    };
    let last = event(&mut events, "two is gone", handed).await;
    assert_eq!(last, ("two".to_owned(), 34));
    assert_eq!(ids(one.servers()), ["one"]);
    assert_eq!(
        within("the stream ends", async {
            while late.next().await.is_some() {}
        })
        .await,
        ()
    );
    within("leaving twice is no harm", two.leave()).await;
}

pub(crate) async fn a_starting_process_is_seen_as_such(world: &World) {
    let one = join(&world.one, "one", 1).await;
    let mut events = one.events();
    let two = world
        .other
        .join(presence("two", "ai", 2), quick())
        .expect("a valid configuration");
    let seen = event(&mut events, "two is seen", |event| match event {
        Event::Joined(presence) => Some(presence.state),
        _ => None,
    })
    .await;
    assert_eq!(seen, State::Starting);
    within("ready", two.ready()).await;
    let state = event(&mut events, "two is ready", |event| match event {
        Event::Changed(presence) => Some(presence.state),
        _ => None,
    })
    .await;
    assert_eq!(state, State::Ready);
}

pub(crate) async fn news_are_told_at_once_and_counts_with_the_heartbeat(world: &World) {
    let one = join(&world.one, "one", 1).await;
    let mut events = one.events();
    let mut slow = quick();
    slow.heartbeat_interval = PresenceConfig::MAX_HEARTBEAT_INTERVAL;
    slow.ttl = Duration::from_mins(1);
    let two = world
        .other
        .join(presence("two", "game", 2), slow)
        .expect("a valid configuration");
    within("ready", two.ready()).await;
    event(&mut events, "two joins", joined).await;
    two.update(|own| own.players = 3);
    two.update(|own| {
        own.load = Load::Busy;
        own.accepting_games = true;
        own.id = NodeId::new("somebody-else").expect("a valid id");
    });
    let told = tokio::time::Instant::now();
    let news = event(&mut events, "two is busy", |event| match event {
        Event::Changed(presence) if presence.load == Load::Busy => Some(presence),
        _ => None,
    })
    .await;
    assert!(
        told.elapsed() < Duration::from_secs(4),
        "before the heartbeat"
    );
    assert_eq!(
        (news.players, news.accepting_games, news.id.as_str()),
        (3, true, "two")
    );
    assert_eq!(two.own().players, 3);

    for number in 0..20 {
        two.update(|own| own.accepting_games = number % 2 == 1);
    }
    two.update(|own| own.load = Load::Normal);
    let mut changes = 0;
    event(
        &mut events,
        "the last of many changes",
        |event| match event {
            Event::Changed(presence) => {
                changes += 1;
                (presence.load == Load::Normal).then_some(())
            }
            _ => None,
        },
    )
    .await;
    assert!(changes <= 2, "{changes} messages for 21 changes");
}

pub(crate) async fn whoever_vanishes_expires(world: &World) {
    let one = join(&world.one, "one", 1).await;
    let mut events = one.events();
    let two = join(&world.other, "two", 2).await;
    event(&mut events, "two joins", joined).await;
    drop(two);
    let reason = event(&mut events, "two is gone", left).await;
    assert_eq!(reason, ("two".to_owned(), LeftReason::Expired));
    // It may have lapsed on a busy machine before it vanished, and the one that is there may just now.
    until("the other one alone is listed", || async {
        let listed = world.one.servers().await.expect("an answer");
        matches!(&listed[..], [one] if one.id.as_str() == "one")
    })
    .await;
    if let Some(server) = &world.server {
        let of_two = ["EXISTS", "network:servers:two"];
        let index = ["ZSCORE", "network:servers", "two"];
        until("nothing of it is left", || async {
            !server.command::<bool>(&of_two) && server.command::<Option<f64>>(&index).is_none()
        })
        .await;
    }
}

pub(crate) async fn a_later_run_replaces_an_earlier_one(world: &World) {
    let one = join(&world.one, "one", 1).await;
    let mut events = one.events();
    let earlier = join(&world.other, "two", 2).await;
    event(&mut events, "two joins", joined).await;
    let later = join(&world.one, "two", 3).await;
    let reason = event(&mut events, "the earlier run is replaced", left).await;
    assert_eq!(reason, ("two".to_owned(), LeftReason::Replaced));
    let run = event(&mut events, "the later run joins", |event| match event {
        Event::Joined(presence) => Some(presence.incarnation),
        _ => None,
    })
    .await;
    assert_eq!(run, later.own().incarnation);

    // The earlier run still beats, changes and says goodbye: nobody is impressed.
    earlier.update(|own| own.load = Load::Overloaded);
    let listed = async || {
        let servers = world.one.servers().await.expect("an answer");
        let two = servers
            .into_iter()
            .find(|server| server.id.as_str() == "two");
        two.map(|two| (two.incarnation, two.load))
    };
    let start = tokio::time::Instant::now();
    while start.elapsed() < quick().heartbeat_interval * 4 {
        assert_eq!(listed().await, Some((run, Load::Normal)));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    within("the earlier run leaves", earlier.leave()).await;
    assert_eq!(listed().await, Some((run, Load::Normal)));
    within("the later run leaves", later.leave()).await;
    let reason = event(&mut events, "the later run is gone", left).await;
    assert_eq!(reason, ("two".to_owned(), LeftReason::Goodbye));
}

pub(crate) async fn requests_to_drain_reach_their_node(world: &World) {
    let one = join(&world.one, "one", 1).await;
    let two = join(&world.other, "two", 2).await;
    let mut asked = two.drain_requested();
    world
        .one
        .request_drain(&two.own().id)
        .await
        .expect("an answer");
    within("two is asked", asked.wait_for(|asked| *asked))
        .await
        .expect("two goes on");
    assert!(!*one.drain_requested().borrow(), "the other one is not");
}

pub(crate) async fn sessions_are_told_to_everybody(world: &World) {
    let one = join(&world.one, "one", 1).await;
    let mut sessions = one.sessions();
    let opened = SessionOpened {
        player_id: "0123456789ab".to_owned(),
        generation: Generation(7),
    };
    let told = world
        .other
        .publish_session(&opened.player_id, opened.generation)
        .await;
    told.expect("an answer");
    assert_eq!(
        within("it is told", sessions.recv())
            .await
            .expect("one goes on"),
        opened
    );
}

pub(crate) async fn a_thread_that_stands_still_is_stalled(world: &World) {
    let one = join(&world.one, "one", 1).await;
    let mut events = one.events();
    let two = join(&world.other, "two", 2).await;
    event(&mut events, "two joins", joined).await;
    let pulse = Arc::new(AtomicU64::new(0));
    two.watch_thread(Arc::clone(&pulse));
    let state = |event| match event {
        Event::Changed(presence) => Some(presence.state),
        _ => None,
    };
    assert_eq!(
        event(&mut events, "it stands still", state).await,
        State::Stalled
    );
    assert_eq!(two.own().state, State::Ready, "what it says itself stays");
    let running = tokio::spawn(async move {
        loop {
            pulse.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    assert_eq!(
        event(&mut events, "it runs again", state).await,
        State::Ready
    );
    running.abort();
}

pub(crate) async fn an_observer_sees_and_is_not_seen(world: &World) {
    let one = join(&world.one, "one", 1).await;
    let observer = world.other.observe(quick()).expect("a valid configuration");
    let mut events = observer.events();
    assert_eq!(event(&mut events, "one is there", joined).await, "one");
    let two = join(&world.one, "two", 2).await;
    assert_eq!(event(&mut events, "two joins", joined).await, "two");
    let state = |event| match event {
        Event::Changed(presence) => Some(presence.state),
        _ => None,
    };
    two.update(|own| own.state = State::Draining);
    while event(&mut events, "two drains", state).await != State::Draining {}
    within("two leaves", two.leave()).await;
    let reason = event(&mut events, "two is gone", left).await;
    assert_eq!(reason, ("two".to_owned(), LeftReason::Goodbye));
    drop(one);
    let reason = event(&mut events, "one is gone", left).await;
    assert_eq!(reason, ("one".to_owned(), LeftReason::Expired));
    assert!(observer.servers().is_empty(), "{:?}", observer.servers());
    assert!(observer.checks().borrow().current);
    assert!(
        world.one.servers().await.expect("an answer").is_empty(),
        "it is not listed itself"
    );
    drop(observer);
    within("its stream ends", async {
        while events.next().await.is_some() {}
    })
    .await;
}

pub(crate) async fn operators_need_no_membership(world: &World) {
    assert!(world.one.servers().await.expect("an answer").is_empty());
    let _two = join(&world.other, "two", 2).await;
    let _one = join(&world.other, "one", 1).await;
    let listed = world.one.servers().await.expect("an answer");
    let ids: Vec<&str> = listed.iter().map(|server| server.id.as_str()).collect();
    assert_eq!(ids, ["one", "two"]);
    assert!(world.one.reachable());
}
