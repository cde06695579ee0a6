//! What makes two findings the same finding: structure, not text.

use ir::{DType, Type};
use serde::{Deserialize, Serialize};

use crate::verdict::Finding;

/// What an engine did wrong.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Symptom {
    /// The engine crashed, hung or broke the protocol. Kind, and the normalised message or innermost frame.
    Fault {
        /// [`worker::Fault::kind`].
        kind: String,
        /// The normalised message or place; empty where there is none.
        place: String,
    },
    /// The engine refused a valid model.
    Rejected {
        /// `load`, `run` or `optimise`.
        stage: String,
        /// The normalised message.
        message: String,
    },
    /// The engine took a model that breaks this rule, and gave outputs.
    Accepted {
        /// The rule's name.
        rule: String,
    },
    /// An output is missing.
    MissingOutput,
    /// An output has another dtype or shape.
    WrongType,
    /// Elements differ by more than the bound.
    Mismatch(ErrorShape),
    /// The engine takes much longer than for what is next to it.
    Slow,
}

/// In which way elements differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorShape {
    /// NaN where a number is right.
    NaN,
    /// An infinity where a finite number is right.
    Infinite,
    /// A number where NaN or an infinity is right.
    Finite,
    /// Up to 16 times the bound: a question of accuracy.
    Slight,
    /// Beyond that: another value.
    Gross,
}

impl ErrorShape {
    fn name(self) -> &'static str {
        match self {
            Self::NaN => "nan",
            Self::Infinite => "infinite",
            Self::Finite => "finite",
            Self::Slight => "slight",
            Self::Gross => "gross",
        }
    }
}

/// The operator at fault.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Culprit {
    /// Its ONNX name.
    pub operator: String,
    /// The dtype of its first operand.
    pub dtype: String,
    /// What is remarkable about the operands' shapes.
    pub shapes: String,
    /// Whether the operator alone shows the fault; otherwise it is the first to diverge within the graph, or gives
    /// alone the wrong type that a later operator fails on.
    pub alone: bool,
}

impl Culprit {
    /// The culprit for an operator on operands of these types.
    pub fn new(operator: &str, operands: &[Option<&Type>], alone: bool) -> Self {
        let dtype = operands.iter().flatten().next().map_or(DType::Bool, |t| t.dtype);
        Self { operator: operator.to_owned(), dtype: dtype.to_string(), shapes: shape_class(operands), alone }
    }
}

/// Empty and scalar operands are what implementations forget; everything else is one class.
fn shape_class(operands: &[Option<&Type>]) -> String {
    let mut types = operands.iter().flatten();
    if types.clone().any(|t| t.shape.contains(&0)) {
        "empty".to_owned()
    } else if types.any(|t| t.rank() == 0) {
        "scalar".to_owned()
    } else {
        "dense".to_owned()
    }
}

/// A finding's identity.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Signature(String);

impl Signature {
    /// The signature of a finding.
    pub fn new(finding: &Finding) -> Self {
        let symptom = match &finding.symptom {
            Symptom::Fault { kind, .. } if finding.is_consequence() => format!("{kind} later"),
            Symptom::Rejected { .. } if finding.is_consequence() => "rejected later".to_owned(),
            Symptom::Fault { kind, place } if place.is_empty() => kind.clone(),
            Symptom::Fault { kind, place } => format!("{kind} at {place}"),
            Symptom::Rejected { stage, message } => format!("rejected at {stage}: {message}"),
            Symptom::Accepted { rule } => format!("accepted an invalid model: {rule}"),
            Symptom::MissingOutput => "missing output".to_owned(),
            Symptom::WrongType => "wrong type".to_owned(),
            Symptom::Mismatch(shape) => format!("mismatch {}", shape.name()),
            Symptom::Slow => "slow".to_owned(),
        };
        let culprit = match &finding.culprit {
            Some(c) if c.alone => format!("{} {} {}", c.operator, c.dtype, c.shapes),
            Some(c) => format!("{} {} {} in context", c.operator, c.dtype, c.shapes),
            None if finding.hidden_by_taps => "whole graph, hidden by taps".to_owned(),
            None => "whole graph".to_owned(),
        };
        let backend = &finding.backend;
        match finding.telling_check() {
            Some(check) => Self(format!("{backend} | {culprit} | {check}: {symptom}")),
            None => Self(format!("{backend} | {culprit} | {symptom}")),
        }
    }

    /// A name for files: the hash in hexadecimal.
    pub fn file_name(&self) -> String {
        format!("{:016x}", hash(&self.0))
    }
}

/// A number that stands for a text: FNV-1a, which is the same on every machine.
pub fn hash(text: &str) -> u64 {
    let step = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325u64, step)
}

impl std::fmt::Display for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
