//! What the draw of an operator has at hand.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use ir::{Choices, DType, DTypes, NodeId, NodeKind, Strings, Tensor, Type, Value};
use onnx::proto::attribute_proto::AttributeType;
use onnx::proto::{AttributeProto, GraphProto, TypeProto};
use ops::Graph;
use ops::operator::elements;
use rand::RngExt;
use rand::seq::IndexedRandom;

/// The share of operands that are values which are there, where one fits.
const LIVE: f64 = 0.6;

/// The share of new operands that are constants.
const CONSTANT: f64 = 0.3;

/// The share of nodes that have empty names at the end for operands that are left out.
const EMPTY_NAMES: f64 = 0.05;

/// The share of batches, rows and the like of which there are none.
const NONE: f64 = 0.03;

/// The most elements of a value that is taken as an operand.
const LARGEST: u64 = 512;

/// The dtypes in use.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Those of all values.
    pub dtypes: DTypes,
    /// Those of the first operand of numbers.
    pub first: DTypes,
}

/// An operand of what is drawn.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Operand {
    /// One that is left out.
    Absent,
    /// A value of the graph.
    Value(Value),
    /// A constant that belongs to the node: what it computes hangs on it.
    Parameter(Tensor),
    /// A constant of strings.
    Texts(Strings),
}

/// What a node of a piece reads, or what a result of the piece is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Link {
    /// An operand, by its place.
    Operand(usize),
    /// A result of an earlier node: the place of the node, and which of its results.
    Result(usize, usize),
}

/// A domain beside ONNX's default one, and its version.
pub(crate) type Domain = (&'static str, i64);

/// One of several nodes that are drawn at once, because what is between them is no tensor: a sequence, an optional, strings.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Step {
    pub(crate) op_type: &'static str,
    /// Its domain with the version of that, if it is not ONNX's default one.
    pub(crate) domain: Option<Domain>,
    pub(crate) inputs: Vec<Link>,
    pub(crate) results: usize,
    pub(crate) attributes: Vec<AttributeProto>,
}

/// A node under way, or several that belong together, with the graph that it is appended to.
pub struct Piece<'r> {
    pub(crate) opset: u32,
    pub(crate) graph: Graph,
    /// The constants of the graph that values are to be found for.
    pub(crate) constants: Vec<NodeId>,
    pub(crate) operands: Vec<Operand>,
    /// Those of the node that comes next.
    pub(crate) attributes: Vec<AttributeProto>,
    /// How many results of a single node are asked for.
    pub(crate) results: usize,
    /// The nodes, where they are several.
    pub(crate) steps: Vec<Step>,
    /// The results of these.
    pub(crate) given: Vec<Link>,
    /// Values that are not to be used.
    hidden: BTreeSet<Value>,
    bounds: Bounds,
    rng: &'r mut Choices,
}

impl<'r> Piece<'r> {
    pub(crate) fn new(
        opset: u32,
        graph: Graph,
        constants: Vec<NodeId>,
        hidden: BTreeSet<Value>,
        bounds: Bounds,
        rng: &'r mut Choices,
    ) -> Self {
        let (operands, attributes) = (Vec::new(), Vec::new());
        let (steps, given) = (Vec::new(), Vec::new());
        Self { opset, graph, constants, operands, attributes, results: 1, steps, given, hidden, bounds, rng }
    }

    /// The operand that came last.
    pub(crate) fn last(&self) -> Link {
        Link::Operand(self.operands.len() - 1)
    }

    /// One of several nodes, with the attributes that were drawn since the one before; its first result.
    pub(crate) fn step(&mut self, op_type: &'static str, inputs: &[Link]) -> Link {
        let (inputs, attributes) = (inputs.to_vec(), std::mem::take(&mut self.attributes));
        self.steps.push(Step { op_type, domain: None, inputs, results: 1, attributes });
        Link::Result(self.steps.len() - 1, 0)
    }

    /// The same with several results.
    pub(crate) fn step_of(&mut self, op_type: &'static str, inputs: &[Link], results: usize) -> Vec<Link> {
        self.step(op_type, inputs);
        let at = self.steps.len() - 1;
        self.steps[at].results = results;
        (0..results).map(|port| Link::Result(at, port)).collect()
    }

    /// What is asked for of several nodes.
    pub(crate) fn give(&mut self, links: &[Link]) {
        self.given.extend_from_slice(links);
    }

    /// One of several.
    pub(crate) fn choose<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        all.choose(self.rng).cloned()
    }

    /// True in so many of all draws.
    pub(crate) fn chance(&mut self, share: f64) -> bool {
        self.rng.random_bool(share)
    }

    /// A number.
    pub(crate) fn size(&mut self, range: RangeInclusive<i64>) -> i64 {
        self.rng.random_range(range)
    }

    /// How many there are of what is computed each by itself, such as a batch: none in a few draws.
    pub(crate) fn count(&mut self, range: RangeInclusive<i64>) -> i64 {
        if self.chance(NONE) { 0 } else { self.size(range) }
    }

    /// A dtype of the first operand of numbers.
    pub(crate) fn dtype(&mut self) -> Option<DType> {
        let all: Vec<DType> = self.bounds.first.intersection(self.bounds.dtypes).iter().collect();
        if all.contains(&DType::F32) && self.chance(0.4) { Some(DType::F32) } else { self.choose(&all) }
    }

    /// A dtype of another operand.
    pub(crate) fn other_dtype(&mut self, among: DTypes) -> Option<DType> {
        let all: Vec<DType> = among.intersection(self.bounds.dtypes).iter().collect();
        self.choose(&all)
    }

    /// The next operand: a value of the dtype that is there and has as many axes, or a new one.
    pub(crate) fn any(&mut self, dtype: DType, ranks: RangeInclusive<usize>) -> Type {
        let is_fit = |ty: &Type| {
            ty.dtype == dtype && ranks.contains(&ty.rank()) && (1..=LARGEST).contains(&elements(ty))
        };
        let live = self.live(is_fit);
        match live.choose(self.rng).copied() {
            Some(value) if self.chance(LIVE) => {
                self.operands.push(Operand::Value(value));
                self.graph.ty(value).clone()
            }
            _ => {
                let rank = self.rng.random_range(ranks);
                let shape: Vec<i64> = (0..rank).map(|_| self.size(1..=5)).collect();
                self.of(dtype, &shape)
            }
        }
    }

    /// The next operand: a value of this type that is there, or a new one.
    pub(crate) fn of(&mut self, dtype: DType, shape: &[i64]) -> Type {
        let ty = Type::new(dtype, shape.to_vec());
        let live = self.live(|other| *other == ty);
        let value = match live.choose(self.rng).copied() {
            Some(value) if self.chance(LIVE) => value,
            _ if self.chance(CONSTANT) => {
                let value = self.graph.constant(Tensor::zeros(&ty));
                self.constants.push(value.node);
                value
            }
            _ => {
                let name = unused('x', self.graph.variables().map(|(_, name, _)| name));
                self.graph.variable(name, ty.clone())
            }
        };
        self.operands.push(Operand::Value(value));
        ty
    }

    /// The same in so many of all draws; otherwise it is left out.
    pub(crate) fn perhaps(&mut self, share: f64, dtype: DType, shape: &[i64]) -> bool {
        let is_there = self.chance(share);
        if is_there {
            self.of(dtype, shape);
        } else {
            self.absent();
        }
        is_there
    }

    /// The values of the graph that a new node may read: not constants whose value is fixed, and nothing that
    /// is inside of another written-out operator.
    fn live(&self, is_fit: impl Fn(&Type) -> bool) -> Vec<Value> {
        let values = self.graph.iter().flat_map(|(id, node)| {
            let is_free = !matches!(node.kind, NodeKind::Constant(_)) || self.constants.contains(&id);
            (0..if is_free { node.outputs.len() } else { 0 }).map(move |port| Value::new(id, port))
        });
        values.filter(|value| !self.hidden.contains(value) && is_fit(self.graph.ty(*value))).collect()
    }

    /// No operand in the next place.
    pub(crate) fn absent(&mut self) {
        self.operands.push(Operand::Absent);
    }

    /// No more operands. Those at the end that are left out have no names, as exporters write it; now and then they
    /// have empty ones. Where no nodes were drawn, all is of one that is named.
    pub(super) fn end(&mut self, op_type: &'static str, domain: Option<Domain>) {
        if !self.chance(EMPTY_NAMES) {
            let there = self.operands.iter().rposition(|operand| *operand != Operand::Absent);
            self.operands.truncate(there.map_or(0, |last| last + 1));
        }
        if self.steps.is_empty() {
            let inputs = (0..self.operands.len()).map(Link::Operand).collect();
            let (results, attributes) = (self.results, std::mem::take(&mut self.attributes));
            self.steps.push(Step { op_type, domain, inputs, results, attributes });
            self.given = (0..results).map(|port| Link::Result(0, port)).collect();
        }
    }

    /// The next operand: a constant of strings.
    pub(crate) fn strings(&mut self, shape: &[i64], texts: &[String]) -> Option<()> {
        self.operands.push(Operand::Texts(Strings::of_texts(shape.to_vec(), texts)?));
        Some(())
    }

    /// The next operand: a constant that the node hangs on.
    pub(crate) fn parameter(&mut self, tensor: Tensor) {
        self.operands.push(Operand::Parameter(tensor));
    }

    /// The next operand: such a constant of int64 with one axis.
    pub(crate) fn list(&mut self, numbers: &[i64]) {
        self.integers(DType::I64, &[numbers.len() as i64], numbers);
    }

    /// The next operand: such a constant of integers.
    pub(crate) fn integers(&mut self, dtype: DType, shape: &[i64], numbers: &[i64]) {
        let ty = Type::new(dtype, shape.to_vec());
        self.parameter(Tensor::from_i128_fn(&ty, |i| numbers[i].into()));
    }

    /// The next operand: such a constant of floats.
    pub(crate) fn reals(&mut self, dtype: DType, shape: &[i64], numbers: &[f64]) {
        let ty = Type::new(dtype, shape.to_vec());
        self.parameter(Tensor::from_f64_fn(&ty, |i| numbers[i]));
    }

    fn attribute(&mut self, name: &str, kind: AttributeType, rest: AttributeProto) {
        self.attributes.push(AttributeProto {
            name: Some(name.to_owned()),
            r#type: Some(kind as i32),
            ..rest
        });
    }

    /// An integer.
    pub(crate) fn int(&mut self, name: &str, value: i64) {
        self.attribute(
            name,
            AttributeType::Int,
            AttributeProto { i: Some(value), ..AttributeProto::default() },
        );
    }

    /// An attribute that is 0 or 1, and left out in half of the draws where it is 0.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let is_set = self.chance(0.5);
        if is_set || self.chance(0.5) {
            self.int(name, is_set.into());
        }
        is_set
    }

    /// An attribute that is 0 or 1. If it has its default, half of the draws leave it out.
    pub(crate) fn flag_or(&mut self, name: &str, default: i64) {
        let value = self.size(0..=1);
        if value != default || self.chance(0.5) {
            self.int(name, value);
        }
    }

    /// A tensor.
    pub(crate) fn tensor(&mut self, name: &str, dtype: DType, shape: &[i64], numbers: &[f64]) {
        let ty = Type::new(dtype, shape.to_vec());
        let tensor = if dtype.is_float() {
            Tensor::from_f64_fn(&ty, |i| numbers[i])
        } else {
            Tensor::from_i128_fn(&ty, |i| numbers[i] as i128)
        };
        let rest =
            AttributeProto { t: Some(onnx::tensor::to_proto("", &tensor)), ..AttributeProto::default() };
        self.attribute(name, AttributeType::Tensor, rest);
    }

    /// A graph, which uses nothing but its inputs.
    pub(crate) fn body(&mut self, name: &str, graph: GraphProto) {
        let rest = AttributeProto { g: Some(graph), ..AttributeProto::default() };
        self.attribute(name, AttributeType::Graph, rest);
    }

    /// A type.
    pub(crate) fn ty(&mut self, name: &str, ty: TypeProto) {
        let rest = AttributeProto { tp: Some(ty), ..AttributeProto::default() };
        self.attribute(name, AttributeType::TypeProto, rest);
    }

    /// A list of integers.
    pub(crate) fn ints(&mut self, name: &str, values: &[i64]) {
        let rest = AttributeProto { ints: values.to_vec(), ..AttributeProto::default() };
        self.attribute(name, AttributeType::Ints, rest);
    }

    /// A float.
    pub(crate) fn float(&mut self, name: &str, value: f32) {
        self.attribute(
            name,
            AttributeType::Float,
            AttributeProto { f: Some(value), ..AttributeProto::default() },
        );
    }

    /// A list of floats.
    pub(crate) fn floats(&mut self, name: &str, values: &[f32]) {
        let rest = AttributeProto { floats: values.to_vec(), ..AttributeProto::default() };
        self.attribute(name, AttributeType::Floats, rest);
    }

    /// A word.
    pub(crate) fn text(&mut self, name: &str, value: &str) {
        let rest = AttributeProto { s: Some(value.as_bytes().to_vec()), ..AttributeProto::default() };
        self.attribute(name, AttributeType::String, rest);
    }

    /// A list of words.
    pub(crate) fn texts(&mut self, name: &str, values: &[&str]) {
        let strings = values.iter().map(|value| value.as_bytes().to_vec()).collect();
        self.attribute(name, AttributeType::Strings, AttributeProto { strings, ..AttributeProto::default() });
    }

    /// One of several words, which is left out in some draws where it is the first of them: the default.
    pub(crate) fn word(&mut self, name: &str, values: &[&'static str]) -> Option<&'static str> {
        let value = self.choose(values)?;
        if value != values[0] || self.chance(0.5) {
            self.text(name, value);
        }
        Some(value)
    }

    /// Floats of a quarter's steps between −2 and 2: sums and products of a few are exact.
    pub(crate) fn quarters(&mut self, count: i64) -> Vec<f32> {
        (0..count).map(|_| self.size(-8..=8) as f32 / 4.0).collect()
    }
}

/// The name after all that begin with a letter and go on with a number.
pub(super) fn unused<'n>(letter: char, used: impl Iterator<Item = &'n str>) -> String {
    let numbers = used.filter_map(|name| name.strip_prefix(letter)?.parse::<usize>().ok());
    format!("{letter}{}", numbers.max().map_or(0, |last| last + 1))
}
