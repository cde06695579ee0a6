//! A sweep in rows: an operator on a dtype on a backend, and how each two backends differ.

use std::collections::BTreeMap;

use harness::counts;
use serde::{Deserialize, Serialize};
use worker::FaultKind;

use crate::form::PartForm;
use crate::plan::Name;
use crate::run::{PartResult, TargetAnswer, pairs};
use crate::store::Identity;
use crate::tally::{Apart, Tally};

/// All that came of a sweep.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Rows {
    /// Operator by operator, dtype by dtype, backend by backend.
    pub rows: Vec<Row>,
    /// How backends differ, in the same order.
    pub pairs: Vec<Pair>,
}

/// How many of a sweep's parts have run: fewer than all where it was interrupted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct PartCount {
    /// How many have.
    pub done: usize,
    /// How many there are.
    pub of: usize,
}

impl PartCount {
    /// Whether all have run.
    pub fn is_whole(self) -> bool {
        self.done == self.of
    }
}

/// An operator on a dtype on a backend.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// The operator.
    pub op: String,
    /// The dtype.
    pub dtype: String,
    /// The backend.
    pub backend: String,
    /// All elements.
    pub total: Tally,
    /// How many elements the backend has that answered most of the operator on the dtype. One that lacks or fails some parts has
    /// fewer, and what is counted of it is of another sample.
    pub most: u64,
    /// The elements by form.
    pub forms: BTreeMap<PartForm, Tally>,
    /// The largest and the 99th percentile of the errors by length, where that is swept.
    pub lengths: BTreeMap<i64, Tally>,
    /// What the backend lacks, and for how many parts.
    pub lacks: BTreeMap<String, u64>,
    /// What failed.
    pub failed: BTreeMap<String, Failed>,
    /// Faults of the backend's processes, by kind, that are no part's own: a fresh process has none of them.
    pub late_faults: BTreeMap<FaultKind, u64>,
}

/// Parts that failed in the same way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failed {
    /// How many.
    pub parts: u64,
    /// The first of them.
    pub first: Name,
}

/// An operator on a dtype on two backends.
#[derive(Clone, PartialEq, Debug)]
pub struct Pair {
    /// The operator.
    pub op: String,
    /// The dtype.
    pub dtype: String,
    /// One backend.
    pub a: String,
    /// The other.
    pub b: String,
    /// How they differ.
    pub apart: Apart,
}

impl Rows {
    /// The rows of what ran.
    pub fn of(identity: &Identity, all: &[PartResult]) -> Self {
        let mut rows = Self::default();
        let mut start = 0;
        while start < all.len() {
            let part = &all[start].part;
            let is_beside = |ran: &&PartResult| ran.part.op == part.op && ran.part.dtype == part.dtype;
            let end = start + all[start..].iter().take_while(is_beside).count();
            rows.take(identity, &all[start..end]);
            start = end;
        }
        rows
    }

    /// Whether nothing is beyond its specification, nothing failed, and no process died of what it had run before.
    pub fn are_clean(&self) -> bool {
        let is_clean =
            |row: &Row| row.total.beyond_spec == 0 && row.failed.is_empty() && row.late_faults.is_empty();
        self.rows.iter().all(is_clean)
    }

    /// Whether not one backend gave an answer to anything.
    pub fn are_without_answers(&self) -> bool {
        !self.rows.iter().any(Row::has_answers)
    }

    /// Adds the parts of one operator on one dtype.
    fn take(&mut self, identity: &Identity, all: &[PartResult]) {
        let Some(first) = all.iter().find(|ran| !ran.answers.is_empty()) else { return };
        let (op, dtype) = (&first.part.op, &first.part.dtype);
        let before = self.rows.len();
        for (number, target) in identity.targets.iter().enumerate() {
            let mut row = Row {
                op: op.clone(),
                dtype: dtype.clone(),
                backend: target.name.clone(),
                total: Tally::default(),
                most: 0,
                forms: BTreeMap::new(),
                lengths: BTreeMap::new(),
                lacks: BTreeMap::new(),
                failed: BTreeMap::new(),
                late_faults: BTreeMap::new(),
            };
            all.iter().filter_map(|ran| Some((ran, ran.answers.get(number)?))).for_each(|of| row.take(of));
            let late = all.iter().filter_map(|ran| ran.late_faults.get(&number));
            late.for_each(|faults| counts::add(&mut row.late_faults, faults.clone()));
            self.rows.push(row);
        }
        let added = &mut self.rows[before..];
        let most = added.iter().map(|row| row.total.elements).max().unwrap_or(0);
        for row in added {
            row.most = most;
        }
        let apart = |pair: usize| {
            let mut apart = Apart::default();
            all.iter().filter_map(|ran| ran.apart.get(pair)).for_each(|more| apart.merge(more));
            apart
        };
        for (pair, (i, j)) in pairs(identity.targets.len()).enumerate() {
            let name = |i: usize| identity.targets[i].name.clone();
            let (op, dtype) = (op.clone(), dtype.clone());
            self.pairs.push(Pair { op, dtype, a: name(i), b: name(j), apart: apart(pair) });
        }
    }
}

impl Row {
    fn take(&mut self, (ran, answer): (&PartResult, &TargetAnswer)) {
        match answer {
            TargetAnswer::Judged(tally) => {
                self.total.merge(tally);
                self.forms.entry(ran.part.form).or_default().merge(tally);
                if let Some(length) = ran.part.length {
                    self.lengths.entry(length).or_default().merge(tally);
                }
            }
            TargetAnswer::Lacks(why) => *self.lacks.entry(why.clone()).or_default() += 1,
            TargetAnswer::Failed(what) => {
                let first = || Failed { parts: 0, first: ran.part.clone() };
                self.failed.entry(what.clone()).or_insert_with(first).parts += 1;
            }
        }
    }

    /// How many elements fewer the backend has than the one that has most; 0 if it has none.
    pub fn fewer(&self) -> u64 {
        if self.has_answers() { self.most.saturating_sub(self.total.elements) } else { 0 }
    }

    /// Whether most elements have no bound to be judged by: the other columns then count a small part of them.
    pub fn is_hardly_judged(&self) -> bool {
        2 * self.total.judged < self.total.elements
    }

    /// Whether the backend gave an answer to some part.
    pub fn has_answers(&self) -> bool {
        self.total.elements > 0
    }

    /// Whether the backend did anything but say that it lacks the operator.
    pub fn says_something(&self) -> bool {
        self.has_answers() || !self.failed.is_empty()
    }
}

/// A row as other programs read it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Line {
    /// The operator.
    pub op: String,
    /// The dtype.
    pub dtype: String,
    /// The backend.
    pub backend: String,
    /// Its elements.
    #[serde(flatten)]
    pub counts: Counts,
    /// How many elements of the operator on the dtype the backend has that has most. The counts of a backend with fewer
    /// are of another sample.
    #[serde(default)]
    pub most: u64,
    /// The worst element, if one is off: its place, the right value and the value it has.
    pub worst: Option<String>,
    /// The counts by form.
    pub forms: BTreeMap<PartForm, Counts>,
    /// What the backend says that it lacks, and for how many parts.
    pub lacks: BTreeMap<String, u64>,
    /// What failed, and how often.
    pub failed: BTreeMap<String, u64>,
    /// Faults of the backend's processes, by kind, that no part has in a fresh process.
    #[serde(default)]
    pub late_faults: BTreeMap<FaultKind, u64>,
}

/// A tally in numbers.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Counts {
    /// How many elements there are.
    pub elements: u64,
    /// How many of them the bounds say something of. Of the others nothing is told but that they are there: errors that
    /// a long sum or a near-cancellation may have are as large as the value.
    #[serde(default)]
    pub judged: u64,
    /// The share of the elements that are exactly the reference's. Only elements that can be judged count;
    /// `None` if there are none.
    pub exact_share: Option<f64>,
    /// The largest error in ULP.
    pub max_ulp: f64,
    /// The error in ULP that 99 % of the elements do not exceed; above 128 ULP rounded down, by 1/64 at most.
    pub p99_ulp: f64,
    /// How many elements are beyond the tight tier.
    pub beyond_tight: u64,
    /// How many are beyond the specification.
    pub beyond_spec: u64,
    /// How many are infinite or NaN where a number is due, or the reverse.
    pub non_finite: u64,
    /// How many are a zero in place of a denormal number.
    pub flushed: u64,
}

impl From<&Tally> for Counts {
    fn from(tally: &Tally) -> Self {
        Self {
            elements: tally.elements,
            judged: tally.judged,
            exact_share: (tally.judged > 0).then(|| tally.exact as f64 / tally.judged as f64),
            max_ulp: tally.ulps.max(),
            p99_ulp: tally.ulps.quantile(0.99),
            beyond_tight: tally.beyond_tight,
            beyond_spec: tally.beyond_spec,
            non_finite: tally.non_finite,
            flushed: tally.flushed,
        }
    }
}

impl From<&Row> for Line {
    fn from(row: &Row) -> Self {
        Self {
            op: row.op.clone(),
            dtype: row.dtype.clone(),
            backend: row.backend.clone(),
            counts: (&row.total).into(),
            most: row.most,
            worst: row.total.worst.as_ref().map(ToString::to_string),
            forms: row.forms.iter().map(|(form, tally)| (*form, tally.into())).collect(),
            lacks: row.lacks.clone(),
            failed: row.failed.iter().map(|(what, failed)| (what.clone(), failed.parts)).collect(),
            late_faults: row.late_faults.clone(),
        }
    }
}

/// How two backends differ, as other programs read it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Between {
    /// The operator.
    pub op: String,
    /// The dtype.
    pub dtype: String,
    /// One backend.
    pub a: String,
    /// The other.
    pub b: String,
    /// The elements that both have.
    pub elements: u64,
    /// How many differ.
    pub differ: u64,
    /// The largest distance, in ULP of the reference.
    pub max_ulp: f64,
    /// The distance that 99 % of them do not exceed.
    pub p99_ulp: f64,
    /// How many are a number of one, and an infinity or NaN of the other.
    pub non_finite: u64,
}

impl From<&Pair> for Between {
    fn from(pair: &Pair) -> Self {
        Self {
            op: pair.op.clone(),
            dtype: pair.dtype.clone(),
            a: pair.a.clone(),
            b: pair.b.clone(),
            elements: pair.apart.elements,
            differ: pair.apart.differ,
            max_ulp: pair.apart.ulps.max(),
            p99_ulp: pair.apart.ulps.quantile(0.99),
            non_finite: pair.apart.non_finite,
        }
    }
}
