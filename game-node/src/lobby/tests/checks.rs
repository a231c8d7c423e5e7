//! What is refused, and in which order it is looked at.

use super::*;

#[test]
fn who_may_not_is_told_the_first_reason_in_the_contracts_order() {
    let check = |mut table: Table, number, request: Request, expected| {
        assert_eq!(
            table.refused(number, request.clone()),
            expected,
            "{number} {request:?}"
        );
    };
    let host_only = [
        ADD_AI,
        remove(1),
        options(OptionsPatch::default()),
        Request::Start,
    ];
    for request in host_only {
        check(waiting(), 9, request.clone(), Code::NotInLobby);
        check(playing(), 4, request.clone(), Code::Spectator);
        check(playing(), 1, request.clone(), Code::NotHost);
        check(playing(), 0, request.clone(), Code::NotWaiting);
        check(finished(), 0, request, Code::NotWaiting);
    }
    for (request, refused) in [
        (replace(1), Code::NotPlaying),
        (bid(9), Code::NotPlaying),
        (Request::ReturnToLobby, Code::NotFinished),
    ] {
        check(waiting(), 9, request.clone(), Code::NotInLobby);
        check(waiting(), 4, request.clone(), Code::Spectator);
        check(waiting(), 0, request, refused);
    }
    for request in [replace(1), Request::ReturnToLobby] {
        check(waiting(), 1, request, Code::NotHost);
    }
    check(playing(), 9, join("Eve"), Code::LobbyPlaying);
    check(finished(), 9, join("Eve"), Code::LobbyPlaying);
    check(waiting(), 9, Request::Leave, Code::NotInLobby);
    check(
        waiting(),
        9,
        Request::Attach { shown: None },
        Code::NotInLobby,
    );
    check(waiting(), 9, REACT, Code::NotInLobby);
    check(waiting(), 4, REACT, Code::Spectator);
    check(waiting(), 0, remove(0), Code::PlayerNotFound);
    check(waiting(), 0, remove(4), Code::PlayerNotFound);
    check(playing(), 0, replace(9), Code::PlayerNotFound);
    check(playing(), 0, replace(1), Code::PlayerPresent);
    check(waiting(), 0, turn_seconds(5), Code::BadOption);
}

#[test]
fn a_game_needs_three_and_a_node_that_takes_it() {
    let mut table = Table::new();
    table.does(1, join("Ada"));
    assert_eq!(table.refused(0, Request::Start), Code::NotEnoughPlayers);
    table.does(0, ADD_AI);
    table.may_start = false;
    assert_eq!(table.refused(0, Request::Start), Code::Busy);
    table.may_start = true;
    table.does(0, Request::Start);
    assert_eq!(table.view().status, LobbyStatus::Playing);
}

#[test]
fn a_move_is_checked_for_its_turn_its_seat_and_its_legality_in_this_order() {
    let mut table = playing();
    while table.to_act() == 3 {
        table.moves().unwrap();
    }
    let acts = table.to_act();
    let other = (acts + 1) % 3;
    let turn = table.game().turn();
    let act = |value, turn| Request::Act {
        action: Action::Bid { value },
        turn,
    };
    let illegal = act(9, None);
    assert_eq!(table.refused(other, illegal.clone()), Code::NotYourTurn);
    assert_eq!(table.refused(acts, illegal), Code::IllegalAction);
    assert_eq!(table.refused(acts, act(9, Some(turn))), Code::IllegalAction);
    assert_eq!(
        table.refused(acts, act(0, Some(turn + 1))),
        Code::IllegalAction
    );
    if turn > 0 {
        assert_eq!(
            table.refused(other, act(9, Some(turn - 1))),
            Code::StaleTurn
        );
    }
    table.moves().unwrap();
    assert_eq!(table.refused(other, act(9, Some(turn))), Code::StaleTurn);
}

#[test]
fn a_message_is_done_once_however_often_it_comes() {
    let mut table = playing();
    while table.to_act() == 3 {
        table.moves().unwrap();
    }
    let number = table.to_act();
    let action = table.game().legal_actions(table.game().to_act().unwrap())[0];
    let wish = table.wish(number, 1, Request::Act { action, turn: None });
    table.hears(wish.clone()).unwrap();
    let (turn, seq) = (table.game().turn(), table.lobby.seq());
    let effects = table.hears(wish.clone()).unwrap();
    let answer = Effect::Answer {
        to: wish.connection,
        number: wish.number,
        taken: None,
    };
    assert_eq!(effects, [answer]);
    assert_eq!((table.game().turn(), table.lobby.seq()), (turn, seq));
}

#[test]
fn one_reaction_every_two_seconds() {
    let mut table = playing();
    table.does(1, REACT);
    let event = json!({"type": "reaction", "seat": 1, "reaction": "oops"});
    assert_eq!(table.events(), [event]);
    table.wait(Duration::from_millis(500));
    let wish = table.wish(1, 1, REACT);
    let input = Input::Ask {
        wish,
        chance: chance(0),
        may_start: true,
    };
    let refusal = table.lobby.step(table.now, input).unwrap_err();
    assert_eq!(
        (refusal.code, refusal.retry_after_ms()),
        (Code::RateLimited, Some(1500))
    );
    table.does(2, REACT);
    table.wait(Duration::from_millis(1500));
    table.does(1, REACT);
}
