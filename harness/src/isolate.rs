//! A model taken apart: each of its operators alone, with what the reference says of it.
//!
//! The levels of an engine often fail in the same way, and each is asked about the same operators. So what does not depend
//! on the level is made once, when it is first needed.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use interp::{Bounded, Evaluation, Limits, Profile, Taps};
use ir::inline::{Inlined, inlined};
use ir::rewrite::Rewrite;
use ir::{Interface, NodeId, NodeKind, Tensor, Value};
use onnx::Bytes;
use ops::Model;
use oracles::{Assessment, Doubt, Expected, Finding, Symptom, Verdict, allowance, assess};
use worker::{Outcome, Run, WorkerError};

use crate::case;
use crate::reached::Reached;
use crate::target::Target;

/// A model without functions, what the reference makes of it, and its operators alone.
pub struct Isolated {
    /// The model, functions inlined.
    pub flat: Model,
    /// Where each of its nodes comes from: the node of the model that it was, or the call whose function it
    /// stood in.
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
            Trial::of(model, inputs, self.profile)
        };
        self.alone[id.index()].get_or_init(trial).as_ref()
    }
}

/// A model with inputs, to be run and judged.
pub struct Trial {
    /// The model.
    pub model: Model,
    /// Its inputs by name.
    pub inputs: Vec<(String, Tensor)>,
    onnx: Bytes,
    /// What a target's inputs and outputs are made of.
    interface: Interface,
    names: Vec<String>,
    expected: Vec<Bounded>,
    profile: &'static Profile,
    reached: Reached,
}

impl Trial {
    /// A model with inputs; `None` where it is not valid or cannot be written.
    pub fn of(model: Model, inputs: Vec<Tensor>, profile: &'static Profile) -> Option<Self> {
        let onnx = case::export(&model).ok()?;
        let interface = Interface::of(&model);
        Self::written(model, inputs, onnx, interface, profile)
    }

    /// A model with inputs, and the bytes that targets get for it, with what their inputs and outputs are made of; `None` where
    /// it is not valid.
    pub fn written(
        model: Model,
        inputs: Vec<Tensor>,
        onnx: impl Into<Bytes>,
        interface: Interface,
        profile: &'static Profile,
    ) -> Option<Self> {
        let evaluation = interp::evaluate(&model, &inputs, profile, Taps::Outputs).ok()?;
        Some(Self::expecting(model, inputs, onnx, interface, evaluation, profile))
    }

    /// A model with inputs, the bytes that targets get for it with what their inputs and outputs are made of, and its evaluation
    /// under the profile.
    pub fn expecting(
        model: Model,
        inputs: Vec<Tensor>,
        onnx: impl Into<Bytes>,
        interface: Interface,
        evaluation: Evaluation,
        profile: &'static Profile,
    ) -> Self {
        let expected = evaluation.outputs;
        let names = model.graph.outputs.iter().map(|o| o.name.clone()).collect();
        let inputs = case::named(&model, inputs);
        let (onnx, reached) = (onnx.into(), Reached::default());
        Self { model, inputs, onnx, interface, names, expected, profile, reached }
    }

    /// Whether no element of what is expected is undefined.
    pub fn is_defined(&self) -> bool {
        self.expected.iter().all(|output| output.undefined.is_empty())
    }

    /// What a target makes of it.
    pub fn outcome(&self, target: &Target) -> Result<Outcome, WorkerError> {
        Ok(self.ran(target)?.outcome)
    }

    /// Runs it on a target.
    pub fn ran(&self, target: &Target) -> Result<Run, WorkerError> {
        target.run(&self.onnx, &self.inputs, &self.interface)
    }

    /// The outputs that are expected, by name.
    pub fn outputs(&self) -> impl Iterator<Item = (&str, &Bounded)> {
        self.names.iter().map(String::as_str).zip(&self.expected)
    }

    /// Whether elements that a target gives are suspect, or even wrong.
    pub fn is_doubtful(&self, target: &Target) -> Result<bool, WorkerError> {
        let outcome = self.outcome(target)?;
        let assessment = self.assess(target, &outcome);
        Ok(match &assessment.verdict {
            Verdict::Bug(finding) => is_off(finding),
            Verdict::Pass | Verdict::Incomparable(_) => {
                !self.doubts(target, &outcome, &assessment).is_empty()
            }
        })
    }

    /// What is to be said of an answer. What follows from the width of integers that the target declares is open.
    pub fn assess(&self, target: &Target, outcome: &Outcome) -> Assessment {
        let expected = self.expected();
        let assessment = assess(&target.backend, &target.level, outcome, &expected);
        match &assessment.verdict {
            Verdict::Bug(finding) if is_off(finding) && target.shortens_integers() => {
                let but = expected.but(&self.outputs_beyond_i32());
                assess(&target.backend, &target.level, outcome, &Expected { outputs: &but, ..expected })
            }
            _ => assessment,
        }
    }

    /// What is suspect in an answer that is not wrong.
    pub fn doubts(&self, target: &Target, outcome: &Outcome, assessment: &Assessment) -> Vec<Doubt> {
        let limits =
            |outputs: &[usize]| self.reached.of(outputs, target, &self.model, &case::tensors(&self.inputs));
        assessment.doubts(outcome, &self.expected(), limits)
    }

    /// How far good implementations of a target's kind are from the outputs; none where the reference cannot evaluate it.
    pub fn limits(&self, target: &Target) -> Rc<[Limits]> {
        self.reached.by(target, &self.model, &case::tensors(&self.inputs))
    }

    /// The names of the outputs that depend on an i64 which i32 does not hold.
    fn outputs_beyond_i32(&self) -> BTreeSet<String> {
        let all = interp::evaluate(&self.model, &case::tensors(&self.inputs), self.profile, Taps::All);
        all.map_or_else(
            |_| BTreeSet::new(),
            |evaluation| allowance::outputs_beyond_i32(&self.model, &evaluation),
        )
    }

    /// What is expected of a target.
    pub fn expected(&self) -> Expected<'_> {
        Expected { names: &self.names, outputs: &self.expected, profile: self.profile }
    }

    /// The finding and what came of the run; `None` if nothing is found, or nothing but what follows from the width of integers
    /// that the target declares.
    pub fn run(&self, target: &Target) -> Result<Option<(Finding, Outcome)>, WorkerError> {
        let outcome = self.outcome(target)?;
        Ok(match self.assess(target, &outcome).verdict {
            // What is undefined may be refused, and says nothing about a graph that computes other values there.
            Verdict::Bug(finding) if finding.is_refusal() && !self.is_defined() => None,
            Verdict::Bug(finding) => Some((*finding, outcome)),
            Verdict::Pass | Verdict::Incomparable(_) => None,
        })
    }
}

/// Whether elements are off.
pub fn is_off(finding: &Finding) -> bool {
    matches!(finding.symptom, Symptom::Mismatch(_))
}

/// The model of one operator alone. Operands that are constants stay constants; the others become inputs with the
/// reference's values, and with one of several where the value is open. `None` if the evaluation lacks one.
pub fn isolate(flat: &Model, id: NodeId, evaluation: &Evaluation) -> Option<(Model, Vec<Tensor>)> {
    isolate_on(flat, id, &|operand| evaluation.taps.get(&operand).map(|tap| tap.tensor.clone()))
}

/// The model of one operator alone, on values that somebody has for its operands.
pub fn isolate_on(
    flat: &Model,
    id: NodeId,
    value: &dyn Fn(Value) -> Option<Tensor>,
) -> Option<(Model, Vec<Tensor>)> {
    isolate_last(flat, &[id], value)
}

/// The model of one operator together with those that give its operands, on values that somebody has for theirs. `None` where no operator
/// gives one.
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

/// The model of some operators, in SSA order, that gives what the last of them gives.
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
