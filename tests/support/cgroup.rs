//! A control group that limits the CPU of the processes in it, and their memory, of whichever version this machine has.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// Removed at the end; its processes must have ended by then.
pub(crate) struct ControlGroup {
    /// One a hierarchy: of version 2 there is one, of version 1 each controller has its own.
    directories: Vec<PathBuf>,
}

/// What the processes in a group may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) percent_of_a_core: u32,
    pub(crate) memory_mib: Option<u64>,
}

const PERIOD_MICROSECONDS: u32 = 100_000;

impl ControlGroup {
    /// # Errors
    /// Why this machine lets nobody make one here, for the person who runs the test.
    pub(crate) fn with(limits: Limits) -> Result<Self, String> {
        let mut group = Self {
            directories: Vec::new(),
        };
        let quota = PERIOD_MICROSECONDS * limits.percent_of_a_core / 100;
        let cpu = group.enter("cpu")?;
        if cpu.is_version_2 {
            cpu.write("cpu.max", &format!("{quota} {PERIOD_MICROSECONDS}"))?;
        } else {
            cpu.write("cpu.cfs_period_us", &PERIOD_MICROSECONDS.to_string())?;
            cpu.write("cpu.cfs_quota_us", &quota.to_string())?;
        }
        if let Some(mib) = limits.memory_mib {
            let memory = group.enter("memory")?;
            let name = if memory.is_version_2 {
                "memory.max"
            } else {
                "memory.limit_in_bytes"
            };
            memory.write(name, &(mib << 20).to_string())?;
        }
        Ok(group)
    }

    /// Limits a process from now on, with all its threads.
    pub(crate) fn take_in(&self, process: u32) {
        for directory in &self.directories {
            write(&directory.join("cgroup.procs"), &process.to_string()).unwrap();
        }
    }

    /// Runs a program that is limited from its first instruction on.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(ENTER_AND_RUN).arg(program);
        command.arg(self.directories.len().to_string());
        command.args(&self.directories);
        command
    }

    /// Makes a group for this controller, or finds the one that was made.
    fn enter(&mut self, controller: &str) -> Result<Entered, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mounts = fs::read_to_string("/proc/self/mounts").map_err(|error| error.to_string())?;
        let (point, is_version_2) = mounted(&mounts, controller)
            .ok_or_else(|| format!("no {controller} controller is mounted"))?;
        let here = self.directories.iter().find(|one| one.starts_with(&point));
        let directory = if let Some(directory) = here {
            directory.clone()
        } else {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let directory = point.join(format!("wizard-test-{}-{number}", std::process::id()));
            fs::create_dir(&directory)
                .map_err(|error| format!("{}: {error}", directory.display()))?;
            self.directories.push(directory.clone());
            directory
        };
        Ok(Entered {
            directory,
            is_version_2,
        })
    }
}

/// The program's name is `$0`; its arguments follow the groups.
const ENTER_AND_RUN: &str = r#"
count=$1; shift
while [ "$count" -gt 0 ]; do echo $$ > "$1/cgroup.procs" || exit 1; shift; count=$((count - 1)); done
exec "$0" "$@"
"#;

struct Entered {
    directory: PathBuf,
    is_version_2: bool,
}

impl Entered {
    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        write(&self.directory.join(name), text)
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        for directory in &self.directories {
            remove(directory);
        }
    }
}

/// Makes threads stand still, which no signal does to one alone. Only version 1 can: of version 2 it is always the
/// whole process.
pub(crate) struct Freezer(PathBuf);

impl Freezer {
    /// # Errors
    /// Why this machine lets nobody make one here, for the person who runs the test.
    pub(crate) fn new() -> Result<Self, String> {
        let mut group = ControlGroup {
            directories: Vec::new(),
        };
        let freezer = group.enter("freezer")?;
        group.directories.clear();
        Ok(Self(freezer.directory))
    }

    /// From now on for as long as the answer lives. That must not be longer than its process is wanted: who stands still
    /// can't even be killed.
    pub(crate) fn freeze(&self, thread: u32) -> Frozen<'_> {
        let frozen = Frozen(self);
        write(&self.0.join("tasks"), &thread.to_string()).unwrap();
        write(&self.0.join("freezer.state"), "FROZEN").unwrap();
        frozen
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

/// A thread that stands still.
pub(crate) struct Frozen<'freezer>(&'freezer Freezer);

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        write(&self.0.0.join("freezer.state"), "THAWED").unwrap();
    }
}

fn remove(directory: &Path) {
    // A process that has just ended still counts for a moment.
    let gone = (0..100).any(|_| {
        thread::sleep(Duration::from_millis(20));
        fs::remove_dir(directory).is_ok()
    });
    if !gone {
        eprintln!("{} could not be removed", directory.display());
    }
}

/// Where groups of this controller can be made: of both versions at once, only one has it.
fn mounted(mounts: &str, controller: &str) -> Option<(PathBuf, bool)> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (point, kind, options) = (Path::new(fields.next()?), fields.next()?, fields.next()?);
        let has_it = match kind {
            "cgroup" => options.split(',').any(|option| option == controller),
            "cgroup2" => {
                let children = fs::read_to_string(point.join("cgroup.subtree_control"));
                children.is_ok_and(|names| names.split_whitespace().any(|name| name == controller))
            }
            _ => false,
        };
        has_it.then(|| (point.to_owned(), kind == "cgroup2"))
    })
}
