//! Findings that are written up, on the engines that they accuse: `onnxsmith corpus`.
//!
//! A finding holds for the versions that it names. Whether it still holds is found out by running its case: an engine may have
//! been repaired, may fail in another way now, or the bounds may leave open today what they once called wrong.

use std::path::Path;

use ir::DType;
use onnx::CaseFolder;
use onnx::case::DataSet;
use oracles::{Finding, Tolerance, Verdict, Why};
use serde::Serialize;
use triage::folder::About;
use triage::known::{Corpus, EngineFindings, Judgement, WriteUp};
use triage::oracle;
use triage::peel::{NamedFinding, Peeled};
use triage::reduce::Stop;
use worker::Outcome;

use crate::replay::judge::refer;
use crate::replay::{asked, close};
use harness::target::Target;
use harness::threads;

/// Whether an engine does what a finding says. Of several levels the one that shows most stands for the engine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The engine is right: it was repaired, or the finding was never one.
    Gone,
    /// The engine was not judged: the case cannot be run, or it says that it lacks something.
    Unjudged,
    /// The engine gives something else than is written down as right, and the bounds leave that open.
    Open,
    /// The engine is wrong in another way than the signatures of the finding say.
    Changed,
    /// The engine is wrong as the signatures of the finding say; where there is none, it is wrong.
    Shown,
}

impl Standing {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 5] = [Self::Shown, Self::Open, Self::Changed, Self::Unjudged, Self::Gone];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Unjudged => "not judged",
            Self::Open => "open",
            Self::Changed => "changed",
            Self::Shown => "shown",
        }
    }
}

/// What came of one finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Revisited {
    /// The finding, as it is called from the corpus: `rten-0.27/sign-zero`.
    pub finding: String,
    /// The engine.
    pub engine: String,
    /// Its version now.
    pub version: String,
    /// Whether the finding is about this version.
    pub is_about_version: bool,
    /// Whether it still shows.
    pub standing: Standing,
    /// The levels at which it stands like that.
    pub levels: Vec<String>,
    /// The signature now, or what was seen instead.
    pub seen: String,
}

impl Revisited {
    /// Whether the finding says what is still so.
    pub fn holds(&self) -> bool {
        match self.standing {
            Standing::Shown | Standing::Open => true,
            Standing::Gone | Standing::Unjudged | Standing::Changed => false,
        }
    }
}

/// Runs the findings of each engine of which there are targets, at all of its levels. The order is that of the corpus, whatever
/// the number of jobs. `stop` says whether to end early, with what has run.
pub fn revisit(
    corpus: &Corpus,
    folder: &Path,
    targets: &[Target],
    jobs: usize,
    stop: Stop<'_>,
    on_finding: &(dyn Fn() + Sync),
) -> Vec<Revisited> {
    let all: Vec<(&EngineFindings, String, &WriteUp)> = findings(corpus, targets).collect();
    let revisited = threads::each_until(jobs, &all, stop, |(engine, name, finding)| {
        let revisited = one(name, finding, &folder.join(name), &mut of_engine(engine, targets));
        on_finding();
        revisited
    });
    revisited.into_iter().flatten().collect()
}

/// The findings of the engines of which there are targets.
pub fn findings<'c>(
    corpus: &'c Corpus,
    targets: &[Target],
) -> impl Iterator<Item = (&'c EngineFindings, String, &'c WriteUp)> {
    corpus.findings().filter(|(engine, ..)| of_engine(engine, targets).next().is_some())
}

/// The targets that are levels of an engine.
fn of_engine<'t>(engine: &EngineFindings, targets: &'t [Target]) -> impl Iterator<Item = &'t Target> {
    targets.iter().filter(|target| target.backend == engine.about.engine)
}

/// What the levels of an engine make of one of its findings; `None` if there are none.
fn one(
    name: &str,
    finding: &WriteUp,
    at: &Path,
    levels: &mut dyn Iterator<Item = &Target>,
) -> Option<Revisited> {
    let mut revisited: Option<Revisited> = None;
    for target in levels {
        let (standing, seen) = look(finding, at, target).unwrap_or_else(|why| (Standing::Unjudged, why));
        match &mut revisited {
            Some(best) if best.standing > standing => {}
            Some(best) if best.standing == standing => best.levels.push(target.level.clone()),
            _ => {
                let version = target.description().version.clone();
                revisited = Some(Revisited {
                    finding: name.to_owned(),
                    engine: target.backend.clone(),
                    is_about_version: finding.is_about(&version),
                    version,
                    standing,
                    levels: vec![target.level.clone()],
                    seen,
                });
            }
        }
    }
    revisited
}

/// What a target makes of a finding; the error says why that is not known.
fn look(finding: &WriteUp, at: &Path, target: &Target) -> Result<(Standing, String), String> {
    let folder = finding.case.folder(at).map_err(|e| e.to_string())?;
    if let Some(relaxed) = finding.case.relaxed() {
        return Ok(match asked(&folder, relaxed, target).map_err(|e| e.to_string())? {
            Verdict::Bug(found) => named(finding, &[&found]),
            verdict => unshown(finding, &verdict),
        });
    }
    if let Some(check) = finding.case.check() {
        // Who is to blame is not asked again, so the signature is not known.
        return Ok(match oracle::replay(&folder, check, target).map_err(|e| e.to_string())? {
            Verdict::Bug(found) => (Standing::Shown, found.detail),
            verdict => unshown(finding, &verdict),
        });
    }
    let set = folder.sets.first().ok_or("the case has no inputs")?;
    Ok(match run(&folder, target)? {
        (Peeled::Found(first, behind), _) => wrong(finding, &first, &behind),
        (Peeled::Nothing(verdict), Outcome::Outputs(outputs)) => {
            match close(&outputs, &set.outputs, Some(leeway(set))) {
                Ok(()) => unshown(finding, &verdict),
                Err(why) => (Standing::Open, why),
            }
        }
        (Peeled::Nothing(verdict), _) => unshown(finding, &verdict),
    })
}

/// Runs a case, and finds all that is wrong as a campaign does.
fn run(folder: &CaseFolder, target: &Target) -> Result<(Peeled, Outcome), String> {
    let set = folder.sets.first().ok_or("the case has no inputs")?;
    let reference = refer(&folder.model, &set.inputs, target).map_err(|judgement| judgement.why)?;
    let ran = reference.run(&folder.model, &set.inputs, target).map_err(|e| e.to_string())?;
    let peeled = reference.peeled(target, &ran).map_err(|e| e.to_string())?;
    Ok((peeled, ran.outcome))
}

/// What is called wrong with a case, by name: one that is compared with the reference, or whose model is not valid.
pub(crate) fn found(folder: &CaseFolder, about: &About, target: &Target) -> Result<Vec<Finding>, String> {
    if let Some(relaxed) = &about.relaxed {
        return Ok(match asked(folder, relaxed, target).map_err(|e| e.to_string())? {
            Verdict::Bug(found) => vec![*found],
            Verdict::Pass | Verdict::Incomparable(_) => Vec::new(),
        });
    }
    Ok(match run(folder, target)?.0 {
        Peeled::Nothing(_) => Vec::new(),
        Peeled::Found(first, behind) => {
            std::iter::once(*first).chain(behind).map(|found| found.finding).collect()
        }
    })
}

/// How far outputs may be from the stored ones, which have one rounding, to count as the same: a few roundings.
fn leeway(set: &DataSet) -> Tolerance {
    let mut tensors = set.outputs.iter().flat_map(|output| output.datum.tensors());
    let is_long = tensors.any(|tensor| tensor.dtype() == DType::F64);
    Tolerance { relative: if is_long { 1e-14 } else { 1e-6 }, absolute: 0.0 }
}

/// The standing of a finding whose case shows bugs. The finding shows if it names the signature of one of them, the
/// present or the former one.
fn wrong(finding: &WriteUp, first: &NamedFinding, behind: &[NamedFinding]) -> (Standing, String) {
    let found: Vec<&Finding> = std::iter::once(first).chain(behind).map(|found| &found.finding).collect();
    named(finding, &found)
}

fn named(finding: &WriteUp, found: &[&Finding]) -> (Standing, String) {
    let name = found.first().map_or_else(String::new, |first| first.signature().to_string());
    let both = |found: &&Finding| [found.signature().to_string(), found.former_signature().to_string()];
    let is_shown = finding.is_shown_by(found.iter().flat_map(both));
    (if is_shown { Standing::Shown } else { Standing::Changed }, name)
}

/// The standing of a finding whose case shows no bug. A limitation shows in an engine that says that it lacks
/// something: that is what was written up.
fn unshown(finding: &WriteUp, verdict: &Verdict) -> (Standing, String) {
    match verdict {
        Verdict::Incomparable(why @ Why::Unsupported(_)) if finding.judgement == Judgement::Limitation => {
            (Standing::Shown, why.to_string())
        }
        Verdict::Incomparable(why) => (Standing::Unjudged, why.to_string()),
        Verdict::Pass | Verdict::Bug(_) => (Standing::Gone, "it answers as it should".to_owned()),
    }
}
