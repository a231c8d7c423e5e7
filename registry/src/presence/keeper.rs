//! The presence thread: heartbeats, probes, the subscription, and what follows from messages.
//!
//! It alone writes the own presence and changes the roster. Order of a start: subscribe, write
//! the own heartbeat, read the whole list; `hello` once ready, and again after each new
//! subscription, with the whole list. Redis being away only means trying again.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};
use tracing::{debug, error, info, warn};

use super::listener::{self, Heard as Line};
use super::membership::Shared;
use super::roster::Roster;
use super::{Event, Farewell, Heard, Listing, Message, Presence, PresenceConfig, State, Who};
use crate::backend::{Answer, Heartbeats, Subscriber};
use crate::backoff::Backoff;
use crate::health::{HealthCell, Sight};
use crate::{Incarnation, NodeId, SessionOpened};

/// News of the own process are written at most so often.
const NEWS_INTERVAL: Duration = Duration::from_secs(1);
/// Messages about others wait so long for more of them, so that many are read in one go.
const FETCH_DELAY: Duration = Duration::from_millis(10);
/// A start waits so long for its subscription before it writes its first heartbeat.
const SUBSCRIBE_PATIENCE: Duration = Duration::from_secs(1);
/// A stop gives up on a registry that is away after so long.
const LEAVE_PATIENCE: Duration = Duration::from_secs(2);

/// After Redis was away for this process, or its clock was put forward, others are given so long to
/// come back before their absence means that they are gone: they may not have been able to write
/// either.
const RETURN_PATIENCE: Duration = Duration::from_secs(5);

/// What the handle wants done; the sender is told when it has been tried.
pub(super) enum Order {
    Hello(oneshot::Sender<()>),
    Leave(oneshot::Sender<()>),
}

/// What this process is to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// One of them.
    Member,
    /// Nobody: it writes and says nothing.
    Observer,
}

pub(super) struct Keeper {
    shared: Arc<Shared>,
    part: Part,
    config: PresenceConfig,
    heartbeats: Box<dyn Heartbeats>,
    health: Arc<HealthCell>,
    inbox: mpsc::Receiver<Order>,
    roster: Roster,
    id: NodeId,
    ready: bool,
    hello_due: bool,
    beat_at: Instant,
    /// The last heartbeat that worked, and the registry's time then.
    last_beat: Option<(Instant, u64)>,
    /// From when on whoever is not listed is gone.
    absence_counts_at: Instant,
    probe_at: Instant,
    news_at: Option<Instant>,
    last_news: Option<Instant>,
    fetch_at: Option<Instant>,
    to_fetch: BTreeMap<NodeId, Option<String>>,
    stall: Stall,
    backoff: Backoff,
    /// Nothing is tried before: the last try failed.
    retry_at: Option<Instant>,
    /// A later process has this one's id.
    replaced: bool,
    /// Another run under this one's id that says it is there, until it is known which is the later
    /// one; and the last of which that was told.
    namesake: Option<Incarnation>,
    namesake_told: Option<Incarnation>,
}

impl Keeper {
    pub(super) fn new(
        shared: Arc<Shared>,
        part: Part,
        config: PresenceConfig,
        heartbeats: Box<dyn Heartbeats>,
        health: Arc<HealthCell>,
        inbox: mpsc::Receiver<Order>,
    ) -> Self {
        let now = Instant::now();
        let id = shared.own().id.clone();
        Self {
            shared,
            part,
            stall: Stall::new(now, config.stall_after),
            config,
            heartbeats,
            health,
            inbox,
            roster: Roster::default(),
            id,
            ready: false,
            hello_due: false,
            beat_at: now,
            last_beat: None,
            absence_counts_at: now,
            probe_at: now,
            news_at: None,
            last_news: None,
            fetch_at: None,
            to_fetch: BTreeMap::new(),
            backoff: Backoff::new(),
            retry_at: None,
            replaced: false,
            namesake: None,
            namesake_told: None,
        }
    }

    /// Runs until the last handle is gone, or it is told to leave.
    pub(super) async fn run(mut self, subscriber: Box<dyn Subscriber>) {
        self.health.add_prober();
        let (listener, mut line) = listener::start(subscriber);
        // Subscribed first, so that nobody is missed between the list and the first message.
        if let Ok(Some(first)) = timeout(SUBSCRIBE_PATIENCE, line.recv()).await {
            self.hear(first);
        }
        loop {
            let due = self.next_due();
            tokio::select! {
                order = self.inbox.recv() => match order {
                    Some(Order::Hello(done)) => self.say_ready(done).await,
                    Some(Order::Leave(done)) => {
                        self.leave().await;
                        self.shared.end();
                        let _waiting = done.send(());
                        break;
                    }
                    None => break,
                },
                Some(heard) = line.recv() => self.hear(heard),
                () = self.shared.news.notified() => self.plan_news(),
                () = sleep_until(due) => self.act().await,
            }
        }
        listener.abort();
        self.shared.end();
        self.health.remove_prober();
    }

    fn next_due(&self) -> Instant {
        let work = match self.retry_at {
            Some(retry_at) => retry_at,
            None if self.hello_due => return Instant::now(),
            None => [
                Some(self.beat_at),
                Some(self.probe_at),
                self.news_at,
                self.fetch_at,
            ]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(self.beat_at),
        };
        work.min(self.stall.look_at)
    }

    /// Does what is due. The first failure ends the round; the next one begins with a heartbeat.
    async fn act(&mut self) {
        let now = Instant::now();
        if self.look_for_stall(now) {
            self.news_at = Some(now);
        }
        if self.retry_at.is_some_and(|retry_at| retry_at > now) {
            return;
        }
        self.retry_at = None;
        if let Err(error) = self.try_what_is_due(now).await {
            self.shared
                .checks
                .send_modify(|checks| checks.current = false);
            self.health.failed(Sight::Heartbeat, &error);
            let now = Instant::now();
            self.retry_at = Some(now + self.backoff.next());
            self.beat_at = now;
            // Something said by this process or another may have been lost on the way.
            self.hello_due = self.ready;
        }
    }

    async fn try_what_is_due(&mut self, now: Instant) -> Answer<()> {
        if self.beat_at <= now {
            self.beat().await?;
        }
        if self.news_at.is_some_and(|news_at| news_at <= now) {
            self.tell_news().await?;
        }
        if self.hello_due {
            self.say_hello().await?;
        }
        if self.fetch_at.is_some_and(|fetch_at| fetch_at <= now) {
            self.fetch().await?;
        }
        if self.probe_at <= now {
            self.heartbeats.probe(&self.id).await?;
            self.health.answered(Sight::Heartbeat);
            self.probe_at = Instant::now() + self.config.probe_interval;
        }
        Ok(())
    }

    /// Writes the own presence, takes the whole list.
    async fn beat(&mut self) -> Answer<()> {
        let listing = match self.part {
            Part::Member => self.write_own().await?,
            Part::Observer => self.heartbeats.list().await?,
        };
        self.health.answered(Sight::Heartbeat);
        self.backoff.reset();
        let now = Instant::now();
        self.beat_at = now + self.config.heartbeat_interval;
        let last = self.last_beat.replace((now, listing.now_ms));
        self.shared.beaten(now);
        if last.is_some_and(|last| self.may_have_missed(last, now, listing.now_ms)) {
            self.absence_counts_at = now + RETURN_PATIENCE;
        }
        let believed = now >= self.absence_counts_at;
        let events = self
            .roster
            .take_list(listing, &self.id, self.config.ttl, believed);
        self.publish(events);
        self.shared
            .checks
            .send_if_modified(|checks| !std::mem::replace(&mut checks.current, true));
        Ok(())
    }

    /// Whether whoever is not listed may live all the same: nobody could write for a while, or
    /// what they wrote has lapsed at once, by the clock of a Redis that is ahead of the last one.
    fn may_have_missed(&self, last: (Instant, u64), now: Instant, now_ms: u64) -> bool {
        let interval = self.config.heartbeat_interval;
        let passed = now.saturating_duration_since(last.0);
        let passed_there = Duration::from_millis(now_ms.saturating_sub(last.1));
        passed > interval * 2 || passed_there > passed + interval
    }

    async fn write_own(&mut self) -> Answer<Listing> {
        let own = self.own_now();
        let beat = self.heartbeats.beat(&own, self.config.ttl).await?;
        // Lapsed, or lost by Redis: others may have given this one up.
        self.hello_due |= self.ready && !beat.was_listed;
        match beat.started_at {
            Some(started_at) => {
                self.replaced = false;
                self.shared.set_times(started_at, beat.listing.now_ms);
                self.shared.checks.send_if_modified(|checks| {
                    !std::mem::replace(&mut checks.heartbeat_written, true)
                });
                self.tell_of_namesake();
            }
            None if !self.replaced => {
                self.replaced = true;
                // The other one is told by this.
                self.hello_due |= self.ready;
                // Two processes were started with the same NODE_ID.
                error!(id = %self.id, "a later process has this NODE_ID: this one is not listed");
            }
            None => {}
        }
        Ok(beat.listing)
    }

    /// This process is the later one, or the other's entry has lapsed.
    fn tell_of_namesake(&mut self) {
        let Some(run) = self.namesake.take() else {
            return;
        };
        if self.namesake_told.replace(run) != Some(run) {
            // It still runs: one that was restarted has ended before.
            error!(id = %self.id, other = %run, "an earlier process has this NODE_ID too: it is not listed");
        }
    }

    async fn tell_news(&mut self) -> Answer<()> {
        self.beat().await?;
        let changed = Message::Changed(self.who());
        self.heartbeats.publish(&changed).await?;
        self.news_at = None;
        self.last_news = Some(Instant::now());
        Ok(())
    }

    async fn say_hello(&mut self) -> Answer<()> {
        let hello = Message::Hello(self.who());
        self.heartbeats.publish(&hello).await?;
        self.hello_due = false;
        Ok(())
    }

    async fn fetch(&mut self) -> Answer<()> {
        let found = self.heartbeats.fetch(&self.to_fetch).await?;
        self.to_fetch.clear();
        self.fetch_at = None;
        if found.is_empty() {
            return Ok(());
        }
        let events = found
            .into_iter()
            .flat_map(|one| self.roster.take_one(one))
            .collect();
        self.publish(events);
        Ok(())
    }

    async fn say_ready(&mut self, done: oneshot::Sender<()>) {
        self.ready = true;
        self.hello_due = true;
        self.beat_at = Instant::now();
        // The state's change goes with this heartbeat and is told by the hello.
        self.news_at = None;
        let _already_told = self.shared.news.notified().now_or_never();
        self.act().await;
        let _waiting = done.send(());
    }

    async fn leave(&mut self) {
        let own = self.shared.own().clone();
        let farewell = async {
            self.heartbeats
                .publish(&Message::Goodbye(Farewell::from(&own)))
                .await?;
            self.heartbeats.depart(&own).await
        };
        match timeout(LEAVE_PATIENCE, farewell).await {
            Ok(Ok(())) => {}
            // Redis is away while this process stops: its entry lapses by itself.
            Ok(Err(error)) => warn!(%error, "no goodbye could be said"),
            Err(_) => warn!("no goodbye could be said in time"),
        }
    }

    fn hear(&mut self, heard: Line) {
        match heard {
            Line::Subscribed => {
                self.hello_due = self.ready;
                self.beat_at = Instant::now();
            }
            Line::Heard(Heard::Probe) => {
                self.shared
                    .checks
                    .send_if_modified(|checks| !std::mem::replace(&mut checks.probe_heard, true));
            }
            Line::Heard(Heard::Message(message)) => self.hear_message(message),
        }
    }

    fn hear_message(&mut self, message: Message) {
        match message {
            Message::Hello(who) | Message::Changed(who) => {
                if who.id == self.id {
                    if who.incarnation != self.shared.own().incarnation {
                        self.namesake = Some(who.incarnation);
                        self.beat_at = Instant::now();
                    }
                } else {
                    self.to_fetch.insert(who.id, who.revision);
                    self.fetch_at
                        .get_or_insert_with(|| Instant::now() + FETCH_DELAY);
                }
            }
            Message::Goodbye(farewell) => {
                let left = self.roster.take_goodbye(&farewell.who, farewell.last);
                self.publish(left.into_iter().collect());
            }
            Message::Drain { id } => {
                if id == self.id {
                    self.shared.drain.send_replace(true);
                }
            }
            Message::Session {
                player_id,
                generation,
            } => {
                let generation = crate::Generation(generation);
                // Fails if nobody listens: only gateways do.
                let _listeners = self.shared.sessions.send(SessionOpened {
                    player_id,
                    generation,
                });
            }
        }
    }

    fn plan_news(&mut self) {
        let now = Instant::now();
        let earliest = self.last_news.map_or(now, |last| last + NEWS_INTERVAL);
        self.news_at.get_or_insert(earliest.max(now));
    }

    fn look_for_stall(&mut self, now: Instant) -> bool {
        if self.stall.look_at > now {
            return false;
        }
        let pulse = self
            .shared
            .pulse
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let beat = pulse.as_ref().map(|pulse| pulse.load(Ordering::Relaxed));
        self.stall.look(now, beat)
    }

    fn who(&self) -> Who {
        Who::from(&*self.shared.own())
    }

    /// What is written: what the process says about itself, unless its thread does not run.
    fn own_now(&self) -> Presence {
        let mut own = self.shared.own().clone();
        if self.stall.stalled && own.state != State::Starting {
            own.state = State::Stalled;
        }
        own
    }

    fn publish(&self, events: Vec<Event>) {
        for event in &events {
            match event {
                Event::Joined(one) => info!(id = %one.id, role = %one.role, "joined"),
                Event::Changed(one) => debug!(id = %one.id, role = %one.role, "changed"),
                Event::Left {
                    presence: one,
                    reason,
                } => {
                    info!(id = %one.id, role = %one.role, %reason, "left");
                }
            }
        }
        let own = (self.part == Part::Member).then(|| Arc::new(self.own_now()));
        self.shared.publish(self.roster.snapshot(own), events);
    }
}

/// Whether the watched thread runs.
struct Stall {
    after: Duration,
    look_at: Instant,
    /// The last pulse seen, and since when it has been the same.
    seen: Option<(u64, Instant)>,
    stalled: bool,
}

impl Stall {
    fn new(now: Instant, after: Duration) -> Self {
        Self {
            after,
            look_at: now,
            seen: None,
            stalled: false,
        }
    }

    /// Looks; whether that changed the verdict. A late look proves nothing: this thread did not
    /// run either, so the time begins anew.
    fn look(&mut self, now: Instant, beat: Option<u64>) -> bool {
        let interval = self.after / 5;
        let late = now > self.look_at + interval;
        self.look_at = now + interval;
        let since = match (self.seen, beat) {
            (Some((last, since)), Some(beat)) if last == beat && !late => since,
            _ => now,
        };
        self.seen = beat.map(|beat| (beat, since));
        let stalled = beat.is_some() && now >= since + self.after;
        std::mem::replace(&mut self.stalled, stalled) != stalled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_stalled_after_five_seconds_without_a_pulse() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut stall = Stall::new(start, Duration::from_secs(5));
        assert!(
            !stall.look(at(0), None) && !stall.stalled,
            "nothing is watched"
        );
        for second in 1..=5 {
            assert!(!stall.look(at(second), Some(7)), "second {second}");
        }
        assert!(stall.look(at(6), Some(7)) && stall.stalled);
        assert!(!stall.look(at(7), Some(7)) && stall.stalled);
        assert!(
            stall.look(at(8), Some(8)) && !stall.stalled,
            "it runs again"
        );
    }

    #[test]
    fn a_process_that_slept_as_a_whole_is_not_stalled() {
        let start = Instant::now();
        let mut stall = Stall::new(start, Duration::from_secs(5));
        stall.look(start, Some(1));
        assert!(!stall.look(start + Duration::from_secs(30), Some(1)));
    }
}
