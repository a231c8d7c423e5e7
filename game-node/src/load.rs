//! How loaded this node is: what is measured, and the level that follows from it.
//!
//! `busy` only informs; `overloaded` makes the driver refuse new lobbies and new games. Running
//! games are never touched by any of it.

mod cgroup;
mod cpu;
mod lag;
mod level;
mod metrics;
mod monitor;

use std::time::Duration;

use protocol::server::LoadLevel;

pub use self::cpu::CpuOf;
pub(crate) use self::level::Sample;
pub use self::level::Thresholds;
pub(crate) use self::monitor::monitor;

/// How the load is measured and judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadConfig {
    /// `LOAD_SAMPLE_INTERVAL`: between two samples.
    pub sample_interval: Duration,
    /// The other `LOAD_…` variables.
    pub thresholds: Thresholds,
    /// `LOAD_FORCE_LEVEL`: pins the level whatever is measured, for trying it out.
    pub force_level: Option<LoadLevel>,
    /// Whose CPU is measured: the process's, or with several roles in it the lobby thread's.
    pub cpu_of: CpuOf,
}

impl LoadConfig {
    /// Until the first sample.
    pub(crate) fn at_start(&self) -> Load {
        Load {
            level: self.force_level.unwrap_or_default(),
            sample: Sample::default(),
        }
    }
}

impl Default for LoadConfig {
    fn default() -> Self {
        Self {
            sample_interval: Duration::from_secs(1),
            thresholds: Thresholds::default(),
            force_level: None,
            cpu_of: CpuOf::Process,
        }
    }
}

/// The level, and the newest sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Load {
    pub(crate) level: LoadLevel,
    pub(crate) sample: Sample,
}

impl Load {
    /// Whether new games may come to this node.
    pub(crate) fn admits_games(&self) -> bool {
        self.level != LoadLevel::Overloaded
    }

    pub(crate) fn registry_level(&self) -> registry::Load {
        match self.level {
            LoadLevel::Normal => registry::Load::Normal,
            LoadLevel::Busy => registry::Load::Busy,
            LoadLevel::Overloaded => registry::Load::Overloaded,
        }
    }
}
