//! Operators that import writes out in others: on which dtypes a target lacks them.
//!
//! The probe learns no forms of these operators. An operator that is refused in one of several uses is drawn all the
//! same, and an answer "unsupported" is counted where it comes.

use std::collections::BTreeMap;

use forms::Composite;
use ir::{DType, DTypes, Stream};

use super::ProbeError;
use super::uses::Runner;
use crate::case::{self, Case};
use crate::support::Support;

/// How many uses are tried on each dtype.
const USES: u64 = 4;

/// How many uses are drawn for each that is tried.
const DRAWS: u64 = 8;

/// The dtypes on which a target says for every tried use of an operator that it lacks it.
pub(super) fn lacking(
    runner: &Runner<'_>,
    support: &Support,
    opset: Option<u32>,
) -> Result<BTreeMap<&'static str, DTypes>, ProbeError> {
    let newest = opset.unwrap_or(*ir::graph::OPSETS.end()).min(*ir::graph::OPSETS.end());
    let all: Vec<(&Composite, DType)> = forms::composite::all()
        .flat_map(|composite| {
            composite.dtypes.intersection(support.dtypes).iter().map(move |on| (composite, on))
        })
        .collect();
    let lacks = runner.each(&all, |&(composite, dtype)| lacks(runner, composite, dtype, newest))?;
    let mut lacking: BTreeMap<&'static str, DTypes> = BTreeMap::new();
    for ((composite, dtype), _) in all.iter().zip(lacks).filter(|(_, lacks)| *lacks) {
        let known = lacking.entry(composite.name).or_insert(DTypes::NONE);
        *known = known.with(*dtype);
    }
    Ok(lacking)
}

fn lacks(runner: &Runner<'_>, composite: &Composite, dtype: DType, opset: u32) -> Result<bool, ProbeError> {
    if composite.since > opset {
        return Ok(true);
    }
    let stream = Stream::new(super::uses::SEED).child("probe").child(composite.name).child(dtype.name());
    // A runtime may have the operator only as an older opset defines it.
    let opsets = [opset, composite.since];
    let uses = (0..USES).filter_map(|number| {
        let opset = opsets[number as usize % opsets.len()];
        (0..DRAWS)
            .filter_map(|draw| case(composite, dtype, opset, stream.at(number).at(draw)))
            .find(|case| runner.takes_values_of(case))
    });
    let mut is_tried = false;
    for case in uses {
        is_tried = true;
        if runner.lacks(&case)?.is_none() {
            return Ok(false);
        }
    }
    Ok(is_tried)
}

/// A use alone, with values on which everything is defined.
fn case(composite: &Composite, dtype: DType, opset: u32, stream: Stream) -> Option<Case> {
    let (model, constants, placed) = composite.alone(opset, dtype, stream)?;
    let case = Case { composites: vec![placed], ..Case::bare(model) };
    let case = case::Maker::fill(case, &constants, case::Values::Unjudged, stream.child("values")).ok()?;
    let none = graphgen::Forms::default();
    let written = forms::write(&case.model, &case.inputs, &case.composites, &none, stream)?;
    case.all_defined.then(|| Case { onnx: onnx::encode(&written.program.write()), ..case })
}
