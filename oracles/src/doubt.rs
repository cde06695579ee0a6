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
    /// asked of those outputs alone, by their numbers, with an element so far from the reference that it may be suspect.
    pub fn doubts(
        &self,
        outcome: &Outcome,
        expected: &Expected<'_>,
        limits: impl FnOnce(&[usize]) -> Rc<[Limits]>,
    ) -> Vec<Doubt> {
        let (Verdict::Pass, Outcome::Outputs(outputs)) = (&self.verdict, outcome) else { return Vec::new() };
        let comparisons = self.comparisons.iter().enumerate();
        let far = comparisons.filter(|(_, comparison)| Limits::may_exceed(comparison.max_ulp));
        let far: Vec<usize> = far.map(|(number, _)| number).collect();
        if far.is_empty() {
            return Vec::new();
        }
        let limits = limits(&far);
        far.into_iter()
            .filter_map(|number| {
                let (name, reference) = (expected.names.get(number)?, expected.outputs.get(number)?);
                let limits = limits.get(number)?;
                let (_, actual) = outputs.iter().find(|(n, _)| n == name)?;
                let is_within = |bound: f64| bound < f64::INFINITY && bound > 0.0;
                doubt(name, reference, actual, limits, &|i| is_within(reference.error_at(i)))
            })
            .collect()
    }
}

/// What can be said of an answer whose bounds say nothing: those of a deep network are wider than its values, or than all numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct Afar {
    /// The outputs with elements that are further off than good implementations are.
    pub doubts: Vec<Doubt>,
    /// How many elements were looked at: the defined ones for which good implementations have a limit that is
    /// narrower than the output's values.
    pub told: usize,
    /// How many there are.
    pub elements: usize,
}

impl Afar {
    /// What is said of the outputs of an answer.
    pub fn of(outputs: &[(String, Tensor)], expected: &Expected<'_>, limits: &[Limits]) -> Self {
        Self::of_some(outputs, expected, limits, |_, _| true)
    }

    /// What is said of the elements of an answer that are undecidable, beside others that are decided.
    pub fn of_undecidable(outputs: &[(String, Tensor)], expected: &Expected<'_>, limits: &[Limits]) -> Self {
        Self::of_some(outputs, expected, limits, |reference, i| reference.error_at(i).is_infinite())
    }

    fn of_some(
        outputs: &[(String, Tensor)],
        expected: &Expected<'_>,
        limits: &[Limits],
        is_asked: impl Fn(&Bounded, usize) -> bool,
    ) -> Self {
        let mut afar = Self { doubts: Vec::new(), told: 0, elements: 0 };
        for ((name, reference), limits) in expected.names.iter().zip(expected.outputs).zip(limits) {
            let Some((_, actual)) = outputs.iter().find(|(n, _)| n == name) else { continue };
            let size = root_mean_square(&reference.tensor);
            let is_defined = |i: usize| !reference.is_open && reference.undefined.binary_search(&i).is_err();
            let is_told = |i: usize| is_asked(reference, i) && is_defined(i) && limits.among_all(i) < size;
            afar.elements += actual.len();
            if actual.dtype().is_float() && actual.len() == reference.tensor.len() {
                afar.told += (0..actual.len()).filter(|&i| is_told(i)).count();
                afar.doubts.extend(doubt(name, reference, actual, limits, &is_told));
            }
        }
        afar
    }

    /// How the answer stands.
    pub fn nearness(&self) -> Nearness {
        match self {
            Self { doubts, .. } if !doubts.is_empty() => Nearness::Far,
            Self { told: 0, .. } => Nearness::Untold,
            Self { .. } => Nearness::Near,
        }
    }

    /// How many elements are near, in words.
    pub fn near(&self) -> String {
        let Self { told, elements, .. } = self;
        format!(
            "of {elements}, {told} are within the limits of good implementations, which are below their values"
        )
    }
}

/// How an answer stands of which bounds say nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nearness {
    /// Good implementations have no limit that is narrower than the values either.
    Untold,
    /// All elements that were looked at are as near as good implementations have them.
    Near,
    /// Some are further off.
    Far,
}

/// The root mean square of the finite elements; NaN if there are none.
pub fn root_mean_square(tensor: &Tensor) -> f64 {
    let values = if tensor.dtype().is_float() {
        tensor.to_f64s()
    } else {
        tensor.to_i128s().into_iter().map(|z| z as f64).collect()
    };
    let finite: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    (finite.iter().map(|value| value * value).sum::<f64>() / finite.len() as f64).sqrt()
}

impl std::fmt::Display for Afar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { doubts, told, .. } = self;
        match doubts.first() {
            Some(doubt) => write!(f, "{doubt}"),
            None if *told == 0 => f.write_str("every element is undecidable"),
            None => write!(f, "every element is undecidable; {}", self.near()),
        }
    }
}

/// What is suspect in one output, of the elements that can be.
fn doubt(
    name: &str,
    reference: &Bounded,
    actual: &Tensor,
    limits: &Limits,
    can_be: &dyn Fn(usize) -> bool,
) -> Option<Doubt> {
    if reference.is_open || !actual.dtype().is_float() {
        return None;
    }
    let mut worst: Option<(f64, Doubt)> = None;
    let mut suspects = 0;
    for (index, (expected, got)) in reference.tensor.to_f64s().into_iter().zip(actual.to_f64s()).enumerate() {
        let (bound, limit, distance) =
            (reference.error_at(index), limits.among_all(index), (got - expected).abs());
        // A NaN is at no distance, and good implementations have none where the reference has a number.
        let is_near = !expected.is_finite() || distance <= limit;
        if is_near || !can_be(index) {
            continue;
        }
        suspects += 1;
        let factor = if distance.is_nan() { f64::INFINITY } else { distance / limit };
        if worst.as_ref().is_none_or(|(most, _)| factor > *most) {
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
            worst = Some((factor, found));
        }
    }
    worst.map(|(_, worst)| Doubt { suspects, ..worst })
}

#[cfg(test)]
mod tests {
    use interp::{Accumulators, Profile, Taps, Tier, evaluate, limits};
    use ir::{DType, Stream, Type, Value};
    use ops::linear::MatMul;
    use ops::{Graph, Model};
    use rand::RngExt;

    use super::*;

    /// What is said of an answer whose elements are made of the right ones. A vector goes through 100 layers of random weights that leave it about
    /// as long as it is; its bound is wider after each, and infinite in the end.
    fn said(off: impl Fn(f64) -> f64) -> Afar {
        let mut rng = Stream::new(7).rng();
        let mut graph = Graph::new();
        let weight = move |_| rng.random_range(-0.433..0.433);
        let layer = graph.constant(Tensor::from_f64_fn(&Type::new(DType::F32, [16, 16]), weight));
        let mut last = graph.variable("x", Type::new(DType::F32, [1, 16]));
        for _ in 0..100 {
            last = Value::new(graph.operator(MatMul.into(), &[Some(last), Some(layer)]).expect("it fits"), 0);
        }
        graph.output("y", last);
        let model = Model::new(21, graph);
        let x = [Tensor::from_f64_fn(&Type::new(DType::F32, [1, 16]), |i| 0.3 + 0.1 * i as f64)];
        let outputs = evaluate(&model, &x, &Profile::DECLARED, Taps::Outputs).expect("a reference").outputs;
        let tier = Tier::new(&Profile::DECLARED, Accumulators::default());
        let limits = limits(&model, &x, &tier).expect("limits");
        let got = Tensor::from_f64_fn(&outputs[0].tensor.ty(), |i| off(outputs[0].tensor.to_f64s()[i]));
        let names = ["y".to_owned()];
        let expected = Expected { names: &names, outputs: &outputs, profile: &Profile::DECLARED };
        assert_eq!(outputs[0].undecidable(), 16, "{:?}", outputs[0].error);
        Afar::of(&[("y".to_owned(), got)], &expected, &limits)
    }

    #[test]
    fn what_is_undecidable_is_suspect_where_good_implementations_are_nearer() {
        let near = said(|y| y);
        assert_eq!((near.doubts.len(), near.told, near.elements), (0, 16, 16), "{near}");
        let far = said(|y| 1.5 * y);
        assert_eq!(far.doubts.len(), 1, "{far}");
        assert!(far.doubts[0].suspects > 10, "{far}");
        for none in [f64::NAN, f64::INFINITY] {
            let far = said(|_| none);
            assert_eq!((far.doubts.len(), far.doubts[0].suspects), (1, 16), "{far}");
        }
    }
}
