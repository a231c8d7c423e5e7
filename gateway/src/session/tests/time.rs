//! Limits, and what is due without being asked.

use super::*;

#[test]
fn what_is_not_answered_in_time_is_unavailable() {
    const {
        assert!(
            ANSWER_WITHIN.as_millis() < 2_000,
            "with the way to the player"
        );
    }
    let mut bench = Bench::seated();
    bench.say(r#"{"type":"start_game","id":"7"}"#);
    bench.wait(ANSWER_WITHIN.checked_sub(Duration::from_millis(1)).unwrap());
    assert!(bench.errors().is_empty());
    bench.wait(Duration::from_millis(1));
    assert_eq!(bench.errors(), ["unavailable"]);
    assert_eq!(bench.sent()[0]["id"], "7");
    bench.answer(Outcome::Done);
    assert_eq!(bench.errors().len(), 1, "late");
}

#[test]
fn sixteen_unanswered_messages_stop_the_reading() {
    let mut bench = Bench::seated();
    for _ in 0..MAX_WAITING_MESSAGES {
        assert!(bench.session.reads());
        bench.say(r#"{"type":"start_game"}"#);
    }
    assert!(!bench.session.reads());
    bench.answer(Outcome::Done);
    assert!(bench.session.reads());
    let mut bench = Bench::inside();
    for _ in 0..MAX_WAITING_MESSAGES {
        assert!(bench.session.reads());
        bench.say(r#"{"type":"join_lobby","code":"ABCD23","name":"Ada"}"#);
    }
    assert!(
        !bench.session.reads(),
        "one under way and fifteen behind it"
    );
}

#[test]
fn the_more_the_servers_have_to_do_the_more_slowly_players_shall_come_back() {
    let mut bench = Bench::seated();
    for (level, within_ms) in [
        (LoadLevel::Busy, 10_000),
        (LoadLevel::Overloaded, 20_000),
        (LoadLevel::Normal, 5_000),
    ] {
        let mut overview = Overview::clone(&bench.session.overview);
        for status in overview.nodes.values_mut() {
            status.level = level;
        }
        bench.give(Input::Overview(Arc::new(overview)));
        let told = bench.statuses();
        assert_eq!(told.last().unwrap()["reconnect_within_ms"], within_ms);
    }
}

#[test]
fn a_flood_is_told_once_and_then_closed() {
    let mut bench = Bench::seated();
    for _ in 0..77 {
        bench.say(r#"{"type":"ping"}"#);
    }
    assert_eq!(bench.errors(), ["rate_limited"]);
    assert!(
        bench
            .sent()
            .iter()
            .any(|sent| sent["retry_after_ms"].is_u64())
    );
    assert_eq!(bench.closed(), None);
    bench.say(r#"{"type":"ping"}"#);
    assert_eq!(bench.closed(), Some(CloseCode::Policy));
}

#[test]
fn malformed_messages_count_too() {
    let mut bench = Bench::new();
    for _ in 0..79 {
        bench.say("{");
    }
    assert_eq!(bench.closed(), None);
    bench.say("{");
    assert_eq!(bench.closed(), Some(CloseCode::Policy));
}

#[test]
fn pings_count_too() {
    let mut bench = Bench::seated();
    for _ in 0..77 {
        bench.give(Input::Heard);
    }
    assert_eq!(bench.errors(), ["rate_limited"]);
    assert_eq!(bench.closed(), None);
    bench.give(Input::Heard);
    assert_eq!(bench.closed(), Some(CloseCode::Policy));
}

#[test]
fn whoever_says_nothing_is_closed() {
    let mut bench = Bench::new();
    bench.wait(Duration::from_secs(10));
    assert_eq!(bench.closed(), Some(CloseCode::Idle), "no hello");
    let mut bench = Bench::inside();
    for _ in 0..10 {
        bench.wait(Duration::from_secs(20));
        bench.give(Input::Heard);
    }
    let pings = |bench: &Bench| {
        bench
            .effects
            .iter()
            .filter(|effect| matches!(effect, Effect::Ping))
            .count()
    };
    assert_eq!((pings(&bench), bench.closed()), (10, None));
    bench.wait(Duration::from_secs(20));
    bench.wait(Duration::from_secs(20));
    assert_eq!((pings(&bench), bench.closed()), (12, None));
    bench.wait(Duration::from_secs(20));
    assert_eq!(
        bench.closed(),
        Some(CloseCode::Idle),
        "three pings without an answer"
    );
}

#[test]
fn the_session_is_renewed_while_the_player_is_there() {
    let renewals = |bench: &Bench| {
        let renewal = |effect: &&Effect| matches!(effect, Effect::Renew(_));
        bench.effects.iter().filter(renewal).count()
    };
    let mut bench = Bench::seated();
    for _ in 0..16 {
        bench.wait(
            Duration::from_mins(1)
                .checked_sub(Duration::from_secs(1))
                .unwrap(),
        );
        bench.give(Input::Heard);
    }
    assert_eq!(renewals(&bench), 2);
    let mut overview = Overview::clone(&bench.session.overview);
    overview.registry_run += 1;
    bench.give(Input::Overview(Arc::new(overview)));
    bench.wait(Duration::from_secs(2));
    assert_eq!(renewals(&bench), 2);
    let Some(Effect::WriteAnew(record)) = bench
        .effects
        .iter()
        .rev()
        .find(|effect| matches!(effect, Effect::WriteAnew(_)))
    else {
        panic!("another run of Redis may have lost it, or hold an older one");
    };
    assert_eq!(record.lobby, Some("ABCD23".parse().unwrap()));
    assert_eq!(record.name.as_ref().map(PlayerName::as_str), Some("Ada"));
}

#[test]
fn every_change_of_the_servers_is_told() {
    let mut bench = Bench::inside();
    let mut overview = Overview::clone(&bench.session.overview);
    bench.give(Input::Overview(Arc::new(overview.clone())));
    assert!(bench.effects.is_empty(), "nothing has changed");
    for node in overview.nodes.values_mut() {
        *node = NodeStatus {
            level: LoadLevel::Overloaded,
            accepting_games: false,
        };
    }
    bench.give(Input::Overview(Arc::new(overview)));
    assert_eq!(bench.statuses()[0]["reason"], "overloaded");
}
