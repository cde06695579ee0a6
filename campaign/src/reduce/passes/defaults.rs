//! Attributes at their defaults.

use ir::NodeKind;

use super::Candidates;
use crate::reduce::interest::Shown;
use crate::reduce::problem::with_a_default;
use crate::reduce::rewrite::Edit;

pub(super) fn candidates(shown: &Shown) -> Candidates<'_> {
    let others = shown.problem.model.graph.iter().flat_map(|(id, node)| {
        let NodeKind::Operator(op) = &node.kind else { return Vec::new() };
        with_a_default(op).map(|other| (id, (other, node.inputs.clone()))).collect()
    });
    let edit = |changed| Edit { operators: [changed].into(), ..Edit::default() }.apply(&shown.problem);
    Box::new(others.filter_map(edit))
}
