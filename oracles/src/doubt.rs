//! What is right and suspect: outputs with elements inside of their bounds, but further from the reference than good
//! implementations are.
//!
//! A doubt is no bug. The bounds hold every implementation that keeps its profile, and nobody can say that this one does not.
//! But a kernel that sums f32 in bf16, say, hides inside of them once sums are long.

use std::rc::Rc;

use interp::{Bounded, Limits};
use ir::Tensor;
use serde::{Deserialize, Serialize};
use worker::Outcome;

use crate::differential::{Assessment, Expected};
use crate::verdict::Verdict;

/// An output with suspect elements.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Doubt {
    /// The output.
    pub output: String,
    /// The position, in row-major order, of the element that is beyond its limit by the largest factor.
    pub index: usize,
    /// What the engine gave, as a decimal number.
    pub got: String,
    /// What the reference has.
    pub expected: String,
    /// How far good implementations are from that.
    pub limit: String,
    /// How far any implementation may be.
    pub bound: String,
    /// How many elements of the output are suspect.
    pub suspects: usize,
    /// How many it has.
    pub elements: usize,
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { output, index, got, expected, limit, bound, suspects, elements } = self;
        write!(
            f,
            "output `{output}`: {suspects} of {elements} elements are suspect; the furthest is element {index}: {got} where \
             good implementations have {expected} ± {limit}, and ± {bound} is right"
        )
    }
}

impl Assessment {
    /// The outputs of the answer that have suspect elements; none where it is wrong, or nothing of it can be judged. `limits` is
    /// asked only if some element is so far from the reference that it may be suspect.
    pub fn doubts(
        &self,
        outcome: &Outcome,
        expected: &Expected<'_>,
        limits: impl FnOnce() -> Rc<[Limits]>,
    ) -> Vec<Doubt> {
        let (Verdict::Pass, Outcome::Outputs(outputs)) = (&self.verdict, outcome) else { return Vec::new() };
        if !self.comparisons.iter().any(|comparison| Limits::may_exceed(comparison.max_ulp)) {
            return Vec::new();
        }
        let limits = limits();
        let each = expected.names.iter().zip(expected.outputs).zip(limits.iter());
        each.filter_map(|((name, reference), limits)| {
            let (_, actual) = outputs.iter().find(|(n, _)| n == name)?;
            doubt(name, reference, actual, limits)
        })
        .collect()
    }
}

/// What is suspect in one output.
fn doubt(name: &str, reference: &Bounded, actual: &Tensor, limits: &Limits) -> Option<Doubt> {
    if reference.is_open || !actual.dtype().is_float() {
        return None;
    }
    let mut worst: Option<(f64, Doubt)> = None;
    let mut suspects = 0;
    for (index, (expected, got)) in reference.tensor.to_f64s().into_iter().zip(actual.to_f64s()).enumerate() {
        let (bound, limit, distance) = (reference.error_at(index), limits.at(index), (got - expected).abs());
        // False for NaN.
        let is_suspect = bound < f64::INFINITY && bound > 0.0 && distance > limit;
        if !is_suspect {
            continue;
        }
        suspects += 1;
        if worst.as_ref().is_none_or(|(factor, _)| distance / limit > *factor) {
            let found = Doubt {
                output: name.to_owned(),
                index,
                got: format!("{got:?}"),
                expected: format!("{expected:?}"),
                limit: format!("{limit:e}"),
                bound: format!("{bound:e}"),
                suspects,
                elements: actual.len(),
            };
            worst = Some((distance / limit, found));
        }
    }
    worst.map(|(_, worst)| Doubt { suspects, ..worst })
}
