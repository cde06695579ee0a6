//! The determinism oracle: does a target give the same answer to the same case once more?
//!
//! There are three questions. Each case of a campaign gets one of them, drawn by its number: `again` on a worker of the
//! campaign, which has run other cases; `fresh` in a new process; `threads` in a new process with two threads. (Engines
//! without such a setting then have one thread as usual.) [`oracles::repeat`] states what must be the same.

use ir::{Interface, Tensor};
use onnx::CaseFolder;
use onnx::import::draws_anew;
use oracles::repeat::Twice;
use oracles::{Check, Expected, Verdict};
use rand::RngExt;
use worker::{Outcome, Run, WorkerError};

use super::saved::Saved;
use super::{AskError, Extent, NoReplay, Oracle, OracleAnswer, Question};
use harness::target::Target;

/// Does a case give the same once more?
pub struct Determinism;

/// Where a case runs once more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Where {
    Again,
    Fresh,
    Threads,
}

/// The questions, by name.
const ALL: [(&str, Where); 3] =
    [("again", Where::Again), ("fresh", Where::Fresh), ("threads", Where::Threads)];

/// How many threads there are in question `threads`.
const THREADS: usize = 2;

impl Determinism {
    /// The oracle's name.
    pub const NAME: &'static str = "determinism";
}

impl Where {
    /// Runs a model there.
    fn run(
        self,
        target: &Target,
        onnx: &[u8],
        inputs: &[(String, Tensor)],
        interface: &Interface,
    ) -> Result<Run, WorkerError> {
        match self {
            Self::Again => target.run(onnx, inputs, interface),
            Self::Fresh => target.run_apart(1, onnx, inputs, interface),
            Self::Threads => target.run_apart(THREADS, onnx, inputs, interface),
        }
    }

    /// Judges what came of it.
    fn judge(self, target: &Target, first: &Outcome, second: &Outcome, expected: &Expected<'_>) -> Verdict {
        let twice = Twice { backend: &target.backend, level: &target.level, first, second };
        match self {
            Self::Again | Self::Fresh => twice.judge(),
            Self::Threads => twice.judge_by_bounds(expected),
        }
    }
}

impl Oracle for Determinism {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn questions(&self) -> Vec<String> {
        ALL.map(|(name, _)| name.to_owned()).into()
    }

    fn ask(&self, question: &Question<'_>) -> Result<Vec<OracleAnswer>, AskError> {
        let drawn = || question.stream.child("where").rng().random_range(0..ALL.len());
        let asked = match question.extent {
            Extent::One => std::slice::from_ref(&ALL[drawn()]),
            Extent::Every => &ALL,
        };
        asked.iter().map(|&(name, place)| answer(question, name, place)).collect()
    }
}

/// Whether the case gives the same once more, asked in this way.
fn answer(question: &Question<'_>, name: &str, place: Where) -> Result<OracleAnswer, AskError> {
    let Question { target, case, interface, .. } = *question;
    let check = Check { oracle: Determinism::NAME.to_owned(), name: name.to_owned() };
    if case.program.as_ref().is_some_and(draws_anew) {
        return Ok(OracleAnswer::inapplicable(check));
    }
    let ran = place.run(target, &case.onnx, &case.inputs, interface)?;
    let verdict = place.judge(target, question.outcome, &ran.outcome, question.expected);
    // The answer without outputs needs an explanation.
    let stderr = match &ran.outcome {
        Outcome::Outputs(_) => question.stderr,
        Outcome::Rejected { .. } | Outcome::Unsupported { .. } | Outcome::Fault(_) => &ran.stderr,
    };
    let mut verdict = verdict.with_stderr(stderr);
    if let Verdict::Bug(finding) = &mut verdict {
        finding.check = Some(check.clone());
    }
    Ok(OracleAnswer { verdict: Some(verdict), ..OracleAnswer::inapplicable(check) })
}

/// Asks the same of a saved case.
pub(crate) fn replay(folder: &CaseFolder, check: &Check, target: &Target) -> Result<Verdict, NoReplay> {
    let place = ALL.iter().find(|(name, _)| *name == check.name);
    let (_, place) = place.ok_or_else(|| NoReplay::no_question(&check.name))?;
    let Saved { trial, .. } = Saved::load(folder, target.profile)?;
    let first = trial.outcome(target)?;
    let second = trial.ran_by(|onnx, inputs, interface| place.run(target, onnx, inputs, interface))?.outcome;
    Ok(place.judge(target, &first, &second, &trial.expected()))
}
