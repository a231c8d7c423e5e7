//! The records of lobbies in memory: the scripts beside `redis/` in Rust, line by line.

use std::time::Duration;

use bytes::Bytes;

use super::expiring::Expiring;
use crate::lobby::{
    CLAIM_WAIT, CLAIM_WINDOW, Claim, Claimed, Commit, Committed, Create, Created, Delete, Deleted,
    FREE_CLAIMS, KEPT_CLAIMS, Lifetime, Record, Release, Released, Touch, Touched,
};
use crate::{Epoch, Seq};

#[derive(Clone)]
pub(crate) struct Lobbies {
    entries: Expiring<String, Entry>,
    session_ttl: Duration,
}

#[derive(Clone, Debug)]
struct Entry {
    record: Record,
    saved: Bytes,
    /// Times of the last claims without an accepted input, oldest first.
    claims: Vec<u64>,
}

impl Lobbies {
    pub(crate) fn new(session_ttl: Duration) -> Self {
        Self {
            entries: Expiring::default(),
            session_ttl,
        }
    }

    pub(crate) fn owner(&self, code: &str, now: u64) -> Option<Record> {
        self.entries
            .get(code, now)
            .map(|entry| entry.record.clone())
    }

    pub(crate) fn create(&mut self, create: &Create, now: u64) -> Created {
        if let Some(there) = self.entries.get(&create.code, now) {
            return Created::Exists(there.record.clone());
        }
        let (epoch, seq) = (Epoch(now), Seq(now));
        let record = Record {
            born: create.born,
            owner: Some(create.owner.clone()),
            epoch,
            seq,
            status: create.status.clone(),
            deleted: false,
        };
        let entry = Entry {
            record,
            saved: create.saved.clone(),
            claims: Vec::new(),
        };
        self.put(&create.code, entry, create.lifetime, now);
        Created::Ok { epoch, seq }
    }

    pub(crate) fn commit(&mut self, commit: &Commit, now: u64) -> Committed {
        let mut claims = Vec::new();
        if let Some(there) = self.entries.get(&commit.code, now) {
            let stored = &there.record;
            if stored.born != commit.born || stored.epoch > commit.epoch {
                return Committed::Relieved;
            }
            if stored.epoch == commit.epoch {
                if stored.owner.as_ref() != Some(&commit.owner) {
                    return Committed::Relieved;
                }
                if stored.seq > commit.seq {
                    return Committed::Superseded;
                }
                if stored.seq == commit.seq {
                    let ttl = commit.lifetime.ttl(self.session_ttl);
                    self.entries.renew(&commit.code, ttl, now);
                    return Committed::Ok;
                }
            }
            if !commit.accepted_input {
                claims.clone_from(&there.claims);
            }
        }
        let record = Record {
            born: commit.born,
            owner: Some(commit.owner.clone()),
            epoch: commit.epoch,
            seq: commit.seq,
            status: commit.status.clone(),
            deleted: false,
        };
        let entry = Entry {
            record,
            saved: commit.saved.clone(),
            claims,
        };
        self.put(&commit.code, entry, commit.lifetime, now);
        Committed::Ok
    }

    pub(crate) fn claim(&mut self, claim: &Claim, now: u64) -> Claimed {
        let mut entry = match self.newest_state(claim, now) {
            Ok(entry) => entry,
            Err(answer) => return answer,
        };
        let counts = entry
            .record
            .owner
            .as_ref()
            .is_some_and(|owner| *owner != claim.owner);
        let window_ms = milliseconds(CLAIM_WINDOW);
        entry.claims.retain(|at| at.saturating_add(window_ms) > now);
        if counts {
            if let Some(milliseconds) = wait_ms(&entry.claims, now) {
                return Claimed::Wait { milliseconds };
            }
            entry.claims.push(now);
            let surplus = entry.claims.len().saturating_sub(KEPT_CLAIMS);
            entry.claims.drain(..surplus);
        }
        let record = &mut entry.record;
        record.epoch = Epoch((record.epoch.max(claim.seen_epoch).0 + 1).max(now));
        record.seq = Seq((record.seq.max(claim.seen_seq).0 + 1).max(now));
        record.owner = Some(claim.owner.clone());
        let answer = Claimed::Saved {
            epoch: record.epoch,
            seq: record.seq,
            saved: entry.saved.clone(),
            status: record.status.clone(),
        };
        self.put(&claim.code, entry, Lifetime::Table, now);
        answer
    }

    /// What would be claimed: the record, or the handed state where that is newer.
    fn newest_state(&self, claim: &Claim, now: u64) -> Result<Entry, Claimed> {
        let handed = claim.handed.as_ref();
        let stored = self.entries.get(&claim.code, now);
        if let Some(stored) = stored {
            let ended = stored.record.deleted && stored.record.born == claim.born;
            let refused =
                stored.record.born != claim.born || stored.record.epoch > claim.seen_epoch;
            let older = |epoch, seq| (stored.record.epoch, stored.record.seq) >= (epoch, seq);
            if refused || handed.is_none_or(|handed| older(handed.epoch, handed.seq)) {
                return match (ended, refused) {
                    (true, _) => Err(Claimed::Gone),
                    (false, true) => Err(Claimed::OwnedBy(stored.record.clone())),
                    (false, false) => Ok(stored.clone()),
                };
            }
        }
        let handed = handed.ok_or(Claimed::Gone)?;
        let record = Record {
            born: claim.born,
            owner: stored.and_then(|stored| stored.record.owner.clone()),
            epoch: handed.epoch,
            seq: handed.seq,
            status: handed.status.clone(),
            deleted: false,
        };
        let claims = stored
            .map(|stored| stored.claims.clone())
            .unwrap_or_default();
        Ok(Entry {
            record,
            saved: handed.saved.clone(),
            claims,
        })
    }

    pub(crate) fn touch(&mut self, touch: &Touch, now: u64) -> Touched {
        let Some(there) = self.entries.get(&touch.code, now) else {
            return Touched::Behind;
        };
        let stored = &there.record;
        if stored.born != touch.born || stored.epoch > touch.epoch {
            return Touched::Relieved;
        }
        if stored.epoch < touch.epoch {
            return Touched::Behind;
        }
        if stored.owner.as_ref() != Some(&touch.owner) {
            return Touched::Relieved;
        }
        let answer = if stored.seq < touch.seq {
            Touched::Behind
        } else {
            Touched::Ok
        };
        self.entries
            .renew(&touch.code, Lifetime::Table.ttl(self.session_ttl), now);
        answer
    }

    pub(crate) fn release(&mut self, release: &Release, now: u64) -> Released {
        let ttl = Lifetime::Table.ttl(self.session_ttl);
        let Some(there) = self.entries.get_mut(&release.code, now) else {
            return Released::Behind;
        };
        let stored = &mut there.record;
        if stored.born != release.born || stored.epoch > release.epoch {
            return Released::Relieved;
        }
        if stored.epoch < release.epoch || stored.seq < release.seq {
            return Released::Behind;
        }
        if stored.seq > release.seq {
            return Released::Superseded;
        }
        stored.owner = None;
        stored.epoch = Epoch(stored.epoch.0 + 1);
        self.entries.renew(&release.code, ttl, now);
        Released::Ok
    }

    pub(crate) fn delete(&mut self, delete: &Delete, now: u64) -> Deleted {
        let mut seq = Seq(0);
        if let Some(there) = self.entries.get(&delete.code, now) {
            let stored = &there.record;
            if stored.born != delete.born {
                return Deleted::Relieved;
            }
            if stored.deleted && stored.epoch.0 == delete.epoch.0 + 1 {
                return Deleted::Ok;
            }
            if stored.epoch > delete.epoch {
                return Deleted::Relieved;
            }
            seq = stored.seq;
        }
        let record = Record {
            born: delete.born,
            owner: None,
            epoch: Epoch(delete.epoch.0 + 1),
            seq,
            status: String::new(),
            deleted: true,
        };
        let tombstone = Entry {
            record,
            saved: Bytes::new(),
            claims: Vec::new(),
        };
        self.entries
            .put(delete.code.clone(), tombstone, self.session_ttl, now);
        Deleted::Ok
    }

    fn put(&mut self, code: &str, entry: Entry, lifetime: Lifetime, now: u64) {
        self.entries
            .put(code.to_owned(), entry, lifetime.ttl(self.session_ttl), now);
    }
}

/// How long the next claim that counts has to wait, if it has to.
fn wait_ms(claims: &[u64], now: u64) -> Option<u64> {
    let beyond = claims.len().checked_sub(FREE_CLAIMS)?;
    let wait = milliseconds(CLAIM_WAIT) << beyond.min(KEPT_CLAIMS);
    claims
        .last()?
        .saturating_add(wait)
        .checked_sub(now)
        .filter(|rest| *rest > 0)
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
