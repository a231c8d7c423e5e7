//! Lobbies that this node takes over: a gateway asks for it, the registry gives them.
//!
//! Neither the load nor a limit refuses one: a running game goes on somewhere. Several requests for
//! one code wait for one answer of the registry.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use bytes::Bytes;
use protocol::LobbyCode;
use protocol::link::{Claim, Claimed, ToGateway, Why};
use registry::{Born, Epoch, RegistryError, Release, Seq};
use tracing::{debug, error, info};

use super::faults::contained;
use super::{Driver, Finished, Table, now};
use crate::chance;
use crate::lobby::{Input, LinkId, Lobby};

/// Claims at the registry at once: a gateway asks for no more either, and a node that takes over a
/// thousand lobbies still has commits to write meanwhile.
const MAX_AT_ONCE: usize = 32;
/// Requests that wait: some gateways' worth, each with [`MAX_AT_ONCE`] at most. Whoever is beyond
/// asks again.
const MAX_WANTED: usize = 1024;

/// The reason, for operators, where the record names this node, which does not hold the lobby: it was lost on the way.
const OWN: &str = "own";

/// Requests of gateways, oldest first, and what is at the registry for them.
#[derive(Default)]
pub(super) struct Claims {
    wanted: VecDeque<Wanted>,
    under_way: HashMap<LobbyCode, Claim>,
}

struct Wanted {
    link: LinkId,
    request: u64,
    claim: Claim,
    since: Instant,
}

impl Claims {
    pub(super) fn are_done(&self) -> bool {
        self.under_way.is_empty()
    }

    /// The next code that nothing is under way for.
    fn next(&self) -> Option<&Claim> {
        let mut claims = self.wanted.iter().map(|wanted| &wanted.claim);
        claims.find(|claim| !self.under_way.contains_key(&claim.code))
    }

    fn take(&mut self, code: LobbyCode, is_meant: impl Fn(&Claim) -> bool) -> Vec<Wanted> {
        let all = std::mem::take(&mut self.wanted);
        let (taken, rest) = all
            .into_iter()
            .partition(|wanted| wanted.claim.code == code && is_meant(&wanted.claim));
        self.wanted = rest;
        let taken: VecDeque<Wanted> = taken;
        taken.into()
    }
}

/// Whether an answer to `asked` answers this claim too.
fn is_covered(claim: &Claim, asked: &Claim) -> bool {
    let brings_more = claim.handed.is_some() && asked.handed.is_none();
    claim.born == asked.born && claim.epoch <= asked.epoch && !brings_more
}

impl Driver {
    /// A gateway wants a lobby owned by this node, or asks whether it is.
    pub(super) fn claim(&mut self, link: LinkId, request: u64, claim: Claim) {
        let outcome = if self.claims.wanted.len() >= MAX_WANTED {
            Some(Claimed::Unavailable)
        } else {
            self.claimed_at_once(&claim)
        };
        if let Some(outcome) = outcome {
            return self.answer_claim(link, request, outcome);
        }
        let since = now();
        self.claims.wanted.push_back(Wanted {
            link,
            request,
            claim,
            since,
        });
        self.begin_claims();
    }

    /// What needs no registry.
    fn claimed_at_once(&self, claim: &Claim) -> Option<Claimed> {
        if self.is_draining() || self.is_suspended() {
            return Some(Claimed::Refused);
        }
        let table = self.tables.get(&claim.code)?;
        if table.giving.is_frozen() {
            return Some(Claimed::Refused);
        }
        let is_it = table.born.to_string() == claim.born && table.lobby.epoch() >= claim.epoch;
        is_it.then(|| Claimed::Owned {
            epoch: table.lobby.epoch(),
        })
    }

    fn begin_claims(&mut self) {
        while self.claims.under_way.len() < MAX_AT_ONCE {
            let Some(claim) = self.claims.next().cloned() else {
                return;
            };
            let code = claim.code;
            if let Some(outcome) = self.claimed_at_once(&claim) {
                for wanted in self.claims.take(code, |other| is_covered(other, &claim)) {
                    self.answer_claim(wanted.link, wanted.request, outcome.clone());
                }
                continue;
            }
            let Some(wish) = self.registry_claim(&claim) else {
                // No gateway of ours sends that.
                for wanted in self.claims.take(code, |other| other.born == claim.born) {
                    self.answer_claim(wanted.link, wanted.request, Claimed::Gone);
                }
                continue;
            };
            self.claims.under_way.insert(code, claim);
            let (store, begun) = (self.store.clone(), now());
            self.under_way.push(Box::pin(async move {
                let claimed = store.claim(&wish).await;
                Finished::Claimed(code, begun, claimed)
            }));
        }
    }

    /// None if its life is none.
    fn registry_claim(&self, claim: &Claim) -> Option<registry::Claim> {
        let handed = claim
            .handed
            .as_ref()
            .filter(|handed| handed.born == claim.born);
        Some(registry::Claim {
            code: claim.code.to_string(),
            born: claim.born.parse().ok()?,
            seen_epoch: Epoch(claim.epoch),
            seen_seq: Seq(claim.seq),
            owner: self.store.owner().clone(),
            handed: handed.map(|handed| registry::Handed {
                epoch: Epoch(handed.epoch),
                seq: Seq(handed.seq),
                saved: handed.saved.clone(),
                status: handed.status.clone(),
            }),
        })
    }

    /// The registry has answered to a claim.
    pub(super) fn claimed(
        &mut self,
        code: LobbyCode,
        begun: Instant,
        claimed: Result<registry::Claimed, RegistryError>,
    ) {
        let Some(asked) = self.claims.under_way.remove(&code) else {
            return;
        };
        let wanted = self.claims.take(code, |claim| is_covered(claim, &asked));
        let since = wanted.iter().map(|wanted| wanted.since).min();
        let outcome = match claimed {
            Ok(registry::Claimed::Saved {
                epoch, seq, saved, ..
            }) => self.take_over(&asked, (epoch, seq), saved, (begun, since)),
            Ok(registry::Claimed::OwnedBy(_)) => Claimed::MovedOn,
            Ok(registry::Claimed::Gone) => Claimed::Gone,
            Ok(registry::Claimed::Wait { milliseconds }) => Claimed::Wait { milliseconds },
            Err(error) if error.may_pass() => {
                debug!(%code, %error, "a lobby can't be claimed");
                Claimed::Unavailable
            }
            Err(error) => {
                // A newer program wrote the record, or not ours.
                error!(%code, %error, "a lobby can't be claimed");
                Claimed::Unreadable
            }
        };
        for wanted in wanted {
            self.answer_claim(wanted.link, wanted.request, outcome.clone());
        }
        self.begin_claims();
    }

    /// The lobby is this node's by its record: it goes on here from what is saved.
    fn take_over(
        &mut self,
        claim: &Claim,
        (epoch, seq): (Epoch, Seq),
        saved: Bytes,
        (begun, since): (Instant, Option<Instant>),
    ) -> Claimed {
        let (code, at) = (claim.code, now());
        let born: Born = claim.born.parse().expect("it was claimed by that");
        let (surroundings, pace) = (self.surroundings, self.settings.pace);
        let restored = contained(|| Lobby::restore(at, code, &saved, surroundings, pace));
        let mut lobby = match restored {
            Some(Ok(lobby)) => lobby,
            failed => {
                let why = match failed {
                    Some(Err(invalid)) => invalid.to_string(),
                    _ => "reading it panics".to_owned(),
                };
                // A newer program wrote it: its nodes can go on with it.
                error!(%code, why, "a lobby that was claimed can't be read");
                self.give_back(Release {
                    code: code.to_string(),
                    born,
                    epoch,
                    seq,
                });
                return Claimed::Unreadable;
            }
        };
        if self.tables.contains_key(&code) {
            // A copy of before, whose end this node has not been told yet.
            self.relieved(code);
        }
        lobby.own(epoch.0, seq.0);
        let doubt = self.doubt_since(begun);
        let table = Table::taken_over(lobby, born, saved, seq.0, doubt, at);
        self.tables.insert(code, table);
        self.step(code, Input::Wake(chance::draw()));
        let here = since.map_or(Duration::ZERO, |since| at.saturating_duration_since(since));
        let why = claim.why.map_or(OWN, Why::as_str);
        self.metrics.taken_over(here, why);
        let duration = here + Duration::from_millis(claim.searched_ms);
        self.taken_over.add(at, self.store.now_ms(), why, duration);
        let milliseconds = chassis::clock::milliseconds(duration);
        info!(%code, milliseconds, why, handed = claim.handed.is_some(), "took a lobby over");
        Claimed::Owned { epoch: epoch.0 }
    }

    /// Releases a record that this node can do nothing with.
    fn give_back(&mut self, release: Release) {
        let store = self.store.clone();
        self.under_way.push(Box::pin(async move {
            store.release(&release).await;
            Finished::Nothing
        }));
    }

    fn answer_claim(&self, link: LinkId, request: u64, outcome: Claimed) {
        self.gateways
            .send(link, ToGateway::Claimed { request, outcome });
    }
}
