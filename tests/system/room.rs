//! Bounds: of servers, of tables, of what one connection may say.

use loadtest::PlayerError;
use protocol::player::{Named, PlayerMessage, WatchLobby};
use protocol::server::{ServerStatus, State, StatusReason};
use protocol::{CloseCode, ErrorCode};

use crate::support::CEILING;
use crate::support::fleet::Fleet;
use crate::support::table::{arrive, gather, refused};

/// Both nodes hold one lobby each; then there is room for no other, until somebody leaves.
#[tokio::test]
async fn full_servers_are_busy_and_say_so() {
    let fleet = Fleet::in_one_process(&[("MAX_LOBBIES", "1")]).await;
    let mut hosts = Vec::new();
    for _ in 0..2 {
        let mut host = arrive(&fleet.url()).await;
        host.create("Host").await.unwrap();
        hosts.push(host);
    }
    let mut late = arrive(&fleet.url()).await;
    let named = || Named {
        name: "Ada".parse().unwrap(),
    };
    refused(
        &mut late,
        PlayerMessage::CreateLobby(named()),
        ErrorCode::Busy,
    )
    .await;
    refused(
        &mut late,
        PlayerMessage::QuickPlay(named()),
        ErrorCode::Busy,
    )
    .await;
    while late.server_status().unwrap().accepting_games {
        late.next().await.unwrap();
    }
    assert_eq!(
        late.server_status().unwrap().reason,
        Some(StatusReason::Full)
    );

    hosts[0].leave().await.unwrap();
    while !late.server_status().unwrap().accepting_games {
        late.next().await.unwrap();
    }
    late.create("Ada").await.unwrap();
}

#[tokio::test]
async fn without_redis_there_are_no_new_tables() {
    let mut fleet = Fleet::over_redis(&[]).await;
    let mut player = arrive(&fleet.url()).await;
    fleet.kill_redis();
    let named = Named {
        name: "Ada".parse().unwrap(),
    };
    refused(
        &mut player,
        PlayerMessage::CreateLobby(named),
        ErrorCode::Unavailable,
    )
    .await;
    let away = |status: ServerStatus| status.reason == Some(StatusReason::RedisAway);
    while !player.server_status().is_some_and(away) {
        player.next().await.unwrap();
    }
    assert!(!player.server_status().unwrap().accepting_games);
}

/// Nobody can count for all gateways then: each counts its own.
#[tokio::test]
async fn without_redis_a_gateway_counts_by_itself_who_would_make_too_many_tables() {
    let mut fleet = Fleet::over_redis(&[("LOBBY_CREATE_RATE", "2")]).await;
    let mut player = arrive(&fleet.url()).await;
    fleet.kill_redis();
    let mut codes = Vec::new();
    // Over the turn of a minute the count begins anew.
    while codes.len() < 6 && codes.last() != Some(&ErrorCode::RateLimited) {
        let name = "Ada".parse().unwrap();
        let create = PlayerMessage::CreateLobby(Named { name });
        player.send(create).await.unwrap();
        codes.push(player.refusal(CEILING).await.unwrap().code);
    }
    let (last, before) = codes.split_last().unwrap();
    assert_eq!(*last, ErrorCode::RateLimited, "{codes:?}");
    assert!(before.len() >= 2, "{codes:?}");
    assert!(
        before.iter().all(|code| *code == ErrorCode::Unavailable),
        "{codes:?}"
    );
}

#[tokio::test]
async fn a_game_too_many_does_not_start() {
    let fleet = Fleet::in_one_process(&[("MAX_ACTIVE_GAMES", "1")]).await;
    let mut tables = Vec::new();
    for _ in 0..4 {
        tables.push(gather(&fleet.url(), 1, 2).await.0);
    }
    let mut started = 0;
    for players in &mut tables {
        let starting = players[0].ask(PlayerMessage::StartGame, |state| state.game.is_some());
        match starting.await {
            Ok(()) => started += 1,
            Err(PlayerError::Refused(refused)) => assert_eq!(refused.code, ErrorCode::Busy),
            Err(error) => panic!("{error}"),
        }
    }
    assert!((1..=2).contains(&started), "one game a node, not {started}");
}

#[tokio::test]
async fn too_many_messages_are_refused_and_a_flood_ends_the_connection() {
    let limits = [
        ("MESSAGE_RATE", "5"),
        ("MESSAGE_BURST", "10"),
        ("MAX_RATE_VIOLATIONS", "30"),
    ];
    let fleet = Fleet::in_one_process(&limits).await;
    let mut player = arrive(&fleet.url()).await;
    for _ in 0..20 {
        player.send(PlayerMessage::LeaveLobby).await.unwrap();
    }
    let limited = loop {
        let refused = player.refusal(CEILING).await.unwrap();
        if refused.code != ErrorCode::NotInLobby {
            break refused;
        }
    };
    assert_eq!(limited.code, ErrorCode::RateLimited);
    for _ in 0..60 {
        // The server may have closed it already.
        let _ = player.send(PlayerMessage::LeaveLobby).await;
    }
    assert_eq!(
        player.closed(CEILING).await.unwrap(),
        Some(CloseCode::Policy.into())
    );
}

#[tokio::test]
async fn a_frame_that_is_too_long_ends_the_connection() {
    let fleet = Fleet::in_one_process(&[]).await;
    let mut player = arrive(&fleet.url()).await;
    let long = format!(r#"{{"type":"ping","x":"{}"}}"#, "x".repeat(70_000));
    player.send_text(&long).await.unwrap();
    assert_eq!(
        player.closed(CEILING).await.unwrap(),
        Some(CloseCode::TooBig.into())
    );
}

#[tokio::test]
async fn only_fifty_may_watch() {
    let fleet = Fleet::in_one_process(&[]).await;
    let (mut hosts, code) = gather(&fleet.url(), 1, 0).await;
    let mut watchers = Vec::new();
    for _ in 0..50 {
        let mut watcher = arrive(&fleet.url()).await;
        watcher.watch(code).await.unwrap();
        watchers.push(watcher);
    }
    let mut late = arrive(&fleet.url()).await;
    let watch = PlayerMessage::WatchLobby(WatchLobby { code });
    refused(&mut late, watch.clone(), ErrorCode::LobbyFull).await;
    let all = |state: &State| {
        state
            .lobby
            .as_ref()
            .is_some_and(|lobby| lobby.spectators == 50)
    };
    hosts[0].until(all, CEILING).await.unwrap();
    watchers[0].leave().await.unwrap();
    late.watch(code).await.unwrap();
}
