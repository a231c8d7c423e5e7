//! Game nodes that are told to stop: an upgrade in the middle of the games.

use std::time::Duration;

use futures_util::future::join_all;
use loadtest::Report;
use tokio::time::Instant;

use super::scale::Scale;
use super::site::{Site, end, go_on};
use crate::support::process::Wizard;

const HANDED_OVER: Duration = Duration::from_millis(250);
/// All of a node's tables have moved by then.
const WITHIN: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_stopped_in_turn_hand_their_tables_over_unnoticed() {
    let scale = Scale::read();
    let mut site = Site::start(2, 3).await;
    let run = site.play(scale).await;
    let mut orders = Vec::new();
    let nodes = if scale.is_full { site.nodes.len() } else { 1 };
    for index in 0..nodes {
        let at = Instant::now();
        orders.push(at);
        site.nodes[index].signal("TERM");
        let status = site.nodes[index].ended().await;
        println!("drained in {:.1?}", at.elapsed());
        assert!(status.success(), "{status}");
        go_on(&run, WITHIN).await;
        site.replace_node(index).await;
    }
    assert!(site.sum("taken_over").await > 0, "tables were handed over");
    let ended = end(run).await;
    ended
        .pauses_of_each(&orders, WITHIN)
        .judge("handed over", scale.at_most(HANDED_OVER));
    nobody_noticed(scale, &ended.report);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_of_four_nodes_drained_at_once_hand_their_tables_to_the_others() {
    let scale = Scale::read();
    let mut site = Site::start(2, 4).await;
    let run = site.play(scale).await;
    let at = Instant::now();
    for node in &site.nodes[..2] {
        node.signal("TERM");
    }
    let ended = join_all(site.nodes[..2].iter_mut().map(Wizard::ended)).await;
    assert!(
        ended.iter().all(std::process::ExitStatus::success),
        "{ended:?}"
    );
    go_on(&run, WITHIN).await;
    assert!(site.sum("taken_over").await > 0, "tables were handed over");
    let ended = end(run).await;
    ended
        .pauses(at, WITHIN)
        .judge("two handed over at once", scale.at_most(HANDED_OVER));
    nobody_noticed(scale, &ended.report);
}

fn nobody_noticed(scale: Scale, report: &Report) {
    assert_eq!(report.reconnects, 0, "{report}");
    assert!(scale.nothing_was_refused(report), "{report}");
}
