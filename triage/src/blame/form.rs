//! Which form of a program is to blame, where a target is right about the model that the program leads to.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use ir::{Datum, Type};
use onnx::program::{Program, ValueId};
use oracles::{Culprit, Finding, Symptom, differential};
use worker::{Outcome, WorkerError};

use super::{Alone, AskedAlone, Blamed, Suspect};
use crate::composite::{Composite, composites, has_composites_in_functions};
use crate::forms::{self, Forms, Led, Parameter, ProgramForm, TargetProgram, Undone};
use crate::symptom_match::{SymptomMatch, same_cause};
use harness::case;
use harness::evaluated::Evaluated;
use harness::target::Target;
use harness::trial::Trial;

/// What the operators of a program show that a target sees.
#[derive(Default)]
struct Seen {
    /// The culprit, if an operator fails alone in a way that is like the finding.
    blamed: Blamed,
    /// Whether the culprit alone shows exactly the finding's symptom, and the wrong output depends on it.
    is_same: bool,
    /// An operator that gives a wrong type alone, which may be the reason for a refusal.
    reason: Blamed,
}

/// What becomes of a finding when a form is taken out of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WithoutForm {
    /// The finding still shows, or that cannot be told: there is no program without the form, or it hangs.
    Shows,
    /// The program without the form is refused as well, with another message.
    IsRefusedOtherwise,
    /// The finding no longer shows.
    IsGone,
}

impl Suspect<'_> {
    /// The symptom that a target shows on the model without the forms of its program, if it is like the finding's. If
    /// the model cannot be run, the target is assumed to show the finding's symptom.
    pub(super) fn shown_flat(
        &self,
        target: &Target,
        finding: &Finding,
    ) -> Result<Option<Symptom>, WorkerError> {
        let Some(trial) = self.trial() else { return Ok(Some(finding.symptom.clone())) };
        let mut known = self.shown_flat.borrow_mut();
        let told = match known.entry(target.name()) {
            Entry::Occupied(told) => told.into_mut(),
            Entry::Vacant(open) => open.insert(trial.run(target)?.map(|(found, _)| found.symptom)),
        };
        Ok(told.clone().filter(|symptom| is_like(symptom, finding)))
    }

    /// The model by itself, without the forms of its program.
    fn trial(&self) -> Option<&Trial> {
        let trial = || Trial::of(self.model.clone(), self.inputs.to_vec(), self.profile);
        self.trial.get_or_init(trial).as_ref()
    }

    /// Whether a target lacks a form of the program: of the model without the forms it does not say that it lacks
    /// something.
    pub(crate) fn lacks_a_form(&self, target: &Target) -> Result<bool, WorkerError> {
        let Some(trial) = self.program.and_then(|_| self.trial()) else { return Ok(false) };
        Ok(differential::lacks(&trial.outcome(target)?).is_none())
    }

    /// The first form without which the target is right.
    pub(super) fn blame_form(
        &self,
        target: &Target,
        finding: &Finding,
        TargetProgram { program, interface }: &TargetProgram,
    ) -> Result<Blamed, WorkerError> {
        let inputs = interface.values_of(&case::named(self.model, self.inputs.to_vec()));
        let seen = self.ask_seen(target, finding, program, &inputs)?;
        if seen.is_same {
            return Ok(seen.blamed);
        }
        if let Some(blamed) = self.composite_of(target, finding, program, &inputs)? {
            return Ok(blamed);
        }
        let mut inside = None;
        let forms = Forms::of(program, &inputs);
        for Undone { form, about, program: without } in forms.undone() {
            let then = without_form(target, finding, self.trial_of(&without, &inputs))?;
            if then == WithoutForm::IsRefusedOtherwise && seen.reason.culprit.is_some() {
                return Ok(seen.reason);
            }
            if then != WithoutForm::Shows {
                let named = match form {
                    ProgramForm::Parameters => self.parameter_of(target, finding, &forms, &inputs)?,
                    ProgramForm::FormerOpset => {
                        forms.only_operator().map(|name| (format!("{} of {name}", form.name()), about))
                    }
                    _ => None,
                };
                let (name, about) = named.unwrap_or((form.name().to_owned(), about));
                // A form has no dtype, but its results or operands have one.
                let ty = self.off(finding).cloned().or_else(|| forms.type_of(about?));
                let culprit = Some(Culprit::of_form(&name, ty.as_ref()));
                return Ok(Blamed { culprit, ..Blamed::default() });
            }
            if form == ProgramForm::FormerOpset {
                return self.blame_form(
                    target,
                    finding,
                    &TargetProgram { program: without, interface: interface.clone() },
                );
            }
            let is_call = form == ProgramForm::Functions && has_composites_in_functions(program);
            if form.has_body() || is_call {
                inside.get_or_insert(without);
            }
        }
        // Operators in a body run alone without the body, and so do composite operators in a function.
        match inside.and_then(|without| Some((forms::lead(&without, &inputs).ok()?, without))) {
            Some((Led { model, inputs, interface, .. }, program)) => {
                let suspect = Suspect::new(&model, &inputs, self.profile);
                suspect.blame_form(target, finding, &TargetProgram { program, interface })
            }
            // If the target does not run the model, it may lack an operator of an expansion. Then an operator that
            // fails alone is the best suspect.
            None if self.runs_flat(target)? => Ok(Blamed::default()),
            None => Ok(seen.blamed),
        }
    }

    /// The composite operator that shows the same alone.
    fn composite_of(
        &self,
        target: &Target,
        finding: &Finding,
        program: &Program,
        inputs: &BTreeMap<String, Datum>,
    ) -> Result<Option<Blamed>, WorkerError> {
        let plain = with_plain_constants(program);
        for Composite { name, types, problem, .. } in composites(&plain, inputs) {
            let Ok(trial) = problem.trial(self.profile) else { continue };
            let Some(shown) = shown(target, finding, &trial)? else { continue };
            let types: Vec<Option<&Type>> = types.iter().map(Option::as_ref).collect();
            let culprit = Some(Culprit::alone(&name, &types));
            let alone = Some(Alone { problem, shown: Some(Box::new(shown)) });
            return Ok(Some(Blamed { culprit, alone, ..Blamed::default() }));
        }
        Ok(None)
    }

    /// Whether a target runs the model by itself.
    fn runs_flat(&self, target: &Target) -> Result<bool, WorkerError> {
        let Some(trial) = self.trial() else { return Ok(true) };
        Ok(matches!(trial.outcome(target)?, Outcome::Outputs(_)))
    }

    /// Which operator that the target sees fails alone.
    fn ask_seen(
        &self,
        target: &Target,
        finding: &Finding,
        program: &Program,
        inputs: &BTreeMap<String, Datum>,
    ) -> Result<Seen, WorkerError> {
        let Ok(Led { model, inputs, origins, .. }) = forms::lead(program, inputs) else {
            return Ok(Seen::default());
        };
        let suspect = Suspect::new(&model, &inputs, self.profile);
        let Some(whole) = suspect.whole(target) else { return Ok(Seen::default()) };
        // Operators in a function are as they are written there: the call is no part of an expansion.
        let from = &whole.isolated.from;
        let AskedAlone { guilty, is_same, reasons, refuses_alone } =
            whole.ask_alone(finding, |id| !origins[from[id.index()].index()].is_inner)?;
        // The node is one of another model.
        let blamed = guilty.map(|id| Blamed { node: None, ..whole.alone(id) }).unwrap_or_default();
        let reason =
            if finding.is_refusal() { whole.reason(&reasons, &finding.symptom)? } else { Blamed::default() };
        let reason = Blamed { node: None, ..reason };
        Ok(Seen { blamed: Blamed { refuses_alone, ..blamed }, is_same, reason })
    }

    /// The form's name if the computed operands of one operator are to blame, and the value that this operator gives.
    fn parameter_of(
        &self,
        target: &Target,
        finding: &Finding,
        forms: &Forms<'_>,
        inputs: &BTreeMap<String, Datum>,
    ) -> Result<Option<(String, Option<ValueId>)>, WorkerError> {
        let all = forms.parameters();
        for Parameter { name, gives, program } in &all {
            let then = || without_form(target, finding, self.trial_of(program, inputs));
            if all.len() == 1 || then()? != WithoutForm::Shows {
                return Ok(Some((format!("{} of {name}", ProgramForm::Parameters.name()), *gives)));
            }
        }
        Ok(None)
    }

    /// Another program for the same inputs.
    fn trial_of(&self, program: &Program, inputs: &BTreeMap<String, Datum>) -> Option<Trial> {
        let onnx = onnx::encode(&program.write());
        let led = forms::lead(program, inputs).ok()?;
        let evaluated = Evaluated::of(&led.model, &led.inputs, self.profile).ok()?;
        Some(Trial::written(led.model, led.inputs, onnx, led.interface, evaluated))
    }

    /// The type of the output that has wrong elements, if one has.
    fn off(&self, finding: &Finding) -> Option<&Type> {
        let graph = &self.model.graph;
        let worst = finding.worst.as_ref()?;
        let output = graph.outputs.iter().find(|output| output.name == worst.output)?;
        Some(graph.ty(output.value))
    }
}

/// What a target shows of a finding on a program without one of its forms.
fn without_form(
    target: &Target,
    finding: &Finding,
    trial: Option<Trial>,
) -> Result<WithoutForm, WorkerError> {
    let Some(trial) = trial else { return Ok(WithoutForm::Shows) };
    let found = trial.run(target)?.map(|(found, _)| found);
    Ok(WithoutForm::of(finding, found.as_ref()))
}

impl WithoutForm {
    /// What follows for a finding from what was found without the form.
    fn of(finding: &Finding, found: Option<&Finding>) -> Self {
        match found {
            Some(found) if is_like(&found.symptom, finding) || found.symptom.is_hang() => Self::Shows,
            Some(found) if found.is_refusal() && finding.is_refusal() => Self::IsRefusedOtherwise,
            Some(_) | None => Self::IsGone,
        }
    }
}

/// The symptom that a target shows on another trial, if it is like the finding's.
fn shown(target: &Target, finding: &Finding, trial: &Trial) -> Result<Option<Finding>, WorkerError> {
    let found = trial.run(target)?.map(|(found, _)| found);
    Ok(found.filter(|found| is_like(&found.symptom, finding)))
}

fn is_like(symptom: &Symptom, finding: &Finding) -> bool {
    SymptomMatch::of(symptom, &finding.symptom) >= SymptomMatch::Related
        || same_cause(symptom, &finding.symptom)
}

/// A program in which constants are initializers, dense and in bytes: what is wrong with those alone is a form's, and what a Constant
/// node gives is an operator's own.
fn with_plain_constants(program: &Program) -> Cow<'_, Program> {
    let ways: [fn(&Program) -> Option<Program>; 3] =
        [Program::without_constant_nodes, Program::without_sparse_initializers, |program| {
            program.without_tensor_fields(|_| true)
        }];
    ways.into_iter().fold(Cow::Borrowed(program), |plain, without| match without(&plain) {
        Some(without) => Cow::Owned(without),
        None => plain,
    })
}

#[cfg(test)]
mod tests {
    use oracles::{ErrorShape, Verdict};
    use worker::{FaultKind, Stage};

    use super::*;

    fn finding(symptom: Symptom) -> Finding {
        match Verdict::bug("e", "none", symptom, String::new()) {
            Verdict::Bug(finding) => *finding,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_refusal_in_other_words_and_a_hang_prove_no_form_guilty() {
        let refused =
            |message: &str| finding(Symptom::Rejected { stage: Stage::Load, message: message.to_owned() });
        let hang = finding(Symptom::Fault { kind: FaultKind::Timeout, place: String::new() });
        let wrong = finding(Symptom::Mismatch(ErrorShape::Gross));
        let told = refused("no super type for what the branch gives");
        for (found, then) in [
            (None, WithoutForm::IsGone),
            (Some(&wrong), WithoutForm::IsGone),
            (Some(&told), WithoutForm::Shows),
            (Some(&hang), WithoutForm::Shows),
            (Some(&refused("cannot unify the types of two operands")), WithoutForm::IsRefusedOtherwise),
        ] {
            assert_eq!(WithoutForm::of(&told, found), then, "{found:?}");
        }
        assert_eq!(WithoutForm::of(&wrong, Some(&told)), WithoutForm::IsGone);
    }
}
