//! Finding out which operators and dtypes a target lacks.
//!
//! A graph of ten nodes that holds one operator the engine lacks tests nothing, so before a campaign each
//! operator is tried alone, on each dtype. What an engine says it does not support is kept out of the graphs
//! meant for it; what it gets wrong is not: that is what the campaign is for.

use std::collections::BTreeSet;
use std::sync::Arc;

use backends::worker::WorkerError;
use graphgen::{Settings, Weights};
use ir::{DType, DTypes};
use oracles::differential;

use crate::case::{self, Case, Maker, Values};
use crate::target::Target;

/// How many uses of an operator are tried before it counts as lacking.
const TRIES: u64 = 3;

/// Fills in what the target lacks, among the operators and dtypes of the settings.
pub fn probe(target: &mut Target, settings: &Settings) -> Result<(), WorkerError> {
    let mut lacking = BTreeSet::new();
    for spec in settings.available() {
        for dtype in settings.dtypes.intersection(target.dtypes).iter() {
            if lacks(target, settings, spec.name, dtype)? {
                lacking.insert((spec.name, dtype));
            }
        }
    }
    target.lacking = Arc::new(lacking);
    target.functions = has_functions(target, settings)?;
    Ok(())
}

/// Whether not every model with a function is answered with "unsupported".
fn has_functions(target: &Target, settings: &Settings) -> Result<bool, WorkerError> {
    let settings =
        target.narrow(Settings { nodes: 1, function: 1.0, operators: ["Add"].into(), ..settings.clone() });
    for case in tries(settings) {
        if !case.model.functions.is_empty() && !says_no(target, &case)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The cases that are tried within settings.
fn tries(settings: Settings) -> impl Iterator<Item = Case> {
    let opset = Some(settings.opset);
    let maker = Maker {
        seed: 0,
        opset,
        settings,
        nodes: None,
        policy: &Weights,
        swarm: false,
        values: Values::Plain,
    };
    (0..TRIES).filter_map(move |index| maker.make(index).ok())
}

/// Whether a case is answered with "unsupported".
fn says_no(target: &Target, case: &Case) -> Result<bool, WorkerError> {
    let outputs = case::outputs(&case.model);
    let ran = target.run(&case.onnx, &case.inputs, &outputs)?;
    Ok(differential::lacks(&ran.outcome).is_some())
}

/// Whether every use of the operator on the dtype that is tried is answered with "unsupported".
fn lacks(
    target: &Target,
    settings: &Settings,
    operator: &'static str,
    dtype: DType,
) -> Result<bool, WorkerError> {
    let alone = Settings { nodes: 1, operators: [operator].into(), function: 0.0, ..settings.clone() };
    let mut answers = 0;
    for dtypes in [DTypes::of(&[dtype]), target.dtypes] {
        let settings = Settings { dtypes: dtypes.intersection(alone.dtypes), ..alone.clone() };
        for case in tries(settings) {
            if !case::operators(&case.model).any(|used| used == (operator, dtype)) {
                continue;
            }
            answers += 1;
            if !says_no(target, &case)? {
                return Ok(false);
            }
        }
    }
    Ok(answers > 0)
}
