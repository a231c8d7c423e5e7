//! Losing a connection, coming back, and being in two places.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{select_all, try_join_all};
use loadtest::Player;
use loadtest::strategy::random_moves;
use protocol::lobby::PlayerView;
use protocol::server::State;
use protocol::{CloseCode, ErrorCode, PlayerId, Token};
use serde_json::json;

use crate::support::CEILING;
use crate::support::fleet::Fleet;
use crate::support::table::{agree_on, arrive, gather, play_to_the_end, start};

#[tokio::test]
async fn a_lost_connection_keeps_the_seat_and_the_token_brings_everything_back() {
    let fleet = Fleet::over_redis(&[]).await;
    let (mut players, _) = gather(&fleet.url(), 2, 1).await;
    agree_on(&mut players[0], json!({"length": "short"})).await;
    start(&mut players).await;
    let absent = players[1].id().unwrap().clone();
    players[1].disconnect().await;
    let stays = &mut players[0];
    stays
        .until(|state| !seat_of(state, &absent).connected, CEILING)
        .await
        .unwrap();
    play_until_it_is_the_turn_of(stays, 1).await;
    let turn = stays.turn();

    // Nothing may happen now: a second is much longer than an AI takes here.
    let waited = stays
        .until(|state| turn_of(state) != turn, Duration::from_secs(1))
        .await;
    assert!(waited.is_err(), "the game waits for who is away");
    let seat = seat_of(stays.state(), &absent);
    assert!(!seat.is_ai && !seat.replaceable);

    let welcome = players[1].reconnect(&fleet.url()).await.unwrap();
    assert_eq!(welcome.player_id, absent);
    assert_eq!(welcome.name.unwrap().as_str(), "Person 2");
    assert_eq!(players[1].turn(), turn);
    assert_eq!(
        players[1].observation().unwrap().own.hand.len(),
        hand_size(&players[1])
    );
    players[0]
        .until(|state| seat_of(state, &absent).connected, CEILING)
        .await
        .unwrap();
    play_to_the_end(&mut players).await;
}

#[tokio::test]
async fn of_tabs_that_open_at_once_one_stays() {
    let fleet = Fleet::over_redis(&[]).await;
    let url = fleet.url();
    for _ in 0..40 {
        let mut before = arrive(&url).await;
        let token = before.welcome().unwrap().token.clone();
        before.disconnect().await;
        let opened = (0..8).map(|_| Player::connect(&url));
        let mut tabs = try_join_all(opened).await.unwrap();
        let hello = json!({"type": "hello", "token": token}).to_string();
        let said = tabs.iter_mut().map(|tab| tab.send_text(&hello));
        try_join_all(said).await.unwrap();
        for _ in 0..7 {
            let ends = tabs.iter_mut().map(|tab| tab.closed(CEILING).boxed());
            let (end, ended, _) = select_all(ends).await;
            assert_eq!(end.unwrap(), Some(CloseCode::TakenOver.into()));
            tabs.swap_remove(ended);
        }
        tabs[0].echo(CEILING).await.unwrap();
    }
}

#[tokio::test]
async fn an_expired_session_leaves_its_seat_to_an_ai() {
    let fleet = Fleet::in_one_process(&[("SESSION_TTL", "2s")]).await;
    let (mut players, _) = gather(&fleet.url(), 2, 1).await;
    agree_on(&mut players[0], json!({"length": "short"})).await;
    start(&mut players).await;
    let mut absent = players.remove(1);
    let id = absent.id().unwrap().clone();
    absent.disconnect().await;
    // They are looked for every 30 s.
    let taken = |state: &State| {
        state
            .lobby
            .as_ref()
            .is_some_and(|lobby| lobby.players[1].is_ai)
    };
    let lobby = players[0]
        .until(taken, 3 * CEILING)
        .await
        .unwrap()
        .lobby
        .clone()
        .unwrap();
    assert_eq!(lobby.players[1].name.as_str(), "Person 2");
    play_to_the_end(&mut players).await;

    let welcome = absent.reconnect(&fleet.url()).await.unwrap();
    assert_ne!(welcome.player_id, id, "the token is a stranger's");
    assert!(absent.state().lobby.is_none());
}

#[tokio::test]
async fn a_second_tab_takes_over() {
    let fleet = Fleet::over_redis(&[]).await;
    let (mut players, _) = gather(&fleet.url(), 2, 1).await;
    agree_on(&mut players[0], json!({"length": "short"})).await;
    start(&mut players).await;
    let mut first = players.remove(1);
    let second = tab_of(&first, &fleet).await;
    assert_eq!(
        second.state().game.as_ref().unwrap().you,
        rules::Seat::new(1)
    );
    assert_ended_by_another(&mut first).await;
    players.push(second);
    play_to_the_end(&mut players).await;

    // Outside a lobby, too.
    let mut first = players.remove(1);
    first.leave().await.unwrap();
    let second = tab_of(&first, &fleet).await;
    assert_eq!(second.id(), first.id());
    assert_ended_by_another(&mut first).await;
}

#[tokio::test]
async fn an_unknown_token_gets_a_new_session() {
    let fleet = Fleet::in_one_process(&[]).await;
    let unknown = Token::new([1; 24]);
    let mut player = Player::connect(&fleet.url()).await.unwrap();
    let welcome = player.hello(Some(&unknown)).await.unwrap();
    assert_ne!(welcome.token, unknown);
    player.create("Stranger").await.unwrap();
}

async fn tab_of(first: &Player, fleet: &Fleet) -> Player {
    let token = first.welcome().unwrap().token.clone();
    let mut second = Player::connect(&fleet.url()).await.unwrap();
    let welcome = second.hello(Some(&token)).await.unwrap();
    assert_eq!(Some(&welcome.player_id), first.id());
    second
}

async fn assert_ended_by_another(player: &mut Player) {
    assert_eq!(
        player.refusal(CEILING).await.unwrap().code,
        ErrorCode::TakenOver
    );
    assert_eq!(
        player.closed(CEILING).await.unwrap(),
        Some(CloseCode::TakenOver.into())
    );
}

async fn play_until_it_is_the_turn_of(player: &mut Player, seat: u8) {
    let mut choose = random_moves(5);
    loop {
        let shown = player.observation().unwrap();
        let turn = Some(shown.table.turn);
        if shown.table.to_act == rules::Seat::new(seat) {
            return;
        }
        if !shown.own.legal_actions.is_empty() {
            let action = choose(shown);
            player.act(action).await.unwrap();
        }
        player
            .until(|state| turn_of(state) != turn, CEILING)
            .await
            .unwrap();
    }
}

fn seat_of<'a>(state: &'a State, id: &PlayerId) -> &'a PlayerView {
    let players = &state.lobby.as_ref().unwrap().players;
    players.iter().find(|player| player.id == *id).unwrap()
}

fn turn_of(state: &State) -> Option<u32> {
    state
        .game
        .as_ref()
        .map(|game| game.observation.observation.table.turn)
}

/// What is left of the round's cards.
fn hand_size(player: &Player) -> usize {
    let shown = player.observation().unwrap();
    let taken: u8 = shown.table.tricks.iter().sum();
    let you = player.state().game.as_ref().unwrap().you;
    let lies = shown
        .table
        .trick
        .plays
        .iter()
        .any(|play| Some(play.seat) == you);
    usize::from(shown.table.cards - taken - u8::from(lies))
}
