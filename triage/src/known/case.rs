//! The case of a finding that is written up: as text if the text gives the model's bytes, else as bytes beside it.

use std::collections::BTreeMap;
use std::path::Path;

use ir::{DType, Tensor, Type};
use onnx::CaseFolder;
use onnx::case::{DataSet, NamedDatum};
use ops::Model;
use oracles::{Broken, Check};
use serde::Deserialize;
use toml::Spanned;

use super::content::{KnownError, line_of, wrong};
use crate::folder::{About, DERIVED};
use harness::case;
use harness::validity::Relaxed;

/// How a case is kept.
#[derive(Clone, PartialEq, Debug)]
pub enum Kept {
    /// As text.
    Text {
        /// The model, which is written as ONNX the way that generated ones are.
        model: Box<Model>,
        /// A value of each of its inputs, in their order.
        inputs: Vec<(String, Tensor)>,
        /// The right value for each of its outputs, in their order.
        outputs: Vec<(String, Tensor)>,
        /// The question that shows the finding, if it is not comparison with the reference.
        check: Option<Check>,
    },
    /// As ONNX's bytes: `model.onnx` and `test_data_set_0`, beside the file.
    Bytes {
        /// Why text cannot say it.
        why: String,
        /// The question that shows the finding, if it is not comparison with the reference.
        check: Option<Check>,
        /// What is wrong with the model, if the finding is that the engine does not refuse it as it should.
        relaxed: Option<Relaxed>,
    },
}

/// The keys of a case.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseKeys {
    check: Option<Spanned<String>>,
    bytes: Option<String>,
    rule: Option<String>,
    operator: Option<String>,
    model: Option<Spanned<String>>,
    #[serde(default)]
    inputs: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    outputs: BTreeMap<String, Spanned<String>>,
}

impl CaseKeys {
    /// What the keys of a text say; `file` is for messages.
    pub(super) fn keep(keys: Spanned<Self>, text: &str, file: &Path) -> Result<Kept, KnownError> {
        let at = keys.span().start;
        let Self { check, bytes, rule, operator, model, inputs, outputs } = keys.into_inner();
        let check = check
            .map(|words| asked(words.get_ref()).map_err(|why| wrong(text, file, words.span().start, why)));
        let check = check.transpose()?;
        let broken = rule.map(|rule| Broken { rule, operator });
        let words = match (model, bytes, broken) {
            (Some(words), None, None) => words,
            (None, Some(why), None) if inputs.is_empty() && outputs.is_empty() => {
                return Ok(Kept::Bytes { why, check, relaxed: None });
            }
            (None, Some(why), Some(broken)) if inputs.is_empty() => {
                let outputs = wanted(outputs, text, file)?;
                let relaxed = Some(Relaxed::refused(broken, why.clone(), outputs));
                return Ok(Kept::Bytes { why, check, relaxed });
            }
            (_, _, _) => {
                let why = "a case has either `model`, `inputs` and `outputs`, or `bytes`: why it is no text; \
                           and `rule` and the dtypes of `outputs`, if the model breaks one";
                return Err(wrong(text, file, at, why));
            }
        };
        let model: Model = parsed(&words, text, file)?;
        model.validate().map_err(|e| wrong(text, file, words.span().start, e.to_string()))?;
        let values =
            |port, wanted: Vec<(&str, &Type)>, given| Values { port, wanted, given }.read(at, text, file);
        let inputs =
            values("input", model.graph.variables().map(|(_, name, ty)| (name, ty)).collect(), inputs)?;
        let wanted = model.graph.outputs.iter().map(|o| (&*o.name, model.graph.ty(o.value))).collect();
        let outputs = values("output", wanted, outputs)?;
        Ok(Kept::Text { model: Box::new(model), inputs, outputs, check })
    }
}

/// The values given for some ports of a model.
struct Values<'a> {
    port: &'static str,
    wanted: Vec<(&'a str, &'a Type)>,
    given: BTreeMap<String, Spanned<String>>,
}

impl Values<'_> {
    /// A value for each port, in their order; `at` is the place that is reported if one is missing.
    fn read(&self, at: usize, text: &str, file: &Path) -> Result<Vec<(String, Tensor)>, KnownError> {
        let port = self.port;
        let is_wanted = |name: &str| self.wanted.iter().any(|(wanted, _)| *wanted == name);
        if let Some((name, words)) = self.given.iter().find(|(name, _)| !is_wanted(name)) {
            return Err(wrong(text, file, words.span().start, format!("the model has no {port} `{name}`")));
        }
        let value = |(name, ty): &(&str, &Type)| {
            let missing = || wrong(text, file, at, format!("there is no value for the {port} `{name}`"));
            let words = self.given.get(*name).ok_or_else(missing)?;
            let tensor: Tensor = parsed(words, text, file)?;
            if tensor.ty() != **ty {
                let why = format!("the {port} `{name}` of the model is {ty}, and this {}", tensor.ty());
                return Err(wrong(text, file, words.span().start, why));
            }
            Ok(((*name).to_owned(), tensor))
        };
        self.wanted.iter().map(value).collect()
    }
}

/// The outputs to ask for of a model that is not valid, each given with its dtype.
fn wanted(
    given: BTreeMap<String, Spanned<String>>,
    text: &str,
    file: &Path,
) -> Result<Vec<(String, DType)>, KnownError> {
    let dtype = |(name, words): (String, Spanned<String>)| {
        let unknown = || wrong(text, file, words.span().start, format!("`{}` is no dtype", words.get_ref()));
        Ok((name, words.get_ref().parse().map_err(|_| unknown())?))
    };
    given.into_iter().map(dtype).collect()
}

/// The value that a string of a file holds in the text form. An error names the place in the file.
fn parsed<T>(words: &Spanned<String>, text: &str, file: &Path) -> Result<T, KnownError>
where
    T: std::str::FromStr<Err = ir::text::ParseError>,
{
    words.get_ref().parse().map_err(|e: ir::text::ParseError| {
        // A string between three quotes may begin on the next line.
        let from = text.get(words.span()).and_then(|from| from.get(3..)).unwrap_or_default();
        let opening = usize::from(from.starts_with(['\n', '\r']));
        let line = line_of(text, words.span().start) + opening + e.place.line - 1;
        let why = format!("column {}: {}", e.place.column, e.problem);
        KnownError::Content { file: file.to_owned(), line, why }
    })
}

/// An oracle and one of its questions.
fn asked(words: &str) -> Result<Check, String> {
    let parts = words.split_once(' ').map(|(oracle, name)| (oracle.to_owned(), name.to_owned()));
    let (oracle, name) = parts
        .ok_or_else(|| format!("`{words}` is not an oracle and its question, such as `roundtrip written`"))?;
    Ok(Check { oracle, name })
}

/// Values that are tensors, all of them.
fn tensors(values: &[NamedDatum]) -> Result<Vec<(String, Tensor)>, String> {
    let tensor = |value: &NamedDatum| {
        let tensor = value.datum.tensor().ok_or_else(|| format!("`{}` is no tensor", value.name))?;
        Ok((value.name.clone(), tensor.clone()))
    };
    values.iter().map(tensor).collect()
}

impl Kept {
    /// The case as text, if the text gives the same bytes; otherwise the reason why it does not.
    pub fn of(folder: &CaseFolder) -> Result<Self, String> {
        let about = About::read(folder).map_err(|e| format!("case.json cannot be read: {e}"))?;
        if folder.rewritten.is_some() {
            return Err("it is two models".to_owned());
        }
        if let Some(relaxed) = about.relaxed {
            return Err(relaxed.why);
        }
        let [DataSet { inputs, outputs, .. }] = &folder.sets[..] else {
            return Err(format!("it has {} data sets", folder.sets.len()));
        };
        let told = |e: onnx::Error| e.to_string();
        let model = case::import(&folder.model, &case::known_inputs(folder)).map_err(told)?.model;
        let model: Model =
            model.to_string().parse().map_err(|e| format!("its text is not read back: {e}"))?;
        if case::export(&model).map_err(told)? != folder.model {
            return Err("what is written of its text is not its bytes".to_owned());
        }
        if (inputs.len(), outputs.len()) != (model.graph.variables().count(), model.graph.outputs.len()) {
            return Err("an input or an output has no value".to_owned());
        }
        let (inputs, outputs) = (tensors(inputs)?, tensors(outputs)?);
        Ok(Self::Text { model: Box::new(model), inputs, outputs, check: about.check })
    }

    /// The case. If it is kept as bytes, these are in the folder `at`.
    pub fn folder(&self, at: &Path) -> Result<CaseFolder, onnx::Error> {
        let relaxed = self.relaxed().cloned();
        let tolerance = relaxed.is_none().then(|| DERIVED.to_owned());
        let about = About { tolerance, check: self.check().cloned(), relaxed, ..About::default() };
        let json = Some(serde_json::to_vec_pretty(&about).unwrap_or_default());
        match self {
            Self::Text { model, inputs, outputs, .. } => {
                let named = |all: &[(String, Tensor)]| {
                    all.iter().map(|(name, tensor)| NamedDatum::new(name, tensor.clone())).collect()
                };
                let set = DataSet { inputs: named(inputs), outputs: named(outputs), leeways: Vec::new() };
                Ok(CaseFolder { model: case::export(model)?.into(), sets: vec![set], json, rewritten: None })
            }
            Self::Bytes { .. } => Ok(CaseFolder { json, ..CaseFolder::read(at)? }),
        }
    }

    /// What is wrong with the model, if that is the finding.
    pub fn relaxed(&self) -> Option<&Relaxed> {
        match self {
            Self::Text { .. } => None,
            Self::Bytes { relaxed, .. } => relaxed.as_ref(),
        }
    }

    /// The question that shows the finding.
    pub fn check(&self) -> Option<&Check> {
        match self {
            Self::Text { check, .. } | Self::Bytes { check, .. } => check.as_ref(),
        }
    }
}
