//! Whole games, of every size and with every option.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use loadtest::Player;
use protocol::lobby::LobbyStatus;
use protocol::player::PlayerMessage;
use serde_json::{Value, json};

use crate::support::fleet::Fleet;
use crate::support::table::{agree_on, arrive, gather, play_to_the_end, start, status_of};
use crate::support::{CEILING, eventually, http};

#[tokio::test]
async fn two_people_and_an_ai_play_twenty_rounds_in_one_process() {
    let fleet = Fleet::in_one_process(&[]).await;
    twenty_rounds_and_one_more_game(&fleet.url()).await;
}

#[tokio::test]
async fn two_people_and_an_ai_play_twenty_rounds_over_redis() {
    let fleet = Fleet::over_redis(&[]).await;
    twenty_rounds_and_one_more_game(&fleet.url()).await;
}

async fn twenty_rounds_and_one_more_game(url: &str) {
    let (mut players, _) = gather(url, 2, 1).await;
    start(&mut players).await;
    play_to_the_end(&mut players).await;
    for player in &players {
        assert_eq!(player.observation().unwrap().sheet.len(), 20);
        assert!(
            player.checker().acknowledged() >= 20 + 210,
            "a bid a round, and every card"
        );
    }
    let waiting = |state: &_| status_of(state) == Some(LobbyStatus::Waiting);
    players[0]
        .ask(PlayerMessage::ReturnToLobby, waiting)
        .await
        .unwrap();
    players[1].until(waiting, CEILING).await.unwrap();
    agree_on(&mut players[0], json!({"length": "short"})).await;
    start(&mut players).await;
    play_to_the_end(&mut players).await;
    assert_eq!(players[0].observation().unwrap().sheet.len(), 5);
}

#[tokio::test]
async fn every_number_of_seats_and_every_option() {
    let fleet = Fleet::in_one_process(&[]).await;
    let url = fleet.url();
    let options = [
        json!({"length": "short"}),
        json!({"length": "short", "hidden_bids": true}),
        json!({"length": "short", "bid_rule": "hook"}),
        json!({"length": "short", "bid_rule": "canadian", "turn_seconds": 60}),
        json!({"length": "tournament", "hidden_bids": true, "turn_seconds": 300}),
    ];
    let games = (3..=6).flat_map(|seats| options.iter().map(move |options| (seats, options)));
    join_all(games.map(|(seats, options)| one_game(&url, seats, options))).await;
}

/// One person of them gets partial states, another watches.
async fn one_game(url: &str, seats: usize, options: &Value) {
    let (mut players, code) = gather(url, 2, seats - 3).await;
    let mut sparing = Player::connect(url)
        .await
        .unwrap()
        .asking_for_partial_states();
    sparing.hello(None).await.unwrap();
    sparing.join(code, "Sparing").await.unwrap();
    players.push(sparing);
    let mut watcher = arrive(url).await;
    watcher.watch(code).await.unwrap();
    agree_on(&mut players[0], options.clone()).await;
    start(&mut players).await;
    let finished = |state: &_| status_of(state) == Some(LobbyStatus::Finished);
    let ((), shown) = tokio::join!(
        play_to_the_end(&mut players),
        watcher.until(finished, 4 * CEILING)
    );
    assert!(shown.unwrap().game.as_ref().unwrap().you.is_none());
    let record = watcher.checker().record().unwrap();
    assert_eq!(
        record.replay(&[]),
        Ok(true),
        "who watches has seen every move"
    );
}

#[tokio::test]
async fn lobbies_come_to_both_game_nodes() {
    let fleet = Fleet::over_redis(&[]).await;
    let mut owners = BTreeSet::new();
    let mut hosts = Vec::new();
    for _ in 0..24 {
        let mut host = arrive(&fleet.url()).await;
        let code = host.create("Host").await.unwrap();
        let path = format!("/lobbies/{code}");
        let lobby = eventually("the lobby's owner", async || {
            http::get_json(fleet.operations(), &path).await
        })
        .await;
        owners.insert(lobby["owner"].as_str().unwrap().to_owned());
        hosts.push(host);
    }
    assert_eq!(
        owners,
        BTreeSet::from(["game-1".to_owned(), "game-2".to_owned()])
    );
}
