//! Casts between all dtypes, the narrow ones among them: our kernels within the bounds of the reference.

use backends::cpu::{Cpu, run_model};
use interp::{Profile, Taps, compare, evaluate};
use ir::{DType, DTypes, Tensor, Type};
use ops::Model;

/// What numbers of every kind become: ends, ties, what is beyond them, and all that has few bits.
fn numbers(ty: &Type) -> Tensor {
    const REALS: [f64; 20] = [
        0.0,
        -0.0,
        0.4,
        0.5,
        -1.5,
        2.5,
        5.0,
        6.5,
        -9.0,
        240.0,
        464.0,
        61_440.0,
        1e9,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        0.3,
        1.1,
        12.0,
        200.0,
    ];
    match ty.dtype.int_range() {
        Some((low, high)) => {
            Tensor::from_i128_fn(ty, |i| [low, low + 1, -1, 0, 1, 7, 100, 464, high][i % 9].clamp(low, high))
        }
        None if ty.dtype.bits() <= 8 => {
            let codes: Vec<u8> = (0..ty.bytes()).map(|i| (i * 37) as u8).collect();
            Tensor::from_bytes(ty, &codes).expect("as many bytes as the type takes")
        }
        None => Tensor::from_f64_fn(ty, |i| REALS[i % REALS.len()]),
    }
}

fn model(from: DType, to: DType, attributes: &str) -> Model {
    let text = format!(
        "onnxsmith 1 opset 25\ngraph {{\n  %0: {from}[256] = variable \"x\"\n  %1: {to}[256] = Cast(%0) {{to = {to}{attributes}}}\n  return \"y\" = %1\n}}\n"
    );
    text.parse().expect("a model")
}

/// Casts and compares. Says how many elements there were to compare.
fn compared(from: DType, to: DType, attributes: &str, profile: &Profile) -> usize {
    let model = model(from, to, attributes);
    let x = [numbers(&Type::new(from, [256]))];
    let right = evaluate(&model, &x, profile, Taps::Outputs).expect("a valid model");
    let ours = run_model(&model, &x, &mut Cpu).expect("there is a kernel");
    let found = compare(&right.outputs[0], &ours[0], profile).expect("of one type");
    assert!(found.passes(), "{from} to {to}{attributes} under {}: {found:?}", profile.name);
    found.compared()
}

#[test]
fn kernels_are_within_the_bounds_of_every_cast() {
    let everything: DTypes = DType::ALL.into_iter().collect();
    let narrow = everything.difference(DTypes::IR4);
    for from in everything.iter() {
        for to in everything.iter().filter(|&to| narrow.contains(from) || narrow.contains(to)) {
            for attributes in
                ["", ", saturate = 0", ", round_mode = \"down\"", ", saturate = 0, round_mode = \"nearest\""]
            {
                let compared = [&Profile::TIGHT, &Profile::DECLARED]
                    .map(|profile| compared(from, to, attributes, profile));
                assert!(compared.iter().all(|&n| n >= 16), "{from} to {to}{attributes}: {compared:?}");
            }
        }
    }
}
