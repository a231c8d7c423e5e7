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

/// The node that has handed over has ended before it can be asked.
const SHOWN_BY_WHO_LEAVES: [&str; 1] = ["game_handover_duration_seconds"];

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
    let measured = shown_with(&fleet.all_operations(), &["game_load_level"]).await;
    let owner = http::get_json(fleet.operations(), &format!("/lobbies/{code}")).await;
    let is_first = owner.unwrap()["owner"] == "game-1";
    fleet.end(if is_first { 1 } else { 2 }).await;
    let places = fleet.all_operations();
    let moved = [
        "game_takeover_duration_seconds",
        "gateway_claim_duration_seconds",
        "gateway_search_duration_seconds",
    ];
    let mut shown = shown_with(&places, &moved).await;
    fleet.kill_redis();
    let without_redis = shown_with(&places, &["registry_error_total"]).await;
    for (name, lines) in measured.into_iter().chain(without_redis) {
        shown.entry(name).or_default().extend(lines);
    }
    // Its sockets are closed one by one, with a code.
    fleet.gateway().signal("TERM");
    let gateway = [fleet.operations()];
    let closing = shown_with(&gateway, &["gateway_connection_closed_total"]).await;
    let mut names: BTreeSet<&str> = shown.keys().map(String::as_str).collect();
    names.insert("gateway_connection_closed_total");

    let page = read("docs/operate/metrics.md").unwrap();
    names.extend(SHOWN_BY_WHO_LEAVES);
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
    for labels in shown.values().chain(closing.values()).flatten() {
        assert!(
            !ids.iter().any(|id| labels.contains(id)),
            "an id is a label: {labels}"
        );
    }
}

/// What all of them show, once all these are among it.
async fn shown_with(places: &[SocketAddr], awaited: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    eventually(&format!("{awaited:?} on /metrics"), async || {
        let shown = shown(places).await;
        let is_whole = awaited.iter().all(|name| shown.contains_key(*name));
        is_whole.then_some(shown)
    })
    .await
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
