//! Fewer operands: optional ones left out, variadic ones taken away, and a leaf that stands for another of its type.

use ir::{NodeId, NodeKind, Value};

use super::Candidates;
use crate::reduce::interest::Shown;
use crate::reduce::rewrite::Edit;

pub(super) fn candidates(shown: &Shown) -> Candidates<'_> {
    let edits = left_out(shown).chain(taken_away(shown)).chain(merged(shown));
    Box::new(edits.filter_map(|edit| edit.apply(&shown.problem)))
}

/// Each operand of each operator, by node and position.
fn places(shown: &Shown) -> impl Iterator<Item = (NodeId, usize)> {
    let nodes = shown.problem.model.graph.iter().filter(|(_, n)| matches!(n.kind, NodeKind::Operator(_)));
    nodes.flat_map(|(id, node)| (0..node.inputs.len()).rev().map(move |i| (id, i)))
}

/// The edit that gives a node other operands.
fn with(shown: &Shown, id: NodeId, change: impl FnOnce(&mut Vec<Option<Value>>)) -> Edit<'static> {
    let node = shown.problem.model.graph.node(id);
    let mut edit = Edit::default();
    if let NodeKind::Operator(op) = &node.kind {
        let mut operands = node.inputs.clone();
        change(&mut operands);
        edit.operators.insert(id, (op.clone(), operands));
    }
    edit
}

fn left_out(shown: &Shown) -> impl Iterator<Item = Edit<'static>> {
    places(shown).map(|(id, i)| with(shown, id, |operands| operands[i] = None))
}

fn taken_away(shown: &Shown) -> impl Iterator<Item = Edit<'static>> {
    places(shown).map(|(id, i)| {
        with(shown, id, |operands| {
            operands.remove(i);
        })
    })
}

fn merged(shown: &Shown) -> impl Iterator<Item = Edit<'static>> {
    let graph = &shown.problem.model.graph;
    let leaves: Vec<Value> = shown.problem.leaves().map(|(id, _)| Value::new(id, 0)).collect();
    let pairs = (0..leaves.len()).flat_map(move |i| {
        let leaves = leaves.clone();
        (0..i).map(move |j| (leaves[i], leaves[j]))
    });
    pairs
        .filter(|&(later, earlier)| graph.ty(later) == graph.ty(earlier))
        .map(|pair| Edit { forwards: [pair].into(), ..Edit::default() })
}
