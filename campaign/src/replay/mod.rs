//! Running saved cases: `onnxsmith run`.

mod exercise;
mod fixed;
mod given;
pub(crate) mod judge;
mod oracle_record;
mod result;
mod settle;
mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use ir::{Datum, Interface};
use onnx::CaseFolder;
use onnx::case::{DataSet, NamedDatum};
use oracles::{Check, Symptom, Tolerance, Verdict, Why};

use exercise::{Answer, Exercise};
pub(crate) use fixed::close;
pub use given::misfits;
use given::{given_of, sizes_of_some};
use judge::References;
pub use oracle_record::OracleRecord;
use oracle_record::{OracleResult, as_saved, named_verdict};
use result::Judgement;
pub use result::{Counts, Drawn, Grade, Misdeclared, NotPassing, Replayed, Unjudged, Untried};
pub use settle::{Naming, Settled, SuspectsCount};
pub use written::own_case;

use crate::late;
use harness::invalid::answer;
use harness::target::{Target, late_faults};
use harness::threads;
use harness::validity::Relaxed;
use triage::folder::About;
use triage::inputs::{CaseInputs, Dear, inputs, lost_data};
pub use triage::invent::UserInputs;
use triage::invent::{DrawnInputs, NoInputs};
use triage::oracle::{NoReplay, Oracles};
use triage::reduce::Stop;
use triage::{NotRun, oracle, stored};
use worker::WorkerError;

/// How saved cases are run.
pub struct Replay<'a> {
    /// What they run on.
    pub targets: &'a [Target],
    /// How many run at the same time.
    pub jobs: usize,
    /// Where outputs are written: `DIR/<case>/<backend>/output_N.pb`. A case is called by its folder, and by as many of the
    /// folders around that as tell it from the others.
    pub out: Option<&'a Path>,
    /// A fixed tolerance for every case, instead of the case's own or the derived bounds.
    pub tolerance: Option<Tolerance>,
    /// The seed for inputs of models that come without.
    pub seed: u64,
    /// What is given of the inputs.
    pub given: UserInputs,
    /// Which wrong answers get names.
    pub naming: Naming,
    /// Who judges. Oracles besides the reference ask all their questions that apply.
    pub oracles: Oracles,
    /// Whether to end early. Cases that have been begun are finished.
    pub stop: Stop<'a>,
}

impl<'a> Replay<'a> {
    /// One case after the other on these targets, judged by the reference.
    pub fn on(targets: &'a [Target]) -> Self {
        Self {
            targets,
            jobs: 1,
            out: None,
            tolerance: None,
            seed: 0,
            given: UserInputs::default(),
            naming: Naming::OfCampaigns,
            oracles: Oracles::default(),
            stop: &|| false,
        }
    }
}

/// Runs each case on each target. The order of the result is that of the cases, whatever the number of jobs.
pub fn replay(cases: &[PathBuf], how: &Replay<'_>, on_case: &(dyn Fn() + Sync)) -> Replayed {
    let named: Vec<(&PathBuf, PathBuf)> = cases.iter().zip(names(cases)).collect();
    let of_some = if cases.len() > 1 { sizes_of_some(cases, &how.given) } else { BTreeSet::new() };
    let done = threads::each_until(how.jobs, &named, how.stop, |(path, name)| {
        let ran = one(path, name, how, &of_some);
        on_case();
        ran
    });
    let version = |target: &Target| (target.name(), target.description().version.clone());
    let versions = how.targets.iter().map(version).collect();
    let left_out = (cases.len() - done.len()) as u64;
    let mut all = Replayed { cases: done.len() as u64, left_out, versions, ..Replayed::default() };
    for (case, ran) in cases.iter().zip(done) {
        let CaseResult { judged, asked, are_late, unknown, not_run, drawn, misdeclared, are_made_up } = ran;
        all.made_up += u64::from(are_made_up);
        for (target, _) in how.targets.iter().zip(are_late).filter(|(_, is_late)| *is_late) {
            all.late_cases.entry(target.backend.clone()).or_default().insert(case.clone());
        }
        for (target, judgement) in how.targets.iter().zip(judged) {
            all.add(case.clone(), target.name(), judgement);
        }
        for (target, told) in how.targets.iter().zip(asked) {
            all.asked.extend(told.into_iter().map(|told| told.about(case.clone(), target.name())));
        }
        if !drawn.is_empty() {
            all.drawn.push(Drawn { case: case.clone(), drawn });
        }
        if !unknown.is_empty() {
            all.unjudged.push(Unjudged { case: case.clone(), operators: unknown });
        }
        // A case that was drawn has sides that do not run on purpose.
        if !not_run.is_empty() && case.is_file() {
            all.not_run.push(Untried { case: case.clone(), bodies: not_run });
        }
        if let Some(why) = misdeclared {
            all.misdeclared.push(Misdeclared { case: case.clone(), why });
        }
    }
    all.late_faults = late_faults(how.targets);
    all.results.extend(late::certain(&all.late_faults).map(|late| late.test_case()));
    all
}

/// What came of one case.
struct CaseResult {
    /// The results, by target.
    judged: Vec<Judgement>,
    /// What other oracles say, by target.
    asked: Vec<Vec<OracleResult>>,
    /// Whether a process of the target died that had run other cases, where a fresh one has run this one; by target.
    are_late: Vec<bool>,
    /// The operators that nobody here knows.
    unknown: BTreeSet<String>,
    /// What the last data set does not run.
    not_run: Vec<NotRun>,
    /// What was drawn of what the model leaves open.
    drawn: DrawnInputs,
    /// What is wrong with the shapes that the model declares, where it was run without.
    misdeclared: Option<String>,
    /// Whether it ran on inputs that were made up.
    are_made_up: bool,
}

impl CaseResult {
    fn of(judged: Vec<Judgement>) -> Self {
        Self {
            judged,
            asked: Vec::new(),
            are_late: Vec::new(),
            unknown: BTreeSet::new(),
            not_run: Vec::new(),
            drawn: DrawnInputs::default(),
            misdeclared: None,
            are_made_up: false,
        }
    }
}

/// What tells each path from the others: as few of its last components as do. One given twice has the same name twice.
/// A name lies within the folder that it is put into: what leads elsewhere is a word in it.
fn names(paths: &[PathBuf]) -> Vec<PathBuf> {
    let word = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("up".into()),
        Component::RootDir => Some("root".into()),
        Component::CurDir | Component::Prefix(_) => None,
    };
    let parts: Vec<Vec<OsString>> =
        paths.iter().map(|path| path.components().filter_map(word).collect()).collect();
    let last = |i: usize, count: usize| &parts[i][parts[i].len().saturating_sub(count)..];
    let mut lengths = vec![1; paths.len()];
    for count in 1..parts.iter().map(Vec::len).max().unwrap_or(0) {
        let mut called: BTreeMap<&[OsString], BTreeSet<&[OsString]>> = BTreeMap::new();
        for (i, whole) in parts.iter().enumerate() {
            called.entry(last(i, count)).or_default().insert(whole);
        }
        for (i, length) in lengths.iter_mut().enumerate().filter(|(_, length)| **length == count) {
            *length += usize::from(called[last(i, count)].len() > 1);
        }
    }
    (0..paths.len()).map(|i| last(i, lengths[i]).iter().collect()).collect()
}

/// Runs one case; some of all models leave the given sizes of these names open.
fn one(path: &Path, name: &Path, how: &Replay<'_>, of_some: &BTreeSet<String>) -> CaseResult {
    let everywhere = |judgement: Judgement| CaseResult::of(vec![judgement; how.targets.len()]);
    let mut folder = match stored::read(path) {
        Ok(folder) => folder,
        Err(e) => return everywhere(unusable(&e)),
    };
    let about = match About::read(&folder) {
        Ok(about) => about,
        Err(e) => {
            return everywhere(Judgement::new(Grade::Broken, format!("case.json cannot be read: {e}")));
        }
    };
    if let Some(why) = lost_data(path, &folder) {
        return everywhere(unusable(&why));
    }
    if let Some(relaxed) = &about.relaxed {
        let asked = how.targets.iter().map(|target| ask(&folder, relaxed, target).with_time_of(target));
        return CaseResult::of(asked.collect());
    }
    let given = given_of(&folder, &how.given, of_some);
    let CaseInputs { sets, drawn, misdeclared, are_new, are_made_up } =
        match inputs(&mut folder, &given, how.seed, Dear::Refuse) {
            Ok(inputs) => inputs,
            Err(why) => return everywhere(without_inputs(&why)),
        };
    if are_new {
        if let Some(Err(e)) = how.out.map(|out| written::inputs(&out.join(name), &sets)) {
            return everywhere(Judgement::trouble(&format_args!("the inputs cannot be written: {e}")));
        }
        // A question that the case was saved for is asked about these as well.
        folder.sets.clone_from(&sets);
    }
    let case = ReplayedCase { name, folder: &folder, about: &about, how };
    let mut sums = Sums::new(how.targets.len());
    for (number, set) in sets.iter().enumerate() {
        case.run(number, set, &mut sums);
    }
    let Sums { judged, asked, are_late, unknown, not_run } = sums;
    let judged = how.targets.iter().zip(judged).map(|(target, judged)| case.worst(target, judged)).collect();
    CaseResult { judged, asked, are_late, unknown, not_run, drawn, misdeclared, are_made_up }
}

/// A valid case that has been read.
struct ReplayedCase<'a> {
    name: &'a Path,
    folder: &'a CaseFolder,
    about: &'a About,
    how: &'a Replay<'a>,
}

/// What came of the data sets of one case, by target.
struct Sums {
    judged: Vec<Vec<Judgement>>,
    asked: Vec<Vec<OracleResult>>,
    are_late: Vec<bool>,
    /// The operators that nobody here knows.
    unknown: BTreeSet<String>,
    /// What the last data set does not run.
    not_run: Vec<NotRun>,
}

impl Sums {
    fn new(targets: usize) -> Self {
        let (judged, asked) = (vec![Vec::new(); targets], vec![Vec::new(); targets]);
        let are_late = vec![false; targets];
        Self { judged, asked, are_late, unknown: BTreeSet::new(), not_run: Vec::new() }
    }
}

impl ReplayedCase<'_> {
    /// Runs a data set on all targets. Those that override no defaults get the model without overridden ones.
    fn run(&self, number: usize, set: &DataSet, sums: &mut Sums) {
        let Self { name, folder, about, how } = *self;
        let exercise = |model| {
            let references = References::of(model, &set.inputs, how.given.large);
            Exercise { name, folder, model, about, number, set, references, how }
        };
        let is_overridden = |target: &Target| target.description().overrides_defaults;
        let plainer = if how.targets.iter().all(is_overridden) {
            None
        } else {
            stored::without_overridden_defaults(&folder.model, set)
        };
        let as_written = exercise(&folder.model);
        let without = plainer.as_ref().map(exercise);
        for (number, target) in how.targets.iter().enumerate() {
            let exercise = without.as_ref().filter(|_| !is_overridden(target)).unwrap_or(&as_written);
            let Answer { judged, asked, is_late } = exercise.on(target).unwrap_or_else(Answer::without);
            // That an answer is the same twice, say, does not make it right: a pass counts where nothing is held against the reference.
            let is_judged = !judged.is_empty();
            let weighs = |judgement: &Judgement| !is_judged || judgement.grade != Grade::Pass;
            sums.judged[number].extend(judged);
            sums.judged[number].extend(asked.iter().filter_map(OracleResult::weight).filter(weighs));
            sums.asked[number].extend(asked);
            sums.are_late[number] |= is_late;
        }
        let mut read = std::iter::once(&as_written).chain(&without);
        let not_run = read.find_map(|exercise| exercise.references.not_run());
        sums.not_run = not_run.unwrap_or_default().to_vec();
        sums.unknown.append(&mut as_written.references.unknown());
        sums.unknown.extend(without.iter().flat_map(|exercise| exercise.references.unknown()));
    }

    /// The judgement that stands for the case on a target: the worst of its data sets and of what else is asked.
    fn worst(&self, target: &Target, judged: Vec<Judgement>) -> Judgement {
        let asked = self.about.check.as_ref().and_then(|check| again(self.folder, self.about, check, target));
        let all = judged.into_iter().chain(asked);
        let all = match self.how.naming {
            Naming::OfCampaigns => all.max_by_key(|judgement| judgement.grade),
            Naming::Every => settle::all_named(all),
        };
        let none = || Judgement::new(Grade::Undecidable, "no question that was asked has an answer");
        all.map_or_else(none, |judgement| judgement.with_time_of(target))
    }
}

/// The question that a case was saved for, once more; `None` where it is none to this target.
fn again(folder: &CaseFolder, about: &About, check: &Check, target: &Target) -> Option<Judgement> {
    match oracle::replay(folder, check, target) {
        Ok(judged) => Some(as_saved(named_verdict(&judged), &judged, about)),
        Err(NoReplay::Inapplicable(_)) => None,
        Err(NoReplay::Worker(e)) => Some(Judgement::trouble(&e)),
        Err(NoReplay::Unusable(why)) => {
            let why = format!("the question {check} cannot be asked again: {why}");
            Some(Judgement::new(Grade::Broken, why))
        }
    }
}

/// What a target makes of a case whose model is not, or may not be, valid.
pub(crate) fn asked(folder: &CaseFolder, relaxed: &Relaxed, target: &Target) -> Result<Verdict, WorkerError> {
    let inputs = folder.sets.iter().take(1).flat_map(|set| &set.inputs);
    let (interface, inputs) = Interface::taking(named(inputs), relaxed.wanted().outputs);
    let ran = target.run(&folder.model, &inputs, &interface)?;
    Ok(answer::judge(target, &ran.outcome, relaxed))
}

fn ask(folder: &CaseFolder, relaxed: &Relaxed, target: &Target) -> Judgement {
    asked(folder, relaxed, target).map_or_else(|e| Judgement::trouble(&e), |judged| named_verdict(&judged))
}

/// What it means that there are no inputs for a model that comes without. No backend was asked.
fn without_inputs(why: &NoInputs) -> Judgement {
    match why {
        NoInputs::Model(e) => unusable(e),
        NoInputs::Sizes { why: onnx::Error::Unsupported { .. }, .. }
        | NoInputs::Values { why: onnx::Error::Unsupported { .. } } => {
            Judgement::new(Grade::NoReference, format!("onnxsmith lacks it: {why}"))
        }
        NoInputs::Sizes { .. } | NoInputs::NotOfModel(_) => Judgement::new(Grade::Broken, why.to_string()),
        NoInputs::Values { .. } | NoInputs::NotMadeUp { .. } => {
            Judgement::new(Grade::NoReference, why.to_string())
        }
        NoInputs::TooDear(why) => Judgement::new(Grade::NoReference, why.clone()),
        NoInputs::Search(e) => Judgement::new(Grade::Broken, e.to_string()),
    }
}

/// A case that we cannot read. No backend was asked, so it says nothing about any.
fn unusable(e: &onnx::Error) -> Judgement {
    match e {
        onnx::Error::Unsupported { .. } => {
            Judgement::new(Grade::NoReference, format!("onnxsmith lacks it: {e}"))
        }
        onnx::Error::Invalid { .. } | onnx::Error::Io { .. } => Judgement::new(Grade::Broken, e.to_string()),
    }
}

fn named<'s>(values: impl IntoIterator<Item = &'s NamedDatum>) -> impl Iterator<Item = (&'s str, &'s Datum)> {
    values.into_iter().map(|value| (value.name.as_str(), &value.datum))
}

fn verdict(verdict: &Verdict) -> Judgement {
    match verdict {
        Verdict::Pass => Judgement::new(Grade::Pass, ""),
        Verdict::Incomparable(why) => {
            let result = match why {
                Why::Unsupported(_) | Why::Widened(_) => Grade::Unsupported,
                Why::Undecidable | Why::Undefined | Why::Undecided(_) => Grade::Undecidable,
            };
            // The result is the word that the reason begins with.
            let said = match why {
                Why::Unsupported(said) => said.clone(),
                _ => why.to_string(),
            };
            Judgement::new(result, said)
        }
        Verdict::Bug(finding) => {
            let result = match &finding.symptom {
                symptom if symptom.is_hang() => Grade::Timeout,
                Symptom::Fault { .. } => Grade::Crash,
                Symptom::Rejected { .. } => Grade::Rejected,
                Symptom::Accepted { .. } => Grade::Accepted,
                Symptom::MissingOutput | Symptom::WrongType | Symptom::Mismatch(_) => Grade::Mismatch,
                Symptom::Slow => Grade::Slow,
            };
            Judgement::new(result, finding.detail.clone())
        }
    }
}

/// What a target is called as a folder: a runner may call its levels what it likes.
fn file_name(target: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || ['-', '_', '+', '@', '.'].contains(&c);
    let name: String = target.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    if name.starts_with('.') { name.replacen('.', "-", 1) } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_target_leads_nowhere() {
        assert_eq!(file_name("rten:all"), "rten-all");
        assert_eq!(file_name("wgpu@llvmpipe:default+written"), "wgpu@llvmpipe-default+written");
        assert_eq!(file_name("x:../../tmp"), "x-..-..-tmp");
        assert_eq!(file_name(".."), "-.");
    }

    #[test]
    fn a_case_is_called_by_what_tells_it_from_the_others() {
        let paths = ["a/x/case", "b/x/case", "b/y/case", "./b/other/", "b/other"].map(PathBuf::from);
        let expected = ["a/x/case", "b/x/case", "y/case", "other", "other"].map(PathBuf::from);
        assert_eq!(names(&paths), expected);
        let elsewhere = ["p/q/m", "p/../q/m", "/q/m"].map(PathBuf::from);
        assert_eq!(names(&elsewhere), ["p/q/m", "up/q/m", "root/q/m"].map(PathBuf::from));
    }
}
