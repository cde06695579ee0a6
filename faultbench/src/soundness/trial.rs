//! One case and the implementations that run it.

use anyhow::{Context, Result, ensure};
use harness::Case;
use interp::{Bounded, Comparison, Profile, Taps};
use ir::{Stream, Tensor};

use super::{Contract, inputs};
use crate::malice::{Habits, Implementation};

/// What came of the elements of some cases.
#[derive(Default)]
pub struct Tally {
    /// How many every implementation must have bit for bit.
    pub exact: u64,
    /// How many are undecidable or undefined.
    pub undecidable: u64,
    /// How many answers are outside of their bounds.
    pub refuted: u64,
    /// The first case with such answers.
    pub first: Option<Refutation>,
    /// For each element with a bound above 0, the largest share of the bound that any implementation reached.
    /// Ascending.
    shares: Vec<f32>,
}

/// An element outside of its bound.
pub struct Refutation {
    /// The number of the case.
    pub case: u64,
    /// The model.
    pub model: String,
    /// Its inputs.
    pub inputs: Vec<Tensor>,
    /// How the implementation went about it.
    pub habits: Habits,
    /// What is wrong.
    pub comparison: Comparison,
}

impl Tally {
    /// How many elements have a bound above 0.
    pub fn bounded(&self) -> usize {
        self.shares.len()
    }

    /// The largest share of a bound that was reached.
    pub fn largest(&self) -> Option<f32> {
        self.shares.last().copied()
    }

    /// The median of the shares.
    pub fn median(&self) -> Option<f32> {
        self.shares.get(self.shares.len() / 2).copied()
    }

    /// Brings the shares into order.
    pub(super) fn sort(&mut self) {
        self.shares.sort_by(f32::total_cmp);
    }

    /// Has so many implementations run a case.
    pub(super) fn take(
        &mut self,
        case: &Case,
        contract: Contract<'_>,
        implementations: u64,
        stream: Stream,
    ) -> Result<()> {
        let inputs = inputs::of(case, stream.child("inputs"));
        let evaluation = interp::evaluate(&case.model, &inputs, contract.claimed, Taps::Outputs)
            .with_context(|| format!("case {} has no reference", case.index))?;
        let mut reached: Vec<Reached> = evaluation.outputs.iter().map(Reached::new).collect();
        for number in 0..implementations {
            let implementation = Implementation::new(contract.kept, stream.at(number));
            let outputs = implementation.run(&case.model, &inputs)?;
            ensure!(outputs.len() == reached.len(), "case {} lacks outputs", case.index);
            for (reached, actual) in reached.iter_mut().zip(&outputs) {
                let comparison = reached.take(actual, contract.claimed)?;
                self.refuted += comparison.mismatches as u64;
                if !comparison.passes() && self.first.is_none() {
                    self.first = Some(Refutation::of(case, &inputs, &implementation, comparison));
                }
            }
        }
        for reached in reached {
            let bounded = reached.shares.iter().flatten();
            self.shares.extend(bounded);
            self.exact += reached.exact();
            self.undecidable += reached.undecidable();
        }
        Ok(())
    }
}

impl Refutation {
    fn of(
        case: &Case,
        inputs: &[Tensor],
        implementation: &Implementation<'_>,
        comparison: Comparison,
    ) -> Self {
        Self {
            case: case.index,
            model: case.model.to_string(),
            inputs: inputs.to_vec(),
            habits: *implementation.habits(),
            comparison,
        }
    }
}

/// How far implementations went within the bounds of a tensor.
struct Reached<'a> {
    expected: &'a Bounded,
    /// The reference's elements, where there are bounds.
    values: Vec<f64>,
    /// By element; `None` where it is exact or undecidable.
    shares: Vec<Option<f32>>,
}

impl<'a> Reached<'a> {
    fn new(expected: &'a Bounded) -> Self {
        let has_bounds = !expected.is_exact() && !expected.is_open;
        let values = if has_bounds { expected.tensor.to_f64s() } else { Vec::new() };
        let share = |i| {
            let error: f64 = expected.error_at(i);
            (error > 0.0 && error.is_finite()).then_some(0.0)
        };
        let shares = (0..values.len()).map(share).collect();
        Self { expected, values, shares }
    }

    /// Holds an answer against the bounds.
    fn take(&mut self, actual: &Tensor, claimed: &Profile) -> Result<Comparison> {
        let comparison = interp::compare(self.expected, actual, claimed)?;
        if !self.values.is_empty() {
            let found = self.values.iter().zip(actual.to_f64s()).enumerate();
            for ((i, (value, actual)), share) in found.zip(&mut self.shares) {
                let Some(share) = share else { continue };
                let reached = ((actual - value).abs() / self.expected.error_at(i)) as f32;
                *share = share.max(reached);
            }
        }
        Ok(comparison)
    }

    fn undecidable(&self) -> u64 {
        let elements = self.expected.tensor.len();
        let undecidable = if self.expected.is_open { elements } else { self.infinite() };
        undecidable as u64
    }

    fn infinite(&self) -> usize {
        self.expected.error.iter().filter(|error| error.is_infinite()).count()
    }

    fn exact(&self) -> u64 {
        let bounded = self.shares.iter().flatten().count() as u64;
        self.expected.tensor.len() as u64 - self.undecidable() - bounded
    }
}
