//! A control group that limits the CPU of the processes in it, of whichever version this machine has.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// Removed at the end; its processes must have ended by then.
pub(crate) struct CpuGroup {
    directory: PathBuf,
}

const PERIOD_MICROSECONDS: u32 = 100_000;

impl CpuGroup {
    /// # Errors
    /// Why this machine lets nobody make one here, for the person who runs the test.
    pub(crate) fn with_percent_of_a_core(percent: u32) -> Result<Self, String> {
        let mounts = fs::read_to_string("/proc/self/mounts").map_err(|error| error.to_string())?;
        let (point, is_version_2) = controller(&mounts).ok_or("no CPU controller is mounted")?;
        let directory = point.join(format!("wizard-test-{}-{percent}", std::process::id()));
        fs::create_dir(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        let group = Self { directory };
        let quota = PERIOD_MICROSECONDS * percent / 100;
        let limits = if is_version_2 {
            vec![("cpu.max", format!("{quota} {PERIOD_MICROSECONDS}"))]
        } else {
            vec![
                ("cpu.cfs_period_us", PERIOD_MICROSECONDS.to_string()),
                ("cpu.cfs_quota_us", quota.to_string()),
            ]
        };
        for (name, text) in limits {
            group.write(name, &text)?;
        }
        Ok(group)
    }

    /// Limits a process from now on, with all its threads.
    pub(crate) fn take_in(&self, process: u32) {
        self.write("cgroup.procs", &process.to_string()).unwrap();
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        let path = self.directory.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    }
}

impl Drop for CpuGroup {
    fn drop(&mut self) {
        // A process that has just ended still counts for a moment.
        for _ in 0..100 {
            if fs::remove_dir(&self.directory).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        eprintln!("{} could not be removed", self.directory.display());
    }
}

/// Where groups with a CPU quota can be made: of both versions at once, only one has the controller.
fn controller(mounts: &str) -> Option<(PathBuf, bool)> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (point, kind, options) = (Path::new(fields.next()?), fields.next()?, fields.next()?);
        let has_cpu = match kind {
            "cgroup" => options.split(',').any(|option| option == "cpu"),
            "cgroup2" => {
                let children = fs::read_to_string(point.join("cgroup.subtree_control"));
                children.is_ok_and(|names| names.split_whitespace().any(|name| name == "cpu"))
            }
            _ => false,
        };
        has_cpu.then(|| (point.to_owned(), kind == "cgroup2"))
    })
}
