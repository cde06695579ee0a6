//! The core of a finding in words: the operators of its reduced case, each with the attributes that it needs.
//!
//! A name must not depend on the order in which a graph happens to be written. So the operators are listed in an order
//! that the graph allows; of all such orders, the first by alphabet. An attribute that could not be dropped is listed,
//! with its value if that is a word: numbers vary with shapes, and words choose what is computed.

use ir::inline::inline;
use ir::{Attribute, NodeId, NodeKind, Operation, Spelling, Type, Unnamed};
use ops::{Graph, Op};
use oracles::{Core, Symptom};

use super::problem::{Problem, stated, without};
use crate::composite;

/// The core of a finding whose reduced problem this is; `None` if it cannot be written without functions.
pub(super) fn core(problem: &Problem, symptom: Symptom) -> Option<Core> {
    let written = problem.program.as_ref();
    if let Some((program, names)) =
        written.and_then(|written| Some((&written.program, composite::names(&written.program)?)))
    {
        let mut types: Vec<Type> = problem.model.graph.variables().map(|(_, _, ty)| ty.clone()).collect();
        // If there are no inputs, the operands are among the constants.
        if types.is_empty() {
            types = composite::constants(program);
        }
        let operands: Vec<Option<&Type>> = types.iter().map(Some).collect();
        return Some(Core::new(&names, &operands, symptom));
    }
    let graph = inline(&problem.model)?;
    let is_operator = |id: &NodeId| matches!(graph.node(*id).kind, NodeKind::Operator(_));
    let all: Vec<NodeId> = graph.iter().map(|(id, _)| id).filter(is_operator).collect();
    let ordered = if all.len() > oracles::signature::MOST_NAMED { all } else { first_order(&graph, &all).1 };
    let names: Vec<String> = ordered.iter().map(|&id| name(&graph, id)).collect();
    let operands: Vec<Option<&Type>> =
        ordered.iter().flat_map(|&id| graph.types(&graph.node(id).inputs)).collect();
    Some(Core::new(&names, &operands, symptom))
}

/// The operators in an order that the graph allows; of all such orders, the first by names.
fn first_order(graph: &Graph, left: &[NodeId]) -> (Vec<String>, Vec<NodeId>) {
    let is_ready = |id: &&NodeId| {
        let mut operands = graph.node(**id).inputs.iter().flatten();
        operands.all(|value| !left.contains(&value.node))
    };
    let orders = left.iter().filter(is_ready).map(|&first| {
        let rest: Vec<NodeId> = left.iter().copied().filter(|&id| id != first).collect();
        let (names, ids) = first_order(graph, &rest);
        ([vec![name(graph, first)], names].concat(), [vec![first], ids].concat())
    });
    orders.min().unwrap_or_default()
}

/// What is listed among an operator's attributes if the model's ONNX form must be written in a certain way: without
/// attributes that are at their defaults, or with absent operands listed by the empty name. It stays in if nothing else
/// shows the finding.
fn spelled(spelling: Spelling) -> impl Iterator<Item = String> {
    let Spelling { is_terse, unnamed: Unnamed { operands, outputs } } = spelling;
    let all = [("terse", is_terse), ("unnamed operands", operands > 0), ("unnamed outputs", outputs > 0)];
    all.into_iter().filter(|(_, holds)| *holds).map(|(word, _)| word.to_owned())
}

/// An operator with the attributes that it needs.
fn name(graph: &Graph, id: NodeId) -> String {
    let node = graph.node(id);
    let NodeKind::Operator(op) = &node.kind else { return String::new() };
    let needed: Vec<String> = needed(op).chain(spelled(node.spelling)).collect();
    if needed.is_empty() { op.name().to_owned() } else { format!("{}({})", op.name(), needed.join(",")) }
}

/// The attributes that are not at their default, and those without one whose value is a word.
fn needed(op: &Op) -> impl Iterator<Item = String> {
    let attributes = Operation::attributes(op);
    let stated: Vec<String> = stated(op).collect();
    let told = stated.into_iter().filter_map(move |attribute| {
        let (_, value) = attributes.iter().find(|(name, _)| *name == attribute)?;
        match word(value) {
            Some(word) => Some(format!("{attribute}={word}")),
            None => without(op, &attribute).map(|_| attribute),
        }
    });
    told.collect::<Vec<_>>().into_iter()
}

/// A value that is a word.
fn word(value: &Attribute) -> Option<String> {
    match value {
        Attribute::Name(name) => Some(name.clone()),
        Attribute::Strings(names) => Some(names.join("/")),
        Attribute::DType(dtype) => Some(dtype.to_string()),
        Attribute::Int(_)
        | Attribute::Ints(_)
        | Attribute::Float(_)
        | Attribute::Floats(_)
        | Attribute::Tensor(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use ir::{Attributes, DType, Value};
    use ops::Model;

    use super::*;

    /// What the sum of an opposite and an absolute value is called, which are there in this order.
    fn named(order: [&str; 2]) -> String {
        let mut graph = Graph::new();
        let x = graph.variable("x", Type::new(DType::F32, [2]));
        let mut push = |name: &str, operands: &[Value]| {
            let op = Op::parse(name, &Attributes::new()).expect("an operator").expect("its attributes");
            let operands: Vec<_> = operands.iter().copied().map(Some).collect();
            Value::new(graph.operator(op, &operands).expect("types"), 0)
        };
        let parts = order.map(|name| push(name, &[x]));
        let sum = push("Add", &parts);
        graph.output("y", sum);
        let problem = Problem::flat(Model::new(18, graph), Vec::new());
        core(&problem, Symptom::WrongType).expect("a name").to_string()
    }

    #[test]
    fn what_a_node_must_say_or_not_say_is_told() {
        let model: Model = "onnxsmith 1 opset 18
            graph {
              %0: f32[2] = variable \"x\"
              %1: f32[2] = Selu(%0) {alpha = 1.6732632, gamma = 1.050701} terse
              %2: f32[2] = Clip(%1) unnamed (2, 0)
              return \"y\" = %2
            }"
        .parse()
        .expect("a model");
        let found = core(&Problem::flat(model, Vec::new()), Symptom::WrongType).expect("a name");
        assert_eq!(found.to_string(), "Selu(terse) + Clip(unnamed operands) f32 dense");
    }

    #[test]
    fn a_name_does_not_depend_on_how_a_graph_is_written() {
        assert_eq!(named(["Neg", "Abs"]), "Abs + Neg + Add f32 dense");
        assert_eq!(named(["Abs", "Neg"]), named(["Neg", "Abs"]));
    }
}
