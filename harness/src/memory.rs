//! How much memory the machine has.

use std::fs;
use std::path::Path;

/// Where it is not told.
const UNTOLD: u64 = 8 << 30;

/// How many bytes this process may take without others having to give way: of the machine, and of its container's
/// share.
pub fn available() -> u64 {
    let told = fs::read_to_string("/proc/meminfo").ok();
    let machine = told.as_deref().and_then(in_meminfo).unwrap_or(UNTOLD);
    let group = fs::read_to_string("/proc/self/cgroup").ok();
    let of_groups =
        group.as_deref().and_then(group_path).into_iter().flat_map(|path| {
            Path::new(GROUPS).join(path).ancestors().map(Path::to_owned).collect::<Vec<_>>()
        });
    let groups = of_groups.take_while(|at| at.starts_with(GROUPS)).filter_map(|at| left_in(&at));
    groups.fold(machine, u64::min)
}

/// Where Linux shows the groups of processes that have limits of their own.
const GROUPS: &str = "/sys/fs/cgroup";

/// The group of this process, as a path below [`GROUPS`]: `0::/path`.
fn group_path(told: &str) -> Option<&str> {
    told.lines().find_map(|line| line.strip_prefix("0::/"))
}

/// What is left of a group's limit, if it has one. Cached files are not counted: they make room when memory is needed.
fn left_in(group: &Path) -> Option<u64> {
    let number = |name: &str| fs::read_to_string(group.join(name)).ok()?.trim().parse::<u64>().ok();
    let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let kept = stat.lines().find_map(|line| line.strip_prefix("inactive_file ")?.parse::<u64>().ok());
    let used = number("memory.current")?.saturating_sub(kept.unwrap_or(0));
    Some(number("memory.max")?.saturating_sub(used))
}

/// What Linux says of it.
fn in_meminfo(told: &str) -> Option<u64> {
    let line = told.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_tells_it_in_kibibytes() {
        let told = "MemTotal:       24689764 kB\nMemFree:        10 kB\nMemAvailable:   20971520 kB\n";
        assert_eq!(in_meminfo(told), Some(20 << 30));
        assert_eq!(in_meminfo("MemTotal: 1 kB\n"), None);
    }

    #[test]
    fn a_group_has_what_its_limit_leaves() {
        assert_eq!(group_path("1:name=x:/y\n0::/a/b\n"), Some("a/b"));
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
        write("memory.current", "700\n");
        write("memory.stat", "anon 500\ninactive_file 200\n");
        write("memory.max", "max\n");
        assert_eq!(left_in(folder.path()), None);
        write("memory.max", "1000\n");
        assert_eq!(left_in(folder.path()), Some(500));
    }
}
