//! A backend or an engine that has been opened, and what it makes of a problem.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use harness::Target;
use harness::evaluated::Evaluated;
use harness::target::open;
use interp::Comparison;
use ir::{DType, Interface};
use oracles::{Assessment, Expected, Verdict, Why};
use triage::allowance::Exam;
use triage::blame::Suspect;
use triage::known::{Date, Known};
use triage::oracle::AskError;
use triage::peel::{NamedFinding, Peeled};
use worker::{Limits, Outcome};

use crate::lacking::{LackEntry, Lacking};
use crate::problem::Problem;
use crate::row::{Host, Row};

/// What came of a problem on one level of an engine.
#[derive(Clone, PartialEq, Debug)]
pub enum ProblemResult {
    /// Elements were compared, and each lies within its bound.
    Right {
        /// The elements.
        compared: usize,
    },
    /// It says that it lacks something, and so do these entries of its list.
    Lacks {
        /// The entries.
        entries: Vec<LackEntry>,
    },
    /// It is wrong as was found before.
    Known {
        /// The written-up findings, each hidden behind the one before or not.
        findings: BTreeSet<String>,
    },
    /// Nobody can say whether it is right.
    Open(Why),
    /// It is not what its row says: a new finding, or a list that is not true.
    Unexpected(String),
}

/// A backend or an engine at all its levels.
pub struct Subject {
    /// What is expected of it.
    pub row: &'static Row,
    levels: Vec<Target>,
    lacking: Lacking,
    known: Known,
}

/// The findings that are known, as all of this project has them.
const KNOWN: &str = include_str!("../../known.toml");

impl Subject {
    /// Opens what a row is about. `worker` is the program that runs an engine.
    pub fn open(row: &'static Row, worker: &Path) -> Result<Self, String> {
        let levels = match row.host {
            Host::Here(engine) => Target::here(engine()?),
            Host::Worker => in_worker(row.name, worker)?,
        };
        // A test of today must be one of tomorrow, so no entry has expired here. `cargo xtask corpus` tells of those that have.
        let known = Known::parse(KNOWN, Path::new("known.toml"), Date::from_unix_days(0));
        let known = known.map_err(|e| e.to_string())?;
        Ok(Self { row, levels, lacking: Lacking::read(row.name, &row.lacks)?, known })
    }

    /// What is listed that it lacks.
    pub fn lacking(&self) -> &Lacking {
        &self.lacking
    }

    /// Whether it says that it computes in the dtypes of a problem, on its numbers. It is not asked about others.
    pub fn takes(&self, problem: &Problem) -> bool {
        self.levels.iter().all(|target| {
            let dtypes = problem.dtypes();
            let is_narrow = |tensor: &&ir::Tensor| target.shortens_integers() && tensor.dtype() == DType::I64;
            let fits = |v: i128| i32::try_from(v).is_ok();
            dtypes.intersection(target.support.dtypes) == dtypes
                && problem.given().filter(is_narrow).all(|tensor| tensor.to_i128s().into_iter().all(fits))
        })
    }

    /// Its answers to a problem, one for each level. `Err` says why there are none.
    pub fn ask(&self, problem: &Problem) -> Result<Vec<ProblemResult>, String> {
        let interface = Interface::of(&problem.model);
        let runs = Target::run_all(&self.levels, &problem.onnx, &problem.inputs, &interface);
        let runs = runs.map_err(|e| e.to_string())?;
        let Some(profile) = self.levels.first().map(|target| target.profile) else { return Ok(Vec::new()) };
        let inputs = problem.tensors();
        let right = Evaluated::of(&problem.model, &inputs, profile).map_err(|e| e.to_string())?;
        let solution = Solution {
            subject: self,
            expected: right.expected(),
            is_defined: right.is_defined(),
            suspect: Suspect::new(&problem.model, &inputs, profile),
            entries: self.lacking.of(problem),
        };
        let pairs = self.levels.iter().zip(&runs);
        pairs.map(|(target, run)| solution.answer(target, &run.outcome).map_err(|e| e.to_string())).collect()
    }
}

/// An engine in a process of its own.
fn in_worker(name: &str, program: &Path) -> Result<Vec<Target>, String> {
    let path = program.to_str().ok_or_else(|| format!("{} is no UTF-8", program.display()))?;
    let line = shlex::try_join([path, name]).map_err(|e| format!("{path:?}: {e}"))?;
    let limits = Limits { timeout: Duration::from_mins(1), ..Limits::default() };
    open(&format!("cmd:{line}"), &limits).map_err(|e| e.to_string())
}

/// The right answer to one problem, and what is needed to find a culprit and to excuse what the subject
/// lacks.
struct Solution<'a> {
    subject: &'a Subject,
    expected: Expected<'a>,
    is_defined: bool,
    suspect: Suspect<'a>,
    entries: Vec<LackEntry>,
}

impl Solution<'_> {
    fn answer(&self, target: &Target, outcome: &Outcome) -> Result<ProblemResult, AskError> {
        let Assessment { verdict, comparisons } = target.assess(outcome, &self.expected);
        let exam = Exam::of(target, outcome, "", &self.expected, verdict);
        let peeled = self.suspect.peel(target, self.is_defined, &exam, &|| false)?;
        Ok(match &peeled {
            Peeled::Nothing(Verdict::Incomparable(Why::Unsupported(said))) => self.of_what_lacks(said),
            // What fails before it comes to what is lacking does not do that.
            Peeled::Nothing(_) if !self.entries.is_empty() => {
                let entries: Vec<String> = self.entries.iter().map(LackEntry::to_string).collect();
                ProblemResult::Unexpected(format!("it does what it is listed to lack: {entries:?}"))
            }
            Peeled::Nothing(_) | Peeled::Found(..) => self.of_what_runs(target, peeled, &comparisons),
        })
    }

    /// The answer for a subject that says that it lacks something, held against its list.
    fn of_what_lacks(&self, said: &str) -> ProblemResult {
        if !self.entries.is_empty() && self.subject.lacking.may_say(said, &self.entries) {
            ProblemResult::Lacks { entries: self.entries.clone() }
        } else {
            ProblemResult::Unexpected(format!("it lacks what it is not listed to lack: {said}"))
        }
    }

    /// The answer for a subject that gives outputs or fails. All that is wrong must be a known finding.
    fn of_what_runs(&self, target: &Target, peeled: Peeled, comparisons: &[Comparison]) -> ProblemResult {
        let (first, behind) = match peeled {
            Peeled::Nothing(Verdict::Incomparable(why)) => return ProblemResult::Open(why),
            Peeled::Nothing(Verdict::Bug(finding)) => return ProblemResult::Unexpected(finding.detail),
            Peeled::Nothing(Verdict::Pass) => {
                return ProblemResult::Right { compared: comparisons.iter().map(Comparison::compared).sum() };
            }
            Peeled::Found(first, behind) => (*first, behind),
        };
        let version = &target.description().version;
        let mut findings = BTreeSet::new();
        for NamedFinding { finding, .. } in std::iter::once(first).chain(behind) {
            match self.subject.known.covering_finding(version, &finding).first() {
                Some((_, entry)) => _ = findings.insert(entry.finding.clone()),
                None => {
                    return ProblemResult::Unexpected(format!("{}: {}", finding.signature(), finding.detail));
                }
            }
        }
        ProblemResult::Known { findings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_whose_path_is_in_no_command_line_is_named() {
        let why = in_worker("tract", Path::new("a\0b")).map(|_| ()).unwrap_err();
        assert!(why.contains("a\\0b"), "{why}");
    }
}
