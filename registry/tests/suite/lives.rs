//! What becomes of processes that are killed, stopped or started twice, as the others see it.
//! Scenes of [`super::at_once`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use registry::{Event, PresenceConfig, State};
use tokio::time::{Instant, sleep, timeout};

use super::node::Node;
use super::redis_server::RedisServer;
use super::world::{at_most, connect, event, presence, until, within};

async fn pair() -> (RedisServer, Node, Node) {
    let server = RedisServer::start();
    let one = Node::start(&server.url(), "one");
    let two = Node::start(&server.url(), "two");
    one.sees_ready("two").await;
    two.sees_ready("one").await;
    (server, one, two)
}

fn is_listed(server: &RedisServer, id: &str) -> (bool, bool) {
    let key = format!("network:servers:{id}");
    (
        server.command(&["EXISTS", &key]),
        server
            .command::<Option<f64>>(&["ZSCORE", "network:servers", id])
            .is_some(),
    )
}

pub(crate) async fn a_killed_process_expires() {
    let (server, one, mut two) = pair().await;
    let killed = Instant::now();
    two.kill().await;
    let left = async {
        while !one.has_said("left two expired") {
            sleep(Duration::from_millis(20)).await;
        }
    };
    let in_time = timeout(at_most(Duration::from_secs(20)), left).await;
    assert!(in_time.is_ok(), "not in time: {:?}", one.said());
    println!("expired after {:?}", killed.elapsed());
    assert!(killed.elapsed() > Duration::from_secs(9), "by expiry alone");
    assert_eq!(is_listed(&server, "two"), (false, false));
    assert_eq!(
        server.command::<Vec<String>>(&["HKEYS", "network:revisions"]),
        ["one"]
    );
}

pub(crate) async fn a_restart_under_the_same_id_stays() {
    let (server, one, mut old) = pair().await;
    // The old run stands still, so that what it says comes late.
    old.signal("STOP");
    let new = Node::start(&server.url(), "two");
    let new_run = new.incarnation().await;
    new.says("ready").await;
    let ready = Instant::now();
    one.says(&format!("joined two {new_run}")).await;
    assert!(
        ready.elapsed() < Duration::from_secs(4),
        "by its hello, not with the next heartbeat"
    );
    assert!(one.has_said("left two replaced"), "{:?}", one.said());

    let listed =
        || -> Option<String> { server.command(&["HGET", "network:servers:two", "incarnation"]) };
    // Past its next heartbeat, which is 5 s after its last one at most.
    old.signal("CONT");
    let continued = Instant::now();
    while continued.elapsed() < Duration::from_secs(6) {
        assert_eq!(listed().as_ref(), Some(&new_run), "a late heartbeat");
        sleep(Duration::from_millis(50)).await;
    }
    until("it has noticed", || async {
        old.log()
            .iter()
            .any(|line| line.contains("a later process has this NODE_ID"))
    })
    .await;
    let told = || -> usize {
        let log = new.log();
        let about = |line: &&String| line.contains("an earlier process has this NODE_ID too");
        log.iter().filter(about).count()
    };
    until("the later one is told too", || async { told() > 0 }).await;
    old.leave().await;
    old.says("gone").await;
    assert_eq!(listed().as_ref(), Some(&new_run), "a late goodbye");
    assert_eq!(told(), 1);
    new.says("joined one").await;
    let said = one.said();
    let about_two: Vec<_> = said.iter().filter(|line| line.contains(" two")).collect();
    let last = about_two
        .iter()
        .rev()
        .find(|line| !line.starts_with("changed"));
    let joined = format!("joined two {new_run} ");
    assert!(
        last.is_some_and(|line| line.starts_with(&joined)),
        "{said:?}"
    );
    assert_eq!(is_listed(&server, "two"), (true, true));
}

pub(crate) async fn a_short_stop_changes_nothing() {
    let (_server, one, two) = pair().await;
    let before = (one.said(), two.said());
    two.signal("STOP");
    sleep(Duration::from_secs(4)).await;
    two.signal("CONT");
    // Through the next heartbeats of both.
    sleep(Duration::from_secs(6)).await;
    assert_eq!((one.said(), two.said()), before);
}

pub(crate) async fn a_long_stop_is_seen_and_mended() {
    let (server, one, two) = pair().await;
    two.signal("STOP");
    sleep(Duration::from_secs(20)).await;
    one.says("left two expired").await;
    assert_eq!(is_listed(&server, "two"), (false, false));
    two.signal("CONT");
    let woken = Instant::now();
    let joined = || {
        one.said()
            .iter()
            .filter(|line| line.starts_with("joined two"))
            .count()
    };
    until("listed again", || async { joined() == 2 }).await;
    println!("listed again after {:?}", woken.elapsed());
    assert!(
        woken.elapsed() < at_most(Duration::from_secs(5)),
        "{:?}",
        woken.elapsed()
    );
    assert_eq!(is_listed(&server, "two"), (true, true));
    assert!(!two.has_said("left"), "{:?}", two.said());
}

/// With the intervals of the real thing.
pub(crate) async fn a_blocked_thread_is_stalled() {
    let server = RedisServer::start();
    let (near, far) = (connect(&server), connect(&server));
    let join = |registry: &registry::Registry, id, run| {
        registry
            .join(presence(id, "game", run), PresenceConfig::default())
            .expect("a valid configuration")
    };
    let (one, two) = (join(&near, "one", 1), join(&far, "two", 2));
    within("ready", one.ready()).await;
    let pulse = Arc::new(AtomicU64::new(0));
    two.watch_thread(Arc::clone(&pulse));
    within("ready", two.ready()).await;
    let mut events = one.events();
    let blocked = Instant::now();
    let state = |event| match event {
        Event::Changed(presence) if presence.id.as_str() == "two" => Some(presence.state),
        Event::Left { reason, .. } => panic!("left: {reason}"),
        _ => None,
    };
    while event(&mut events, "it is blocked", state).await != State::Stalled {}
    println!("stalled after {:?}", blocked.elapsed());
    tokio::time::sleep_until(blocked + Duration::from_secs(8)).await;
    pulse.fetch_add(1, Ordering::Relaxed);
    assert_eq!(event(&mut events, "it runs", state).await, State::Ready);
}
