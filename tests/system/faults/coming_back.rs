//! Players who say hello when Redis has just lost what it knew of them.

use std::time::Duration;

use futures_util::future::try_join_all;
use loadtest::Player;
use loadtest::strategy::random_moves;
use tokio::time::sleep;

use super::site::Site;
use crate::support::eventually;
use crate::support::table::{gather, start};

/// By then whoever has lost Redis tries to connect about once a second.
const AWAY_FOR: Duration = Duration::from_secs(3);

#[tokio::test]
async fn a_gateway_that_starts_just_after_redis_came_back_empty_knows_its_players() {
    let mut site = Site::start(1, 2).await;
    let url = site.urls().remove(0);
    let (mut players, _) = gather(&url, 2, 1).await;
    start(&mut players).await;
    site.redis.kill();
    // Dropped, it is killed.
    site.gateways.clear();
    sleep(AWAY_FOR).await;
    site.redis.start_again().await;
    site.gateways.push(site.spawn_gateway(0));
    for player in &mut players {
        come_back(player, &url).await;
    }
    let seats = players.iter_mut().zip(1..);
    let playing = seats.map(|(player, seed)| player.play(random_moves(seed)));
    try_join_all(playing).await.unwrap();
}

/// As often as it takes, as a browser does.
async fn come_back(player: &mut Player, url: &str) {
    let before = player.welcome().unwrap().clone();
    let table = player.code();
    *player = eventually("somebody who knows them", async || {
        let mut again = Player::connect(url).await.ok()?;
        let welcome = again.hello(Some(&before.token)).await.ok()?;
        assert_eq!(welcome.player_id, before.player_id, "a stranger");
        (again.code() == table).then_some(again)
    })
    .await;
}
