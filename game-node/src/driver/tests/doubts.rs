//! A loop that has not run for a while shows nothing before it knows what is still its own.

use super::records::claimed_by_another;
use super::*;
use crate::driver::now;

#[tokio::test(start_paused = true)]
async fn a_woken_owner_drops_what_another_has_claimed_before_it_shows_anything() {
    let world = World::start();
    let mut gateway = world.settled_table().await;
    let seen = gateway.seen(0).len();
    claimed_by_another(&world.registry).await;
    let refused = gateway.asks(0, Request::ReturnToLobby);
    let asked = gateway.asks(0, ADD_AI);
    tokio::time::advance(Duration::from_secs(3)).await;
    assert_eq!(gateway.answered(refused).await, Outcome::NotOwner);
    assert_eq!(gateway.answered(asked).await, Outcome::NotOwner);
    gateway.is_sent_on(0).await;
    assert_eq!(gateway.seen(0).len(), seen);
}

#[tokio::test(start_paused = true)]
async fn in_doubt_not_even_a_refusal_leaves_before_the_registry_has_said_ok() {
    let world = World::start();
    let mut gateway = world.settled_table().await;
    world.shut();
    tokio::time::advance(Duration::from_secs(3)).await;
    let refused = gateway.asks(0, Request::ReturnToLobby);
    gateway.hears_nothing_for(Duration::from_secs(3)).await;
    world.open();
    let answer = gateway.answered(refused).await;
    assert_eq!(code_of(&answer), Some(ErrorCode::NotFinished));
    gateway.done(0, ADD_AI).await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_before_the_gap_is_not_acted_on() {
    let world = World::start();
    let mut gateway = world.settled_table().await;
    let seen = gateway.seen(0).len();
    world.shut();
    let added = gateway.asks(0, ADD_AI);
    gateway.hears_nothing_for(Duration::from_millis(100)).await;
    tokio::time::advance(Duration::from_secs(3)).await;
    claimed_by_another(&world.registry).await;
    world.open();
    assert_eq!(gateway.answered(added).await, Outcome::NotOwner);
    assert_eq!(gateway.seen(0).len(), seen);
}

#[tokio::test(start_paused = true)]
async fn where_the_record_is_lost_the_sessions_are_written_anew_too() {
    let mut manual = Manual::new();
    let mut gateway = manual.gateway(1);
    manual.hears(&mut gateway, 0, create(BORN)).await;
    let session = async |manual: &Manual| {
        let read = manual.registry.sessions_read(&[token(0)]).await.unwrap();
        read.into_iter().next().unwrap()
    };
    let generation = session(&manual).await.unwrap().generation;
    let dropped = manual.registry.session_drop(&token(0), generation).await;
    dropped.unwrap();
    assert!(session(&manual).await.is_none());
    let code: protocol::LobbyCode = CODE.parse().unwrap();
    let epoch = manual.driver.tables[&code].lobby.epoch();
    let behind = vec![(code, epoch, Some(registry::Touched::Behind))];
    manual.driver.touched(now(), behind);
    manual.pump(&mut gateway).await;
    let lobby = session(&manual).await.unwrap().lobby;
    assert_eq!(lobby.as_deref(), Some(CODE));
}

/// Whoever was away for so long is a stranger, also where the sessions of the others are written.
#[tokio::test(start_paused = true)]
async fn a_session_that_has_expired_is_not_written_anew() {
    let mut manual = Manual::new();
    let mut gateway = manual.gateway(1);
    manual.hears(&mut gateway, 0, create(BORN)).await;
    manual.hears(&mut gateway, 1, join("Ada")).await;
    gateway.detaches(1, 1);
    manual.takes_in();
    manual.pump(&mut gateway).await;
    let tokens = [token(0), token(1)];
    for token in &tokens {
        let dropped = manual
            .registry
            .session_drop(token, registry::Generation(u64::MAX))
            .await;
        assert!(dropped.unwrap());
    }
    tokio::time::sleep(TTL).await;
    manual.connects_anew();
    manual.pump(&mut gateway).await;
    let sessions = manual.registry.sessions_read(&tokens).await.unwrap();
    assert_eq!(sessions[0].as_ref().unwrap().lobby.as_deref(), Some(CODE));
    assert_eq!(sessions[1], None);
}

#[tokio::test(start_paused = true)]
async fn over_a_new_connection_everything_is_committed_anew() {
    let world = World::start();
    let mut gateway = world.settled_table().await;
    claimed_by_another(&world.registry).await;
    let since = tokio::time::Instant::now();
    world.connects_anew();
    gateway.is_sent_on(0).await;
    let took = since.elapsed();
    assert!(
        took < Duration::from_millis(1100),
        "before any touch: {took:?}"
    );
}
