//! Fewer outputs, so that less is needed to compute them: the cone of the failing ones, and of what fails inside.

use ir::{NodeKind, Output, Value};

use super::{Candidates, chunks};
use crate::reduce::interest::Shown;
use crate::reduce::rewrite::Edit;

pub(super) fn candidates(shown: &Shown) -> Candidates<'_> {
    let problem = &shown.problem;
    let edit = move |outputs: Vec<Output>| Edit { outputs: Some(outputs), ..Edit::default() }.apply(problem);
    Box::new(fewer(shown).chain(inside(shown)).filter_map(edit))
}

/// Each chunk of the outputs alone, and all but that chunk.
fn fewer(shown: &Shown) -> impl Iterator<Item = Vec<Output>> {
    let all = &shown.problem.model.graph.outputs;
    chunks(if all.len() > 1 { all.len() } else { 0 }).flat_map(move |chunk| {
        let others = [&all[..chunk.start], &all[chunk.end..]].concat();
        [all[chunk].to_vec(), others]
    })
}

/// Each value that an operator or call gives as the only output; the earliest, whose cone is smallest, first.
fn inside(shown: &Shown) -> impl Iterator<Item = Vec<Output>> {
    let graph = &shown.problem.model.graph;
    let is_output = |value: Value| graph.outputs.iter().any(|o| o.value == value);
    let nodes = graph.iter().filter(|(_, n)| matches!(n.kind, NodeKind::Operator(_) | NodeKind::Call(_)));
    nodes
        .flat_map(|(id, node)| (0..node.outputs.len()).map(move |port| Value::new(id, port)))
        .filter(move |&value| !is_output(value))
        .filter_map(|value| {
            // A name that no input has.
            let name = graph.outputs.first()?.name.clone();
            Some(vec![Output { name, value }])
        })
}
