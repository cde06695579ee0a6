//! The performance oracle: does a target take much longer than for a neighbouring model or level?
//!
//! There are two questions. `optimised`: does it take much longer than at the engine's lowest level, with the
//! optimiser's own time? `size`: does it take much longer than with one size of an input or constant smaller by one? To
//! a kernel, that is the same work.
//!
//! Times are noisy, so the oracle is careful: a run within `LONG` is never slow, each time is the least of `REPEATS`,
//! and the factors are far beyond what a machine does by itself. A saved case is measured anew.

use interp::Taps;
use ir::{Interface, NodeKind, Tensor};
use onnx::CaseFolder;
use ops::Model;
use oracles::{Check, Culprit, Symptom, Verdict, Why};
use worker::{Outcome, WorkerError};

use super::metamorphic::{Loaded, load};
use super::{AskError, NoReplay, Oracle, OracleAnswer, Question, Rewritten};
use crate::blame::{Alone, culprit};
use crate::reduce::{Problem, neighbours};
use harness::case;
use harness::isolate::isolate;
use harness::target::Target;

/// A run that takes no longer than this, in seconds, is not slow.
const LONG: f64 = 0.02;

/// How much longer an optimised model may take than the unoptimised one.
const THAN_UNOPTIMISED: f64 = 10.0;

/// How much longer a model may take than one with a size that is smaller by one.
const THAN_SMALLER: f64 = 100.0;

/// How often a model runs to be timed.
const REPEATS: usize = 3;

/// How many smaller models are timed for each case that takes long.
const NEIGHBOURS: usize = 8;

/// Much longer?
pub struct Performance;

const OPTIMISED: &str = "optimised";
const SIZE: &str = "size";

impl Performance {
    /// The oracle's name.
    pub const NAME: &'static str = "performance";
}

fn check(name: &str) -> Check {
    Check { oracle: Performance::NAME.to_owned(), name: name.to_owned() }
}

impl Oracle for Performance {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn questions(&self) -> Vec<String> {
        [OPTIMISED, SIZE].map(str::to_owned).into()
    }

    fn ask(&self, question: &Question<'_>) -> Result<Vec<OracleAnswer>, AskError> {
        let Outcome::Outputs(_) = question.outcome else { return Ok(Vec::new()) };
        let levels = question.target.below();
        let mut answers: Vec<OracleAnswer> = [OPTIMISED, SIZE]
            .into_iter()
            .filter(|&name| name != OPTIMISED || !levels.is_empty())
            .map(|name| OracleAnswer {
                verdict: Some(Verdict::Pass),
                ..OracleAnswer::inapplicable(check(name))
            })
            .collect();
        if question.seconds < LONG {
            return Ok(answers);
        }
        let timed = Timed {
            model: &question.case.model,
            onnx: &question.case.onnx,
            interface: question.interface.clone(),
            inputs: question.inputs,
        };
        let own = timed.seconds(question.target)?;
        if own.is_infinite() {
            return Ok(answers
                .into_iter()
                .map(|answer| OracleAnswer { verdict: Some(cut_short()), ..answer })
                .collect());
        }
        for answer in &mut answers {
            let slow = if answer.check.name == OPTIMISED {
                timed.optimised(question.target, own)?.map(|verdict| (verdict, None))
            } else {
                timed.size(question.target, own)?.map(|(verdict, smaller)| (verdict, Some(smaller)))
            };
            let Some((mut verdict, smaller)) = slow else { continue };
            if let Verdict::Bug(finding) = &mut verdict {
                let blamed = timed.blame(question.target, own)?;
                (finding.culprit, answer.alone) = blamed.map_or((None, None), |(c, a)| (Some(c), Some(a)));
                finding.check = Some(answer.check.clone());
            }
            (answer.verdict, answer.rewritten) = (Some(verdict), smaller);
        }
        Ok(answers)
    }
}

/// A model that is timed.
struct Timed<'a> {
    model: &'a Model,
    onnx: &'a [u8],
    /// What its inputs and outputs are made of.
    interface: Interface,
    inputs: &'a [Tensor],
}

impl<'a> Timed<'a> {
    /// A model that targets get as it is.
    fn flat(model: &'a Model, onnx: &'a [u8], inputs: &'a [Tensor]) -> Self {
        Self { model, onnx, interface: Interface::of(model), inputs }
    }

    /// The least of several times, loading included; infinite if an answer has no outputs.
    fn seconds(&self, target: &Target) -> Result<f64, WorkerError> {
        let inputs = case::named(self.model, self.inputs.to_vec());
        let mut least = f64::INFINITY;
        for _ in 0..REPEATS {
            let ran = target.run(self.onnx, &inputs, &self.interface)?;
            if matches!(ran.outcome, Outcome::Outputs(_)) {
                least = least.min(ran.engine_seconds);
            }
        }
        Ok(least)
    }

    /// The verdict on a model that takes much longer than without optimisation.
    fn optimised(&self, target: &Target, own: f64) -> Result<Option<Verdict>, WorkerError> {
        let Some(lowest) = target.below().into_iter().next() else { return Ok(None) };
        let plain = self.seconds(&lowest)?;
        let than = format!("at `{}`", lowest.level);
        Ok(is_slow(own, plain, THAN_UNOPTIMISED).then(|| slow(target, own, plain, &than)))
    }

    /// The verdict on a model that takes much longer than a slightly smaller one, and the smaller one.
    fn size(&self, target: &Target, own: f64) -> Result<Option<(Verdict, Rewritten)>, AskError> {
        if own < LONG {
            return Ok(None);
        }
        let problem = Problem::flat(self.model.clone(), self.inputs.to_vec());
        for smaller in neighbours(&problem).take(NEIGHBOURS) {
            let Ok(outputs) = interp::evaluate_plain(&smaller.model, &smaller.inputs) else { continue };
            let onnx = case::export(&smaller.model)?;
            let seconds = Timed::flat(&smaller.model, &onnx, &smaller.inputs).seconds(target)?;
            if is_slow(own, seconds, THAN_SMALLER) {
                let names = smaller.model.graph.outputs.iter().map(|o| o.name.clone());
                let outputs = names.zip(outputs).collect();
                let verdict = slow(target, own, seconds, "with a size that is smaller by one (`rewritten`)");
                return Ok(Some((verdict, Rewritten { onnx, inputs: smaller.named(), outputs })));
            }
        }
        Ok(None)
    }

    /// The operator that takes at least half of the model's time when it runs alone.
    fn blame(&self, target: &Target, own: f64) -> Result<Option<(Culprit, Alone)>, AskError> {
        let Some(graph) = ir::inline::inline(self.model) else { return Ok(None) };
        let flat = Model::new(self.model.opset, graph);
        let Ok(evaluation) = interp::evaluate(&flat, self.inputs, target.profile, Taps::All) else {
            return Ok(None);
        };
        for (id, node) in flat.graph.iter() {
            let NodeKind::Operator(op) = &node.kind else { continue };
            let Some((model, inputs)) = isolate(&flat, id, &evaluation) else { continue };
            let onnx = case::export(&model)?;
            let seconds = Timed::flat(&model, &onnx, &inputs).seconds(target)?;
            if seconds.is_finite() && seconds >= own / 2.0 {
                return Ok(Some((
                    Culprit { alone: true, ..culprit(op, &flat.graph, id) },
                    Alone { problem: Problem::flat(model, inputs), shown: None },
                )));
            }
        }
        Ok(None)
    }
}

fn is_slow(own: f64, other: f64, factor: f64) -> bool {
    own.is_finite() && own >= LONG && own > factor * other
}

fn slow(target: &Target, own: f64, other: f64, than: &str) -> Verdict {
    let detail = format!("takes {:.1} ms, and {:.1} ms {than}", own * 1e3, other * 1e3);
    Verdict::bug(&target.backend, &target.level, Symptom::Slow, detail)
}

/// Measures a saved case anew.
pub(crate) fn replay(folder: &CaseFolder, check: &Check, target: &Target) -> Result<Verdict, NoReplay> {
    let Loaded { model, interface, inputs, .. } = load(folder).map_err(NoReplay::Unusable)?;
    let timed = Timed { model: &model, onnx: &folder.model, interface, inputs: &inputs };
    let own = timed.seconds(target)?;
    if own.is_infinite() {
        return Ok(cut_short());
    }
    let slow = match check.name.as_str() {
        OPTIMISED => timed.optimised(target, own)?,
        SIZE => match timed.size(target, own) {
            Ok(slow) => slow.map(|(verdict, _)| verdict),
            Err(AskError::Worker(e)) => return Err(NoReplay::Worker(e)),
            Err(e) => return Err(NoReplay::Unusable(e.to_string())),
        },
        name => return Err(NoReplay::no_question(name)),
    };
    Ok(slow.unwrap_or(Verdict::Pass))
}

/// The verdict on a model that gave outputs once and none when it was timed.
fn cut_short() -> Verdict {
    Verdict::Incomparable(Why::Undecided("it does not run to its end".to_owned()))
}
