//! Many gateways before many game nodes: what players rely on, wherever they come in.

use std::time::Duration;

use futures_util::future::{join_all, try_join_all};
use loadtest::{Config, Player, PlayerError};
use protocol::player::{Named, PlayerMessage};
use protocol::server::ServerMessage;
use protocol::{CloseCode, ErrorCode, LobbyCode, Token};
use rules::SeatCount;
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::support::fleet::Fleet;
use crate::support::table::{agree_on, arrive, gather, seats_of};
use crate::support::{CEILING, eventually, http};

/// Thousands of messages a second would only fill the log.
const QUIET: (&str, &str) = ("LOG_LEVEL", "info");
/// A sixth of `DRAIN_TIMEOUT`.
const SOON: Duration = Duration::from_secs(10);
/// Seats of a lobby.
const SEATS: usize = 6;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_tables_over_two_gateways_and_three_nodes_play_to_the_end() {
    let fleet = Fleet::of(2, 3, &[QUIET]).await;
    let config = Config {
        urls: fleet.urls(),
        tables: 60,
        players: SeatCount::new(4).unwrap(),
        humans: 2,
        duration: 2 * CEILING,
        games: Some(60),
        options: Some(serde_json::from_value(json!({"length": "short"})).unwrap()),
        think: Duration::ZERO,
        seed: 4,
    };
    // Ends at the first state that is wrong, or that two of a table see differently.
    let report = loadtest::run(config).await.unwrap();
    assert_eq!(
        (report.games_finished, report.games_unfinished),
        (60, 0),
        "{report}"
    );
    assert_eq!(report.reconnects, 0, "{report}");
    for gateway in fleet.gateways() {
        let health = http::get_json(gateway.operations(), "/health").await;
        assert_eq!(health.unwrap()["links"], 3);
    }
}

#[tokio::test]
async fn five_hundred_joins_at_once_are_each_a_seat_or_the_right_code() {
    const TABLES: usize = 90;
    const JOINS: usize = 500;
    let fleet = Fleet::of(2, 3, &[QUIET]).await;
    let hosts = try_join_all((0..TABLES).map(async |number| {
        let mut host = visitor(&fleet, number).await;
        let code = host.create("Host").await?;
        Ok::<_, PlayerError>((host, code))
    }))
    .await
    .unwrap();
    let mut players = join_all((0..JOINS).map(|number| visitor(&fleet, number))).await;

    let joins = players
        .iter_mut()
        .enumerate()
        .map(async |(number, player)| {
            let code = hosts[number % TABLES].1;
            player.join(code, "Guest").await
        });
    let answers = join_all(joins).await;
    let seated = answers.iter().filter(|answer| answer.is_ok()).count();
    for answer in answers.into_iter().filter_map(Result::err) {
        assert_eq!(code_of(&answer), ErrorCode::LobbyFull, "{answer}");
    }
    assert_eq!(seated, TABLES * (SEATS - 1));
}

#[tokio::test]
async fn six_who_join_within_five_milliseconds_fill_a_table_and_one_is_told() {
    let fleet = Fleet::of(2, 3, &[QUIET]).await;
    let mut host = visitor(&fleet, 0).await;
    let code = host.create("Host").await.unwrap();
    let mut guests = join_all((0..6).map(|number| visitor(&fleet, number))).await;
    let began = Instant::now();
    for guest in &mut guests {
        let join = json!({ "type": "join_lobby", "code": code, "name": "Guest" });
        guest.send_text(&join.to_string()).await.unwrap();
    }
    let sending = began.elapsed();
    let answers = join_all(guests.iter_mut().map(|guest| answer(guest, code))).await;
    let full: Vec<_> = answers.into_iter().flatten().collect();
    assert_eq!(full, [ErrorCode::LobbyFull], "sent within {sending:?}");
    host.until(|state| seats_of(state) == SEATS, CEILING)
        .await
        .unwrap();
}

/// None for a seat.
async fn answer(player: &mut Player, code: LobbyCode) -> Option<ErrorCode> {
    loop {
        match player.next().await.unwrap() {
            ServerMessage::State(_) if player.code() == Some(code) => return None,
            ServerMessage::Error(refused) => return Some(refused.code),
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_thousand_races_of_joining_and_leaving_leave_nothing_stuck() {
    const PLAYERS: usize = 20;
    const RACES: usize = 50;
    let fleet = Fleet::of(2, 3, &[QUIET]).await;
    let mut host = visitor(&fleet, 0).await;
    let code = host.create("Host").await.unwrap();
    let races = (0..PLAYERS).map(async |number| {
        let mut player = visitor(&fleet, number).await;
        let mut seated = 0;
        for _ in 0..RACES {
            match player.join(code, "Guest").await {
                Ok(()) => {
                    seated += 1;
                    player.leave().await.unwrap();
                }
                Err(error) => assert_eq!(code_of(&error), ErrorCode::LobbyFull, "{error}"),
            }
        }
        seated
    });
    let seated: usize = join_all(races).await.into_iter().sum();
    assert!(seated >= RACES, "{seated} of {}", PLAYERS * RACES);
    host.until(|state| seats_of(state) == 1, CEILING)
        .await
        .unwrap();
    let mut last = visitor(&fleet, 1).await;
    last.join(code, "Last").await.unwrap();
}

#[tokio::test]
async fn another_gateway_takes_a_session_over_and_the_old_connection_changes_nothing() {
    let fleet = Fleet::of(2, 3, &[QUIET]).await;
    let mut host = visitor(&fleet, 0).await;
    let code = host.create("Host").await.unwrap();
    let mut old = visitor(&fleet, 0).await;
    old.join(code, "Guest").await.unwrap();
    let token = old.welcome().unwrap().token.clone();

    let began = Instant::now();
    let mut new = Player::connect(&fleet.urls()[1]).await.unwrap();
    new.hello(Some(&token)).await.unwrap();
    assert_eq!(new.code(), Some(code));
    // Long before the old one is missed.
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    let told = old.refusal(CEILING).await.unwrap();
    assert_eq!(told.code, ErrorCode::TakenOver);
    let closed = old.closed(CEILING).await.unwrap();
    assert_eq!(closed, Some(CloseCode::TakenOver.into()));
    drop(old);
    // A picture of the table that is newer than the old one's end.
    let react = json!({ "type": "react", "reaction": "hello" });
    new.send_text(&react.to_string()).await.unwrap();
    host.until(
        |state| {
            let lobby = state.lobby.as_ref();
            !state.events.is_empty() && lobby.is_some_and(|lobby| lobby.players[1].connected)
        },
        CEILING,
    )
    .await
    .unwrap();
}

/// Both tabs lost their connection, and both come back by themselves: once more each, as clients do.
#[tokio::test]
async fn two_tabs_that_come_back_by_themselves_do_not_throw_each_other_out_for_ever() {
    let fleet = Fleet::of(2, 2, &[QUIET]).await;
    let urls = fleet.urls();
    let mut before = visitor(&fleet, 0).await;
    let code = before.create("Ada").await.unwrap();
    let token = before.welcome().unwrap().token.clone();
    before.disconnect().await;
    let (one, other) = tokio::join!(tab(&urls[0], &token), tab(&urls[1], &token));
    let mut staying: Vec<Player> = [one, other].into_iter().flatten().collect();
    assert_eq!(staying.len(), 1, "one of them stays");
    staying[0].echo(CEILING).await.unwrap();
    assert_eq!(staying[0].code(), Some(code));
}

/// The tab's connection, unless the other has taken over twice.
async fn tab(url: &str, token: &Token) -> Option<Player> {
    const QUIET_FOR: Duration = Duration::from_secs(2);
    for _ in 0..2 {
        let mut player = Player::connect(url).await.unwrap();
        // The other one may be quicker: then this says so, or is closed.
        let _taken_over = player.hello(Some(token)).await;
        match timeout(QUIET_FOR, player.closed(CEILING)).await {
            Err(_) => return Some(player),
            Ok(end) => assert_eq!(end.unwrap(), Some(CloseCode::TakenOver.into())),
        }
    }
    None
}

#[tokio::test]
async fn a_gateway_that_stops_closes_its_sockets_spread_out_and_its_players_go_on_elsewhere() {
    const PLAYERS: usize = 100;
    let fleet = Fleet::of(2, 1, &[QUIET]).await;
    let [stopping, other] = fleet.gateways() else {
        panic!("two gateways");
    };
    let mut host = visitor(&fleet, 0).await;
    let code = host.create("Host").await.unwrap();
    let token = host.welcome().unwrap().token.clone();
    let url = &fleet.urls()[0];
    let sockets = (1..PLAYERS).map(|_| arrive(url));
    let mut players = vec![host];
    players.extend(join_all(sockets).await);

    let began = Instant::now();
    stopping.signal("TERM");
    let not_ready = eventually("it says that it is not ready", async || {
        let (status, _) = http::get(stopping.operations(), "/ready").await?;
        (status != 200).then(|| began.elapsed())
    });
    let closing = players.iter_mut().map(async |player| {
        let code = player.closed(CEILING).await.unwrap();
        (code, began.elapsed())
    });
    let (not_ready, closed) = tokio::join!(not_ready, join_all(closing));
    let restart = Some(u16::from(CloseCode::Restart));
    assert!(closed.iter().all(|(code, _)| *code == restart));
    let times = closed.into_iter().map(|(_, time)| time);
    let (first, last) = (times.clone().min().unwrap(), times.max().unwrap());
    // 100 of them within half a second, each at its own time.
    assert!(
        last > first + Duration::from_millis(250),
        "{first:?} to {last:?}"
    );
    // Long before what may still go on is given up.
    assert!(
        not_ready < SOON && last < SOON,
        "{not_ready:?} and {last:?}"
    );
    assert!(Player::connect(url).await.is_err(), "no new sockets");

    let mut again = Player::connect(&fleet.urls()[1]).await.unwrap();
    again.hello(Some(&token)).await.unwrap();
    assert_eq!(again.code(), Some(code));
    eventually("the other gateway knows that it is gone", async || {
        let nodes = http::get_json(other.operations(), "/nodes").await?;
        let roles = nodes
            .as_array()?
            .iter()
            .filter(|node| node["role"] == "gateway");
        (roles.count() == 1).then_some(())
    })
    .await;
    let lines = fleet.lines();
    assert!(
        !lines.iter().any(|line| line.contains("a link was ended")),
        "the nodes were told"
    );
}

#[tokio::test]
async fn quick_play_looks_over_all_nodes() {
    let fleet = Fleet::of(2, 3, &[QUIET]).await;
    let mut codes = Vec::new();
    for number in 0..SEATS {
        let mut player = visitor(&fleet, number).await;
        let named = Named {
            name: "Stranger".parse().unwrap(),
        };
        player
            .ask(PlayerMessage::QuickPlay(named), |state| {
                state.lobby.is_some()
            })
            .await
            .unwrap();
        codes.push((player.code(), player));
    }
    assert!(
        codes.iter().all(|(code, _)| *code == codes[0].0),
        "one table takes six"
    );
}

/// 200 who watch and never read: the gateway's memory stays flat, and they are closed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_who_never_read_cost_no_memory() {
    const TABLES: usize = 4;
    const WATCHERS: usize = 50;
    const FLAT_KIB: u64 = 32 * 1024;
    let fleet = Fleet::of(1, 1, &[QUIET]).await;
    let mut tables = Vec::new();
    let mut silent = Vec::new();
    for _ in 0..TABLES {
        let (mut players, code) = gather(&fleet.url(), 1, 5).await;
        agree_on(&mut players[0], json!({"length": "short"})).await;
        let watchers = (0..WATCHERS).map(async |_| {
            let mut watcher = Player::connect(&fleet.url()).await?;
            watcher.hello(None).await?;
            watcher.watch(code).await?;
            Ok::<_, PlayerError>(watcher)
        });
        silent.extend(try_join_all(watchers).await.unwrap());
        tables.push(players);
    }
    let before = fleet.gateway().resident_kib();
    let playing = tables.iter_mut().map(|players| play_three_games(players));
    let highest = async {
        let mut highest = before;
        loop {
            highest = highest.max(fleet.gateway().resident_kib());
            tokio::time::sleep(Duration::from_millis(100)).await;
            if closed_as_slow(&fleet).await == TABLES * WATCHERS {
                return highest;
            }
        }
    };
    let (_, highest) = tokio::join!(join_all(playing), async {
        timeout(2 * CEILING, highest)
            .await
            .expect("all of them are closed")
    });
    assert!(
        highest - before < FLAT_KIB,
        "from {before} KiB to {highest} KiB"
    );
    println!("200 who never read: from {before} KiB to {highest} KiB");
    eventually("only those who read are left", async || {
        let health = http::get_json(fleet.operations(), "/health").await?;
        (health["connections"] == TABLES).then_some(())
    })
    .await;
}

/// Everybody is sent some 4 MiB.
async fn play_three_games(players: &mut [Player]) {
    for game in 1..=3 {
        players[0]
            .send_text(r#"{"type":"start_game"}"#)
            .await
            .unwrap();
        players[0]
            .until(|state| state.game.is_some(), CEILING)
            .await
            .unwrap();
        players[0]
            .play(loadtest::strategy::random_moves(game))
            .await
            .unwrap();
        players[0]
            .ask(PlayerMessage::ReturnToLobby, |state| state.game.is_none())
            .await
            .unwrap();
    }
}

async fn closed_as_slow(fleet: &Fleet) -> usize {
    let (_, metrics) = http::get(fleet.operations(), "/metrics").await.unwrap();
    let line = metrics
        .lines()
        .find(|line| line.starts_with("gateway_connection_closed") && line.contains("\"4413\""));
    let count = line.and_then(|line| line.rsplit(' ').next());
    count.map_or(0, |count| count.parse().unwrap())
}

/// Somebody who comes in by one gateway or another, by their number.
async fn visitor(fleet: &Fleet, number: usize) -> Player {
    let urls = fleet.urls();
    arrive(&urls[number % urls.len()]).await
}

fn code_of(error: &PlayerError) -> ErrorCode {
    match error {
        PlayerError::Refused(refused) => refused.code,
        other => panic!("{other}"),
    }
}
