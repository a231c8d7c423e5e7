//! One node that alone can't reach Redis, or hears its answers late or never.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::scale::Scale;
use super::site::{Site, end, go_on};
use crate::support::proxy::{Proxy, Weather};
use crate::support::table::arrive;
use crate::support::{eventually, http};

const TAKEN_OVER: Duration = Duration::from_secs(15);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_cut_off_from_redis_lets_its_tables_go() {
    let scale = Scale::read();
    let (mut site, way) = site_with_a_way().await;
    site.nodes.swap(0, 2);
    let run = site.play(scale).await;
    let at = Instant::now();
    way.set(Weather::Cut);
    eventually("its tables are taken over", async || {
        assert_eq!(run.fault(), None);
        sleep(Duration::from_millis(200)).await;
        (site.sum("taken_over").await > 0).then_some(())
    })
    .await;
    go_on(&run, Duration::from_secs(8)).await;
    let nodes = site.presence().await;
    let cut_off: Vec<_> = nodes
        .iter()
        .filter(|node| node["cut_off"] == true)
        .collect();
    assert_eq!(cut_off.len(), 1, "operators see which one: {nodes:?}");
    assert_eq!(cut_off[0]["link"], "up");
    way.set(Weather::Clear);
    go_on(&run, Duration::from_secs(6)).await;
    eventually("it is one like the others again", async || {
        let nodes = site.presence().await;
        (nodes.iter().all(|node| node["cut_off"] == false)).then_some(())
    })
    .await;
    let ended = end(run).await;
    ended
        .pauses(at, TAKEN_OVER)
        .judge("cut off from Redis, taken over", scale.at_most(TAKEN_OVER));
    assert_eq!(ended.report.reconnects, 0, "{}", ended.report);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_creation_whose_answer_is_lost_or_late_makes_one_table() {
    let (mut site, way) = site_with_a_way().await;
    // Only the node with the way is left.
    let others: Vec<_> = site.nodes.drain(..2).collect();
    for mut node in others {
        node.signal("TERM");
        node.ended().await;
    }
    let url = site.urls().remove(0);
    for weather in [Weather::Deaf, Weather::Late(Duration::from_secs(3))] {
        let mut player = arrive(&url).await;
        way.set(weather);
        let refused = player.create("Ada").await;
        assert!(
            refused.is_err(),
            "{weather:?}: nothing is shown that is not saved"
        );
        way.set(Weather::Clear);
        let code = eventually("a table of one's own", async || {
            sleep(Duration::from_millis(200)).await;
            player.create("Ada").await.ok()
        })
        .await;
        // Whatever came of the first try, the player sits at one table, and its owner knows it.
        let path = format!("/lobbies/{code}");
        let lobby = http::get_json(site.gateways[0].operations(), &path)
            .await
            .unwrap();
        assert_eq!(lobby["seats"].as_array().unwrap().len(), 1, "{lobby}");
        player.leave().await.unwrap();
        eventually("no other table is left", async || {
            sleep(Duration::from_millis(200)).await;
            (site.sum("lobbies").await == 0).then_some(())
        })
        .await;
    }
}

/// Two gateways, two nodes, and a third whose way to Redis can be cut.
async fn site_with_a_way() -> (Site, Proxy) {
    let mut site = Site::start(2, 2).await;
    let way = Proxy::start(site.redis.address()).await;
    let url = format!("redis://{}", way.address());
    let node = site.spawn_node(&[("REDIS_URL", &url)]).ready().await;
    site.nodes.push(node);
    (site, way)
}
