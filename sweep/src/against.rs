//! Two sweeps compared: what got worse.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::rows::{Counts, Row, Rows};

/// A row that is worse than it was.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Worse {
    /// The operator.
    pub op: String,
    /// The dtype.
    pub dtype: String,
    /// The backend.
    pub backend: String,
    /// In which respects.
    pub what: Vec<Change>,
}

/// A number that grew.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Change {
    /// Which.
    pub of: &'static str,
    /// What it was.
    pub before: f64,
    /// What it is.
    pub now: f64,
}

/// A number of a row.
type Measure = fn(&Counts) -> f64;

/// What counts as worse when it grows. Shares, as sweeps may differ in how many elements they have.
const MEASURES: [(&str, Measure); 5] = [
    ("max_ulp", |c| c.max_ulp),
    ("p99_ulp", |c| c.p99_ulp),
    ("beyond_tight_share", |c| share(c.beyond_tight, c)),
    ("beyond_spec_share", |c| share(c.beyond_spec, c)),
    ("non_finite_share", |c| share(c.non_finite, c)),
];

fn share(part: u64, of: &Counts) -> f64 {
    if of.elements == 0 { 0.0 } else { part as f64 / of.elements as f64 }
}

/// The rows that are worse than those of an earlier sweep, as far as both have them: errors that grew, answers that fail now.
pub fn worse(before: &Rows, now: &Rows) -> Vec<Worse> {
    let key = |row: &Row| (row.op.clone(), row.dtype.clone(), row.backend.clone());
    let known: BTreeMap<_, &Row> = before.rows.iter().map(|row| (key(row), row)).collect();
    let compared = now.rows.iter().filter_map(|row| Some((*known.get(&key(row))?, row)));
    let worse = compared.filter_map(|(before, now)| {
        let what = changes(before, now);
        let (op, dtype, backend) = key(now);
        (!what.is_empty()).then_some(Worse { op, dtype, backend, what })
    });
    worse.collect()
}

fn changes(before: &Row, now: &Row) -> Vec<Change> {
    let failures = |row: &Row| row.failed.values().map(|failed| failed.parts).sum::<u64>() as f64;
    let lacks = |row: &Row| f64::from(u8::from(!row.has_answers()));
    let mut all = vec![
        Change { of: "failed", before: failures(before), now: failures(now) },
        Change { of: "lacking", before: lacks(before), now: lacks(now) },
    ];
    if before.has_answers() && now.has_answers() {
        let (before, now) = (Counts::from(&before.total), Counts::from(&now.total));
        all.extend(MEASURES.map(|(of, measure)| Change { of, before: measure(&before), now: measure(&now) }));
    }
    all.retain(|change| change.now > change.before);
    all
}

/// What got worse, for people.
pub fn text(worse: &[Worse]) -> String {
    let line = |one: &Worse| {
        let what = one.what.iter().map(|change| format!("{} {} → {}", change.of, change.before, change.now));
        format!("{} {} on {}: {}\n", one.op, one.dtype, one.backend, what.collect::<Vec<_>>().join(", "))
    };
    match worse {
        [] => "nothing is worse than before\n".to_owned(),
        all => format!("worse than before:\n{}", all.iter().map(line).collect::<String>()),
    }
}
