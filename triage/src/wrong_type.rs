//! The operator whose wrong type is the reason for a refusal, a panic, or wrong elements.
//!
//! A wrong type need not have to do with a later operator's complaint. So the right values take the place of the wrong
//! result, as inputs, and the graph runs again. If the outcome changes, the wrong type was the reason. Each of several
//! operators may be reason enough: the right values of the earlier ones stay in place.

use ir::rewrite::Rewrite;
use ir::{NodeId, NodeKind, Tensor, Value};
use ops::Model;
use oracles::Symptom;
use worker::WorkerError;

use crate::blame::{Blamed, Whole};
use crate::symptom_match::same_kind;
use harness::trial::Trial;

impl Whole<'_> {
    /// The first of the nodes with which the symptom is gone, if its right values and those of the nodes before it are
    /// put in place.
    pub(crate) fn reason(&self, nodes: &[NodeId], symptom: &Symptom) -> Result<Blamed, WorkerError> {
        for (last, &node) in nodes.iter().enumerate() {
            let Some((model, inputs)) = self.righted(&nodes[..=last]) else { break };
            let Some(trial) = Trial::of(model, inputs, self.target.profile) else { break };
            let is_over = match trial.run(self.target)? {
                None => true,
                // A graph that hangs does not show that the symptom is gone.
                Some((found, _)) => !found.symptom.is_hang() && !same_kind(&found.symptom, symptom),
            };
            if is_over {
                return Ok(self.of_wrong_type(node));
            }
        }
        Ok(Blamed::default())
    }

    /// The model with inputs in place of these nodes, and all inputs: those have the values of the reference.
    fn righted(&self, nodes: &[NodeId]) -> Option<(Model, Vec<Tensor>)> {
        let flat = &self.isolated.flat;
        let mut rewrite = Rewrite::of(&flat.graph);
        let mut given = self.isolated.inputs.iter();
        let mut inputs = Vec::new();
        for (id, old) in flat.graph.iter() {
            if nodes.contains(&id) {
                for (port, ty) in old.outputs.iter().enumerate() {
                    let value = Value::new(id, port);
                    inputs.push(self.isolated.evaluation.taps.get(&value)?.tensor.clone());
                    let right = rewrite.graph.variable(format!("right{}_{port}", id.0), ty.clone());
                    rewrite.replace(value, right);
                }
                continue;
            }
            if let NodeKind::Variable { .. } = old.kind {
                inputs.push(given.next()?.clone());
            }
            rewrite.keep(id)?;
        }
        Some((Model::new(flat.opset, rewrite.finish()?), inputs))
    }
}
