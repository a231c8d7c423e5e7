//! States of real games pass; with any one thing in them changed they don't.

use protocol::lobby::{LobbyStatus, LobbyView, PlayerView};
use protocol::server::{GameView, State, TimedObservation};
use protocol::{Event, PlayerId};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rules::{Game, Options, OptionsPatch, Seat, SeatCount, Seed};
use serde_json::{Value, json};

use super::*;

fn options(patch: Value) -> Options {
    Options::try_from(serde_json::from_value::<OptionsPatch>(patch).unwrap()).unwrap()
}

fn every_option() -> [Options; 6] {
    [
        json!({"length": "short"}),
        json!({"length": "short", "hidden_bids": true}),
        json!({"length": "short", "bid_rule": "hook", "turn_seconds": 30}),
        json!({"length": "tournament", "bid_rule": "canadian"}),
        json!({"length": "tournament", "hidden_bids": true}),
        json!({}),
    ]
    .map(options)
}

fn person(seat: usize) -> PlayerId {
    PlayerId::person([u8::try_from(seat).unwrap(); 6])
}

fn lobby(game: &Game) -> LobbyView {
    let seats = usize::from(game.seats().get());
    LobbyView {
        code: "ABCD23".parse().unwrap(),
        status: if game.is_finished() {
            LobbyStatus::Finished
        } else {
            LobbyStatus::Playing
        },
        host_id: person(0),
        options: *game.options(),
        public: false,
        players: (0..seats)
            .map(|seat| PlayerView {
                id: person(seat),
                name: format!("Player {seat}").parse().unwrap(),
                is_ai: false,
                connected: true,
                replaceable: false,
                level: None,
            })
            .collect(),
        spectators: 0,
        min_players: 3,
        max_players: 6,
        ai_available: true,
        accepting_games: true,
        saved: true,
    }
}

fn render(game: &Game, viewer: Option<Seat>, events: Vec<rules::Event>) -> State {
    State {
        seq: 100 + u64::from(game.turn()),
        lobby: Some(lobby(game)),
        game: Some(GameView {
            you: viewer,
            deal_commitment: game.commitment(),
            seed: game.revealed_seed(),
            observation: TimedObservation {
                observation: game.observe(viewer),
                deadline_ms: None,
            },
        }),
        events: events.into_iter().map(Event::Game).collect(),
    }
}

/// A random game as one seat is shown it, and as its moves.
fn play(seats: u8, options: Options, seed: u8, viewer: Option<Seat>) -> (Vec<State>, Vec<Move>) {
    let mut chance = ChaCha8Rng::seed_from_u64(seed.into());
    let seats = SeatCount::new(seats).unwrap();
    let (mut game, events) = Game::new(seats, options, Seed::new([seed; 32]));
    let mut states = vec![render(&game, viewer, events)];
    let mut moves = Vec::new();
    while let Some(seat) = game.to_act() {
        let mut legal = game.legal_moves(seat);
        let choice = chance.random_range(0..legal.len());
        let action = legal.nth(choice).unwrap();
        let events = game.apply(seat, action).unwrap();
        moves.push(Move { seat, action });
        states.push(render(&game, viewer, events));
    }
    (states, moves)
}

/// Has seen the lobby before the game.
fn checker(viewer: Option<Seat>, first: &State) -> Checker {
    let me = viewer.map_or("0123456789ab".parse().unwrap(), |seat| person(seat.index()));
    let mut checker = Checker::new(me);
    let mut waiting = State {
        seq: 99,
        game: None,
        events: Vec::new(),
        ..first.clone()
    };
    waiting.lobby.as_mut().unwrap().status = LobbyStatus::Waiting;
    checker.see(&waiting).unwrap();
    checker
}

fn see_all<'a>(
    viewer: Option<Seat>,
    states: impl IntoIterator<Item = &'a State>,
) -> Result<Checker, Contradiction> {
    let mut states = states.into_iter().peekable();
    let mut checker = checker(viewer, states.peek().unwrap());
    states.try_for_each(|state| checker.see(state))?;
    Ok(checker)
}

fn viewers(seats: u8) -> impl Iterator<Item = Option<Seat>> {
    (0..seats).map(Seat::new).chain([None])
}

#[test]
fn every_seat_of_every_game_passes_and_its_moves_are_known() {
    for (options, seats) in every_option()
        .into_iter()
        .cycle()
        .zip([3, 4, 5, 6, 3, 4, 4, 3, 6])
    {
        for viewer in viewers(seats) {
            let (states, moves) = play(seats, options, seats, viewer);
            let checker = see_all(viewer, &states).unwrap();
            let known: Vec<Move> = checker
                .record()
                .unwrap()
                .moves
                .iter()
                .flatten()
                .copied()
                .collect();
            assert_eq!(known, moves);
        }
    }
}

/// A slow reader: several states' events in one.
#[test]
fn merged_states_pass() {
    for options in every_option() {
        for step in [2, 3, 7] {
            let (states, _) = play(4, options, 9, Seat::new(1));
            let merged: Vec<State> = states
                .chunks(step)
                .map(|chunk| {
                    let mut newest = chunk.last().unwrap().clone();
                    newest.events = chunk
                        .iter()
                        .flat_map(|state| state.events.clone())
                        .collect();
                    newest
                })
                .collect();
            see_all(Seat::new(1), &merged).unwrap();
        }
    }
}

#[test]
fn events_may_be_missing_after_a_new_connection_only() {
    for options in every_option() {
        for viewer in viewers(4) {
            let (states, _) = play(4, options, 3, viewer);
            for missing in [5, 20, 40] {
                let mut checker = see_all(viewer, &states[..states.len() - missing - 10]).unwrap();
                let rest = &states[states.len() - 10..];
                assert!(checker.see(&rest[0]).is_err());
                let mut checker = see_all(viewer, &states[..states.len() - missing - 10]).unwrap();
                checker.reconnected();
                for state in rest {
                    checker.see(state).unwrap();
                }
                let others = see_all(None, &states_of(4, options, 3)).unwrap();
                let record = checker.record().unwrap();
                assert_eq!(record.replay(&[]), Ok(false), "moves are missing");
                assert_eq!(record.replay(&[others.record().unwrap()]), Ok(true));
            }
        }
    }
}

fn states_of(seats: u8, options: Options, seed: u8) -> Vec<State> {
    play(seats, options, seed, None).0
}

#[test]
fn acknowledged_moves_must_be_in_the_game() {
    let viewer = Seat::new(0);
    let (states, moves) = play(3, every_option()[0], 5, viewer);
    let mut checker = see_all(viewer, &states[..1]).unwrap();
    for ((turn, played), state) in (0..).zip(&moves).zip(&states[1..]) {
        if Some(played.seat) == viewer {
            checker.sent(turn, played.action);
        }
        checker.see(state).unwrap();
    }
    let own = moves
        .iter()
        .filter(|played| Some(played.seat) == viewer)
        .count();
    assert_eq!(checker.acknowledged(), own);

    let mut record = checker.record().unwrap().clone();
    let lost = *record.acknowledged.keys().next_back().unwrap();
    record.moves[lost as usize] = None;
    let mut others = record.clone();
    others.acknowledged.clear();
    others.you = None;
    others.moves[lost as usize] = Some(moves[lost as usize - 1]);
    let found = record.replay(&[&others]).unwrap_err();
    assert_eq!(found.what, format!("acknowledged move of turn {lost}"));
}

#[test]
fn another_move_than_the_one_sent_is_found() {
    let viewer = Seat::new(0);
    let (states, moves) = play(3, every_option()[0], 5, viewer);
    let turn = moves
        .iter()
        .position(|played| Some(played.seat) == viewer)
        .unwrap();
    let mut checker = see_all(viewer, &states[..=turn]).unwrap();
    checker.sent(u32::try_from(turn).unwrap(), Action::Bid { value: 200 });
    let found = checker.see(&states[turn + 1]).unwrap_err();
    assert_eq!(found.what, format!("own move of turn {turn}"));
}

/// Pictures go back to an older turn, or stand still.
#[test]
fn a_game_that_goes_back_is_found() {
    let (states, _) = play(3, every_option()[0], 5, Seat::new(0));
    for reconnected in [false, true] {
        let mut checker = see_all(Seat::new(0), &states[..20]).unwrap();
        let mut old = states[15].clone();
        old.seq = states[20].seq;
        if reconnected {
            checker.reconnected();
        }
        assert!(checker.see(&old).is_err(), "{reconnected}");
    }
    let mut checker = see_all(Seat::new(0), &states[..20]).unwrap();
    assert_eq!(checker.see(&states[19]).unwrap_err().what, "seq");
}

/// A server that deals another card all through a round, in agreement with itself.
#[test]
fn a_foul_deal_is_found_when_the_seed_is_shown() {
    let viewer = Seat::new(0);
    let (mut states, _) = play(3, every_option()[0], 5, viewer);
    let later = states
        .iter()
        .position(|state| observation(state).table.round == 2)
        .unwrap();
    let dealt = observation(&states[0]).own.hand[0];
    let seen: String = states[..=later]
        .iter()
        .map(|state| serde_json::to_string(state).unwrap())
        .collect();
    let fresh = rules::Card::ALL
        .into_iter()
        .find(|card| card.suit() == dealt.suit() && !seen.contains(&format!("\"{card}\"")))
        .unwrap();
    let replaced = |text: String| text.replace(&format!("\"{dealt}\""), &format!("\"{fresh}\""));
    for state in &mut states[..later] {
        let text = replaced(serde_json::to_string(state).unwrap());
        *state = serde_json::from_str(&text).unwrap();
    }
    let text = replaced(serde_json::to_string(&states[later].events).unwrap());
    states[later].events = serde_json::from_str(&text).unwrap();
    let (last, rest) = states.split_last().unwrap();
    let mut checker = see_all(viewer, rest).unwrap();
    assert_eq!(checker.see(last).unwrap_err().what, "hand dealt in round 1");
}

fn observation(state: &State) -> &rules::Observation {
    &state.game.as_ref().unwrap().observation.observation
}

/// One leaf of one state's game or events changed, at every place, in turn: found at once or at the latest by the end.
#[test]
fn every_corruption_is_found() {
    let mut tried = 0;
    for (options, seats) in every_option().into_iter().take(3).zip([3, 4, 3]) {
        for viewer in [Seat::new(1), None] {
            let (states, _) = play(seats, options, 11, viewer);
            let places = [
                0,
                1,
                2,
                4,
                7,
                20,
                states.len() / 2,
                states.len() - 2,
                states.len() - 1,
            ];
            for place in places {
                tried += corrupt_everywhere(viewer, &states, place);
            }
        }
    }
    assert!(tried > 3_000, "{tried}");
}

fn corrupt_everywhere(viewer: Option<Seat>, states: &[State], place: usize) -> usize {
    let original = serde_json::to_value(&states[place]).unwrap();
    let mut tried = 0;
    for pointer in leaves(&original, "") {
        if pointer.starts_with("/lobby") || pointer == "/game/observation/deadline_ms" {
            continue;
        }
        for value in corruptions(original.pointer(&pointer).unwrap()) {
            let mut corrupted = original.clone();
            *corrupted.pointer_mut(&pointer).unwrap() = value.clone();
            // What the types refuse is found already.
            let Ok(corrupted) = serde_json::from_value::<State>(corrupted) else {
                continue;
            };
            if corrupted == states[place] || pointer == "/seq" && corrupted.seq > states[place].seq
            {
                continue;
            }
            let all = states[..place]
                .iter()
                .chain([&corrupted])
                .chain(&states[place + 1..]);
            let found = see_all(viewer, all);
            assert!(
                found.is_err(),
                "state {place}: {pointer} = {value} went through"
            );
            tried += 1;
        }
    }
    tried
}

/// Every place in the value: of plain values, and of lists.
fn leaves(value: &Value, at: &str) -> Vec<String> {
    match value {
        Value::Object(members) => members
            .iter()
            .flat_map(|(key, value)| leaves(value, &format!("{at}/{key}")))
            .collect(),
        Value::Array(items) => (0..items.len())
            .zip(items)
            .flat_map(|(index, item)| leaves(item, &format!("{at}/{index}")))
            .chain([at.to_owned()])
            .collect(),
        _ => vec![at.to_owned()],
    }
}

fn corruptions(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => vec![json!(0), json!(1), json!("red"), json!("B7")],
        Value::Bool(value) => vec![json!(!value)],
        Value::Number(number) => {
            let number = number.as_i64().unwrap();
            vec![json!(number + 1), json!(number - 1), json!(0), Value::Null]
        }
        Value::String(text) if text.len() == 64 => vec![json!("0".repeat(64)), Value::Null],
        Value::String(_) => [
            "B7",
            "W1",
            "J4",
            "red",
            "blue",
            "bid",
            "play",
            "must_follow",
        ]
        .into_iter()
        .map(|text| json!(text))
        .chain([Value::Null])
        .collect(),
        Value::Array(items) => {
            let mut fewer = items.clone();
            fewer.pop();
            let mut more = items.clone();
            more.extend(items.last().cloned());
            let mut turned = items.clone();
            turned.reverse();
            vec![json!(fewer), json!(more), json!(turned)]
        }
        Value::Object(_) => Vec::new(),
    }
}

#[test]
fn a_lobby_that_contradicts_itself_is_found() {
    let (states, _) = play(3, every_option()[0], 5, Seat::new(0));
    let original = serde_json::to_value(&states[1]).unwrap();
    for (pointer, value) in [
        ("/lobby/status", json!("waiting")),
        ("/lobby/status", json!("finished")),
        ("/lobby/host_id", json!("ffffffffffff")),
        ("/lobby/host_id", json!("010101010101")),
        ("/lobby/min_players", json!(2)),
        ("/lobby/max_players", json!(7)),
        ("/lobby/spectators", json!(51)),
        ("/lobby/options/length", json!("full")),
        ("/lobby/players/0/connected", json!(false)),
        ("/lobby/players/1/is_ai", json!(true)),
        ("/lobby/players/1/id", json!("ai-01234567")),
        ("/lobby/players/1/id", json!("222222222222")),
        ("/lobby/players/1/name", json!("Player 0")),
        ("/lobby/players/1/name", json!("Somebody")),
        ("/lobby/players/1/replaceable", json!(true)),
        ("/lobby/players/1/level", json!("hard")),
        ("/lobby/players", json!([])),
        ("/lobby", Value::Null),
        ("/game", Value::Null),
        (
            "/events",
            json!([{"type": "host_changed", "player_id": "010101010101"}]),
        ),
    ] {
        let mut corrupted = original.clone();
        let (parent, member) = pointer.rsplit_once('/').unwrap();
        corrupted.pointer_mut(parent).unwrap()[member] = value.clone();
        let corrupted = serde_json::from_value(corrupted).unwrap();
        let found = see_all(Seat::new(0), [&states[0], &corrupted]);
        assert!(found.is_err(), "{pointer} = {value} went through");
    }
}
