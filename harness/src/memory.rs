//! How much memory the machine has.

use std::fs;

/// Where it is not told.
const UNTOLD: u64 = 8 << 30;

/// How many bytes may be taken without others having to go.
pub fn available() -> u64 {
    let told = fs::read_to_string("/proc/meminfo").ok();
    told.as_deref().and_then(in_meminfo).unwrap_or(UNTOLD)
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
}
