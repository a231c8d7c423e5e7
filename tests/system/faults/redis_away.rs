//! Redis gone for everybody: games go on, nothing new begins, and afterwards everything is saved again.

use std::time::Duration;

use loadtest::{PlayerError, Run};
use protocol::ErrorCode;
use tokio::time::{Instant, sleep};

use super::scale::Scale;
use super::site::{Site, end, go_on};
use crate::support::redis::Redis;
use crate::support::table::arrive;
use crate::support::{eventually, http};

const PAUSE: Duration = Duration::from_secs(2);
const SAVED_AGAIN: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn games_go_on_while_redis_stands_still() {
    let scale = Scale::read();
    let site = Site::start(2, 3).await;
    let run = site.play(scale).await;
    let at = Instant::now();
    site.redis.signal("STOP");
    games_go_on_without(&site, &run, scale, at).await;
    site.redis.signal("CONT");
    all_is_saved_again(&site, &run, scale, Instant::now()).await;
    judge("Redis stands still", run, at, scale).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn games_go_on_when_redis_comes_back_empty() {
    let scale = Scale::read();
    let mut site = Site::start(2, 3).await;
    let run = site.play(scale).await;
    let at = Instant::now();
    site.redis.kill();
    games_go_on_without(&site, &run, scale, at).await;
    site.redis.start_again().await;
    all_is_saved_again(&site, &run, scale, Instant::now()).await;
    judge("Redis away, and back empty", run, at, scale).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn games_go_on_when_redis_comes_back_from_its_file() {
    let scale = Scale::read();
    let mut site = Site::over(Redis::start_with_file().await, 2, 3).await;
    let run = site.play(scale).await;
    let at = Instant::now();
    site.redis.kill();
    site.redis.start_again().await;
    let back = Instant::now();
    // By then everybody has noticed that it was gone.
    go_on(&run, Duration::from_secs(3)).await;
    all_is_saved_again(&site, &run, scale, back).await;
    judge("Redis restarted from its file", run, at, scale).await;
}

async fn games_go_on_without(site: &Site, run: &Run, scale: Scale, since: Instant) {
    let before = run.games_finished();
    go_on(run, Duration::from_secs(3)).await;
    let refused = arrive_late(site).await;
    assert_eq!(refused, Some(ErrorCode::Unavailable), "nothing new begins");
    // Over the links: no presence can be written.
    assert!(site.sum("uncommitted").await > 0, "operators see it");
    go_on(run, scale.redis_away.saturating_sub(since.elapsed())).await;
    println!("{} games ended meanwhile", run.games_finished() - before);
}

/// Once all games have ended.
async fn judge(what: &str, run: Run, since: Instant, scale: Scale) {
    let pauses = end(run).await.pauses(since, PAUSE);
    pauses.judge(what, scale.at_most(PAUSE));
}

/// A player who comes now: the code by which their table is refused.
async fn arrive_late(site: &Site) -> Option<ErrorCode> {
    let url = site.urls().remove(0);
    let mut player = loadtest::Player::connect(&url).await.unwrap();
    let refused = match player.hello(None).await {
        Ok(_) => player.create("Late").await.map(|_| ()),
        Err(error) => Err(error),
    };
    match refused {
        Err(PlayerError::Refused(refused)) => Some(refused.code),
        Err(other) => panic!("{other}"),
        Ok(()) => None,
    }
}

async fn all_is_saved_again(site: &Site, run: &Run, scale: Scale, back: Instant) {
    eventually("everything is saved again", async || {
        assert_eq!(run.fault(), None);
        sleep(Duration::from_millis(100)).await;
        for node in &site.nodes {
            let health = http::get_json(node.operations(), "/health").await?;
            if health["suspended"] != false || health["uncommitted"] != 0 {
                return None;
            }
        }
        Some(())
    })
    .await;
    let took = back.elapsed();
    println!("all saved again {took:.1?} later");
    assert!(took <= scale.at_most(SAVED_AGAIN), "{took:?}");
    eventually("new tables are possible again", async || {
        let mut player = arrive(&site.urls().remove(0)).await;
        player.create("New").await.ok()?;
        player.leave().await.ok()
    })
    .await;
    assert_eq!(site.sum("taken_over").await, 0, "nobody is relieved by it");
}
