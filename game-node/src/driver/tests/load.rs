//! A node that is loaded: who is told what, what is refused, and what never is.

use protocol::server::LoadLevel;
use registry::Generation;

use super::*;

/// A host with two AI seats.
async fn set_up(gateway: &mut Gateway, code: &str, number: u8) {
    gateway.code = code.parse().unwrap();
    gateway.creates(number).await;
    for request in [ADD_AI, ADD_AI, short()] {
        gateway.done(number, request).await;
    }
}

async fn start_waiting_and_playing() -> (World, Gateway) {
    let world = World::start();
    let mut gateway = world.gateway(1);
    set_up(&mut gateway, "SECND2", 0).await;
    set_up(&mut gateway, CODE, 1).await;
    gateway.done(1, Request::Start).await;
    (world, gateway)
}

/// Refused as busy, with a time to come back.
fn is_busy(outcome: &Outcome) -> bool {
    let Outcome::Refused {
        code: ErrorCode::Busy,
        retry_after_ms,
        ..
    } = outcome
    else {
        return false;
    };
    retry_after_ms.is_some()
}

/// Waits until the person is to move; nothing if the game ends first.
async fn own_move(gateway: &mut Gateway, number: u8) -> Option<Request> {
    let is_over = |gateway: &Gateway| gateway.lobby(number)["status"] != "playing";
    let is_own = |gateway: &Gateway| gateway.game(number)["observation"]["to_act"] == 0;
    gateway
        .until(|gateway| is_over(gateway) || is_own(gateway))
        .await;
    if is_over(gateway) {
        return None;
    }
    let action = gateway.game(number)["observation"]["legal_actions"][0].clone();
    let action = serde_json::from_value(action).unwrap();
    Some(Request::Act { action, turn: None })
}

#[tokio::test(start_paused = true)]
async fn the_level_and_what_follows_are_told_at_once() {
    let world = World::start();
    let mut gateway = world.gateway(1);
    gateway
        .until(|gateway| gateway.accepting == Some(true))
        .await;
    assert_eq!(gateway.level, Some(LoadLevel::Normal));
    gateway.creates(0).await;
    gateway
        .until(|gateway| gateway.lobby(0)["accepting_games"] == true)
        .await;
    for (level, accepting, in_registry) in [
        (LoadLevel::Busy, true, registry::Load::Busy),
        (LoadLevel::Overloaded, false, registry::Load::Overloaded),
        (LoadLevel::Busy, true, registry::Load::Busy),
        (LoadLevel::Normal, true, registry::Load::Normal),
    ] {
        let before = tokio::time::Instant::now();
        world.is_loaded(level);
        gateway.until(|gateway| gateway.level == Some(level)).await;
        assert_eq!(gateway.accepting, Some(accepting), "{level:?}");
        let own = world.membership.own();
        assert_eq!((own.load, own.accepting_games), (in_registry, accepting));
        // The tick of the driver would be too late.
        assert!(
            before.elapsed() < Duration::from_millis(100),
            "{:?}",
            before.elapsed()
        );
        gateway
            .until(|gateway| gateway.lobby(0)["accepting_games"] == accepting)
            .await;
    }
    let mut late = world.gateway(2);
    late.until(|gateway| gateway.level == Some(LoadLevel::Normal))
        .await;
}

#[tokio::test(start_paused = true)]
async fn an_overloaded_node_refuses_what_is_new_and_nothing_else() {
    let (world, mut gateway) = start_waiting_and_playing().await;
    world.is_loaded(LoadLevel::Overloaded);
    gateway
        .until(|gateway| gateway.accepting == Some(false))
        .await;

    gateway.code = "NEWTAB".parse().unwrap();
    assert!(is_busy(&gateway.outcome(3, create(BORN)).await));
    gateway.code = "SECND2".parse().unwrap();
    assert!(is_busy(&gateway.outcome(0, Request::Start).await));

    gateway.done(4, join("Late")).await;
    gateway.done(0, ADD_AI).await;
    gateway.code = CODE.parse().unwrap();
    gateway.generation = 2;
    gateway.done(1, Request::Attach { shown: None }).await;
    while let Some(request) = own_move(&mut gateway, 1).await {
        gateway.done(1, request).await;
    }
    gateway.done(1, Request::ReturnToLobby).await;
    assert!(is_busy(&gateway.outcome(1, Request::Start).await));
    world.is_loaded(LoadLevel::Busy);
    gateway
        .until(|gateway| gateway.accepting == Some(true))
        .await;
    gateway.done(1, Request::Start).await;
}

#[tokio::test(start_paused = true)]
async fn a_game_whose_people_are_away_keeps_its_slot_until_their_sessions_end_and_does_nothing() {
    let registry = registry();
    let mut one_game = settings();
    one_game.max_active_games = Limit::at_most(1);
    let world = World::start_with(&registry, one_game);
    let mut gateway = world.gateway(1);
    set_up(&mut gateway, "SECND2", 0).await;
    set_up(&mut gateway, CODE, 1).await;
    gateway.done(1, Request::Start).await;
    assert!(own_move(&mut gateway, 1).await.is_some());
    gateway.detaches(1, 1);
    // A minute later the seat shows as replaceable; after that nothing happens any more.
    tokio::time::sleep(Duration::from_secs(61)).await;
    let seq = async || world.registry.owner(CODE).await.unwrap().unwrap().seq;
    let before = seq().await;
    tokio::time::sleep(TTL / 2).await;
    assert_eq!(
        seq().await,
        before,
        "nothing was played, nothing was written"
    );

    gateway.code = "SECND2".parse().unwrap();
    assert!(is_busy(&gateway.outcome(0, Request::Start).await));
    assert_eq!(world.membership.own().active_games, 1);

    world
        .registry
        .session_drop(&token(1), Generation(u64::MAX))
        .await
        .unwrap();
    gateway
        .until(|gateway| gateway.accepting == Some(true))
        .await;
    assert_eq!(world.membership.own().active_games, 0);
    gateway.done(0, Request::Start).await;
}
