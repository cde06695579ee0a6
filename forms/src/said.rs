//! What is said of the types of values inside: of some, or of none.

use ir::Choices;
use rand::RngExt;

use crate::draft::Draft;

/// Less of it.
pub(crate) fn write(mut draft: Draft, choices: &mut Choices) -> Option<Draft> {
    let share = if choices.random_bool(0.5) { 0.0 } else { choices.random_range(0.1..0.9) };
    let declared = &mut draft.body_mut().declared;
    let before = declared.len();
    declared.retain(|_| choices.random_bool(share));
    (declared.len() < before).then_some(draft)
}
