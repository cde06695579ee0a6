//! A model taken apart: each of its operators alone, with the reference's values for it.
//!
//! The levels of an engine often fail in the same way, and each is asked about the same operators. So whatever does not
//! depend on the level is made once, when it is first needed.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use interp::{Evaluation, Profile, Taps};
use ir::inline::{Inlined, inlined};
use ir::rewrite::Rewrite;
use ir::{NodeId, NodeKind, Tensor, Value};
use ops::Model;

use crate::trial::Trial;

/// A model without functions, what the reference makes of it, and its operators alone.
pub struct Isolated {
    /// The model, functions inlined.
    pub flat: Model,
    /// Where each node comes from: a node of the original model, or the call of the function that contained it.
    pub from: Vec<NodeId>,
    /// Its inputs, in order.
    pub inputs: Vec<Tensor>,
    /// All values.
    pub evaluation: Evaluation,
    profile: &'static Profile,
    /// By node; `None` for what cannot be evaluated or written alone.
    alone: Vec<OnceCell<Option<Trial>>>,
}

impl Isolated {
    /// A valid model, and inputs for it. `None` where it has too many nodes once its functions are inlined.
    pub fn of(model: &Model, inputs: &[Tensor], profile: &'static Profile) -> Option<Self> {
        let Inlined { graph, from } = inlined(model)?;
        let flat = Model::new(model.opset, graph);
        let evaluation = interp::evaluate(&flat, inputs, profile, Taps::All).ok()?;
        let alone = flat.graph.nodes.iter().map(|_| OnceCell::new()).collect();
        Some(Self { flat, from, inputs: inputs.to_vec(), evaluation, profile, alone })
    }

    /// An operator alone.
    pub fn alone(&self, id: NodeId) -> Option<&Trial> {
        let trial = || {
            let (model, inputs) = isolate(&self.flat, id, &self.evaluation)?;
            Trial::of(model, inputs, self.profile).map(Trial::alone)
        };
        self.alone[id.index()].get_or_init(trial).as_ref()
    }
}

/// The model of one operator alone. Operands that are constants stay constants. The others become inputs with the
/// reference's values; where a value is open, one of several is taken. `None` if the evaluation lacks a value.
pub fn isolate(flat: &Model, id: NodeId, evaluation: &Evaluation) -> Option<(Model, Vec<Tensor>)> {
    isolate_on(flat, id, &|operand| evaluation.taps.get(&operand).map(|tap| tap.tensor.clone()))
}

/// The model of one operator alone, on given values for its operands.
pub fn isolate_on(
    flat: &Model,
    id: NodeId,
    value: &dyn Fn(Value) -> Option<Tensor>,
) -> Option<(Model, Vec<Tensor>)> {
    isolate_last(flat, &[id], value)
}

/// The model of one operator together with the operators that compute its operands, on given values for their operands.
/// `None` if no operator computes one.
pub fn isolate_joined(
    flat: &Model,
    id: NodeId,
    value: &dyn Fn(Value) -> Option<Tensor>,
) -> Option<(Model, Vec<Tensor>)> {
    let givers = flat.graph.node(id).inputs.iter().flatten().map(|operand| operand.node);
    let is_operator = |id: &NodeId| matches!(flat.graph.node(*id).kind, NodeKind::Operator(_));
    let mut joined: BTreeSet<NodeId> = givers.filter(is_operator).collect();
    if joined.is_empty() {
        return None;
    }
    joined.insert(id);
    isolate_last(flat, &joined.into_iter().collect::<Vec<_>>(), value)
}

/// The model of some operators in SSA order, whose outputs are the results of the last one.
fn isolate_last(
    flat: &Model,
    ids: &[NodeId],
    value: &dyn Fn(Value) -> Option<Tensor>,
) -> Option<(Model, Vec<Tensor>)> {
    let mut rewrite = Rewrite::of(&flat.graph);
    let mut inputs = Vec::new();
    let mut last = None;
    for &id in ids {
        for &operand in flat.graph.node(id).inputs.iter().flatten() {
            if rewrite.at(operand).is_some() {
                continue;
            }
            if let NodeKind::Constant(_) = flat.graph.node(operand.node).kind {
                rewrite.keep(operand.node)?;
            } else {
                inputs.push(value(operand)?);
                let name = format!("x{}", inputs.len() - 1);
                let input = rewrite.graph.variable(name, flat.graph.ty(operand).clone());
                rewrite.replace(operand, input);
            }
        }
        last = Some((rewrite.keep(id)?, flat.graph.node(id).outputs.len()));
    }
    let (last, ports) = last?;
    let mut graph = rewrite.graph;
    for port in 0..ports {
        graph.output(format!("y{port}"), Value::new(last, port));
    }
    Some((Model::new(flat.opset, graph), inputs))
}
