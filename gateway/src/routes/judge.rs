//! Who may be relieved of a lobby: one judgement of one owner, from all that this gateway knows.
//!
//! Pure and without memory: the same case is always judged in the same way. The rules are those of
//! "Who owns a lobby" in `docs/architecture.md`.
//!
//! Invariant: nobody is relieved because their presence is absent; it takes a link that is dead, a
//! silence that the registry confirms, or the owner's own word.

use std::time::{Duration, Instant};

use protocol::link::Why;
use registry::Incarnation;

use crate::links::Standing;

/// A link over which nothing came for so long is silent.
pub(crate) const SILENT_AFTER: Duration = Duration::from_secs(5);
/// The registry confirms a silence if the owner's last heartbeat is so old: one was missed, and
/// more than a while ago.
const NO_HEARTBEAT_FOR: Duration = Duration::from_secs(8);
/// A heartbeat that is so much younger than what was last heard over the link proves that the
/// owner lives and that its lobby thread runs: it would have said `stalled` by then.
const LIVES_AFTER: Duration = Duration::from_secs(7);

/// What is known of the lobby whose owner is judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case<'a> {
    pub(crate) now: Instant,
    /// Whom the record names; none if it was released.
    pub(crate) owner: Option<Named>,
    /// Whether the owner has handed this lobby over, and not taken that back.
    pub(crate) handed_over: bool,
    /// The way to that node; none if there is none.
    pub(crate) link: Option<&'a Standing>,
    /// What the registry says of that node; none if it is not listed.
    pub(crate) presence: Option<Sign>,
    /// Whether what the registry says is current.
    pub(crate) registry_current: bool,
    /// Whether claims may be asked for just now.
    pub(crate) may_claim: bool,
}

/// The owner that a record names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) incarnation: Incarnation,
    /// Since when this gateway has seen the record name it.
    pub(crate) since: Instant,
}

/// What the registry says of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sign {
    pub(crate) incarnation: Incarnation,
    /// The age of its last heartbeat when the list was read.
    pub(crate) heartbeat_age: Duration,
    /// When that heartbeat was, by this process' clock.
    pub(crate) heartbeat_at: Instant,
    /// It says that its lobby thread does not run.
    pub(crate) stalled: bool,
}

/// What follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The owner answers: go there.
    Ask,
    /// Nothing can be said yet, or nothing done.
    Wait,
    /// Another node shall take the lobby.
    Claim(Why),
    /// The owner lives, and only this gateway can't reach it: its players shall come back through
    /// another.
    Alone,
}

/// Judges the owner that the record names.
pub(crate) fn judge(case: &Case<'_>) -> Verdict {
    match sentence(case) {
        // What was heard, or was not, while this gateway itself was away says nothing of others.
        Verdict::Claim(_) | Verdict::Alone if !case.may_claim => Verdict::Wait,
        verdict => verdict,
    }
}

/// Whether a node that does not answer would be relieved of whatever it owns: nobody needs to wait
/// for what it might say.
pub(crate) fn is_lost(
    now: Instant,
    link: &Standing,
    presence: Option<Sign>,
    registry_current: bool,
) -> bool {
    let owner = Named {
        incarnation: link.listed,
        since: link.heard_at,
    };
    let verdict = sentence(&Case {
        now,
        owner: Some(owner),
        handed_over: false,
        link: Some(link),
        presence,
        registry_current,
        may_claim: true,
    });
    link.up.is_none() && matches!(verdict, Verdict::Claim(_))
}

fn sentence(case: &Case<'_>) -> Verdict {
    let Some(owner) = case.owner else {
        return Verdict::Claim(Why::Released);
    };
    if case.handed_over {
        return Verdict::Claim(Why::HandedOver);
    }
    match case.link {
        Some(link) if link.up.is_some_and(|run| run != owner.incarnation) => {
            return Verdict::Claim(Why::Restarted);
        }
        Some(link) if link.up.is_some() && case.now < link.heard_at + SILENT_AFTER => {
            return Verdict::Ask;
        }
        Some(link) if link.listed == owner.incarnation && link.is_dead() => {
            return Verdict::Claim(Why::Dead);
        }
        _ => {}
    }
    of_silence(case, owner)
}

/// Nothing comes over the link, and nothing says why.
fn of_silence(case: &Case<'_>, owner: Named) -> Verdict {
    // Of a node that was never linked nothing could be heard before the record was seen.
    let own = case.link.filter(|link| link.listed == owner.incarnation);
    let heard_at = own.map_or(owner.since, |link| link.heard_at);
    if case.now < heard_at + SILENT_AFTER || !case.registry_current {
        return Verdict::Wait;
    }
    let sign = case
        .presence
        .filter(|sign| sign.incarnation == owner.incarnation);
    match sign {
        None => Verdict::Claim(Why::Silent),
        Some(sign) if sign.stalled || sign.heartbeat_age >= NO_HEARTBEAT_FOR => {
            Verdict::Claim(Why::Silent)
        }
        Some(sign) if sign.heartbeat_at >= heard_at + LIVES_AFTER => Verdict::Alone,
        Some(_) => Verdict::Wait,
    }
}

#[cfg(test)]
mod tests;
