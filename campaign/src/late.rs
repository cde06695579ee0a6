//! Late faults: an engine's process that has run other cases dies, and a fresh one does not of the same case.
//!
//! No case shows such a fault, so it is in none of a campaign's clusters, and it is a fault all the same: memory that is used after it
//! was freed, a thread that is left behind, a second model that does not load. Not every kind is one for certain. A process that runs out
//! of memory, or of time, may have had too little of them, where a fresh one has enough.

use std::collections::BTreeMap;
use std::fmt;

use worker::FaultKind;

use crate::junit::{TestCase, TestResult};

/// How many late faults there were, by engine and kind.
pub type LateFaults = BTreeMap<String, BTreeMap<FaultKind, u64>>;

/// The late faults of one kind of an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LateFault<'a> {
    /// The engine.
    pub backend: &'a str,
    /// The kind.
    pub kind: FaultKind,
    /// How many there were.
    pub count: u64,
}

/// The name of what ran before, where signatures have an operator.
const CULPRIT: &str = "after other cases";

impl fmt::Display for LateFault<'_> {
    /// Writes the signature, by which a list of known findings names it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { backend, kind, .. } = self;
        write!(f, "{backend} | {CULPRIT} | {kind}")
    }
}

impl LateFault<'_> {
    /// The fault as CI systems show it.
    pub fn test_case(&self) -> TestCase {
        let why = "a process that had run other cases died, and a fresh one runs them".to_owned();
        TestCase {
            class: self.backend.to_owned(),
            name: self.to_string(),
            result: TestResult::Failed(format!("{} times", self.count), why),
        }
    }
}

/// The kinds of which the engine may be innocent: the machine was short of something.
const UNCERTAIN: [FaultKind; 2] = [FaultKind::Timeout, FaultKind::Memory];

/// Whether a late fault of a kind is the engine's for certain.
pub fn is_certain(kind: FaultKind) -> bool {
    !UNCERTAIN.contains(&kind)
}

/// The late faults that are the engines' for certain.
pub fn certain(all: &LateFaults) -> impl Iterator<Item = LateFault<'_>> {
    let each = all.iter().flat_map(|(backend, by_kind)| {
        by_kind.iter().map(|(&kind, &count)| LateFault { backend, kind, count })
    });
    each.filter(|late| is_certain(late.kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_the_machines_is_not_certain() {
        use FaultKind::{Garbage, Memory, Signal, StackOverflow, Timeout};
        let by_kind = [(Signal, 3), (Timeout, 4), (Garbage, 1), (StackOverflow, 5), (Memory, 2)].into();
        let all = LateFaults::from([("e".to_owned(), by_kind)]);
        let names: Vec<String> = certain(&all).map(|late| late.to_string()).collect();
        let kinds = ["garbage", "signal", "stack-overflow"];
        assert_eq!(names, kinds.map(|kind| format!("e | after other cases | {kind}")));
        // Kinds are keys of objects in reports and stored campaigns, in the order of their names.
        let json = r#"{"e":{"garbage":1,"memory":2,"signal":3,"stack-overflow":5,"timeout":4}}"#;
        assert_eq!(serde_json::to_string(&all).unwrap(), json);
        assert_eq!(serde_json::from_str::<LateFaults>(json).unwrap(), all);
    }
}
