//! The search for one lobby's owner, until there is one or nobody waits any more.

mod claiming;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use chassis::clock;
use protocol::LobbyCode;
use protocol::link::{Known, Question};
use registry::{NodeId, Owner, Record};
use tokio::sync::watch;
use tokio::time::sleep;
use tracing::{Instrument, debug};

use super::judge::{Case, Named, Verdict, judge};
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
    pub(super) async fn run(mut self, found: watch::Sender<Option<Whereabouts>>) {
        let span = tracing::debug_span!("search", lobby = %self.code);
        async {
            let answer = loop {
                if self.is_idle(&found) {
                    break None;
                }
                match self.try_once().await {
                    Step::Found(whereabouts) => break Some(whereabouts),
                    Step::Again(after) => sleep(after).await,
                }
            };
            // Whoever comes from now on begins a new search.
            self.gateway.end_search(self.code);
            let took = clock::now().saturating_duration_since(self.began);
            self.gateway.metrics.resolved(answer.as_ref(), took);
            debug!(?answer, ?took, "searched");
            found.send_replace(answer);
        }
        .instrument(span)
        .await;
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
            late_at: caution.on_time_since(),
        };
        judge(&case)
    }

    /// Nothing is written of that lobby.
    async fn without_record(&mut self) -> Step {
        self.gateway.directory.forget(self.code);
        if let Some((_, handed)) = self.gateway.links.handed.of(self.code) {
            return self.claim_handed(&handed).await;
        }
        if !self.gateway.may_have_lost_data() {
            return Step::Found(Whereabouts::Unknown);
        }
        let (step, complete) = self.ask_who_holds(0).await;
        if let Some(step) = step {
            return step;
        }
        // Its owner has had the time to write it anew.
        let settled = self.may_claim();
        if complete && settled {
            Step::Found(Whereabouts::Unknown)
        } else {
            Step::Again(ASK_AGAIN)
        }
    }

    /// The registry does not answer: whoever holds the lobby goes on with it.
    async fn without_registry(&mut self) -> Step {
        self.record = None;
        let (step, _) = self.ask_who_holds(0).await;
        step.unwrap_or(Step::Again(ASK_AGAIN))
    }

    /// After the record may have gone back: an owner of a higher epoch keeps the lobby. None once
    /// everybody has said that they hold nothing newer, or is dead.
    async fn ask_who_holds_more(&mut self, epoch: u64) -> Option<Step> {
        let now = clock::now();
        if self.asked_at.is_some_and(|at| now < at + ASKED_WITHIN) {
            return None;
        }
        match self.ask_who_holds(epoch + 1).await {
            (Some(step), _) => Some(step),
            (None, true) => {
                self.asked_at = Some(clock::now());
                None
            }
            (None, false) => Some(Step::Again(ASK_AGAIN)),
        }
    }

    /// Asks all nodes who holds the lobby at that epoch at least, and is not suspended; also
    /// whether every node has answered or is dead.
    async fn ask_who_holds(&self, least_epoch: u64) -> (Option<Step>, bool) {
        let question = Question::Lobby(self.code);
        let answers = self.gateway.links.ask_all(&question).await;
        let mut holders = answers.known;
        holders.retain(|(_, known)| known.epoch >= least_epoch);
        let newest = holders.into_iter().max_by_key(|(_, known)| known.epoch);
        match newest {
            Some((
                node,
                Known {
                    epoch,
                    suspended: false,
                    ..
                },
            )) => {
                let epoch = Some(epoch);
                let at = Whereabouts::At { node, epoch };
                (Some(Step::Found(at)), answers.complete)
            }
            // It hands it over, or commits again, in some seconds.
            _ => (None, answers.complete),
        }
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
        let now = clock::now();
        self.gateway.routes.look(now).may_claim(now)
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
