//! What may occur in a graph.
//!
//! Settings are swarm style: [`Settings::swarm`] switches features off at random, so that different cases
//! explore different corners (Groce et al., "Swarm testing", ISSTA 2012). A campaign narrows them to what its engines
//! can take before anything is generated; narrowing can only turn things off.

use std::collections::{BTreeMap, BTreeSet};

use ir::{DType, DTypes, Stream, Type};
use ops::draw::{self, Limits, Taste};
use ops::spec::Arity;
use ops::{Op, Spec};
use rand::RngExt;
use rand::seq::IndexedRandom;
use serde::Serialize;

use crate::budget::Budget;
use crate::insert::Frame;
use crate::policy::DENSE;
use crate::stored;
use crate::support::{Refused, Use};
use crate::turn::Turns;

/// What draws lean towards: values that exist, so that nodes are connected; what is wanted, so that few draws are thrown away;
/// the dtype that is usual in the graph. How often an operand comes again is for the settings to say.
const TASTE: Taste = Taste {
    live_of_any: 0.9,
    live_of_one: 0.6,
    rank_of_other: 0.5,
    wanted_rank: 0.75,
    scalar: 0.06,
    wanted_dtype: 0.9,
    usual_dtype: 0.4,
    from_end: 0.3,
    flag: 0.5,
    long_dim: 0.2,
    usual_dim: 0.5,
    bf16_stage: 0.04,
    parted: 0.8,
    again: 0.0,
};

/// Bounds on generated graphs. A campaign stores them and goes on only with equal ones, so the name of a field is a key
/// that stays.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Settings {
    /// The version of ONNX's default operator set.
    pub opset: u32,
    /// The oldest one, where each case has one of its own up to that.
    pub oldest_opset: u32,
    /// The number of operator nodes.
    pub nodes: usize,
    /// The operators in use, by ONNX name.
    pub operators: BTreeSet<&'static str>,
    /// The forms of operators that are not drawn.
    #[serde(serialize_with = "stored::refused")]
    pub refused: Refused,
    /// The dtypes that values may have.
    #[serde(serialize_with = "stored::dtypes")]
    pub dtypes: DTypes,
    /// The dtypes that operands and outputs have wherever the operator allows one of them. An operator none of whose operands
    /// or outputs may have one does not occur.
    #[serde(serialize_with = "stored::dtypes")]
    pub wanted: DTypes,
    /// The wanted dtypes of single operators; what is not named here has those above.
    #[serde(serialize_with = "stored::dtypes_by_name")]
    pub wanted_on: BTreeMap<&'static str, DTypes>,
    /// The highest rank of a value in most graphs; of the others it is [`HIGHEST_RANK`].
    pub max_rank: usize,
    /// The share of these others.
    pub high_ranks: f64,
    /// The largest dimension of a graph input or constant in most graphs; the others may have a longer one, about a power of two
    /// up to [`LONGEST`].
    pub max_dim: i64,
    /// The share of these others.
    pub long_dims: f64,
    /// The share of graphs in which one dimension in two has the same small size. An implementation that
    /// mistakes one axis for another then gives the right shape and wrong elements.
    pub equal_dims: f64,
    /// The share of graphs whose usual dtype may be any wanted one, so that a rare dtype meets all operators
    /// that take it. In the others the usual dtype is f32, which every engine has.
    pub other_dtypes: f64,
    /// The share of graphs in which dtypes of [`DTypes::NARROW`] may be. Few operators take what others do not, casts
    /// and quantisation, so in these some nodes are drawn until they read or give one.
    pub narrow: f64,
    /// The largest number of elements of any value.
    pub max_elements: i64,
    /// The largest dimension and number of elements in a graph that is grown into its budget.
    #[serde(flatten)]
    pub grown: Grown,
    /// How much a graph may take, and how much it should.
    #[serde(flatten)]
    pub budget: Budget,
    /// The probability that a graph may have dimensions of size 0.
    pub empty_dims: f64,
    /// The share of nodes that are inserted backward: as producers of a wanted value.
    pub backward: f64,
    /// The probability that a part of the graph becomes a function and a call.
    pub function: f64,
    /// The share of models in which most nodes leave out those attributes that are at their defaults, as exporters do.
    pub terse: f64,
    /// The share of models in which nodes list optional operands and outputs that are not there by the empty name.
    pub unnamed: f64,
    /// The probability that a placeholder becomes a constant instead of a graph input.
    pub constant: f64,
    /// The probability that a value with uses is an output of the graph as well.
    pub tap: f64,
    /// The probability that the next nodes follow a pattern of the policy.
    pub pattern: f64,
    /// The probability that the next node relates to one that stands, as pairs do that optimisers rewrite.
    pub related: f64,
    /// The probability that a node reads no input or constant that stands, but what nodes give, besides new operands.
    pub onward: f64,
    /// The probability that a new operand is replaced by an existing value of the same type.
    pub reuse: f64,
    /// The probability that an operand is an earlier one of its node once more, where that may be.
    pub again: f64,
    /// The share of nodes whose turn it is among all operators on all dtypes.
    pub turns: f64,
    /// The uses whose turn it is in the next graph. They are others for each graph, so nothing stores them.
    #[serde(skip)]
    pub due: Turns,
    /// The forms of programs that models are written in.
    pub forms: Forms,
    /// The operators that are written out where they are read, and put into models as such.
    pub composites: Composites,
}

/// Which operators occur that are written out in others where they are read. How that is done, and what there are, the
/// crate `forms` knows.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Composites {
    /// The share of models that have any.
    pub share: f64,
    /// The dtypes that their first operands of numbers may have, by operator.
    #[serde(serialize_with = "stored::dtypes_by_name")]
    pub each: BTreeMap<&'static str, DTypes>,
}

/// Which forms models are written in: size names, computed parameters, branches, loops. What these are, and how a model is
/// written so, the crate `forms` knows.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Forms {
    /// The share of models that have any. All others are written as they are.
    pub share: f64,
    /// For each form, by its name, the share of these models that are meant to have it.
    pub each: BTreeMap<&'static str, f64>,
}

impl Default for Forms {
    /// No form at all.
    fn default() -> Self {
        Self { share: 0.5, each: BTreeMap::new() }
    }
}

/// How large values get in a graph that is grown into its budget.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Grown {
    /// The largest dimension; `None` leaves it to the number of elements.
    #[serde(rename = "grown_max_dim")]
    pub max_dim: Option<i64>,
    /// The largest number of elements of a value; `None` takes one that suits the budget.
    #[serde(rename = "grown_max_elements")]
    pub max_elements: Option<i64>,
}

/// The highest rank of a value in a graph with high ranks: kernels have loops for so many axes, or for fewer.
pub const HIGHEST_RANK: usize = 8;

/// About the shortest of the long dimensions.
const SHORTEST: i64 = 8;

/// About the longest dimension in a graph with a long one: a workgroup, or a block of a sum, has no more elements.
pub const LONGEST: i64 = 1024;

/// The largest dimension that is usual in a graph: of more, tensors of high rank have too many elements.
const MOST_USUAL: i64 = 4;

/// The dtypes that models are made of.
pub const DRAWN: DTypes = DTypes::IR13;

impl Default for Settings {
    fn default() -> Self {
        Self {
            opset: *ir::graph::OPSETS.end(),
            oldest_opset: *ir::graph::OPSETS.start(),
            nodes: 10,
            operators: ops::registry().map(|s| s.name).collect(),
            refused: Refused::new(),
            dtypes: DRAWN,
            wanted: DRAWN,
            wanted_on: BTreeMap::new(),
            max_rank: 5,
            high_ranks: 0.15,
            max_dim: 8,
            long_dims: 0.2,
            equal_dims: 0.32,
            other_dtypes: 0.5,
            narrow: 0.12,
            max_elements: 2048,
            grown: Grown::default(),
            budget: Budget::default(),
            empty_dims: 0.08,
            backward: 0.35,
            function: 0.1,
            terse: 0.3,
            unnamed: 0.15,
            constant: 0.4,
            tap: 0.08,
            pattern: 0.08,
            related: 0.08,
            onward: 0.9,
            reuse: 0.3,
            again: 0.18,
            turns: 0.12,
            due: Turns::default(),
            forms: Forms::default(),
            composites: Composites::default(),
        }
    }
}

impl Settings {
    /// These settings with some features switched off at random. At least one operator is left of those there are.
    #[must_use]
    pub fn swarm(mut self, stream: Stream) -> Self {
        let mut rng = stream.child("swarm").rng();
        // Half of the cases use everything, so that rare pairs of features still meet.
        if rng.random_bool(0.5) {
            let keep = rng.random_range(0.3..1.0);
            let is_needed = |name: &str| self.budget.flops.is_filled() && DENSE.contains(&name);
            let operators = self.operators.iter().copied();
            let kept = operators.filter(|name| rng.random_bool(keep) || is_needed(name)).collect();
            let dtypes: DTypes = DTypes::IR4.iter().filter(|_| rng.random_bool(0.6)).collect();
            // Whether a graph has any of the narrow ones is said elsewhere.
            let dtypes = dtypes.union(DTypes::NARROW).intersection(self.wanted);
            let dtypes = if self.wanted.contains(DType::F32) { dtypes.with(DType::F32) } else { dtypes };
            let fewer = Self { operators: kept, wanted: dtypes, ..self.clone() };
            // A single operator, or one on a single dtype, would often be switched off.
            if fewer.available_in(fewer.opset).next().is_some() {
                self = fewer;
            }
            self.max_rank = self.max_rank.min(rng.random_range(2..=6));
            self.max_dim = self.max_dim.min(rng.random_range(2..=16));
        }
        self.backward *= rng.random_range(0.0..2.0);
        self
    }

    /// These settings for one graph: whether it has high ranks, and narrow dtypes.
    pub(crate) fn of_one(&self, stream: Stream) -> Self {
        let may = |name: &str, share: f64| stream.child(name).rng().random_bool(share.clamp(0.0, 1.0));
        let max_rank =
            if may("high", self.high_ranks) { self.max_rank.max(HIGHEST_RANK) } else { self.max_rank };
        let dtypes =
            if may("narrow", self.narrow) { self.dtypes } else { self.dtypes.intersection(DTypes::IR4) };
        Self { dtypes, max_rank, ..self.clone() }
    }

    /// The long dimension of one graph, if it has one: a little less or more than a power of two, where the vectors, groups and
    /// blocks of kernels end.
    pub(crate) fn long_dim(&self, stream: Stream) -> Option<i64> {
        let mut rng = stream.rng();
        if !rng.random_bool(self.long_dims.clamp(0.0, 1.0)) {
            return None;
        }
        let power = 1 << rng.random_range(SHORTEST.ilog2()..=LONGEST.ilog2());
        Some(power + rng.random_range(-1..=3)).filter(|&long| long <= self.max_elements)
    }

    /// The dimension that is usual in one graph, if one is.
    pub(crate) fn usual_dim(&self, stream: Stream) -> Option<i64> {
        let mut rng = stream.rng();
        let is_usual = rng.random_bool(self.equal_dims.clamp(0.0, 1.0));
        is_usual.then(|| rng.random_range(2..=MOST_USUAL)).filter(|&usual| usual <= self.max_dim)
    }

    /// The usual dtype of one graph. In the share [`other_dtypes`](Self::other_dtypes) of all graphs it is
    /// the dtype of the first use that is due, so that this use reads what other nodes give, or any wanted
    /// dtype if no use is due. Otherwise it is f32.
    pub(crate) fn usual_dtype(&self, stream: Stream) -> DType {
        let mut rng = stream.rng();
        let all: Vec<DType> = self.wanted.intersection(self.dtypes).iter().collect();
        let other = rng.random_bool(self.other_dtypes.clamp(0.0, 1.0));
        let due = self.due.all().next().map(|turn| turn.takes);
        due.or(all.choose(&mut rng).copied()).filter(|_| other).unwrap_or(DType::F32)
    }

    /// These settings for the graph whose turn it is to have these uses: narrow dtypes, if any, are among them.
    #[must_use]
    pub fn with_turns(self, due: Turns) -> Self {
        let narrow = if due.may_be_narrow() { 1.0 } else { 0.0 };
        Self { narrow, due, ..self }
    }

    /// The operators in use that exist in the opset, on dtypes in use.
    pub fn available(&self) -> Vec<&'static Spec> {
        self.available_in(self.opset).collect()
    }

    /// The opsets in which an operator is available, from the settings' oldest to the newest.
    pub fn opsets(&self) -> Vec<u32> {
        let all = self.oldest_opset..=self.opset;
        all.filter(|&opset| self.available_in(opset).next().is_some()).collect()
    }

    /// Whether nothing can be drawn: no operator is available in any opset, and none that is written out where it is read.
    pub fn is_barren(&self) -> bool {
        let has_composites =
            self.composites.share > 0.0 && self.composites.each.values().any(|on| !on.is_empty());
        let mut opsets = self.oldest_opset..=self.opset;
        !has_composites && !opsets.any(|opset| self.available_in(opset).next().is_some())
    }

    pub(crate) fn available_in(&self, opset: u32) -> impl Iterator<Item = &'static Spec> {
        ops::registry()
            .filter(move |s| self.may_have(s, opset))
            .filter(move |s| !self.refused.bars(s, opset, self.dtypes))
    }

    /// Whether a use of an operator has a form that is not drawn.
    pub(crate) fn refuses(&self, op: &Op, inputs: &[Option<&Type>], outputs: &[Type]) -> bool {
        let name = op.spec().name;
        self.refused.knows(name)
            && self.refused.refuses(name, &Use::of(self.opset, op, inputs, outputs)).is_some()
    }

    /// Whether an operator is one of the settings', in an opset and on the dtypes.
    pub(crate) fn may_have(&self, spec: &Spec, opset: u32) -> bool {
        let is_asked_for = spec.since() <= opset && self.operators.contains(spec.name);
        is_asked_for && self.usable(spec, opset) && self.is_wanted(spec, opset)
    }

    /// Whether each operand that is needed may have one of the dtypes.
    fn usable(&self, spec: &Spec, opset: u32) -> bool {
        let allowed = |i| !spec.input_types(i, opset).intersection(self.dtypes).is_empty();
        spec.inputs.iter().enumerate().all(|(i, port)| port.arity == Arity::Optional || allowed(i))
    }

    /// Whether an operand or output of the operator may have a wanted dtype.
    fn is_wanted(&self, spec: &Spec, opset: u32) -> bool {
        let wanted = self.wanted_by(spec).intersection(self.dtypes);
        let inputs = (0..spec.inputs.len()).map(|i| spec.input_types(i, opset));
        let outputs = (0..spec.outputs.len()).map(|i| spec.output_types(i, opset));
        inputs.chain(outputs).any(|types| !types.intersection(wanted).is_empty())
    }

    /// The dtypes in use among `of`: those that are wanted on the operator, or all of them if none is wanted.
    pub(crate) fn in_use(&self, spec: &Spec, of: DTypes) -> DTypes {
        draw::in_use(of.intersection(self.dtypes), self.wanted_by(spec))
    }

    /// The dtypes that operands and outputs of the operator have wherever it allows one of them.
    fn wanted_by(&self, spec: &Spec) -> DTypes {
        self.wanted_on.get(spec.name).copied().unwrap_or(self.wanted)
    }

    /// The bounds that an operator draws within.
    pub(crate) fn limits(&self, spec: &Spec, frame: &Frame<'_>) -> Limits {
        Limits {
            opset: self.opset,
            dtypes: self.dtypes,
            wanted: self.wanted_by(spec),
            max_rank: self.max_rank,
            min_dim: frame.min_dim,
            max_dim: self.max_dim,
            long_dim: frame.long_dim,
            usual_dim: frame.usual_dim,
            usual_dtype: frame.usual_dtype,
            taste: Taste { again: self.again.clamp(0.0, 1.0), ..TASTE },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wanted_dtype_brings_what_operators_on_it_need() {
        let f32s = Settings { wanted: DTypes::of(&[DType::F32]), ..Settings::default() };
        let names: BTreeSet<&str> = f32s.available().iter().map(|s| s.name).collect();
        for name in ["Abs", "ArgMax", "Where", "Gather", "Equal", "Cast"] {
            assert!(names.contains(name), "{name} is on f32, with other dtypes beside it");
        }
        for name in ["Not", "And", "BitShift", "BitwiseAnd"] {
            assert!(!names.contains(name), "{name} is on no f32");
        }
    }

    #[test]
    fn swarm_leaves_what_was_asked_for() {
        let one = Settings {
            operators: ["ArgMax"].into(),
            wanted: DTypes::of(&[DType::I8]),
            ..Settings::default()
        };
        for seed in 0..200 {
            assert!(!one.clone().swarm(Stream::new(seed)).available().is_empty());
        }
    }

    #[test]
    fn an_operator_is_drawn_in_the_opsets_that_have_it() {
        let swish = Settings { operators: ["Swish"].into(), ..Settings::default() };
        assert_eq!(swish.opsets(), [24, 25, 26, 27, 28]);
    }
}
