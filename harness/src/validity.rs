//! Whether the model of a case is valid, and what is expected of an engine where it is not.

use ir::{Interface, Wanted};
use serde::{Deserialize, Serialize};

/// How far a case is from the constraints of the standard.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Validity {
    /// The case keeps all constraints.
    #[default]
    Valid,
    /// The case breaks one of them.
    Violate,
    /// The case was drawn without them.
    Random,
}

/// What is expected of an engine that gets a model which may be invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expectation {
    /// The engine refuses the model.
    Refusal,
    /// The engine survives: whether the model is valid is not known, because our import lacks something.
    Survival,
}

/// Why a model is not, or may not be, valid. This is also what `case.json` says about it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Relaxed {
    /// How the model was made.
    pub level: Validity,
    /// The rule that it breaks, or [`RANDOM`](crate::invalid::RANDOM).
    pub rule: String,
    /// What is expected of an engine.
    pub expected: Expectation,
    /// What was done to the model, and what our import says.
    pub why: String,
    /// The outputs to ask for, with the dtypes that they should come in.
    pub outputs: Vec<(String, String)>,
    /// The model as ONNX bytes.
    #[serde(skip)]
    pub onnx: Vec<u8>,
}

impl Relaxed {
    /// The outputs to ask for; inputs and outputs are tensors.
    pub fn wanted(&self) -> Interface {
        let wanted = |(name, dtype): &(String, String)| Some(Wanted::tensor(name, dtype.parse().ok()?));
        Interface { inputs: Vec::new(), outputs: self.outputs.iter().filter_map(wanted).collect() }
    }
}
