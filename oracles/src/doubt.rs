//! What is right and suspect: outputs with elements inside of their bounds, but further from the reference than good
//! implementations are.
//!
//! A doubt is no bug. The bounds hold every implementation that keeps its profile, and nobody can say that this one does not.
//! But a kernel that sums f32 in bf16, say, hides inside of them once sums are long.

use std::rc::Rc;

use interp::{Bounded, Limits};
use ir::Tensor;
use ir::format::FloatFormat;
use serde::{Deserialize, Serialize};
use worker::Outcome;

use crate::differential::{Assessment, Expected};
use crate::verdict::{Verdict, Why};

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
             good implementations have {expected} ± {limit}, and what is within ± {bound} is not known to be wrong"
        )
    }
}

impl Assessment {
    /// The outputs of the answer that have suspect elements; none where it is wrong, or there are no outputs. `limits` is asked of those
    /// outputs alone, by their numbers, with an element that may be suspect: because it is decided and far from the reference, or
    /// because it is undecidable and astray.
    pub fn doubts(
        &self,
        outcome: &Outcome,
        expected: &Expected<'_>,
        limits: impl FnOnce(&[usize]) -> Rc<[Limits]>,
    ) -> Vec<Doubt> {
        let (Verdict::Pass | Verdict::Incomparable(Why::Undecidable), Outcome::Outputs(outputs)) =
            (&self.verdict, outcome)
        else {
            return Vec::new();
        };
        let is_far = |number: usize| {
            self.comparisons.get(number).is_some_and(|comparison| Limits::may_exceed(comparison.max_ulp))
        };
        let mut pairs =
            pairs(outputs, expected, |number, reference| is_far(number) || reference.undecidable() > 0);
        pairs.retain(|pair| is_far(pair.number) || (0..pair.got.len()).any(|i| pair.is_astray(i)));
        if pairs.is_empty() {
            return Vec::new();
        }
        let numbers: Vec<usize> = pairs.iter().map(|pair| pair.number).collect();
        let limits = limits(&numbers);
        let found = pairs.iter().filter_map(|pair| {
            let limits = limits.get(pair.number)?;
            let is_within = |bound: f64| bound < f64::INFINITY && bound > 0.0;
            let can_be = |i: usize| {
                is_within(pair.reference.error_at(i)) || pair.is_astray(i) && pair.is_told(i, limits)
            };
            pair.doubt(limits, &can_be)
        });
        found.collect()
    }
}

/// What can be said of an answer whose bounds say nothing: those of a deep network are wider than its values, or than
/// all numbers.
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
        let elements = outputs.iter().map(|(_, actual)| actual.len()).sum();
        let mut afar = Self { doubts: Vec::new(), told: 0, elements };
        for pair in pairs(outputs, expected, |_, _| true) {
            let Some(limits) = limits.get(pair.number) else { continue };
            let is_told = |i: usize| is_asked(pair.reference, i) && pair.is_told(i, limits);
            afar.told += (0..pair.got.len()).filter(|&i| is_told(i)).count();
            afar.doubts.extend(pair.doubt(limits, &is_told));
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

/// An output of an answer beside the reference's.
struct Pair<'a> {
    /// Which output of the model it is.
    number: usize,
    name: &'a str,
    reference: &'a Bounded,
    expected: Vec<f64>,
    got: Vec<f64>,
    /// The root mean square of the reference's values.
    size: f64,
}

/// The outputs of an answer of which distances can be told: floats of the right number.
fn pairs<'a>(
    outputs: &'a [(String, Tensor)],
    expected: &'a Expected<'_>,
    is_asked: impl Fn(usize, &Bounded) -> bool,
) -> Vec<Pair<'a>> {
    let named = expected.names.iter().zip(expected.outputs).enumerate();
    let pair = |(number, (name, reference)): (usize, (&'a String, &'a Bounded))| {
        let (_, actual) = outputs.iter().find(|(other, _)| other == name)?;
        let is_comparable = actual.dtype().is_float() && actual.len() == reference.tensor.len();
        let is_told = is_comparable && !reference.is_open && is_asked(number, reference);
        is_told.then(|| Pair {
            number,
            name,
            reference,
            expected: reference.tensor.to_f64s(),
            got: actual.to_f64s(),
            size: root_mean_square(&reference.tensor),
        })
    };
    named.filter_map(pair).collect()
}

impl Pair<'_> {
    fn is_defined(&self, i: usize) -> bool {
        self.reference.undefined.binary_search(&i).is_err()
    }

    /// Whether good implementations have a limit for a defined element that is narrower than the output's values.
    fn is_told(&self, i: usize, limits: &Limits) -> bool {
        self.is_defined(i) && limits.among_all(i) < self.size
    }

    /// Whether bounds say nothing of a defined element, and it is no number where the reference has one, or further from that than
    /// values are large.
    fn is_astray(&self, i: usize) -> bool {
        let is_undecidable = self.reference.error_at(i) == f64::INFINITY && self.is_defined(i);
        // A NaN is at no distance.
        let is_near = |distance: f64| distance <= self.size;
        is_undecidable && self.expected[i].is_finite() && !is_near(self.distance(i))
    }

    /// How far an element is from the reference's. An infinity is as far as the least number that rounds to it.
    fn distance(&self, i: usize) -> f64 {
        let format = self.reference.tensor.dtype().float();
        let beyond = |format: FloatFormat| {
            let max = format.max_finite();
            (max + format.ulp(max) / 2.0).copysign(self.got[i])
        };
        let got = format.filter(|_| self.got[i].is_infinite()).map_or(self.got[i], beyond);
        (got - self.expected[i]).abs()
    }

    /// What is suspect, of the elements that can be.
    fn doubt(&self, limits: &Limits, can_be: &dyn Fn(usize) -> bool) -> Option<Doubt> {
        let mut worst: Option<(f64, usize)> = None;
        let mut suspects = 0;
        for (index, expected) in self.expected.iter().enumerate() {
            let (limit, distance) = (limits.among_all(index), self.distance(index));
            let is_told = expected.is_finite() && limits.are_about(index, *expected);
            // A NaN is at no distance, and good implementations have none where the reference has a number.
            if !is_told || distance <= limit || !can_be(index) {
                continue;
            }
            suspects += 1;
            let factor = if distance.is_nan() { f64::INFINITY } else { distance / limit };
            if worst.is_none_or(|(most, _)| factor > most) {
                worst = Some((factor, index));
            }
        }
        worst.map(|(_, index)| Doubt {
            output: self.name.to_owned(),
            index,
            got: format!("{:?}", self.got[index]),
            expected: format!("{:?}", self.expected[index]),
            limit: format!("{:e}", limits.among_all(index)),
            bound: format!("{:e}", self.reference.error_at(index)),
            suspects,
            elements: self.got.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use interp::{Accumulators, Profile, Taps, Tier, evaluate, limits};
    use ir::{DType, Stream, Type, Value};
    use ops::linear::MatMul;
    use ops::movement::Concat;
    use ops::{Graph, Model};
    use rand::RngExt;

    use super::*;
    use crate::assess;

    /// A vector goes through 100 layers of random weights that leave it about as long as it is; its bound is wider after each, and
    /// infinite in the end. That is one output, and another has the vector itself before it.
    fn deep() -> (Model, [Tensor; 1]) {
        let mut rng = Stream::new(7).rng();
        let mut graph = Graph::new();
        let weight = move |_| rng.random_range(-0.433..0.433);
        let layer = graph.constant(Tensor::from_f64_fn(&Type::new(DType::F32, [16, 16]), weight));
        let first = graph.variable("x", Type::new(DType::F32, [1, 16]));
        let mut last = first;
        for _ in 0..100 {
            last = Value::new(graph.operator(MatMul.into(), &[Some(last), Some(layer)]).expect("it fits"), 0);
        }
        graph.output("y", last);
        let beside = graph.operator(Concat { axis: 1 }.into(), &[Some(first), Some(last)]).expect("it fits");
        graph.output("beside", Value::new(beside, 0));
        let x = Tensor::from_f64_fn(&Type::new(DType::F32, [1, 16]), |i| 0.3 + 0.1 * i as f64);
        (Model::new(21, graph), [x])
    }

    /// The reference's outputs, how far good implementations are from them, and an answer made of the right one.
    fn answered(off: impl Fn(usize, f64) -> f64) -> (Vec<Bounded>, Vec<Limits>, Vec<(String, Tensor)>) {
        let (model, x) = deep();
        let outputs = evaluate(&model, &x, &Profile::DECLARED, Taps::Outputs).expect("a reference").outputs;
        let tier = Tier::new(&Profile::DECLARED, Accumulators::default());
        let limits = limits(&model, &x, &tier).expect("limits");
        let given = model.graph.outputs.iter().zip(&outputs).map(|(output, right)| {
            let values = right.tensor.to_f64s();
            (output.name.clone(), Tensor::from_f64_fn(&right.tensor.ty(), |i| off(i, values[i])))
        });
        let given = given.collect();
        (outputs, limits, given)
    }

    /// What is said of the first output.
    fn said(off: impl Fn(f64) -> f64) -> Afar {
        let (outputs, limits, given) = answered(|_, y| off(y));
        let expected =
            Expected { names: &["y".to_owned()], outputs: &outputs[..1], profile: &Profile::DECLARED };
        assert_eq!(outputs[0].undecidable(), 16, "{:?}", outputs[0].error);
        Afar::of(&given[..1], &expected, &limits[..1])
    }

    /// What is suspect of the second output.
    fn doubted(off: impl Fn(usize, f64) -> f64) -> Vec<Doubt> {
        let (outputs, limits, given) = answered(off);
        let expected =
            Expected { names: &["beside".to_owned()], outputs: &outputs[1..], profile: &Profile::DECLARED };
        assert_eq!(outputs[1].undecidable(), 16, "{:?}", outputs[1].error);
        let outcome = Outcome::Outputs(given[1..].to_vec());
        let assessment = assess("engine", "all", &outcome, &expected);
        assert_eq!(assessment.verdict, Verdict::Pass);
        assessment.doubts(&outcome, &expected, |_| limits[1..].into())
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

    #[test]
    fn what_is_astray_beside_decided_elements_is_suspect() {
        assert_eq!(doubted(|_, y| y), []);
        // Of an error that is no larger than the values nothing is said.
        assert_eq!(doubted(|i, y| if i < 16 { y } else { 1.01 * y }), []);
        for none in [f64::NAN, f64::INFINITY, -1e9] {
            let doubts = doubted(|i, y| if i == 20 { none } else { y });
            let [doubt] = &doubts[..] else { panic!("{none}: {doubts:?}") };
            assert_eq!((doubt.index, doubt.suspects, doubt.elements), (20, 1, 32), "{none}: {doubt}");
        }
    }

    #[test]
    fn an_infinity_is_as_far_as_the_least_number_that_rounds_to_it() {
        let top = |value| Tensor::from_f64_fn(&Type::new(DType::F16, [1]), |_| value);
        let right = [Bounded::within(top(65504.0), vec![f64::INFINITY])];
        let expected = Expected { names: &["y".to_owned()], outputs: &right, profile: &Profile::DECLARED };
        let given = [("y".to_owned(), top(f64::INFINITY))];
        assert_eq!(pairs(&given, &expected, |_, _| true)[0].distance(0), 16.0);
    }
}
