//! Game nodes that are told to stop: an upgrade in the middle of the games.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;

use super::scale::Scale;
use super::site::{Pauses, Site, end, go_on};
use crate::support::process::Wizard;

const HANDED_OVER: Duration = Duration::from_millis(250);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_stopped_in_turn_hand_their_tables_over_unnoticed() {
    let scale = Scale::read();
    let mut site = Site::start(2, 3).await;
    let run = site.play(scale).await;
    let mut pauses = Pauses::none();
    let nodes = if scale.is_full { site.nodes.len() } else { 1 };
    for index in 0..nodes {
        let at = Instant::now();
        site.nodes[index].signal("TERM");
        let status = site.nodes[index].ended().await;
        println!("drained in {:.1?}", at.elapsed());
        assert!(status.success(), "{status}");
        go_on(&run, Duration::from_secs(2)).await;
        pauses.join(Pauses::after(&run, at, Duration::from_secs(2)));
        site.replace_node(index).await;
    }
    let report = end(run).await;
    pauses.judge("handed over", scale.at_most(HANDED_OVER));
    assert_eq!(report.reconnects, 0, "{report}");
    assert!(scale.nothing_was_refused(&report), "{report}");
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
    go_on(&run, Duration::from_secs(2)).await;
    let pauses = Pauses::after(&run, at, Duration::from_secs(2));
    let report = end(run).await;
    pauses.judge("two handed over at once", scale.at_most(HANDED_OVER));
    assert_eq!(report.reconnects, 0, "{report}");
    assert!(scale.nothing_was_refused(&report), "{report}");
}
