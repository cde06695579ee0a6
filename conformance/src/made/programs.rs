//! Programs: models that say more than the flat model their inputs lead to. They are texts in ONNX's own syntax, which
//! `scripts/programs.py` compares with ONNX's reading of them.

use std::collections::BTreeMap;

use ir::{DType, Datum, Tensor};
use onnx::import::{Options, import};
use onnx::{encode, text};

use super::{Sheet, integers, row, tensor};
use crate::problem::Problem;

/// A program, and the inputs that are tried: each list leads another way.
type Program = (&'static str, &'static str, Vec<Vec<(&'static str, Tensor)>>);

pub(super) fn write(sheet: &mut Sheet) {
    for (name, text, inputs) in programs() {
        for (way, inputs) in inputs.into_iter().enumerate() {
            sheet.0.push(problem(format!("program {name} {way}"), text, inputs));
        }
    }
}

fn programs() -> Vec<Program> {
    let x = |values: &[f64]| ("x", row(DType::F32, values));
    let whole = |n: i128| integers(DType::I64, &[], &[n]);
    let number = |value: f64| tensor(DType::F32, &[], &[value]);
    let filled = |n: i128| vec![x(&[-1.0, 3.0, 0.5]), ("n", whole(n))];
    let until = |most: f64| vec![x(&[1.0, 0.25]), ("most", number(most))];
    vec![
        (
            "branch",
            include_str!("../../programs/branch.onnxtxt"),
            vec![vec![x(&[-1.0, 3.0])], vec![x(&[1.0, -3.0])]],
        ),
        ("fill", include_str!("../../programs/fill.onnxtxt"), vec![filled(1), filled(3)]),
        ("until", include_str!("../../programs/until.onnxtxt"), vec![until(1.5), until(10.0)]),
        (
            "shape",
            include_str!("../../programs/shape.onnxtxt"),
            vec![vec![("x", tensor(DType::F32, &[2, 3], &[0.0, 0.1, -0.2, 0.3, 4.0, -5.0]))]],
        ),
        (
            "count",
            include_str!("../../programs/count.onnxtxt"),
            vec![vec![x(&[-1.0, 3.0, 0.5, 0.0, 2.0])], vec![x(&[4.0])]],
        ),
    ]
}

fn problem(name: String, written: &str, inputs: Vec<(&'static str, Tensor)>) -> Problem {
    let inputs: Vec<(String, Tensor)> = inputs.into_iter().map(|(name, t)| (name.to_owned(), t)).collect();
    let known_inputs: BTreeMap<&str, Datum<&Tensor>> =
        inputs.iter().map(|(name, tensor)| (name.as_str(), Datum::Tensor(tensor))).collect();
    let options = Options { known_inputs: &known_inputs, ..Options::default() };
    let proto = text::parse(written).unwrap_or_else(|e| panic!("{name}: {e}"));
    let imported = import(&proto, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(imported.is_specialised, "{name} says no more than a model");
    Problem { name, model: imported.model, onnx: encode(&proto), inputs }
}
