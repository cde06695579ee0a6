//! Programs: models that say more than the flat model their inputs lead to. `scripts/programs.py` writes them, from ONNX's own
//! text syntax.

use ir::{DType, Tensor};
use onnx::import::{Options, import};
use onnx::proto::{ModelProto, decode};

use super::{Sheet, integers, row, tensor};
use crate::problem::Problem;

/// A program, and the inputs that are tried: each list leads another way.
type Program = (&'static str, &'static [u8], Vec<Vec<(&'static str, Tensor)>>);

pub(super) fn write(sheet: &mut Sheet) {
    for (name, bytes, inputs) in programs() {
        for (way, inputs) in inputs.into_iter().enumerate() {
            sheet.0.push(problem(format!("program {name} {way}"), bytes, inputs));
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
            include_bytes!("../../programs/branch.onnx"),
            vec![vec![x(&[-1.0, 3.0])], vec![x(&[1.0, -3.0])]],
        ),
        ("fill", include_bytes!("../../programs/fill.onnx"), vec![filled(1), filled(3)]),
        ("until", include_bytes!("../../programs/until.onnx"), vec![until(1.5), until(10.0)]),
        (
            "shape",
            include_bytes!("../../programs/shape.onnx"),
            vec![vec![("x", tensor(DType::F32, &[2, 3], &[0.0, 0.1, -0.2, 0.3, 4.0, -5.0]))]],
        ),
        (
            "count",
            include_bytes!("../../programs/count.onnx"),
            vec![vec![x(&[-1.0, 3.0, 0.5, 0.0, 2.0])], vec![x(&[4.0])]],
        ),
    ]
}

fn problem(name: String, bytes: &[u8], inputs: Vec<(&'static str, Tensor)>) -> Problem {
    let inputs: Vec<(String, Tensor)> = inputs.into_iter().map(|(name, t)| (name.to_owned(), t)).collect();
    let known_inputs = inputs.iter().map(|(name, t)| (name.clone(), t.clone().into())).collect();
    let options = Options { known_inputs: &known_inputs, ..Options::default() };
    let proto = decode::<ModelProto>("program", bytes);
    let imported = proto.and_then(|proto| import(&proto, &options));
    let imported = imported.unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(imported.is_specialised, "{name} says no more than a model");
    Problem { name, model: imported.model, onnx: bytes.to_vec(), inputs }
}
