//! Who stands still: a Redis, which does later what it was asked meanwhile; a node, of which nobody
//! can tell whether it will ever go on.

use std::sync::Arc;
use std::time::Duration;

use protocol::link::{Question, Why};
use registry::simulation::{Data, Redis, Spawn, Wire};
use registry::{Generation, Lifetimes};
use serde_json::json;

use crate::bench::{Bench, Gateway, config};
use crate::client::Client;

const CEILING: Duration = Duration::from_secs(10);
/// Of two hellos that are so far apart a gateway knows which came later.
const SURELY_LATER: Duration = Duration::from_millis(300);
const MAX_TRIES: usize = 5;

#[tokio::test]
async fn a_hello_that_waited_does_not_take_over_from_one_that_was_said_since() {
    let redis = Redis::start(Lifetimes::default());
    let spawn: Spawn = Arc::new(|task| drop(tokio::spawn(task)));
    let registry = redis.client(Wire::default(), Arc::clone(&spawn));
    let bench = Bench::over(registry, |_| {}).await;
    let wire = Wire::default();
    let way = redis.client(wire.clone(), spawn);
    let mut health = way.health();
    let slow = Gateway::start(config("gateway-slow"), way);
    slow.ready().await;
    let mut ada = bench.client().await;
    ada.enter().await;
    let token = ada.token.clone();
    drop(ada);

    // On a busy machine the first may wait until it is told that Redis is away.
    for _ in 0..MAX_TRIES {
        health.wait_for(|health| health.reachable).await.unwrap();
        // Her network goes while this gateway waits for Redis, which it does not notice.
        wire.cut();
        let mut half_open = Client::connect(slow.address).await;
        half_open
            .send(json!({ "type": "hello", "token": token }))
            .await;
        half_open.is_answered().await;
        tokio::time::sleep(SURELY_LATER).await;
        let mut again = bench.client().await;
        again.hello(json!(token)).await;
        wire.mend();
        let refused = half_open.receive().await;
        again.is_answered().await;
        if refused["code"] == "taken_over" {
            assert_eq!(half_open.closed().await, 4000);
            return;
        }
        assert_eq!(refused["code"], "unavailable");
    }
    panic!("no hello has waited for Redis to come back");
}

async fn bench() -> (Redis, Bench) {
    let redis = Redis::start(Lifetimes::default());
    let spawn: Spawn = Arc::new(|task| drop(tokio::spawn(task)));
    let registry = redis.client(Wire::default(), spawn);
    (redis, Bench::over(registry, |_| {}).await)
}

#[tokio::test]
async fn whoever_is_let_in_by_the_owners_word_is_not_taken_over_by_their_own_hello() {
    let (redis, mut bench) = bench().await;
    let (ada, seat) = bench.seated_client().await;
    bench.node.knows(&seat);
    let token = ada.token.clone();
    drop(ada);

    redis.stop(true);
    let mut again = bench.client().await;
    // By then the gateway has given Redis up, and does not know yet that it is away.
    let goes_on = async {
        let asked = bench.node.question().await;
        assert!(matches!(asked, Question::Session(_)), "{asked:?}");
        redis.stop(false);
    };
    let (welcome, ()) = tokio::join!(again.hello(json!(token)), goes_on);
    assert_eq!(welcome["player_id"], seat.person.player.as_str());
    let attach = bench.node.ask().await;
    // What is done late comes to what was held to be so.
    let token = [seat.person.token.as_str().parse().unwrap()];
    let opened = async {
        loop {
            let session = bench.registry.sessions_read(&token).await.unwrap()[0].clone();
            let generation = session.unwrap().generation;
            if generation != Generation(seat.person.generation) {
                return generation;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let opened = tokio::time::timeout(CEILING, opened).await.unwrap();
    assert_eq!(opened, Generation(attach.person.generation));
    again.is_answered().await;
}

#[tokio::test]
async fn an_owner_that_stands_still_is_relieved_also_once_redis_was_restarted() {
    let (redis, mut bench) = bench().await;
    let (mut ada, seat) = bench.seated_client().await;
    let mut other = bench.another_node("game-other").await;
    let mut health = bench.registry.health();
    redis.kill();
    health.wait_for(|health| !health.reachable).await.unwrap();
    redis.restart(Data::Whole);
    health.wait_for(|health| health.reachable).await.unwrap();
    bench.node.stands_still();
    // Five seconds of silence, eight without a heartbeat; not as long as its presence is there.
    let claim = other.claim().await;
    assert_eq!((claim.code, claim.why), (seat.code, Some(Why::Silent)));
    let attach = other.ask().await;
    other.attached(&attach, seat.number);
    other.show(seat.code, 9, &[attach.connection]);
    ada.receive_until(|message| message["seq"] == 9).await;
}
