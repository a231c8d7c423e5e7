//! Whole lives of tables, drawn at random: whatever is said to a lobby, its invariants hold, a
//! refusal changes nothing, and nobody is shown what is not theirs.

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;
use protocol::link::{Request, Show};
use protocol::lobby::{AiLevel, Reaction};
use protocol::player::SetOptions;
use rules::{Action, Card, Length, OptionsPatch, Seat};

use super::testing::*;
use super::*;

/// One thing that happens; people are 0 to 7, the last of them strangers at first.
#[derive(Clone, Debug)]
enum Deed {
    Ask(u8, u64, Request),
    /// Whoever is to act makes a legal move, or the AI that is asked answers.
    Move,
    /// The AI that is asked answers nonsense.
    Nonsense,
    Repeat,
    Offline(u8),
    LinkLost,
    Gone(u8),
    Wait(u64),
    Restore,
}

fn requests() -> impl Strategy<Value = Request> {
    let other = (0..8u8).prop_map(id);
    let patch = (
        any::<Option<bool>>(),
        any::<bool>(),
        prop::option::of(0..40u32),
    )
        .prop_map(|(hidden_bids, short, turn_seconds)| OptionsPatch {
            hidden_bids,
            length: Some(if short { Length::Short } else { Length::Full }),
            turn_seconds: Some(turn_seconds),
            ..OptionsPatch::default()
        });
    prop_oneof![
        3 => Just(join("Ada")),
        1 => Just(Request::Watch),
        2 => Just(Request::Attach { shown: None }),
        1 => Just(Request::Leave),
        3 => Just(Request::AddAi { level: AiLevel::Easy }),
        1 => other.clone().prop_map(|player| Request::RemovePlayer { player }),
        1 => (patch, any::<Option<bool>>())
            .prop_map(|(options, public)| Request::SetOptions(SetOptions { options, public })),
        4 => Just(Request::Start),
        2 => (0..12u8, prop::option::of(0..200u32))
            .prop_map(|(value, turn)| Request::Act { action: Action::Bid { value }, turn }),
        2 => (0..60usize).prop_map(|card| Request::Act {
            action: Action::Play { card: Card::ALL[card] },
            turn: None,
        }),
        2 => other.prop_map(|player| Request::ReplacePlayer { player }),
        1 => Just(Request::React { reaction: Reaction::Hurry }),
        2 => Just(Request::ReturnToLobby),
    ]
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let deed = prop_oneof![
        10 => (0..8u8, 1..4u64, requests()).prop_map(|(who, generation, request)| {
            Deed::Ask(who, generation, request)
        }),
        20 => Just(Deed::Move),
        1 => Just(Deed::Nonsense),
        1 => Just(Deed::Repeat),
        2 => (0..8u8).prop_map(Deed::Offline),
        1 => Just(Deed::LinkLost),
        1 => (0..8u8).prop_map(Deed::Gone),
        3 => (1..70u64).prop_map(Deed::Wait),
        1 => Just(Deed::Restore),
    ];
    prop::collection::vec(deed, 1..150)
}

fn do_it(table: &mut Table, deed: &Deed) {
    // Refusals are part of life; that they change nothing is asserted by the table.
    match deed {
        Deed::Ask(who, generation, request) => {
            let wish = table.wish(*who, *generation, request.clone());
            let _refused = table.hears(wish);
        }
        Deed::Repeat => {
            let wish = table.wish(
                0,
                1,
                Request::React {
                    reaction: Reaction::Hello,
                },
            );
            let _refused = table.hears(wish.clone());
            let _refused = table.hears(wish);
        }
        Deed::Move if table.lobby.status() == LobbyStatus::Playing => {
            let _refused = table.moves();
        }
        Deed::Nonsense if table.lobby.status() == LobbyStatus::Playing => {
            table.ai_moves(Some(Action::Bid { value: 60 })).unwrap();
        }
        Deed::Offline(who) => {
            for generation in 1..4 {
                table
                    .step(Input::Detach(connection(*who, generation)))
                    .unwrap();
            }
        }
        Deed::LinkLost => drop(table.step(Input::LinkLost(LinkId(1))).unwrap()),
        Deed::Gone(who) => {
            let chance = table.chance();
            table
                .step(Input::Gone {
                    player: id(*who),
                    chance,
                })
                .unwrap();
        }
        Deed::Wait(seconds) => drop(table.wait(Duration::from_secs(*seconds))),
        Deed::Restore if !table.lobby.has_ended() => restore(table),
        Deed::Move | Deed::Nonsense | Deed::Restore => {}
    }
}

/// The lobby goes on as the copy that its saved state makes, with its people where they were.
fn restore(table: &mut Table) {
    let before = table.lobby.clone();
    let bytes = before.save(table.now);
    let surroundings = before.surroundings;
    let mut copy = Lobby::restore(table.now, code(), &bytes, surroundings, PACE).unwrap();
    copy.own(before.epoch, before.seq);
    copy.reconnect(&before);
    assert_eq!(copy.save(table.now), bytes, "nothing is lost on the way");
    table.lobby = copy;
    let chance = table.chance();
    table.step(Input::Wake(chance)).unwrap();
}

/// All cards that the bytes of a picture name, by who sees them.
fn cards_in(bytes: &[u8]) -> BTreeSet<String> {
    let text = std::str::from_utf8(bytes).unwrap();
    let strings = text
        .split('"')
        .filter(|piece| piece.parse::<Card>().is_ok());
    strings.map(str::to_owned).collect()
}

/// Whatever is hidden must be in no byte that this picture sends.
fn assert_nothing_leaks(table: &Table, show: &Show) {
    let Stage::Playing(play) = &table.lobby.stage else {
        return;
    };
    let game = &play.game;
    let shared = show.shared.game.as_ref().expect("a game is shown");
    let mut common: Vec<u8> = show.shared.lobby.as_bytes().to_vec();
    for part in [&shared.deal, &shared.table, &shared.sheet] {
        common.extend_from_slice(part.as_bytes());
    }
    let seed = serde_json::to_string(&game.snapshot()).unwrap();
    let seed = seed
        .split("\"seed\":\"")
        .nth(1)
        .map(|rest| rest[..64].to_owned())
        .unwrap();
    let mut everything = common.clone();
    everything.extend(show.own.iter().flat_map(|own| own.own.as_bytes().to_vec()));
    everything.extend(
        show.events
            .iter()
            .flat_map(|event| event.as_bytes().to_vec()),
    );
    let everything = String::from_utf8(everything).unwrap();
    assert!(
        !everything.contains(&seed),
        "the seed is nobody's before the end"
    );

    let hand = |seat: Seat| -> BTreeSet<String> {
        game.own(Some(seat))
            .hand
            .iter()
            .map(Card::to_string)
            .collect()
    };
    let common = cards_in(&common);
    for seat in game.seats().seats() {
        assert!(
            common.is_disjoint(&hand(seat)),
            "a hand is in no shared part"
        );
    }
    for own in &show.own {
        let you: serde_json::Value = serde_json::from_slice(own.you.as_bytes()).unwrap();
        let you = you["you"].as_u64();
        let cards = cards_in(own.own.as_bytes());
        for seat in game.seats().seats() {
            let is_own = you == Some(u64::from(u8::from(seat)));
            assert!(
                is_own || cards.is_disjoint(&hand(seat)),
                "{you:?} sees what {seat:?} holds"
            );
        }
        let view: serde_json::Value = serde_json::from_slice(own.own.as_bytes()).unwrap();
        if game.options().hidden_bids() && game.phase() == rules::Phase::Bid {
            let bids = view["bids"].as_array().unwrap().iter().enumerate();
            let mut others = bids.filter(|(seat, _)| Some(*seat as u64) != you);
            assert!(others.all(|(_, bid)| bid.is_null()), "a hidden bid is seen");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_life_keeps_the_invariants_and_shows_nobody_too_much(deeds in deeds()) {
        let mut table = Table::new();
        let mut shown = table.lobby.seq();
        for deed in &deeds {
            do_it(&mut table, deed);
            for show in table.show() {
                assert_nothing_leaks(&table, &show);
                prop_assert!(show.shared.seq >= shown);
                shown = show.shared.seq;
            }
        }
    }
}

#[test]
fn the_search_for_cards_finds_them() {
    let cards = cards_in(br#"{"hand":["B1","W4"],"name":"Merlin","n":12,"suit":"red"}"#);
    assert_eq!(cards.into_iter().collect::<Vec<_>>(), ["B1", "W4"]);
}

#[test]
fn a_whole_game_of_each_size_is_played_out_and_shows_nobody_too_much() {
    for (seats, hidden_bids) in [(3, false), (4, true), (5, false), (6, true)] {
        let mut table = Table::new();
        table.does(1, join("Ada"));
        table.does(7, Request::Watch);
        for _ in 2..seats {
            table.does(
                0,
                Request::AddAi {
                    level: AiLevel::Normal,
                },
            );
        }
        let patch = OptionsPatch {
            hidden_bids: Some(hidden_bids),
            ..OptionsPatch::default()
        };
        table.does(
            0,
            Request::SetOptions(SetOptions {
                options: patch,
                public: None,
            }),
        );
        table.does(0, Request::Start);
        while table.lobby.status() == LobbyStatus::Playing {
            for show in table.show() {
                assert_nothing_leaks(&table, &show);
            }
            table.moves().unwrap();
        }
        assert_eq!(table.lobby.status(), LobbyStatus::Finished);
        assert_eq!(table.game().round(), 60 / seats);
    }
}
