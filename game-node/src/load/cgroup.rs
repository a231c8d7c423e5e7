//! The CPU quota of the control group that this process is in, and how often it was used up.
//!
//! Both versions, and both at once on hosts that mount them side by side. A group is limited by its
//! ancestors too, as far as they can be seen from here; the lowest quota counts. A host without
//! control groups, or with files that nobody understands, has no quota.

use std::fs;
use std::path::{Path, PathBuf};

/// What the quota has done since the last look.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Quota {
    /// Cores that may be used; without a quota as many as there are.
    pub(super) cores: Option<f64>,
    /// Share of its periods in which it was used up.
    pub(super) throttled: f64,
}

/// Watches the quota of this process.
#[derive(Debug)]
pub(super) struct Cgroup {
    /// The hierarchies with a CPU controller, version 1 first: where both are mounted, only one
    /// has it, and of version 2 that can't be seen here.
    mounts: Vec<Mount>,
    /// Which group's periods were counted last, and what they were.
    last: Option<(PathBuf, Periods)>,
}

/// A mounted hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mount {
    version: Version,
    /// The group that is at the mount point; in a container often not the root.
    root: String,
    point: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Version {
    One,
    Two,
}

/// Since the group was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Periods {
    elapsed: u64,
    throttled: u64,
}

impl Cgroup {
    /// Looks up what is mounted where, which does not change while a process runs.
    pub(super) fn of_this_process() -> Self {
        Self::mounted(&fs::read_to_string("/proc/self/mountinfo").unwrap_or_default())
    }

    fn mounted(mountinfo: &str) -> Self {
        let mut mounts: Vec<Mount> = mountinfo.lines().filter_map(Mount::of_line).collect();
        mounts.sort_by_key(|mount| mount.version);
        Self { mounts, last: None }
    }

    /// The quota now. A process may be moved to another group at any time, and a quota changed.
    pub(super) fn look(&mut self) -> Quota {
        self.look_at(&fs::read_to_string("/proc/self/cgroup").unwrap_or_default())
    }

    fn look_at(&mut self, membership: &str) -> Quota {
        let Some((directory, cores)) = self.limiting_group(membership) else {
            self.last = None;
            return Quota::default();
        };
        let now = Periods::of_group(&directory);
        let before = self.last.replace((directory.clone(), now));
        // Of a group that is new to us, everything up to now is somebody else's.
        let before = before.filter(|(group, _)| *group == directory);
        let throttled = before.map_or(0.0, |(_, before)| now.throttled_share_since(before));
        Quota {
            cores: Some(cores),
            throttled,
        }
    }

    /// The group with the lowest quota among the own one and its ancestors.
    fn limiting_group(&self, membership: &str) -> Option<(PathBuf, f64)> {
        let groups = self.mounts.iter().flat_map(|mount| {
            let path = mount.version.group_path(membership);
            let groups = path.map_or_else(Vec::new, |path| mount.groups(path));
            groups.into_iter().map(|group| (group, mount.version))
        });
        groups
            .filter_map(|(group, version)| {
                let cores = version.quota_cores(&group)?;
                Some((group, cores))
            })
            .min_by(|(_, one), (_, other)| one.total_cmp(other))
    }
}

impl Mount {
    /// `36 35 98:0 /root /point options optional … - type source super-options`, see proc(5).
    fn of_line(line: &str) -> Option<Self> {
        let (mount, file_system) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (root, point) = (mount.next()?.to_owned(), PathBuf::from(mount.next()?));
        let mut file_system = file_system.split(' ');
        let kind = file_system.next()?;
        let options = file_system.nth(1).unwrap_or_default();
        let version = match kind {
            "cgroup2" => Version::Two,
            "cgroup" if options.split(',').any(|option| option == "cpu") => Version::One,
            _ => return None,
        };
        Some(Self {
            version,
            root,
            point,
        })
    }

    /// The directories of a group and its ancestors, as far as they are mounted.
    fn groups(&self, path: &str) -> Vec<PathBuf> {
        let below = Path::new(path)
            .strip_prefix(&self.root)
            .unwrap_or(Path::new(""));
        // With `..`, the group is outside of what this container may see.
        let is_inside = below.components().all(|part| part.as_os_str() != "..");
        let below = if is_inside { below } else { Path::new("") };
        below
            .ancestors()
            .map(|group| self.point.join(group))
            .collect()
    }
}

impl Version {
    /// The own group's path from a text like `/proc/self/cgroup`: `4:cpu,cpuacct:/group`, of
    /// version 2 `0::/group`.
    fn group_path(self, membership: &str) -> Option<&str> {
        membership.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':');
            let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
            let is_ours = match self {
                Self::One => controllers.split(',').any(|controller| controller == "cpu"),
                Self::Two => number == "0" && controllers.is_empty(),
            };
            is_ours.then_some(path)
        })
    }

    fn quota_cores(self, group: &Path) -> Option<f64> {
        match self {
            Self::One => {
                let quota = read(group, "cpu.cfs_quota_us")?;
                cores(&quota, &read(group, "cpu.cfs_period_us")?)
            }
            Self::Two => {
                let limit = read(group, "cpu.max")?;
                let (quota, period) = limit.trim().split_once(' ')?;
                cores(quota, period)
            }
        }
    }
}

impl Periods {
    /// Both versions call the two numbers the same.
    fn of_group(group: &Path) -> Self {
        Self::of_text(&read(group, "cpu.stat").unwrap_or_default())
    }

    fn of_text(text: &str) -> Self {
        let count = |name| {
            let values = text.lines().filter_map(|line| line.split_once(' '));
            let value = values
                .filter(|(key, _)| *key == name)
                .map(|(_, value)| value)
                .next();
            value
                .and_then(|value| value.trim().parse().ok())
                .unwrap_or(0)
        };
        Self {
            elapsed: count("nr_periods"),
            throttled: count("nr_throttled"),
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "periods of one interval are few"
    )]
    fn throttled_share_since(self, before: Self) -> f64 {
        let elapsed = self.elapsed.saturating_sub(before.elapsed);
        let throttled = self.throttled.saturating_sub(before.throttled);
        // A group that did nothing has no periods.
        (throttled as f64 / elapsed.max(1) as f64).min(1.0)
    }
}

/// Both in microseconds; no quota is `-1` in version 1, and `max` in version 2.
fn cores(quota: &str, period: &str) -> Option<f64> {
    let microseconds = |text: &str| text.trim().parse().ok().filter(|time: &f64| *time > 0.0);
    Some(microseconds(quota)? / microseconds(period)?)
}

fn read(group: &Path, name: &str) -> Option<String> {
    fs::read_to_string(group.join(name)).ok()
}

#[cfg(test)]
mod tests;
