//! From samples to a level: what one sample says, and how many of them it takes.
//!
//! Pure. A level rises fast and falls slowly, so that a node at its limit does not flicker between
//! taking and refusing games.

use std::time::Duration;

use protocol::server::LoadLevel;

/// From where on a node is busy or overloaded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// `LOAD_LAG_BUSY`: busy from this lag of the lobby thread on.
    pub lag_busy: Duration,
    /// `LOAD_LAG_OVERLOAD`: overloaded from this lag on, if it lasts.
    pub lag_overload: Duration,
    /// `LOAD_LAG_SEVERE`: overloaded from this lag on, at once.
    pub lag_severe: Duration,
    /// `LOAD_CPU_BUSY`: busy from this share of the CPU on.
    pub cpu_busy: f64,
    /// `LOAD_CPU_OVERLOAD`: overloaded from this share of the CPU on, if it lasts.
    pub cpu_overload: f64,
    /// `LOAD_THROTTLE_OVERLOAD`: overloaded from this share of throttled periods on, if it lasts.
    pub throttle_overload: f64,
    /// `LOAD_OVERLOAD_SAMPLES`: what "lasts" means.
    pub overload_samples: u32,
    /// `LOAD_RECOVER_SAMPLES`: so many better samples in a row until the level falls.
    pub recover_samples: u32,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            lag_busy: Duration::from_millis(100),
            lag_overload: Duration::from_millis(250),
            lag_severe: Duration::from_secs(1),
            cpu_busy: 0.7,
            cpu_overload: 0.9,
            throttle_overload: 0.5,
            overload_samples: 3,
            recover_samples: 10,
        }
    }
}

/// What was measured over one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sample {
    /// The worst that a timer of the lobby thread was late.
    pub(crate) loop_lag: Duration,
    /// Share of the CPU that this node may use, from 0 to 1.
    pub(crate) cpu: f64,
    /// Share of the quota's periods in which it was used up, from 0 to 1.
    pub(crate) throttled: f64,
}

/// What one sample says for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Verdict {
    is_busy: bool,
    is_overloaded: bool,
    is_severe: bool,
}

impl Thresholds {
    fn judge(&self, sample: &Sample) -> Verdict {
        let is_severe = sample.loop_lag >= self.lag_severe;
        Verdict {
            // Being throttled is no reason to be busy: a quota that a burst has used up once is
            // nothing that a new table would notice.
            is_busy: sample.loop_lag >= self.lag_busy || sample.cpu >= self.cpu_busy,
            is_overloaded: is_severe
                || sample.loop_lag >= self.lag_overload
                || sample.cpu >= self.cpu_overload
                || sample.throttled >= self.throttle_overload,
            is_severe,
        }
    }
}

impl Verdict {
    fn is_normal(self) -> bool {
        !self.is_busy && !self.is_overloaded
    }
}

/// The level, with the runs of samples that it follows from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hysteresis {
    level: LoadLevel,
    overloaded_in_a_row: u32,
    not_overloaded_in_a_row: u32,
    normal_in_a_row: u32,
}

impl Hysteresis {
    pub(super) fn level(self) -> LoadLevel {
        self.level
    }

    /// After one more sample.
    #[must_use]
    pub(super) fn after(self, sample: &Sample, thresholds: &Thresholds) -> Self {
        let verdict = thresholds.judge(sample);
        let run = |before: u32, goes_on: bool| if goes_on { before.saturating_add(1) } else { 0 };
        let runs = Self {
            level: self.level,
            overloaded_in_a_row: run(self.overloaded_in_a_row, verdict.is_overloaded),
            not_overloaded_in_a_row: run(self.not_overloaded_in_a_row, !verdict.is_overloaded),
            normal_in_a_row: run(self.normal_in_a_row, verdict.is_normal()),
        };
        Self {
            level: runs.level_after(verdict, thresholds),
            ..runs
        }
    }

    fn level_after(self, verdict: Verdict, thresholds: &Thresholds) -> LoadLevel {
        if verdict.is_severe || self.overloaded_in_a_row >= thresholds.overload_samples {
            return LoadLevel::Overloaded;
        }
        let is_well = self.normal_in_a_row >= thresholds.recover_samples;
        match self.level {
            LoadLevel::Normal if verdict.is_busy => LoadLevel::Busy,
            LoadLevel::Busy if is_well => LoadLevel::Normal,
            LoadLevel::Overloaded if self.not_overloaded_in_a_row >= thresholds.recover_samples => {
                if is_well {
                    LoadLevel::Normal
                } else {
                    LoadLevel::Busy
                }
            }
            unchanged => unchanged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(lag_ms: u64, cpu: f64, throttled: f64) -> Sample {
        Sample {
            loop_lag: Duration::from_millis(lag_ms),
            cpu,
            throttled,
        }
    }

    #[test]
    fn one_sample_is_judged_by_its_worst() {
        let check = |lag_ms, cpu, throttled, busy, overloaded, severe| {
            let verdict = Thresholds::default().judge(&sample(lag_ms, cpu, throttled));
            let expected = Verdict {
                is_busy: busy,
                is_overloaded: overloaded,
                is_severe: severe,
            };
            assert_eq!(
                verdict, expected,
                "lag {lag_ms} ms, cpu {cpu}, throttled {throttled}"
            );
        };
        check(0, 0.0, 0.0, false, false, false);
        check(99, 0.699, 0.499, false, false, false);
        check(100, 0.0, 0.0, true, false, false);
        check(0, 0.7, 0.0, true, false, false);
        check(249, 0.899, 0.0, true, false, false);
        check(250, 0.0, 0.0, true, true, false);
        check(0, 0.9, 0.0, true, true, false);
        check(0, 0.0, 0.5, false, true, false);
        check(999, 1.0, 1.0, true, true, false);
        check(1000, 0.0, 0.0, true, true, true);
    }

    /// Samples by letter: `n`ormal, `b`usy, `o`verloaded, `t`hrottled only, `s`evere. Levels by
    /// letter: `N`, `B`, `O`.
    fn levels(samples: &str) -> String {
        let mut state = Hysteresis::default();
        let level_after = |letter| {
            let sample = match letter {
                'n' => sample(0, 0.1, 0.0),
                'b' => sample(120, 0.1, 0.0),
                'o' => sample(0, 0.95, 0.0),
                't' => sample(0, 0.1, 0.6),
                's' => sample(1200, 0.1, 0.0),
                unknown => panic!("no sample is called {unknown}"),
            };
            state = state.after(&sample, &Thresholds::default());
            match state.level() {
                LoadLevel::Normal => 'N',
                LoadLevel::Busy => 'B',
                LoadLevel::Overloaded => 'O',
            }
        };
        samples.chars().map(level_after).collect()
    }

    #[test]
    fn a_level_rises_fast_and_falls_slowly() {
        for (samples, expected) in [
            ("nnn", "NNN"),
            // Busy at once, and back after ten normal ones in a row.
            ("bnnnnnnnnnn", "BBBBBBBBBBN"),
            ("bnnnnnnnnnbnnnnnnnnnn", "BBBBBBBBBBBBBBBBBBBBN"),
            // One overloaded sample is a busy one; three in a row are overload.
            ("onoonooo", "BBBBBBBO"),
            // Being throttled makes nobody busy, but lasts like everything else.
            ("ttnttt", "NNNNNO"),
            ("otot", "BBOO"),
            // A severe one at once.
            ("s", "O"),
            ("nsn", "NOO"),
            // Back to normal after ten normal ones …
            ("snnnnnnnnnn", "OOOOOOOOOON"),
            // … and to busy after ten of which one was, and from there after ten normal ones.
            ("snnnnbnnnnn", "OOOOOOOOOOB"),
            ("sbnnnnnnnnnn", "OOOOOOOOOOBN"),
            ("sbbbbbbbbbbb", "OOOOOOOOOOBB"),
            // An overloaded one in between begins the count anew.
            ("snnnnnnnnnonnnnnnnnnn", "OOOOOOOOOOOOOOOOOOOON"),
            ("snnnnnnnnntnnnnnnnnnn", "OOOOOOOOOOOOOOOOOOOON"),
            // What has just recovered is overloaded again as fast as any other.
            ("snnnnnnnnnnooo", "OOOOOOOOOONBBO"),
        ] {
            assert_eq!(levels(samples), expected, "{samples}");
        }
    }

    #[test]
    fn how_many_samples_it_takes_is_configured() {
        let thresholds = Thresholds {
            overload_samples: 1,
            recover_samples: 2,
            ..Thresholds::default()
        };
        let levels = [
            sample(0, 0.9, 0.0),
            sample(0, 0.0, 0.0),
            sample(0, 0.0, 0.0),
        ];
        let mut state = Hysteresis::default();
        let levels = levels.map(|sample| {
            state = state.after(&sample, &thresholds);
            state.level()
        });
        assert_eq!(
            levels,
            [
                LoadLevel::Overloaded,
                LoadLevel::Overloaded,
                LoadLevel::Normal
            ]
        );
    }
}
