//! How large a problem is.
//!
//! Sizes are ordered, and a reduction only ever goes down in that order: so it ends, and the same case on the
//! same target reduces to the same minimum. What a person has to read comes first: nodes, then elements.
//!
//! Most candidates differ from the best problem in the number of nodes, which is cheap to count. What takes
//! the numbers of all tensors to tell is computed only where everything before it is equal.

use ir::inline::inline;
use ir::{Attribute, NodeKind, Operation};
use ops::operator::elements;
use ops::{Graph, Op};
use serde::Serialize;

use super::problem::{Problem, stated};
use super::scalar::{Scalar, scalars};
use crate::composite;
use crate::forms::count;

/// How large a problem is. Earlier fields weigh more than all later ones together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Size {
    /// Operators and calls, those in functions included. The body of a loop counts once.
    pub nodes: usize,
    /// The elements of all values: inputs, constants and what operators give.
    pub elements: u64,
    /// The forms of a program.
    pub forms: usize,
    /// The outputs of a program. A value that is one keeps its name, and that may keep a node.
    pub outputs: usize,
    /// Attributes that are not at their default, nodes that leave out those that are, and what nodes list by the empty name.
    pub attributes: usize,
    /// How many different numbers the inputs and constants hold.
    pub distinct: usize,
    /// How many bits it takes to write these numbers, and those in attributes.
    pub bits: u64,
    /// The bytes of inputs and constants.
    pub bytes: u64,
}

/// A field of a size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Measure {
    Nodes,
    Elements,
    Forms,
    Outputs,
    Attributes,
    Distinct,
    Bits,
    Bytes,
}

/// Which of two problems is smaller: the first measure in which they differ decides.
pub(super) type Order = [Measure];

impl Measure {
    /// The order of sizes.
    pub(super) const ALL: &'static Order = &[
        Self::Nodes,
        Self::Elements,
        Self::Forms,
        Self::Outputs,
        Self::Attributes,
        Self::Distinct,
        Self::Bits,
        Self::Bytes,
    ];

    fn in_size(self, size: &Size) -> u64 {
        match self {
            Self::Nodes => size.nodes as u64,
            Self::Elements => size.elements,
            Self::Forms => size.forms as u64,
            Self::Outputs => size.outputs as u64,
            Self::Attributes => size.attributes as u64,
            Self::Distinct => size.distinct as u64,
            Self::Bits => size.bits,
            Self::Bytes => size.bytes,
        }
    }

    fn of(self, problem: &Problem) -> u64 {
        match self {
            Self::Nodes => problem.nodes() as u64,
            Self::Elements => problem.elements(),
            Self::Forms => problem.forms() as u64,
            Self::Outputs => problem.outputs() as u64,
            Self::Attributes => problem.attributes() as u64,
            Self::Distinct => problem.distinct() as u64,
            Self::Bits => problem.bits(),
            Self::Bytes => problem.bytes(),
        }
    }
}

impl Size {
    /// Whether it comes before another one in an order.
    pub(super) fn is_below(&self, other: &Self, order: &Order) -> bool {
        order.iter().map(|m| m.in_size(self)).lt(order.iter().map(|m| m.in_size(other)))
    }
}

impl Problem {
    /// How large it is.
    pub fn size(&self) -> Size {
        Size {
            nodes: self.nodes(),
            elements: self.elements(),
            forms: self.forms(),
            outputs: self.outputs(),
            attributes: self.attributes(),
            distinct: self.distinct(),
            bits: self.bits(),
            bytes: self.bytes(),
        }
    }

    /// Whether its size comes before another one in an order. Measures after the first that differs are not
    /// computed.
    pub(super) fn is_below(&self, size: &Size, order: &Order) -> bool {
        order.iter().map(|m| m.of(self)).lt(order.iter().map(|m| m.in_size(size)))
    }

    pub(super) fn nodes(&self) -> usize {
        let does_something = |kind: &NodeKind<Op>| matches!(kind, NodeKind::Operator(_) | NodeKind::Call(_));
        match &self.program {
            Some(written) => written.program.nodes(),
            None => self.graphs().flat_map(|g| &g.nodes).filter(|n| does_something(&n.kind)).count(),
        }
    }

    fn elements(&self) -> u64 {
        if self.model.functions.is_empty() {
            return all_elements(&self.model.graph);
        }
        inline(&self.model).as_ref().map_or(u64::MAX, all_elements)
    }

    fn forms(&self) -> usize {
        self.program.as_ref().map_or(0, |written| count(&written.program))
    }

    fn outputs(&self) -> usize {
        self.program.as_ref().map_or(0, |written| written.interface.outputs.len())
    }

    fn attributes(&self) -> usize {
        match self.program.as_ref().map_or(0, |written| composite::attributes(&written.program)) {
            0 => self.graphs().map(attributes).sum(),
            of_composites => of_composites,
        }
    }

    fn distinct(&self) -> usize {
        let mut different: Vec<(bool, u128)> = self.numbers().map(Scalar::key).collect();
        different.sort_unstable();
        different.dedup();
        different.len()
    }

    fn bits(&self) -> u64 {
        let numbers = self.numbers().chain(self.graphs().flat_map(in_attributes));
        numbers.map(|n| u64::from(n.bits())).sum()
    }

    fn bytes(&self) -> u64 {
        self.leaves().map(|(_, tensor)| tensor.ty().bytes()).sum()
    }

    /// The numbers in inputs and constants.
    fn numbers(&self) -> impl Iterator<Item = Scalar> {
        self.leaves().flat_map(|(_, tensor)| scalars(tensor))
    }

    /// The bodies of functions and the main graph.
    fn graphs(&self) -> impl Iterator<Item = &Graph> {
        self.model.functions.iter().map(|f| &f.body).chain([&self.model.graph])
    }
}

fn all_elements(graph: &Graph) -> u64 {
    graph.nodes.iter().flat_map(|n| &n.outputs).map(elements).fold(0, u64::saturating_add)
}

fn operators(graph: &Graph) -> impl Iterator<Item = &Op> {
    graph.nodes.iter().filter_map(|n| match &n.kind {
        NodeKind::Operator(op) => Some(op),
        _ => None,
    })
}

/// How many attributes of a graph's operators are not at their default, how many nodes leave out those that are, and
/// how much nodes list by the empty name.
fn attributes(graph: &Graph) -> usize {
    let spelling: usize = graph.nodes.iter().map(|node| node.spelling.count()).sum();
    operators(graph).map(|op| stated(op).count()).sum::<usize>() + spelling
}

/// The numbers in the attributes of a graph's operators.
fn in_attributes(graph: &Graph) -> impl Iterator<Item = Scalar> {
    let numbers = |value: &Attribute| match value {
        Attribute::Int(v) => vec![Scalar::Int((*v).into())],
        Attribute::Ints(list) => list.iter().map(|&v| Scalar::Int(v.into())).collect(),
        Attribute::Float(v) => vec![Scalar::Real((*v).into())],
        Attribute::Floats(list) => list.iter().map(|&v| Scalar::Real(v.into())).collect(),
        Attribute::Tensor(tensor) => scalars(tensor),
        Attribute::Name(_) | Attribute::Strings(_) | Attribute::DType(_) => Vec::new(),
    };
    operators(graph).flat_map(move |op| {
        let all = Operation::attributes(op);
        all.iter().flat_map(|(_, value)| numbers(value)).collect::<Vec<_>>()
    })
}

#[cfg(test)]
mod tests {
    use ir::{DType, Tensor, Type};
    use ops::Model;

    use super::*;

    fn problem(text: &str, x: f64) -> Problem {
        let model: Model = text.parse().expect("a model");
        Problem::flat(model, vec![Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |_| x)])
    }

    /// Problems that differ in nodes, elements, attributes, numbers and bits.
    fn problems() -> Vec<Problem> {
        let body = [
            "%1: f32[2] = Abs(%0)\n  return \"y\" = %1",
            "%1: f32[2] = Abs(%0)\n  %2: f32[2] = Neg(%1)\n  return \"y\" = %2",
            "%1: f32[1, 2] = Unsqueeze(%0) {axes = [0]}\n  return \"y\" = %1",
            "%1: f32[2] = constant {1.5, 2}\n  %2: f32[2] = Add(%0, %1)\n  return \"y\" = %2",
        ];
        let text =
            |body| format!("onnxsmith 1 opset 17\ngraph {{\n  %0: f32[2] = variable \"x\"\n  {body}\n}}\n");
        body.iter().flat_map(|body| [0.0, 0.1, 3.0].map(|x| problem(&text(body), x))).collect()
    }

    #[test]
    fn a_problem_is_below_a_size_where_its_own_size_is() {
        for one in &problems() {
            for other in &problems() {
                let (size, than) = (one.size(), other.size());
                assert_eq!(one.is_below(&than, Measure::ALL), size < than, "{size:?} {than:?}");
                assert_eq!(size.is_below(&than, Measure::ALL), size < than, "{size:?} {than:?}");
            }
        }
    }
}
