//! A node replaced by one of its operands of equal type.

use ir::Value;

use super::Candidates;
use crate::reduce::interest::Shown;
use crate::reduce::rewrite::Edit;

pub(super) fn candidates(shown: &Shown) -> Candidates<'_> {
    let graph = &shown.problem.model.graph;
    let ways = graph.iter().flat_map(move |(id, node)| {
        let output = Value::new(id, 0);
        let operands = node.inputs.iter().flatten().copied();
        operands.filter(move |&v| graph.ty(v) == graph.ty(output)).map(move |v| (output, v))
    });
    let edit = |(output, operand)| {
        let forwards = [(output, operand)].into();
        Edit { forwards, ..Edit::default() }.apply(&shown.problem)
    };
    Box::new(ways.filter_map(edit))
}
