//! The AI bridge: which AI link is asked for a move, and what happens when none answers well.
//!
//! Pure: time and request ids are arguments, and timeouts are data. A question that is asked has
//! exactly one [`Verdict`], within `AI_DECISION_TIMEOUT`: a legal move, or none, for which the lobby
//! makes a random one.

mod breaker;
mod breakers;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use chassis::environment::Limit;
use chassis::trace::{Span, TraceContext};
use protocol::LobbyCode;
use protocol::TraceParent;
use protocol::decide::{Decide, ToAi, ToNode};
use protocol::lobby::AiLevel;
use rules::Action;
use tracing::{debug, info, warn};
use uuid::Uuid;

pub(crate) use self::breaker::BreakerLimits;
use self::breakers::Breakers;
use crate::link::Outbox;
use crate::lobby::{LinkId, Question};

/// What is to be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Matter {
    pub(crate) code: LobbyCode,
    pub(crate) game: u32,
    pub(crate) turn: u32,
}

/// What was decided; nothing: the move is a random one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) matter: Matter,
    pub(crate) action: Option<Action>,
}

/// How AI links are used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BridgeLimits {
    pub(crate) timeout: Duration,
    /// Waiting requests of each link.
    pub(crate) inflight: Limit,
    pub(crate) breaker: BreakerLimits,
}

/// What has become of the questions so far, for operators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    pub(crate) decided: u64,
    pub(crate) late: u64,
    pub(crate) failed: u64,
    pub(crate) illegal: u64,
    /// Nobody could be asked.
    pub(crate) unasked: u64,
    /// Asked anew of another link.
    pub(crate) passed_on: u64,
}

/// All AI links, and what waits for them.
pub(crate) struct Bridge {
    limits: BridgeLimits,
    links: Vec<AiLink>,
    breakers: Breakers,
    /// Round robin: where the next search for a link begins.
    next: usize,
    waiting: BTreeMap<Uuid, Waiting>,
    timeouts: BTreeSet<(Instant, Uuid)>,
    counters: Counters,
}

struct AiLink {
    id: LinkId,
    name: String,
    outbox: Outbox<ToAi>,
    inflight: usize,
}

struct Waiting {
    matter: Matter,
    question: Question,
    asked: Instant,
    until: Instant,
    link: LinkId,
    /// Links that have had their chance.
    tried: Vec<LinkId>,
    span: Span,
}

/// A verdict, and how it came about.
#[derive(Debug)]
pub(crate) struct Decided {
    pub(crate) verdict: Verdict,
    pub(crate) outcome: Outcome,
    pub(crate) level: AiLevel,
    pub(crate) took: Duration,
    /// Where the question is in its trace.
    pub(crate) trace: TraceContext,
}

/// What has become of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// An AI's legal move.
    Decided,
    /// None in time.
    Late,
    /// An AI's move against the rules.
    Illegal,
    /// An AI that says it has none.
    Failed,
    /// Nobody was there to ask, or nobody any more.
    Unasked,
}

impl Outcome {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Decided => "decided",
            Self::Late => "late",
            Self::Illegal => "illegal",
            Self::Failed => "failed",
            Self::Unasked => "unasked",
        }
    }
}

impl Bridge {
    pub(crate) fn new(limits: BridgeLimits) -> Self {
        Self {
            limits,
            links: Vec::new(),
            breakers: Breakers::new(limits.breaker),
            next: 0,
            waiting: BTreeMap::new(),
            timeouts: BTreeSet::new(),
            counters: Counters::default(),
        }
    }

    /// Whether there is any link.
    pub(crate) fn is_available(&self) -> bool {
        !self.links.is_empty()
    }

    pub(crate) fn counters(&self) -> Counters {
        self.counters
    }

    /// Links, open breakers among them, and waiting requests.
    pub(crate) fn load(&self) -> (usize, usize, usize) {
        let open = self
            .links
            .iter()
            .filter(|link| self.breakers.is_open(&link.name))
            .count();
        (self.links.len(), open, self.waiting.len())
    }

    pub(crate) fn link_up(&mut self, id: LinkId, name: String, outbox: Outbox<ToAi>) {
        info!(ai_node = name, "an AI node is linked");
        self.breakers.linked(&name);
        self.links.push(AiLink {
            id,
            name,
            outbox,
            inflight: 0,
        });
    }

    /// A link is gone; what waited for it is asked of others, as long as there is time.
    pub(crate) fn link_down(&mut self, now: Instant, id: LinkId) -> Vec<Decided> {
        let Some(index) = self.links.iter().position(|link| link.id == id) else {
            return Vec::new();
        };
        let link = self.links.remove(index);
        // Whoever's turn it was is still the next.
        self.next -= usize::from(index < self.next);
        info!(ai_node = link.name, "an AI node is linked no more");
        let orphans = self
            .waiting
            .iter()
            .filter(|(_, waiting)| waiting.link == id);
        let orphans: Vec<Uuid> = orphans.map(|(request, _)| *request).collect();
        self.counters.passed_on += orphans.len() as u64;
        // One failure, however much waited: it may have been killed, or have spoken nonsense.
        if !orphans.is_empty() {
            self.has_failed(now, &link.name);
        }
        if self.links.iter().all(|other| other.name != link.name) {
            self.breakers.unlinked(&link.name);
        }
        orphans
            .into_iter()
            .filter_map(|request| self.send(now, request))
            .collect()
    }

    /// Asks the next link that has room; a verdict at once if there is none.
    pub(crate) fn ask(
        &mut self,
        now: Instant,
        request: Uuid,
        matter: Matter,
        question: Question,
        span: Span,
    ) -> Option<Decided> {
        let until = now + self.limits.timeout;
        let waiting = Waiting {
            matter,
            question,
            asked: now,
            until,
            link: LinkId(0),
            tried: Vec::new(),
            span,
        };
        self.waiting.insert(request, waiting);
        self.timeouts.insert((until, request));
        self.send(now, request)
    }

    /// What an AI link says.
    pub(crate) fn hear(&mut self, now: Instant, link: LinkId, message: &ToNode) -> Option<Decided> {
        match *message {
            ToNode::Decision { request_id, action } => self.decision(now, link, request_id, action),
            ToNode::Failed {
                request_id,
                failure,
            } => {
                let waiting = self
                    .waiting
                    .get(&request_id)
                    .filter(|one| one.link == link)?;
                let matter = waiting.matter;
                let _log = waiting.span.context().enter();
                // The AI node has too much to do, or a fault: what it can't decide, another in its
                // place hardly could, and would be late with.
                warn!(
                    ?matter,
                    ?failure,
                    "an AI node has no move: a random one is made"
                );
                self.counters.failed += 1;
                self.free(now, link, false);
                self.close(now, request_id, Outcome::Failed, None)
            }
            ToNode::Pong { .. } | ToNode::Hello { .. } => None,
        }
    }

    /// When [`Bridge::expire`] has something to do.
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        self.timeouts.first().map(|(at, _)| *at)
    }

    /// Whoever has not answered by now is late.
    pub(crate) fn expire(&mut self, now: Instant) -> Vec<Decided> {
        let mut late = Vec::new();
        while let Some((at, request)) = self.timeouts.first().copied().filter(|(at, _)| *at <= now)
        {
            let Some(waiting) = self.waiting.get(&request) else {
                self.timeouts.remove(&(at, request));
                continue;
            };
            let (link, matter) = (waiting.link, waiting.matter);
            let _log = waiting.span.context().enter();
            // The AI node is overloaded or hangs.
            warn!(
                ?matter,
                "an AI node has not decided in time: a random move is made"
            );
            self.counters.late += 1;
            self.free(now, link, false);
            late.extend(self.close(now, request, Outcome::Late, None));
        }
        late
    }

    fn decision(
        &mut self,
        now: Instant,
        link: LinkId,
        request: Uuid,
        action: Action,
    ) -> Option<Decided> {
        // Late ones are not waited for any more; that they are late has been said.
        let waiting = self
            .waiting
            .get(&request)
            .filter(|waiting| waiting.link == link)?;
        let is_legal = waiting
            .question
            .observation
            .own
            .legal_actions
            .contains(&action);
        if is_legal {
            self.counters.decided += 1;
        } else {
            let matter = waiting.matter;
            let _log = waiting.span.context().enter();
            // A fault of the AI node, or it is of another version.
            warn!(
                ?matter,
                "an AI node decided against the rules: a random move is made"
            );
            self.counters.illegal += 1;
        }
        self.free(now, link, is_legal);
        let (outcome, action) = if is_legal {
            (Outcome::Decided, Some(action))
        } else {
            (Outcome::Illegal, None)
        };
        self.close(now, request, outcome, action)
    }

    /// Sends a waiting request to a link that has not had its chance; a verdict if there is none.
    fn send(&mut self, now: Instant, request: Uuid) -> Option<Decided> {
        let waiting = self.waiting.get_mut(&request)?;
        let count = self.links.len();
        for step in 0..count {
            let index = (self.next + step) % count;
            let link = &mut self.links[index];
            let has_room = self.limits.inflight.has_room(link.inflight);
            let Some(breaker) = self.breakers.of(&link.name) else {
                continue;
            };
            if waiting.tried.contains(&link.id) || !has_room || !breaker.lets_through(now) {
                continue;
            }
            if !link
                .outbox
                .send(ToAi::Decide(Box::new(waiting.request(now, request))))
            {
                continue;
            }
            link.inflight += 1;
            breaker.asked();
            waiting.link = link.id;
            waiting.tried.push(link.id);
            self.next = index + 1;
            return None;
        }
        debug!(matter = ?waiting.matter, links = count, "no AI node to ask: a random move is made");
        self.counters.unasked += 1;
        self.close(now, request, Outcome::Unasked, None)
    }

    fn free(&mut self, now: Instant, id: LinkId, is_good: bool) {
        let Some(link) = self.links.iter_mut().find(|link| link.id == id) else {
            return;
        };
        link.inflight = link.inflight.saturating_sub(1);
        let name = link.name.clone();
        if !is_good {
            self.has_failed(now, &name);
        } else if let Some(breaker) = self.breakers.of(&name) {
            breaker.succeeded();
        }
    }

    fn has_failed(&mut self, now: Instant, name: &str) {
        let breaker = self.breakers.of(name);
        if breaker.is_some_and(|breaker| breaker.failed(now)) {
            // So many failures in a row: it is left alone for a while.
            warn!(ai_node = name, "an AI node is not asked for now");
        }
    }

    fn close(
        &mut self,
        now: Instant,
        request: Uuid,
        outcome: Outcome,
        action: Option<Action>,
    ) -> Option<Decided> {
        let mut waiting = self.waiting.remove(&request)?;
        self.timeouts.remove(&(waiting.until, request));
        if outcome != Outcome::Decided {
            waiting.span.failed(outcome.as_str());
        }
        Some(Decided {
            verdict: Verdict {
                matter: waiting.matter,
                action,
            },
            outcome,
            level: waiting.question.level,
            took: now.saturating_duration_since(waiting.asked),
            trace: waiting.span.context(),
        })
    }
}

impl Waiting {
    fn request(&self, now: Instant, request_id: Uuid) -> Decide {
        let left = self.until.saturating_duration_since(now).as_millis();
        Decide {
            request_id,
            seat: self.question.seat,
            level: self.question.level,
            options: self.question.options,
            observation: self.question.observation.clone(),
            plays: self.question.plays.clone(),
            timeout_ms: u32::try_from(left).unwrap_or(u32::MAX),
            trace: TraceParent::try_from(self.span.context().to_string()).ok(),
        }
    }
}
