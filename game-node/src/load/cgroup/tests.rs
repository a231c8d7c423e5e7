//! Control groups as real hosts show them, below a directory that stands for `/sys/fs/cgroup`.

use tempfile::TempDir;

use super::*;

/// A host's control groups.
struct Host {
    directory: TempDir,
    cgroup: Cgroup,
}

impl Host {
    /// `@` in the mounts stands for `/sys/fs/cgroup`.
    fn new(mounts: &str, files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().to_str().unwrap();
        let cgroup = Cgroup::mounted(&mounts.replace('@', root));
        let host = Self { directory, cgroup };
        for (path, text) in files {
            host.write(path, text);
        }
        host
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }

    #[track_caller]
    fn check(&mut self, membership: &str, cores: Option<f64>, throttled: f64) {
        assert_eq!(self.cgroup.look_at(membership), Quota { cores, throttled });
    }
}

const DISKS: &str = "24 1 253:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,discard
26 24 0:5 / /proc rw,nosuid - proc proc rw
";

const V2: &str =
    "35 24 0:30 / @ rw,nosuid,nodev shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot";

const V1: &str = "31 24 0:28 / @ ro - tmpfs tmpfs ro,mode=755
32 31 0:29 / @/cpu,cpuacct rw,relatime shared:14 - cgroup cgroup rw,cpu,cpuacct
33 31 0:30 / @/cpuset rw,relatime shared:15 - cgroup cgroup rw,cpuset
34 31 0:31 / @/memory rw,relatime - cgroup cgroup rw,memory
35 31 0:32 / @/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd";

const V1_GROUPS: &str = "12:cpuset:/other
4:cpu,cpuacct:/wizard
3:memory:/
1:name=systemd:/user.slice";

const V2_STAT: &str = "usage_usec 812345
user_usec 700000
system_usec 112345
nr_periods 40
nr_throttled 30
throttled_usec 2500000
nr_bursts 0
burst_usec 0";

#[test]
fn without_control_groups_there_is_no_quota() {
    Host::new(DISKS, &[]).check("", None, 0.0);
    Host::new("", &[]).check("0::/\n", None, 0.0);
}

#[test]
fn version_2_says_quota_and_period_in_one_file() {
    let mut host = Host::new(
        &format!("{DISKS}{V2}"),
        &[
            ("wizard/cpu.max", "15000 100000"),
            ("wizard/cpu.stat", V2_STAT),
        ],
    );
    host.check("0::/wizard\n", Some(0.15), 0.0);
    let later = V2_STAT.replace("nr_periods 40", "nr_periods 50");
    host.write(
        "wizard/cpu.stat",
        &later.replace("nr_throttled 30", "nr_throttled 36"),
    );
    host.check("0::/wizard\n", Some(0.15), 0.6);
    // Nothing ran since: no period has passed.
    host.check("0::/wizard\n", Some(0.15), 0.0);
}

#[test]
fn max_is_no_quota() {
    let mut host = Host::new(
        V2,
        &[
            ("wizard/cpu.max", "max 100000"),
            ("wizard/cpu.stat", V2_STAT),
        ],
    );
    host.check("0::/wizard\n", None, 0.0);
    host.write("wizard/cpu.max", "200000 100000");
    host.check("0::/wizard\n", Some(2.0), 0.0);
}

#[test]
fn version_1_says_them_in_two() {
    let mut host = Host::new(
        &format!("{DISKS}{V1}"),
        &[
            ("cpu,cpuacct/wizard/cpu.cfs_quota_us", "30000"),
            ("cpu,cpuacct/wizard/cpu.cfs_period_us", "50000"),
            (
                "cpu,cpuacct/wizard/cpu.stat",
                "nr_periods 8\nnr_throttled 2\nthrottled_time 91",
            ),
            ("cpu,cpuacct/cpu.cfs_quota_us", "-1"),
            ("cpu,cpuacct/cpu.cfs_period_us", "100000"),
        ],
    );
    host.check(V1_GROUPS, Some(0.6), 0.0);
    host.write(
        "cpu,cpuacct/wizard/cpu.stat",
        "nr_periods 12\nnr_throttled 5\nthrottled_time 100",
    );
    host.check(V1_GROUPS, Some(0.6), 0.75);
    host.write("cpu,cpuacct/wizard/cpu.cfs_quota_us", "-1");
    host.check(V1_GROUPS, None, 0.0);
}

#[test]
fn side_by_side_the_one_with_the_quota_counts() {
    // The CPU is version 1's; version 2 is mounted for systemd alone and has no file of it.
    let mounts = format!("{V1}\n41 31 0:38 / @/unified rw,relatime - cgroup2 cgroup2 rw");
    let mut host = Host::new(
        &mounts,
        &[
            ("cpu,cpuacct/wizard/cpu.cfs_quota_us", "15000"),
            ("cpu,cpuacct/wizard/cpu.cfs_period_us", "100000"),
            ("unified/cgroup.controllers", "hugetlb"),
        ],
    );
    host.check(&format!("{V1_GROUPS}\n0::/\n"), Some(0.15), 0.0);
}

#[test]
fn the_tightest_ancestor_limits() {
    let mut host = Host::new(
        V2,
        &[
            ("pod/box/cpu.max", "max 100000"),
            ("pod/cpu.max", "50000 100000"),
            ("pod/cpu.stat", "nr_periods 10\nnr_throttled 0"),
            ("cpu.stat", "usage_usec 5"),
        ],
    );
    host.check("0::/pod/box\n", Some(0.5), 0.0);
    host.write("pod/cpu.stat", "nr_periods 20\nnr_throttled 5");
    host.check("0::/pod/box\n", Some(0.5), 0.5);
    host.write("pod/box/cpu.max", "20000 100000");
    host.write("pod/box/cpu.stat", "nr_periods 900\nnr_throttled 900");
    // Another group's count begins where it stands.
    host.check("0::/pod/box\n", Some(0.2), 0.0);
}

#[test]
fn in_a_container_the_own_group_is_at_the_mount_point() {
    let files = [
        ("cpu/cpu.cfs_quota_us", "50000"),
        ("cpu/cpu.cfs_period_us", "100000"),
        // Not ours: another that happens to be called as the host calls us.
        ("cpu/docker/0a1b/cpu.cfs_quota_us", "1000"),
        ("cpu/docker/0a1b/cpu.cfs_period_us", "100000"),
    ];
    // Mounted from the host's group of the container, whose path is the host's.
    let mounts = "900 899 0:29 /docker/0a1b @/cpu ro,relatime master:11 - cgroup cgroup rw,cpu";
    Host::new(mounts, &files).check("4:cpu:/docker/0a1b\n", Some(0.5), 0.0);
    // In a namespace of control groups, both begin with the own one.
    let mounts = "900 899 0:29 / @/cpu ro,relatime - cgroup cgroup rw,cpu";
    Host::new(mounts, &files).check("4:cpu:/\n", Some(0.5), 0.0);
    // A mount and a process of different namespaces.
    let mounts = "900 899 0:29 /../0a1b @/cpu ro,relatime - cgroup cgroup rw,cpu";
    Host::new(mounts, &files).check("4:cpu:/../../elsewhere\n", Some(0.5), 0.0);
}

#[test]
fn files_that_nobody_understands_limit_nothing() {
    for limit in ["", "max", "15000", "many 100000", "15000 0", "-5 100000"] {
        Host::new(V2, &[("cpu.max", limit)]).check("0::/\n", None, 0.0);
    }
}

#[test]
fn this_host_can_be_looked_at() {
    let quota = Cgroup::of_this_process().look();
    assert!(quota.cores.is_none_or(|cores| cores > 0.0), "{quota:?}");
}
