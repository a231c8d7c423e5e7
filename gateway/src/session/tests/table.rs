//! What happens at a table, and when it is lost.

use super::*;

#[test]
fn only_from_within_a_lobby() {
    for text in [
        r#"{"type":"leave_lobby"}"#,
        r#"{"type":"add_ai"}"#,
        r#"{"type":"remove_player","player_id":"0123456789ab"}"#,
        r#"{"type":"set_options"}"#,
        r#"{"type":"start_game"}"#,
        r#"{"type":"action","action":{"type":"bid","value":1}}"#,
        r#"{"type":"replace_player","player_id":"0123456789ab"}"#,
        r#"{"type":"react","reaction":"oops"}"#,
        r#"{"type":"return_to_lobby"}"#,
    ] {
        let mut bench = Bench::inside();
        bench.say(text);
        assert_eq!(bench.errors(), ["not_in_lobby"], "{text}");
        let mut bench = Bench::seated();
        bench.say(text);
        assert!(bench.errors().is_empty(), "{text}");
        assert_eq!(bench.asked().len(), 1, "{text}");
    }
}

#[test]
fn what_the_node_refuses_is_told_and_changes_nothing() {
    for &code in ErrorCode::ALL {
        if code == ErrorCode::TakenOver {
            continue;
        }
        let mut bench = Bench::seated();
        bench.say(r#"{"type":"start_game","id":"7"}"#);
        bench.refuse(code);
        assert_eq!(bench.errors(), [code.as_str()]);
        assert!(
            bench.closed().is_none() && bench.shown().is_empty(),
            "{code}"
        );
        assert!(bench.session.place.is_some(), "{code}");
    }
}

#[test]
fn a_ping_is_answered_even_while_a_table_is_looked_for() {
    let mut bench = Bench::inside();
    bench.say(ADA);
    bench.say(r#"{"type":"ping","nonce":"x"}"#);
    assert_eq!(bench.sent(), [json!({ "type": "pong", "nonce": "x" })]);
}

#[test]
fn each_parting_is_told_in_its_way() {
    for (reason, errors, shown) in [
        (Parting::Left, &[][..], 1),
        (Parting::Ended, &[], 1),
        (Parting::Removed, &["removed"], 1),
        (Parting::Lost, &["lobby_lost"], 1),
        (Parting::Moved, &[], 0),
    ] {
        let mut bench = Bench::seated();
        bench.part("one", "ABCD23", reason);
        assert_eq!(bench.errors(), errors, "{reason:?}");
        assert_eq!(bench.shown().len(), shown, "{reason:?}");
        assert!(bench.closed().is_none(), "{reason:?}");
        let mut elsewhere = Bench::seated();
        elsewhere.part("one", "WXYZ23", reason);
        assert!(elsewhere.effects.is_empty(), "{reason:?} of another table");
    }
}

#[test]
fn whoever_is_taken_over_is_told_and_closed() {
    let taken_over = [
        Input::Opened { generation: 6 },
        Input::Parted {
            node: node("one"),
            code: "ABCD23".parse().unwrap(),
            reason: Parting::TakenOver,
        },
    ];
    for input in taken_over {
        let mut bench = Bench::seated();
        bench.give(input);
        assert_eq!(bench.errors(), ["taken_over"]);
        assert_eq!(bench.closed(), Some(CloseCode::TakenOver));
        bench.say(ADA);
        assert_eq!(bench.errors().len(), 1, "nothing happens any more");
    }
    let mut bench = Bench::seated();
    bench.give(Input::Opened { generation: 5 });
    assert!(bench.effects.is_empty(), "its own hello");
    bench.say(r#"{"type":"start_game"}"#);
    bench.refuse(ErrorCode::TakenOver);
    assert_eq!(bench.closed(), Some(CloseCode::TakenOver));
}

#[test]
fn pictures_never_go_back() {
    let mut bench = Bench::seated();
    for (epoch, seq) in [(1, 12), (1, 11), (0, 99), (1, 12), (2, 13), (1, 14)] {
        bench.give(Input::Show(picture("ABCD23", epoch, seq)));
    }
    assert_eq!(bench.shown(), ["ABCD23 12", "ABCD23 12", "ABCD23 13"]);
}

#[test]
fn the_end_is_told_to_the_tables_node() {
    let mut bench = Bench::seated();
    bench.give(Input::Gone);
    assert_eq!(bench.detached(), ["one ABCD23"]);
    let mut bench = Bench::seated();
    bench.give(Input::Stop);
    bench.give(Input::Gone);
    assert_eq!(bench.closed(), Some(CloseCode::Restart));
    assert_eq!(bench.detached(), ["one ABCD23"], "once");
    let mut bench = Bench::inside();
    bench.say(r#"{"type":"join_lobby","code":"ABCD23","name":"Ada"}"#);
    bench.found("one");
    bench.give(Input::Gone);
    assert_eq!(
        bench.detached(),
        ["one ABCD23"],
        "the answer may be under way"
    );
}
