//! What a runtime may do although the reference says otherwise.
//!
//! Each is a row: what the standard says or leaves out, and what follows from it and no more. Answers that rest on one are
//! counted by its name in every report; where it is why nothing can be said, the verdict is incomparable
//! ([`Why`](crate::Why)). How far a number may be off is not among them: that is a liberty of an accuracy profile
//! ([`interp::Profile`]), and part of the bound.
//!
//! The functions say of a model and its evaluation where an allowance holds; they are pure, and know no engine.

use std::collections::BTreeSet;
use std::fmt;

use interp::{Bounded, Comparison, Evaluation};
use ir::{DType, NodeKind, Value, cone};
use ops::{Graph, Hazard, Model, Operator};

use crate::verdict::Verdict;

/// A row of the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Allowance {
    /// An engine need not have everything.
    Unsupported,
    /// An engine may calculate in a narrower dtype than the model's, if it declares that.
    Widened,
    /// An engine may refuse to calculate what is undefined.
    Undefined,
    /// An engine may give a zero of the other sign.
    ZeroSign,
    /// An engine may saturate where an integer overflows.
    Saturation,
}

impl Allowance {
    /// All rows.
    pub const ALL: [Self; 5] =
        [Self::Unsupported, Self::Widened, Self::Undefined, Self::ZeroSign, Self::Saturation];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unsupported => "unsupported",
            Self::Widened => "widened",
            Self::Undefined => "undefined",
            Self::ZeroSign => "zero sign",
            Self::Saturation => "saturation",
        }
    }

    /// What the standard says, or that it says nothing.
    pub const fn basis(self) -> &'static str {
        match self {
            Self::Unsupported => {
                "ONNX does not ask an implementation to have every operator, dtype or opset; it may say that it has not."
            }
            Self::Widened => {
                "ONNX gives no leave for it. The engine declares it in its `hello`, so whoever uses it can know."
            }
            Self::Undefined => {
                "ONNX says nothing about integers divided by zero, indices out of range and the like; the operator's page here \
                 names them as hazards."
            }
            Self::ZeroSign => {
                "ONNX does not say which zero an operator gives; IEEE 754 does, and WGSL gives leave to ignore it."
            }
            Self::Saturation => {
                "ONNX says of casts and shifts alone that bits are discarded, and nothing of other integers."
            }
        }
    }

    /// What it permits, and no more.
    pub const fn permits(self) -> &'static str {
        match self {
            Self::Unsupported => {
                "A refusal that says so: in the protocol's word for it, or in words of the runtime's own. In its own words only \
                 where one of the operators alone is refused in such words too, and at every level; of a model with functions, with one \
                 operator, or that cannot be taken apart they are believed."
            }
            Self::Widened => {
                "Wrong numbers in outputs that depend on an i64 beyond i32. No fault, no refusal, no wrong type, and nothing in \
                 another output. Of a model that cannot be taken apart, wrong numbers anywhere. Where an operator is asked alone, \
                 wrong numbers of floats that the engine computes in another one: a part of a composite may have a dtype that \
                 nothing else of the case has."
            }
            Self::Undefined => {
                "A refusal of a model in which something is undefined, unless an operator that does not depend on that refuses \
                 alone; and of one in which it is undecidable whether something is (an integer that may be 0 and divides), unless \
                 an operator refuses alone for the same cause. Of a model that cannot be taken apart, any refusal where value search found something \
                 undefined. No fault."
            }
            Self::ZeroSign => {
                "+0 for -0 and the other way round, where the engine's accuracy profile ignores the sign. Infinities of the other \
                 sign that follow from it are in the bounds of what divides by it."
            }
            Self::Saturation => {
                "Where one step on elements overflows and the profile leaves it open: the low bits, the largest or smallest number, \
                 or what a float gives that is converted (the smallest or nearest integer of 32 or 64 bits, of which a narrow \
                 dtype has the low bits). What later operators make of it is undecidable, and so is a ReduceSum, ReduceMean or ReduceL2 of \
                 which a part of the sum may saturate; of other sums and of products the end alone counts."
            }
        }
    }
}

impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The allowances that an answer rests on: the one that makes it incomparable, and those that its outputs
/// need.
pub fn needed(verdict: Option<&Verdict>, comparisons: &[Comparison]) -> BTreeSet<Allowance> {
    let why = match verdict {
        Some(Verdict::Incomparable(why)) => why.allowance(),
        Some(Verdict::Pass | Verdict::Bug(_)) | None => None,
    };
    let any = |count: fn(&Comparison) -> usize| comparisons.iter().any(|output| count(output) > 0);
    let zero_sign = any(|output| output.zero_signs).then_some(Allowance::ZeroSign);
    let saturation = any(|output| output.saturated).then_some(Allowance::Saturation);
    why.into_iter().chain(zero_sign).chain(saturation).collect()
}

/// For each node, whether a value of it is an i64 which i32 does not hold, or depends on one: [`Allowance::Widened`].
pub fn beyond_i32(model: &Model, evaluation: &Evaluation) -> Vec<bool> {
    let is_beyond = |v: &i128| i32::try_from(*v).is_err();
    let is_wide =
        |tap: &Bounded| tap.tensor.dtype() == DType::I64 && tap.tensor.to_i128s().iter().any(is_beyond);
    dependants(&model.graph, evaluation, is_wide)
}

/// The names of the outputs of such nodes.
pub fn outputs_beyond_i32(model: &Model, evaluation: &Evaluation) -> BTreeSet<String> {
    let beyond = beyond_i32(model, evaluation);
    let outputs = model.graph.outputs.iter().filter(|output| beyond[output.value.node.index()]);
    outputs.map(|output| output.name.clone()).collect()
}

/// For each node, whether an element of it is undefined, or of something it depends on: [`Allowance::Undefined`].
pub fn undefined(model: &Model, evaluation: &Evaluation) -> Vec<bool> {
    dependants(&model.graph, evaluation, |tap| !tap.undefined.is_empty())
}

/// Whether an operator may be undefined in some implementation that is right: an integer that decides it (a
/// divisor that may be 0, an index that may be out of range) may differ between implementations. Floats do
/// not count: with them an undefined operator gives NaN and refuses nothing. See [`Allowance::Undefined`].
pub fn may_be_undefined(model: &Model, evaluation: &Evaluation) -> bool {
    let graph = &model.graph;
    graph.nodes.iter().any(|node| {
        let NodeKind::Operator(op) = &node.kind else { return false };
        let types = graph.types(&node.inputs);
        let may_be = |operand: usize, is: &dyn Fn(f64, f64) -> bool| {
            let value = node.inputs.get(operand).copied().flatten();
            let bounded = value.and_then(|value| evaluation.taps.get(&value));
            bounded.is_some_and(|bounded| may_be_integer(bounded, is))
        };
        op.hazards(&types).iter().any(|hazard| match *hazard {
            Hazard::Zero { operand } => may_be(operand, &|least, most| least <= 0.0 && 0.0 <= most),
            Hazard::Outside { operand, low, high } | Hazard::Perhaps { operand, low, high } => {
                may_be(operand, &|least, most| least < low || high < most)
            }
            Hazard::Meeting { operand, value, .. } => {
                may_be(operand, &|least, most| least <= value && value <= most)
            }
            Hazard::Count { operand, .. } | Hazard::Repeated { operand, .. } => may_be(operand, &|_, _| true),
            Hazard::Ties { .. } | Hazard::Far { .. } | Hazard::Always => false,
        })
    })
}

/// Whether something holds of the least and the greatest number that an inexact element of integers may be.
fn may_be_integer(bounded: &Bounded, is: &dyn Fn(f64, f64) -> bool) -> bool {
    if !bounded.tensor.dtype().is_int() || bounded.is_exact() {
        return false;
    }
    let inexact = |i: &usize| bounded.error_at(*i) > 0.0;
    let elements = bounded.tensor.to_i128s().into_iter().enumerate().filter(|(i, _)| inexact(i));
    let mut ranges = elements.map(|(i, z)| (z as f64, bounded.sides_at(i)));
    ranges.any(|(z, [below, above])| is(z - below, z + above))
}

/// For each node, whether one of its values is such, or a value that it depends on.
fn dependants(graph: &Graph, evaluation: &Evaluation, is: impl Fn(&Bounded) -> bool) -> Vec<bool> {
    let has = |id| {
        let ports = 0..graph.node(id).outputs.len();
        ports.map(|port| Value::new(id, port)).filter_map(|value| evaluation.taps.get(&value)).any(&is)
    };
    cone::dependants(graph, has)
}

#[cfg(test)]
mod tests {
    use interp::{Profile, Taps, evaluate};
    use ir::{Tensor, Type};

    use super::*;

    fn evaluated(text: &str, inputs: &[Tensor]) -> (Model, Evaluation) {
        let model: Model = text.parse().expect("a model");
        let evaluation = evaluate(&model, inputs, &Profile::DECLARED, Taps::All).expect("inputs that fit");
        (model, evaluation)
    }

    fn filled(dtype: DType, v: i128) -> Tensor {
        Tensor::from_i128_fn(&Type::new(dtype, [1]), |_| v)
    }

    #[test]
    fn a_narrow_integer_excuses_what_depends_on_it_and_no_more() {
        let text = r#"onnxsmith 1 opset 21
graph {
  %0: i64[1] = variable "x"
  %1: i64[1] = variable "y"
  %2: i64[1] = Add(%0, %0)
  %3: i64[1] = Abs(%1)
  return "wide" = %2, "beside" = %3
}
"#;
        let names = |x: i128| {
            let (model, evaluation) = evaluated(text, &[filled(DType::I64, x), filled(DType::I64, 3)]);
            outputs_beyond_i32(&model, &evaluation)
        };
        assert_eq!(names(1 << 30), BTreeSet::from(["wide".to_owned()]));
        assert_eq!(names((1 << 30) - 1), BTreeSet::new());
    }

    #[test]
    fn what_hangs_on_the_undefined_is_told_from_what_stands_beside_it() {
        let text = r#"onnxsmith 1 opset 21
graph {
  %0: i32[1] = variable "x"
  %1: i32[1] = Div(%0, %0)
  %2: i32[1] = Neg(%1)
  %3: i32[1] = Abs(%0)
  return "y" = %2, "z" = %3
}
"#;
        let marks = |x: i128| {
            let (model, evaluation) = evaluated(text, &[filled(DType::I32, x)]);
            undefined(&model, &evaluation)
        };
        assert_eq!(marks(0), [false, true, true, false]);
        assert_eq!(marks(1), [false; 4]);
    }

    #[test]
    fn a_remainder_by_what_may_be_zero_may_be_undefined() {
        // What is normalised is 1, or a little less; then it is 0 as an integer.
        let normalised = r#"onnxsmith 1 opset 21
graph {
  %0: f32[1] = variable "x"
  %1: f32[1] = LpNormalization(%0) {axis = 0, p = 2}
  %2: i8[1] = Cast(%1) {to = i8}
  %3: i8[1] = Mod(%2, %2)
  return "y" = %3
}
"#;
        let three = Tensor::from_f64_fn(&Type::new(DType::F32, [1]), |_| 3.0);
        let may_be = |text: &str| {
            let (model, evaluation) = evaluated(text, std::slice::from_ref(&three));
            may_be_undefined(&model, &evaluation)
        };
        assert!(may_be(normalised));
        assert!(!may_be(&normalised.replace("LpNormalization(%0) {axis = 0, p = 2}", "Ceil(%0)")));
        assert!(!may_be(&normalised.replace("Mod", "Add")));
    }

    #[test]
    fn a_divisor_that_is_one_of_two_numbers_may_be_refused_where_one_of_them_is_zero() {
        let text = r#"onnxsmith 1 opset 21
graph {
  %0: f32[1] = variable "x"
  %1: f32[1] = Exp(%0)
  %2: i32[1] = Cast(%1) {to = i32}
  %3: i32[1] = Div(%2, %2)
  return "y" = %3
}
"#;
        let may_be = |text: &str, x: f64| {
            let x = Tensor::from_f64_fn(&Type::new(DType::F32, [1]), |_| f64::from(x as f32));
            let (model, evaluation) = evaluated(text, &[x]);
            let tap = &evaluation.taps[&Value::new(ir::NodeId(2), 0)];
            assert!(!tap.is_exact(), "{tap:?}");
            may_be_undefined(&model, &evaluation)
        };
        // 4 or 5, and 0 or 1.
        assert!(!may_be(text, 5f64.ln()));
        assert!(may_be(text, 0.0));
        assert!(!may_be(&text.replace("Div", "Mul"), 0.0));
    }
}
