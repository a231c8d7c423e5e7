//! Leaving on purpose.

use loadtest::strategy::random_moves;
use protocol::ErrorCode;
use protocol::event::{ReplacedBy, TableEvent};
use protocol::lobby::LobbyStatus;
use protocol::player::{JoinLobby, OtherPlayer, PlayerMessage, WatchLobby};
use protocol::server::{ServerMessage, State};
use serde_json::json;

use crate::support::CEILING;
use crate::support::fleet::Fleet;
use crate::support::table::{
    agree_on, arrive, gather, play_to_the_end, refused, seats_of, start, status_of,
};

#[tokio::test]
async fn whoever_leaves_a_game_becomes_an_ai_and_the_host_passes_on() {
    let fleet = Fleet::in_one_process(&[]).await;
    let (mut players, code) = gather(&fleet.url(), 3, 0).await;
    agree_on(&mut players[0], json!({"length": "short"})).await;
    start(&mut players).await;
    let mut leaver = players.remove(0);
    let left = leaver.id().unwrap().clone();
    let name = leaver.state().lobby.as_ref().unwrap().players[0]
        .name
        .clone();
    leaver.leave().await.unwrap();
    assert!(leaver.state().game.is_none());

    let heir = players[0].id().unwrap().clone();
    let mut events = Vec::new();
    while !players[1].state().lobby.as_ref().unwrap().players[0].is_ai {
        if let ServerMessage::State(state) = players[1].next().await.unwrap() {
            events.extend(state.events);
        }
    }
    let lobby = players[1].state().lobby.as_ref().unwrap();
    assert_eq!(lobby.host_id, heir);
    assert_eq!(lobby.players[0].name, name);
    assert!(lobby.players[0].id.is_ai() && lobby.players[0].id != left);
    let seat = rules::Seat::FIRST;
    let replaced = TableEvent::SeatReplaced {
        seat,
        by: ReplacedBy::Ai,
    };
    assert!(events.contains(&replaced.into()), "{events:?}");
    assert!(
        events.contains(&TableEvent::HostChanged { player_id: heir }.into()),
        "{events:?}"
    );

    let join = JoinLobby {
        code,
        name: "Late".parse().unwrap(),
    };
    refused(
        &mut leaver,
        PlayerMessage::JoinLobby(join),
        ErrorCode::LobbyPlaying,
    )
    .await;
    play_to_the_end(&mut players).await;
    let waiting = |state: &State| status_of(state) == Some(LobbyStatus::Waiting);
    players[0]
        .ask(PlayerMessage::ReturnToLobby, waiting)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_lobby_ends_with_its_last_person() {
    let fleet = Fleet::in_one_process(&[]).await;
    let (mut players, code) = gather(&fleet.url(), 2, 1).await;
    start(&mut players).await;
    for player in &mut players {
        player.leave().await.unwrap();
    }
    let watch = PlayerMessage::WatchLobby(WatchLobby { code });
    refused(&mut players[0], watch, ErrorCode::LobbyNotFound).await;
}

#[tokio::test]
async fn before_a_game_the_seat_goes_and_the_host_passes_on() {
    let fleet = Fleet::in_one_process(&[]).await;
    let (mut players, code) = gather(&fleet.url(), 3, 1).await;
    let mut host = players.remove(0);
    host.leave().await.unwrap();
    for player in &mut players {
        let heir_leads = |state: &State| seats_of(state) == 3;
        let lobby = player
            .until(heir_leads, CEILING)
            .await
            .unwrap()
            .lobby
            .clone()
            .unwrap();
        assert_eq!(lobby.host_id, lobby.players[0].id);
    }
    host.join(code, "Again").await.unwrap();
    let lobby = host.state().lobby.as_ref().unwrap();
    assert_eq!(
        (&lobby.players[3].id, lobby.players.len()),
        (host.id().unwrap(), 4)
    );
    assert_ne!(&lobby.host_id, host.id().unwrap());
}

#[tokio::test]
async fn a_removed_player_is_told_and_free_to_go_elsewhere() {
    let fleet = Fleet::in_one_process(&[]).await;
    let (mut players, _) = gather(&fleet.url(), 2, 0).await;
    let mut guest = players.remove(1);
    let player_id = guest.id().unwrap().clone();
    let remove = PlayerMessage::RemovePlayer(OtherPlayer { player_id });
    players[0]
        .ask(remove, |state| seats_of(state) == 1)
        .await
        .unwrap();
    assert_eq!(
        guest.refusal(CEILING).await.unwrap().code,
        ErrorCode::Removed
    );
    guest
        .until(|state| state.lobby.is_none(), CEILING)
        .await
        .unwrap();
    guest.create("Free").await.unwrap();
}

/// A refused join or create costs nobody their seat; an accepted one leaves the other lobby.
#[tokio::test]
async fn only_an_accepted_join_leaves_the_former_lobby() {
    let fleet = Fleet::in_one_process(&[]).await;
    let (mut playing, busy) = gather(&fleet.url(), 2, 1).await;
    start(&mut playing).await;
    let mut player = arrive(&fleet.url()).await;
    let own = player.create("Mover").await.unwrap();
    let join = JoinLobby {
        code: busy,
        name: "Mover".parse().unwrap(),
    };
    refused(
        &mut player,
        PlayerMessage::JoinLobby(join),
        ErrorCode::LobbyPlaying,
    )
    .await;
    assert_eq!(player.code(), Some(own));

    let (_hosts, open) = gather(&fleet.url(), 1, 0).await;
    player.join(open, "Mover").await.unwrap();
    let watch = PlayerMessage::WatchLobby(WatchLobby { code: own });
    refused(&mut player, watch, ErrorCode::LobbyNotFound).await;
    let [first, second] = &mut playing[..] else {
        unreachable!()
    };
    let both = tokio::try_join!(first.play(random_moves(1)), second.play(random_moves(2)));
    both.unwrap();
}
