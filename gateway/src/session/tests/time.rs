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
    let mut bench = Bench::seated();
    for _ in 0..16 {
        bench.wait(
            Duration::from_mins(1)
                .checked_sub(Duration::from_secs(1))
                .unwrap(),
        );
        bench.give(Input::Heard);
    }
    let due = renewals(&mut bench);
    assert_eq!(due, ["renew ABCD23", "renew ABCD23"]);
}

#[test]
fn another_run_of_redis_may_have_lost_the_session_or_hold_an_older_one() {
    let mut bench = Bench::seated();
    another_run(&mut bench);
    let Some(Effect::Renew { renewal, record }) = bench.effects.last() else {
        panic!("it is written anew: {:?}", bench.effects);
    };
    assert_eq!(*renewal, Renewal::WriteAnew);
    assert_eq!(record.lobby, Some("ABCD23".parse().unwrap()));
    assert_eq!(record.name.as_ref().map(PlayerName::as_str), Some("Ada"));
}

#[test]
fn a_session_that_was_not_written_is_tried_again_ever_more_seldom() {
    let mut bench = Bench::seated();
    another_run(&mut bench);
    for again in [1, 2, 4, 8, 16, 16] {
        let due = renewals(&mut bench);
        assert_eq!(due, ["write ABCD23"], "after {again} s");
        bench.give(Input::Renewed {
            renewal: Renewal::WriteAnew,
            done: false,
        });
        bench.give(Input::Heard);
        bench.wait(Duration::from_millis(1_000 * again - 100));
        assert_eq!(renewals(&mut bench).len(), 0, "{again} s");
        bench.wait(Duration::from_millis(2_100));
    }
    assert_eq!(renewals(&mut bench), ["write ABCD23"]);
    bench.give(Input::Renewed {
        renewal: Renewal::WriteAnew,
        done: true,
    });
    bench.wait(Duration::from_secs(30));
    assert_eq!(renewals(&mut bench).len(), 0, "it is written");
    // The next time it is as urgent as before.
    another_run(&mut bench);
    renewals(&mut bench);
    bench.give(Input::Renewed {
        renewal: Renewal::WriteAnew,
        done: false,
    });
    bench.wait(Duration::from_secs(3));
    assert_eq!(renewals(&mut bench).len(), 1);
}

#[test]
fn a_session_that_was_not_renewed_is_tried_again_before_it_expires() {
    let mut bench = Bench::seated();
    let until_due = bench.session.config.renew_every;
    for _ in 0..until_due.as_secs() / 10 {
        bench.wait(Duration::from_secs(10));
        bench.give(Input::Heard);
    }
    assert_eq!(renewals(&mut bench), ["renew ABCD23"]);
    bench.give(Input::Renewed {
        renewal: Renewal::Renew,
        done: false,
    });
    bench.wait(Duration::from_secs(3));
    assert_eq!(renewals(&mut bench), ["renew ABCD23"]);
}

#[test]
fn who_is_known_to_their_tables_owner_only_is_written_soon() {
    let mut bench = Bench::new();
    bench.say(r#"{"type":"hello","token":null}"#);
    bench.give(Input::Entered(Ok(Entered {
        written: false,
        ..entered(Some("ABCD23"))
    })));
    bench.wait(Duration::from_secs(2));
    assert_eq!(renewals(&mut bench), ["write ABCD23"]);
}

#[test]
fn a_session_whose_table_changes_while_it_is_written_is_written_again() {
    let mut bench = Bench::inside();
    another_run(&mut bench);
    assert_eq!(renewals(&mut bench), ["write no table"]);
    bench.sit_down();
    bench.wait(Duration::from_secs(2));
    assert_eq!(
        renewals(&mut bench),
        ["write ABCD23"],
        "that no table is named may be written after the one that is"
    );
}

/// Redis has begun anew, and all sessions have been written.
fn another_run(bench: &mut Bench) {
    let mut overview = Overview::clone(&bench.session.overview);
    overview.registry_run += 1;
    bench.give(Input::Overview(Arc::new(overview)));
    bench.wait(Duration::from_secs(2));
}

/// What was due for the session since this was asked last, and the table that it names.
fn renewals(bench: &mut Bench) -> Vec<String> {
    let effects = std::mem::take(&mut bench.effects).into_iter();
    let renewal = |effect| {
        let Effect::Renew { renewal, record } = effect else {
            return None;
        };
        let what = match renewal {
            Renewal::Renew => "renew",
            Renewal::WriteAnew => "write",
        };
        let table = record.lobby.map(|code| code.to_string());
        Some(format!("{what} {}", table.as_deref().unwrap_or("no table")))
    };
    effects.filter_map(renewal).collect()
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
