//! Transforms and windows, written out, are what their text says.

use ir::{DType, Tensor, Type};

mod reading;

use reading::read_in;

/// The shape and the elements for a signal of such numbers.
fn values_in(opset: u32, shape: &[i64], signal: &[f64], node: &str) -> (Vec<usize>, Vec<f64>) {
    let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
    let imported = read_in(opset, &format!("float[{}] x", sizes.join(", ")), node);
    let model = imported.unwrap_or_else(|e| panic!("{e}")).model;
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, shape), |i| signal[i]);
    let y = interp::evaluate_plain(&model, &[x]).expect("values").remove(0);
    (y.shape().to_vec(), y.to_f64s())
}

fn values(shape: &[i64], signal: &[f64], node: &str) -> Vec<f64> {
    values_in(20, shape, signal, node).1
}

fn why(inputs: &str, node: &str) -> String {
    read_in(20, inputs, node).expect_err("it is not read").to_string()
}

const REAL: [f64; 4] = [1.0, 2.0, 3.0, 5.0];

#[test]
fn a_transform_of_four_takes_quarters_of_turns() {
    // 11, 1 - 3 + (5 - 2)i, 1 - 2 + 3 - 5, and the mirror of the second.
    let full = [11.0, 0.0, -2.0, 3.0, -3.0, 0.0, -2.0, -3.0];
    assert_eq!(values_in(20, &[1, 4, 1], &REAL, "y = DFT(x)"), (vec![1, 4, 2], full.to_vec()));
    assert_eq!(values(&[1, 4, 1], &REAL, "y = DFT<onesided = 1>(x)"), full[..6]);
    assert_eq!(
        values(&[1, 4, 2], &full, "y = DFT<inverse = 1>(x)"),
        [1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 5.0, 0.0]
    );
    let back = values_in(20, &[1, 3, 2], &full[..6], "y = DFT<inverse = 1, onesided = 1>(x)");
    assert_eq!(back, (vec![1, 4, 1], REAL.to_vec()));
    assert_eq!(values(&[1, 2, 2], &[0.0, 1.0, 0.0, 0.0], "y = DFT(x)"), [0.0, 1.0, 0.0, 1.0]);
}

#[test]
fn a_length_cuts_or_fills_the_signal() {
    let node = |length: i64| format!("n = Constant<value_int = {length}>() y = DFT(x, n)");
    assert_eq!(values(&[1, 4, 1], &REAL, &node(2)), [3.0, 0.0, -1.0, 0.0]);
    assert_eq!(values(&[1, 1, 1], &[7.0], &node(2)), [7.0, 0.0, 7.0, 0.0]);
    assert!(why("float[1, 4, 1] x", &node(0)).contains("0 numbers"));
    let list = node(2).replace("value_int = 2", "value_ints = [2]");
    assert!(why("float[1, 4, 1] x", &list).contains("must be a scalar"));
}

#[test]
fn the_axis_is_an_attribute_and_then_an_operand() {
    let shape = [2, 2, 1];
    let along_first = [4.0, 0.0, 7.0, 0.0, -2.0, 0.0, -3.0, 0.0];
    let along_second = [3.0, 0.0, -1.0, 0.0, 8.0, 0.0, -2.0, 0.0];
    let operand = "a = Constant<value_int = 0>() y = DFT(x, , a)";
    assert_eq!(values(&shape, &REAL, operand), along_first);
    assert_eq!(values(&shape, &REAL, "y = DFT(x)"), along_second);
    assert_eq!(values_in(17, &shape, &REAL, "y = DFT<axis = 0>(x)").1, along_first);
    assert_eq!(values_in(17, &shape, &REAL, "y = DFT(x)").1, along_second);
    let refused = |node: &str| why("float[2, 2, 1] x", node);
    assert!(refused("a = Constant<value_int = 2>() y = DFT(x, , a)").contains("real and imaginary"));
    assert!(refused("a = Constant<value_int = 3>() y = DFT(x, , a)").contains("axis"));
    assert!(refused("a = Constant<value_ints = [1]>() y = DFT(x, , a)").contains("must be a scalar"));
    assert!(refused("y = DFT<axis = 0>(x)").contains("axis"));
    assert!(refused("y = DFT<inverse = 1, onesided = 1>(x)").contains("1 parts"));
    assert!(why("float[2, 2, 3] x", "y = DFT(x)").contains("3 parts"));
}

#[test]
fn a_signal_is_transformed_frame_by_frame() {
    let node = |window: &str, rest: &str| {
        format!("s = Constant<value_int = 1>() n = Constant<value_int = 2>() {window} y = STFT{rest}")
    };
    let plain = node("", "(x, s, , n)");
    assert_eq!(
        values_in(20, &[1, 4, 1], &REAL, &plain),
        (vec![1, 3, 2, 2], vec![3.0, 0.0, -1.0, 0.0, 5.0, 0.0, -1.0, 0.0, 8.0, 0.0, -2.0, 0.0])
    );
    let weighed = node("w = Constant<value_floats = [1.0, 10.0]>()", "<onesided = 0>(x, n, w)");
    assert_eq!(values(&[1, 4, 1], &REAL, &weighed), [21.0, 0.0, -19.0, 0.0, 53.0, 0.0, -47.0, 0.0]);
    let refused = |node: &str| why("float[1, 4, 1] x", node);
    assert!(refused(&node("w = Constant<value_floats = [1.0]>()", "(x, s, w, n)")).contains("no frames"));
    assert!(refused("s = Constant<value_int = 0>() y = STFT(x, s)").contains("one every 0"));
    assert!(
        refused("s = Constant<value_int = 1>() n = Constant<value_int = 5>() y = STFT(x, s, , n)")
            .contains("Some(5)")
    );
    assert!(why("float[4] x", "s = Constant<value_int = 1>() y = STFT(x, s)").contains("a batch"));
    let list = plain.replace("value_int = 2", "value_ints = [2]");
    assert!(refused(&list).contains("must be a scalar"));
}

#[test]
fn windows_are_sums_of_cosines() {
    let node = |name: &str, size: i64, rest: &str| {
        format!("n = Constant<value_int = {size}>() w = {name}{rest}(n) y = Add(x, w)")
    };
    let close = |name: &str, size: i64, rest: &str, wanted: &[f64]| {
        let is = values(&[1], &[0.0], &node(name, size, rest));
        let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-6;
        assert!(is.len() == wanted.len() && is.iter().zip(wanted).all(near), "{name}: {is:?}");
    };
    close("HannWindow", 4, "", &[0.0, 0.5, 1.0, 0.5]);
    close("HannWindow", 3, "<periodic = 0>", &[0.0, 1.0, 0.0]);
    close("HammingWindow", 2, "", &[4.0 / 46.0, 1.0]);
    close("BlackmanWindow", 4, "", &[0.0, 0.34, 1.0, 0.34]);
    assert!(why("float[1] x", &node("HannWindow", 1, "<periodic = 0>")).contains("does not say"));
    assert!(why("float[1] x", &node("HannWindow", -1, "")).contains("does not say"));
    assert!(why("float[1] x", &node("HannWindow", i64::MIN, "<periodic = 0>")).contains("does not say"));
    for name in ["HannWindow", "HammingWindow", "BlackmanWindow"] {
        assert!(why("float[1] x", &node(name, 0, "")).contains("does not say"));
        let list = node(name, 4, "").replace("value_int = 4", "value_ints = [4]");
        assert!(why("float[1] x", &list).contains("i64[1], but must be a scalar"));
    }
    assert!(why("float[1] x", &node("HannWindow", 2, "<output_datatype = 99>")).contains("output_datatype"));
}

#[test]
fn triangles_stand_equally_far_apart_on_the_mel_scale() {
    // Between 0 and 4000 hertz, the corners of one triangle are at none, a third and two thirds of the range in mels:
    // at 700 · (q - 1) hertz with q = 1, (1 + 4000 / 700)^(1/3) and its square, which is 0, 621 and 1791. Of 9 / 8000
    // of that the whole part is 0, 0 and 2.
    let number = |name: &str, ty: &str, is: &str| format!("{name} = Constant<value = {ty} {{{is}}}>()");
    let nodes = [
        number("n", "int64", "1"),
        number("l", "int64", "8"),
        number("s", "int64", "8000"),
        number("a", "float", "0.0"),
        number("b", "float", "4000.0"),
        "w = MelWeightMatrix(n, l, s, a, b) z = Constant<value = float[1] {0.0}>() y = Add(w, z)".to_owned(),
    ]
    .join(" ");
    let found = values(&[1], &[0.0], &nodes);
    assert_eq!(found, [1.0, 0.5, 0.0, 0.0, 0.0]);
    assert!(why("float[1] x", &nodes.replace("8000", "80")).contains("frequency"));
    for count in ["int64 {1}", "int64 {8}"] {
        let list = nodes.replacen(count, &count.replace("int64", "int64[1]"), 1);
        assert!(why("float[1] x", &list).contains("i64[1], but must be a scalar"), "{list}");
    }
    let rate = nodes.replace("int64 {8000}", "int64[1] {8000}");
    assert_eq!(values(&[1], &[0.0], &rate), found);
}

/// An infinity times a coefficient of 0 is NaN to those who form that product, and nothing to others. What has none is judged.
#[test]
fn what_an_infinity_spoils_is_open() {
    let model = read_in(20, "float[2, 4, 1] x", "y = DFT(x)").expect("it is read").model;
    let x =
        Tensor::from_f64_fn(&Type::new(DType::F32, [2, 4, 1]), |i| if i == 1 { f64::INFINITY } else { 1.0 });
    let (profile, taps) = (&interp::Profile::DECLARED, interp::Taps::Outputs);
    let y = interp::evaluate(&model, &[x], profile, taps).expect("values").outputs.remove(0);
    assert!(y.error[..8].iter().all(|&error| error == f64::INFINITY), "{y:?}");
    assert!(y.error[8..].iter().all(|&error| error < 1e-4), "{y:?}");
}
