//! What the registry costs a Redis that it shares with others.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use registry::{Event, Generation, LeftReason, Membership, PresenceConfig, TokenHash};
use tokio::time::{Instant, sleep, sleep_until};

use super::redis_server::RedisServer;
use super::world::{CEILING, commit, connect, create, event, join, presence, quick, until, within};

const FOREIGN_KEYS: usize = 1_000_000;

/// Everything that is asked of Redis while nodes live and operators watch.
#[tokio::test]
async fn nothing_walks_through_foreign_keys() {
    let server = RedisServer::start();
    let fill = format!("for i = 1, {FOREIGN_KEYS} do redis.call('SET', 'foreign:' .. i, 'x') end");
    server.command::<Option<String>>(&["EVAL", &fill, "0"]);
    let asked = monitor(&server).await;

    let registry = connect(&server);
    let observer = registry.observe(quick()).expect("a valid configuration");
    let mut events = observer.events();
    let nodes = [
        join(&registry, "one", 1).await,
        join(&registry, "two", 2).await,
    ];
    let joined = |event| matches!(event, Event::Joined(_)).then_some(());
    event(&mut events, "one", joined).await;
    event(&mut events, "two", joined).await;
    assert_eq!(registry.servers().await.expect("an answer").len(), 2);
    let (epoch, seq) = create(&registry, "AAAAAA").await;
    let next = commit("AAAAAA", 1, epoch, seq.0 + 1);
    registry.commit(&[next]).await[0]
        .as_ref()
        .expect("an answer");
    registry.owner("AAAAAA").await.expect("an answer");
    registry
        .public_add(&["AAAAAA".to_owned()])
        .await
        .expect("an answer");
    registry.public_list(10).await.expect("an answer");
    let token = TokenHash::new([1; 32]);
    registry
        .session_create(&token, "0123456789ab")
        .await
        .expect("an answer");
    registry.session_renew(&[token]).await.expect("an answer");
    registry
        .session_drop(&token, Generation(u64::MAX >> 12))
        .await
        .expect("an answer");
    registry.count_create("127.0.0.1").await.expect("an answer");
    for node in &nodes {
        within("leaves", node.leave()).await;
    }
    let left = |event| matches!(event, Event::Left { .. }).then_some(());
    event(&mut events, "one leaves", left).await;
    event(&mut events, "two leaves", left).await;
    let counts = || asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
    // The count of creations was the last of its kind.
    until("all was seen", || async {
        counts()
            .keys()
            .any(|word| word.eq_ignore_ascii_case("incr"))
    })
    .await;

    let counts = counts();
    let walks = counts.keys().filter(|word| {
        let word = word.to_uppercase();
        word.contains("SCAN") || word == "KEYS" || word == "RANDOMKEY"
    });
    assert_eq!(walks.collect::<Vec<_>>(), [""; 0], "{counts:?}");
    assert!(counts.len() > 10, "not all was seen: {counts:?}");
}

/// How often each command is used from now on, also inside scripts.
async fn monitor(server: &RedisServer) -> Arc<Mutex<BTreeMap<String, usize>>> {
    let client = redis::Client::open(server.url()).expect("a valid URL");
    let monitor = client.get_async_monitor().await.expect("Redis answers");
    let counts = Arc::<Mutex<BTreeMap<String, usize>>>::default();
    let counted = Arc::clone(&counts);
    tokio::spawn(async move {
        let mut lines = monitor.into_on_message::<String>();
        while let Some(line) = lines.next().await {
            // 1700000000.000001 [0 127.0.0.1:1234] "HGETALL" "network:servers:one"
            let word = line.split('"').nth(1).unwrap_or_default().to_owned();
            let mut counts = counted.lock().unwrap_or_else(PoisonError::into_inner);
            *counts.entry(word).or_default() += 1;
        }
    });
    counts
}

/// 200 come within 10 s, every other one leaves again. How soon all lists are right after that is
/// the benchmark's to measure.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_come_and_go() {
    const SIZE: u32 = 200;
    const TIME: Duration = Duration::from_secs(9);
    // All of them share one process: on a busy machine a heartbeat may be late, and nobody shall have expired by that.
    let patient = PresenceConfig {
        ttl: CEILING / 2,
        ..PresenceConfig::default()
    };
    let server = RedisServer::start();
    let registry = connect(&server);
    let began = Instant::now();
    let lives = (0..SIZE).map(|number| {
        let (registry, patient) = (registry.clone(), patient.clone());
        tokio::spawn(async move {
            sleep_until(began + TIME * number / SIZE).await;
            let member = registry
                .join(
                    presence(&format!("node-{number:03}"), "game", u128::from(number)),
                    patient,
                )
                .expect("a valid configuration");
            let mut events = member.events();
            member.ready().await;
            let unexpected = tokio::spawn(async move {
                while let Some(event) = events.next().await {
                    match event {
                        Event::Left { presence, reason } if reason != LeftReason::Goodbye => {
                            return Some(format!("{} {reason}", presence.id));
                        }
                        _ => {}
                    }
                }
                None
            });
            if number % 2 == 1 {
                sleep(Duration::from_secs(1)).await;
                member.leave().await;
            }
            (member, unexpected)
        })
    });
    let lives: Vec<_> = lives.collect();
    let mut stay: Vec<Membership> = Vec::new();
    let mut watching = Vec::new();
    for (number, life) in lives.into_iter().enumerate() {
        let (member, unexpected) = life.await.expect("it lives");
        watching.push(unexpected);
        if number % 2 == 0 {
            stay.push(member);
        }
    }
    println!("all have come and gone after {:?}", began.elapsed());
    let settled = Instant::now();
    let expected: Vec<String> = (0..SIZE)
        .filter(|number| number % 2 == 0)
        .map(|number| format!("node-{number:03}"))
        .collect();
    until("all lists are right", || async {
        stay.iter().all(|member| {
            let servers = member.servers();
            let ids = servers.iter().map(|server| server.id.as_str());
            ids.eq(expected.iter().map(String::as_str))
        })
    })
    .await;
    println!("all lists are right after {:?} more", settled.elapsed());
    drop(stay);
    for unexpected in watching {
        assert_eq!(unexpected.await.expect("it ends"), None);
    }
}
