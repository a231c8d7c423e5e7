use protocol::decide::DecideFailure;
use rules::{Game, Seat, SeatCount, Seed};
use tokio::sync::mpsc;

use super::*;
use crate::link::outbox;

const TIMEOUT: Duration = Duration::from_secs(5);

struct World {
    bridge: Bridge,
    now: Instant,
    asked: u128,
}

fn world(inflight: u64) -> World {
    let limits = BridgeLimits {
        timeout: TIMEOUT,
        inflight: Limit::at_most(inflight),
        breaker: BreakerLimits {
            failures: 2,
            cooldown: Duration::from_secs(30),
        },
    };
    World {
        bridge: Bridge::new(limits),
        now: chassis::clock::now(),
        asked: 0,
    }
}

fn question() -> Question {
    let options = rules::Options::default();
    let (game, _) = Game::new(SeatCount::MIN, options, Seed::new([1; 32]));
    let seat: Seat = game.to_act().unwrap();
    let level = protocol::lobby::AiLevel::Normal;
    Question {
        seat,
        level,
        options,
        observation: game.observe(Some(seat)),
        plays: Vec::new(),
    }
}

fn matter(turn: u32) -> Matter {
    Matter {
        code: "TABLE2".parse().unwrap(),
        game: 1,
        turn,
    }
}

impl World {
    fn link(&mut self, id: u64) -> mpsc::Receiver<ToAi> {
        let (outbox, queue) = outbox();
        self.bridge.link_up(LinkId(id), format!("ai-{id}"), outbox);
        queue
    }

    fn ask(&mut self) -> Option<Verdict> {
        self.asked += 1;
        let turn = u32::try_from(self.asked).unwrap();
        let request = Uuid::from_u128(self.asked);
        self.bridge
            .ask(self.now, request, matter(turn), question(), Span::NONE)
            .map(|decided| decided.verdict)
    }

    fn hear(&mut self, link: u64, message: &ToNode) -> Option<Verdict> {
        self.bridge
            .hear(self.now, LinkId(link), message)
            .map(|decided| decided.verdict)
    }
}

fn asked(queue: &mut mpsc::Receiver<ToAi>) -> Option<Decide> {
    match queue.try_recv() {
        Ok(ToAi::Decide(decide)) => Some(*decide),
        _ => None,
    }
}

fn failed(request_id: Uuid) -> ToNode {
    ToNode::Failed {
        request_id,
        failure: DecideFailure::Internal,
    }
}

fn random(turn: u32) -> Verdict {
    Verdict {
        matter: matter(turn),
        action: None,
    }
}

#[test]
fn without_a_link_the_move_is_random_at_once() {
    let mut world = world(32);
    assert_eq!(world.ask(), Some(random(1)));
    assert_eq!(world.bridge.next_timeout(), None);
}

#[test]
fn links_take_turns_and_a_legal_decision_is_the_verdict() {
    let mut world = world(32);
    let (mut first, mut second) = (world.link(1), world.link(2));
    for _ in 0..4 {
        assert_eq!(world.ask(), None);
    }
    let of_first: Vec<Decide> = std::iter::from_fn(|| asked(&mut first)).collect();
    let of_second: Vec<Decide> = std::iter::from_fn(|| asked(&mut second)).collect();
    assert_eq!((of_first.len(), of_second.len()), (2, 2));
    let action = of_first[0].observation.own.legal_actions[0];
    let decision = ToNode::Decision {
        request_id: of_first[0].request_id,
        action,
    };
    assert_eq!(world.hear(2, &decision), None, "it was not asked");
    let verdict = Verdict {
        matter: matter(1),
        action: Some(action),
    };
    assert_eq!(world.hear(1, &decision), Some(verdict));
    assert_eq!(world.hear(1, &decision), None, "once");
}

#[test]
fn an_illegal_decision_is_a_random_move() {
    let mut world = world(32);
    let mut queue = world.link(1);
    world.ask();
    let request_id = asked(&mut queue).unwrap().request_id;
    let action = Action::Bid { value: 60 };
    assert_eq!(
        world.hear(1, &ToNode::Decision { request_id, action }),
        Some(random(1))
    );
    assert_eq!(world.bridge.counters().illegal, 1);
}

#[test]
fn a_late_answer_is_none() {
    let mut world = world(32);
    let mut queue = world.link(1);
    world.ask();
    let decide = asked(&mut queue).unwrap();
    assert_eq!(decide.timeout_ms, 5000);
    assert_eq!(world.bridge.next_timeout(), Some(world.now + TIMEOUT));
    assert!(
        world
            .bridge
            .expire(world.now + Duration::from_millis(4999))
            .is_empty()
    );
    let late = world.bridge.expire(world.now + TIMEOUT);
    let late: Vec<_> = late.iter().map(|one| (one.verdict, one.took)).collect();
    assert_eq!(late, [(random(1), TIMEOUT)]);
    let action = decide.observation.own.legal_actions[0];
    let decision = ToNode::Decision {
        request_id: decide.request_id,
        action,
    };
    assert_eq!(world.hear(1, &decision), None);
}

#[test]
fn who_dies_hands_on_within_the_same_time() {
    let mut world = world(32);
    let (mut first, mut second, mut third) = (world.link(1), world.link(2), world.link(3));
    world.ask();
    let request = asked(&mut first).unwrap().request_id;
    world.now += Duration::from_secs(2);
    assert!(world.bridge.link_down(world.now, LinkId(1)).is_empty());
    assert_eq!(asked(&mut second).unwrap().timeout_ms, 3000);
    assert!(world.bridge.link_down(world.now, LinkId(2)).is_empty());
    let again = asked(&mut third).unwrap();
    assert_eq!((again.request_id, again.timeout_ms), (request, 3000));
    let verdicts = world.bridge.link_down(world.now, LinkId(3));
    assert_eq!(
        verdicts[0].verdict,
        random(1),
        "nobody is left who was not asked"
    );
    assert_eq!(world.bridge.counters().passed_on, 3);
    assert!(!world.bridge.is_available());
}

#[test]
fn who_says_that_it_has_no_move_costs_no_time() {
    let mut world = world(32);
    let (mut first, mut second) = (world.link(1), world.link(2));
    world.ask();
    let request = asked(&mut first).unwrap().request_id;
    assert_eq!(world.hear(2, &failed(request)), None, "it was not asked");
    assert_eq!(world.hear(1, &failed(request)), Some(random(1)));
    assert_eq!(asked(&mut second), None);
    assert_eq!(world.bridge.counters().failed, 1);
    assert_eq!(world.bridge.next_timeout(), None);
}

#[test]
fn one_of_several_that_hangs_is_left_alone_and_the_others_decide() {
    let mut world = world(32);
    let (_hangs, mut works) = (world.link(1), world.link(2));
    let mut late = 0;
    for _ in 0..20 {
        assert_eq!(world.ask(), None);
        if let Some(decide) = asked(&mut works) {
            let action = decide.observation.own.legal_actions[0];
            let request_id = decide.request_id;
            let verdict = world.hear(2, &ToNode::Decision { request_id, action });
            assert_eq!(verdict.unwrap().action, Some(action));
        } else {
            world.now += TIMEOUT;
            late += world.bridge.expire(world.now).len();
        }
    }
    assert_eq!(late, 2, "then its breaker is open");
}

#[test]
fn a_link_with_enough_to_do_is_not_asked() {
    let mut world = world(1);
    let mut queue = world.link(1);
    assert_eq!(world.ask(), None);
    assert_eq!(world.ask(), Some(random(2)));
    let request = asked(&mut queue).unwrap().request_id;
    world.hear(1, &failed(request));
    assert_eq!(world.ask(), None, "there is room again");
}

#[test]
fn a_link_that_fails_again_and_again_is_left_alone_for_a_while() {
    let mut world = world(32);
    let mut queue = world.link(1);
    for _ in 0..2 {
        world.ask();
        let request = asked(&mut queue).unwrap().request_id;
        world.hear(1, &failed(request));
    }
    assert_eq!(world.ask(), Some(random(3)));
    assert_eq!(world.bridge.load(), (1, 1, 0));
    world.now += Duration::from_secs(30);
    assert_eq!(world.ask(), None, "one tries");
    assert_eq!(world.ask(), Some(random(5)));
}

#[test]
fn a_new_link_is_no_new_trust() {
    let mut world = world(32);
    for turn in [1, 2] {
        let mut queue = world.link(1);
        assert_eq!(world.ask(), None);
        assert!(asked(&mut queue).is_some());
        // As after a frame that is no message.
        let verdicts = world.bridge.link_down(world.now, LinkId(1));
        assert_eq!(verdicts[0].verdict, random(turn));
    }
    let mut queue = world.link(1);
    assert_eq!(world.ask(), Some(random(3)), "it is left alone");
    assert_eq!(world.bridge.load(), (1, 1, 0));
    world.now += Duration::from_secs(30);
    assert_eq!(world.ask(), None, "one tries");
    let decide = asked(&mut queue).unwrap();
    let action = decide.observation.own.legal_actions[0];
    let request_id = decide.request_id;
    world.hear(1, &ToNode::Decision { request_id, action });
    assert_eq!(world.bridge.load(), (1, 0, 0), "a good answer closes it");
}

#[test]
fn a_link_that_goes_with_nothing_to_do_is_no_failure() {
    let mut world = world(32);
    for _ in 0..5 {
        let _queue = world.link(1);
        world.bridge.link_down(world.now, LinkId(1));
    }
    let _queue = world.link(1);
    assert_eq!(world.ask(), None);
}

#[test]
fn who_is_late_again_and_again_is_left_alone_too() {
    let mut world = world(1);
    let _queue = world.link(1);
    for turn in [1, 2] {
        assert_eq!(world.ask(), None, "the late one takes no room");
        world.now += TIMEOUT;
        let late = world.bridge.expire(world.now);
        assert_eq!(late[0].verdict, random(turn));
    }
    assert_eq!(world.ask(), Some(random(3)));
}
