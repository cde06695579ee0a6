//! Holding the bounds against implementations that do all the harm their profiles permit.
//!
//! Each operator is drawn alone, on each dtype, and two of them together, and run by some conforming implementations ([`crate::malice`]). Whatever they give must be
//! inside the bounds; what is not refutes a bound. The share of its bound that an element reaches at most says how wide that is: where
//! the largest is small, the bound of the operator can hide faults.

mod inputs;
mod report;
mod trial;

use std::collections::BTreeSet;

use anyhow::Result;
use graphgen::{DRAWN, Settings};
use harness::case::CaseError;
use harness::{Case, Maker, threads};
use interp::Profile;
use ir::{DType, DTypes, Stream};
use ops::Spec;

pub use report::{PAGE, json, markdown, text};
pub use trial::{Refutation, Tally};

/// The largest number of elements of a value. Sums are long enough, and many cases are worth more than long ones.
const MOST_ELEMENTS: i64 = 128;

/// What is tried.
pub struct Sample {
    /// The seed of the cases and of the implementations.
    pub seed: u64,
    /// How many cases of each operator on each dtype.
    pub cases: u64,
    /// How many implementations of each profile run each case.
    pub implementations: u64,
}

/// A profile that implementations keep, and the one that their bounds are derived from: the same, but where it is
/// tested that this test can fail.
#[derive(Clone, Copy)]
pub struct Contract<'p> {
    /// What the implementations keep.
    pub kept: &'p Profile,
    /// What the bounds are derived from.
    pub claimed: &'p Profile,
}

/// What came of one operator under one profile.
pub struct Row {
    /// The operator, or that it is two.
    pub operator: &'static str,
    /// The name of the profile that was kept.
    pub profile: &'static str,
    /// The dtypes that it was drawn on.
    pub dtypes: BTreeSet<DType>,
    /// What came of its elements.
    pub tally: Tally,
}

/// What came of a sample.
pub struct Results {
    /// The sample.
    pub sample: Sample,
    /// By operator, then by profile.
    pub rows: Vec<Row>,
}

impl Results {
    /// All elements that are outside of their bounds, the first of each operator and profile told.
    pub fn refuted(&self) -> u64 {
        self.rows.iter().map(|row| row.tally.refuted).sum()
    }
}

impl Contract<'static> {
    /// The profiles whose implementations are made. Those that transform convolutions are not: no step of a meaning tells how.
    pub const ALL: [Self; 4] = [
        Self::of(&Profile::TIGHT),
        Self::of(&Profile::WGSL),
        Self::of(&Profile::DECLARED),
        Self::of(&Profile::WGSL_RUNTIME),
    ];

    const fn of(profile: &'static Profile) -> Self {
        Self { kept: profile, claimed: profile }
    }
}

/// What is drawn: one operator alone, or several.
struct Subject {
    name: &'static str,
    settings: Settings,
    /// How many cases on each dtype.
    cases: u64,
}

/// Two operators, one of which may read what the other gives: what is kept in a wider format between them, say.
const TWO: &str = "two operators";

/// How many times as many cases there are of two operators, any of all, as of one alone.
const TIMES: u64 = 8;

impl Subject {
    /// Some nodes, of any operators.
    fn any(name: &'static str, nodes: usize, cases: u64) -> Self {
        let settings = Settings {
            nodes,
            function: 0.0,
            max_rank: 4,
            max_elements: MOST_ELEMENTS,
            ..Settings::default()
        };
        Self { name, settings, cases }
    }

    /// An operator alone.
    fn alone(spec: &'static Spec, cases: u64) -> Self {
        let any = Self::any(spec.name, 1, cases);
        Self { settings: Settings { operators: [spec.name].into(), ..any.settings }, ..any }
    }

    /// Its cases on a dtype, wherever that is taken.
    fn cases(&self, seed: u64, dtype: DType) -> impl Iterator<Item = Result<Case, CaseError>> {
        let settings = Settings { wanted: DTypes::of(&[dtype]), ..self.settings.clone() };
        let count = if settings.opsets().is_empty() { 0 } else { self.cases };
        let maker = Maker::new(seed, settings);
        (0..count).filter_map(move |index| match maker.make(index) {
            // Only a rare use of the operator has the dtype.
            Err(CaseError::Nothing { .. }) => None,
            made => Some(made),
        })
    }
}

/// Tries all operators that are drawn, or those that are named, and where none is, two operators as well.
pub fn run(sample: Sample, contracts: &[Contract<'_>], only: &[String]) -> Result<Results> {
    let is_wanted = |name: &str| only.is_empty() || only.iter().any(|wanted| wanted == name);
    let alone = ops::registry().map(|spec| Subject::alone(spec, sample.cases));
    let two = Subject::any(TWO, 2, sample.cases * TIMES);
    let subjects: Vec<Subject> = alone.chain([two]).filter(|subject| is_wanted(subject.name)).collect();
    let done = threads::each(threads::all(), &subjects, |subject| rows(&sample, contracts, subject));
    let rows: Vec<Vec<Row>> = done.into_iter().collect::<Result<_>>()?;
    Ok(Results { sample, rows: rows.into_iter().flatten().collect() })
}

/// What comes of a subject under each contract.
fn rows(sample: &Sample, contracts: &[Contract<'_>], subject: &Subject) -> Result<Vec<Row>> {
    let row = |contract: &Contract<'_>| Row {
        operator: subject.name,
        profile: contract.kept.name,
        dtypes: BTreeSet::new(),
        tally: Tally::default(),
    };
    let mut rows: Vec<Row> = contracts.iter().map(row).collect();
    for dtype in DRAWN.iter() {
        let stream = Stream::new(sample.seed).child("soundness").child(subject.name).child(dtype.name());
        for case in subject.cases(sample.seed, dtype) {
            let case = case?;
            for (row, contract) in rows.iter_mut().zip(contracts) {
                row.dtypes.insert(dtype);
                row.tally.take(&case, *contract, sample.implementations, stream.at(case.index))?;
            }
        }
    }
    for row in &mut rows {
        row.tally.sort();
    }
    Ok(rows)
}

#[cfg(test)]
mod tests;
