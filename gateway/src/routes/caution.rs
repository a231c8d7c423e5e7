//! When this gateway must not judge others, because it may itself be the one that was away.
//! Pure: times are passed in.

use std::time::{Duration, Instant};

/// After Redis has come back, shows another run, or this process stood still, its view of the
/// others needs so long to be right again; owners need it to commit anew.
pub(crate) const CAUTION: Duration = Duration::from_secs(5);
/// Looks that are further apart than this mean that the process stood still.
const STOOD_STILL: Duration = Duration::from_secs(2);

/// What a look at the registry shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegistryView<'a> {
    pub(crate) reachable: bool,
    pub(crate) run_id: Option<&'a str>,
    /// It has not answered at least once since the start of the process.
    pub(crate) missed: bool,
}

/// One process'. Has to be looked at several times a second, and before each judgement.
#[derive(Debug)]
pub(crate) struct Caution {
    looked_at: Instant,
    stood_still_at: Option<Instant>,
    reachable: bool,
    run_id: Option<String>,
    /// When the registry answered again, or another run of it was seen.
    back_at: Option<Instant>,
    another_run_at: Option<Instant>,
}

impl Caution {
    /// At the start of the process: that the registry then answers is no return, unless it was
    /// missed first.
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            looked_at: now,
            stood_still_at: None,
            reachable: false,
            run_id: None,
            back_at: None,
            another_run_at: None,
        }
    }

    /// Takes note of the time and of how the registry does.
    pub(crate) fn look(&mut self, now: Instant, registry: RegistryView<'_>) {
        let gap = now.saturating_duration_since(self.looked_at);
        self.looked_at = self.looked_at.max(now);
        if gap > STOOD_STILL {
            self.stood_still_at = Some(now);
        }
        let another = registry.run_id.is_some() && self.run_id.as_deref() != registry.run_id;
        // Whoever started while it was away can't know that this is the run of before.
        let known_before = self.run_id.is_some() || registry.missed;
        if another {
            if known_before {
                self.another_run_at = Some(now);
                self.back_at = Some(now);
            }
            self.run_id = registry.run_id.map(str::to_owned);
        }
        if registry.reachable && !self.reachable && known_before {
            self.back_at = Some(now);
        }
        self.reachable = registry.reachable;
    }

    /// Whether lobbies may be claimed now.
    pub(crate) fn may_claim(&self, now: Instant) -> bool {
        let recent = |at: Option<Instant>| at.is_some_and(|at| now < at + CAUTION);
        self.reachable && !recent(self.back_at) && !recent(self.stood_still_at)
    }

    /// Whether the registry answers, as far as is known here.
    pub(crate) fn is_reachable(&self) -> bool {
        self.reachable
    }

    /// When another run of the registry was seen: it may have lost or brought back data.
    pub(crate) fn another_run_at(&self) -> Option<Instant> {
        self.another_run_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: RegistryView<'_> = RegistryView {
        reachable: true,
        run_id: Some("one"),
        missed: false,
    };
    const AWAY: RegistryView<'_> = RegistryView {
        reachable: false,
        run_id: Some("one"),
        missed: false,
    };
    const TWO: RegistryView<'_> = RegistryView {
        reachable: true,
        run_id: Some("two"),
        missed: false,
    };

    const NEVER: RegistryView<'_> = RegistryView {
        reachable: false,
        run_id: None,
        missed: false,
    };

    /// Looks at each of these, so many milliseconds after the start.
    fn looked(looks: &[(u64, RegistryView<'_>)]) -> (Caution, Instant) {
        let start = chassis::clock::now();
        let mut caution = Caution::new(start);
        for (milliseconds, view) in looks {
            caution.look(start + Duration::from_millis(*milliseconds), *view);
        }
        (caution, start)
    }

    fn may(looks: &[(u64, RegistryView<'_>)], milliseconds: u64) -> bool {
        let (caution, start) = looked(looks);
        caution.may_claim(start + Duration::from_millis(milliseconds))
    }

    #[test]
    fn no_claim_in_the_first_5_s_after_the_registry_answered_again() {
        let back = [(0, ONE), (500, AWAY), (1000, ONE)];
        assert!(!may(&back[..2], 700), "nor while it is away");
        assert!(!may(&back, 5999));
        assert!(may(&back, 6000));
    }

    #[test]
    fn no_claim_in_the_first_5_s_after_another_run_was_seen() {
        let another = [(0, ONE), (500, TWO)];
        assert!(!may(&another, 5499));
        assert!(may(&another, 5500));
        assert!(looked(&another).0.another_run_at().is_some());
    }

    #[test]
    fn its_first_answer_is_no_return() {
        assert!(!may(&[(0, NEVER)], 0));
        let first = [(0, NEVER), (700, ONE)];
        assert!(may(&first, 700));
        assert_eq!(looked(&first).0.another_run_at(), None);
    }

    #[test]
    fn its_first_answer_after_it_was_missed_is_another_runs() {
        let missed = |view| RegistryView {
            missed: true,
            ..view
        };
        let first = [(0, NEVER), (500, missed(NEVER)), (700, missed(ONE))];
        assert!(!may(&first, 5699));
        assert!(may(&first, 5700));
        assert!(looked(&first).0.another_run_at().is_some());
    }

    #[test]
    fn no_claim_in_the_first_5_s_after_the_own_loop_had_a_gap_over_2_s() {
        assert!(may(&[(0, ONE), (2000, ONE)], 2000));
        assert!(!may(&[(0, ONE), (2001, ONE)], 7000));
        assert!(may(&[(0, ONE), (2001, ONE)], 7001));
    }
}
