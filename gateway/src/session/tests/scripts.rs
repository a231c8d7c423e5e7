//! Whatever comes in whatever order: laws that always hold.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::gathering::{Listing, Turn};
use crate::links::NotSent;

const CODES: [&str; 3] = ["ABCD23", "WXYZ23", "QQQQ23"];
const NODES: [&str; 2] = ["one", "two"];

const MESSAGES: [&str; 11] = [
    r#"{"type":"hello","token":null}"#,
    ADA,
    r#"{"type":"join_lobby","code":"ABCD23","name":"Ada"}"#,
    r#"{"type":"watch_lobby","code":"WXYZ23"}"#,
    r#"{"type":"quick_play","name":"Ada"}"#,
    r#"{"type":"leave_lobby"}"#,
    r#"{"type":"start_game"}"#,
    r#"{"type":"add_ai"}"#,
    r#"{"type":"ping"}"#,
    r#"{"type":"dance"}"#,
    r#"{"type":"action","action":{"type":"bid","value":1}}"#,
];

/// One thing that happens; answers are to one of the last questions, so that most of them fit.
#[derive(Clone, Debug)]
enum Happening {
    Say(usize),
    Wait(u64),
    /// The registry answers, or not.
    Registry(bool, usize, usize),
    /// A node answers the ask that is so many back.
    Node(u64, usize),
    Show(usize, u64),
    Part(usize, usize, usize),
    LinkLost(usize),
    HandedOver(usize),
    Unreachable(u64),
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        6 => (0..MESSAGES.len()).prop_map(Happening::Say),
        2 => (1..5000_u64).prop_map(Happening::Wait),
        6 => (prop::bool::weighted(0.8), 0..3_usize, 0..2_usize)
            .prop_map(|(works, code, node)| Happening::Registry(works, code, node)),
        6 => (0..4_u64, 0..6_usize).prop_map(|(back, outcome)| Happening::Node(back, outcome)),
        2 => (0..3_usize, 0..20_u64).prop_map(|(code, seq)| Happening::Show(code, seq)),
        1 => (0..2_usize, 0..3_usize, 0..6_usize)
            .prop_map(|(name, code, reason)| Happening::Part(name, code, reason)),
        1 => (0..2_usize).prop_map(Happening::LinkLost),
        1 => (0..2_usize).prop_map(Happening::HandedOver),
        1 => (0..4_u64).prop_map(Happening::Unreachable),
    ]
}

fn happen(bench: &mut Bench, happening: &Happening) {
    match *happening {
        // A socket that is not read brings nothing.
        Happening::Say(_) if !bench.session.reads() => {}
        Happening::Say(message) => bench.say(MESSAGES[message]),
        Happening::Wait(milliseconds) => bench.wait(Duration::from_millis(milliseconds)),
        Happening::Registry(works, code, name) => registry(bench, works, code, name),
        Happening::Node(back, outcome) => {
            let outcome = match outcome {
                0 | 1 => Outcome::Done,
                2 => Outcome::NotOwner,
                // An old number, so that something is sent again.
                5 => Outcome::Attached { taken: back },
                3 => refused(ErrorCode::LobbyFull),
                _ => refused(ErrorCode::Busy),
            };
            let number = bench.session.last_number.saturating_sub(back);
            bench.answer_to(number, outcome);
        }
        Happening::Show(code, seq) => bench.give(Input::Show(picture(CODES[code], 1, seq))),
        Happening::Part(name, code, reason) => {
            let reason = [
                Parting::Left,
                Parting::Removed,
                Parting::Ended,
                Parting::Lost,
                Parting::Moved,
                Parting::Moved,
            ][reason];
            bench.part(NODES[name], CODES[code], reason);
        }
        Happening::HandedOver(name) => bench.give(Input::HandedOver {
            node: node(NODES[name]),
        }),
        Happening::LinkLost(name) => bench.give(Input::LinkLost {
            node: node(NODES[name]),
        }),
        Happening::Unreachable(back) => {
            let number = bench.session.last_number.saturating_sub(back);
            let why = if back % 2 == 0 {
                NotSent::NoLink
            } else {
                NotSent::Full
            };
            bench.give(Input::Unreachable { number, why });
        }
    }
}

/// Answers whatever the registry was asked last.
fn registry(bench: &mut Bench, works: bool, code: usize, name: usize) {
    let answered = |effect: &Effect| {
        matches!(
            effect,
            Effect::Enter { .. }
                | Effect::CountCreate { .. }
                | Effect::Draw { .. }
                | Effect::ListPublic { .. }
                | Effect::Find { .. }
        )
    };
    let Some(index) = bench.effects.iter().rposition(answered) else {
        return;
    };
    let answer = match bench.effects.remove(index) {
        Effect::Enter { .. } if works => Input::Entered(Ok(entered(Some(CODES[code])))),
        Effect::Enter { .. } => Input::Entered(Err(NotEntered::Unavailable)),
        Effect::CountCreate { journey } => Input::Counted {
            journey,
            allowed: works,
        },
        Effect::ListPublic { journey, tried } => {
            let mut codes = CODES.map(|code| code.parse().unwrap()).to_vec();
            codes.retain(|code| !tried.contains(code));
            let turn = codes.is_empty().then(Turn::free);
            let listing = Listing { codes, turn };
            Input::Listed {
                journey,
                listing: if works {
                    Ok(listing)
                } else {
                    Err(RegistryAway)
                },
            }
        }
        Effect::Find { journey, .. } => {
            let found = Whereabouts::At {
                node: node(NODES[name]),
                epoch: None,
            };
            let lost = [
                Whereabouts::Unknown,
                Whereabouts::Unavailable,
                Whereabouts::Alone,
            ];
            Input::Found {
                journey,
                whereabouts: if works { found } else { lost[code].clone() },
            }
        }
        _ if works => return bench.drawn(CODES[code], NODES[name]),
        _ => {
            let journey = bench.session.last_journey;
            Input::Drawn {
                journey,
                drawn: Err(NoNode::Busy),
            }
        }
    };
    bench.give(answer);
}

/// Where nodes still take the connection for present, if they do what they were asked to at once
/// and answer whenever they like. A lost link and a refusal are as good as a detach.
fn present_at(history: &[Event]) -> BTreeSet<(NodeId, LobbyCode)> {
    let mut present = BTreeSet::new();
    let mut asked = BTreeMap::new();
    for event in history {
        match event {
            Event::Asked(node, ask) => {
                let place = (node.clone(), ask.code);
                match ask.request {
                    Request::Leave => present.remove(&place),
                    Request::Create { .. }
                    | Request::Join { .. }
                    | Request::Watch
                    | Request::Attach { .. } => present.insert(place.clone()),
                    _ => false,
                };
                asked.insert(ask.number, place);
            }
            Event::NotDone(number) => {
                if let Some(place) = asked.get(number) {
                    present.remove(place);
                }
            }
            Event::Parted(code) => present.retain(|(_, present)| present != code),
            Event::LinkLost(lost) => present.retain(|(node, _)| node != lost),
            Event::Detached(node, code) => {
                present.remove(&(node.clone(), *code));
            }
        }
    }
    present
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn laws_hold_whatever_happens(script in prop::collection::vec(happening(), 1..120)) {
        let mut bench = Bench::new();
        let mut entered = false;
        for happening in &script {
            let before = bench.effects.len();
            happen(&mut bench, happening);
            entered |= matches!(bench.session.phase, Phase::Inside { .. });
            let new = &bench.effects[before.min(bench.effects.len())..];
            let asks = new.iter().any(|effect| matches!(effect, Effect::Ask { .. }));
            prop_assert!(entered || !asks, "a node was asked before hello");
            let waiting = bench.session.waiting.len() + bench.session.asks.len();
            // A silent leave and a put back message may come on top.
            prop_assert!(waiting <= 2 * MAX_WAITING_MESSAGES, "{waiting} messages wait");
            prop_assert!(bench.session.abandoned.len() <= journey::MAX_ABANDONED);
        }
        // Left alone, everything that was asked comes to an end, and no deadline stands still.
        let mut last = None;
        for _ in 0..200 {
            let Some(deadline) = bench.session.deadline() else { break };
            prop_assert!(last != Some(deadline), "the deadline does not move: {deadline:?}");
            last = Some(deadline);
            bench.now = bench.now.max(deadline);
            bench.give(Input::Time);
        }
        prop_assert!(bench.session.asks.is_empty() && bench.session.waiting.is_empty());
        prop_assert!(bench.session.is_closed(), "nobody answers the pings");
        prop_assert_eq!(present_at(&bench.history), BTreeSet::new(), "nodes that take nobody for present");
        // After the end nothing happens any more.
        bench.effects.clear();
        for happening in &script {
            happen(&mut bench, happening);
        }
        prop_assert!(bench.effects.is_empty());
    }

    #[test]
    fn every_message_with_an_id_is_answered_or_done(
        script in prop::collection::vec(happening(), 1..60),
    ) {
        let mut bench = Bench::inside();
        for happening in &script {
            happen(&mut bench, happening);
        }
        if bench.session.is_closed() || !bench.session.reads() {
            return Ok(());
        }
        bench.wait(Duration::from_secs(3));
        if bench.session.is_closed() || !bench.session.reads() {
            return Ok(());
        }
        bench.effects.clear();
        bench.say(r#"{"type":"start_game","id":"mine"}"#);
        for _ in 0..3 {
            bench.wait(ANSWER_WITHIN);
        }
        let mine = bench.sent().iter().filter(|sent| sent["id"] == "mine").count();
        prop_assert!(mine == 1 || bench.session.is_closed(), "answered {mine} times");
    }
}
