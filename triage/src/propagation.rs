//! Whether what an operator got wrong is seen in an output.
//!
//! A graph may have several operators that an engine gets wrong, and an output that only one of them spoils: the others'
//! wrong elements are dropped on the way (by a Slice, a comparison, a maximum). So the wrong answer takes the place of
//! the operator, the reference computes everything else, and the outputs tell.

use ir::rewrite::Rewrite;
use ir::{NodeId, Tensor, Value};
use ops::Model;
use worker::Outcome;

use crate::blame::Whole;
use harness::isolate::Isolated;

impl Whole<'_> {
    /// Whether an output is off where a node has this answer: the output of this name, or any.
    pub(crate) fn is_reached(&self, node: NodeId, answer: &Outcome, output: Option<&str>) -> bool {
        let Isolated { flat, inputs, evaluation, .. } = self.isolated;
        let graph = &flat.graph;
        let Outcome::Outputs(wrong) = answer else { return true };
        if !graph.node(node).outputs.iter().cloned().eq(wrong.iter().map(|(_, tensor)| tensor.ty())) {
            // What a wrong type leads to, nobody can say.
            return true;
        }
        let spoilt = with_answer(flat, node, wrong);
        let Some(Ok(outputs)) = spoilt.map(|model| interp::evaluate_plain(&model, inputs)) else {
            return true;
        };
        let named = graph.outputs.iter().map(|o| o.name.as_str());
        let mut all = named.zip(&evaluation.outputs).zip(&outputs);
        all.any(|((name, expected), actual)| {
            output.is_none_or(|wanted| wanted == name)
                && interp::compare(expected, actual, self.target.profile)
                    .is_ok_and(|compared| !compared.passes())
        })
    }
}

/// The model with constants in place of a node.
fn with_answer(flat: &Model, node: NodeId, answer: &[(String, Tensor)]) -> Option<Model> {
    let mut rewrite = Rewrite::of(&flat.graph);
    for (id, _) in flat.graph.iter() {
        if id != node {
            rewrite.keep(id)?;
            continue;
        }
        for (port, (_, tensor)) in answer.iter().enumerate() {
            let constant = rewrite.graph.constant(tensor.clone());
            rewrite.replace(Value::new(id, port), constant);
        }
    }
    Some(Model::new(flat.opset, rewrite.finish()?))
}
