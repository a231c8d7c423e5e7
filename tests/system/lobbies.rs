//! What a table agrees on and shows beside the game.

use loadtest::Player;
use protocol::Event;
use protocol::event::TableEvent;
use protocol::lobby::{LobbyView, Reaction};
use protocol::player::{Named, PlayerMessage, React};
use protocol::server::{ServerMessage, State};
use serde_json::json;

use crate::support::CEILING;
use crate::support::fleet::Fleet;
use crate::support::table::{agree_on, arrive, gather, play_to_the_end, seats_of, start};

#[tokio::test]
async fn quick_play_brings_strangers_to_one_table() {
    let fleet = Fleet::over_redis(&[]).await;
    let mut first = arrive(&fleet.url()).await;
    quick_play(&mut first, "First").await;
    assert!(lobby_of(&first).public);
    let mut second = arrive(&fleet.url()).await;
    quick_play(&mut second, "Second").await;
    assert_eq!(second.code(), first.code());
    first
        .until(|state| seats_of(state) == 2, CEILING)
        .await
        .unwrap();

    // A table that is not public any more takes nobody.
    agree_on(&mut first, json!({"length": "short", "public": false})).await;
    let mut third = arrive(&fleet.url()).await;
    quick_play(&mut third, "Third").await;
    assert_ne!(third.code(), first.code());
}

#[tokio::test]
async fn names_are_unique_at_a_table() {
    let fleet = Fleet::in_one_process(&[]).await;
    let (mut players, code) = gather(&fleet.url(), 1, 0).await;
    for _ in 0..2 {
        let mut player = arrive(&fleet.url()).await;
        player.join(code, " Person 1 ").await.unwrap();
        players.push(player);
    }
    players[0]
        .until(|state| seats_of(state) == 3, CEILING)
        .await
        .unwrap();
    let names: Vec<&str> = lobby_of(&players[0])
        .players
        .iter()
        .map(|player| player.name.as_str())
        .collect();
    assert_eq!(names, ["Person 1", "Person 1 (2)", "Person 1 (3)"]);
}

#[tokio::test]
async fn a_reaction_is_shown_to_the_whole_table() {
    let fleet = Fleet::in_one_process(&[]).await;
    let (mut players, code) = gather(&fleet.url(), 2, 0).await;
    let mut watcher = arrive(&fleet.url()).await;
    watcher.watch(code).await.unwrap();
    let reaction = Reaction::Laugh;
    players[1]
        .send(PlayerMessage::React(React { reaction }))
        .await
        .unwrap();
    let seat = rules::Seat::new(1).unwrap();
    let expected = Event::Table(TableEvent::Reaction { seat, reaction });
    players.push(watcher);
    for player in &mut players {
        loop {
            if let ServerMessage::State(state) = player.next().await.unwrap()
                && state.events.contains(&expected)
            {
                break;
            }
        }
    }
}

/// At the end of a turn the AI makes this one move; the seat stays its player's.
#[tokio::test]
async fn a_turn_that_runs_out_is_played_for_its_player() {
    let fleet = Fleet::in_one_process(&[]).await;
    let (mut players, _) = gather(&fleet.url(), 2, 1).await;
    agree_on(
        &mut players[0],
        json!({"length": "short", "turn_seconds": 10}),
    )
    .await;
    start(&mut players).await;
    let people = |state: &State| {
        let table = &state.game.as_ref().unwrap().observation.observation.table;
        table.to_act.is_some_and(|seat| seat.index() < 2)
    };
    let state = players[0].until(people, CEILING).await.unwrap();
    let game = state.game.as_ref().unwrap();
    let turn = game.observation.observation.table.turn;
    let left = game.observation.deadline_ms.unwrap();
    assert!((1..=10_000).contains(&left), "{left}");

    let later = |state: &State| {
        state
            .game
            .as_ref()
            .unwrap()
            .observation
            .observation
            .table
            .turn
            > turn
    };
    let state = players[0].until(later, CEILING).await.unwrap();
    let people: Vec<bool> = state
        .lobby
        .as_ref()
        .unwrap()
        .players
        .iter()
        .map(|player| !player.is_ai)
        .collect();
    assert_eq!(people, [true, true, false]);
    play_to_the_end(&mut players).await;
}

async fn quick_play(player: &mut Player, name: &str) {
    let named = Named {
        name: name.parse().unwrap(),
    };
    player
        .ask(PlayerMessage::QuickPlay(named), |state| {
            state.lobby.is_some()
        })
        .await
        .unwrap();
}

fn lobby_of(player: &Player) -> &LobbyView {
    player.state().lobby.as_ref().unwrap()
}
