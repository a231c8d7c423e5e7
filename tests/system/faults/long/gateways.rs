//! Ways that are cut between a gateway and a node.

use std::time::Duration;

use crate::support::free_address;
use crate::support::proxy::{Proxy, Weather};

use crate::faults::scale::Scale;
use crate::faults::site::{Site, end, go_on};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_that_alone_cannot_reach_a_node_sends_its_players_to_the_other() {
    let scale = Scale::read();
    let mut site = Site::start(2, 1).await;
    let links = free_address();
    let way = Proxy::start(links).await;
    let (listen, advertise) = (links.to_string(), way.address().to_string());
    let variables = [("LISTEN_ADDR", &*listen), ("ADVERTISE_ADDR", &*advertise)];
    let reached = site.spawn_node(&variables).ready().await;
    site.nodes.push(reached);
    let run = site.play(scale).await;
    way.set(Weather::CutFor(site.gateways[1].id()));
    go_on(&run, Duration::from_secs(25)).await;
    assert_eq!(
        site.sum("taken_over").await,
        0,
        "its owner lives, and is reached by others"
    );
    way.set(Weather::Clear);
    go_on(&run, Duration::from_secs(2)).await;
    let report = end(run).await.report;
    println!("{} came back through the other gateway", report.reconnects);
    assert!(report.reconnects > 0, "{report}");
    // Each who was there at most once, and stays at the other one.
    assert!(report.reconnects <= report.players / 2, "{report}");
}
