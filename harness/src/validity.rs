//! Whether the model of a case is valid, and what is expected of an engine where it is not.

use ir::{DType, Interface, Wanted};
use oracles::Broken;
use serde::{Deserialize, Serialize};

use crate::invalid::RANDOM;

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
    /// The rule that it breaks, or [`RANDOM`].
    pub rule: String,
    /// The operator, if the rule is about the use of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// What is expected of an engine.
    pub expected: Expectation,
    /// What was done to the model, and what our import says.
    pub why: String,
    /// The outputs to ask for, with the dtypes that they should come in.
    #[serde(with = "outputs")]
    pub outputs: Vec<(String, DType)>,
    /// The model as ONNX bytes.
    #[serde(skip)]
    pub onnx: Vec<u8>,
}

impl Relaxed {
    /// A model that breaks a rule, so that an engine has to refuse it.
    pub fn refused(Broken { rule, operator }: Broken, why: String, outputs: Vec<(String, DType)>) -> Self {
        let level = if rule == RANDOM { Validity::Random } else { Validity::Violate };
        Self { level, rule, operator, expected: Expectation::Refusal, why, outputs, onnx: Vec::new() }
    }

    /// What is broken.
    pub fn broken(&self) -> Broken {
        Broken { rule: self.rule.clone(), operator: self.operator.clone() }
    }

    /// The outputs to ask for; inputs and outputs are tensors.
    pub fn wanted(&self) -> Interface {
        let wanted = |(name, dtype): &(String, DType)| Wanted::tensor(name, *dtype);
        Interface { inputs: Vec::new(), outputs: self.outputs.iter().map(wanted).collect() }
    }
}

/// Outputs as they are stored: each with its dtype's name.
mod outputs {
    use ir::DType;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    #[allow(clippy::ptr_arg, reason = "serde prescribes the signature")]
    pub(super) fn serialize<S: Serializer>(outputs: &Vec<(String, DType)>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(outputs.iter().map(|(name, dtype)| (name, dtype.name())))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, DType)>, D::Error> {
        let named = Vec::<(String, String)>::deserialize(from)?;
        let parsed = |(name, dtype): (String, String)| Ok((name, dtype.parse().map_err(D::Error::custom)?));
        named.into_iter().map(parsed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_of_a_dtype_that_is_not_known_is_not_passed_over() {
        let text =
            r#"{"level":"random","rule":"random","expected":"survival","why":"","outputs":[["y","f16"]]}"#;
        let relaxed: Relaxed = serde_json::from_str(text).expect("it is stored so");
        assert_eq!(relaxed.wanted().outputs, [Wanted::tensor("y", DType::F16)]);
        assert_eq!(serde_json::to_string(&relaxed).expect("it can be stored"), text);
        assert!(serde_json::from_str::<Relaxed>(&text.replace("f16", "f17")).is_err());
    }
}
