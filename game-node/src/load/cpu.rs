//! How much of the CPU that it may use this node has used.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::cgroup::Cgroup;

/// Lobbies run on one thread: more than one core is no use to them.
const USABLE_CORES: f64 = 1.0;

/// Whose CPU is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuOf {
    /// The process's, which is this node and nothing else.
    Process,
    /// The lobby thread's: other roles in the same process say nothing about this one.
    LobbyThread,
}

/// What was used over one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Usage {
    pub(super) cpu: f64,
    pub(super) throttled: f64,
}

/// Reads what has been used since it was read last. For the lobby thread, where [`CpuOf`] says so.
pub(super) struct CpuMeter {
    of: CpuOf,
    cgroup: Cgroup,
    used_before: Duration,
}

impl CpuMeter {
    pub(super) fn new(of: CpuOf) -> Self {
        let mut cgroup = Cgroup::of_this_process();
        cgroup.look();
        Self {
            of,
            cgroup,
            used_before: of.used(),
        }
    }

    /// What was used in the `elapsed` since the last time.
    pub(super) fn read(&mut self, elapsed: Duration) -> Usage {
        let quota = self.cgroup.look();
        let used = self.of.used();
        let used_now = used.saturating_sub(std::mem::replace(&mut self.used_before, used));
        Usage {
            cpu: share(used_now, elapsed, quota.cores),
            throttled: quota.throttled,
        }
    }
}

impl CpuOf {
    /// Since the process or the thread began.
    fn used(self) -> Duration {
        let time = clock_gettime(match self {
            Self::Process => ClockId::ProcessCPUTime,
            Self::LobbyThread => ClockId::ThreadCPUTime,
        });
        Duration::try_from(time).expect("nobody has used less than nothing")
    }
}

/// Of what may be used: the quota, and at most what one thread can use. Never above 1.
fn share(used: Duration, elapsed: Duration, quota_cores: Option<f64>) -> f64 {
    if elapsed.is_zero() {
        return 0.0;
    }
    let cores = quota_cores.unwrap_or(USABLE_CORES).min(USABLE_CORES);
    (used.as_secs_f64() / elapsed.as_secs_f64() / cores).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_of_what_may_be_used() {
        let check = |used_ms, elapsed_ms, quota_cores, expected: f64| {
            let [used, elapsed] = [used_ms, elapsed_ms].map(Duration::from_millis);
            let share = share(used, elapsed, quota_cores);
            assert!(
                (share - expected).abs() < 1e-9,
                "{used_ms} of {elapsed_ms} ms with {quota_cores:?} cores: {share}"
            );
        };
        check(300, 1000, None, 0.3);
        check(300, 1000, Some(0.5), 0.6);
        check(300, 2000, Some(0.15), 1.0);
        // Another core would be of no use.
        check(300, 1000, Some(4.0), 0.3);
        // More than one thread, or a quota's burst.
        check(1500, 1000, None, 1.0);
        check(200, 1000, Some(0.15), 1.0);
        check(0, 0, None, 0.0);
    }

    #[test]
    fn what_other_threads_use_is_the_process_s_and_not_the_lobby_thread_s() {
        let mut process = CpuMeter::new(CpuOf::Process);
        let mut thread = CpuMeter::new(CpuOf::LobbyThread);
        let used_elsewhere = std::thread::spawn(|| {
            while CpuOf::LobbyThread.used() < Duration::from_millis(200) {
                std::hint::spin_loop();
            }
        });
        used_elsewhere.join().unwrap();
        // As if all of it had been within these 200 ms on a host without a quota: what counts is
        // who has used it.
        let elapsed = Duration::from_millis(200);
        assert!(process.read(elapsed).cpu > 0.9);
        assert!(thread.read(elapsed).cpu < 0.5);
    }
}
