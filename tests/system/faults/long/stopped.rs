//! Processes that stand still and go on: whoever wakes up must not act on what it knew.

use std::time::Duration;

use tokio::time::Instant;

use crate::faults::scale::Scale;
use crate::faults::site::{Site, end, go_on};

const TAKEN_OVER: Duration = Duration::from_secs(15);
/// The time for which it stands still, and to say what has happened meanwhile.
const WAITED_FOR: Duration = Duration::from_secs(4);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_stopped_for_three_seconds_is_waited_for() {
    let scale = Scale::read();
    let site = Site::start(2, 3).await;
    let run = site.play(scale).await;
    let at = Instant::now();
    site.nodes[0].signal("STOP");
    go_on(&run, Duration::from_secs(3)).await;
    site.nodes[0].signal("CONT");
    go_on(&run, Duration::from_secs(3)).await;
    assert_eq!(site.sum("taken_over").await, 0, "it keeps its tables");
    let ended = end(run).await;
    ended
        .pauses(at, Duration::from_secs(3))
        .judge("stopped for 3 s", scale.at_most(WAITED_FOR));
    assert_eq!(ended.report.reconnects, 0, "{}", ended.report);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_stopped_for_twenty_seconds_finds_its_tables_taken() {
    let scale = Scale::read();
    let site = Site::start(2, 3).await;
    let run = site.play(scale).await;
    let at = Instant::now();
    site.nodes[0].signal("STOP");
    go_on(&run, Duration::from_secs(20)).await;
    let taken_over = site.sum("taken_over").await;
    println!("{taken_over} tables were taken over");
    assert!(taken_over > 0, "they were taken over before it woke up");
    site.nodes[0].signal("CONT");
    go_on(&run, Duration::from_secs(5)).await;
    assert!(
        site.nodes[0]
            .lines()
            .iter()
            .any(|line| line.contains("relieved"))
    );
    let ended = end(run).await;
    ended
        .pauses(at, Duration::from_secs(20))
        .judge("stopped for 20 s, taken over", scale.at_most(TAKEN_OVER));
    assert_eq!(ended.report.reconnects, 0, "{}", ended.report);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_stopped_for_eight_seconds_moves_no_table() {
    let scale = Scale::read();
    let site = Site::start(2, 2).await;
    let run = site.play(scale).await;
    site.gateways[1].signal("STOP");
    go_on(&run, Duration::from_secs(8)).await;
    site.gateways[1].signal("CONT");
    go_on(&run, Duration::from_secs(8)).await;
    assert_eq!(
        site.sum("taken_over").await,
        0,
        "no table moves because of it"
    );
    end(run).await;
}
