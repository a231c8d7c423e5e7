//! Asking nodes whether they hold the lobby, and to take it.

use std::time::Duration;

use chassis::clock;
use protocol::link::{Claim, Claimed, Handed, Why};
use registry::{NodeId, Owner, Record};
use tracing::info;

use super::{LOOK_AGAIN, Resolver, Step, linked};
use crate::routes::order::in_order;
use crate::session::Whereabouts;

/// After so long without an answer the next node is asked. Of two that try, the registry takes one.
const CLAIM_WITHIN: Duration = Duration::from_secs(2);
/// A round in which nobody took the lobby is followed by the next after so long.
const NEXT_ROUND: Duration = Duration::from_millis(100);
/// A lobby that was claimed too often may have found an owner meanwhile.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

impl Resolver {
    /// Asks the owner that the record names whether it holds the lobby; one that has lost it
    /// claims it anew.
    pub(super) async fn confirm(&mut self, record: &Record, owner: &Owner) -> Step {
        let claim = self.claim_of(record, None);
        let links = &self.gateway.links;
        let outcome = links.claim(&owner.node, claim, CLAIM_WITHIN).await;
        match outcome {
            Some(Claimed::Owned { epoch }) => self.owned(&owner.node, epoch),
            Some(Claimed::Wait { milliseconds }) => wait(milliseconds),
            // It gives the lobby away just now, or the record has moved on.
            _ => self.read_anew(LOOK_AGAIN),
        }
    }

    /// Asks one node after the other to take the lobby.
    pub(super) async fn claim(&mut self, record: &Record, why: Why) -> Step {
        if self.gateway.may_have_lost_data()
            && let Some(step) = self.ask_who_holds_more(record.epoch.0).await
        {
            return step;
        }
        let handed = self.gateway.links.handed.of(self.code);
        let handed = handed.map(|(_, handed)| handed);
        let handed = handed.filter(|handed| handed.epoch >= record.epoch.0);
        self.claim_around(self.claim_of(record, handed), why).await
    }

    /// Likewise, where the registry has lost the record.
    pub(super) async fn claim_handed(&mut self, handed: &Handed) -> Step {
        let claim = Claim {
            code: self.code,
            born: handed.born.clone(),
            epoch: handed.epoch.max(self.needs().shown.0),
            seq: handed.seq.max(self.needs().shown.1),
            handed: Some(handed.clone()),
            why: None,
            searched_ms: 0,
        };
        if self.may_claim() {
            self.claim_around(claim, Why::HandedOver).await
        } else {
            Step::Again(LOOK_AGAIN)
        }
    }

    async fn claim_around(&mut self, claim: Claim, why: Why) -> Step {
        let nodes = in_order(self.code, self.gateway.links.claimants(clock::now()));
        for node in nodes {
            if self.unreadable.contains(&node) {
                continue;
            }
            if let Some(step) = self.claim_by(&node, claim.clone(), why).await {
                return step;
            }
        }
        self.read_anew(NEXT_ROUND)
    }

    /// None if the next node is to be asked.
    async fn claim_by(&mut self, node: &NodeId, claim: Claim, why: Why) -> Option<Step> {
        let gateway = std::sync::Arc::clone(&self.gateway);
        let _permit = gateway.routes.claims.acquire().await.ok()?;
        // It may have waited for its turn.
        if !self.may_claim() {
            return Some(Step::Again(LOOK_AGAIN));
        }
        let asked_at = clock::now();
        let searched = asked_at.saturating_duration_since(self.began);
        let claim = Claim {
            why: Some(why),
            searched_ms: clock::milliseconds(searched),
            ..claim
        };
        let outcome = gateway.links.claim(node, claim, CLAIM_WITHIN).await;
        let took = clock::now().saturating_duration_since(asked_at);
        gateway.metrics.claimed(why, outcome.as_ref(), took);
        Some(match outcome {
            Some(Claimed::Owned { epoch }) => {
                let after = clock::now().saturating_duration_since(self.began);
                let after_ms = clock::milliseconds(after);
                let why = why.as_str();
                info!(lobby = %self.code, %node, why, after_ms, "taken over");
                self.owned(node, epoch)
            }
            Some(Claimed::MovedOn | Claimed::Gone) => self.read_anew(Duration::ZERO),
            Some(Claimed::Wait { milliseconds }) => wait(milliseconds),
            Some(Claimed::Unreadable) => {
                self.unreadable.insert(node.clone());
                self.read_anew(Duration::ZERO)
            }
            Some(Claimed::Refused | Claimed::Unavailable) | None => return None,
        })
    }

    /// The claim of a lobby as its record and those who wait know it.
    fn claim_of(&self, record: &Record, handed: Option<Handed>) -> Claim {
        let (shown_epoch, shown_seq) = self.needs().shown;
        Claim {
            code: self.code,
            born: record.born.to_string(),
            epoch: record.epoch.0.max(shown_epoch),
            seq: record.seq.0.max(shown_seq),
            handed,
            why: None,
            searched_ms: 0,
        }
    }

    fn owned(&mut self, node: &NodeId, epoch: u64) -> Step {
        self.gateway.links.handed.taken(self.code);
        if let Some(owner) = linked(&self.gateway, node) {
            let now = clock::now();
            self.gateway.directory.remember(self.code, owner, now);
        }
        Step::Found(Whereabouts::At {
            node: node.clone(),
            epoch: Some(epoch),
        })
    }

    fn read_anew(&mut self, after: Duration) -> Step {
        self.record = None;
        Step::Again(after)
    }
}

fn wait(milliseconds: u64) -> Step {
    Step::Again(Duration::from_millis(milliseconds).min(LONGEST_WAIT))
}
