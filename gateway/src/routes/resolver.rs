//! The search for one lobby's owner, until there is one or nobody waits any more.

mod claiming;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use chassis::clock;
use protocol::LobbyCode;
use protocol::link::{Handed, Known, Question};
use registry::{NodeId, Owner, Record};
use tokio::sync::watch;
use tokio::time::sleep;
use tracing::{Instrument, debug};

use super::judge::{Case, Named, Verdict, is_lost, judge};
use super::{Needs, lock};
use crate::gateway::Gateway;
use crate::links::Wanted;
use crate::session::Whereabouts;

/// Between two judgements of what is known here: a link that comes or goes shows within it.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// Between two looks at a record that says nothing new: another gateway may have found an owner.
const READ_AGAIN: Duration = Duration::from_millis(500);
/// Between two questions to all nodes.
const ASK_AGAIN: Duration = Duration::from_millis(200);
/// What all nodes have said may be so old when a lobby is claimed.
const ASKED_WITHIN: Duration = Duration::from_millis(1_500);
/// A search goes on for so long after the last who waited for it has given up: most come again.
const LINGER: Duration = Duration::from_millis(500);

/// One search.
pub(super) struct Resolver {
    gateway: Arc<Gateway>,
    code: LobbyCode,
    needs: Arc<Mutex<Needs>>,
    /// When the record was read last, and what it was.
    record: Option<(Instant, Record)>,
    /// Keeps the owner dialled.
    wanted: Option<(NodeId, Wanted)>,
    /// Nodes that can't read what is saved.
    unreadable: BTreeSet<NodeId>,
    asked_at: Option<Instant>,
    began: Instant,
    idle_since: Option<Instant>,
}

/// What one try has led to.
enum Step {
    Found(Whereabouts),
    /// Look again after so long.
    Again(Duration),
}

/// What all nodes have said of who holds the lobby.
struct Holders {
    /// Who holds the newest.
    newest: Option<(NodeId, Known)>,
    /// Whether every node has answered or is dead.
    complete: bool,
    /// Likewise, or is [lost](is_lost): a table does not wait for what such a one might hold.
    may_go_on: bool,
}

impl Holders {
    /// To who holds the newest, unless that one is suspended: it hands it over, or commits again,
    /// in some seconds.
    fn step(&self) -> Option<Step> {
        let (node, known) = self.newest.clone().filter(|(_, known)| !known.suspended)?;
        let epoch = Some(known.epoch);
        Some(Step::Found(Whereabouts::At { node, epoch }))
    }

    /// Whether nobody can hold anything newer than what was handed over.
    fn leave_newest(&self, handed: &Handed) -> bool {
        let newest = self.newest.as_ref().map(|(_, known)| known.epoch);
        self.may_go_on && newest.is_none_or(|epoch| epoch <= handed.epoch)
    }
}

impl Resolver {
    pub(super) fn new(gateway: Arc<Gateway>, code: LobbyCode, needs: Arc<Mutex<Needs>>) -> Self {
        Self {
            gateway,
            code,
            needs,
            record: None,
            wanted: None,
            unreadable: BTreeSet::new(),
            asked_at: None,
            began: clock::now(),
            idle_since: None,
        }
    }

    /// Searches until there is an answer for `found`, or nobody reads it any more.
    pub(super) async fn run(
        mut self,
        found: &watch::Sender<Option<Whereabouts>>,
    ) -> Option<Whereabouts> {
        let span = tracing::debug_span!("search", lobby = %self.code);
        async {
            let answer = loop {
                if self.is_idle(found) {
                    break None;
                }
                match self.try_once().await {
                    Step::Found(whereabouts) => break Some(whereabouts),
                    Step::Again(after) => sleep(after).await,
                }
            };
            let took = clock::now().saturating_duration_since(self.began);
            self.gateway.metrics.resolved(answer.as_ref(), took);
            debug!(?answer, ?took, "searched");
            answer
        }
        .instrument(span)
        .await
    }

    fn is_idle(&mut self, found: &watch::Sender<Option<Whereabouts>>) -> bool {
        // The one that the list of searches holds.
        if found.receiver_count() > 1 {
            self.idle_since = None;
            return false;
        }
        let now = clock::now();
        now >= *self.idle_since.get_or_insert(now) + LINGER
    }

    async fn try_once(&mut self) -> Step {
        let reachable = self.gateway.routes.look(clock::now()).is_reachable();
        if !reachable || self.read().await.is_err() {
            return self.without_registry().await;
        }
        match self.record.as_ref().map(|(_, record)| record.clone()) {
            None => self.without_record().await,
            Some(record) if record.deleted => {
                self.gateway.directory.forget(self.code);
                Step::Found(Whereabouts::Unknown)
            }
            Some(record) => self.with_record(record).await,
        }
    }

    /// Reads the record, unless that was done just now.
    async fn read(&mut self) -> Result<(), crate::session::RegistryAway> {
        let now = clock::now();
        if let Some((read_at, _)) = &self.record
            && now < *read_at + READ_AGAIN
        {
            return Ok(());
        }
        let record = self.gateway.owner(self.code).await?;
        self.record = record.map(|record| (clock::now(), record));
        Ok(())
    }

    async fn with_record(&mut self, record: Record) -> Step {
        let links = &self.gateway.links;
        links.handed.overtaken(self.code, record.epoch.0);
        let owner = record.owner.clone();
        let verdict = self.judge(&record);
        if record.epoch.0 < self.needs().shown.0
            && let Some(step) = self.ask_who_holds_more(record.epoch.0).await
        {
            // The record has gone back.
            return step;
        }
        match (verdict, owner) {
            (Verdict::Ask, Some(owner)) if self.needs().fresh => {
                self.confirm(&record, &owner).await
            }
            (Verdict::Ask, Some(owner)) => {
                let node = owner.node;
                Step::Found(Whereabouts::At { node, epoch: None })
            }
            (Verdict::Claim(why), _) => self.claim(&record, why).await,
            (Verdict::Alone, _) => Step::Found(Whereabouts::Alone),
            (Verdict::Wait | Verdict::Ask, _) => Step::Again(LOOK_AGAIN),
        }
    }

    fn judge(&mut self, record: &Record) -> Verdict {
        let now = clock::now();
        let owner = record.owner.as_ref();
        if let Some(owner) = owner {
            self.want(&owner.node);
        }
        let gateway = &self.gateway;
        let remembered = |owner: &Owner| gateway.directory.remember(self.code, owner.clone(), now);
        let since = owner.map(remembered);
        let node = owner.map(|owner| &owner.node);
        let link = node.and_then(|node| gateway.links.standing(node));
        let handed = gateway.links.handed.of(self.code);
        let handed_over =
            handed.is_some_and(|(by, handed)| Some(&by) == node && handed.epoch >= record.epoch.0);
        let caution = gateway.routes.look(now);
        let case = Case {
            now,
            owner: owner.zip(since).map(|(owner, since)| Named {
                incarnation: owner.incarnation,
                since,
            }),
            handed_over,
            link: link.as_ref(),
            presence: node.and_then(|node| gateway.sign_of(node, now)),
            registry_current: gateway.membership.checks().borrow().current,
            may_claim: caution.may_claim(now),
        };
        judge(&case)
    }

    /// Nothing is written of that lobby. The record may be lost, also without another run of the
    /// registry, emptied by hand or evicted: its owner then writes it anew within seconds.
    async fn without_record(&mut self) -> Step {
        self.gateway.directory.forget(self.code);
        let handed = self.gateway.links.handed.of(self.code);
        let is_missed = self.needs().home || handed.is_some() || self.gateway.may_have_lost_data();
        let gateway = Arc::clone(&self.gateway);
        let turn = (!is_missed).then(|| gateway.routes.guesses.try_acquire());
        if let Some(Err(_)) = turn {
            return Step::Found(Whereabouts::Unknown);
        }
        let least_epoch = handed.as_ref().map_or(0, |(_, handed)| handed.epoch);
        let holders = self.ask_who_holds(least_epoch).await;
        drop(turn);
        if let Some(step) = holders.step() {
            return step;
        }
        if let Some((_, handed)) = handed {
            // What was handed over may have been taken by somebody since.
            if holders.leave_newest(&handed) {
                return self.claim_handed(&handed).await;
            }
            return Step::Again(ASK_AGAIN);
        }
        // After another run its owner has had the time to write it anew.
        let is_gone = holders.complete && holders.newest.is_none() && self.may_claim();
        if is_gone || !is_missed {
            Step::Found(Whereabouts::Unknown)
        } else {
            Step::Again(ASK_AGAIN)
        }
    }

    /// The registry does not answer: whoever holds the lobby goes on with it.
    async fn without_registry(&mut self) -> Step {
        self.record = None;
        let holders = self.ask_who_holds(0).await;
        holders.step().unwrap_or(Step::Again(ASK_AGAIN))
    }

    /// After the record may have gone back: an owner of a higher epoch keeps the lobby. None once
    /// everybody has said that they hold nothing newer, or is dead or lost.
    async fn ask_who_holds_more(&mut self, epoch: u64) -> Option<Step> {
        let now = clock::now();
        if self.asked_at.is_some_and(|at| now < at + ASKED_WITHIN) {
            return None;
        }
        let holders = self.ask_who_holds(epoch + 1).await;
        if holders.may_go_on && holders.step().is_none() {
            self.asked_at = Some(clock::now());
            return None;
        }
        Some(holders.step().unwrap_or(Step::Again(ASK_AGAIN)))
    }

    /// Asks all nodes who holds the lobby at that epoch at least.
    async fn ask_who_holds(&self, least_epoch: u64) -> Holders {
        let question = Question::Lobby(self.code);
        let answers = self.gateway.links.ask_all(&question, None).await;
        let complete = answers.complete();
        let may_go_on = answers.silent.iter().all(|node| self.is_lost(node));
        let mut holders = answers.known;
        holders.retain(|(_, known)| known.epoch >= least_epoch);
        Holders {
            newest: holders.into_iter().max_by_key(|(_, known)| known.epoch),
            complete,
            may_go_on,
        }
    }

    fn is_lost(&self, node: &NodeId) -> bool {
        let (gateway, now) = (&self.gateway, clock::now());
        let presence = gateway.sign_of(node, now);
        let current = gateway.membership.checks().borrow().current;
        // One that is dialled no more was not listed for a while, and is no silent node.
        let link = gateway.links.standing(node);
        link.is_none_or(|link| is_lost(now, &link, presence, current))
    }

    /// Keeps the owner dialled.
    fn want(&mut self, node: &NodeId) {
        if self
            .wanted
            .as_ref()
            .is_none_or(|(wanted, _)| wanted != node)
        {
            let wanted = self.gateway.links.want(node);
            self.wanted = wanted.map(|wanted| (node.clone(), wanted));
        }
    }

    fn may_claim(&self) -> bool {
        self.gateway.routes.may_claim()
    }

    fn needs(&self) -> Needs {
        *lock(&self.needs)
    }
}

/// A node and the run of it that answers over its link now.
fn linked(gateway: &Gateway, node: &NodeId) -> Option<Owner> {
    let incarnation = gateway.links.standing(node)?.up?;
    Some(Owner {
        node: node.clone(),
        incarnation,
    })
}
