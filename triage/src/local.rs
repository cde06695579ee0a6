//! Judges each operator of a model by itself, on the target's own values for its operands.
//!
//! In a deep network, bounds that are carried through all operators end up wider than the values: then they say nothing
//! about the outputs. But a target that exposes the values inside the graph (each as an output) can be asked about one
//! step at a time: given these operands, is that the result? Bounds then start anew from exact operands at each
//! operator, and an error is seen where it is made.
//!
//! An engine that exposes every value need not fuse operators. So a fault of a fusion may not be seen; the report says
//! whether the outputs differ from those without taps. An engine may also compute two operators as one, and the value
//! between them separately. If it is right about the second operator alone, the two are judged together.

mod as_written;
mod told;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ir::inline::{Inlined, inlined};
use ir::{Datum, Interface, NodeId, NodeKind, Tensor};
use onnx::Bytes;
use onnx::import::{Imported, Origin, Path as BodyPath};
use onnx::program::Program;
use ops::Model;
use oracles::Verdict;
use serde::Serialize;
use worker::{Outcome, WorkerError};

use crate::allowance::allowed;
use crate::composite::{self, Composite, composites_with};
use crate::folder::About;
use crate::forms;
use crate::idle::NotRun;
use crate::inputs::{CaseInputs, Dear, inputs};
use crate::invent::{DrawnInputs, NoInputs, UserInputs};
use crate::stored;
use harness::isolate::Isolated;
use harness::reference::Large;
use harness::target::Target;
use harness::trial::Trial;
use harness::{case, reference, threads};
use interp::{Bounded, Comparison, Taps};
use told::TappedValues;

/// A model with inputs, to be judged operator by operator.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What the model comes to for the inputs.
    pub model: Model,
    /// The values of its variables, in order.
    pub inputs: Vec<Tensor>,
    /// The model as it is written.
    written: Bytes,
    /// The model as it is written, without the defaults that other values override; `None` if it has no such defaults.
    plainer: Option<Bytes>,
    /// The nodes of the model that targets do not see, because import wrote them for a composite operator.
    pub(crate) unseen: BTreeSet<NodeId>,
    /// What its inputs and outputs are made of.
    pub(crate) interface: Interface,
    /// The program that leads to the model, with the values of its inputs.
    program: Program,
    known: BTreeMap<String, Datum>,
    /// Where each node of the model comes from.
    origins: Vec<Origin>,
    /// The nodes of the program that have become other operators in the model, by their bodies and positions.
    written_out: BTreeSet<(BodyPath, usize)>,
    /// The program's composite operators, each alone, once they were needed.
    composites: OnceCell<Vec<Composite>>,
    /// The operators that this program does not know. Nothing is said about them, nor about outputs that depend on
    /// them. Numbers stand for their results, and operators that read these are judged on the numbers.
    pub unknown: BTreeSet<String>,
    /// The parts that did not run for these inputs. Nothing is said about the operators in them.
    pub not_run: Vec<NotRun>,
    /// The sizes that the model leaves open and that were drawn.
    pub drawn: DrawnInputs,
    /// What is wrong with the shapes that the model declares, if they were taken out of it.
    pub misdeclared: Option<String>,
    /// Whether the reference may take more than is in proportion to the model's weights.
    pub(crate) large: Large,
}

/// Why a model cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// The model has no inputs, or cannot be read.
    #[error(transparent)]
    Inputs(#[from] NoInputs),
    /// The case's description of itself cannot be read.
    #[error("case.json cannot be read: {0}")]
    About(#[from] serde_json::Error),
    /// The inputs of the model are other ones.
    #[error("the inputs do not fit the model: {0}")]
    Bind(String),
    /// A worker cannot be started.
    #[error(transparent)]
    Worker(#[from] WorkerError),
}

impl From<onnx::Error> for LocalError {
    fn from(error: onnx::Error) -> Self {
        Self::Inputs(NoInputs::Model(error))
    }
}

impl Subject {
    /// The model of a saved case with its first data set, or a lone model with inputs that are found for it; given
    /// inputs take the place of both.
    pub fn read(path: &Path, given: &UserInputs, seed: u64) -> Result<Self, LocalError> {
        let mut folder = stored::read(path)?;
        // Nothing of it is used here, but a broken case is broken for every command.
        About::read(&folder)?;
        let CaseInputs { sets, drawn, misdeclared, .. } = inputs(&mut folder, given, seed, Dear::Draw)?;
        let first = sets.into_iter().next().unwrap_or_default();
        let known = first.inputs.into_iter().map(|input| (input.name, input.datum)).collect();
        let program = folder.decode().and_then(Program::read)?;
        let plainer = forms::without_overridden_defaults(&program, &known);
        let plainer = plainer.map(|program| onnx::encode(&program.write()).into());
        let imported = case::trace_into_calls(&program, &known)?;
        let inputs = reference::bind(&imported.model, &known).map_err(LocalError::Bind)?;
        let unseen = imported.unseen();
        let not_run = NotRun::all(&program, &imported.ran);
        let Imported { model, interface, origins, unknown, .. } = imported;
        let (written, composites) = (folder.model, OnceCell::new());
        let written_out = as_written::written_out(&program, &model, &origins);
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
            written_out,
            composites,
            unknown,
            not_run,
            drawn,
            misdeclared,
            large: given.large,
        })
    }

    /// The model as a target takes it.
    pub(crate) fn written_for(&self, target: &Target) -> &Bytes {
        self.plainer.as_ref().filter(|_| !target.description().overrides_defaults).unwrap_or(&self.written)
    }

    /// How a target does on each operator.
    pub fn on(&self, target: &Target) -> Result<Local, LocalError> {
        let mut local = of_flat(target, &self.model, &self.inputs, self.large)?;
        let bearable = reference::bearable(&self.model, Taps::All, self.large);
        let composites = if bearable.is_ok() { self.composites() } else { &[] };
        let is_inside = |origin: &Origin| {
            let mut asked = composites.iter();
            self.is_written_out(origin) && asked.any(|one| one.nodes.contains(&origin.outermost()))
        };
        local.operators.retain(|judged| !is_inside(&self.origins[judged.node as usize]));
        local.operators = self.as_written(local.operators, bearable.as_ref().err());
        if bearable.is_ok() {
            self.ask_untold(target, &mut local.operators)?;
        }
        for composite in composites {
            let is_of = |origin: &Origin| composite.nodes.contains(&origin.outermost());
            let first = self.origins.iter().position(is_of).unwrap_or_default();
            local.operators.push(self.alone(target, composite, first as u32)?);
        }
        local.operators.sort_by_key(|judged| judged.node);
        Ok(local)
    }

    /// The program's composite operators, Constant nodes aside: the model contains only their expansions.
    fn composites(&self) -> &[Composite] {
        self.composites.get_or_init(|| {
            let is_written_out = |at: usize| self.written_out.contains(&(BodyPath::default(), at));
            // Results that nobody reads are no part of the model.
            let read = composite::read(&self.program);
            let mut all =
                composites_with(&self.program, &self.known, &is_written_out, &|value| read.contains(&value));
            // An unknown operator is written out as numbers that stand for its result.
            let is_unknown =
                |at: &usize| self.unknown.contains(&self.program.main.body.nodes[*at].operator());
            all.retain(|composite| composite.name != "Constant" && !composite.nodes.iter().any(is_unknown));
            all
        })
    }

    /// Runs each `Untold` operator by itself, on the reference's operands.
    fn ask_untold(&self, target: &Target, operators: &mut [Judged]) -> Result<(), LocalError> {
        let is_open = |judged: &&mut Judged| {
            judged.standing == Standing::Untold && !self.is_written_out(&self.origins[judged.node as usize])
        };
        if !operators.iter_mut().any(|judged| is_open(&judged)) {
            return Ok(());
        }
        let Some(isolated) = Isolated::of(&self.model, &self.inputs, target.profile) else { return Ok(()) };
        for judged in operators.iter_mut().filter(is_open) {
            let Some(trial) = isolated.alone(NodeId(judged.node)) else { continue };
            let outcome = trial.outcome(target)?;
            if let Outcome::Unsupported { why } = &outcome {
                judged.why += &format!(", and alone it lacks the operator: {why}");
                continue;
            }
            let found = assessed(trial, target, &outcome)?.alone();
            *judged = found.of(judged.node, judged.called.clone(), &judged.op, judged.types.clone());
        }
        Ok(())
    }

    /// The judgement of a composite operator alone, on the reference's operands, with the first node of its expansion.
    fn alone(&self, target: &Target, composite: &Composite, first: u32) -> Result<Judged, LocalError> {
        let Composite { nodes, name, problem, .. } = composite;
        let graph = &problem.model.graph;
        let interface = problem.interface();
        let types = interface.outputs.iter().map(|wanted| {
            let tensor = graph.outputs.iter().find(|output| output.name == wanted.name);
            tensor.map_or_else(|| wanted.kind.to_string(), |output| graph.ty(output.value).to_string())
        });
        let found = match problem.trial(target.profile) {
            Ok(trial) => match trial.outcome(target)? {
                Outcome::Unsupported { why } => OperatorResult::without(Standing::Untold, &why),
                outcome => assessed(&trial, target, &outcome)?.alone(),
            },
            Err(_) => OperatorResult::without(Standing::Open, "it is not defined on these operands"),
        };
        let written = || nodes.iter().map(|&node| &self.program.main.body.nodes[node]);
        let called = Called {
            name: written()
                .map(|node| node.rest.name())
                .find(|name| !name.is_empty())
                .unwrap_or_default()
                .to_owned(),
            value: written()
                .next_back()
                .and_then(|node| self.program.main.result(node))
                .unwrap_or_default()
                .to_owned(),
        };
        Ok(found.of(first, called, name, types.collect()))
    }
}

/// How a target does on each operator of a model.
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
    /// What the model calls it.
    #[serde(flatten)]
    pub called: Called,
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

/// The names that a model has for an operator, so that the author of the model finds it.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Called {
    /// The node's name; empty if it has none, or it is not known.
    pub name: String,
    /// The name of its first result; empty inside of functions, and if it is not known.
    pub value: String,
}

impl Called {
    /// The names of the program's node that something comes from.
    fn of(origin: &Origin, program: &Program) -> Self {
        Self { name: origin.name(program), value: origin.value(program).to_owned() }
    }
}

/// Says in `why` that the operator was run alone, because the target did not expose its values.
const ALONE: &str = "alone, on the operands that it should have";

/// Says in `why` that the operator was judged together with others.
const JOINED: &str = "as one with the operators that give its operands";

/// How the result of an operator is, given the operands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The result is right.
    Right,
    /// The target does not expose the operands or the result, and cannot be asked about the operator alone.
    Untold,
    /// The reference may not spend as much as the operator takes.
    Dear,
    /// Nothing can be said: the operator is undefined on these operands, or the right result is undecidable.
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

    /// Whether it is known for at least one operator whether its result is right.
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
    of_flat(target, &Model::new(model.opset, graph), inputs, Large::Refused).map(Some)
}

/// Judges each operator of a valid model without functions.
fn of_flat(target: &Target, flat: &Model, inputs: &[Tensor], large: Large) -> Result<Local, WorkerError> {
    let told = TappedValues::by(target, flat, inputs, large)?;
    let operators = flat.graph.iter().filter(|(_, node)| matches!(node.kind, NodeKind::Operator(_)));
    let operators: Vec<NodeId> = operators.map(|(id, _)| id).collect();
    let judged = threads::each(threads::all(), &operators, |&id| told.judge(target, flat, id));
    let mut operators = judged.into_iter().collect::<Result<Vec<_>, _>>()?;
    for judged in operators.iter_mut().filter(|judged| judged.standing == Standing::Wrong) {
        if let Some(joined) = told.joined(target, flat, NodeId(judged.node))? {
            *judged = joined.of(judged.node, Called::default(), &judged.op, judged.types.clone());
        }
    }
    let changed_by_taps = told.differs(target, flat, inputs)?;
    Ok(Local { target: target.name(), operators, changed_by_taps })
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
    /// This result, marked as that of the operator alone.
    fn alone(self) -> Self {
        let why = if self.why.is_empty() { ALONE.to_owned() } else { format!("{ALONE}: {}", self.why) };
        Self { why, ..self }
    }

    /// What was found, of an operator.
    fn of(self, node: u32, called: Called, op: &str, types: Vec<String>) -> Judged {
        let Self { standing, why, used, elements, undecided } = self;
        Judged { node, called, op: op.to_owned(), types, standing, why, used, elements, undecided }
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
    trial.evaluated.outputs().filter_map(of).collect()
}

/// The result of an operator alone, after all allowances.
fn assessed(trial: &Trial, target: &Target, outcome: &Outcome) -> Result<OperatorResult, WorkerError> {
    let assessment = trial.assess(target, outcome);
    // One that is wrong ends where the first output is.
    let of_all = matches!(assessment.verdict, Verdict::Bug(_)).then(|| compared(trial, target, outcome));
    let all = of_all.as_ref().unwrap_or(&assessment.comparisons);
    let used = all.iter().map(|comparison| comparison.used).fold(0.0, f64::max);
    let elements = all.iter().map(|comparison| comparison.elements).sum();
    let undecided = elements - all.iter().map(Comparison::compared).sum::<usize>();
    let (standing, why) = match allowed(trial, target, &BTreeSet::new(), outcome)? {
        Verdict::Bug(finding) if finding.symptom.is_hang() => {
            (Standing::Wrong, format!("{}: {}", finding.detail, target.patience()))
        }
        Verdict::Bug(finding) => (Standing::Wrong, finding.detail),
        Verdict::Incomparable(why) => (Standing::Open, why.to_string()),
        Verdict::Pass => match trial.doubts(target, outcome, &assessment).first() {
            Some(doubt) => (Standing::Suspect, doubt.to_string()),
            None => (Standing::Right, String::new()),
        },
    };
    Ok(OperatorResult { standing, why, used, elements, undecided })
}
