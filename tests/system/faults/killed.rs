//! Processes that end without a word.

use std::time::Duration;

use tokio::time::Instant;

use super::scale::Scale;
use super::site::{Site, end, go_on};

const NODE_KILLED: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_game_node_costs_no_move_and_no_socket() {
    let scale = Scale::read();
    let mut site = Site::start(2, 3).await;
    let run = site.play(scale).await;
    let mut kills = Vec::new();
    for kill in 0..scale.kills {
        let index = kill % site.nodes.len();
        kills.push(Instant::now());
        site.nodes[index].signal("KILL");
        site.nodes[index].ended().await;
        go_on(&run, Duration::from_secs(4)).await;
        site.replace_node(index).await;
    }
    let ended = end(run).await;
    println!("{} nodes killed", scale.kills);
    let pauses = ended.pauses_of_each(&kills, Duration::from_secs(1));
    pauses.judge("killed to first new state", scale.at_most(NODE_KILLED));
    assert!(pauses.count() >= scale.kills, "tables were in the way");
    assert_eq!(ended.report.reconnects, 0, "{}", ended.report);
    assert!(site.sum("taken_over").await > 0, "tables were taken over");
}
