//! Whether a problem still shows the finding.
//!
//! A smaller case is worth nothing if it shows another bug. So the same target (backend and level) has to show a
//! finding of the same signature: symptom, culprit, dtype and class of shapes. Four more things are asked of it:
//!
//! - It is valid, and the reference can evaluate it.
//! - It is as tame as the original. If the original has no undefined element, or no NaN and infinity, or no operator
//!   whose result the standard does not specify, then the problem has none either. A division by zero that comes from a
//!   smaller value is not what was found, nor is a padding below 0 that comes from a dropped attribute.
//! - It has an operator.
//! - It has no dtype in which the target says that it does not compute, unless the original has.
//!
//! If a later operator fails on a wrong type, its words are in no signature, and may change. One more thing may change:
//! elements that were slightly off, by up to 16 bounds, may become grossly off. In a long graph the bound of an output
//! grows with every operator, and hides the size of an error that is beyond doubt where it is made.
//!
//! Everything else in the signature counts, details included. A fault of an operator on a scalar, or only next to
//! another operator, is mostly another bug than a fault of that operator on its own: otherwise a finding in rten's
//! fusion of MatMul and Add would end as one in its Add. And a symptom is what the outputs show: if a wrong number is
//! seen as a NaN because a Log follows, the Log stays.

use std::collections::{BTreeMap, BTreeSet};

use interp::{Evaluation, Taps};
use ir::{Node, NodeKind, Tensor, Value};
use onnx::Bytes;
use ops::{Hazard, Model, Op, Operator};
use oracles::{Afar, ErrorShape, Finding, Nearness, Symptom, Verdict, Why};
use worker::{Outcome, WorkerError};

use super::problem::Problem;
use crate::allowance::Exam;
use crate::blame::{Alone, Suspect};
use harness::case;
use harness::evaluated::Evaluated;
use harness::isolate::Isolated;
use harness::reference::{self, Large};
use harness::target::Target;

/// A problem that shows the finding, with what was learned about it.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The problem.
    pub problem: Problem,
    /// Its model as ONNX.
    pub onnx: Bytes,
    /// The finding.
    pub finding: Finding,
    /// The outputs by the reference.
    pub evaluated: Evaluated,
    /// The reference's values of the main graph.
    pub values: BTreeMap<Value, Tensor>,
    /// The culprit alone, if it shows the same alone.
    pub alone: Option<Problem>,
}

/// Decides whether a reduction goes on from a problem.
pub(super) trait Interesting: Sync {
    /// The problem with its finding, if it is one to go on from.
    fn of(&self, problem: &Problem) -> Result<Option<Shown>, WorkerError>;
}

/// What a finding is compared with.
pub(super) struct Interest<'t> {
    target: &'t Target,
    /// The finding to keep.
    wanted: Finding,
    tame: Tame,
    /// Whether the target computes in all dtypes of the problem.
    is_taken: bool,
    /// Whether the reference may take what this machine has.
    large: Large,
}

/// Properties of all values and operators of a problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tame {
    /// None is undefined.
    pub(crate) defined: bool,
    /// None is NaN or infinite.
    pub(crate) finite: bool,
    /// Whether the standard specifies the result of every operator, whatever its operands hold.
    pub(crate) specified: bool,
}

/// What is asked about a finding on a problem.
pub(crate) struct Inquiry<'q> {
    /// Whether it is worth asking who is to blame.
    pub(crate) is_worth_it: &'q dyn Fn(Tame, &Finding) -> bool,
    /// Finds who is to blame: gives the verdict on the finding with that, and the culprit alone.
    pub(crate) accuse: &'q Accuse<'q>,
    /// Whether the reference may take what this machine has.
    pub(crate) large: Large,
}

type Accuse<'q> =
    dyn Fn(&Suspect<'_>, Tame, Box<Finding>) -> Result<(Verdict, Option<Alone>), WorkerError> + 'q;

/// What came of running a problem.
pub(crate) enum ProblemRun {
    Shown(Box<Shown>, Tame),
    /// Nothing is wrong, in words.
    Nothing(String),
}

impl<'t> Interest<'t> {
    /// The interest in the finding that a problem shows on a target; or the answer, if the problem shows none.
    pub(super) fn new(
        target: &'t Target,
        problem: &Problem,
        large: Large,
    ) -> Result<Result<(Self, Shown), String>, WorkerError> {
        Ok(match blamed(target, problem, large, &|_, _| true)? {
            ProblemRun::Nothing(why) => Err(why),
            ProblemRun::Shown(shown, tame) => {
                let is_taken = is_taken(target, problem);
                Ok((Self { target, wanted: shown.finding.clone(), tame, is_taken, large }, *shown))
            }
        })
    }

    /// This interest on a target that is asked in another way.
    pub(super) fn on<'o>(&self, target: &'o Target) -> Interest<'o> {
        let Self { ref wanted, tame, is_taken, large, .. } = *self;
        Interest { target, wanted: wanted.clone(), tame, is_taken, large }
    }
}

impl Interesting for Interest<'_> {
    fn of(&self, problem: &Problem) -> Result<Option<Shown>, WorkerError> {
        if self.is_taken && !is_taken(self.target, problem) {
            return Ok(None);
        }
        let is_worth_blaming = |tame: Tame, finding: &Finding| {
            tame.at_least(self.tame) && is_kept(&finding.symptom, &self.wanted)
        };
        Ok(match blamed(self.target, problem, self.large, &is_worth_blaming)? {
            ProblemRun::Shown(shown, _) if is_same(&shown.finding, &self.wanted) => Some(*shown),
            _ => None,
        })
    }
}

/// Whether a target says that it computes in all dtypes of a problem, functions included. A problem with a
/// program passes: the expansions of its composite operators are in the model but invisible to the target, so
/// their dtypes do not count.
fn is_taken(target: &Target, problem: &Problem) -> bool {
    let dtypes = case::dtypes(&problem.model, &BTreeSet::new());
    problem.program.is_some() || dtypes.iter().all(|dtype| target.support.dtypes.contains(dtype))
}

/// Runs, judges and blames as a campaign does.
fn blamed(
    target: &Target,
    problem: &Problem,
    large: Large,
    is_worth_it: &dyn Fn(Tame, &Finding) -> bool,
) -> Result<ProblemRun, WorkerError> {
    let accuse = |suspect: &Suspect<'_>, tame: Tame, finding: Box<Finding>| {
        suspect.accuse(target, tame.defined, finding).map(|accused| (accused.verdict, accused.alone))
    };
    run(target, problem, &Inquiry { is_worth_it, accuse: &accuse, large })
}

/// Whether a finding is the wanted one.
fn is_same(found: &Finding, wanted: &Finding) -> bool {
    let as_wanted = Finding { symptom: wanted.symptom.clone(), ..found.clone() };
    is_kept(&found.symptom, wanted) && as_wanted.signature() == wanted.signature()
}

/// Whether a symptom is as good as the wanted one: the same as far as signatures tell, or a clearer one.
fn is_kept(found: &Symptom, wanted: &Finding) -> bool {
    let is_clearer = matches!(
        (found, &wanted.symptom),
        (Symptom::Mismatch(ErrorShape::Gross), Symptom::Mismatch(ErrorShape::Slight))
    );
    is_clearer || Finding { symptom: found.clone(), ..wanted.clone() }.signature() == wanted.signature()
}

impl Tame {
    fn of(model: &Model, evaluation: &Evaluation) -> Self {
        let graph = &model.graph;
        let is_open = |node: &Node<Op>| {
            let NodeKind::Operator(op) = &node.kind else { return false };
            op.hazards(&graph.types(&node.inputs)).contains(&Hazard::Always)
        };
        let mut values = evaluation.taps.values();
        let is_finite = |t: &Tensor| !t.dtype().is_float() || t.to_f64s().iter().all(|v| v.is_finite());
        Self {
            defined: values.clone().all(|v| v.undefined.is_empty()),
            finite: values.all(|v| is_finite(&v.tensor)),
            specified: !graph.nodes.iter().any(is_open),
        }
    }

    pub(super) fn at_least(self, other: Self) -> bool {
        (self.defined || !other.defined)
            && (self.finite || !other.finite)
            && (self.specified || !other.specified)
    }
}

/// Runs and judges a problem, and looks for a culprit if that is worth it.
pub(crate) fn run(
    target: &Target,
    problem: &Problem,
    inquiry: &Inquiry<'_>,
) -> Result<ProblemRun, WorkerError> {
    let nothing = |why: &dyn std::fmt::Display| Ok(ProblemRun::Nothing(why.to_string()));
    let Problem { model, inputs, program } = problem;
    if let Err(e) = model.validate() {
        return nothing(&e);
    }
    if let Err(e) = reference::bearable(model, Taps::Outputs, inquiry.large) {
        return nothing(&e);
    }
    let trial = match problem.trial(target.profile) {
        Ok(trial) => trial,
        Err(e) => return nothing(&e),
    };
    let ran = trial.ran(target)?;
    let suspect = Suspect::new(model, inputs, target.profile).written(program.as_deref());
    let settled =
        suspect.settled(target, &Exam::new(target, &ran.outcome, &ran.stderr, &trial.expected()))?;
    let finding = match settled {
        Verdict::Pass => return nothing(&"its outputs are right"),
        Verdict::Incomparable(why) => return nothing(&why),
        Verdict::Bug(finding) => finding,
    };
    let Some(isolated) = suspect.isolated() else {
        return nothing(&"with its functions written out it has too many nodes");
    };
    let tame = Tame::of(&isolated.flat, &isolated.evaluation);
    if !(inquiry.is_worth_it)(tame, &finding) {
        return nothing(&finding.detail);
    }
    let (finding, alone) = match (inquiry.accuse)(&suspect, tame, finding)? {
        (Verdict::Bug(finding), alone) => (*finding, alone.map(|alone| alone.problem)),
        (Verdict::Incomparable(why), _) => return nothing(&why),
        (Verdict::Pass, _) => return nothing(&"its outputs are right"),
    };
    let Some(values) = values(problem, target, isolated) else { return nothing(&"it has no values") };
    let (problem, onnx, evaluated) = (problem.clone(), trial.onnx, trial.evaluated);
    let shown = Shown { problem, onnx, finding, evaluated, values, alone };
    Ok(ProblemRun::Shown(Box::new(shown), tame))
}

/// The suspect elements of a target's answer that is not wrong, in words.
pub(super) fn suspect(
    target: &Target,
    problem: &Problem,
    large: Large,
) -> Result<Option<String>, WorkerError> {
    let Problem { model, inputs, program } = problem;
    if model.validate().is_err() || reference::bearable(model, Taps::Outputs, large).is_err() {
        return Ok(None);
    }
    let Ok(trial) = problem.trial(target.profile) else { return Ok(None) };
    let outcome = trial.outcome(target)?;
    let expected = trial.expected();
    let suspect = Suspect::new(model, inputs, target.profile).written(program.as_deref());
    let assessment = target.assess(&outcome, &expected);
    Ok(match (&assessment.verdict, &outcome) {
        (Verdict::Pass, _) => {
            let doubted = suspect.doubted(target, &assessment, &outcome, &expected);
            doubted.map(|doubted| doubted.to_string())
        }
        (Verdict::Incomparable(Why::Undecidable), Outcome::Outputs(given)) => {
            let afar = Afar::of(given, &expected, &suspect.limits(target));
            (afar.nearness() == Nearness::Far).then(|| afar.to_string())
        }
        _ => None,
    })
}

/// Every value of the main graph. Without functions, it is the graph that was taken apart.
fn values(problem: &Problem, target: &Target, isolated: &Isolated) -> Option<BTreeMap<Value, Tensor>> {
    let Problem { model, inputs, .. } = problem;
    let taps = if model.functions.is_empty() {
        isolated.evaluation.taps.clone()
    } else {
        interp::evaluate(model, inputs, target.profile, Taps::All).ok()?.taps
    };
    Some(taps.into_iter().map(|(value, judged)| (value, judged.tensor)).collect())
}

#[cfg(test)]
mod tests {
    use interp::Profile;
    use ir::{DType, Type};

    use super::*;

    fn tame(attributes: &str) -> Tame {
        let text = format!(
            "onnxsmith 1 opset 17 graph {{ %0: f32[1, 1, 1] = variable \"x\" \
             %1: f32[1, 1, 2] = ConvTranspose(%0, %0) {{auto_pad = \"NOTSET\", group = 1, {attributes}}} return \"y\" = %1 }}"
        );
        let model: Model = text.parse().expect("a model");
        let x = Tensor::from_f64_fn(&Type::new(DType::F32, [1, 1, 1]), |_| 1.0);
        let evaluation =
            interp::evaluate(&model, &[x], &Profile::DECLARED, Taps::All).expect("inputs that fit");
        Tame::of(&model, &evaluation)
    }

    #[test]
    fn what_the_standard_leaves_open_is_no_smaller_case_of_what_it_decides() {
        let (decided, open) = (tame("output_padding = [1], strides = [2]"), tame("output_shape = [2]"));
        assert!(decided.specified && !open.specified);
        assert!(decided.at_least(open) && !open.at_least(decided) && open.at_least(open));
    }
}
