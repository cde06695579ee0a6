//! The values inside a graph, as a target exposes them, and the judgement of each operator on them.

use std::collections::BTreeMap;

use interp::Taps;
use ir::{NodeId, NodeKind, Operation, Tensor, Value};
use ops::Model;
use worker::{Outcome, WorkerError};

use super::{Called, JOINED, Judged, OperatorResult, Standing, assessed};
use crate::tapped::{self, Parts, Tapped};
use harness::isolate::{isolate_joined, isolate_on};
use harness::reference::{Large, Means};
use harness::target::Target;
use harness::threads::Share;
use harness::trial::Trial;

/// The values of a graph, as a target has them.
pub(super) struct TappedValues {
    values: BTreeMap<Value, Tensor>,
    /// What the reference may take for each operator.
    means: Means,
    /// The elements that may be in use at one time by all threads.
    elements: Share,
}

impl TappedValues {
    pub(super) fn by(
        target: &Target,
        flat: &Model,
        inputs: &[Tensor],
        large: Large,
    ) -> Result<Self, WorkerError> {
        let variables = flat.graph.variables().map(|(id, ..)| Value::new(id, 0));
        let mut values: BTreeMap<Value, Tensor> = variables.zip(inputs.iter().cloned()).collect();
        let mut parts = Parts::of(&flat.graph);
        while let Some(part) = parts.next(|_| true) {
            match tapped::run(target, flat, inputs, &part)? {
                Tapped::Ran(outcome) => values.extend(among(part, outcome)),
                Tapped::Failed => parts.split(&part),
                Tapped::TooMuch => break,
            }
        }
        let means = Means::of(flat, large);
        Ok(Self { values, means, elements: Share::new(means.elements()) })
    }

    /// How the result of an operator stands.
    pub(super) fn judge(&self, target: &Target, flat: &Model, id: NodeId) -> Result<Judged, WorkerError> {
        let node = flat.graph.node(id);
        let op = match &node.kind {
            NodeKind::Operator(op) => op.name().to_owned(),
            NodeKind::Variable { .. } | NodeKind::Constant(_) | NodeKind::Call(_) => String::new(),
        };
        let types = node.outputs.iter().map(ToString::to_string).collect();
        Ok(self.found(target, flat, id)?.of(id.0, Called::default(), &op, types))
    }

    /// The results of an operator that runs alone.
    fn results(&self, flat: &Model, id: NodeId) -> Option<Vec<(String, Tensor)>> {
        let ports = 0..flat.graph.node(id).outputs.len();
        ports
            .map(|port| Some((format!("y{port}"), self.values.get(&Value::new(id, port))?.clone())))
            .collect()
    }

    /// How the result is, given the operands of the operators that compute this operator's operands. It is asked if the
    /// target is right about the operator alone: the target may compute these operators as one, and the operands
    /// separately. `None` if the target is wrong in this way too.
    pub(super) fn joined(
        &self,
        target: &Target,
        flat: &Model,
        id: NodeId,
    ) -> Result<Option<OperatorResult>, WorkerError> {
        let told = |operand| self.values.get(&operand).cloned();
        let trial = |isolated: Option<(Model, Vec<Tensor>)>| {
            let (model, inputs) = isolated?;
            self.means.bear(&model, Taps::Outputs).ok()?;
            Trial::of(model, inputs, target.profile)
        };
        let alone = trial(isolate_on(flat, id, &told));
        let both = trial(isolate_joined(flat, id, &told));
        let (Some(alone), Some(both), Some(results)) = (alone, both, self.results(flat, id)) else {
            return Ok(None);
        };
        if assessed(&alone, target, &alone.outcome(target)?)?.standing != Standing::Right {
            return Ok(None);
        }
        let found = assessed(&both, target, &Outcome::Outputs(results))?;
        Ok((found.standing == Standing::Right).then(|| OperatorResult { why: JOINED.to_owned(), ..found }))
    }

    fn found(&self, target: &Target, flat: &Model, id: NodeId) -> Result<OperatorResult, WorkerError> {
        let untold = |why: &str| Ok(OperatorResult::without(Standing::Untold, why));
        let Some(results) = self.results(flat, id) else { return untold("its result is not told") };
        let Some((model, inputs)) = isolate_on(flat, id, &|operand| self.values.get(&operand).cloned())
        else {
            return untold("its operands are not told");
        };
        let declared = model.graph.variables().map(|(_, _, ty)| ty);
        if !declared.eq(inputs.iter().map(Tensor::ty).collect::<Vec<_>>().iter()) {
            return untold("an operand is not of the type that the model has there");
        }
        let _elements = match self.means.bear(&model, Taps::Outputs) {
            Ok(elements) => self.elements.take(elements),
            Err(why) => return Ok(OperatorResult::without(Standing::Dear, &why)),
        };
        let Some(trial) = Trial::of(model, inputs, target.profile) else {
            return Ok(OperatorResult::without(Standing::Open, "it is not defined on these operands"));
        };
        assessed(&trial, target, &Outcome::Outputs(results))
    }

    /// Whether the outputs differ from those of the graph without taps.
    pub(super) fn differs(
        &self,
        target: &Target,
        flat: &Model,
        inputs: &[Tensor],
    ) -> Result<bool, WorkerError> {
        let outputs = flat.graph.outputs.iter().map(|output| output.value).collect::<Vec<_>>();
        let Tapped::Ran(outcome) = tapped::run(target, flat, inputs, &outputs)? else { return Ok(false) };
        let is_other =
            |(value, tensor): (Value, Tensor)| self.values.get(&value).is_some_and(|told| *told != tensor);
        Ok(among(outputs, outcome).any(is_other))
    }
}

/// The values that these taps give.
fn among(taps: Vec<Value>, outcome: Outcome) -> impl Iterator<Item = (Value, Tensor)> {
    let mut given: BTreeMap<String, Tensor> = match outcome {
        Outcome::Outputs(outputs) => outputs.into_iter().collect(),
        Outcome::Unsupported { .. } | Outcome::Rejected { .. } | Outcome::Fault(_) => BTreeMap::new(),
    };
    taps.into_iter().filter_map(move |tap| Some((tap, given.remove(&tapped::name(tap))?)))
}
