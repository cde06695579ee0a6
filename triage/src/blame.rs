//! Which operator is at fault.
//!
//! A failing graph is taken apart: each operator that the wrong output depends on runs alone, on the operands that the
//! reference computes for it. Several operators may fail alone. Those whose wrong answer reaches the output (`reach`)
//! go before those whose answer does not. Then those that show exactly the symptom of the finding go before those that
//! show a similar one (`likeness`). The first operator in this order is the culprit.
//!
//! The graph may refuse, panic or have wrong elements although no operator does so alone. If an operator gives a wrong
//! type alone, and the graph no longer fails with the right value in place of that result, then this operator is the
//! culprit "in context": a later operator cannot take the wrong type, or broadcasts it (`reason`).
//!
//! If elements are wrong and no wrong type is the reason, the graph runs once more with every value as an output. The
//! first operator that diverges is the culprit "in context" (`divergent`). If none diverges then, to make every value
//! an output hides the fault (it stops a fusion), and the graph as a whole is to blame.

mod form;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use interp::{Limits, Profile};
use ir::{NodeId, NodeKind, Tensor};
use ops::{Graph, Model, Op};
use oracles::{Culprit, Finding, Symptom, Verdict, Why};
use worker::{Outcome, WorkerError};

use crate::allowance::Exam;
use crate::forms::TargetProgram;
use crate::reduce::Problem;
use crate::smaller::Smaller;
use crate::symptom_match::{SymptomMatch, same_cause};
use harness::hurry::Hurry;
use harness::isolate::Isolated;
use harness::reached::Reached;
use harness::target::Target;
use harness::trial::Trial;

/// An operator alone.
#[derive(Clone, Debug)]
pub struct Alone {
    /// The operator's graph, with inputs.
    pub problem: Problem,
    /// What the operator shows there; `None` if that is no comparison with the reference.
    pub shown: Option<Box<Finding>>,
}

impl Alone {
    /// The smaller case of a finding. It has the finding's name, and the words and numbers of what the operator shows
    /// alone.
    pub(crate) fn smaller(self, finding: &Finding) -> Smaller {
        let finding = match self.shown {
            Some(shown) => Finding { detail: shown.detail, worst: shown.worst, ..finding.clone() },
            None => finding.clone(),
        };
        Smaller { problem: self.problem, finding, is_steady: false }
    }
}

impl From<Smaller> for Alone {
    fn from(smaller: Smaller) -> Self {
        Self { problem: smaller.problem, shown: Some(Box::new(smaller.finding)) }
    }
}

/// What taking a failing graph apart showed.
#[derive(Default, Debug)]
pub struct Blamed {
    /// The operator at fault; `None` if nothing smaller than the graph shows the fault.
    pub culprit: Option<Culprit>,
    /// Its node in the model taken apart; `None` for a form of a program.
    pub node: Option<NodeId>,
    /// The graph of that operator alone, with inputs, where it fails alone.
    pub alone: Option<Alone>,
    /// Whether the fault is gone when every value is an output.
    pub hidden_by_taps: bool,
    /// Whether one of the operators that ran alone refuses its operands for the same cause.
    pub refuses_alone: bool,
}

/// A finding with someone to blame.
pub(crate) struct Accused {
    /// The verdict, after the allowances that depend on who is to blame.
    pub(crate) verdict: Verdict,
    /// The culprit alone, where it fails alone.
    pub(crate) alone: Option<Alone>,
    /// Its node in the model taken apart.
    pub(crate) node: Option<NodeId>,
}

impl Accused {
    fn nobody(verdict: Verdict) -> Self {
        Self { verdict, alone: None, node: None }
    }
}

/// What operators show alone, by target and node. Each operator runs once.
#[derive(Default)]
pub(crate) struct Memory(RefCell<BTreeMap<(String, NodeId), AloneResult>>);

/// The finding of an operator alone, with the outcome of the run; nothing if the operator is right.
type AloneResult = Option<Rc<(Finding, Outcome)>>;

/// A model that targets may have got wrong.
pub struct Suspect<'a> {
    pub(crate) model: &'a Model,
    inputs: &'a [Tensor],
    profile: &'static Profile,
    /// The program that leads to the model, if targets get the program.
    program: Option<&'a TargetProgram>,
    /// The model taken apart, once that was needed; the inner `None` says that it cannot be.
    isolated: OnceCell<Option<Isolated>>,
    memory: Memory,
    /// The model by itself, once that was needed; the inner `None` says that it cannot be run.
    trial: OnceCell<Option<Trial>>,
    /// What targets show on the model by itself.
    shown_flat: RefCell<BTreeMap<String, Option<Symptom>>>,
    /// What good implementations reach, once that was needed.
    reached: Rc<Reached>,
    /// How targets are asked further questions: what is known to hang, and how long the model takes.
    pub hurry: Arc<Hurry>,
}

impl<'a> Suspect<'a> {
    /// A valid model, inputs for it, and the accuracy that targets are held to.
    pub fn new(model: &'a Model, inputs: &'a [Tensor], profile: &'static Profile) -> Self {
        Self {
            model,
            inputs,
            profile,
            program: None,
            isolated: OnceCell::new(),
            memory: Memory::default(),
            trial: OnceCell::new(),
            shown_flat: RefCell::default(),
            reached: Rc::default(),
            hurry: Arc::default(),
        }
    }

    /// This suspect with the knowledge of another one of the same model about what good implementations reach.
    #[must_use]
    pub fn sharing(self, reached: &Rc<Reached>) -> Self {
        Self { reached: Rc::clone(reached), ..self }
    }

    /// This suspect, if targets get the program that leads to it.
    #[must_use]
    pub fn written(self, program: Option<&'a TargetProgram>) -> Self {
        Self { program, ..self }
    }

    /// The verdict on a target after all allowances, with someone to blame; and the culprit alone, if it fails alone.
    /// `all_defined` says whether value search found values on which everything is defined.
    pub fn conclude(
        &self,
        target: &Target,
        all_defined: bool,
        exam: &Exam<'_>,
    ) -> Result<(Verdict, Option<Alone>), WorkerError> {
        self.concluded(target, all_defined, exam).map(|accused| (accused.verdict, accused.alone))
    }

    /// The result of [`Self::conclude`], with the culprit's node.
    pub(crate) fn concluded(
        &self,
        target: &Target,
        all_defined: bool,
        exam: &Exam<'_>,
    ) -> Result<Accused, WorkerError> {
        match self.settled(target, exam)? {
            Verdict::Bug(finding) => self.accuse(target, all_defined, finding),
            verdict => Ok(Accused::nobody(verdict)),
        }
    }

    /// The verdict on a finding with its culprit, after the allowances that depend on who the culprit is.
    pub(crate) fn accuse(
        &self,
        target: &Target,
        all_defined: bool,
        finding: Box<Finding>,
    ) -> Result<Accused, WorkerError> {
        let mut finding = finding;
        // If the model by itself shows the finding, its words are taken from there.
        if let (Some(_), Some(symptom)) = (self.program, self.shown_flat(target, &finding)?) {
            finding.symptom = symptom;
        }
        let blamed = self.blame(target, &finding)?;
        Ok(self.convict(blamed, all_defined, finding))
    }

    /// The verdict on a finding for which somebody, or nobody, is to blame.
    pub(crate) fn convict(&self, blamed: Blamed, all_defined: bool, mut finding: Box<Finding>) -> Accused {
        if finding.is_refusal() && self.is_allowed_refusal(&blamed, all_defined) {
            return Accused::nobody(Verdict::Incomparable(Why::Undefined));
        }
        let Blamed { culprit, node, alone, hidden_by_taps, .. } = blamed;
        (finding.culprit, finding.hidden_by_taps) = (culprit, hidden_by_taps);
        Accused { verdict: Verdict::Bug(finding), alone, node }
    }

    /// How far good implementations of a target's kind are from the model's outputs; none where the reference cannot evaluate it.
    /// Levels of one engine are of one kind.
    pub fn limits(&self, target: &Target) -> Rc<[Limits]> {
        self.reached.by(target, self.model, self.inputs)
    }

    /// How far good implementations are from certain outputs, given by their numbers.
    pub(crate) fn limits_of(&self, outputs: &[usize], target: &Target) -> Rc<[Limits]> {
        self.reached.of(outputs, target, self.model, self.inputs)
    }

    /// The model taken apart; `None` where it has too many nodes once its functions are inlined.
    pub fn isolated(&self) -> Option<&Isolated> {
        self.isolated.get_or_init(|| Isolated::of(self.model, self.inputs, self.profile)).as_ref()
    }

    pub(crate) fn has_functions(&self) -> bool {
        !self.model.functions.is_empty()
    }

    /// Who is to blame for a target's finding.
    pub fn blame(&self, target: &Target, finding: &Finding) -> Result<Blamed, WorkerError> {
        if let Some(program) = self.program
            && self.shown_flat(target, finding)?.is_none()
        {
            return self.blame_form(target, finding, program);
        }
        match self.whole(target) {
            Some(whole) => whole.blame(finding),
            None => Ok(Blamed::default()),
        }
    }

    /// The model taken apart, for a target; `None` where it has too many nodes once its functions are inlined.
    pub(crate) fn whole<'s>(&'s self, target: &'s Target) -> Option<Whole<'s>> {
        self.isolated().map(|isolated| Whole { target, isolated, memory: &self.memory })
    }

    /// The flat model with its inputs, if the target needs no more to show the finding.
    pub(crate) fn flat(&self, target: &Target, finding: &Finding) -> Result<Option<Problem>, WorkerError> {
        let is_enough = match self.program {
            Some(_) => self.shown_flat(target, finding)?.is_some(),
            None => true,
        };
        Ok(is_enough.then(|| Problem::flat(self.model.clone(), self.inputs.to_vec())))
    }
}

/// A model taken apart, and a target that gets it wrong.
#[derive(Clone, Copy)]
pub(crate) struct Whole<'a> {
    pub(crate) target: &'a Target,
    pub(crate) isolated: &'a Isolated,
    memory: &'a Memory,
}

impl Whole<'_> {
    fn blame(&self, finding: &Finding) -> Result<Blamed, WorkerError> {
        let AskedAlone { guilty, reasons, refuses_alone, .. } = self.ask_alone(finding, |_| true)?;
        let blamed = match guilty {
            Some(id) => self.alone(id),
            None => self.in_its_graph(&reasons, &finding.symptom)?,
        };
        Ok(Blamed { refuses_alone, ..blamed })
    }

    /// Who is to blame for a symptom that no operator shows alone: an operator whose wrong type is the reason, or the
    /// first operator to diverge.
    fn in_its_graph(&self, reasons: &[NodeId], symptom: &Symptom) -> Result<Blamed, WorkerError> {
        let blamed = self.reason(reasons, symptom)?;
        match symptom {
            Symptom::Mismatch(_) if blamed.culprit.is_none() => self.first_divergent(),
            _ => Ok(blamed),
        }
    }

    /// Runs alone those of the operators to be asked that a wrong output depends on.
    fn ask_alone(
        &self,
        finding: &Finding,
        is_asked: impl Fn(NodeId) -> bool,
    ) -> Result<AskedAlone, WorkerError> {
        let graph = &self.isolated.flat.graph;
        let suspects = suspects(graph, finding);
        let output = finding.worst.as_ref().map(|worst| worst.output.as_str());
        let mut best: Option<((bool, SymptomMatch), NodeId)> = None;
        let (mut reasons, mut refuses_alone) = (Vec::new(), false);
        for id in self.operators().filter(|&id| suspects[id.index()] && is_asked(id)) {
            let Some(told) = self.shows_alone(id)? else { continue };
            let (found, outcome) = &*told;
            let likeness = SymptomMatch::of(&found.symptom, &finding.symptom);
            let is_same = likeness >= SymptomMatch::Related || same_cause(&found.symptom, &finding.symptom);
            refuses_alone |= found.is_refusal() && is_same;
            if likeness == SymptomMatch::Reason {
                reasons.push(id);
            }
            if likeness < SymptomMatch::Related {
                continue;
            }
            let rank = (self.is_reached(id, outcome, output), likeness);
            if best.as_ref().is_none_or(|(best, _)| *best < rank) {
                best = Some((rank, id));
            }
            if rank == (true, SymptomMatch::Same) {
                break;
            }
        }
        let is_same = best.is_some_and(|(rank, _)| rank == (true, SymptomMatch::Same));
        Ok(AskedAlone { guilty: best.map(|(_, id)| id), is_same, reasons, refuses_alone })
    }

    /// The operators, in SSA order.
    pub(crate) fn operators(&self) -> impl Iterator<Item = NodeId> {
        let nodes = self.isolated.flat.graph.iter();
        nodes.filter(|(_, node)| matches!(node.kind, NodeKind::Operator(_))).map(|(id, _)| id)
    }

    /// What an operator shows alone.
    pub(crate) fn shows_alone(&self, id: NodeId) -> Result<AloneResult, WorkerError> {
        let key = (self.target.name(), id);
        if let Some(told) = self.memory.0.borrow().get(&key) {
            return Ok(told.clone());
        }
        let ran = self.isolated.alone(id).map(|trial| trial.run(self.target)).transpose()?;
        let told = ran.flatten().map(Rc::new);
        self.memory.0.borrow_mut().insert(key, told.clone());
        Ok(told)
    }

    /// An operator to blame that fails alone.
    pub(crate) fn alone(&self, id: NodeId) -> Blamed {
        let told = self.memory.0.borrow().get(&(self.target.name(), id)).cloned().flatten();
        let alone = self.isolated.alone(id).map(|trial| Alone {
            problem: Problem::flat(trial.model.clone(), trial.tensors()),
            shown: told.map(|told| Box::new(told.0.clone())),
        });
        Blamed {
            culprit: self.culprit(id).map(|culprit| Culprit { alone: true, ..culprit }),
            node: Some(id),
            alone,
            ..Blamed::default()
        }
    }

    /// An operator to blame that fails within the graph alone.
    pub(crate) fn in_context(&self, id: NodeId) -> Blamed {
        Blamed { culprit: self.culprit(id), node: Some(id), ..Blamed::default() }
    }

    /// An operator to blame whose wrong type makes the graph fail.
    pub(crate) fn of_wrong_type(&self, id: NodeId) -> Blamed {
        let culprit = self.culprit(id).map(|culprit| Culprit { is_reason: true, ..culprit });
        Blamed { culprit, ..self.in_context(id) }
    }

    fn culprit(&self, id: NodeId) -> Option<Culprit> {
        let graph = &self.isolated.flat.graph;
        match &graph.node(id).kind {
            NodeKind::Operator(op) => Some(culprit(op, graph, id)),
            _ => None,
        }
    }
}

/// What operators show when each runs alone.
struct AskedAlone {
    /// The operator whose fault is most like the finding.
    guilty: Option<NodeId>,
    /// Whether that operator shows exactly the same, and the wrong output depends on it.
    is_same: bool,
    /// The nodes whose fault may be the reason of the finding.
    reasons: Vec<NodeId>,
    /// Whether one refuses its operands for the same cause.
    refuses_alone: bool,
}

/// Who is to blame for a finding.
pub fn blame(
    target: &Target,
    model: &Model,
    inputs: &[Tensor],
    finding: &Finding,
) -> Result<Blamed, WorkerError> {
    Suspect::new(model, inputs, target.profile).blame(target, finding)
}

/// For each node, whether the wrong output depends on it. True for all nodes if it is not known which output
/// is wrong.
fn suspects(graph: &Graph, finding: &Finding) -> Vec<bool> {
    let off = finding.worst.as_ref().and_then(|w| graph.outputs.iter().find(|o| o.name == w.output));
    let Some(output) = off else { return vec![true; graph.nodes.len()] };
    ir::cone::members(graph, output.value)
}

/// An operator as the culprit within its graph.
pub(crate) fn culprit(op: &Op, graph: &Graph, id: NodeId) -> Culprit {
    let types = graph.types(&graph.node(id).inputs);
    Culprit::in_context(ir::Operation::name(op), &types)
}

#[cfg(test)]
mod tests {
    use ir::{DType, Type};
    use oracles::{ErrorShape, Worst};

    use super::*;

    #[test]
    fn a_smaller_case_has_the_name_of_the_finding_and_numbers_of_its_own() {
        let finding = |detail: &str, index: usize| {
            let verdict = Verdict::bug("e", "none", Symptom::Mismatch(ErrorShape::Gross), detail.to_owned());
            let Verdict::Bug(finding) = verdict else { panic!("{verdict:?}") };
            let [output, got, expected, bound] = ["y", "2", "1", "0"].map(str::to_owned);
            let worst =
                Worst { output, index, got, expected, bound, besides: None, mismatches: 1, elements: 8 };
            Finding { worst: Some(worst), culprit: Some(Culprit::alone("Conv", &[])), ..*finding }
        };
        let mut graph = Graph::new();
        let x = graph.variable("x", Type::new(DType::F32, [1]));
        graph.output("y", x);
        let problem = Problem::flat(Model::new(21, graph), Vec::new());
        let shown = Finding { culprit: None, ..finding("element 0", 0) };
        let whole = finding("element 7 of the whole", 7);
        let alone = Alone { problem, shown: Some(Box::new(shown)) };
        let smaller = alone.smaller(&whole).finding;
        assert_eq!((smaller.detail.as_str(), smaller.worst.map(|worst| worst.index)), ("element 0", Some(0)));
        assert_eq!(smaller.culprit, whole.culprit);
    }
}
