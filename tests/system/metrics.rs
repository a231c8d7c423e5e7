//! What `/metrics` shows is what the docs, the alerts and the dashboard name, and no id is among it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::Path;

use loadtest::Player;
use protocol::ErrorCode;
use protocol::player::PlayerMessage;
use serde_json::json;

use crate::support::fleet::Fleet;
use crate::support::table::{agree_on, arrive, gather, play_to_the_end, refused, start};
use crate::support::{CEILING, eventually, http};

/// Nothing here ends a node.
const ONLY_WHEN_A_NODE_IS_LOST: [&str; 1] = ["game_takeover_duration_seconds"];

#[tokio::test]
async fn every_metric_is_explained_and_every_name_that_is_used_exists() {
    let mut fleet = Fleet::over_redis(&[("MAX_CONNECTIONS", "2")]).await;
    let url = fleet.url();
    let (mut players, code) = gather(&url, 1, 2).await;
    refused(
        &mut players[0],
        PlayerMessage::ReturnToLobby,
        ErrorCode::NotFinished,
    )
    .await;
    let (_second, third) = (arrive(&url).await, Player::connect(&url).await);
    let mut third = third.unwrap();
    let turned_away = third.closed(CEILING).await;
    assert!(turned_away.is_err() || turned_away.unwrap() == Some(1013));
    agree_on(&mut players[0], json!({"length": "short"})).await;
    start(&mut players).await;
    play_to_the_end(&mut players).await;
    fleet.kill_redis();
    let places = fleet.all_operations();
    let shown = eventually(
        "the load is measured, and an error of Redis counted",
        async || {
            let shown = shown(&places).await;
            let last = ["registry_error_total", "game_load_level"];
            let all = last.iter().all(|name| shown.contains_key(*name));
            all.then_some(shown)
        },
    )
    .await;
    // Its sockets are closed one by one, with a code.
    fleet.gateway().signal("TERM");
    let gateway = [fleet.operations()];
    let closing = eventually("a socket is closed", async || {
        let closing = self::shown(&gateway).await;
        closing.get("gateway_connection_closed_total").cloned()
    })
    .await;
    let mut names: BTreeSet<&str> = shown.keys().map(String::as_str).collect();
    names.insert("gateway_connection_closed_total");

    let page = read("docs/operate/metrics.md").unwrap();
    names.extend(ONLY_WHEN_A_NODE_IS_LOST);
    let explained: BTreeSet<&str> = explained(&page).collect();
    assert_eq!(names, explained, "left: /metrics, right: the page");
    for file in [
        "charts/wizard/files/alerts.yaml",
        "charts/wizard/files/dashboard.json",
    ] {
        let Some(text) = read(file) else { continue };
        let used = used_in(&text);
        assert!(!used.is_empty(), "{file} is read wrongly");
        let unknown: Vec<_> = used
            .iter()
            .filter(|name| !names.contains(name.as_str()))
            .collect();
        assert!(unknown.is_empty(), "{file} names {unknown:?}");
    }
    let player = players[0].id().unwrap().to_string();
    let ids = [
        code.to_string(),
        player,
        "game-1".to_owned(),
        "gateway-".to_owned(),
    ];
    for labels in shown.values().chain([&closing]).flatten() {
        assert!(
            !ids.iter().any(|id| labels.contains(id)),
            "an id is a label: {labels}"
        );
    }
}

/// What all of them show: each metric by its name, with the labels of its lines.
async fn shown(places: &[SocketAddr]) -> BTreeMap<String, BTreeSet<String>> {
    let mut shown: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for place in places {
        let Some((_, text)) = http::get(*place, "/metrics").await else {
            continue;
        };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split(['{', ' ']).next().unwrap_or_default();
            let labels = shown.entry(without_part(name).to_owned()).or_default();
            labels.insert(line.to_owned());
        }
    }
    shown.remove("");
    shown
}

/// Of a histogram, its name.
fn without_part(name: &str) -> &str {
    let parts = ["_bucket", "_sum", "_count"];
    // `game_lobby_count` is no part of a histogram: those have units.
    let part = parts.iter().find_map(|part| name.strip_suffix(part));
    part.filter(|stem| {
        ["_seconds", "_bytes", "_size"]
            .iter()
            .any(|unit| stem.ends_with(unit))
    })
    .unwrap_or(name)
}

/// The second name in each row of the page's tables.
fn explained(page: &str) -> impl Iterator<Item = &str> {
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    rows.filter_map(|row| row.split("<br>`").nth(1)?.split('`').next())
}

/// Words that look like our metrics, in what is asked of Prometheus; labels stand in braces or behind `by`.
fn used_in(text: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for (at, _) in text.match_indices(['{', '[', ')']) {
        let word =
            text[..at].rsplit(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let name = without_part(word.take(1).next().unwrap_or_default());
        let is_ours = ["gateway_", "game_", "ai_", "registry_"]
            .iter()
            .any(|one| name.starts_with(one));
        if is_ours && text[at..].starts_with('{') {
            used.insert(name.to_owned());
        }
    }
    used
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).ok()
}
