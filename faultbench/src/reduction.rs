//! How small the cases that show the faults get: `cargo xtask faults --reduce`.
//!
//! The first case on which the bounds find a fault is reduced as `onnxsmith reduce` does it, with the faulty kernels.

use anyhow::{Context, Result};
use harness::{Maker, Target, case};
use serde::Serialize;
use serde_json::{Value, json};
use triage::invent::UserInputs;
use triage::reduce::{Budget, Problem, Reduced, Reduction, reduce_problems};

use crate::bench::FaultResult;

/// What a person takes in at a glance: so many nodes and elements at most.
const SMALL: (usize, u64) = (3, 64);

/// A reduction with the model that is left.
#[derive(Serialize)]
pub(crate) struct Smallest {
    #[serde(flatten)]
    reduced: Reduced,
    model: String,
}

/// Reduces the case of a number, on which the fault of a target is found.
pub(crate) fn reduce(maker: &Maker<'_>, faulty: Target, fault: &str, index: u64) -> Result<Smallest> {
    let case = maker.make(index)?;
    let inputs = case::tensors(&case.inputs);
    let reduction = Reduction {
        targets: &[faulty],
        seed: maker.seed,
        given: &UserInputs::default(),
        budget: Budget::default(),
        stop: &|| false,
    };
    let problem = Problem::flat(case.model, inputs);
    let mut smallest = String::new();
    let reduced = reduce_problems(&[problem], &reduction, &mut |best, _| {
        smallest = best.problem.model.to_string();
        Ok(())
    });
    let reduced = reduced.with_context(|| format!("case {index} with {fault}"))?;
    Ok(Smallest { reduced, model: smallest })
}

fn is_small(reduced: &Reduced) -> bool {
    reduced.nodes_after <= SMALL.0 && reduced.elements_after <= SMALL.1
}

/// The totals: how many were reduced, how many of them are small then, and how long the median took.
pub(crate) fn json(faults: &[FaultResult]) -> Option<Value> {
    let all: Vec<&Reduced> = faults.iter().filter_map(|t| Some(&t.reduced.as_ref()?.reduced)).collect();
    let mut seconds: Vec<f64> = all.iter().map(|r| r.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    let mut elements: Vec<u64> = all.iter().map(|r| r.elements_after).collect();
    elements.sort_unstable();
    let median = seconds.get(seconds.len() / 2)?;
    Some(json!({
        "reduced": all.len(),
        "small": all.iter().filter(|r| is_small(r)).count(),
        "minimal": all.iter().filter(|r| r.minimal).count(),
        "median_elements": elements[elements.len() / 2],
        "median_seconds": median,
        "longest_seconds": seconds.last(),
    }))
}

/// The totals in a line, and what stays large.
pub(crate) fn text(faults: &[FaultResult]) -> String {
    let Some(all) = json(faults) else { return String::new() };
    let mut text = format!(
        "{} of {} found faults reduce to at most {} nodes and {} elements with the same signature; median {:.2} s, \
         longest {:.2} s\n",
        all["small"],
        all["reduced"],
        SMALL.0,
        SMALL.1,
        all["median_seconds"].as_f64().unwrap_or_default(),
        all["longest_seconds"].as_f64().unwrap_or_default(),
    );
    for tried in faults {
        if let Some(reduced) = tried.reduced.as_ref().map(|s| &s.reduced).filter(|r| !is_small(r)) {
            let (nodes, elements) = (reduced.nodes_after, reduced.elements_after);
            text += &format!("stays at {nodes} nodes and {elements} elements: {}\n", tried.fault.name());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sample, bench, fault};

    #[test]
    fn faults_in_sizes_axes_and_attributes_come_down_to_one_small_node() {
        let names = [
            "add-repeats-the-first-row",
            "conv-ignores-dilations",
            "transpose-copies",
            "matmul-drops-the-tail",
        ];
        let faults: Vec<_> = fault::all().filter(|f| names.contains(&f.name())).collect();
        assert_eq!(faults.len(), names.len(), "some are not in the lists");
        let sample = Sample { seed: 0, cases: 200, nodes: 10, max_elements: Some(256), reduce: true };
        for tried in bench::run(&sample, &faults).unwrap().faults {
            let smallest = tried.reduced.expect("it is found");
            let Reduced { nodes_after, elements_after, minimal, .. } = smallest.reduced;
            assert!(
                minimal && nodes_after == 1 && elements_after <= 16,
                "{}: {}",
                tried.fault.name(),
                smallest.model
            );
        }
    }
}
