//! The rules by table: what happens when, and what is decided.

use std::time::{Duration, Instant};

use protocol::link::Sight;

use super::*;
use crate::lobby::LinkId;

const AWAY: Sight = Sight::Away { since_ms: 500 };

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A node with a gateway on each of these links, whose commit at 0 fails or is not answered.
fn suspended(start: Instant, links: &[u64]) -> Custody {
    let mut custody = Custody::new(start);
    for link in links {
        custody.linked(LinkId(*link));
    }
    custody.sends(start);
    assert_eq!(custody.decide(start + ms(499)), None);
    assert_eq!(custody.decide(start + ms(500)), Some(Order::Suspend));
    custody
}

/// Such a node with a gateway on link 1, which has said that it is away too: at 0.6 s its games go on unsaved.
fn uncommitted(start: Instant) -> Custody {
    let mut custody = suspended(start, &[1]);
    custody.heard(start + ms(600), LinkId(1), AWAY);
    assert_eq!(custody.decide(start + ms(600)), Some(Order::GoOn));
    custody
}

#[test]
fn a_commit_that_fails_or_has_no_answer_for_half_a_second_suspends() {
    let start = chassis::clock::now();
    suspended(start, &[]);
    let mut custody = Custody::new(start);
    custody.sends(start);
    assert_eq!(custody.answered(start, false, 0.0), Some(Order::Suspend));
    assert!(!custody.may_try(start) && custody.may_try(start + ms(50)));
    custody.sends(start + ms(50));
    let anew = Order::CommitAnew { handed_over: false };
    assert_eq!(custody.answered(start + ms(60), true, 0.0), Some(anew));
    assert_eq!(custody.mode(), Mode::Committing);
}

#[test]
fn it_goes_on_uncommitted_once_every_gateway_has_said_within_a_second_that_it_is_away_too() {
    let start = chassis::clock::now();
    // What two gateways said, each so many ms before it is decided at 1.5 s.
    let cases = [
        (Some((AWAY, 0)), Some((AWAY, 900)), true),
        (Some((AWAY, 0)), Some((AWAY, 1001)), false),
        (Some((AWAY, 0)), None, false),
        (Some((AWAY, 0)), Some((Sight::Reachable, 0)), false),
    ];
    for (one, two, goes_on) in cases {
        let mut custody = suspended(start, &[1, 2]);
        let now = start + ms(1500);
        for (link, said) in [(1, one), (2, two)] {
            if let Some((sight, before)) = said {
                custody.heard(start + ms(1500 - before), LinkId(link), sight);
            }
        }
        let decided = custody.decide(now) == Some(Order::GoOn);
        assert_eq!(decided, goes_on, "{one:?} {two:?}");
    }
}

#[test]
fn a_closed_link_does_not_count_and_a_new_one_stands_for_the_gateway() {
    let start = chassis::clock::now();
    let mut custody = suspended(start, &[1, 2]);
    custody.heard(start + ms(600), LinkId(1), AWAY);
    assert_eq!(custody.decide(start + ms(600)), None);
    custody.unlinked(LinkId(2));
    assert_eq!(custody.decide(start + ms(600)), Some(Order::GoOn));

    let mut custody = suspended(start, &[1]);
    custody.unlinked(LinkId(1));
    custody.linked(LinkId(7));
    custody.heard(start + ms(600), LinkId(7), AWAY);
    assert_eq!(custody.decide(start + ms(600)), Some(Order::GoOn));
}

#[test]
fn its_own_trouble_must_have_begun_at_most_four_seconds_before_theirs() {
    let start = chassis::clock::now();
    for (since_ms, goes_on) in [(0, false), (400, false), (500, true)] {
        let mut custody = suspended(start, &[1]);
        let now = start + ms(4500);
        custody.heard(now, LinkId(1), Sight::Away { since_ms });
        let decided = custody.decide(now);
        assert_eq!(decided == Some(Order::GoOn), goes_on, "{since_ms}");
    }
}

#[test]
fn a_gateway_that_reaches_the_registry_again_stops_it() {
    let start = chassis::clock::now();
    let mut custody = uncommitted(start);
    assert_eq!(custody.decide(start + ms(9000)), None, "silence does not");
    custody.heard(start + ms(9000), LinkId(1), Sight::Reachable);
    assert_eq!(custody.decide(start + ms(9000)), Some(Order::Suspend));
    // From then on it is suspended anew.
    assert_eq!(custody.decide(start + ms(13_000)), None);
    assert_eq!(custody.decide(start + ms(13_001)), Some(Order::Doubt));
    assert_eq!(custody.decide(start + ms(14_000)), Some(Order::HandOver));
}

#[test]
fn a_registry_that_goes_again_at_once_is_away_for_everybody_again() {
    let start = chassis::clock::now();
    let mut custody = uncommitted(start);
    let back = start + ms(17_000);
    custody.heard(back, LinkId(1), Sight::Reachable);
    assert_eq!(custody.decide(back), Some(Order::Suspend));
    // It was gone before anything could be committed.
    let since_ms = 300;
    custody.heard(back + ms(700), LinkId(1), Sight::Away { since_ms });
    assert_eq!(custody.decide(back + ms(700)), Some(Order::GoOn));
}

#[test]
fn suspended_alone_it_doubts_after_four_seconds_and_hands_over_after_five() {
    let start = chassis::clock::now();
    let mut custody = suspended(start, &[1]);
    custody.heard(start + ms(4000), LinkId(1), Sight::Reachable);
    assert_eq!(custody.decide(start + ms(4000)), None);
    assert_eq!(custody.decide(start + ms(4100)), Some(Order::Doubt));
    assert_eq!(custody.decide(start + ms(4999)), None);
    assert_eq!(custody.decide(start + ms(5000)), Some(Order::HandOver));
    // Whoever could reach it after that may have had the lobbies taken over.
    let since_ms = 1099;
    custody.heard(start + ms(5100), LinkId(1), Sight::Away { since_ms });
    assert_eq!(custody.decide(start + ms(5100)), None);
    assert!(custody.mode().is_suspended());
    let anew = Order::CommitAnew { handed_over: true };
    assert_eq!(custody.answered(start + ms(6000), true, 0.0), Some(anew));
}

#[test]
fn what_was_handed_over_while_nobody_could_take_it_goes_on_uncommitted_after_all() {
    let start = chassis::clock::now();
    let mut custody = suspended(start, &[1, 2]);
    custody.heard(start + ms(4900), LinkId(1), Sight::Away { since_ms: 4800 });
    assert_eq!(custody.decide(start + ms(5000)), Some(Order::Doubt));
    assert_eq!(custody.decide(start + ms(5000)), Some(Order::HandOver));
    // The other one has only been silent.
    custody.heard(start + ms(5800), LinkId(1), Sight::Away { since_ms: 5700 });
    assert_eq!(custody.decide(start + ms(5800)), None);
    custody.heard(start + ms(5800), LinkId(2), Sight::Away { since_ms: 1800 });
    assert_eq!(custody.decide(start + ms(5800)), Some(Order::GoOn));
    assert_eq!(custody.mode(), Mode::Uncommitted);
}

#[test]
fn a_release_that_waits_has_a_commit_tried_and_counts_as_the_trouble_that_it_tells_of() {
    let start = chassis::clock::now();
    let mut custody = Custody::new(start);
    custody.linked(LinkId(1));
    custody.releases(start);
    custody.releases(start + ms(400));
    assert_eq!(custody.next_wake(), Some(start + ms(500)));
    assert!(!custody.must_try(start + ms(499)) && custody.must_try(start + ms(500)));
    // What answers meanwhile shows that the registry is there: the time runs anew.
    assert_eq!(custody.touched(start + ms(500)), None);
    assert!(!custody.must_try(start + ms(999)) && custody.must_try(start + ms(1000)));
    custody.sends(start + ms(1000));
    assert_eq!(custody.decide(start + ms(1500)), Some(Order::Suspend));
    assert_eq!(custody.decide(start + ms(4501)), Some(Order::Doubt));
    assert_eq!(custody.decide(start + ms(5500)), Some(Order::HandOver));
    let anew = Order::CommitAnew { handed_over: true };
    assert_eq!(custody.answered(start + ms(6000), true, 0.0), Some(anew));
    assert_eq!(custody.released(start + ms(6000), true), None);
    assert!(custody.must_try(start + ms(6500)), "the other waits");
    assert_eq!(custody.released(start + ms(6500), false), None);
    assert!(!custody.must_try(start + ms(60_000)));
}

#[test]
fn a_loop_that_has_not_run_for_two_seconds_is_noticed() {
    let start = chassis::clock::now();
    let mut custody = Custody::new(start);
    assert!(!custody.looks(start + ms(2000)));
    assert!(custody.looks(start + ms(4001)));
    assert!(!custody.looks(start + ms(4002)));
}

#[test]
fn in_doubt_an_answer_to_a_question_of_before_says_nothing() {
    let start = chassis::clock::now();
    let mut doubt = Doubt::none(1);
    let (before, start) = (start, start + ms(1));
    doubt.gap(start);
    assert!(!doubt.lets_out() && !doubt.lets_commit() && doubt.asks(start));
    for said in [Said::Ok, Said::Relieved, Said::Behind] {
        let verdict = doubt.answered(start, before, 1, said);
        assert_eq!(verdict, Verdict::Unsure, "{said:?}");
    }
    assert_eq!(doubt.answered(start, start, 1, Said::Ok), Verdict::Sure);
    assert!(doubt.lets_out());
}

#[test]
fn where_the_record_is_absent_older_or_of_another_run_a_second_ok_is_waited_for() {
    let start = chassis::clock::now();
    for (said, run) in [(Said::Behind, 1), (Said::Ok, 2)] {
        let mut doubt = Doubt::none(1);
        doubt.gap(start);
        assert_eq!(doubt.answered(start, start, run, said), Verdict::Unsure);
        assert!(!doubt.lets_out() && doubt.lets_commit());
        let soon = start + ms(4999);
        assert_eq!(doubt.answered(soon, soon, run, Said::Ok), Verdict::Unsure);
        let later = start + ms(5000);
        assert!(!doubt.asks(soon) && doubt.asks(later));
        assert_eq!(doubt.answered(later, later, run, Said::Ok), Verdict::Sure);
        assert!(doubt.lets_out());
    }
}

#[test]
fn relieved_drops_at_once_whatever_was_lost() {
    let start = chassis::clock::now();
    let mut doubt = Doubt::none(1);
    doubt.gap(start);
    doubt.answered(start, start, 2, Said::Behind);
    let later = start + ms(5000);
    let verdict = doubt.answered(later, later, 2, Said::Relieved);
    assert_eq!(verdict, Verdict::Relieved);
}
