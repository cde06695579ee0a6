//! What was counted by name.

use std::collections::BTreeMap;

/// Adds counts by name.
pub fn add<K: Ord>(to: &mut BTreeMap<K, u64>, more: BTreeMap<K, u64>) {
    for (name, count) in more {
        *to.entry(name).or_default() += count;
    }
}
