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
    /// How long that run has been there, where it is known.
    pub(crate) run_age: Option<Duration>,
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
    /// When the first run that was seen began, until it is known whether it follows another one.
    first_run_at: Option<Instant>,
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
            first_run_at: None,
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
            } else {
                let age = registry.run_age;
                self.first_run_at = age.and_then(|age| now.checked_sub(age));
            }
            self.run_id = registry.run_id.map(str::to_owned);
        }
        if registry.reachable && !self.reachable && known_before {
            self.back_at = Some(now);
        }
        self.reachable = registry.reachable;
    }

    /// Whether it has to be told if the first run follows another one.
    pub(crate) fn asks_for_witnesses(&self) -> bool {
        self.first_run_at.is_some()
    }

    /// Somebody is there who was so before the first run that was seen here, or whoever is there
    /// came after it: then nobody can know what was before.
    pub(crate) fn hear_witness(&mut self, knows_another_run: bool) {
        let began = self.first_run_at.take();
        if knows_another_run && self.another_run_at.is_none() {
            self.another_run_at = began;
            self.back_at = self.back_at.max(began);
        }
    }

    /// Whether lobbies may be claimed now.
    pub(crate) fn may_claim(&self, now: Instant) -> bool {
        let recent = |at: Option<Instant>| at.is_some_and(|at| now < at + CAUTION);
        let times = [self.back_at, self.stood_still_at, self.first_run_at];
        self.reachable && !times.into_iter().any(recent)
    }

    /// Whether the registry answers, as far as is known here.
    pub(crate) fn is_reachable(&self) -> bool {
        self.reachable
    }

    /// When another run of the registry was seen: it may have lost or brought back data. One that
    /// has only just begun is taken for another until somebody says which it is.
    pub(crate) fn another_run_at(&self, now: Instant) -> Option<Instant> {
        let young = self.first_run_at.filter(|began| now < *began + CAUTION);
        self.another_run_at.or(young)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: RegistryView<'_> = RegistryView {
        reachable: true,
        run_id: Some("one"),
        run_age: None,
        missed: false,
    };
    const AWAY: RegistryView<'_> = RegistryView {
        reachable: false,
        run_id: Some("one"),
        run_age: None,
        missed: false,
    };
    const TWO: RegistryView<'_> = RegistryView {
        reachable: true,
        run_id: Some("two"),
        run_age: None,
        missed: false,
    };

    const NEVER: RegistryView<'_> = RegistryView {
        reachable: false,
        run_id: None,
        run_age: None,
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

    fn saw_another((caution, start): &(Caution, Instant)) -> bool {
        let then = *start + Duration::from_millis(700);
        caution.another_run_at(then).is_some()
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
        assert!(saw_another(&looked(&another)));
    }

    #[test]
    fn its_first_answer_is_no_return() {
        assert!(!may(&[(0, NEVER)], 0));
        let first = [(0, NEVER), (700, ONE)];
        assert!(may(&first, 700));
        assert!(!saw_another(&looked(&first)));
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
        assert!(saw_another(&looked(&first)));
    }

    #[test]
    fn a_first_run_that_has_just_begun_is_another_one_until_somebody_is_there_who_came_after_it() {
        let young = |seconds| RegistryView {
            run_age: Some(Duration::from_secs(seconds)),
            ..ONE
        };
        let long_ago = looked(&[(0, NEVER), (700, young(5))]);
        assert!(
            long_ago
                .0
                .may_claim(long_ago.1 + Duration::from_millis(700))
        );
        assert!(!saw_another(&long_ago));

        let first = [(0, NEVER), (700, young(2))];
        let (mut caution, start) = looked(&first);
        assert!(!caution.may_claim(start + Duration::from_millis(3_699)));
        assert!(caution.may_claim(start + Duration::from_millis(3_700)));
        assert!(saw_another(&(looked(&first))));
        assert!(caution.asks_for_witnesses());
        caution.hear_witness(false);
        assert!(caution.may_claim(start + Duration::from_millis(700)));
        assert_eq!(
            caution.another_run_at(start + Duration::from_millis(700)),
            None
        );

        let (mut caution, start) = looked(&first);
        caution.hear_witness(true);
        assert!(!caution.asks_for_witnesses());
        assert!(!caution.may_claim(start + Duration::from_millis(3_699)));
        assert!(caution.may_claim(start + Duration::from_millis(3_700)));
        let later = start + Duration::from_mins(20);
        assert!(caution.another_run_at(later).is_some(), "it is remembered");
    }

    #[test]
    fn no_claim_in_the_first_5_s_after_the_own_loop_had_a_gap_over_2_s() {
        assert!(may(&[(0, ONE), (2000, ONE)], 2000));
        assert!(!may(&[(0, ONE), (2001, ONE)], 7000));
        assert!(may(&[(0, ONE), (2001, ONE)], 7001));
    }
}
