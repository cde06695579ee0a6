//! Calls replaced by the bodies they call; functions without calls are dropped with every edit.

use ir::inline::inline;
use ops::Model;

use super::Candidates;
use crate::reduce::interest::Shown;
use crate::reduce::problem::Problem;

pub(super) fn candidates(shown: &Shown) -> Candidates<'_> {
    let Problem { model, inputs, .. } = &shown.problem;
    let flat = move || Some(Problem::flat(Model::new(model.opset, inline(model)?), inputs.clone()));
    Box::new((!model.functions.is_empty()).then(flat).flatten().into_iter())
}
