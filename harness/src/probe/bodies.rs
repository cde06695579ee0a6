//! Forms of programs with bodies (If, Loop and Scan): which of them a target lacks.
//!
//! The target gets small models that are written in such a form. A refusal counts if the target takes the plain model
//! that the program leads to: then it lacks the form, and not an operator inside.

use graphgen::{Forms, Settings};

use super::ProbeError;
use super::uses::{self, Runner};
use crate::case::{self, Case};
use crate::support::LackingForm;

/// How many refused programs of a form are enough. If fewer models have a place for the form, all of their programs
/// must be refused.
const TRIED: u64 = 6;

/// How many models are drawn to find these: not each has a place for the form.
const DRAWS: u64 = 96;

/// The forms that a target says it lacks, for every program that was tried.
pub(super) fn lacking(runner: &Runner<'_>, settings: &Settings) -> Result<Vec<LackingForm>, ProbeError> {
    let each = runner.each(&forms::WITH_BODIES, |form| lacks(runner, settings, form))?;
    Ok(each.into_iter().flatten().collect())
}

fn lacks(
    runner: &Runner<'_>,
    settings: &Settings,
    form: &'static str,
) -> Result<Option<LackingForm>, ProbeError> {
    let forms = Forms { share: 1.0, each: [(form, 1.0)].into() };
    let maker = uses::maker(Settings { nodes: 3, forms, ..settings.clone() });
    let mut found: Option<LackingForm> = None;
    let drawn = (0..DRAWS).filter_map(|index| maker.make(index).ok());
    for case in drawn.filter(|case| case.forms.contains(&form) && runner.takes_values_of(case)) {
        let Some(said) = runner.lacks(&case)? else { return Ok(None) };
        let Some(plain) = plain(case) else { continue };
        if runner.lacks(&plain)?.is_some() {
            continue;
        }
        let found = found.get_or_insert(LackingForm { form, tried: 0, said });
        found.tried += 1;
        if found.tried == TRIED {
            break;
        }
    }
    Ok(found)
}

/// The case of the model alone that a program leads to.
fn plain(case: Case) -> Option<Case> {
    let onnx = case::export(&case.model).ok()?;
    Some(Case { onnx, program: None, forms: Vec::new(), ..case })
}
