//! The culprit alone.
//!
//! Blame has already run the culprit alone, so where it shows the finding this is one step from any graph.

use super::Candidates;
use crate::reduce::interest::Shown;

pub(super) fn candidates(shown: &Shown) -> Candidates<'_> {
    Box::new(shown.alone.iter().cloned())
}
