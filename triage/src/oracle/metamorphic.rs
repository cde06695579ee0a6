//! The metamorphic oracle. A campaign asks about one relation per case, drawn from those that were chosen.

use std::collections::BTreeSet;

use interp::{Bounded, Taps};
use ir::{Interface, NodeId, Tensor};
use onnx::import::draws;
use onnx::{CaseFolder, Imported};
use ops::Model;
use oracles::metamorphic::{self, Pair, Relation, Subject};
use oracles::{Check, Expected, Verdict, Why};
use rand::seq::SliceRandom;
use worker::Outcome;

use super::saved::Saved;
use super::{AskError, Extent, NoReplay, Oracle, OracleAnswer, Question, Rewritten, relation};
use crate::allowance::Exam;
use crate::blame::Suspect;
use harness::case::{self, Case};
use harness::reference;
use harness::target::Target;

/// Does the target give the same for the model in another form?
pub struct Metamorphic {
    relations: Vec<&'static Relation>,
}

impl Metamorphic {
    /// The oracle's name.
    pub const NAME: &'static str = "metamorphic";

    /// The oracle with these relations, or with all if there are none among them.
    pub fn of(relations: Vec<&'static Relation>) -> Self {
        let all = || metamorphic::ALL.iter().collect();
        Self { relations: if relations.is_empty() { all() } else { relations } }
    }
}

/// The question whether a relation holds.
fn check(relation: &Relation) -> Check {
    Check { oracle: Metamorphic::NAME.to_owned(), name: relation.name.to_owned() }
}

impl Oracle for Metamorphic {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn questions(&self) -> Vec<String> {
        self.relations.iter().map(|relation| relation.name.to_owned()).collect()
    }

    /// Tries the relations in random order, and asks about the first that applies, or about every one that does. The
    /// choice depends on the case alone, so every target is asked the same.
    fn ask(&self, question: &Question<'_>) -> Result<Vec<OracleAnswer>, AskError> {
        let Outcome::Outputs(original) = question.outcome else { return Ok(Vec::new()) };
        if stands_in(question.case) || !can_be_written(question.case) {
            let not_applicable = |relation: &&'static Relation| OracleAnswer::inapplicable(check(relation));
            return Ok(self.relations.iter().map(not_applicable).collect());
        }
        let subject = Subject { model: question.case.model.clone(), inputs: question.inputs.to_vec() };
        let mut order = self.relations.clone();
        order.shuffle(&mut question.stream.child("order").rng());
        let mut answers = Vec::new();
        for relation in order {
            let Some(form) = relation.apply(&subject, question.stream.child(relation.name))? else {
                answers.push(OracleAnswer::inapplicable(check(relation)));
                continue;
            };
            answers.push(answer(question, relation, &form, original)?);
            if question.extent == Extent::One {
                break;
            }
        }
        Ok(answers)
    }
}

/// Whether numbers in the model stand for values that a target computes. The rewritten model would then compute
/// something else than the program.
fn stands_in(case: &Case) -> bool {
    !case.unknown.is_empty() || case.program.as_ref().is_some_and(draws)
}

/// Whether the graph that a program leads to can be written by itself. Expansions move elements of dtypes that the
/// operators do not have in the opset.
fn can_be_written(case: &Case) -> bool {
    case.program.is_none() || case::export(&case.model).is_ok()
}

/// Runs the rewritten model and judges both.
fn answer(
    question: &Question<'_>,
    relation: &Relation,
    form: &metamorphic::Rewritten,
    original: &[(String, Tensor)],
) -> Result<OracleAnswer, AskError> {
    let (target, Subject { model, inputs }) = (question.target, &form.subject);
    let check = check(relation);
    if let Some(why) = target.lacks(model, &BTreeSet::new()) {
        let verdict = Some(Verdict::Incomparable(Why::Unsupported(why)));
        return Ok(OracleAnswer { verdict, ..OracleAnswer::inapplicable(check) });
    }
    let named = case::named(model, inputs.clone());
    let ran = target.run(&form.onnx, &named, &Interface::of(model))?;
    let judged = |but: &BTreeSet<String>| {
        judge(target, relation, question.expected, original, &ran.outcome, &form.subject, but)
            .with_stderr(&ran.stderr)
    };
    let suspect = Suspect::new(model, inputs, target.profile);
    let exam = Exam::by(&ran.outcome, judged);
    let (mut verdict, alone) = suspect.conclude(target, question.case.all_defined, &exam)?;
    let mut rewritten = None;
    if let Verdict::Bug(finding) = &mut verdict {
        finding.check = Some(check.clone());
        finding.detail = format!("relation `{}`: {}", relation.name, finding.detail);
        rewritten =
            Some(Rewritten { onnx: form.onnx.clone(), inputs: named, outputs: outputs(model, inputs) });
    }
    Ok(OracleAnswer { check, verdict: Some(verdict), alone, rewritten })
}

/// Judges both forms without the outputs of some names.
fn judge(
    target: &Target,
    relation: &Relation,
    expected: &Expected<'_>,
    original: &[(String, Tensor)],
    rewritten: &Outcome,
    subject: &Subject,
    but: &BTreeSet<String>,
) -> Verdict {
    let Subject { model, inputs } = subject;
    let expected = Expected { outputs: &expected.but(but), ..*expected };
    let pair = Pair {
        backend: &target.backend,
        level: &target.level,
        fidelity: target.fidelity,
        holds: relation.holds,
        expected,
        original,
        rewritten,
    };
    metamorphic::judge(&pair, || {
        let evaluation = interp::evaluate(model, inputs, target.profile, Taps::Outputs).ok()?;
        let mut by_name = model.graph.outputs.iter().map(|o| &o.name).zip(evaluation.outputs);
        // Outputs that the rewrite adds come last.
        let kept = by_name.by_ref().take(expected.names.len());
        let (names, outputs): (Vec<&String>, Vec<Bounded>) = kept.unzip();
        let same_names = names.into_iter().eq(expected.names);
        same_names.then(|| Expected { outputs: &outputs, ..expected }.but(but).into_owned())
    })
}

/// The outputs of a model by the reference, by name.
fn outputs(model: &Model, inputs: &[Tensor]) -> Vec<(String, Tensor)> {
    let names = model.graph.outputs.iter().map(|o| o.name.clone());
    interp::evaluate_plain(model, inputs).map(|all| names.zip(all).collect()).unwrap_or_default()
}

/// Asks about a saved case once more, with its two models, on a target.
pub(crate) fn replay(folder: &CaseFolder, check: &Check, target: &Target) -> Result<Verdict, NoReplay> {
    let relation = relation(&check.name).map_err(|e| NoReplay::Unusable(e.to_string()))?;
    let no_second = || NoReplay::Unusable("the folder has no `rewritten` model".to_owned());
    let form = folder.rewritten.as_deref().ok_or_else(no_second)?;
    let Saved { trial: first, .. } = Saved::load(folder, target.profile)?;
    let Outcome::Outputs(original) = first.outcome(target)? else {
        return Ok(Verdict::Incomparable(Why::Undecided("the original has no outputs".to_owned())));
    };
    let Loaded { model, interface, inputs, unseen } = load(form).map_err(NoReplay::Unusable)?;
    let lacks = || target.declines(&model, &unseen).or_else(|| target.lacks(&model, &unseen));
    let lacking = lacks().map(|why| Verdict::Incomparable(Why::Unsupported(why)));
    let outcome = target.run(&form.model, &case::named(&model, inputs.clone()), &interface)?.outcome;
    let subject = Subject { model, inputs };
    let judged = |but: &BTreeSet<String>| {
        judge(target, relation, &first.expected(), &original, &outcome, &subject, but)
    };
    let exam = Exam::by(&outcome, judged);
    if let (Verdict::Bug(_), Some(lacking)) = (&exam.verdict, lacking) {
        return Ok(lacking);
    }
    let suspect = Suspect::new(&subject.model, &subject.inputs, target.profile);
    Ok(suspect.settled(target, &exam)?)
}

/// What a folder's program leads to.
pub(super) struct Loaded {
    pub(super) model: Model,
    pub(super) interface: Interface,
    /// The nodes of it that targets do not see.
    pub(super) unseen: BTreeSet<NodeId>,
    /// The values of the model's variables, in order.
    pub(super) inputs: Vec<Tensor>,
}

/// The model and the inputs of a folder, within what the reference can do.
pub(super) fn load(folder: &CaseFolder) -> Result<Loaded, String> {
    let known = case::known_inputs(folder);
    let imported = case::import(&folder.model, &known).map_err(|e| e.to_string())?;
    let unseen = imported.unseen();
    let Imported { model, interface, .. } = imported;
    reference::affordable(&model)?;
    let inputs = reference::bind(&model, &known)?;
    Ok(Loaded { model, interface, unseen, inputs })
}
