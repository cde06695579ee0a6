//! RoiAlign and DeformConv, written out, take samples between elements as their texts say.

use std::collections::BTreeMap;

use interp::{Profile, Taps, evaluate};
use ir::{DType, Datum, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

fn read(opset: u32, size: i64, nodes: &str) -> Result<Imported, Error> {
    let head = format!("<ir_version: 10, opset_import: [\"\" : {opset}]>");
    let text = format!("{head}\nm (float[1, 1, {size}, {size}] x) => (y) {{ {nodes} }}\n");
    specialise(&Program::from_text(&text)?, &Options::default())
}

/// What nodes make of 0, 1, 2, … in a square.
fn values(opset: u32, size: i64, nodes: &str) -> Vec<f64> {
    let model = read(opset, size, nodes).unwrap_or_else(|e| panic!("{e}")).model;
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [1, 1, size, size]), |i| i as f64);
    interp::evaluate_plain(&model, &[x]).expect("values").remove(0).to_f64s()
}

fn align(region: &str, attributes: &str) -> String {
    format!(
        "r = Constant<value = float[1, 4] {{{region}}}>() i = Constant<value = int64[1] {{0}}>() \
         y = RoiAlign<{attributes}>(x, r, i)"
    )
}

#[test]
fn a_part_of_a_region_is_the_mean_of_its_samples() {
    // On a ramp the mean is what is in the middle: at 3/2 of both axes of four, and in four parts at 1 and 2.
    assert_eq!(values(16, 4, &align("1.0, 1.0, 3.0, 3.0", "sampling_ratio = 2")), [7.5]);
    let parts = "sampling_ratio = 2, output_height = 2, output_width = 2";
    assert_eq!(values(16, 4, &align("1.0, 1.0, 3.0, 3.0", parts)), [5.0, 6.0, 9.0, 10.0]);
    // As many samples as there are elements.
    assert_eq!(values(16, 4, &align("1.0, 1.0, 3.0, 3.0", "sampling_ratio = 0")), [7.5]);
    // Coordinates that are scaled.
    assert_eq!(values(16, 4, &align("2.0, 2.0, 6.0, 6.0", "spatial_scale = 0.5")), [7.5]);
    // Before opset 16, and with the mode that has its name, nothing is moved by half an element.
    assert_eq!(values(10, 4, &align("1.0, 1.0, 3.0, 3.0", "sampling_ratio = 2")), [10.0]);
    let mode = "coordinate_transformation_mode = \"output_half_pixel\"";
    assert_eq!(values(16, 4, &align("1.0, 1.0, 3.0, 3.0", mode)), [10.0]);
}

#[test]
fn the_largest_is_that_of_what_elements_give() {
    // One sample, a quarter of each of 5, 6, 9 and 10.
    assert_eq!(values(16, 4, &align("1.0, 1.0, 3.0, 3.0", "mode = \"max\", sampling_ratio = 1")), [2.5]);
}

#[test]
fn what_is_far_outside_is_nothing_and_near_it_the_edge() {
    assert_eq!(values(16, 4, &align("7.0, 7.0, 9.0, 9.0", "sampling_ratio = 1")), [0.0]);
    // At -1/2 and 3/2: the edge is there up to one element outside.
    assert_eq!(values(16, 4, &align("-1.0, 1.0, 1.0, 3.0", "sampling_ratio = 1")), [6.0]);
}

fn deformed(x: f64, rest: &str) -> String {
    let offsets: Vec<String> =
        (0..32).map(|i| format!("{:?}", if i / 4 % 2 == 1 { x } else { 0.0 })).collect();
    format!(
        "w = Constant<value = float[1, 1, 2, 2] {{1.0, 1.0, 1.0, 1.0}}>() \
         o = Constant<value = float[1, 8, 2, 2] {{{}}}>() {rest}",
        offsets.join(", ")
    )
}

#[test]
fn taps_that_are_not_moved_are_those_of_a_convolution() {
    assert_eq!(values(19, 3, &deformed(0.0, "y = DeformConv(x, w, o)")), [8.0, 12.0, 20.0, 24.0]);
}

#[test]
fn taps_are_moved_and_weighed() {
    // Half an element to the right: behind the last column is nothing.
    let moved = [10.0, 1.5 + 1.0 + 4.5 + 2.5, 22.0, 4.5 + 2.5 + 7.5 + 4.0];
    assert_eq!(values(19, 3, &deformed(0.5, "y = DeformConv(x, w, o)")), moved);
    let halves = ["0.5"; 16].join(", ");
    let rest = format!(
        "b = Constant<value = float[1] {{1.0}}>() m = Constant<value = float[1, 4, 2, 2] {{{halves}}}>() \
         y = DeformConv(x, w, o, b, m)"
    );
    assert_eq!(values(19, 3, &deformed(0.5, &rest)), moved.map(|y| y / 2.0 + 1.0));
}

#[test]
fn an_infinity_is_nothing_to_samples_that_it_is_not_next_to() {
    // The last column is half of elements, half of what is outside, where nothing is read.
    let model = read(19, 3, &deformed(0.5, "y = DeformConv(x, w, o)")).expect("it is read").model;
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [1, 1, 3, 3]), |i| {
        if i == 0 { f64::INFINITY } else { i as f64 }
    });
    let y = interp::evaluate_plain(&model, &[x]).expect("values").remove(0).to_f64s();
    assert_eq!(y, [f64::INFINITY, 1.5 + 1.0 + 4.5 + 2.5, 22.0, 4.5 + 2.5 + 7.5 + 4.0]);
}

/// Where samples are taken may be computed, and is off by little in an implementation: by so little that the result is decided.
#[test]
fn places_that_are_computed_leave_the_result_decided() {
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [1, 1, 4, 4]), |i| (i * i % 7) as f64);
    let known = BTreeMap::from([("x".to_owned(), Datum::Tensor(x.clone()))]);
    let evaluated = |nodes: &str| {
        let text = format!(
            "<ir_version: 10, opset_import: [\"\" : 19]>\nm (float[1, 1, 4, 4] x) => (y) {{ {nodes} }}\n"
        );
        let options = Options { known_inputs: &known, ..Options::default() };
        let model =
            specialise(&Program::from_text(&text).expect("a text"), &options).expect("it is read").model;
        let evaluation =
            evaluate(&model, std::slice::from_ref(&x), &Profile::DECLARED, Taps::Outputs).expect("values");
        (evaluation.outputs[0].tensor.to_f64s(), evaluation.outputs[0].error.clone())
    };
    let kernel = "w = Constant<value = float[1, 1, 2, 2] {1.0, -2.0, 0.5, 1.0}>()";
    let deformed = format!(
        "{kernel} k = Constant<value = float[8, 1, 2, 2] {{{}}}>() c = Conv(x, k) o = Tanh(c) y = DeformConv(x, w, o)",
        (0..32).map(|i| format!("{:?}", f64::from(i * 11 % 13 - 6) / 23.0)).collect::<Vec<_>>().join(", ")
    );
    let aligned = "a = Constant<value = float[1, 4] {0.3, 0.2, 0.7, 0.9}>() b = Exp(a) r = Mul(b, a) \
                   i = Constant<value = int64[1] {0}>() y = RoiAlign<sampling_ratio = 2>(x, r, i)";
    for nodes in [&deformed[..], aligned] {
        let (values, errors) = evaluated(nodes);
        for (value, error) in values.iter().zip(&errors) {
            assert!(*error > 0.0 && *error < 1e-3, "{value} ± {error:e} of {nodes}");
        }
        assert_eq!(values.len(), errors.len());
    }
}

/// Where how many samples there are hangs on how far a region may be moved, it is read as it is; an input is the same for all.
#[test]
fn a_region_whose_samples_hang_on_how_it_is_computed_is_read() {
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [1, 1, 4, 4]), |i| i as f64);
    let r = Tensor::from_f64_fn(&Type::new(DType::F32, [1, 4]), |i| [1.0, 1.0, 3.0, 3.0][i]);
    let known = [("x", &x), ("r", &r)].map(|(name, tensor)| (name.to_owned(), Datum::Tensor(tensor.clone())));
    let known = BTreeMap::from(known);
    for (region, is_decided) in [
        ("q = Identity(r)", true),
        ("c = Constant<value = float {3.0}>() a = Div(r, c) q = Mul(a, c)", false),
    ] {
        let text = format!(
            "<ir_version: 10, opset_import: [\"\" : 19]>\nm (float[1, 1, 4, 4] x, float[1, 4] r) => (y) {{ {region} \
             i = Constant<value = int64[1] {{0}}>() y = RoiAlign(x, q, i) }}\n"
        );
        let options = Options { known_inputs: &known, ..Options::default() };
        let model =
            specialise(&Program::from_text(&text).expect("a text"), &options).expect("it is read").model;
        let given = [x.clone(), r.clone()];
        let y =
            evaluate(&model, &given, &Profile::DECLARED, Taps::Outputs).expect("values").outputs.remove(0);
        assert_eq!((y.undecidable() == 0, y.tensor.to_f64s()), (is_decided, vec![7.5]), "{region}");
    }
}

#[test]
fn shapes_that_do_not_belong_together_are_refused() {
    let why = |nodes: &str| read(19, 3, nodes).expect_err("it is not read").to_string();
    assert!(why(&deformed(0.0, "y = DeformConv<offset_group = 2>(x, w, o)")).contains('2'));
    assert!(why(&deformed(0.0, "y = DeformConv<offset_group = 0>(x, w, o)")).contains('0'));
    assert!(why(&deformed(0.0, "y = DeformConv<group = 0>(x, w, o)")).contains('0'));
    assert!(why(&deformed(0.0, "y = DeformConv<pads = [1, 1, 1, 1]>(x, w, o)")).contains("operand 2"));
    assert!(why(&deformed(0.0, "y = DeformConv(x, w, o, w)")).contains("operand 3"));
    assert!(why(&deformed(0.0, "y = DeformConv(x, w, o, , o)")).contains("operand 4"));
    assert!(why(&align("1.0, 1.0, 3.0, 3.0", "mode = \"min\"")).contains("min"));
    assert!(why(&align("1.0, 1.0, 3.0, 3.0", "output_height = 0")).contains('0'));
    assert!(why(&align("1.0, 1.0, 3.0, 3.0", "").replace("{0}", "{1}")).contains("no image 1"));
    assert!(why(&align("1.0, 1.0, nan, 3.0", "")).contains("operand 1"));
    assert!(why(&align("1.0, 1.0, 3e9, 3.0", "sampling_ratio = 0")).contains("samples"));
    assert!(why(&align("1.0, 1.0, 1.0, 3.0", "sampling_ratio = 0")).contains("no samples"));
}
