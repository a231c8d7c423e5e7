//! Everything, or a gateway, that ends without a word.

use std::time::Duration;

use tokio::time::Instant;

use crate::faults::scale::Scale;
use crate::faults::site::{Site, end, go_on};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_but_redis_killed_at_once_goes_on_from_what_was_saved() {
    let scale = Scale::read();
    let mut site = Site::start(2, 3).await;
    let run = site.play(scale).await;
    let at = Instant::now();
    site.restart_all().await;
    println!("all processes again ready after {:.1?}", at.elapsed());
    go_on(&run, Duration::from_secs(25)).await;
    let ended = end(run).await;
    ended.pauses(at, Duration::from_secs(1)).judge(
        "everything killed, to first new state",
        Duration::from_mins(1),
    );
    let report = ended.report;
    assert!(report.reconnects >= report.players, "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_gateways_players_come_back_through_the_other() {
    let scale = Scale::read();
    let mut site = Site::start(2, 2).await;
    let run = site.play(scale).await;
    let at = Instant::now();
    // Dropped, it is killed.
    drop(site.gateways.remove(1));
    go_on(&run, Duration::from_secs(8)).await;
    assert_eq!(
        site.sum("taken_over").await,
        0,
        "no table moves because of it"
    );
    let ended = end(run).await;
    ended.pauses(at, Duration::from_secs(1)).judge(
        "gateway killed, to first new state",
        Duration::from_secs(20),
    );
    // Half of the seats were there, and those of the other half stayed where they were.
    let report = ended.report;
    assert_eq!(report.reconnects, report.players / 2, "{report}");
}
