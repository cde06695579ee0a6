//! Writing cases to a folder: `onnxsmith gen`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use interp::{Profile, Taps};
use onnx::CaseFolder;
use serde::Serialize;

use crate::case::{self, Adversarial, Case, Maker, Values};
use crate::folder;
use crate::relax::Level;
use crate::relax::schedule::{Choice, Levels};

/// What was generated.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Generated {
    /// How many cases were made.
    pub generated: u64,
    /// How many draws the generator threw away.
    pub rejected: u64,
    /// How many draws it threw away because the engine that the cases are for lacks their form.
    pub refused_draws: u64,
    /// How many operator nodes the cases have.
    pub nodes: u64,
    /// Seconds by the clock.
    pub wall_seconds: f64,
    /// How often each operator occurs.
    pub operators: BTreeMap<String, u64>,
    /// How many cases have values on which everything is defined.
    pub all_defined: u64,
    /// The cases that were to be adversarial.
    pub adversarial: Adversarial,
    /// How many cases are expected to be refused, by rule.
    pub rules: BTreeMap<String, u64>,
}

/// Why a corpus is not complete.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A case could not be made.
    #[error(transparent)]
    Case(#[from] case::CaseError),
    /// A case has no reference.
    #[error("case {index} has no reference: {cause}")]
    Reference {
        /// The case.
        index: u64,
        /// Why.
        cause: interp::Error,
    },
    /// A case could not be written.
    #[error("case {index} cannot be saved: {cause}")]
    Save {
        /// The case.
        index: u64,
        /// Why.
        cause: onnx::Error,
    },
}

/// Makes `count` cases on `jobs` threads and writes each to its own folder under `out`. The folders' contents do
/// not depend on the number of jobs. `on_case` is told of each case as it is done, in no fixed order.
pub fn generate(
    maker: &Maker<'_>,
    levels: &Levels,
    count: u64,
    jobs: usize,
    out: Option<&Path>,
    on_case: &mut dyn FnMut(u64),
) -> Result<Generated, CorpusError> {
    let started = Instant::now();
    let next = AtomicU64::new(0);
    let mut total = Generated::default();
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..jobs.max(1) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count || sender.send(one(maker, levels, index, out)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for made in receiver {
            let case = made?;
            total.generated += 1;
            total.rejected += case.rejected as u64;
            total.refused_draws += case.refused as u64;
            total.all_defined += u64::from(case.all_defined);
            total.adversarial.take(&case);
            if let Some(relaxed) = &case.relaxed {
                *total.rules.entry(relaxed.rule.clone()).or_default() += 1;
            }
            for (operator, _) in case::operators(&case.model) {
                total.nodes += 1;
                *total.operators.entry(operator.to_owned()).or_default() += 1;
            }
            on_case(total.generated);
        }
        Ok(())
    })
    .map(|()| {
        total.wall_seconds = started.elapsed().as_secs_f64();
        total
    })
}

fn one(maker: &Maker<'_>, levels: &Levels, index: u64, out: Option<&Path>) -> Result<Case, CorpusError> {
    let level = if levels.choice == Choice::Valid { Level::Valid } else { Level::Violate };
    let case = levels.make(maker, index, &maker.settings, level)?;
    let Some(out) = out else { return Ok(case) };
    let path = folder_of(out, index);
    if maker.values == Values::None && case.relaxed.is_none() {
        CaseFolder { model: case.onnx.clone(), ..CaseFolder::default() }.write(&path)
    } else if case.relaxed.is_some() {
        folder::save(&path, maker.seed, &case, &[], &[], None)
    } else {
        let inputs = case::tensors(&case.inputs);
        let evaluation = interp::evaluate(&case.model, &inputs, &Profile::DECLARED, Taps::Outputs)
            .map_err(|cause| CorpusError::Reference { index, cause })?;
        folder::save(&path, maker.seed, &case, &evaluation.outputs, &[], None)
    }
    .map_err(|cause| CorpusError::Save { index, cause })?;
    Ok(case)
}

fn folder_of(out: &Path, index: u64) -> PathBuf {
    out.join(format!("case-{index:06}"))
}
