//! Who holds each table, as it can be told from outside: whether a claim had a reason, and whether a table may be lost.
//!
//! Redis has a record of each, and one process the table itself. What players were shown may be lost only where the
//! record lacks it and that process is gone, or stood still for so long that it counts as gone: the owner and Redis lost
//! together, which is promised to nobody. What happens to such a table says nothing any more.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use registry::simulation::{Deed, DeedKind, Redis};
use registry::{Incarnation, Owner};
use tokio::time::Instant;
use tracing::info;

use crate::lock;
use crate::verdict::Verdict;

/// A process that has stood still is asked about its tables first, and has them again within this.
const AWAKE_AFTER: Duration = Duration::from_secs(6);
/// Over a link that is silent for less nobody is relieved.
const STOPPED_FOR: Duration = Duration::from_secs(5);
/// So long after its trouble an owner may still be relieved for it: a claim may have waited at a Redis that stood still.
const RELIEVED_WITHIN: Duration = Duration::from_secs(30);
/// Likewise where Redis has come back with less.
const SETTLED_AFTER: Duration = Duration::from_secs(20);
/// Claims of one table in which nothing was played, and the time for them.
const MOST_CLAIMS: usize = 4;
const CLAIM_WINDOW: Duration = Duration::from_mins(1);

/// See the module. Clones are the same.
#[derive(Clone)]
pub(crate) struct Ledger {
    books: Arc<Mutex<Books>>,
    redis: Redis,
    verdict: Verdict,
}

#[derive(Default)]
struct Books {
    nodes: BTreeMap<String, Condition>,
    /// By their codes.
    tables: BTreeMap<String, Held>,
    /// When Redis last came back with less than it had.
    lost_at: Option<Instant>,
}

/// How a node does.
#[derive(Debug, Default)]
struct Condition {
    /// Counts its processes.
    run: u64,
    runs: HashMap<Incarnation, u64>,
    is_dead: bool,
    /// Since when its process, or its lobbies' thread, stands still.
    stopped: Option<Instant>,
    woken: Option<Instant>,
    /// Faults that meet it now, and when the last one was over.
    troubles: usize,
    well_since: Option<Instant>,
}

/// One table.
#[derive(Default)]
struct Held {
    /// The process that has last written it: a node, and which run of it.
    holder: Option<(String, u64)>,
    /// The newest state that anybody was shown.
    shown: u64,
    /// Claims since something was played.
    claims: Vec<Instant>,
    is_lost: bool,
}

impl Ledger {
    pub(crate) fn new(redis: Redis, verdict: Verdict) -> Self {
        Self {
            books: Arc::default(),
            redis,
            verdict,
        }
    }

    /// A process of that node starts.
    pub(crate) fn boots(&self, node: &str) {
        let mut books = self.lock();
        let condition = books.nodes.entry(node.to_owned()).or_default();
        condition.run += 1;
        (condition.is_dead, condition.stopped, condition.woken) = (false, None, None);
    }

    /// It is killed.
    pub(crate) fn dies(&self, node: &str) {
        self.condition(node, |condition| condition.is_dead = true);
        self.find_lost();
    }

    /// It has left in good order: what it has not saved then, nobody has excused.
    pub(crate) fn leaves(&self, node: &str) {
        self.condition(node, |condition| condition.is_dead = true);
    }

    /// It stands still, or goes on.
    pub(crate) fn stands_still(&self, node: &str, stopped: bool) {
        self.condition(node, |condition| {
            condition.stopped = stopped.then(Instant::now);
            condition.woken = Some(Instant::now());
        });
    }

    /// A fault that it can be relieved for begins, or is over.
    pub(crate) fn is_in_trouble(&self, node: &str, begins: bool) {
        self.condition(node, |condition| {
            if begins {
                condition.troubles += 1;
            } else {
                condition.troubles -= 1;
                condition.well_since = Some(Instant::now());
            }
        });
    }

    /// Redis has come back with less than it had.
    pub(crate) fn redis_lost_data(&self) {
        self.lock().lost_at = Some(Instant::now());
        self.find_lost();
    }

    /// Somebody was shown that state.
    pub(crate) fn shows(&self, code: &str, seq: u64) {
        let mut books = self.lock();
        let held = books.tables.entry(code.to_owned()).or_default();
        held.shown = held.shown.max(seq);
    }

    /// Whether that table may be lost by now.
    pub(crate) fn may_be_lost(&self, code: &str) -> bool {
        let saved = self.saved(code);
        let mut books = self.lock();
        let Some(held) = books.tables.get(code) else {
            return false;
        };
        let is_lost = held.is_lost || saved < held.shown && books.stands_still(held, STOPPED_FOR);
        books.set_lost(code, is_lost);
        is_lost
    }

    /// How many tables were lost together with Redis.
    pub(crate) fn lost(&self) -> usize {
        let books = self.lock();
        books.tables.values().filter(|held| held.is_lost).count()
    }

    /// Something is done at Redis.
    pub(crate) fn note(&self, deed: &Deed) {
        let mut books = self.lock();
        match &deed.kind {
            DeedKind::Created { by } => books.holds(&deed.code, by),
            DeedKind::Committed { by, accepted_input } => {
                books.holds(&deed.code, by);
                if *accepted_input {
                    books.table(&deed.code).claims.clear();
                }
            }
            DeedKind::Claimed { by, handed } => {
                // Its new owner may never hear of it, and has it once it writes.
                books.run_of(by);
                let claim = books.claimed(deed, by, handed.map(|seq| seq.0));
                if let Err(what) = claim {
                    self.verdict.breach(format!("{}: {what}", deed.code));
                }
            }
            DeedKind::Released => books.table(&deed.code).holder = None,
        }
    }

    /// Tables whose last copy has just gone.
    fn find_lost(&self) {
        let codes: Vec<String> = self.lock().tables.keys().cloned().collect();
        for code in codes {
            let saved = self.saved(&code);
            let mut books = self.lock();
            let held = &books.tables[&code];
            let is_gone = saved < held.shown && books.is_dead(held);
            books.set_lost(&code, is_gone);
        }
    }

    fn saved(&self, code: &str) -> u64 {
        self.redis.record(code).map_or(0, |record| record.seq.0)
    }

    fn condition(&self, node: &str, change: impl FnOnce(&mut Condition)) {
        change(self.lock().nodes.entry(node.to_owned()).or_default());
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        lock(&self.books)
    }
}

impl Books {
    fn table(&mut self, code: &str) -> &mut Held {
        self.tables.entry(code.to_owned()).or_default()
    }

    fn holds(&mut self, code: &str, owner: &Owner) {
        let run = self.run_of(owner);
        self.table(code).holder = Some((owner.node.to_string(), run));
    }

    /// Which of its node's processes that is: the present one, unless it was known before.
    fn run_of(&mut self, owner: &Owner) -> u64 {
        let condition = self.nodes.entry(owner.node.to_string()).or_default();
        let run = condition.run;
        *condition.runs.entry(owner.incarnation).or_insert(run)
    }

    /// Another owns the table from now on.
    fn claimed(&mut self, deed: &Deed, by: &Owner, handed: Option<u64>) -> Result<(), String> {
        let now = Instant::now();
        let Some(before) = &deed.before else {
            return Ok(());
        };
        let brings = before.seq.0.max(handed.unwrap_or(0));
        let held = self.table(&deed.code);
        let lacks = brings < held.shown;
        if lacks && self.stands_still(&self.tables[&deed.code], Duration::ZERO) {
            self.set_lost(&deed.code, true);
        }
        let Some(owner) = before.owner.as_ref().filter(|owner| *owner != by) else {
            return Ok(());
        };
        let claims = &mut self.table(&deed.code).claims;
        claims.retain(|at| now < *at + CLAIM_WINDOW);
        claims.push(now);
        if claims.len() > MOST_CLAIMS {
            return Err(format!("claimed {} times within a minute", claims.len()));
        }
        let run = self.run_of(owner);
        let is_settled = self.lost_at.is_none_or(|at| now > at + SETTLED_AFTER);
        let condition = &self.nodes[owner.node.as_str()];
        if handed.is_none() && is_settled && condition.is_well(now, run) {
            return Err(format!("claimed without a reason: {condition:?}"));
        }
        Ok(())
    }

    /// Whether its holder is dead, or has given it up.
    fn is_dead(&self, held: &Held) -> bool {
        held.holder.as_ref().is_none_or(|(node, run)| {
            let condition = &self.nodes[node];
            condition.is_dead || condition.run != *run
        })
    }

    /// Whether its holder has stood still for so long, or until just now.
    fn stands_still(&self, held: &Held, stopped_for: Duration) -> bool {
        let now = Instant::now();
        held.holder.as_ref().is_some_and(|(node, _)| {
            let condition = &self.nodes[node];
            let stopped = condition.stopped.is_some_and(|at| now >= at + stopped_for);
            let woken = condition.woken.is_some_and(|at| now < at + AWAKE_AFTER);
            stopped || woken
        })
    }

    fn set_lost(&mut self, code: &str, is_lost: bool) {
        let held = self.table(code);
        if is_lost && !held.is_lost {
            held.is_lost = true;
            info!(
                code,
                "lost with its owner and Redis: nothing is asked of it"
            );
        }
    }
}

impl Condition {
    /// Whether nothing is wrong, nor was until just now, with that process of the node.
    fn is_well(&self, now: Instant, run: u64) -> bool {
        let was_ill = self.well_since.is_some_and(|at| now < at + RELIEVED_WITHIN);
        self.run == run && !self.is_dead && self.troubles == 0 && !was_ill
    }
}
