//! Who is there, as far as this process knows: merges lists and messages into events.
//!
//! Pure: times come in, events go out. Holds everybody but the own process.
//!
//! Redis' clock may go back, where a replica takes over whose clock is behind: then a time that
//! lies ahead of it says nothing, neither that somebody lives nor that what is read is old.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::{Event, LeftReason, Listing, Presence, Servers, Who};
use crate::{Incarnation, NodeId, Role};

/// So long a run that said goodbye is not believed to be there, whatever a list read just before
/// its key was deleted may say.
const GOODBYE_KEPT: Duration = Duration::from_mins(1);
/// How many goodbyes are kept at most; the oldest go first.
const MAX_GOODBYES: usize = 4096;

/// Everybody else, by id.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    members: HashMap<NodeId, Arc<Presence>>,
    /// The last run of an id that said goodbye, and when (ms of the registry's clock).
    goodbyes: HashMap<NodeId, (Incarnation, u64)>,
    now_ms: u64,
}

impl Roster {
    /// Takes a whole list. Whoever is missing has expired, once their last heartbeat known here
    /// is older than `ttl` and the absence can be `believed`: a Redis that came back, even empty,
    /// must not make everybody leave.
    pub(crate) fn take_list(
        &mut self,
        listing: Listing,
        own: &NodeId,
        ttl: Duration,
        believed: bool,
    ) -> Vec<Event> {
        self.now_ms = listing.now_ms;
        self.forget_goodbyes();
        let mut events = Vec::new();
        let mut listed = HashSet::new();
        for presence in listing.servers {
            if presence.last_seen > self.now_ms {
                // No heartbeat of this clock has followed yet, and perhaps none will.
                continue;
            }
            listed.insert((presence.id.clone(), presence.incarnation));
            if presence.id != *own {
                events.extend(self.take(presence));
            }
        }
        let ttl_ms = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
        let now_ms = self.now_ms;
        self.members.retain(|id, member| {
            if listed.contains(&(id.clone(), member.incarnation)) {
                return true;
            }
            if member.last_seen > now_ms {
                Arc::make_mut(member).last_seen = now_ms;
            }
            let expired = believed && member.last_seen.saturating_add(ttl_ms) <= now_ms;
            if expired {
                events.push(Event::Left {
                    presence: Arc::clone(member),
                    reason: LeftReason::Expired,
                });
            }
            !expired
        });
        events
    }

    /// Takes what the registry holds for one id.
    pub(crate) fn take_one(&mut self, presence: Presence) -> Vec<Event> {
        self.now_ms = self.now_ms.max(presence.last_seen);
        self.take(presence)
    }

    fn take(&mut self, presence: Presence) -> Vec<Event> {
        if self
            .goodbyes
            .get(&presence.id)
            .is_some_and(|(left, _)| *left == presence.incarnation)
        {
            return Vec::new();
        }
        let new = Arc::new(presence);
        let Some(known) = self.members.get(&new.id).cloned() else {
            self.members.insert(new.id.clone(), Arc::clone(&new));
            return vec![Event::Joined(new)];
        };
        if new.incarnation != known.incarnation {
            if !new.replaces(&known) {
                return Vec::new();
            }
            self.members.insert(new.id.clone(), Arc::clone(&new));
            let left = Event::Left {
                presence: known,
                reason: LeftReason::Replaced,
            };
            return vec![left, Event::Joined(new)];
        }
        let is_older = new.last_seen < known.last_seen;
        if is_older && known.last_seen <= self.now_ms {
            return Vec::new();
        }
        let changed = new.differs_from(&known);
        self.members.insert(new.id.clone(), Arc::clone(&new));
        if changed {
            vec![Event::Changed(new)]
        } else {
            Vec::new()
        }
    }

    /// Takes a goodbye, with the last that the process says of itself; one of an older run changes nothing.
    pub(crate) fn take_goodbye(&mut self, who: &Who, last: Option<Box<Presence>>) -> Option<Event> {
        let known = self.members.get(&who.id)?;
        if known.incarnation != who.incarnation {
            return None;
        }
        let is_its_own = |last: &Presence| last.id == who.id && last.incarnation == who.incarnation;
        let presence = match last {
            Some(last) if is_its_own(&last) => Arc::from(last),
            _ => Arc::clone(known),
        };
        if self.goodbyes.len() >= MAX_GOODBYES {
            let oldest = self.goodbyes.iter().min_by_key(|(_, (_, at))| *at);
            if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
                self.goodbyes.remove(&oldest);
            }
        }
        self.goodbyes
            .insert(who.id.clone(), (who.incarnation, self.now_ms));
        self.members.remove(&who.id);
        Some(Event::Left {
            presence,
            reason: LeftReason::Goodbye,
        })
    }

    /// A picture of all members and the own process, if it is one.
    pub(crate) fn snapshot(&self, own: Option<Arc<Presence>>) -> Snapshot {
        let mut servers: Vec<Arc<Presence>> = self.members.values().cloned().chain(own).collect();
        servers.sort_by(|left, right| left.id.cmp(&right.id));
        let mut by_role: BTreeMap<Role, Vec<Arc<Presence>>> = BTreeMap::new();
        for server in &servers {
            by_role
                .entry(server.role.clone())
                .or_default()
                .push(Arc::clone(server));
        }
        Snapshot {
            by_id: servers
                .iter()
                .map(|one| (one.id.clone(), Arc::clone(one)))
                .collect(),
            by_role: by_role
                .into_iter()
                .map(|(role, list)| (role, list.into()))
                .collect(),
            servers: servers.into(),
        }
    }

    fn forget_goodbyes(&mut self) {
        let kept_ms = u64::try_from(GOODBYE_KEPT.as_millis()).unwrap_or(u64::MAX);
        let now_ms = self.now_ms;
        self.goodbyes
            .retain(|_, (_, at)| at.saturating_add(kept_ms) > now_ms);
    }
}

/// Everybody, the own process included, as of one moment.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) servers: Servers,
    pub(crate) by_role: BTreeMap<Role, Servers>,
    pub(crate) by_id: HashMap<NodeId, Arc<Presence>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presence::tests::presence;

    const TTL: Duration = Duration::from_secs(15);

    fn own() -> NodeId {
        NodeId::new("own").expect("a valid id")
    }

    fn seen(id: &str, run: u128, started_at: u64, last_seen: u64) -> Presence {
        let mut presence = presence(id, run, started_at);
        presence.last_seen = last_seen;
        presence
    }

    fn list(roster: &mut Roster, now_ms: u64, servers: Vec<Presence>) -> Vec<String> {
        words(roster.take_list(Listing { now_ms, servers }, &own(), TTL, true))
    }

    fn words(events: impl IntoIterator<Item = Event>) -> Vec<String> {
        events
            .into_iter()
            .map(|event| match event {
                Event::Joined(presence) => format!("joined {}", presence.id),
                Event::Changed(presence) => format!("changed {}", presence.id),
                Event::Left { presence, reason } => format!("left {} {reason}", presence.id),
            })
            .collect()
    }

    #[test]
    fn a_list_brings_and_takes() {
        let mut roster = Roster::default();
        let both = || vec![seen("a", 1, 1, 1_000), seen("own", 9, 1, 1_000)];
        assert_eq!(list(&mut roster, 1_000, both()), ["joined a"]);
        assert_eq!(list(&mut roster, 6_000, both()), [""; 0]);
        assert_eq!(
            list(&mut roster, 15_999, vec![]),
            [""; 0],
            "its heartbeat still counts"
        );
        let empty = Listing {
            now_ms: 16_000,
            servers: vec![],
        };
        assert_eq!(
            words(roster.take_list(empty, &own(), TTL, false)),
            [""; 0],
            "Redis was away: it may not have been able to beat"
        );
        assert_eq!(list(&mut roster, 16_000, vec![]), ["left a expired"]);
    }

    #[test]
    fn a_later_run_replaces_and_an_older_one_is_ignored() {
        let mut roster = Roster::default();
        list(&mut roster, 10, vec![seen("a", 1, 10, 10)]);
        let new = seen("a", 2, 20, 20);
        assert_eq!(
            words(roster.take_one(new.clone())),
            ["left a replaced", "joined a"]
        );
        assert_eq!(words(roster.take_one(seen("a", 1, 10, 30))), [""; 0]);
        let old_run = Who::from(&presence("a", 1, 10));
        assert!(
            roster.take_goodbye(&old_run, None).is_none(),
            "a late goodbye"
        );
        assert_eq!(roster.members[&new.id].incarnation, new.incarnation);
    }

    #[test]
    fn after_a_fail_over_to_a_clock_that_is_behind_everybody_is_seen_as_they_are() {
        let mut roster = Roster::default();
        let all = ["a", "b", "c"].map(|id| seen(id, 1, 1, 100_000));
        list(&mut roster, 100_000, all.to_vec());
        // The replica's clock is 30 s behind. Only `a` has beaten since, and is draining; `b` has
        // not, and is listed with its time of before; `c` is not there.
        let mut draining = seen("a", 1, 1, 72_000);
        draining.state = crate::State::Draining;
        let listing = |a: &Presence| vec![a.clone(), seen("b", 1, 1, 100_000)];
        assert_eq!(list(&mut roster, 73_000, listing(&draining)), ["changed a"]);
        let last_seen = |roster: &Roster| {
            let of = |id| roster.members[&NodeId::new(id).expect("a valid id")].last_seen;
            (of("a"), of("b"))
        };
        assert_eq!(last_seen(&roster), (72_000, 73_000));
        draining.last_seen = 87_000;
        assert_eq!(list(&mut roster, 87_999, listing(&draining)), [""; 0]);
        assert_eq!(
            last_seen(&roster),
            (87_000, 73_000),
            "nothing was heard of b by this clock"
        );
        let mut left = list(&mut roster, 88_000, listing(&draining));
        left.sort();
        assert_eq!(left, ["left b expired", "left c expired"]);
        assert_eq!(
            list(&mut roster, 93_000, listing(&draining)),
            [""; 0],
            "b is not there again because it is still listed"
        );
        let beats = seen("b", 1, 1, 94_000);
        assert_eq!(list(&mut roster, 95_000, vec![beats]), ["joined b"]);
        draining.last_seen = 96_000;
        draining.players = 3;
        assert_eq!(
            words(roster.take_one(draining)),
            ["changed a"],
            "and its messages are believed"
        );
    }

    #[test]
    fn a_run_that_seems_to_be_the_older_one_is_taken_once_the_other_has_lapsed() {
        let mut roster = Roster::default();
        list(&mut roster, 100_000, vec![seen("a", 1, 90_000, 100_000)]);
        // Redis has come back empty, with a clock that is behind.
        let restarted = |last_seen| vec![seen("a", 2, 71_000, last_seen)];
        assert_eq!(list(&mut roster, 71_000, restarted(71_000)), [""; 0]);
        assert_eq!(
            list(&mut roster, 86_000, restarted(86_000)),
            ["left a expired"]
        );
        assert_eq!(list(&mut roster, 91_000, restarted(91_000)), ["joined a"]);
    }

    #[test]
    fn whoever_said_goodbye_does_not_come_back_by_a_late_list() {
        let mut roster = Roster::default();
        let one = seen("a", 1, 1, 1_000);
        list(&mut roster, 1_000, vec![one.clone()]);
        assert_eq!(
            words(roster.take_goodbye(&Who::from(&one), None)),
            ["left a goodbye"]
        );
        assert_eq!(list(&mut roster, 1_001, vec![one]), [""; 0]);
        assert_eq!(
            list(&mut roster, 1_002, vec![seen("a", 2, 5, 1_002)]),
            ["joined a"]
        );
    }

    #[test]
    fn whoever_leaves_is_seen_as_its_goodbye_says_and_not_as_another_says() {
        let told = |last: Presence| {
            let mut roster = Roster::default();
            let one = seen("a", 1, 1, 1_000);
            list(&mut roster, 1_000, vec![one.clone()]);
            let left = roster.take_goodbye(&Who::from(&one), Some(Box::new(last)));
            let Some(Event::Left { presence, .. }) = left else {
                panic!("{left:?}");
            };
            presence.handed_over
        };
        let handed = |id, run| Presence {
            handed_over: 34,
            ..seen(id, run, 1, 1_000)
        };
        assert_eq!(told(handed("a", 1)), 34);
        assert_eq!((told(handed("b", 1)), told(handed("a", 2))), (0, 0));
    }
}
