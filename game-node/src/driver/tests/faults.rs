//! Lobbies that panic.

use futures_util::StreamExt as _;

use super::*;
use crate::driver::Finished;
use crate::lobby::{Breaking, Input};
use crate::store::Tried;

const OTHER: &str = "TABLE3";

#[tokio::test(start_paused = true)]
async fn a_lobby_that_breaks_goes_on_from_its_saved_state_and_ends_at_the_second_time() {
    let mut manual = Manual::new();
    let mut gateway = manual.gateway(1);
    manual.hears(&mut gateway, 0, create(BORN)).await;
    manual.hears(&mut gateway, 0, ADD_AI).await;
    let seq = gateway.state(0)["seq"].as_u64().unwrap();
    // A wish that is not saved yet when the lobby breaks has not been done.
    let undone = gateway.asks(0, ADD_AI);
    manual.takes_in();
    manual
        .driver
        .step(CODE.parse().unwrap(), Input::Break(Breaking::Step));
    manual.pump(&mut gateway).await;
    let answer = gateway
        .answers
        .iter()
        .find(|(number, _)| *number == undone)
        .unwrap()
        .1
        .clone();
    assert_eq!(code_of(&answer), Some(ErrorCode::Unavailable));
    assert_eq!(gateway.lobby(0)["players"].as_array().unwrap().len(), 2);
    assert!(gateway.state(0)["seq"].as_u64().unwrap() > seq);
    manual.hears(&mut gateway, 0, ADD_AI).await;
    assert_eq!(
        gateway.lobby(0)["players"].as_array().unwrap().len(),
        3,
        "it lives"
    );

    tokio::time::advance(Duration::from_secs(61)).await;
    manual
        .driver
        .step(CODE.parse().unwrap(), Input::Break(Breaking::Step));
    manual.pump(&mut gateway).await;
    assert!(gateway.partings.is_empty(), "not within a minute");
    manual
        .driver
        .step(CODE.parse().unwrap(), Input::Break(Breaking::Step));
    manual.pump(&mut gateway).await;
    assert_eq!(gateway.partings, [(connection(0, 1), Parting::Lost)]);
    assert!(manual.registry.owner(CODE).await.unwrap().unwrap().deleted);
    assert_eq!(manual.driver.census, crate::lobby::Census::default());
}

/// Two tables of a host and an AI each, both saved and shown.
async fn two_tables() -> (Manual, Gateway) {
    let mut manual = Manual::new();
    let mut gateway = manual.gateway(1);
    for (number, code) in [(1, OTHER), (0, CODE)] {
        gateway.code = code.parse().unwrap();
        manual.hears(&mut gateway, number, create(BORN)).await;
        manual.hears(&mut gateway, number, ADD_AI).await;
    }
    (manual, gateway)
}

fn players(gateway: &Gateway, number: u8) -> usize {
    gateway.lobby(number)["players"].as_array().unwrap().len()
}

/// Both tables are there and take a wish.
async fn both_go_on(manual: &mut Manual, gateway: &mut Gateway) {
    let before = [0, 1].map(|number| players(gateway, number));
    for (number, code) in [(1, OTHER), (0, CODE)] {
        gateway.code = code.parse().unwrap();
        manual.hears(gateway, number, ADD_AI).await;
    }
    let after = [0, 1].map(|number| players(gateway, number));
    assert_eq!(after, before.map(|count| count + 1));
    assert!(gateway.partings.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_picture_or_a_save_that_panics_costs_only_that_lobby_what_was_not_saved() {
    let ways: [fn(&mut Manual); 3] = [
        |manual| manual.driver.flush(),
        |manual| manual.driver.let_go_uncommitted(),
        |manual| manual.driver.hand_to(None),
    ];
    for at in [Breaking::Picture, Breaking::Save] {
        for way in ways {
            let (mut manual, mut gateway) = two_tables().await;
            let undone = gateway.asks(0, ADD_AI);
            manual.takes_in();
            let code = CODE.parse().unwrap();
            manual.driver.step(code, Input::Break(at));
            way(&mut manual);
            manual.pump(&mut gateway).await;
            let answer = gateway.answered(undone).await;
            assert_eq!(code_of(&answer), Some(ErrorCode::Unavailable), "{at:?}");
            assert_eq!(players(&gateway, 0), 2, "{at:?}");
            both_go_on(&mut manual, &mut gateway).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_picture_of_what_is_saved_that_panics_is_made_of_the_saved_state() {
    let (mut manual, mut gateway) = two_tables().await;
    let code = CODE.parse().unwrap();
    manual.driver.step(code, Input::Break(Breaking::Picture));
    // As after an earlier picture that has had to wait for its turn.
    manual.driver.tables.get_mut(&code).unwrap().pictured -= 1;
    manual.driver.let_out(code);
    manual.pump(&mut gateway).await;
    both_go_on(&mut manual, &mut gateway).await;
}

#[tokio::test(start_paused = true)]
async fn a_lobby_that_breaks_when_it_is_handed_over_is_handed_as_it_was_saved() {
    let (mut manual, mut gateway) = two_tables().await;
    manual
        .driver
        .step(CODE.parse().unwrap(), Input::Break(Breaking::Save));
    manual.driver.hand_to(None);
    manual.pump(&mut gateway).await;
    let mut handed: Vec<_> = gateway
        .handed
        .iter()
        .map(|(code, _)| code.as_str())
        .collect();
    handed.sort_unstable();
    assert_eq!(handed, [CODE, OTHER]);
}

#[tokio::test(start_paused = true)]
async fn what_a_commit_that_failed_had_in_it_is_done_once_when_the_lobby_breaks_then() {
    let (mut manual, mut gateway) = two_tables().await;
    let added = gateway.asks(0, ADD_AI);
    manual.takes_in();
    manual.driver.flush();
    let _lost = manual.driver.under_way.next().await;
    manual.driver.finished(Finished::Batch(Tried {
        records: vec![None],
        sessions: Vec::new(),
    }));
    manual
        .driver
        .step(CODE.parse().unwrap(), Input::Break(Breaking::Step));
    tokio::time::advance(Duration::from_secs(1)).await;
    manual.pump(&mut gateway).await;
    assert_eq!(gateway.answered(added).await, Outcome::Done);
    assert_eq!(gateway.lobby(0)["players"].as_array().unwrap().len(), 3);
}
