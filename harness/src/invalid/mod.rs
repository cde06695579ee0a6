//! Relaxed constraints: cases whose model is not valid, or is valid only by chance.
//!
//! | module | holds |
//! |---|---|
//! | [`schedule`] | which case is at which level: the probability p and how it moves |
//! | [`random`] | models drawn without constraints |
//! | [`answer`] | what an engine makes of such a case |
//! | [`tally`] | the levels in a campaign's report |
//!
//! Three quarters of the cases at the level `violate` are valid ones broken in exactly one rule ([`onnx::violate`]).
//! The others are drawn without constraints, and our import says what to expect of engines: a valid one is judged like
//! any other case, an invalid one has to be refused. The two kinds are complementary: a violation is one step
//! from valid, so that it comes past an engine's first checks; a random model is wrong in many places at once.

pub mod answer;
pub mod random;
pub mod schedule;
pub mod tally;

use std::collections::BTreeMap;

use graphgen::{Composites, Forms, Settings};
use ir::{DType, Graph, Stream};
use onnx::proto::{ModelProto, ValueInfoProto};
use onnx::violate::{Rule, Violation, rules};
use ops::Model;
use ops::spec::Place;
use rand::RngExt;
use rand::seq::SliceRandom;

use crate::case::{self, Case, CaseError, Maker, Values};
use crate::validity::{Expectation, Relaxed, Validity};

/// The rule of a model that was drawn without constraints.
pub const RANDOM: &str = "random";

/// One case in so many at the level `violate` is drawn without constraints.
const RANDOM_ONE_IN: u32 = 4;

/// How many models are tried to find one with a place for a rule.
const DRAWS: u64 = 32;

/// A case at the level `violate`: it breaks one of these rules, or is random where all rules are allowed.
pub fn make(
    maker: &Maker<'_>,
    index: u64,
    settings: &Settings,
    allowed: &[&'static Rule],
) -> Result<Case, CaseError> {
    let stream = maker.stream(index).child("relaxed");
    if allowed.is_empty() && stream.child("random").rng().random_ratio(1, RANDOM_ONE_IN) {
        return random::make(index, settings, stream);
    }
    let mut order: Vec<&'static Rule> = if allowed.is_empty() { rules().collect() } else { allowed.to_vec() };
    order.shuffle(&mut stream.child("rules").rng());
    for draw in 0..DRAWS {
        let stream = stream.at(draw);
        let case = maker.make_from(index, &eager(settings, draw), stream)?;
        let refusal =
            if maker.values == Values::None { Refusal::WhereSizesAreKnown } else { Refusal::Always };
        if let Some(broken) = violate(&case, &order, stream, refusal)? {
            return Ok(broken);
        }
    }
    Err(CaseError::NoPlace { index, rules: order.iter().map(|r| r.name).collect::<Vec<_>>().join(", ") })
}

/// Settings with more functions at every other draw, where there may be any: some rules are about functions, and one
/// needs a model without. Rules are broken in models that are written as they are.
fn eager(settings: &Settings, draw: u64) -> Settings {
    let times = if draw.is_multiple_of(2) { 1 } else { 1 + draw };
    let function = (settings.function * times as f64).min(1.0);
    Settings { function, forms: Forms::default(), composites: Composites::default(), ..settings.clone() }
}

/// What our import has to say about a model that breaks a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Refusal {
    /// That it breaks the rule.
    Always,
    /// It breaks the rule. If the model has sizes that follow only from values, import may say anything where these are
    /// not known.
    WhereSizesAreKnown,
}

/// The case with the first of these rules broken that its model has a place for, and that import finds there.
fn violate(
    valid: &Case,
    order: &[&'static Rule],
    stream: Stream,
    refusal: Refusal,
) -> Result<Option<Case>, CaseError> {
    let index = valid.index;
    let model =
        onnx::proto::decode("model", &valid.onnx).map_err(|cause| CaseError::Export { index, cause })?;
    let known = valid.inputs.iter().map(|(name, tensor)| (name.clone(), tensor.clone().into())).collect();
    let may_be_passed_over = refusal == Refusal::WhereSizesAreKnown && has_found_sizes(&valid.model);
    for violation in order.iter().filter_map(|rule| rule.violate(&model, stream)) {
        match violation.refusal(&known) {
            Ok(error) => return Ok(Some(broken(valid, &violation, &error))),
            Err(_) if may_be_passed_over => {}
            Err(cause) => return Err(CaseError::NotRefused { index, cause: Box::new(cause) }),
        }
    }
    Ok(None)
}

/// Whether a size of the model is the number of elements of a value that are not zero.
fn has_found_sizes(model: &Model) -> bool {
    let is_found = |(name, _): (&str, DType)| {
        let fields = ops::find(name).into_iter().flat_map(|spec| &spec.fields);
        fields.flat_map(|field| &field.places).any(|(_, place)| matches!(place, Place::Found(_)))
    };
    case::operators(model).any(is_found)
}

/// The case with a rule broken, which import says in these words.
fn broken(valid: &Case, violation: &Violation, error: &onnx::Error) -> Case {
    let relaxed = Relaxed {
        level: Validity::Violate,
        rule: violation.rule.name.to_owned(),
        operator: violation.operator.clone(),
        expected: Expectation::Refusal,
        why: format!("{}: {error}", violation.edit),
        outputs: outputs(&violation.model, &valid.model),
        onnx: onnx::encode(&violation.model),
    };
    Case { relaxed: Some(relaxed), level: Validity::Violate, ..valid.clone() }
}

impl Case {
    /// The bytes that engines get.
    pub fn bytes(&self) -> &[u8] {
        self.relaxed.as_ref().map_or(&self.onnx, |relaxed| &relaxed.onnx)
    }
}

/// The outputs of a model that may be invalid: with the dtypes that a valid one has, or else with those declared.
fn outputs(proto: &ModelProto, valid: &Model) -> Vec<(String, DType)> {
    let known: BTreeMap<String, DType> = case::outputs(valid).into_iter().collect();
    let outputs = proto.graph.iter().flat_map(|graph| &graph.output);
    let dtype = |o: &ValueInfoProto| {
        known.get(o.name()).copied().or_else(|| Some(onnx::import::declared_type(o)?.dtype))
    };
    outputs.filter_map(|o| Some((o.name().to_owned(), dtype(o)?))).collect()
}

/// A graph without nodes, which stands for the model of a case that has none.
fn no_model(opset: u32) -> Model {
    Model::new(opset, Graph::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_broken_without_values_where_these_decide_sizes_too() {
        let operators = ["Add", "Compress", "NonZero", "Reshape"].into();
        let settings = Settings { nodes: 4, operators, ..Settings::default() };
        let maker = Maker { values: Values::None, ..Maker::new(31, settings) };
        let cases = (0..60).map(|index| make(&maker, index, &maker.settings, &[]).unwrap());
        let broken: Vec<Case> = cases.filter(|case| case.level == Validity::Violate).collect();
        let with_found_sizes = broken.iter().filter(|case| has_found_sizes(&case.model)).count();
        assert!(broken.len() > 30 && with_found_sizes > 10, "{with_found_sizes} of {}", broken.len());
    }
}
