//! Redis does what game nodes ask of it, and its answers come late or never, in the middle of claims and creations.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::faults::scale::Scale;
use crate::faults::site::{Site, end, go_on};
use crate::support::proxy::Weather;
use crate::support::table::arrive;
use crate::support::{eventually, http};

/// Longer than a gateway waits for a claim, and a player for an answer.
const LATE: Duration = Duration::from_secs(3);
/// As long as answers fail, and then what a killed node takes.
const PAUSE: Duration = Duration::from_secs(8);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims_and_creations_whose_answers_are_lost_or_late_leave_one_owner_and_one_table() {
    let scale = Scale::read();
    let (mut site, way) = Site::with_a_way(2, 3).await;
    let run = site.play(scale).await;
    let url = site.urls().remove(0);
    let mut faults = Vec::new();
    for weather in [Weather::Deaf, Weather::Late(LATE)] {
        let mut player = arrive(&url).await;
        let at = Instant::now();
        site.nodes[0].signal("KILL");
        way.set(weather);
        site.nodes[0].ended().await;
        let created = player.create("Ada").await;
        assert!(created.is_err(), "nothing is shown that is not saved");
        go_on(&run, LATE.saturating_sub(at.elapsed())).await;
        way.set(Weather::Clear);
        go_on(&run, Duration::from_secs(5)).await;
        faults.push((weather, at));

        let code = eventually("a table of one's own", async || {
            sleep(Duration::from_millis(200)).await;
            player.create("Ada").await.ok()
        })
        .await;
        let path = format!("/lobbies/{code}");
        let lobby = http::get_json(site.gateways[0].operations(), &path).await;
        let lobby = lobby.unwrap();
        assert_eq!(lobby["seats"].as_array().unwrap().len(), 1, "{lobby}");
        player.leave().await.unwrap();
        site.replace_node(0).await;
        eventually(
            "each table is at one node, and no other is left",
            async || {
                sleep(Duration::from_millis(200)).await;
                (site.sum("lobbies").await == u64::from(scale.tables)).then_some(())
            },
        )
        .await;
    }
    let ended = end(run).await;
    for (weather, at) in faults {
        let what = format!("a node killed, and answers of Redis {weather:?}");
        ended.pauses(at, LATE).judge(&what, PAUSE);
    }
    assert_eq!(ended.report.reconnects, 0, "{}", ended.report);
}
