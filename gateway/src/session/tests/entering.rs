//! `hello`, and what comes before it.

use super::*;

#[test]
fn nothing_is_accepted_before_hello() {
    for text in [
        ADA,
        r#"{"type":"join_lobby","code":"ABCD23","name":"Ada"}"#,
        r#"{"type":"quick_play","name":"Ada"}"#,
        r#"{"type":"watch_lobby","code":"ABCD23"}"#,
        r#"{"type":"leave_lobby"}"#,
        r#"{"type":"start_game"}"#,
        r#"{"type":"action","action":{"type":"bid","value":1}}"#,
        r#"{"type":"ping"}"#,
    ] {
        let mut bench = Bench::new();
        bench.say(text);
        assert_eq!(bench.errors(), ["hello_required"], "{text}");
        assert_eq!(bench.effects.len(), 1, "{text}");
    }
}

#[test]
fn shape_is_checked_before_anything_else() {
    for text in [
        "",
        "[]",
        "{",
        r#"{"type":"dance"}"#,
        r#"{"type":"join_lobby"}"#,
    ] {
        for mut bench in [Bench::new(), Bench::inside(), Bench::seated()] {
            bench.say(text);
            assert_eq!(bench.errors(), ["invalid_message"], "{text}");
            assert_eq!(bench.effects.len(), 1, "{text}");
        }
    }
}

#[test]
fn an_error_repeats_the_id_of_its_message() {
    let mut bench = Bench::inside();
    bench.say(r#"{"type":"start_game","id":"seven"}"#);
    assert_eq!(bench.sent()[0]["id"], "seven");
}

#[test]
fn welcome_comes_first_then_the_status_then_a_state() {
    let mut bench = Bench::new();
    bench.say(r#"{"type":"hello","token":null,"partial":true}"#);
    assert!(matches!(
        bench.effects.pop(),
        Some(Effect::Enter { token: None })
    ));
    bench.give(Input::Entered(Ok(entered(None))));
    let types: Vec<_> = bench
        .sent()
        .iter()
        .map(|sent| sent["type"].clone())
        .collect();
    assert_eq!(types, ["welcome", "server_status"]);
    assert!(matches!(bench.effects.first(), Some(Effect::Partial(true))));
    assert!(matches!(bench.effects.last(), Some(Effect::ShowNothing)));
    bench.say(r#"{"type":"hello","token":null}"#);
    assert_eq!(bench.errors(), ["invalid_message"], "a second one");
}

#[test]
fn a_text_that_is_no_token_is_a_strangers() {
    let mut bench = Bench::new();
    bench.say(r#"{"type":"hello","token":"nonsense"}"#);
    assert!(matches!(bench.effects[..], [Effect::Enter { token: None }]));
    let mut bench = Bench::new();
    let token = Token::new([9; 24]);
    bench.say(&json!({ "type": "hello", "token": token.reveal() }).to_string());
    assert!(matches!(&bench.effects[..], [Effect::Enter { token: Some(one) }] if *one == token));
}

#[test]
fn what_follows_hello_at_once_waits_for_the_welcome() {
    let mut bench = Bench::new();
    bench.say(r#"{"type":"hello","token":null}"#);
    bench.say(r#"{"type":"join_lobby","code":"ABCD23","name":"Ada"}"#);
    assert_eq!(bench.looks(), 0);
    bench.give(Input::Entered(Ok(entered(None))));
    assert_eq!(bench.looks(), 1);
}

#[test]
fn without_the_registry_hello_may_be_said_again() {
    let mut bench = Bench::new();
    bench.say(r#"{"type":"hello","token":null}"#);
    bench.give(Input::Entered(Err(NotEntered::Unavailable)));
    assert_eq!(bench.errors(), ["unavailable"]);
    bench.say(r#"{"type":"hello","token":null}"#);
    bench.give(Input::Entered(Ok(entered(None))));
    assert_eq!(bench.shown(), ["nothing"]);
}

#[test]
fn who_comes_back_is_brought_to_their_table() {
    let mut bench = Bench::new();
    bench.say(r#"{"type":"hello","token":null}"#);
    bench.give(Input::Entered(Ok(entered(Some("ABCD23")))));
    bench.found("two");
    assert_eq!(bench.asked(), ["two ABCD23 attach"]);
    bench.give(Input::Show(picture("ABCD23", 1, 10)));
    assert!(bench.shown().is_empty(), "not before the answer");
    bench.answer(Outcome::Done);
    assert_eq!(bench.shown(), ["ABCD23 10"]);
}

#[test]
fn a_table_that_is_gone_is_forgotten() {
    let gone = [
        |bench: &mut Bench| bench.whereabouts(Whereabouts::Unknown),
        |bench: &mut Bench| {
            bench.found("one");
            bench.refuse(ErrorCode::NotInLobby);
        },
    ];
    for end in gone {
        let mut bench = Bench::new();
        bench.say(r#"{"type":"hello","token":null}"#);
        bench.give(Input::Entered(Ok(entered(Some("ABCD23")))));
        end(&mut bench);
        assert_eq!(bench.shown(), ["nothing"]);
        let forgotten = |effect: &Effect| matches!(effect, Effect::ForgetLobby { .. });
        assert!(bench.effects.iter().any(forgotten));
        bench.say(r#"{"type":"start_game"}"#);
        assert_eq!(bench.errors(), ["not_in_lobby"]);
    }
}

#[test]
fn a_table_that_can_have_no_new_owner_yet_is_looked_for_through_another_gateway() {
    let mut bench = Bench::new();
    bench.say(r#"{"type":"hello","token":null}"#);
    bench.give(Input::Entered(Ok(entered(Some("ABCD23")))));
    let mut overview = Overview::clone(&bench.session.overview);
    overview.registry_reachable = false;
    bench.give(Input::Overview(Arc::new(overview)));
    while let Some(next) = bench.session.deadline() {
        bench.now = next;
        bench.give(Input::Time);
        bench.whereabouts(Whereabouts::Unavailable);
    }
    assert!(bench.shown().is_empty());
    assert_eq!(bench.closed(), Some(CloseCode::Restart));
}

#[test]
fn a_table_that_does_not_answer_holds_nobody_up_for_ever() {
    let mut bench = Bench::new();
    bench.say(r#"{"type":"hello","token":null}"#);
    bench.give(Input::Entered(Ok(entered(Some("ABCD23")))));
    let mut tries = 0;
    while bench.shown().is_empty() {
        bench.whereabouts(Whereabouts::Unavailable);
        tries += 1;
        assert!(tries < 100);
        let next = bench.session.deadline().unwrap();
        bench.now = next;
        bench.give(Input::Time);
    }
    assert!(tries > 4);
    assert_eq!(bench.statuses().last().unwrap()["reason"], Value::Null);
    assert_eq!(bench.statuses()[1]["reason"], "moving");
    assert!(bench.closed().is_none());
    assert_eq!(bench.errors(), ["unavailable"], "there is a table");
    assert!(
        !bench
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::ForgetLobby { .. }))
    );
}

#[test]
fn a_newer_hello_that_is_heard_of_before_the_own_answer_counts() {
    for (newer, closed) in [(6, Some(CloseCode::TakenOver)), (5, None), (4, None)] {
        let mut bench = Bench::new();
        bench.say(r#"{"type":"hello","token":null}"#);
        bench.give(Input::Opened { generation: newer });
        assert_eq!(bench.closed(), None);
        bench.give(Input::Entered(Ok(entered(None))));
        assert_eq!(bench.closed(), closed, "{newer} against 5");
    }
}

#[test]
fn whoever_the_owner_knows_by_a_higher_generation_is_sent_to_another_gateway() {
    let mut bench = Bench::new();
    bench.say(r#"{"type":"hello","token":null}"#);
    bench.give(Input::Entered(Err(NotEntered::Elsewhere)));
    assert_eq!(bench.errors(), ["unavailable"]);
    assert_eq!(bench.closed(), Some(CloseCode::Restart));
}

#[test]
fn a_session_that_is_written_anew_on_the_way_back_still_names_the_table() {
    let mut bench = Bench::new();
    bench.say(r#"{"type":"hello","token":null}"#);
    bench.give(Input::Entered(Ok(entered(Some("ABCD23")))));
    let mut overview = Overview::clone(&bench.session.overview);
    overview.registry_run += 1;
    bench.give(Input::Overview(Arc::new(overview)));
    bench.wait(Duration::from_secs(2));
    let written = bench.effects.iter().find_map(|effect| match effect {
        Effect::Renew { record, .. } => Some(record.lobby),
        _ => None,
    });
    assert_eq!(written, Some(Some("ABCD23".parse().unwrap())));
}
