//! Whether this process has tried what its users need: a list of named checks behind a latch.
//!
//! No timer says ready. Each part of the process names up front what it will try, and reports each
//! result. The first time that nothing holds it back, the part is ready and stays so until it
//! drains: a check that fails later is shown but takes nothing away, unless it is reported by
//! [`Check::block`].
//!
//! Invariant: a part without checks is not ready, so a process is never ready before its roles
//! have said what they will try.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::clock;

/// The readiness of one part of the process (in a process of one role: of all of it).
///
/// Clones are handles on the same part.
#[derive(Clone, Debug)]
pub struct Readiness {
    shared: Arc<Shared>,
    part: usize,
}

/// One thing that a part tries; reports go through it.
#[derive(Clone, Debug)]
pub struct Check {
    shared: Arc<Shared>,
    part: usize,
    index: usize,
}

#[derive(Debug)]
struct Shared {
    parts: Mutex<Vec<Part>>,
    /// What waiters watch. Written only under the lock of `parts`, so it never lags behind them.
    ready: watch::Sender<Ready>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Ready {
    process: bool,
    /// By index of the part.
    parts: Vec<bool>,
}

#[derive(Debug, Default)]
struct Part {
    /// Goes before the names of its checks; empty in a process of one role.
    name: String,
    checks: Vec<Entry>,
    latched: bool,
    draining: Option<(String, Instant)>,
}

#[derive(Debug)]
struct Entry {
    name: &'static str,
    outcome: Outcome,
    detail: String,
    /// When `ok` last changed its value.
    since: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    /// Holds a start back, and nothing afterwards.
    Failed,
    /// Has not worked, but the start goes on without it.
    Waived,
    /// Takes readiness away even after the start.
    Blocking,
}

impl Readiness {
    /// A process of one part, whose checks keep their plain names.
    pub fn new() -> Self {
        let parts = Mutex::new(vec![Part::default()]);
        let ready = watch::Sender::new(Ready::default());
        Self {
            shared: Arc::new(Shared { parts, ready }),
            part: 0,
        }
    }

    /// Adds a part of its own to the same process, whose checks are shown as `name: check`.
    ///
    /// The process is ready when every part is. Once there are named parts, the one of
    /// [`Readiness::new`] counts only if it has checks of its own.
    #[must_use]
    pub fn part(&self, name: &str) -> Self {
        let mut parts = self.shared.lock();
        parts.push(Part {
            name: name.to_owned(),
            ..Part::default()
        });
        let part = parts.len() - 1;
        self.shared.settle(&mut parts);
        Self {
            shared: Arc::clone(&self.shared),
            part,
        }
    }

    /// Names what this part will try. None of them has passed yet.
    ///
    /// All at once, and once for each part, because the latch falls as soon as all that are named
    /// have passed. Naming more checks after that shows them without holding anything back.
    pub fn checks<const N: usize>(&self, names: [&'static str; N]) -> [Check; N] {
        let since = clock::now();
        let mut parts = self.shared.lock();
        let checks = names.map(|name| {
            let entries = &mut parts[self.part].checks;
            let detail = "not tried yet".to_owned();
            entries.push(Entry {
                name,
                outcome: Outcome::Failed,
                detail,
                since,
            });
            Check {
                shared: Arc::clone(&self.shared),
                part: self.part,
                index: entries.len() - 1,
            }
        });
        self.shared.settle(&mut parts);
        checks
    }

    /// Takes this part's readiness away for good, because it is draining. A second call changes
    /// nothing.
    pub fn drain(&self, reason: impl Into<String>) {
        let mut parts = self.shared.lock();
        let part = &mut parts[self.part];
        if part.draining.is_none() {
            part.draining = Some((reason.into(), clock::now()));
        }
        self.shared.settle(&mut parts);
    }

    /// Whether this part is ready now.
    pub fn is_ready(&self) -> bool {
        self.shared.ready.borrow().parts.get(self.part) == Some(&true)
    }

    /// Waits until this part is ready.
    pub async fn ready(&self) {
        let mut receiver = self.shared.ready.subscribe();
        // The sender lives in `self`, so the channel can't close under the wait.
        let _ = receiver
            .wait_for(|ready| ready.parts.get(self.part) == Some(&true))
            .await;
    }

    /// Waits until all parts of the process are ready.
    pub async fn process_ready(&self) {
        let mut receiver = self.shared.ready.subscribe();
        let _ = receiver.wait_for(|ready| ready.process).await;
    }

    /// What has not passed, as one line for a person: `check (detail), check (detail)`; empty if
    /// nothing is missing. Of the whole process.
    pub fn missing(&self) -> String {
        let parts = self.shared.lock();
        let missing = parts.iter().flat_map(|part| {
            let entries = part
                .checks
                .iter()
                .filter(|entry| entry.holds_back(part.latched));
            entries.map(|entry| format!("{} ({})", part.title(entry.name), entry.detail))
        });
        missing.collect::<Vec<_>>().join(", ")
    }

    /// The body of `/ready`: `{"ready":bool,"checks":[{"name","ok","detail","since_ms"}]}`, where
    /// `since_ms` is for how long `ok` has had its value.
    pub fn to_json(&self) -> Value {
        self.shared.render(clock::now())
    }
}

impl Default for Readiness {
    fn default() -> Self {
        Self::new()
    }
}

impl Check {
    /// It worked; `detail` says what, for a person.
    pub fn pass(&self, detail: impl Into<String>) {
        self.report(Outcome::Passed, detail.into());
    }

    /// It did not work (yet): holds the start back; after the start it is only shown.
    pub fn fail(&self, detail: impl Into<String>) {
        self.report(Outcome::Failed, detail.into());
    }

    /// It did not work, and the start goes on without it: shown as not ok, holds nothing back.
    pub fn waive(&self, detail: impl Into<String>) {
        self.report(Outcome::Waived, detail.into());
    }

    /// It does not work, and without it this part can serve nobody: takes readiness away even
    /// after the start, until another result is reported.
    pub fn block(&self, detail: impl Into<String>) {
        self.report(Outcome::Blocking, detail.into());
    }

    fn report(&self, outcome: Outcome, detail: String) {
        let mut parts = self.shared.lock();
        let entry = &mut parts[self.part].checks[self.index];
        if entry.is_ok() != (outcome == Outcome::Passed) {
            entry.since = clock::now();
        }
        entry.outcome = outcome;
        entry.detail = detail;
        self.shared.settle(&mut parts);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Vec<Part>> {
        // Nothing between two assignments can panic, so what a poisoned lock guards is whole.
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets latches fall after a change and tells waiters what is ready now.
    fn settle(&self, parts: &mut [Part]) {
        for part in &mut *parts {
            part.latched |= part.has_tried_all();
        }
        let now = Ready {
            process: process_is_ready(parts),
            parts: parts.iter().map(Part::is_ready).collect(),
        };
        self.ready.send_if_modified(|seen| {
            let changed = *seen != now;
            *seen = now;
            changed
        });
    }

    fn render(&self, now: Instant) -> Value {
        let parts = self.lock();
        let checks: Vec<Value> = parts.iter().flat_map(|part| part.render(now)).collect();
        json!({ "ready": process_is_ready(&parts), "checks": checks })
    }
}

/// The unnamed part counts if it has checks, or if it is the only one.
fn process_is_ready(parts: &[Part]) -> bool {
    parts.iter().enumerate().all(|(index, part)| {
        let stands_aside = index == 0 && parts.len() > 1 && part.checks.is_empty();
        part.is_ready() || (stands_aside && part.draining.is_none())
    })
}

impl Part {
    fn has_tried_all(&self) -> bool {
        !self.checks.is_empty() && !self.checks.iter().any(|entry| entry.holds_back(false))
    }

    fn is_ready(&self) -> bool {
        self.latched
            && self.draining.is_none()
            && !self.checks.iter().any(|entry| entry.holds_back(true))
    }

    fn title(&self, check: &str) -> String {
        if self.name.is_empty() {
            check.to_owned()
        } else {
            format!("{}: {check}", self.name)
        }
    }

    fn render(&self, now: Instant) -> Vec<Value> {
        let row = |name: &str, ok: bool, detail: &str, since: Instant| {
            let since_ms = clock::milliseconds(now.saturating_duration_since(since));
            json!({ "name": self.title(name), "ok": ok, "detail": detail, "since_ms": since_ms })
        };
        let checks = self.checks.iter();
        let draining = self
            .draining
            .iter()
            .map(|(why, since)| row("draining", false, why, *since));
        checks
            .map(|entry| row(entry.name, entry.is_ok(), &entry.detail, entry.since))
            .chain(draining)
            .collect()
    }
}

impl Entry {
    fn is_ok(&self) -> bool {
        self.outcome == Outcome::Passed
    }

    fn holds_back(&self, latched: bool) -> bool {
        match self.outcome {
            Outcome::Passed | Outcome::Waived => false,
            Outcome::Failed => !latched,
            Outcome::Blocking => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn ready_once_all_named_checks_have_passed_and_then_for_good() {
        let readiness = Readiness::new();
        assert!(
            !readiness.is_ready(),
            "without checks nothing has been tried"
        );
        let [probe, registry] = readiness.checks(["probe", "registry"]);
        probe.pass("3 ms");
        assert!(!readiness.is_ready());
        assert_eq!(readiness.missing(), "registry (not tried yet)");
        registry.pass("heartbeat written");
        assert!(readiness.is_ready());
        assert_eq!(readiness.to_json()["ready"], true);
        registry.fail("connection refused");
        assert!(
            readiness.is_ready(),
            "a failure after the start is only shown"
        );
        assert_eq!(readiness.to_json()["checks"][1]["ok"], false);
        assert_eq!(readiness.missing(), "");
    }

    #[test]
    fn a_waived_check_holds_nothing_back_and_a_blocking_one_always_does() {
        let readiness = Readiness::new();
        let [address, link] = readiness.checks(["address", "link"]);
        link.pass("up");
        address.waive("not reachable by 10.0.0.1:7000");
        assert!(readiness.is_ready());
        assert_eq!(readiness.to_json()["checks"][0]["ok"], false);
        link.block("no live link for 10 s");
        assert!(!readiness.is_ready());
        link.pass("up");
        assert!(readiness.is_ready());
    }

    #[test]
    fn draining_ends_readiness_and_says_why() {
        let readiness = Readiness::new();
        let [probe] = readiness.checks(["probe"]);
        probe.pass("");
        readiness.drain("told to stop");
        readiness.drain("told again");
        probe.pass("");
        assert!(!readiness.is_ready());
        let row = &readiness.to_json()["checks"][1];
        assert_eq!(
            (&row["name"], &row["ok"]),
            (&json!("draining"), &json!(false))
        );
        assert_eq!(row["detail"], "told to stop");
    }

    #[test]
    fn a_process_is_ready_when_each_of_its_parts_is() {
        let process = Readiness::new();
        let front = process.part("front");
        let back = process.part("back");
        let [probe] = front.checks(["probe"]);
        probe.pass("");
        let is_ready = || process.to_json()["ready"] == true;
        assert!(
            front.is_ready() && !is_ready(),
            "back has named nothing yet"
        );
        let [other] = back.checks(["probe"]);
        other.pass("");
        assert!(is_ready());
        assert_eq!(process.to_json()["checks"][1]["name"], "back: probe");
        back.drain("");
        assert!(front.is_ready() && !is_ready());
    }

    #[test]
    fn since_counts_from_the_last_change_of_ok() {
        let readiness = Readiness::new();
        let [probe] = readiness.checks(["probe"]);
        probe.pass("3 ms");
        let changed = readiness.shared.lock()[0].checks[0].since;
        probe.pass("4 ms");
        let rendered = readiness
            .shared
            .render(changed + Duration::from_millis(1500));
        let expected = json!({ "name": "probe", "ok": true, "detail": "4 ms", "since_ms": 1500 });
        assert_eq!(rendered, json!({ "ready": true, "checks": [expected] }));
    }

    #[tokio::test]
    async fn waiters_wake_when_the_last_check_passes() {
        let readiness = Readiness::new();
        let [probe] = readiness.checks(["probe"]);
        let waiter = tokio::spawn({
            let readiness = readiness.clone();
            async move { readiness.process_ready().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiter.is_finished());
        probe.pass("");
        waiter.await.unwrap();
        readiness.ready().await;
    }
}
