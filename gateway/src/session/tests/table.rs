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
        bench.give(Input::Parted {
            code: "ABCD23".parse().unwrap(),
            reason,
        });
        assert_eq!(bench.errors(), errors, "{reason:?}");
        assert_eq!(bench.shown().len(), shown, "{reason:?}");
        assert!(bench.closed().is_none(), "{reason:?}");
        let mut elsewhere = Bench::seated();
        elsewhere.give(Input::Parted {
            code: "WXYZ23".parse().unwrap(),
            reason,
        });
        assert!(elsewhere.effects.is_empty(), "{reason:?} of another table");
    }
}

#[test]
fn whoever_is_taken_over_is_told_and_closed() {
    let taken_over = [
        Input::Opened { generation: 6 },
        Input::Parted {
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
fn a_lost_link_is_told_as_moving_until_the_table_is_back() {
    let mut bench = Bench::seated();
    bench.give(Input::LinkLost { node: node("two") });
    assert!(bench.effects.is_empty(), "another node's");
    bench.say(r#"{"type":"start_game"}"#);
    bench.give(Input::LinkLost { node: node("one") });
    assert_eq!(bench.errors(), ["unavailable"], "what was under way");
    assert_eq!(
        bench.statuses().last().unwrap()["reason"],
        json!(StatusReason::Moving)
    );
    bench.say(r#"{"type":"add_ai"}"#);
    bench.found("one");
    let number = bench.session.last_number;
    bench.give(Input::Unreachable { number });
    bench.wait(Duration::from_millis(250));
    bench.found("two");
    bench.answer(Outcome::Done);
    let asked = bench.asked();
    assert_eq!(
        asked[asked.len() - 2..],
        ["two ABCD23 attach", "two ABCD23 add_ai"]
    );
    assert_eq!(bench.statuses().last().unwrap()["reason"], Value::Null);
}

#[test]
fn a_table_that_stays_lost_sends_its_player_elsewhere() {
    let mut bench = Bench::seated();
    bench.give(Input::LinkLost { node: node("one") });
    let lost_at = bench.now;
    while bench.closed().is_none() {
        bench.whereabouts(Whereabouts::Unavailable);
        bench.now = bench.session.deadline().unwrap_or(bench.now);
        bench.give(Input::Time);
        assert!(bench.now < lost_at + Duration::from_secs(15));
    }
    assert!(bench.now >= lost_at + Duration::from_secs(10));
    assert_eq!(bench.closed(), Some(CloseCode::Restart));
}

#[test]
fn a_message_to_a_former_owner_waits_for_the_new_one_in_its_order() {
    let mut bench = Bench::seated();
    bench.say(r#"{"type":"add_ai"}"#);
    let first = bench.session.last_number;
    bench.say(r#"{"type":"start_game"}"#);
    let second = bench.session.last_number;
    let outcome = Outcome::NotOwner;
    bench.give(Input::Answer {
        number: first,
        outcome: outcome.clone(),
    });
    bench.say(r#"{"type":"return_to_lobby"}"#);
    bench.give(Input::Answer {
        number: second,
        outcome,
    });
    bench.effects.clear();
    bench.found("two");
    bench.answer(Outcome::Done);
    let asked = ["attach", "add_ai", "start", "return_to_lobby"];
    assert_eq!(
        bench.asked(),
        asked.map(|request| format!("two ABCD23 {request}"))
    );
    assert!(bench.errors().is_empty());
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
