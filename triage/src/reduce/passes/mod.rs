//! The passes: each makes smaller candidates from a problem, and knows nothing of whether they are interesting.
//!
//! | module | makes |
//! |---|---|
//! | `isolate` | the culprit alone |
//! | `forms` | less of a program: one form written out, fewer iterations, fewer nodes |
//! | `given` | a program's inputs and initializers, smaller and simpler |
//! | `functions` | calls replaced by bodies |
//! | `outputs` | fewer outputs, or a value inside as the only one |
//! | `leaves` | the reference's values in place of nodes, as inputs or constants |
//! | `bypass` | an operand in place of a node |
//! | `operands` | fewer operands |
//! | `shrink` | smaller sizes |
//! | `attributes` | attributes at their defaults, or simpler ones |
//! | `values` | simpler numbers |
//! | `narrow` | narrower dtypes |
//! | `telling` | numbers that tell elements apart, once nothing makes the problem smaller |
//!
//! A pass is lazy, as most of its candidates are never asked for: once one is interesting, it starts again on that.

mod attributes;
mod bypass;
mod forms;
mod functions;
mod given;
mod isolate;
mod leaves;
mod narrow;
mod operands;
mod outputs;
mod shrink;
mod telling;
mod values;

pub(crate) use shrink::neighbours;
pub(super) use telling::candidates as telling;

use super::interest::Shown;
use super::problem::Problem;

/// Smaller problems, the most hopeful first.
pub(super) type Candidates<'a> = Box<dyn Iterator<Item = Problem> + 'a>;

/// Makes candidates from a problem that shows a finding.
pub(super) type Pass = for<'a> fn(&'a Shown) -> Candidates<'a>;

/// The passes for a problem, what saves most first. A tier is repeated until it brings nothing before the next one is
/// tried. A problem that needs the form of its program keeps that.
pub(super) fn tiers(problem: &Problem) -> &'static [&'static [Pass]] {
    if problem.program.is_some() { FORM_TIERS } else { TIERS }
}

const FORM_TIERS: &[&[Pass]] =
    &[&[isolate::candidates, forms::candidates], &[given::sizes], &[given::numbers]];

const TIERS: &[&[Pass]] = &[
    &[
        isolate::candidates,
        functions::candidates,
        outputs::candidates,
        leaves::candidates,
        bypass::candidates,
    ],
    &[operands::candidates, shrink::candidates],
    &[attributes::candidates, values::candidates, narrow::candidates],
];

/// The passes that say what a graph's finding is called by: which operators it needs, and which of their attributes.
pub(super) const GRAPH_TIERS: &[&[Pass]] = &[
    &[functions::candidates, outputs::candidates, leaves::candidates, bypass::candidates],
    &[operands::candidates, shrink::candidates],
    &[attributes::defaults],
];

/// The tiers for an operator alone.
pub(super) const OPERATOR_TIERS: &[&[Pass]] = &[&[attributes::defaults]];

/// The tiers for an operator that is written out where it is read.
pub(super) const COMPOSITE_TIERS: &[&[Pass]] = &[&[forms::fewer_attributes]];

/// Ranges that cover `0..n`: halves, then quarters, down to single places. In this order the few that matter among
/// many are found in a logarithmic number of steps.
fn chunks(n: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let sizes = std::iter::successors(Some(n.div_ceil(2)), |&size| (size > 1).then(|| size.div_ceil(2)));
    sizes.flat_map(move |size| (0..n).step_by(size.max(1)).map(move |at| at..(at + size).min(n)))
}

#[cfg(test)]
mod tests {
    use super::chunks;

    #[test]
    fn chunks_go_from_halves_to_single_places() {
        let all: Vec<_> = chunks(3).map(|r| (r.start, r.end)).collect();
        assert_eq!(all, [(0, 2), (2, 3), (0, 1), (1, 2), (2, 3)]);
        assert_eq!(chunks(0).count(), 0);
        assert_eq!(chunks(1).count(), 1);
    }
}
