//! Memory that is used again too early: results in the place of operands that are still needed.
//!
//! A rewriting says so as well as memory does: whoever reads a value after its place was overwritten reads what was
//! written there.

use ir::dataflow::{LastUse, last_uses};
use ir::rewrite::Rewrite;
use ir::{NodeId, NodeKind, Value};
use ops::movement::Reshape;
use ops::{Graph, Op};

use super::fusions::is_normalization;
use super::{Pass, WrongRewriting};

pub(super) const FAULTS: &[WrongRewriting] = &[
    WrongRewriting {
        name: "functions-of-an-element-overwrite-their-operand",
        does: "writes the result of a function of one element over its operand though that is read later",
        source: None,
        pass: Pass::Whole(|g| {
            in_place(g, |op| matches!(op, Op::Unary(_) | Op::Activation(_) | Op::Gelu(_)), 0)
        }),
    },
    WrongRewriting {
        name: "arithmetic-overwrites-its-first-operand",
        does: "writes the result of an operator of two operands over the first though that is read later",
        source: None,
        pass: Pass::Whole(|g| in_place(g, |op| matches!(op, Op::Binary(_)), 0)),
    },
    WrongRewriting {
        name: "arithmetic-overwrites-its-second-operand",
        does: "writes the result of an operator of two operands over the second though that is read later",
        source: None,
        pass: Pass::Whole(|g| in_place(g, |op| matches!(op, Op::Binary(_)), 1)),
    },
    WrongRewriting {
        name: "normalizations-overwrite-their-operand",
        does: "writes the result of a normalisation or a Softmax over its operand though that is read later",
        source: None,
        pass: Pass::Whole(|g| in_place(g, is_along_an_axis, 0)),
    },
    WrongRewriting {
        name: "views-are-overwritten-with-what-they-are-of",
        does: "writes over a Reshape's operand what is computed in place in its result",
        source: None,
        pass: Pass::Whole(overwritten_views),
    },
    WrongRewriting {
        name: "memory-is-free-after-the-first-use",
        does: "gives the memory of a value to the next result of its type after its first use, not its last",
        source: None,
        pass: Pass::Whole(freed_after_first_use),
    },
];

fn is_along_an_axis(op: &Op) -> bool {
    is_normalization(op) || matches!(op, Op::Softmax(_) | Op::Cumulative(_))
}

/// Whether a value is read after a node.
fn is_read_after(graph: &Graph, value: Value, id: NodeId) -> bool {
    match last_uses(graph).get(value) {
        Some(LastUse::Node(last)) => *last > id,
        Some(LastUse::Output) => true,
        Some(LastUse::Never) | None => false,
    }
}

/// The operator of a node with one output, and that output.
fn single(graph: &Graph, id: NodeId) -> Option<(&Op, Value)> {
    let node = graph.node(id);
    match &node.kind {
        NodeKind::Operator(op) if node.outputs.len() == 1 => Some((op, Value::new(id, 0))),
        _ => None,
    }
}

/// The operand that a node overwrites: of the result's type, and no constant.
fn overwritten(graph: &Graph, id: NodeId, operand: usize) -> Option<Value> {
    let (_, result) = single(graph, id)?;
    let operand = graph.node(id).inputs.get(operand).copied().flatten()?;
    let is_constant = matches!(graph.node(operand.node).kind, NodeKind::Constant(_));
    (!is_constant && graph.ty(operand) == graph.ty(result)).then_some(operand)
}

fn in_place(graph: &Graph, overwrites: impl Fn(&Op) -> bool, operand: usize) -> Option<Graph> {
    let mut rewrite = Rewrite::of(graph);
    let mut holds = false;
    for (id, _) in graph.iter() {
        let new = rewrite.keep(id)?;
        if single(graph, id).is_some_and(|(op, _)| overwrites(op))
            && let Some(operand) = overwritten(graph, id, operand)
            && is_read_after(graph, operand, id)
        {
            rewrite.replace(operand, Value::new(new, 0));
            holds = true;
        }
    }
    rewrite.finish().filter(|_| holds)
}

fn overwritten_views(graph: &Graph) -> Option<Graph> {
    let mut rewrite = Rewrite::of(graph);
    let mut holds = false;
    for (id, _) in graph.iter() {
        let new = Value::new(rewrite.keep(id)?, 0);
        let computes = |op: &Op| matches!(op, Op::Unary(_) | Op::Activation(_) | Op::Binary(_));
        let Some((op, _)) = single(graph, id) else { continue };
        let Some(viewed) = overwritten(graph, id, 0).and_then(|view| viewed(graph, view)) else { continue };
        if computes(op) && is_read_after(graph, viewed, id) {
            let shape = graph.ty(viewed).shape.clone();
            let back = rewrite.push(Reshape { shape, allowzero: true }, &[new])?;
            rewrite.replace(viewed, back);
            holds = true;
        }
    }
    rewrite.finish().filter(|_| holds)
}

/// What a value is another shape of.
fn viewed(graph: &Graph, view: Value) -> Option<Value> {
    match single(graph, view.node)? {
        (Op::Reshape(_) | Op::Flatten(_) | Op::Squeeze(_) | Op::Unsqueeze(_), _) => {
            graph.node(view.node).inputs[0]
        }
        _ => None,
    }
}

fn freed_after_first_use(graph: &Graph) -> Option<Graph> {
    let mut rewrite = Rewrite::of(graph);
    // Results that were used and whose memory nobody has got so far.
    let mut free: Vec<Value> = Vec::new();
    let mut holds = false;
    for (id, node) in graph.iter() {
        let new = Value::new(rewrite.keep(id)?, 0);
        if let Some((_, result)) = single(graph, id) {
            let fits = |&value: &Value| graph.ty(value) == graph.ty(result);
            if let Some(place) = free.iter().position(fits) {
                let value = free.remove(place);
                holds |= is_read_after(graph, value, id);
                rewrite.replace(value, new);
            }
        }
        let used = node.inputs.iter().flatten().copied();
        let first_used = used.filter(|v| single(graph, v.node).is_some() && !free.contains(v));
        free.extend(first_used.collect::<Vec<_>>());
    }
    rewrite.finish().filter(|_| holds)
}
