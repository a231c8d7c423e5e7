//! How this node fares with the registry, and what follows for all of its lobbies.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use protocol::link::Sight;

use crate::lobby::LinkId;

/// A commit without an answer for so long suspends the node.
const ANSWERED_WITHIN: Duration = Duration::from_millis(500);
/// What a gateway has said counts for so long; it says it every second.
const SAID_WITHIN: Duration = Duration::from_secs(1);
/// A node whose own trouble began so much earlier than a gateway's has another one than it. Less than until it hands over.
const TROUBLE_APART: Duration = Duration::from_secs(4);
/// Suspended alone for so long, another may own the lobbies.
const DOUBTS_AFTER: Duration = Duration::from_secs(4);
/// Suspended for so long, the lobbies are handed to whoever can commit them.
const HANDS_OVER_AFTER: Duration = Duration::from_secs(5);
/// The loop runs every second; after so long others may have taken it for dead.
const GAP: Duration = Duration::from_secs(2);
/// Between two tries while the registry is away: doubling.
const SHORTEST_BACKOFF: Duration = Duration::from_millis(100);
const LONGEST_BACKOFF: Duration = Duration::from_secs(1);

/// What may happen to what lobbies do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It leaves once it is committed.
    #[default]
    Committing,
    /// The registry does not answer: nothing leaves.
    Suspended,
    /// Nobody can reach the registry, so nobody can take over: it leaves without being committed.
    Uncommitted,
    /// This node alone can't: nothing leaves, and others shall take over.
    HandingOver,
}

impl Mode {
    /// Whether nothing may leave.
    pub(crate) fn is_suspended(self) -> bool {
        matches!(self, Self::Suspended | Self::HandingOver)
    }
}

/// What the driver is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Keep everything back.
    Suspend,
    /// Let out what waits, uncommitted; take back what was handed over.
    GoOn,
    /// Every lobby is in doubt.
    Doubt,
    /// Hand every lobby to all gateways.
    HandOver,
    /// Write every lobby and its sessions anew before anything else; say so if they were handed over.
    CommitAnew { handed_over: bool },
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Custody {
    mode: Mode,
    /// When the commit under way was sent.
    sent: Option<Instant>,
    /// Since when a release has waited, and nothing was heard of the registry.
    releasing: Option<Instant>,
    /// When the first commit that failed, or the release that it was to tell of, was sent.
    trouble: Option<Instant>,
    /// Since when nothing has left.
    silent: Option<Instant>,
    doubts: bool,
    tries: u32,
    next_try: Option<Instant>,
    /// What each gateway's link has said last, and when.
    gateways: BTreeMap<LinkId, Option<(Instant, Sight)>>,
    looked: Instant,
}

impl Custody {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            mode: Mode::default(),
            sent: None,
            releasing: None,
            trouble: None,
            silent: None,
            doubts: false,
            tries: 0,
            next_try: None,
            gateways: BTreeMap::new(),
            looked: now,
        }
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether something is to be committed though nothing has changed: while the registry does not
    /// answer, and where a release waits, which says nothing by itself.
    pub(crate) fn must_try(&self, now: Instant) -> bool {
        let is_late = self
            .releasing
            .is_some_and(|since| since + ANSWERED_WITHIN <= now);
        self.mode != Mode::Committing || is_late
    }

    /// Whether a commit may be sent now.
    pub(crate) fn may_try(&self, now: Instant) -> bool {
        self.next_try.is_none_or(|at| at <= now)
    }

    /// Takes note that the loop runs; whether it has not for too long.
    pub(crate) fn looks(&mut self, now: Instant) -> bool {
        let before = std::mem::replace(&mut self.looked, now);
        now.saturating_duration_since(before) > GAP
    }

    /// A gateway's link is up: the only one that it has.
    pub(crate) fn linked(&mut self, link: LinkId) {
        self.gateways.insert(link, None);
    }

    pub(crate) fn unlinked(&mut self, link: LinkId) {
        self.gateways.remove(&link);
    }

    /// A gateway says how it fares with the registry.
    pub(crate) fn heard(&mut self, now: Instant, link: LinkId, sight: Sight) {
        if let Some(said) = self.gateways.get_mut(&link) {
            *said = Some((now, sight));
        }
    }

    /// A commit is sent.
    pub(crate) fn sends(&mut self, now: Instant) {
        self.sent = Some(now);
    }

    /// The commit under way was answered, or has failed; `jitter` is from 0 to 1.
    pub(crate) fn answered(&mut self, now: Instant, works: bool, jitter: f64) -> Option<Order> {
        let sent = self.sent.take();
        if works {
            return self.works(now);
        }
        let longest = (SHORTEST_BACKOFF * 2_u32.pow(self.tries.min(4))).min(LONGEST_BACKOFF);
        self.tries += 1;
        self.next_try = Some(now + longest.mul_f64(0.5 + jitter / 2.0));
        self.suspend(sent.unwrap_or(now))
    }

    /// The registry has answered to something else. While a commit waits, that decides.
    pub(crate) fn touched(&mut self, now: Instant) -> Option<Order> {
        if self.sent.is_some() {
            return None;
        }
        self.works(now)
    }

    /// A release is sent.
    pub(crate) fn releases(&mut self, now: Instant) {
        self.releasing.get_or_insert(now);
    }

    /// A release was answered; whether there are others.
    pub(crate) fn released(&mut self, now: Instant, others: bool) -> Option<Order> {
        self.releasing = others.then_some(now);
        self.touched(now)
    }

    fn works(&mut self, now: Instant) -> Option<Order> {
        (self.tries, self.next_try) = (0, None);
        self.releasing = self.releasing.map(|_| now);
        (self.trouble, self.silent, self.doubts) = (None, None, false);
        let before = std::mem::take(&mut self.mode);
        let handed_over = before == Mode::HandingOver;
        (before != Mode::Committing).then_some(Order::CommitAnew { handed_over })
    }

    fn suspend(&mut self, since: Instant) -> Option<Order> {
        if self.mode != Mode::Committing {
            return None;
        }
        self.mode = Mode::Suspended;
        // A lobby that is being released has been silent for as long.
        let since = Some(self.releasing.map_or(since, |at| at.min(since)));
        (self.trouble, self.silent) = (since, since);
        Some(Order::Suspend)
    }

    /// What follows now from all of this; asked again until there is nothing.
    pub(crate) fn decide(&mut self, now: Instant) -> Option<Order> {
        match self.mode {
            Mode::Committing => {
                let sent = self.sent?;
                let is_late = sent + ANSWERED_WITHIN <= now;
                if is_late { self.suspend(sent) } else { None }
            }
            Mode::Suspended => {
                let silent = now.saturating_duration_since(self.silent?);
                if self.all_are_away(now) {
                    self.mode = Mode::Uncommitted;
                    return Some(Order::GoOn);
                }
                if silent > DOUBTS_AFTER && !self.doubts {
                    self.doubts = true;
                    return Some(Order::Doubt);
                }
                (silent >= HANDS_OVER_AFTER).then(|| {
                    self.mode = Mode::HandingOver;
                    Order::HandOver
                })
            }
            Mode::Uncommitted => {
                let mut gateways = self.gateways.values();
                gateways
                    .any(|said| matches!(said, Some((_, Sight::Reachable))))
                    .then(|| {
                        self.mode = Mode::Suspended;
                        // Until now nobody could have taken over: what comes from here on is trouble of its own.
                        (self.trouble, self.silent) = (Some(now), Some(now));
                        self.doubts = false;
                        Order::Suspend
                    })
            }
            // Who is away since before it was handed over has had nobody take it.
            Mode::HandingOver => self.all_are_away(now).then(|| {
                self.mode = Mode::Uncommitted;
                Order::GoOn
            }),
        }
    }

    /// When there may be something to decide, or to try, if nothing comes before.
    pub(crate) fn next_wake(&self) -> Option<Instant> {
        let decision = match self.mode {
            Mode::Committing => self
                .sent
                .or(self.releasing)
                .map(|since| since + ANSWERED_WITHIN),
            Mode::Suspended if !self.doubts => None,
            Mode::Suspended => self.silent.map(|silent| silent + HANDS_OVER_AFTER),
            Mode::Uncommitted | Mode::HandingOver => None,
        };
        decision.into_iter().chain(self.next_try).min()
    }

    /// Whether every gateway that is linked has just said that it can't reach the registry either,
    /// as part of the same trouble.
    fn all_are_away(&self, now: Instant) -> bool {
        let Some(trouble) = self.trouble else {
            return false;
        };
        let own = now.saturating_duration_since(trouble);
        self.gateways.values().all(|said| {
            let Some((at, Sight::Away { since_ms })) = *said else {
                return false;
            };
            let age = now.saturating_duration_since(at);
            let theirs = Duration::from_millis(since_ms).saturating_add(age);
            age <= SAID_WITHIN && own <= theirs.saturating_add(TROUBLE_APART)
        })
    }
}
