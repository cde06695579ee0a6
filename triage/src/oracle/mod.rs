//! The oracles that ask a target further questions about a case.
//!
//! | module | holds |
//! |---|---|
//! | [`optimiser`] | is it the optimiser, and from which level on? |
//! | [`determinism`] | does the target give the same once more? |
//! | [`roundtrip`] | is a model that was written and read again the same? |
//! | [`metamorphic`] | does the target give the same for the model in another form? |
//! | [`performance`] | does the target take much longer than for what is next to it? |
//! | [`tally`] | what was asked, and the verdicts |
//! | `saved` | a saved case, to be asked about once more |
//!
//! Comparison with the reference, the differential oracle, needs one run. Every other oracle gets the outcome of that
//! run and asks for more: the trait [`Oracle`]. Its findings carry the question ([`oracles::Check`]). So different
//! questions make different clusters, and a saved case can be asked the same question again.

pub mod determinism;
pub mod metamorphic;
pub mod optimiser;
pub mod performance;
pub mod roundtrip;
mod saved;
pub mod tally;

use std::collections::BTreeMap;

use ir::{Interface, Stream, Tensor};
use onnx::CaseFolder;
use onnx::case::NamedDatum;
use oracles::metamorphic::Relation;
use oracles::{Check, Expected, Verdict};
use worker::{Outcome, WorkerError};

pub use determinism::Determinism;
pub use metamorphic::Metamorphic;
pub use optimiser::Optimiser;
pub use performance::Performance;
pub use roundtrip::RoundTrip;
pub use tally::{Answers, OracleTally};

use crate::blame::{Alone, Suspect};
use crate::reduce::{ReduceError, Stop};
use harness::case::Case;
use harness::target::Target;

/// The name of comparison with the reference.
pub const DIFFERENTIAL: &str = "differential";

/// A case that has run on a target, and what oracles need to know about it.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The target.
    pub target: &'a Target,
    /// All targets of the campaign: other levels of the same engine are among them.
    pub targets: &'a [Target],
    /// The case; its model is valid.
    pub case: &'a Case,
    /// Its inputs, in order.
    pub inputs: &'a [Tensor],
    /// How the inputs and outputs that the target got are made of the model's.
    pub interface: &'a Interface,
    /// What the reference expects.
    pub expected: &'a Expected<'a>,
    /// The case as a suspect for blame. All levels of the target's engine share it.
    pub suspect: &'a Suspect<'a>,
    /// What came of running the case.
    pub outcome: &'a Outcome,
    /// What the engine wrote to its standard error meanwhile.
    pub stderr: &'a str,
    /// The seconds inside the engine.
    pub seconds: f64,
    /// Says whether to give up. An answer that depends on that is no answer.
    pub stop: Stop<'a>,
    /// The random stream of the case; each oracle takes the child of its name.
    pub stream: Stream,
    /// How much is asked.
    pub extent: Extent,
}

/// How many questions of one kind an oracle asks about a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// One, which the case's random stream chooses: a campaign has many cases.
    One,
    /// All that apply.
    Every,
}

/// An oracle's answer to one of its questions.
#[derive(Debug)]
pub struct OracleAnswer {
    /// The question.
    pub check: Check,
    /// The verdict; `None` where the question does not apply to the case.
    pub verdict: Option<Verdict>,
    /// The culprit of a bug alone, with its inputs, where it fails alone.
    pub alone: Option<Alone>,
    /// The other form of the model that a bug showed on.
    pub rewritten: Option<Rewritten>,
}

impl OracleAnswer {
    /// A question that does not apply to the case.
    pub fn inapplicable(check: Check) -> Self {
        Self { check, verdict: None, alone: None, rewritten: None }
    }
}

/// A model in another form, ready to be saved.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The model as ONNX bytes.
    pub onnx: Vec<u8>,
    /// Its inputs, by name.
    pub inputs: Vec<(String, Tensor)>,
    /// Its outputs by the reference, by name, where it has them.
    pub outputs: Vec<(String, Tensor)>,
}

impl Rewritten {
    /// The rewritten model as a case folder.
    pub fn folder(&self) -> CaseFolder {
        let named = |all: &[(String, Tensor)]| {
            all.iter().map(|(name, tensor)| NamedDatum::new(name, tensor.clone())).collect()
        };
        let (inputs, outputs) = (named(&self.inputs), named(&self.outputs));
        let set = onnx::case::DataSet { inputs, outputs, ..onnx::case::DataSet::default() };
        CaseFolder { model: self.onnx.clone().into(), sets: vec![set], ..CaseFolder::default() }
    }
}

/// Why an oracle has no answer. No reason is the target's fault.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The worker cannot be started.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// A relation made a model that is not valid.
    #[error("a rewritten model cannot be written as ONNX: {0}")]
    Rewrite(#[from] onnx::Error),
    /// A finding cannot be reduced.
    #[error(transparent)]
    Reduce(Box<ReduceError>),
    /// The work has to end before there is an answer.
    #[error("the work ended before there was an answer")]
    Stopped,
}

impl From<ReduceError> for AskError {
    fn from(why: ReduceError) -> Self {
        Self::Reduce(Box::new(why))
    }
}

/// An oracle that makes runs of its own.
pub trait Oracle: Send + Sync {
    /// Its name on the command line and in reports.
    fn name(&self) -> &'static str;

    /// The names of the questions that it may ask; none where they are the targets' levels.
    fn questions(&self) -> Vec<String>;

    /// Its answers about a case on a target.
    fn ask(&self, question: &Question<'_>) -> Result<Vec<OracleAnswer>, AskError>;
}

/// Who judges the answers of a campaign's targets.
pub struct Oracles {
    /// Whether they are compared with the reference.
    pub differential: bool,
    /// The others.
    pub others: Vec<Box<dyn Oracle>>,
}

impl Default for Oracles {
    fn default() -> Self {
        Self { differential: true, others: Vec::new() }
    }
}

/// Why there are no such oracles.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OracleError {
    /// There is none of that name.
    #[error("there is no oracle `{name}`; there are {}", NAMES.join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// There is no relation of that name.
    #[error(
        "there is no relation `{name}`; there are {}",
        oracles::metamorphic::ALL.iter().map(|r| r.name).collect::<Vec<_>>().join(", ")
    )]
    Relation {
        /// What was asked for.
        name: String,
    },
    /// Relations are named, but the metamorphic oracle is not.
    #[error("relations mean nothing without the oracle {}; add it", Metamorphic::NAME)]
    NotMetamorphic,
}

/// The names of all oracles.
pub const NAMES: &[&str] = &[
    DIFFERENTIAL,
    Metamorphic::NAME,
    Optimiser::NAME,
    Determinism::NAME,
    RoundTrip::NAME,
    Performance::NAME,
];

impl Oracles {
    /// The oracles of these names. The metamorphic one asks for these relations, or for all if none is named.
    pub fn named(names: &[String], relations: &[String]) -> Result<Self, OracleError> {
        let mut all = Self { differential: false, others: Vec::new() };
        let relations = relations.iter().map(|name| relation(name)).collect::<Result<Vec<_>, _>>()?;
        if !relations.is_empty() && !names.iter().any(|name| name == Metamorphic::NAME) {
            return Err(OracleError::NotMetamorphic);
        }
        for name in names {
            match name.as_str() {
                DIFFERENTIAL => all.differential = true,
                name if all.others.iter().any(|oracle| oracle.name() == name) => {}
                Metamorphic::NAME => all.others.push(Box::new(Metamorphic::of(relations.clone()))),
                Optimiser::NAME => all.others.push(Box::new(Optimiser)),
                Determinism::NAME => all.others.push(Box::new(Determinism)),
                RoundTrip::NAME => all.others.push(Box::new(RoundTrip)),
                Performance::NAME => all.others.push(Box::new(Performance)),
                _ => return Err(OracleError::Unknown { name: name.clone() }),
            }
        }
        Ok(all)
    }

    /// The names of the questions that are asked, by oracle.
    pub fn questions(&self) -> BTreeMap<String, Vec<String>> {
        let others = self.others.iter().map(|oracle| (oracle.name().to_owned(), oracle.questions()));
        self.differential.then(|| (DIFFERENTIAL.to_owned(), Vec::new())).into_iter().chain(others).collect()
    }

    /// The answers of all but the differential oracle.
    pub fn ask(&self, question: &Question<'_>) -> Result<Vec<OracleAnswer>, AskError> {
        let mut answers = Vec::new();
        for oracle in &self.others {
            let stream = question.stream.child(oracle.name());
            answers.extend(oracle.ask(&Question { stream, ..*question })?);
        }
        Ok(answers)
    }
}

/// Why a saved case cannot be asked its question again.
#[derive(Debug, thiserror::Error)]
pub enum NoReplay {
    /// The question does not fit this target: it is about a level that the engine does not have, say.
    #[error("{0}")]
    Inapplicable(String),
    /// The folder lacks something that the question needs, or there is no such question.
    #[error("{0}")]
    Unusable(String),
    /// The target's worker is gone.
    #[error(transparent)]
    Worker(#[from] WorkerError),
}

impl NoReplay {
    fn no_question(name: &str) -> Self {
        Self::Unusable(format!("there is no question `{name}`"))
    }
}

/// Asks the same question about a saved case again. The target's declared limits and the campaigns' allowances apply.
pub fn replay(folder: &CaseFolder, check: &Check, target: &Target) -> Result<Verdict, NoReplay> {
    match check.oracle.as_str() {
        Metamorphic::NAME => metamorphic::replay(folder, check, target),
        Optimiser::NAME => optimiser::replay(folder, check, target),
        Determinism::NAME => determinism::replay(folder, check, target),
        RoundTrip::NAME => roundtrip::replay(folder, check, target),
        Performance::NAME => performance::replay(folder, check, target),
        name => Err(NoReplay::Unusable(OracleError::Unknown { name: name.to_owned() }.to_string())),
    }
}

fn relation(name: &str) -> Result<&'static Relation, OracleError> {
    oracles::metamorphic::find(name).ok_or_else(|| OracleError::Relation { name: name.to_owned() })
}
