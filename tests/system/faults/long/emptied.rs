//! Redis cleared by hand under a running fleet: it shows no new run by which anybody could tell.

use std::time::Duration;

use tokio::time::Instant;

use crate::faults::scale::Scale;
use crate::faults::site::{Site, end, go_on};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn players_of_a_gateway_that_is_killed_just_then_find_their_seats() {
    let scale = Scale::read();
    let mut site = Site::start(2, 2).await;
    let run = site.play(scale).await;
    let at = Instant::now();
    site.redis.empty().await;
    // Dropped, it is killed: half of the players say hello with tokens that Redis does not know.
    drop(site.gateways.remove(1));
    go_on(&run, Duration::from_secs(12)).await;
    assert_eq!(
        site.sum("taken_over").await,
        0,
        "no table moves because of it"
    );
    let ended = end(run).await;
    ended.pauses(at, Duration::from_secs(1)).judge(
        "Redis emptied and a gateway killed, to first new state",
        Duration::from_secs(20),
    );
    let report = ended.report;
    assert_eq!(report.reconnects, report.players / 2, "{report}");
}
