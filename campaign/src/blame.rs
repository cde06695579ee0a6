//! Which operator is at fault.
//!
//! A failing graph is taken apart: each operator that the wrong output depends on runs alone, on the operands that the
//! reference says it gets. Of those that fail alone, the culprit is one whose wrong answer reaches the output (`reach`)
//! before one whose does not, then one that shows the very same before one that shows something of the kind
//! (`likeness`), then the first.
//!
//! Where no operator refuses or panics alone and the graph does, one that gives a wrong type alone is the culprit "in
//! context", if the graph does not do that any more with the right value in its place: a later operator chokes on the
//! wrong type (`reason`).
//!
//! Where elements are off and no operator is wrong alone, the graph runs once more with every value as an output, and the
//! first to diverge is the culprit "in context" (`divergent`). Where none diverges then, tapping the values hides the
//! fault (it stops a fusion), and the graph as a whole is to blame.

use backends::worker::{Outcome, WorkerError};
use interp::{Evaluation, Taps};
use ir::inline::inline;
use ir::{Graph as IrGraph, NodeId, NodeKind, Tensor, Value};
use ops::{Graph, Model, Op};
use oracles::{Culprit, Expected, Finding, Symptom, Verdict, judge};

use crate::case;
use crate::excuse::{exceeds_i32, excuse};
use crate::likeness::Likeness;
use crate::target::Target;

/// An operator alone, with its inputs.
pub type Alone = (Model, Vec<Tensor>);

/// What taking a failing graph apart showed.
#[derive(Default, Debug)]
pub struct Blamed {
    /// The operator at fault; `None` where nothing smaller than the graph shows it.
    pub culprit: Option<Culprit>,
    /// The graph of that operator alone, with inputs, where it fails alone.
    pub alone: Option<Alone>,
    /// Whether the fault is gone when every value is an output.
    pub hidden_by_taps: bool,
}

/// A model that a target may have got wrong.
#[derive(Clone, Copy)]
pub struct Suspicion<'a> {
    /// The target.
    pub target: &'a Target,
    /// The model.
    pub model: &'a Model,
    /// Its inputs.
    pub inputs: &'a [Tensor],
    /// Whether value search found values on which everything is defined.
    pub all_defined: bool,
}

impl Suspicion<'_> {
    /// The verdict after excuses, and with someone to blame; and the culprit alone where it fails alone.
    pub fn settle(&self, mut verdict: Verdict) -> Result<(Verdict, Option<Alone>), WorkerError> {
        let Verdict::Bug(finding) = &mut verdict else { return Ok((verdict, None)) };
        if let Some(why) = excuse(self.target, finding, self.all_defined, || self.is_wide()) {
            return Ok((Verdict::Incomparable(why), None));
        }
        let blamed = blame(self.target, self.model, self.inputs, finding)?;
        (finding.culprit, finding.hidden_by_taps) = (blamed.culprit, blamed.hidden_by_taps);
        Ok((verdict, blamed.alone))
    }

    /// Whether an i64 value of the model, functions included, is beyond what i32 holds; so it counts if that is not
    /// known.
    fn is_wide(&self) -> bool {
        let Some(graph) = inline(self.model) else { return true };
        let flat = Model::new(self.model.opset, graph);
        let evaluation = interp::evaluate(&flat, self.inputs, &interp::Profile::TIGHT, Taps::All);
        evaluation.as_ref().map_or(true, exceeds_i32)
    }
}

/// A graph without functions, and what the reference makes of it.
#[derive(Clone, Copy)]
pub(crate) struct Whole<'a> {
    pub(crate) target: &'a Target,
    pub(crate) flat: &'a Model,
    pub(crate) inputs: &'a [Tensor],
    /// All values.
    pub(crate) evaluation: &'a Evaluation,
}

impl Whole<'_> {
    /// An operator to blame that fails within the graph alone.
    pub(crate) fn in_context(&self, id: NodeId) -> Blamed {
        let culprit = match &self.flat.graph.node(id).kind {
            NodeKind::Operator(op) => Some(culprit(op, &self.flat.graph, id, false)),
            _ => None,
        };
        Blamed { culprit, ..Blamed::default() }
    }
}

/// Who is to blame for a finding.
pub fn blame(
    target: &Target,
    model: &Model,
    inputs: &[Tensor],
    finding: &Finding,
) -> Result<Blamed, WorkerError> {
    let Some(graph) = inline(model) else { return Ok(Blamed::default()) };
    let flat = Model::new(model.opset, graph);
    let Ok(evaluation) = interp::evaluate(&flat, inputs, target.profile, Taps::All) else {
        return Ok(Blamed::default());
    };
    let suspects = suspects(&flat.graph, finding);
    let whole = Whole { target, flat: &flat, inputs, evaluation: &evaluation };
    let output = finding.worst.as_ref().map(|worst| worst.output.as_str());
    let mut best: Option<((bool, Likeness), Blamed)> = None;
    let mut reasons = Vec::new();
    for (id, node) in flat.graph.iter().filter(|(id, _)| suspects[id.index()]) {
        let NodeKind::Operator(op) = &node.kind else { continue };
        let Some((alone, inputs)) = isolate(&flat, id, &evaluation) else { continue };
        let Some((found, outcome)) = run(target, &alone, &inputs)? else { continue };
        let likeness = Likeness::of(&found.symptom, &finding.symptom);
        if likeness == Likeness::Reason {
            reasons.push(id);
        }
        if likeness < Likeness::Related {
            continue;
        }
        let rank = (whole.is_reached(id, &outcome, output), likeness);
        if best.as_ref().is_some_and(|(best, _)| *best >= rank) {
            continue;
        }
        let culprit = Some(culprit(op, &flat.graph, id, true));
        let blamed = Blamed { culprit, alone: Some((alone, inputs)), hidden_by_taps: false };
        if rank == (true, Likeness::Same) {
            return Ok(blamed);
        }
        best = Some((rank, blamed));
    }
    match (best, &finding.symptom) {
        (Some((_, blamed)), _) => Ok(blamed),
        (None, Symptom::Mismatch(_)) => whole.first_divergent(),
        (None, symptom) => whole.reason(&reasons, symptom),
    }
}

/// For each node, whether the output that is off depends on it; all, where that is not known.
fn suspects(graph: &Graph, finding: &Finding) -> Vec<bool> {
    let off = finding.worst.as_ref().and_then(|w| graph.outputs.iter().find(|o| o.name == w.output));
    let Some(output) = off else { return vec![true; graph.nodes.len()] };
    ir::cone::members(graph, output.value)
}

pub(crate) fn culprit(op: &Op, graph: &Graph, id: NodeId, alone: bool) -> Culprit {
    let types: Vec<_> = graph.node(id).inputs.iter().map(|v| v.map(|v| graph.ty(v))).collect();
    Culprit::new(ir::Operation::name(op), &types, alone)
}

/// The model of one node alone. Operands that are constants stay constants; the others become inputs with the
/// reference's values. `None` if the reference has no definite value for one of them.
pub(crate) fn isolate(flat: &Model, id: NodeId, evaluation: &Evaluation) -> Option<(Model, Vec<Tensor>)> {
    let node = flat.graph.node(id);
    let mut graph: Graph = IrGraph::new();
    let mut inputs = Vec::new();
    let mut at: Vec<(Value, Value)> = Vec::new();
    for &operand in node.inputs.iter().flatten() {
        if at.iter().any(|(v, _)| *v == operand) {
            continue;
        }
        let copy = if let NodeKind::Constant(tensor) = &flat.graph.node(operand.node).kind {
            graph.constant((**tensor).clone())
        } else {
            inputs.push(evaluation.taps.get(&operand)?.tensor.clone());
            graph.variable(format!("x{}", inputs.len() - 1), flat.graph.ty(operand).clone())
        };
        at.push((operand, copy));
    }
    let find = |v: Value| at.iter().find(|(from, _)| *from == v).map(|(_, to)| *to);
    let operands = node.inputs.iter().map(|v| v.and_then(find)).collect();
    let only = graph.push(node.kind.clone(), operands, node.outputs.clone());
    for port in 0..node.outputs.len() {
        graph.output(format!("y{port}"), Value::new(only, port));
    }
    Some((Model::new(flat.opset, graph), inputs))
}

/// Runs and judges a model: the finding and what came of the run; `None` if that finds nothing.
pub(crate) fn run(
    target: &Target,
    model: &Model,
    inputs: &[Tensor],
) -> Result<Option<(Finding, Outcome)>, WorkerError> {
    let Ok(evaluation) = interp::evaluate(model, inputs, target.profile, Taps::Outputs) else {
        return Ok(None);
    };
    let Ok(onnx) = case::export(model) else { return Ok(None) };
    let outputs = case::outputs(model);
    let names: Vec<String> = outputs.iter().map(|(name, _)| name.clone()).collect();
    let ran = target.run(&onnx, &case::named(model, inputs.to_vec()), &outputs)?;
    let expected = Expected { names: &names, outputs: &evaluation.outputs, profile: target.profile };
    Ok(match judge(&target.backend, &target.level, &ran.outcome, &expected) {
        Verdict::Bug(finding) => Some((*finding, ran.outcome)),
        Verdict::Pass | Verdict::Incomparable(_) => None,
    })
}
