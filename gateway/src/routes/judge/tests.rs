//! Each sentence of "Who may be relieved", named for it.

use super::*;
use crate::links::Failure;
use crate::routes::caution::{Caution, RegistryView};
use Verdict::{Alone, Ask, Claim, Wait};

/// The owner in the record.
const OWNER: u128 = 1;
const LATER_RUN: u128 = 2;

fn run(number: u128) -> Incarnation {
    Incarnation::new(uuid::Uuid::from_u128(number))
}

/// What happened, in seconds since the record was first seen, and what follows at a time.
struct Bench {
    start: Instant,
    owner: Option<u128>,
    handed_over: bool,
    link: Option<Standing>,
    presence: Option<(u128, f64, f64, bool)>,
    registry_current: bool,
    may_claim: bool,
}

impl Bench {
    /// The owner is linked and was heard at 0, its heartbeat is fresh, the registry well.
    fn well() -> Self {
        let start = chassis::clock::now() + Duration::from_mins(1);
        let mut link = Standing::new(start, run(OWNER));
        link.connected(start, run(OWNER));
        Self {
            start,
            owner: Some(OWNER),
            handed_over: false,
            link: Some(link),
            presence: Some((OWNER, 0.0, 1.0, false)),
            registry_current: true,
            may_claim: true,
        }
    }

    /// The link was reset at 0.
    fn reset() -> Self {
        let mut bench = Self::well();
        let start = bench.start;
        bench.link().disconnected(start);
        bench
    }

    fn link(&mut self) -> &mut Standing {
        self.link.as_mut().unwrap()
    }

    fn at(&self, seconds: f64) -> Instant {
        // Times before the start of the case are as far back as is needed.
        let offset = Duration::from_secs_f64(seconds.abs());
        if seconds < 0.0 {
            self.start.checked_sub(offset).unwrap()
        } else {
            self.start + offset
        }
    }

    fn refused(&mut self) {
        self.link().failed(Failure::Refused);
    }

    /// The last heartbeat of that run, and how old it was when the list was read.
    fn heartbeat(&mut self, run: u128, at: f64, age: f64) {
        self.presence = Some((run, at, age, false));
    }

    fn sign(&self) -> Option<Sign> {
        self.presence.map(|(number, at, age, stalled)| Sign {
            incarnation: run(number),
            heartbeat_age: Duration::from_secs_f64(age),
            heartbeat_at: self.at(at),
            stalled,
        })
    }

    fn judge(&self, seconds: f64) -> Verdict {
        let owner = self.owner.map(|number| Named {
            incarnation: run(number),
            since: self.start,
        });
        judge(&Case {
            now: self.at(seconds),
            owner,
            handed_over: self.handed_over,
            link: self.link.as_ref(),
            presence: self.sign(),
            registry_current: self.registry_current,
            may_claim: self.may_claim,
        })
    }
}

#[test]
fn an_owner_that_answers_is_asked() {
    assert_eq!(Bench::well().judge(4.9), Ask);
}

#[test]
fn absent_presence_alone_relieves_nobody() {
    let mut bench = Bench::well();
    bench.presence = None;
    assert_eq!(bench.judge(4.9), Ask, "while its link lives");
    let mut bench = Bench::reset();
    bench.presence = None;
    assert_eq!(bench.judge(4.9), Wait, "nor while its link may come back");
}

#[test]
fn a_link_that_was_reset_alone_relieves_nobody() {
    let mut bench = Bench::reset();
    assert_eq!(bench.judge(0.5), Wait);
    bench.refused();
    assert_eq!(bench.judge(0.5), Wait, "nor one refusal");
}

#[test]
fn a_link_that_is_reset_and_refused_twice_is_dead() {
    let mut bench = Bench::reset();
    bench.refused();
    bench.refused();
    assert_eq!(
        bench.judge(0.3),
        Claim(Why::Dead),
        "whatever the registry says"
    );
}

#[test]
fn a_link_that_was_never_up_and_is_refused_twice_is_dead() {
    let mut bench = Bench::well();
    bench.link = Some(Standing::new(bench.start, run(OWNER)));
    bench.refused();
    bench.refused();
    assert_eq!(bench.judge(0.3), Claim(Why::Dead));
}

#[test]
fn another_runs_refusals_say_nothing_of_this_one() {
    let mut bench = Bench::reset();
    bench.link = Some(Standing::new(bench.start, run(LATER_RUN)));
    bench.refused();
    bench.refused();
    assert_eq!(bench.judge(0.5), Wait);
}

#[test]
fn another_incarnation_that_answers_relieves_the_one_before() {
    let mut bench = Bench::well();
    let start = bench.start;
    bench.link().connected(start, run(LATER_RUN));
    assert_eq!(bench.judge(0.1), Claim(Why::Restarted));
}

#[test]
fn another_node_under_its_address_relieves_it() {
    let mut bench = Bench::reset();
    bench.link().failed(Failure::AnotherNode);
    assert_eq!(bench.judge(0.1), Claim(Why::Dead));
}

#[test]
fn a_silence_of_5_s_relieves_only_if_the_registry_agrees() {
    for (age, stalled, presence, verdict) in [
        (8.0, false, OWNER, Claim(Why::Silent)),
        (7.9, false, OWNER, Wait),
        (1.0, true, OWNER, Claim(Why::Silent)),
        (1.0, false, LATER_RUN, Claim(Why::Silent)),
    ] {
        for mut bench in [Bench::well(), Bench::reset()] {
            bench.presence = Some((presence, 0.5, age, stalled));
            assert_eq!(
                bench.judge(4.9),
                if bench.link().up.is_some() { Ask } else { Wait }
            );
            assert_eq!(bench.judge(5.0), verdict, "{age} {stalled} {presence}");
        }
    }
}

#[test]
fn a_node_is_lost_if_it_would_be_relieved_of_what_it_owned() {
    for (presence, current, lost) in [
        (Some((OWNER, -4.0, 9.0, false)), true, true),
        (None, true, true),
        (Some((OWNER, 0.5, 7.9, false)), true, false),
        (Some((OWNER, -4.0, 9.0, false)), false, false),
    ] {
        let mut bench = Bench::reset();
        bench.presence = presence;
        let is_lost = |bench: &Bench, seconds| {
            let link = bench.link.as_ref().unwrap();
            is_lost(bench.at(seconds), link, bench.sign(), current)
        };
        assert!(!is_lost(&bench, 4.9), "{presence:?}");
        assert_eq!(is_lost(&bench, 5.0), lost, "{presence:?}");
        let start = bench.start;
        bench.link().connected(start, run(LATER_RUN));
        assert!(!is_lost(&bench, 5.0), "another run answers");
    }
}

#[test]
fn an_owner_that_is_not_listed_and_was_never_linked_is_silent_since_the_record_was_seen() {
    let mut bench = Bench::well();
    (bench.link, bench.presence) = (None, None);
    assert_eq!(bench.judge(4.9), Wait);
    assert_eq!(bench.judge(5.0), Claim(Why::Silent));
    bench.heartbeat(OWNER, 0.0, 1.0);
    assert_eq!(bench.judge(5.0), Wait, "one that has just come");
}

#[test]
fn a_registry_that_is_not_current_agrees_with_nothing() {
    let mut bench = Bench::reset();
    bench.presence = None;
    bench.registry_current = false;
    assert_eq!(bench.judge(60.0), Wait);
}

#[test]
fn an_owner_that_released_the_lobby_is_relieved() {
    let mut bench = Bench::well();
    bench.owner = None;
    assert_eq!(bench.judge(0.0), Claim(Why::Released));
}

#[test]
fn an_owner_that_asked_to_be_relieved_is() {
    for mut bench in [Bench::well(), Bench::reset()] {
        bench.handed_over = true;
        assert_eq!(bench.judge(0.1), Claim(Why::HandedOver));
    }
}

#[test]
fn no_claim_is_asked_for_while_that_is_not_allowed() {
    let mut dead = Bench::reset();
    dead.refused();
    dead.refused();
    let mut released = Bench::well();
    released.owner = None;
    let mut handed = Bench::well();
    handed.handed_over = true;
    let mut restarted = Bench::well();
    let start = restarted.start;
    restarted.link().connected(start, run(LATER_RUN));
    let mut silent = Bench::reset();
    silent.presence = None;
    for mut bench in [dead, released, handed, restarted, silent] {
        assert!(matches!(bench.judge(6.0), Claim(_)));
        bench.may_claim = false;
        assert_eq!(bench.judge(6.0), Wait);
    }
}

#[test]
fn a_gateway_that_was_stopped_for_8_s_relieves_nobody() {
    let mut bench = Bench::well();
    // What the owner has said meanwhile, here and to the registry, is not read yet.
    bench.heartbeat(OWNER, -1.0, 9.0);
    let registry = RegistryView {
        reachable: true,
        run_id: Some("one"),
        run_age: None,
        missed: false,
    };
    let mut caution = Caution::new(bench.start);
    for seconds in [0.0, 8.0] {
        caution.look(bench.at(seconds), registry);
    }
    assert_eq!(bench.judge(8.0), Claim(Why::Silent), "but for that");
    for seconds in [8.0, 12.9] {
        bench.may_claim = caution.may_claim(bench.at(seconds));
        assert_eq!(bench.judge(seconds), Wait);
    }
    // By then all of it is.
    let heard_at = bench.at(12.0);
    bench.link().connected(heard_at, run(OWNER));
    bench.may_claim = caution.may_claim(bench.at(13.0));
    assert!(bench.may_claim);
    assert_eq!(bench.judge(13.0), Ask);
}

#[test]
fn a_gateway_that_alone_cant_reach_a_living_owner_says_so() {
    for mut bench in [Bench::well(), Bench::reset()] {
        bench.heartbeat(OWNER, 6.9, 3.0);
        assert_eq!(
            bench.judge(12.0),
            Wait,
            "its lobby thread may have stalled since"
        );
        bench.heartbeat(OWNER, 7.0, 3.0);
        assert_eq!(bench.judge(12.0), Alone);
        bench.may_claim = false;
        assert_eq!(bench.judge(12.0), Wait, "or this gateway stood still");
    }
}
