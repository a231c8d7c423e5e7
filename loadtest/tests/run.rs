//! A run against a server that plays by the rules ends well; against one that breaks any promise it ends with that.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "run/hall.rs"]
mod hall;

use std::time::Duration;

use hall::{Hall, Misdeed};
use loadtest::{Config, Fault, Report, run};
use protocol::ErrorCode;
use rules::SeatCount;

async fn play(misdeed: Misdeed, games: u64) -> Result<Report, Fault> {
    let url = Hall::open(misdeed).await;
    run(Config {
        urls: vec![url],
        tables: 1,
        players: SeatCount::MIN,
        humans: 3,
        duration: Duration::from_mins(1),
        games: Some(games),
        options: None,
        think: Duration::ZERO,
        seed: 7,
    })
    .await
}

#[tokio::test]
async fn whole_games_are_played_and_measured() {
    let report = play(Misdeed::None, 3).await.unwrap();
    assert_eq!((report.games_finished, report.games_unfinished), (3, 0));
    assert!(
        report.moves > 3 * 3 * 5 * 2 && report.states > 3 * report.moves,
        "{report}"
    );
    assert!(report.latency.p50_ms > 0.0 && report.latency.p50_ms <= report.latency.max_ms);
    assert!(
        report.errors.is_empty() && report.reconnects == 0,
        "{report}"
    );
}

#[tokio::test]
async fn the_time_ends_a_run_in_the_middle_of_a_game() {
    let url = Hall::open(Misdeed::None).await;
    let config = Config {
        urls: vec![url],
        tables: 1,
        players: SeatCount::MIN,
        humans: 3,
        duration: Duration::from_millis(300),
        games: None,
        options: None,
        think: Duration::from_secs(20),
        seed: 7,
    };
    let report = run(config).await.unwrap();
    assert_eq!((report.games_finished, report.games_unfinished), (0, 1));
    assert!(report.seconds < 10.0, "{report}");
}

#[tokio::test]
async fn a_refusal_for_lack_of_room_is_counted_and_asked_again() {
    let report = play(Misdeed::RefuseForLackOfRoom, 1).await.unwrap();
    assert_eq!(report.errors.get(&ErrorCode::RateLimited), Some(&1));
    assert_eq!(report.games_finished, 1);
}

#[tokio::test]
async fn a_refusal_of_what_was_asked_again_may_come_when_something_else_is_asked() {
    let report = play(Misdeed::RefuseRepeatLate, 1).await.unwrap();
    let counted = [ErrorCode::Unavailable, ErrorCode::StaleTurn].map(|code| report.errors[&code]);
    assert_eq!((counted, report.games_finished), ([1, 1], 1), "{report}");
}

#[tokio::test]
async fn a_broken_connection_is_opened_anew_and_the_game_goes_on() {
    let report = play(Misdeed::CloseOnce, 1).await.unwrap();
    assert_eq!(
        (report.reconnects, report.games_finished),
        (1, 1),
        "{report}"
    );
}

#[tokio::test]
async fn every_broken_promise_ends_the_run() {
    for (misdeed, expected) in [
        (Misdeed::CountTrickWrongly, "tricks: "),
        (Misdeed::LoseMove, "turn"),
        (Misdeed::ShowSeatsDifferentTables, "the public part of seq"),
        (Misdeed::ShowForeignHand, "is shown where no card may be"),
        (Misdeed::LeaveLobbyOut, "a full state has a lobby"),
        (Misdeed::RefuseLegalMove, "refused: illegal_action"),
        (Misdeed::ForgetPlayer, "player_id"),
        (Misdeed::ForgetSeat, "the lobby after coming back"),
    ] {
        let fault = play(misdeed, 1).await.expect_err(expected).to_string();
        assert!(
            fault.starts_with("seed 7, table 0, ") && fault.contains(expected),
            "{fault}"
        );
    }
}
