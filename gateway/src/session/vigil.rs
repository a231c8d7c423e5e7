//! Whether the player is still there, and what has to be done from time to time while they are.

use std::time::{Duration, Instant};

use protocol::ConnectionId;

/// Whoever has not said `hello` by then is closed.
const HELLO_WITHIN: Duration = Duration::from_secs(10);
/// Keeps idle proxies in between from closing the connection.
const PING_EVERY: Duration = Duration::from_secs(20);
/// Three pings without an answer.
const SILENT_AFTER: Duration = Duration::from_mins(1);
/// After a new run of Redis all sessions are written anew: spread over this time.
const RENEWAL_SPREAD: Duration = Duration::from_secs(2);
/// A session that could not be renewed is tried again after this, then after twice as long, up to
/// [`RENEW_AGAIN_MAX`]: until it is written only the table's owner knows whose token it is.
const RENEW_AGAIN: Duration = Duration::from_secs(1);
const RENEW_AGAIN_MAX: Duration = Duration::from_secs(16);

#[derive(Debug)]
pub(crate) struct Vigil {
    opened_at: Instant,
    heard_at: Instant,
    ping_at: Instant,
    /// None before `hello`.
    renewals: Option<Renewals>,
}

#[derive(Debug)]
struct Renewals {
    at: Instant,
    every: Duration,
    next: Renewal,
    /// How long to wait if this one fails.
    again: Duration,
    /// What was due is being done.
    under_way: bool,
}

/// What is due for the player's session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Renewal {
    /// It shall live on, and is written if the registry has lost it.
    Renew,
    /// It has to be written: another run of the registry may hold an older one, or none.
    WriteAnew,
}

impl Vigil {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            opened_at: now,
            heard_at: now,
            ping_at: now + PING_EVERY,
            renewals: None,
        }
    }

    pub(crate) fn heard(&mut self, now: Instant) {
        self.heard_at = now;
    }

    /// The player is known: the session lives from now on.
    pub(crate) fn entered(&mut self, now: Instant, every: Duration) {
        self.renewals = Some(Renewals {
            at: now + every,
            every,
            next: Renewal::Renew,
            again: RENEW_AGAIN,
            under_way: false,
        });
    }

    /// The session may have been lost, or be an older one.
    pub(crate) fn write_soon(&mut self, now: Instant, connection: ConnectionId) {
        if let Some(renewals) = &mut self.renewals {
            renewals.at = renewals.at.min(now + spread(connection));
            renewals.next = Renewal::WriteAnew;
            renewals.again = RENEW_AGAIN;
        }
    }

    /// The session shall name another table: what is under way may write the one before.
    pub(crate) fn moved(&mut self, now: Instant, connection: ConnectionId) {
        if self.renewals.as_ref().is_some_and(|one| one.under_way) {
            self.write_soon(now, connection);
        }
    }

    /// What was due is done, or has to be tried again.
    pub(crate) fn renewed(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        renewal: Renewal,
        done: bool,
    ) {
        let Some(renewals) = &mut self.renewals else {
            return;
        };
        renewals.under_way = false;
        if done {
            renewals.again = RENEW_AGAIN;
            return;
        }
        let at = now + renewals.again + spread(connection);
        renewals.at = renewals.at.min(at);
        renewals.next = renewals.next.max(renewal);
        renewals.again = (renewals.again * 2).min(RENEW_AGAIN_MAX);
    }

    /// Whether there is nobody any more.
    pub(crate) fn is_over(&self, now: Instant, greeting: bool) -> bool {
        now >= self.heard_at + SILENT_AFTER || (greeting && now >= self.opened_at + HELLO_WITHIN)
    }

    pub(crate) fn take_ping(&mut self, now: Instant) -> bool {
        let due = now >= self.ping_at;
        if due {
            self.ping_at = now + PING_EVERY;
        }
        due
    }

    pub(crate) fn take_renewal(&mut self, now: Instant) -> Option<Renewal> {
        let renewals = self.renewals.as_mut().filter(|one| now >= one.at)?;
        renewals.at = now + renewals.every;
        renewals.under_way = true;
        Some(std::mem::replace(&mut renewals.next, Renewal::Renew))
    }

    pub(crate) fn deadline(&self, greeting: bool) -> Instant {
        let hello = greeting.then_some(self.opened_at + HELLO_WITHIN);
        let renewal = self.renewals.as_ref().map(|renewals| renewals.at);
        let next = self.ping_at.min(self.heard_at + SILENT_AFTER);
        hello.into_iter().chain(renewal).fold(next, Instant::min)
    }
}

/// Not all connections at once.
fn spread(connection: ConnectionId) -> Duration {
    let most = u64::try_from(RENEWAL_SPREAD.as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(connection.0 % most)
}
