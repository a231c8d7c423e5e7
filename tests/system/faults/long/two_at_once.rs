//! Two faults of different kinds at the same time, each of which alone is one of the others' tests.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::faults::scale::Scale;
use crate::faults::site::{Site, end, go_on};

/// From the order to drain to the kill, and the other way round: what is released is on its way to the killed one, is there
/// just now, or was there when it was killed. All tables of a node are handed over within some 20 ms.
const BETWEEN: [Duration; 3] = [
    Duration::ZERO,
    Duration::from_millis(5),
    Duration::from_millis(15),
];
/// As when one is killed.
const NODES_GONE: Duration = Duration::from_secs(2);
/// The players' way back through another gateway is the longer one.
const GATEWAY_GONE: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_killed_while_another_drains_costs_no_move_and_no_socket() {
    let scale = Scale::read();
    let mut site = Site::start(2, 4).await;
    let run = site.play(scale).await;
    let mut faults = Vec::new();
    let orders = [("TERM", "KILL"), ("KILL", "TERM")];
    let times = orders
        .iter()
        .flat_map(|order| BETWEEN.map(|between| (order, between)));
    // The two that have all tables by then, in turns: whoever replaces one begins with none.
    for (((first, second), between), place) in times.zip([0, 2].into_iter().cycle()) {
        faults.push(Instant::now());
        site.nodes[place].signal(first);
        sleep(between).await;
        site.nodes[place + 1].signal(second);
        for node in &mut site.nodes[place..place + 2] {
            node.ended().await;
        }
        go_on(&run, Duration::from_secs(4)).await;
        site.replace_node(place).await;
        site.replace_node(place + 1).await;
    }
    let ended = end(run).await;
    println!(
        "{} times a node killed beside one that drains",
        faults.len()
    );
    let pauses = ended.pauses_of_each(&faults, Duration::from_secs(1));
    pauses.judge("both gone, to first new state", scale.at_most(NODES_GONE));
    assert!(pauses.count() >= faults.len(), "tables were in the way");
    assert_eq!(ended.report.reconnects, 0, "{}", ended.report);
    assert!(site.sum("taken_over").await > 0, "tables were taken over");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn players_of_a_gateway_killed_with_their_tables_owner_find_their_seats() {
    let scale = Scale::read();
    let mut site = Site::start(2, 3).await;
    let run = site.play(scale).await;
    let mut faults = Vec::new();
    for index in [1, 0] {
        faults.push(Instant::now());
        site.gateways[index].signal("KILL");
        site.nodes[index].signal("KILL");
        site.gateways[index].ended().await;
        site.nodes[index].ended().await;
        go_on(&run, Duration::from_secs(10)).await;
        site.replace_node(index).await;
        site.replace_gateway(index).await;
    }
    let ended = end(run).await;
    ended.pauses_of_each(&faults, Duration::from_secs(1)).judge(
        "a gateway and a node killed, to first new state",
        scale.at_most(GATEWAY_GONE),
    );
    assert!(site.sum("taken_over").await > 0, "tables were taken over");
    // Half of them sat at the one that was killed first, and then all at the other.
    let report = ended.report;
    assert_eq!(
        report.reconnects,
        report.players / 2 + report.players,
        "{report}"
    );
}
