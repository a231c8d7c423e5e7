//! Processes that end without a word.

use std::time::Duration;

use tokio::time::Instant;

use super::scale::Scale;
use super::site::{Pauses, Site, end, go_on};

/// Twice what is promised on a machine that has nothing else to do, and some more for one that has.
const NODE_KILLED: Duration = Duration::from_secs(6);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_game_node_costs_no_move_and_no_socket() {
    let scale = Scale::read();
    let mut site = Site::start(2, 3).await;
    let run = site.play(scale).await;
    let mut pauses = Pauses::none();
    for kill in 0..scale.kills {
        let index = kill % site.nodes.len();
        let at = Instant::now();
        site.nodes[index].signal("KILL");
        site.nodes[index].ended().await;
        go_on(&run, Duration::from_secs(4)).await;
        pauses.join(Pauses::after(&run, at, Duration::from_secs(1)));
        site.replace_node(index).await;
    }
    let report = end(run).await;
    println!("{} nodes killed", scale.kills);
    pauses.judge("killed to first new state", NODE_KILLED);
    assert_eq!(report.reconnects, 0, "{report}");
    assert!(site.sum("taken_over").await > 0, "tables were taken over");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_but_redis_killed_at_once_goes_on_from_what_was_saved() {
    let scale = Scale::read();
    let mut site = Site::start(2, 3).await;
    let run = site.play(scale).await;
    let at = Instant::now();
    site.restart_all().await;
    println!("all processes again ready after {:.1?}", at.elapsed());
    go_on(&run, Duration::from_secs(25)).await;
    Pauses::after(&run, at, Duration::from_secs(1)).judge(
        "everything killed, to first new state",
        Duration::from_mins(1),
    );
    let report = end(run).await;
    assert!(report.reconnects >= u64::from(scale.tables), "{report}");
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
    Pauses::after(&run, at, Duration::from_secs(1)).judge(
        "gateway killed, to first new state",
        Duration::from_secs(20),
    );
    assert_eq!(
        site.sum("taken_over").await,
        0,
        "no table moves because of it"
    );
    let report = end(run).await;
    // Half of the seats were there, and those of the other half stayed where they were.
    let seats = u64::from(scale.tables) * 3;
    assert!(
        (seats / 3..=seats * 2 / 3).contains(&report.reconnects),
        "{report}"
    );
}
