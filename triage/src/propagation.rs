//! Whether the wrong answer of an operator is seen in an output.
//!
//! An engine may get several operators of a graph wrong, of which only one spoils the output: the wrong elements of the
//! others are dropped on the way (by a Slice, a comparison, a maximum). So the wrong answer takes the place of the
//! operator, and the reference computes everything else. The outputs then tell.

use ir::rewrite::Rewrite;
use ir::{NodeId, Tensor, Value};
use ops::Model;
use worker::Outcome;

use crate::blame::Whole;
use harness::isolate::Isolated;

impl Whole<'_> {
    /// Whether an output is wrong if a node gives this answer: the output of this name, or any output.
    pub(crate) fn is_reached(&self, node: NodeId, answer: &Outcome, output: Option<&str>) -> bool {
        let Isolated { flat, inputs, evaluation, .. } = self.isolated;
        let graph = &flat.graph;
        let Outcome::Outputs(wrong) = answer else { return true };
        if !graph.node(node).outputs.iter().cloned().eq(wrong.iter().map(|(_, tensor)| tensor.ty())) {
            // The consequences of a wrong type are unknown.
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
