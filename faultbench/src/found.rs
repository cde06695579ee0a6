//! After how many cases a wrong program is noticed.

use anyhow::{Context, Result};
use harness::Maker;
use harness::case::CaseError;
use onnx::program::Program;
use worker::Outcome;

use crate::judges::{FIRST, Reference};
use crate::kernels::target;

/// What it means that a wrong program cannot be read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// An implementation with the fault refuses the right program as well, which is seen.
    Found,
    /// No implementation has that fault for long: it does not count.
    Skipped,
}

/// After how many cases, of so many, the right kernels give what the reference finds, on the program that `wrong` makes of a case's.
pub(crate) fn first_found(
    maker: &Maker<'_>,
    cases: u64,
    refused: Refused,
    wrong: impl Fn(&Program) -> Option<Program>,
) -> Result<Option<u64>> {
    let right = target(&[]).context(crate::engines::NO_LEVEL)?;
    for index in 0..cases {
        let case = match maker.make(index) {
            Err(CaseError::Nothing { .. }) => continue,
            made => made?,
        };
        let Some(wrong) = case.program.as_ref().and_then(&wrong) else { continue };
        let interface = ir::Interface::of(&case.model);
        let outcome = right.run(&onnx::encode(&wrong.write()), &case.inputs, &interface)?.outcome;
        let is_found = match outcome {
            Outcome::Outputs(_) => Reference::of(&case)?.ask(&outcome).alarms[FIRST],
            Outcome::Rejected { .. } => refused == Refused::Found,
            Outcome::Unsupported { .. } | Outcome::Fault(_) => false,
        };
        if is_found {
            return Ok(Some(index + 1));
        }
    }
    Ok(None)
}
