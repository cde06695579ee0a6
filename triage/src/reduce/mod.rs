//! Reducing: the smallest case that shows the same finding.
//!
//! | module | holds |
//! |---|---|
//! | `problem` | a model with inputs |
//! | `aim` | which finding is reduced |
//! | `size` | how large it is, and the order of sizes |
//! | `key` | its content in short |
//! | `interest` | whether a problem still shows the finding |
//! | `rewrite` | changing a problem: types follow, what is unused goes |
//! | `passes` | smaller candidates, a file per way to make them |
//! | `driver` | going down until nothing gets smaller |
//! | `name` | what a finding is called: what is left of its case |
//! | `core` | the operators that are left, in words |
//! | `scalar` | elements of tensors, and parts of tensors |
//!
//! A pass does not know which problems are interesting, and nothing but the passes knows how to make a problem smaller.
//! The driver takes a pass's candidates, drops those that are not smaller in the one order of sizes, and asks whether
//! the rest show the finding. Reducing a result once more goes on where the budget ended.

mod aim;
mod core;
mod driver;
mod interest;
mod key;
mod name;
mod passes;
mod problem;
mod rewrite;
mod scalar;
mod size;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use ir::{DType, Datum, Tensor, Type};
use onnx::CaseFolder;
use onnx::program::Program;
use ops::{Graph, Model};
use oracles::Finding;
use serde::Serialize;
use worker::WorkerError;

pub use driver::{Budget, OnBest, Stop};
pub use interest::Shown;
pub(crate) use interest::{Inquiry, ProblemRun, Tame, run};
pub(crate) use name::{Named, Start, name};
pub(crate) use passes::neighbours;
pub use problem::Problem;
pub(crate) use rewrite::cut_out;
pub use size::Size;

use crate::folder::{self, About};
use crate::inputs::{Dear, inputs};
use crate::invent::{NoInputs, UserInputs};
use crate::stored;
use aim::{Aim, is_it, is_of};
use driver::{Descent, Driver};
use harness::hurry::Hurry;
use harness::target::Target;
use interest::{Interest, Interesting};
use size::Measure;

/// The suffix of the folder of a reduced case. The rest of the name is that of the original case's folder.
pub const SUFFIX: &str = "-reduced";

/// What a reduction did.
#[derive(Clone, Debug, Serialize)]
pub struct Reduced {
    /// The target that shows the finding: backend and level.
    pub target: String,
    /// The target as a command to be pasted names it.
    pub on: String,
    /// The operators before.
    pub nodes_before: usize,
    /// The operators after.
    pub nodes_after: usize,
    /// The elements of all values before.
    pub elements_before: u64,
    /// The elements of all values after.
    pub elements_after: u64,
    /// The finding's signature, before and after.
    pub signature: String,
    /// What the result shows, in words.
    pub detail: String,
    /// Whether no pass makes the case smaller. If not, the budget ended first.
    pub minimal: bool,
    /// Whether a new process shows the result. If not, it does not show the whole case either: the finding depends on
    /// what earlier cases leave behind in a process.
    pub steady: bool,
    /// How many candidates were run.
    pub tries: u64,
    /// How long it took.
    pub seconds: f64,
}

/// Why a case cannot be reduced.
#[derive(Debug, thiserror::Error)]
pub enum ReduceError {
    /// The case cannot be read.
    #[error(transparent)]
    Read(onnx::Error),
    /// The case has no inputs, or no reference.
    #[error("the case cannot be used: {0}")]
    Unusable(String),
    /// The given inputs do not belong to the case.
    #[error("{0}")]
    Given(String),
    /// There is nothing to reduce.
    #[error("there is no finding to reduce: {}", showed.join("; "))]
    NoFinding {
        /// What each target showed instead, for each data set.
        showed: Vec<String>,
        /// The target that showed the case's finding, as a command to be pasted names it, if it is one that was not
        /// asked: the model that an engine has written.
        shown_by: Option<String>,
    },
    /// All answers are right, but further off than good implementations are.
    #[error(
        "there is no finding to reduce: on {target}, the outputs are not known to be wrong, and suspect ({why}); what is suspect is not reduced"
    )]
    Suspect {
        /// The target.
        target: String,
        /// The target as a command to be pasted names it.
        on: String,
        /// What is suspect.
        why: String,
    },
    /// A graph without operators shows the same.
    #[error(
        "{target} shows the same on a graph without operators, so the case has nothing to do with it: {detail}"
    )]
    AnyGraph {
        /// The target.
        target: String,
        /// What it shows.
        detail: String,
    },
    /// A worker cannot be started.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// The best so far cannot be saved.
    #[error(transparent)]
    Save(onnx::Error),
}

/// What to reduce, and how.
pub struct Reduction<'a> {
    /// The targets on which the finding is looked for. The first that shows one is reduced for.
    pub targets: &'a [Target],
    /// The seed for inputs of models that come without.
    pub seed: u64,
    /// What is given of these inputs.
    pub given: &'a UserInputs,
    /// How much may be tried.
    pub budget: Budget,
    /// Whether to end early.
    pub stop: Stop<'a>,
}

/// Reduces a case, a case folder of any origin or a lone model, and keeps the best so far in the folder `out`: from
/// the start, and whenever there is a better one. A reader sees one or the other, never a part.
pub fn reduce(
    path: &Path,
    out: &Path,
    reduction: &Reduction<'_>,
    on_best: &mut dyn FnMut(Size),
) -> Result<Reduced, ReduceError> {
    let folder = stored::read(path).map_err(ReduceError::Read)?;
    let about =
        About::read(&folder).map_err(|e| ReduceError::Unusable(format!("case.json cannot be read: {e}")))?;
    if let Some(relaxed) = &about.relaxed {
        let why = format!("its model breaks the rule {}; only valid models are reduced", relaxed.rule);
        return Err(ReduceError::Unusable(why));
    }
    if folder.rewritten.is_some() {
        let why = "it is two models, and only one can be reduced; name its folder `rewritten`";
        return Err(ReduceError::Unusable(why.to_owned()));
    }
    let problems = problems(&folder, reduction)?;
    // Where it was found before, first.
    let mut targets = reduction.targets.to_vec();
    targets.sort_by_key(|target| !about.findings.iter().any(|finding| is_of(target, finding)));
    let reduction = &Reduction { targets: &targets, ..*reduction };
    let mut keep = |shown: &Shown, size: Size| {
        on_best(size);
        save(out, &about, shown)
    };
    reduce_named(&problems, &about.findings, reduction, &mut keep).map_err(|error| match error {
        ReduceError::NoFinding { showed, .. } => {
            ReduceError::NoFinding { showed, shown_by: shown_by(&about.findings, &targets) }
        }
        error => error,
    })
}

/// The first of the models that the targets have written on which one of these findings was made.
fn shown_by(findings: &[Finding], targets: &[Target]) -> Option<String> {
    let mut written = targets.iter().filter_map(Target::written);
    written.find(|target| findings.iter().any(|finding| is_of(target, finding))).map(|target| target.on())
}

/// Reduces the first of several problems that shows a finding on a target.
pub fn reduce_problems(
    problems: &[Problem],
    reduction: &Reduction<'_>,
    on_best: OnBest<'_>,
) -> Result<Reduced, ReduceError> {
    reduce_named(problems, &[], reduction, on_best)
}

/// Reduces the first of several problems that shows a finding on a target, where it can one of those that a folder names.
fn reduce_named(
    problems: &[Problem],
    named: &[Finding],
    reduction: &Reduction<'_>,
    on_best: OnBest<'_>,
) -> Result<Reduced, ReduceError> {
    let started = Instant::now();
    let Aim { target, interest, shown, before } =
        Aim::first(problems, reduction.targets, named, reduction.given.large)?;
    refuse_any_graph(target, &interest)?;
    on_best(&shown, shown.problem.size()).map_err(ReduceError::Save)?;
    let hurry = Arc::new(Hurry::default());
    if !shown.finding.symptom.is_hang() {
        hurry.took(started.elapsed().as_secs_f64());
    }
    let [hurried, alone] = [target.in_a_hurry(&hurry), target.afresh(&hurry)];
    let [interest, afresh] = [interest.on(&hurried), interest.on(&alone)];
    let mut driver = Driver::new(DOWN, &interest, shown.clone(), reduction.budget, reduction.stop, on_best);
    let mut minimal = driver.run_and_tell()?;
    // What earlier candidates left behind in the process may have a part in what a later one shows.
    let mut steady = afresh.of(&driver.best.problem)?.is_some();
    if !steady && let Some(first) = afresh.of(&shown.problem)? {
        let tried = driver.tries;
        let time = reduction.budget.time.saturating_sub(started.elapsed());
        let tries = reduction.budget.tries.saturating_sub(tried);
        let budget = Budget { time, tries, ..reduction.budget };
        on_best(&first, first.problem.size()).map_err(ReduceError::Save)?;
        driver = Driver::new(DOWN, &afresh, first, budget, reduction.stop, on_best);
        minimal = driver.run_and_tell()?;
        driver.tries += tried;
        steady = true;
    }
    let (after, finding) = (driver.size, &driver.best.finding);
    Ok(Reduced {
        steady,
        target: target.name(),
        on: target.on(),
        nodes_before: before.nodes,
        nodes_after: after.nodes,
        elements_before: before.elements,
        elements_after: after.elements,
        signature: finding.signature().to_string(),
        detail: finding.detail.clone(),
        minimal,
        tries: driver.tries,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// Down to the smallest case, in the order of sizes.
const DOWN: Descent = Descent { tiers: passes::tiers, order: Measure::ALL };

/// A target that shows the finding on a graph without operators would show it on anything.
fn refuse_any_graph(target: &Target, interest: &Interest<'_>) -> Result<(), ReduceError> {
    let mut graph = Graph::new();
    let ty = Type::new(DType::F32, [1]);
    let x = graph.variable("x", ty.clone());
    graph.output("y", x);
    let model = Model::new(*ir::graph::OPSETS.start(), graph);
    let empty = Problem::flat(model, vec![Tensor::from_f64_fn(&ty, |_| 1.0)]);
    match interest.of(&empty)? {
        Some(shown) => {
            Err(ReduceError::AnyGraph { target: target.name(), detail: shown.finding.detail.clone() })
        }
        None => Ok(()),
    }
}

/// The model with each of the inputs that the case is run on.
fn problems(folder: &CaseFolder, reduction: &Reduction<'_>) -> Result<Vec<Problem>, ReduceError> {
    let mut folder = folder.clone();
    let inputs = inputs(&mut folder, reduction.given, reduction.seed, Dear::Refuse);
    let inputs = inputs.map_err(|e| match e {
        NoInputs::NotOfModel(why) => ReduceError::Given(why),
        why => ReduceError::Unusable(why.to_string()),
    })?;
    let problem = |set: &onnx::case::DataSet| {
        let known: BTreeMap<String, Datum> =
            set.inputs.iter().map(|value| (value.name.clone(), value.datum.clone())).collect();
        let program = folder.decode().and_then(Program::read).map_err(ReduceError::Read)?;
        Problem::of_program(program, &known).map_err(ReduceError::Read)
    };
    inputs.sets.iter().map(problem).collect()
}

/// Writes a problem as a case; where it came from, and what the finding is called there, it keeps.
fn save(out: &Path, origin: &About, shown: &Shown) -> Result<(), onnx::Error> {
    let named = origin.findings.iter().find(|named| is_it(named, &shown.finding));
    let core = named.and_then(|named| named.core.clone());
    let after = named.map(|named| named.after.clone()).unwrap_or_default();
    let finding = Finding { core, after, ..shown.finding.clone() };
    let (inputs, findings) = (shown.problem.named(), std::slice::from_ref(&finding));
    let given = (&shown.onnx[..], &inputs[..]);
    let saved = folder::Saved::of_problem(&shown.problem, given, &shown.evaluated, findings);
    folder::Saved { seed: origin.seed, index: origin.index, ..saved }.write(out)
}
