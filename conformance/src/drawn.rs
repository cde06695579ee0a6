//! Problems that are drawn, from streams that never change: every operator on every dtype, and graphs of some.

use graphgen::Settings;
use harness::{Case, Maker, Values};
use ir::DTypes;
use ops::Spec;

use crate::problem::Problem;

/// How many uses of an operator are drawn for each dtype.
const USES: u64 = 2;

/// How many graphs are drawn.
const GRAPHS: u64 = 150;

/// The seed of all that is drawn.
const SEED: u64 = 26;

/// Each operator alone, on each dtype that its first operand may have, with drawn attributes, shapes and opsets. Some shapes are
/// empty.
pub fn operators() -> impl Iterator<Item = Problem> {
    ops::registry().flat_map(|spec| dtypes(spec).iter().map(move |dtype| (spec, dtype))).flat_map(
        |(spec, dtype)| {
            (0..USES).filter_map(move |number| {
                let settings = Settings {
                    nodes: 1,
                    operators: [spec.name].into(),
                    wanted: DTypes::of(&[dtype]),
                    max_elements: 256,
                    narrow: 1.0,
                    empty_dims: if number + 1 == USES { 1.0 } else { 0.0 },
                    function: 0.0,
                    ..Settings::default()
                };
                let maker = Maker { swarm: false, values: Values::Plain, ..Maker::new(SEED, settings) };
                // Not every dtype of an operand is one that the operator can be drawn on.
                let case = maker.make(number).ok()?;
                Some(problem(format!("{} drawn {dtype} {number}", spec.name), case))
            })
        },
    )
}

/// Graphs of six nodes, functions among them.
pub fn graphs() -> impl Iterator<Item = Problem> {
    let settings = Settings { nodes: 6, max_elements: 256, ..Settings::default() };
    let maker = Maker { values: Values::Plain, ..Maker::new(SEED, settings) };
    (0..GRAPHS).filter_map(move |number| Some(problem(format!("graph {number}"), maker.make(number).ok()?)))
}

/// The dtypes that are drawn and that the first operand may have in some opset.
fn dtypes(spec: &Spec) -> DTypes {
    let opsets = ir::graph::OPSETS;
    let all = opsets.map(|opset| spec.input_types(0, opset)).fold(DTypes::NONE, DTypes::union);
    all.intersection(graphgen::DRAWN)
}

fn problem(name: String, case: Case) -> Problem {
    let Case { model, onnx, inputs, .. } = case;
    Problem { name, model, onnx, inputs }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_operator_and_no_dtype_of_one_goes_missing() {
        let drawn: BTreeSet<String> = operators().map(|problem| problem.name).collect();
        let is_drawn = |name: &str, dtype: &str| {
            (0..USES).any(|number| drawn.contains(&format!("{name} drawn {dtype} {number}")))
        };
        let wanted =
            ops::registry().flat_map(|spec| dtypes(spec).iter().map(|dtype| (spec.name, dtype.name())));
        let missing: BTreeSet<_> = wanted.filter(|(name, dtype)| !is_drawn(name, dtype)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
