//! Running saved cases: `onnxsmith run`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use backends::worker::{Outcome, Run};
use interp::{Judged, Taps};
use ir::{DType, Stream, Tensor};
use onnx::CaseFolder;
use onnx::case::{DataSet, NamedTensor};
use oracles::{Check, Expected, Symptom, Tolerance, Verdict, judge};
use serde::Serialize;

use crate::case;
use crate::folder::{About, DERIVED};
use crate::junit::{TestCase, TestResult};
use crate::oracle;
use crate::reference;
use crate::relax::{Relaxed, answer};
use crate::target::Target;

/// How saved cases are run.
pub struct Replay<'a> {
    /// What they run on.
    pub targets: &'a [Target],
    /// How many run at the same time.
    pub jobs: usize,
    /// Where outputs are written: `DIR/<case>/<backend>/output_N.pb`.
    pub out: Option<&'a Path>,
    /// A fixed tolerance for every case, instead of the case's own or the derived bounds.
    pub tolerance: Option<Tolerance>,
    /// The seed for inputs of models that come without.
    pub seed: u64,
}

/// What came of one case on one backend.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Result {
    /// The outputs are right.
    Pass,
    /// The outputs are wrong.
    Mismatch,
    /// The backend gives outputs for an invalid model.
    Accepted,
    /// The backend lacks something, or there is nothing to compare with.
    Unsupported,
    /// The backend refuses the model or its inputs.
    Rejected,
    /// The backend crashed.
    Crash,
    /// The backend did not answer in time.
    Timeout,
    /// The backend takes much longer than for what is next to it.
    Slow,
}

/// How often each result occurred.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[allow(missing_docs, reason = "one counter per Result")]
pub struct Counts {
    pub pass: u64,
    pub mismatch: u64,
    pub accepted: u64,
    pub unsupported: u64,
    pub rejected: u64,
    pub crash: u64,
    pub timeout: u64,
    pub slow: u64,
}

impl Counts {
    fn add(&mut self, result: Result) {
        *match result {
            Result::Pass => &mut self.pass,
            Result::Mismatch => &mut self.mismatch,
            Result::Accepted => &mut self.accepted,
            Result::Unsupported => &mut self.unsupported,
            Result::Rejected => &mut self.rejected,
            Result::Crash => &mut self.crash,
            Result::Timeout => &mut self.timeout,
            Result::Slow => &mut self.slow,
        } += 1;
    }

    /// Whether something other than passes and missing features occurred.
    pub fn failed(&self) -> bool {
        self.mismatch + self.accepted + self.rejected + self.crash + self.timeout + self.slow > 0
    }
}

/// A case that did not pass.
#[derive(Clone, Debug, Serialize)]
pub struct NotPassing {
    /// The case.
    pub case: PathBuf,
    /// The backend.
    pub backend: String,
    /// What came of it.
    pub outcome: Result,
    /// Why.
    pub why: String,
}

/// What came of all cases.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Replayed {
    /// How many cases there were.
    pub cases: u64,
    /// The results, by backend.
    pub backends: BTreeMap<String, Counts>,
    /// The backends' versions.
    pub versions: BTreeMap<String, String>,
    /// The cases that did not pass.
    pub not_passing: Vec<NotPassing>,
    /// Every result, for reports.
    #[serde(skip)]
    pub results: Vec<TestCase>,
}

/// A result, and why it is that.
pub(crate) type Judgement = (Result, String);

/// Runs each case on each target. The order of the result is that of the cases, whatever the number of jobs.
pub fn replay(cases: &[PathBuf], how: &Replay<'_>, on_case: &(dyn Fn() + Sync)) -> Replayed {
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, Vec<Judgement>>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..how.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = cases.get(index) else { break };
                    let judged = one(path, how);
                    done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(index, judged);
                    on_case();
                }
            });
        }
    });
    let version = |target: &Target| (target.name(), target.description().version.clone());
    let versions = how.targets.iter().map(version).collect();
    let mut all = Replayed { cases: cases.len() as u64, versions, ..Replayed::default() };
    let done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    for (index, judged) in done {
        for (target, (result, why)) in how.targets.iter().zip(judged) {
            record(&mut all, &cases[index], target, result, why);
        }
    }
    all
}

fn record(all: &mut Replayed, path: &Path, target: &Target, result: Result, why: String) {
    all.backends.entry(target.name()).or_default().add(result);
    let outcome = match result {
        Result::Pass => TestResult::Passed,
        Result::Unsupported => TestResult::Skipped(why.clone()),
        _ => TestResult::Failed(format!("{result:?}").to_lowercase(), why.clone()),
    };
    let name = path.display().to_string();
    all.results.push(TestCase { class: target.name(), name, result: outcome });
    if result != Result::Pass {
        let (case, backend) = (path.to_owned(), target.name());
        all.not_passing.push(NotPassing { case, backend, outcome: result, why });
    }
}

/// The results of one case, by target.
fn one(path: &Path, how: &Replay<'_>) -> Vec<Judgement> {
    let everywhere = |why: String| vec![(Result::Rejected, why); how.targets.len()];
    let folder = match CaseFolder::read(path) {
        Ok(folder) => folder,
        Err(e @ onnx::Error::Unsupported { .. }) => {
            return vec![(Result::Unsupported, e.to_string()); how.targets.len()];
        }
        Err(e) => return everywhere(e.to_string()),
    };
    let about = match About::read(&folder) {
        Ok(about) => about,
        Err(e) => return everywhere(format!("case.json cannot be read: {e}")),
    };
    if let Some(relaxed) = &about.relaxed {
        return how.targets.iter().map(|target| ask(&folder, relaxed, target)).collect();
    }
    let mut sets = folder.sets.clone();
    if sets.is_empty() {
        match invent(&folder, how.seed) {
            Ok(set) => sets.push(set),
            Err(judgement) => return vec![judgement; how.targets.len()],
        }
    }
    how.targets
        .iter()
        .map(|target| {
            let judged =
                sets.iter().enumerate().map(|(i, set)| set_on(path, &folder, &about, i, set, target, how));
            let asked = about.check.as_ref().map(|check| again(&folder, check, target));
            // The worst of a case's data sets and of what else is asked stands for the case.
            judged.chain(asked).max_by_key(|(result, _)| *result).unwrap_or((Result::Pass, String::new()))
        })
        .collect()
}

/// The question that a case was saved for, once more.
fn again(folder: &CaseFolder, check: &Check, target: &Target) -> Judgement {
    match oracle::replay(folder, check, target) {
        Ok(judged) => verdict(&judged),
        Err(why) => (Result::Rejected, format!("the question {check} cannot be asked again: {why}")),
    }
}

/// A case whose model is not, or may not be, valid on one target.
fn ask(folder: &CaseFolder, relaxed: &Relaxed, target: &Target) -> Judgement {
    let inputs = folder.sets.iter().take(1).flat_map(|set| &set.inputs);
    let inputs: Vec<_> = inputs.map(|t| (t.name.clone(), t.tensor.clone())).collect();
    match target.run(&folder.model, &inputs, &relaxed.wanted()) {
        Ok(ran) => verdict(&answer::judge(target, &ran.outcome, relaxed)),
        Err(e) => (Result::Crash, e.to_string()),
    }
}

/// Inputs for a model that comes without: by value search.
pub(crate) fn invent(folder: &CaseFolder, seed: u64) -> std::result::Result<DataSet, Judgement> {
    let model = case::import(&folder.model, &BTreeMap::new()).map_err(|e| refused(&e))?;
    let spent = reference::affordable(&model).map_err(|why| (Result::Unsupported, why))?;
    let all = interp::Budget::default();
    // What one run costs decides how many there may be.
    let budget = interp::Budget { runs: spent.runs().clamp(1, all.runs.into()) as u32, ..all };
    let found = interp::find_values(&model, &[], Stream::new(seed).child("run"), budget)
        .map_err(|e| (Result::Rejected, e.to_string()))?;
    let inputs = case::named(&model, found.inputs(&model));
    let inputs = inputs.into_iter().map(|(name, tensor)| NamedTensor::new(name, tensor)).collect();
    Ok(DataSet { inputs, outputs: Vec::new() })
}

fn refused(e: &onnx::Error) -> Judgement {
    match e {
        onnx::Error::Unsupported { .. } => (Result::Unsupported, e.to_string()),
        _ => (Result::Rejected, e.to_string()),
    }
}

/// One data set on one target.
fn set_on(
    path: &Path,
    folder: &CaseFolder,
    about: &About,
    number: usize,
    set: &DataSet,
    target: &Target,
    how: &Replay<'_>,
) -> Judgement {
    let inputs: Vec<(String, Tensor)> =
        set.inputs.iter().map(|t| (t.name.clone(), t.tensor.clone())).collect();
    let derived = how.tolerance.is_none() && about.tolerance.as_deref() == Some(DERIVED);
    let reference =
        if derived || set.outputs.is_empty() { Some(refer(&folder.model, &inputs, target)) } else { None };
    let reference = match reference {
        Some(Err(judgement)) => return judgement,
        Some(Ok(reference)) => Some(reference),
        None => None,
    };
    let wanted: Vec<(String, DType)> = match &reference {
        Some((names, judged)) => names.iter().cloned().zip(judged.iter().map(|j| j.tensor.dtype())).collect(),
        None => set.outputs.iter().map(|t| (t.name.clone(), t.tensor.dtype())).collect(),
    };
    let ran = match target.run(&folder.model, &inputs, &wanted) {
        Ok(ran) => ran,
        Err(e) => return (Result::Crash, e.to_string()),
    };
    if let Some(out) = how.out
        && let Err(e) = write(out, path, target, number, &ran)
    {
        return (Result::Crash, format!("the outputs cannot be written: {e}"));
    }
    let stored = about.rtol.zip(about.atol).map(|(relative, absolute)| Tolerance { relative, absolute });
    let tolerance = how.tolerance.or(stored).unwrap_or(Tolerance::ONNX);
    match reference {
        Some((names, judged)) => {
            let expected = Expected { names: &names, outputs: &judged, profile: target.profile };
            verdict(&judge(&target.backend, &target.level, &ran.outcome, &expected))
        }
        None => fixed(&ran.outcome, &set.outputs, tolerance),
    }
}

type Reference = (Vec<String>, Vec<Judged>);

/// The outputs that the reference gives, with their names.
fn refer(
    model: &[u8],
    inputs: &[(String, Tensor)],
    target: &Target,
) -> std::result::Result<Reference, Judgement> {
    let known: BTreeMap<String, Tensor> = inputs.iter().cloned().collect();
    let model = case::import(model, &known).map_err(|e| refused(&e))?;
    reference::affordable(&model).map_err(|why| (Result::Unsupported, why))?;
    let inputs = reference::bind(&model, &known).map_err(|why| (Result::Rejected, why))?;
    let evaluation = interp::evaluate(&model, &inputs, target.profile, Taps::Outputs)
        .map_err(|e| (Result::Rejected, e.to_string()))?;
    Ok((model.graph.outputs.iter().map(|o| o.name.clone()).collect(), evaluation.outputs))
}

fn verdict(verdict: &Verdict) -> Judgement {
    match verdict {
        Verdict::Pass => (Result::Pass, String::new()),
        Verdict::Incomparable(why) => (Result::Unsupported, why.to_string()),
        Verdict::Bug(finding) => {
            let result = match &finding.symptom {
                Symptom::Fault { kind, .. } if kind == "timeout" => Result::Timeout,
                Symptom::Fault { .. } => Result::Crash,
                Symptom::Rejected { .. } => Result::Rejected,
                Symptom::Accepted { .. } => Result::Accepted,
                Symptom::MissingOutput | Symptom::WrongType | Symptom::Mismatch(_) => Result::Mismatch,
                Symptom::Slow => Result::Slow,
            };
            (result, finding.detail.clone())
        }
    }
}

/// The judgement by stored outputs and a fixed tolerance.
fn fixed(outcome: &Outcome, stored: &[NamedTensor], tolerance: Tolerance) -> Judgement {
    let Outcome::Outputs(outputs) = outcome else {
        let none = Expected { names: &[], outputs: &[], profile: &interp::Profile::DECLARED };
        return verdict(&judge("", "", outcome, &none));
    };
    for expected in stored {
        let Some((_, actual)) = outputs.iter().find(|(name, _)| *name == expected.name) else {
            return (Result::Mismatch, format!("output `{}` is missing", expected.name));
        };
        if let Err((_, why)) = tolerance.compare(&expected.tensor, actual) {
            return (Result::Mismatch, format!("output `{}` {why}", expected.name));
        }
    }
    (Result::Pass, String::new())
}

fn write(out: &Path, case: &Path, target: &Target, set: usize, ran: &Run) -> std::io::Result<()> {
    let Outcome::Outputs(outputs) = &ran.outcome else { return Ok(()) };
    let name = case.file_name().map_or_else(|| "case".into(), |n| n.to_string_lossy().into_owned());
    let mut folder = out.join(name).join(target.name().replace(':', "-"));
    if set > 0 {
        folder.push(format!("set_{set}"));
    }
    std::fs::create_dir_all(&folder)?;
    for (i, (name, tensor)) in outputs.iter().enumerate() {
        let bytes = onnx::tensor::encode(name, tensor);
        std::fs::write(folder.join(format!("output_{i}.pb")), bytes)?;
    }
    Ok(())
}
