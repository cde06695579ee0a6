//! After how many cases a wrong program is noticed.

use anyhow::{Context, Result};
use harness::Maker;
use harness::case::{Case, CaseError};
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

/// A fault that shows as another program than the case's.
pub(crate) trait Rewriting {
    /// The program that an implementation with the fault runs in place of one; `None` where it has no part in it.
    fn wrong(&self, program: &Program) -> Option<Program>;

    /// What a refusal of that program means.
    fn refused(&self) -> Refused;
}

/// After how many of the first cases the reference finds what the right kernels give on each fault's programs; `None`
/// for one that it does not find. A case is made, and evaluated, once for all faults that are still to be found.
pub(crate) fn first_found<F: Rewriting>(
    maker: &Maker<'_>,
    cases: u64,
    faults: &[F],
) -> Result<Vec<Option<u64>>> {
    let right = target(&[]).context(crate::engines::NO_LEVEL)?;
    let mut found = vec![None; faults.len()];
    for index in 0..cases {
        if found.iter().all(Option::is_some) {
            break;
        }
        let case = match maker.make(index) {
            Err(CaseError::Nothing { .. }) => continue,
            made => made?,
        };
        let Some(program) = &case.program else { continue };
        let interface = ir::Interface::of(&case.model);
        let mut reference = None;
        for (fault, found) in faults.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
            let Some(wrong) = fault.wrong(program) else { continue };
            let outcome = right.run(&onnx::encode(&wrong.write()), &case.inputs, &interface)?.outcome;
            let is_found = match outcome {
                Outcome::Outputs(_) => once(&mut reference, &case)?.ask(&outcome).alarms[FIRST],
                Outcome::Rejected { .. } => fault.refused() == Refused::Found,
                Outcome::Unsupported { .. } | Outcome::Fault(_) => false,
            };
            *found = is_found.then_some(index + 1);
        }
    }
    Ok(found)
}

/// The reference of a case, worked out where it is first asked for.
fn once<'a>(reference: &'a mut Option<Reference>, case: &Case) -> Result<&'a Reference> {
    let known = match reference.take() {
        Some(known) => known,
        None => Reference::of(case)?,
    };
    Ok(reference.insert(known))
}
