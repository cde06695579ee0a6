//! Each operator of a model judged by itself, on the operands that a target itself has for it.
//!
//! Bounds that are carried through a deep network end up wider than its values: of its outputs they say nothing then. But a
//! target that tells its values within the graph (every one an output) can be asked about one step at a time: given these operands,
//! is that the result? Bounds start anew from exact operands at each, and an error is seen where it is made.
//!
//! An engine that tells every value cannot fuse operators, so what only a fusion gets wrong is not seen: the report says whether the
//! outputs are other ones than without taps.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ir::inline::{Inlined, inlined};
use ir::{Datum, Interface, NodeId, NodeKind, Operation, Tensor, Value};
use onnx::Bytes;
use onnx::import::{Imported, Origin};
use onnx::program::Program;
use ops::Model;
use oracles::Verdict;
use serde::Serialize;
use worker::{Outcome, WorkerError};

use crate::composite::{Composite, composites};
use crate::forms;
use crate::invent::{DrawnInputs, Invented, NoInputs, UserInputs, invent_any};
use crate::stored;
use crate::tapped::{self, Parts, Tapped};
use harness::isolate::{Isolated, Trial, isolate_on};
use harness::reference::Means;
use harness::target::Target;
use harness::threads::Share;
use harness::{case, reference, threads};
use interp::{Bounded, Comparison, Taps};

/// A model with inputs, to be judged operator by operator.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What the model comes to for the inputs.
    pub model: Model,
    /// The values of its variables, in order.
    pub inputs: Vec<Tensor>,
    /// The model as it is written.
    written: Bytes,
    /// The model as it is written, without defaults that other values override, if it has any.
    plainer: Option<Bytes>,
    /// The nodes of the model that targets do not see, as their operators are written out where they are read.
    pub(crate) unseen: BTreeSet<NodeId>,
    /// What its inputs and outputs are made of.
    pub(crate) interface: Interface,
    /// The program that leads to the model, with the values of its inputs.
    program: Program,
    known: BTreeMap<String, Datum>,
    /// Where each node of the model comes from, where it has no functions.
    origins: Vec<Origin>,
    /// The program's composite operators, each alone, once they were needed.
    composites: OnceCell<Vec<Composite>>,
    /// The operators that nobody here knows. Nothing is said of them, and end to end nothing of what follows from them; what reads their
    /// results is judged on numbers that stand for these.
    pub unknown: BTreeSet<String>,
    /// The sizes that the model leaves open and that were drawn.
    pub drawn: DrawnInputs,
    /// What is wrong with the shapes that the model declares, where they were left out of it.
    pub misdeclared: Option<String>,
}

/// Why a model cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// The model has no inputs, or cannot be read.
    #[error(transparent)]
    Inputs(#[from] NoInputs),
    /// The inputs of the model are other ones.
    #[error("the inputs do not fit the model: {0}")]
    Bind(String),
    /// The model cannot be written out.
    #[error("written out, with its functions, it has too many nodes")]
    Functions,
    /// A worker cannot be started.
    #[error(transparent)]
    Worker(#[from] WorkerError),
}

impl From<onnx::Error> for LocalError {
    fn from(error: onnx::Error) -> Self {
        Self::Inputs(NoInputs::Model(error))
    }
}

/// The node that gives what stands for the result of an operator that nobody here knows.
const STANDS_IN: &str = "Identity";

impl Subject {
    /// The model of a saved case with its first data set, or a lone model with inputs that are given or found.
    pub fn read(path: &Path, given: &UserInputs, seed: u64) -> Result<Self, LocalError> {
        let mut folder = stored::read(path)?;
        let Invented { set, drawn, misdeclared } = match folder.sets.first() {
            Some(set) => Invented { set: set.clone(), ..Invented::default() },
            None => invent_any(&mut folder, given, seed)?,
        };
        let known = set.inputs.into_iter().map(|input| (input.name, input.datum)).collect();
        let program = folder.decode().and_then(Program::read)?;
        let plainer = forms::without_overridden_defaults(&program, &known);
        let plainer = plainer.map(|program| onnx::encode(&program.write()).into());
        let imported = case::trace(&program, &known)?;
        let inputs = reference::bind(&imported.model, &known).map_err(LocalError::Bind)?;
        let unseen = imported.unseen();
        let Imported { model, interface, origins, unknown, .. } = imported;
        let (written, composites) = (folder.model, OnceCell::new());
        Ok(Self {
            model,
            inputs,
            written,
            plainer,
            unseen,
            interface,
            program,
            known,
            origins,
            composites,
            unknown,
            drawn,
            misdeclared,
        })
    }

    /// The model as a target takes it.
    pub(crate) fn written_for(&self, target: &Target) -> &Bytes {
        self.plainer.as_ref().filter(|_| !target.description().overrides_defaults).unwrap_or(&self.written)
    }

    /// What a target makes of each operator.
    pub fn on(&self, target: &Target) -> Result<Local, LocalError> {
        let Inlined { graph, from } = inlined(&self.model).ok_or(LocalError::Functions)?;
        let mut local = of_flat(target, &Model::new(self.model.opset, graph), &self.inputs)?;
        let origins: Vec<&Origin> = from.iter().map(|id| &self.origins[id.index()]).collect();
        let is_bearable = reference::bearable(&self.model, Taps::All).is_ok();
        let composites = if is_bearable { self.composites() } else { &[] };
        let is_inside = |origin: &Origin| {
            origin.is_inner && composites.iter().any(|one| one.nodes.contains(&origin.outermost()))
        };
        local.operators.retain(|judged| !is_inside(origins[judged.node as usize]));
        for judged in &mut local.operators {
            judged.name = self.name(origins[judged.node as usize].outermost());
        }
        self.name_unknown(&origins, &mut local.operators);
        if is_bearable {
            self.ask_untold(target, &mut local.operators)?;
        }
        for composite in composites {
            let is_of = |origin: &&Origin| composite.nodes.contains(&origin.outermost());
            let first = origins.iter().position(is_of).unwrap_or_default();
            local.operators.push(self.alone(target, composite, first as u32)?);
        }
        local.operators.sort_by_key(|judged| judged.node);
        Ok(local)
    }

    /// Renames the stand-ins of operators that nobody here knows: such an operator is listed once, by its own
    /// name and as open. If several nodes stand for one operator, the last of them gives its result.
    fn name_unknown(&self, origins: &[&Origin], operators: &mut Vec<Judged>) {
        let unknown = |judged: &Judged| {
            let origin = origins[judged.node as usize];
            let node = self.program.main.body.nodes.get(origin.outermost()).filter(|_| origin.is_inner)?;
            self.unknown.get(&node.operator()).cloned()
        };
        operators.retain(|judged| judged.op == STANDS_IN || unknown(judged).is_none());
        for judged in operators {
            if let Some(op) = unknown(judged) {
                let why = "nobody here knows it: numbers stand for its result".to_owned();
                (judged.op, judged.standing, judged.why, judged.used) = (op, Standing::Open, why, 0.0);
            }
        }
    }

    /// The program's composite operators, Constant nodes aside: the model contains only their expansions.
    fn composites(&self) -> &[Composite] {
        self.composites.get_or_init(|| {
            let mut all = composites(&self.program, &self.known);
            all.retain(|composite| composite.name != "Constant");
            all
        })
    }

    /// Runs each `Untold` operator by itself, on the reference's operands.
    fn ask_untold(&self, target: &Target, operators: &mut [Judged]) -> Result<(), LocalError> {
        if operators.iter().all(|judged| judged.standing != Standing::Untold) {
            return Ok(());
        }
        let Some(isolated) = Isolated::of(&self.model, &self.inputs, target.profile) else { return Ok(()) };
        for judged in operators.iter_mut().filter(|judged| judged.standing == Standing::Untold) {
            let Some(trial) = isolated.alone(NodeId(judged.node)) else { continue };
            let outcome = trial.outcome(target)?;
            if let Outcome::Unsupported { why } = &outcome {
                judged.why += &format!(", and alone it lacks the operator: {why}");
                continue;
            }
            let found = assessed(trial, target, &outcome).alone();
            *judged = found.of(judged.node, judged.name.clone(), &judged.op, judged.types.clone());
        }
        Ok(())
    }

    /// What the program calls a node of its main graph.
    fn name(&self, node: usize) -> String {
        self.program.main.body.nodes.get(node).map_or_else(String::new, |node| node.rest.name().to_owned())
    }

    /// What a target makes of a composite operator alone, on the reference's operands, with the first node of its expansion.
    fn alone(&self, target: &Target, composite: &Composite, first: u32) -> Result<Judged, LocalError> {
        let Composite { nodes, name, problem, .. } = composite;
        let types = problem.model.graph.outputs.iter().map(|output| problem.model.graph.ty(output.value));
        let found = match problem.trial(target.profile) {
            Some(trial) => assessed(&trial, target, &trial.outcome(target)?).alone(),
            None => OperatorResult::without(Standing::Open, "it is not defined on these operands"),
        };
        let name_of = nodes.iter().map(|&node| self.name(node)).find(|name| !name.is_empty());
        Ok(found.of(first, name_of.unwrap_or_default(), name, types.map(ToString::to_string).collect()))
    }
}

/// What a target makes of each operator of a model.
#[derive(Clone, Debug, Serialize)]
pub struct Local {
    /// The target.
    pub target: String,
    /// The operators, in SSA order, functions inlined. A composite operator has the place of the first node
    /// of its expansion, and stands for all of it.
    pub operators: Vec<Judged>,
    /// Whether the target's outputs differ from those of a run without taps.
    pub changed_by_taps: bool,
}

/// What a target makes of an operator.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// The node of the flat graph.
    pub node: u32,
    /// The node's name in the model; empty if not known.
    pub name: String,
    /// The operator.
    pub op: String,
    /// The types of its results.
    pub types: Vec<String>,
    /// How it stands.
    pub standing: Standing,
    /// Why, where it is not right.
    pub why: String,
    /// The largest share of its bound that an element's error is; 0 where all are exact.
    pub used: f64,
    /// How many elements the reference was asked about.
    pub elements: usize,
    /// How many of these elements the reference leaves open: implementations may disagree about them, or the
    /// standard leaves them undefined.
    pub undecided: usize,
}

/// Says in `why` that the operator was run alone, because the target did not expose its values.
const ALONE: &str = "alone, on the operands that it should have";

/// How a result stands beside the operands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The result is right.
    Right,
    /// The target does not tell its operands, or its result, and cannot be asked about it alone.
    Untold,
    /// The reference may not spend as much as the operator takes.
    Dear,
    /// Nothing can be said: the operator is not defined on these operands, or what is right is undecidable.
    Open,
    /// The result is right, and further off than good implementations are.
    Suspect,
    /// The result is wrong.
    Wrong,
}

impl Standing {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Untold => "untold",
            Self::Dear => "too large",
            Self::Open => "open",
            Self::Suspect => "suspect",
            Self::Wrong => "wrong",
        }
    }
}

impl Local {
    /// How many operators stand so.
    pub fn count(&self, standing: Standing) -> usize {
        self.operators.iter().filter(|judged| judged.standing == standing).count()
    }

    /// Whether there is an operator of which it is known whether its result is right.
    pub fn is_told(&self) -> bool {
        [Standing::Right, Standing::Suspect, Standing::Wrong].iter().any(|&standing| self.count(standing) > 0)
    }

    /// The first operator, in SSA order, that is wrong.
    pub fn first_wrong(&self) -> Option<&Judged> {
        self.operators.iter().find(|judged| judged.standing == Standing::Wrong)
    }
}

/// Judges each operator of a valid model. `None` where it has too many nodes once its functions are inlined.
pub fn local(target: &Target, model: &Model, inputs: &[Tensor]) -> Result<Option<Local>, WorkerError> {
    let Some(Inlined { graph, .. }) = inlined(model) else { return Ok(None) };
    of_flat(target, &Model::new(model.opset, graph), inputs).map(Some)
}

/// Judges each operator of a valid model without functions.
fn of_flat(target: &Target, flat: &Model, inputs: &[Tensor]) -> Result<Local, WorkerError> {
    let told = TappedValues::by(target, flat, inputs)?;
    let operators = flat.graph.iter().filter(|(_, node)| matches!(node.kind, NodeKind::Operator(_)));
    let operators: Vec<NodeId> = operators.map(|(id, _)| id).collect();
    let operators = threads::each(threads::all(), &operators, |&id| told.judge(target, flat, id));
    let changed_by_taps = told.differs(target, flat, inputs)?;
    Ok(Local { target: target.name(), operators, changed_by_taps })
}

/// The values of a graph, as a target has them.
struct TappedValues {
    values: BTreeMap<Value, Tensor>,
    /// What the reference may take for each operator.
    means: Means,
    /// The elements that may be in use at one time by all threads.
    elements: Share,
}

impl TappedValues {
    fn by(target: &Target, flat: &Model, inputs: &[Tensor]) -> Result<Self, WorkerError> {
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
        let means = Means::of(flat);
        Ok(Self { values, means, elements: Share::new(means.elements()) })
    }

    /// How the result of an operator stands.
    fn judge(&self, target: &Target, flat: &Model, id: NodeId) -> Judged {
        let node = flat.graph.node(id);
        let op = match &node.kind {
            NodeKind::Operator(op) => op.name().to_owned(),
            NodeKind::Variable { .. } | NodeKind::Constant(_) | NodeKind::Call(_) => String::new(),
        };
        let types = node.outputs.iter().map(ToString::to_string).collect();
        self.found(target, flat, id).of(id.0, String::new(), &op, types)
    }

    fn found(&self, target: &Target, flat: &Model, id: NodeId) -> OperatorResult {
        let untold = |why: &str| OperatorResult::without(Standing::Untold, why);
        let ports = 0..flat.graph.node(id).outputs.len();
        let results: Option<Vec<(String, Tensor)>> = ports
            .map(|port| Some((format!("y{port}"), self.values.get(&Value::new(id, port))?.clone())))
            .collect();
        let Some(results) = results else { return untold("its result is not told") };
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
            Err(why) => return OperatorResult::without(Standing::Dear, &why),
        };
        let Some(trial) = Trial::of(model, inputs, target.profile) else {
            return OperatorResult::without(Standing::Open, "it is not defined on these operands");
        };
        assessed(&trial, target, &Outcome::Outputs(results))
    }

    /// Whether the outputs differ from those of the graph as it is.
    fn differs(&self, target: &Target, flat: &Model, inputs: &[Tensor]) -> Result<bool, WorkerError> {
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

/// What is found of an operator.
struct OperatorResult {
    standing: Standing,
    why: String,
    used: f64,
    elements: usize,
    undecided: usize,
}

impl OperatorResult {
    /// What was found, told as that of the operator alone.
    fn alone(self) -> Self {
        let why = if self.why.is_empty() { ALONE.to_owned() } else { format!("{ALONE}: {}", self.why) };
        Self { why, ..self }
    }

    /// What was found, of an operator.
    fn of(self, node: u32, name: String, op: &str, types: Vec<String>) -> Judged {
        let Self { standing, why, used, elements, undecided } = self;
        Judged { node, name, op: op.to_owned(), types, standing, why, used, elements, undecided }
    }

    /// Nothing of its elements.
    fn without(standing: Standing, why: &str) -> Self {
        Self { standing, why: why.to_owned(), used: 0.0, elements: 0, undecided: 0 }
    }
}

/// Every output that a target gives in its type, compared.
fn compared(trial: &Trial, target: &Target, outcome: &Outcome) -> Vec<Comparison> {
    let Outcome::Outputs(outputs) = outcome else { return Vec::new() };
    let given = |name: &str| outputs.iter().find(|(given, _)| given == name).map(|(_, tensor)| tensor);
    let of =
        |(name, expected): (&str, &Bounded)| interp::compare(expected, given(name)?, target.profile).ok();
    trial.outputs().filter_map(of).collect()
}

fn assessed(trial: &Trial, target: &Target, outcome: &Outcome) -> OperatorResult {
    let assessment = trial.assess(target, outcome);
    // One that is wrong ends where the first output is.
    let of_all = matches!(assessment.verdict, Verdict::Bug(_)).then(|| compared(trial, target, outcome));
    let all = of_all.as_ref().unwrap_or(&assessment.comparisons);
    let used = all.iter().map(|comparison| comparison.used).fold(0.0, f64::max);
    let elements = all.iter().map(|comparison| comparison.elements).sum();
    let undecided = elements - all.iter().map(Comparison::compared).sum::<usize>();
    let (standing, why) = match &assessment.verdict {
        Verdict::Bug(finding) if let Some(why) = target.declines(&trial.model, &BTreeSet::new()) => {
            (Standing::Open, format!("{why}: {}", finding.detail))
        }
        Verdict::Bug(finding) if finding.is_refusal() && !trial.is_defined() => (
            Standing::Open,
            format!("it is undefined on these operands, and may be refused: {}", finding.detail),
        ),
        Verdict::Bug(finding) if finding.symptom.is_hang() => {
            (Standing::Wrong, format!("{}: {}", finding.detail, target.patience()))
        }
        Verdict::Bug(finding) => (Standing::Wrong, finding.detail.clone()),
        Verdict::Incomparable(why) => (Standing::Open, why.to_string()),
        Verdict::Pass => match trial.doubts(target, outcome, &assessment).first() {
            Some(doubt) => (Standing::Suspect, doubt.to_string()),
            None => (Standing::Right, String::new()),
        },
    };
    OperatorResult { standing, why, used, elements, undecided }
}
