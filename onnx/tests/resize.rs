//! Resize and Upsample, written out, give what ONNX's formulas say.

use ir::{DType, NodeId, NodeKind, Operation, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

fn read(opset: u32, shape: &str, nodes: &str) -> Result<Imported, Error> {
    read_of("float", opset, shape, nodes)
}

fn read_of(dtype: &str, opset: u32, shape: &str, nodes: &str) -> Result<Imported, Error> {
    let text = format!(
        "<ir_version: 8, opset_import: [\"\" : {opset}]>\nm ({dtype}[{shape}] x) => (y) {{ {nodes} }}\n"
    );
    specialise(&Program::from_text(&text)?, &Options::default())
}

/// What a program makes of 1, 2, 3 … in one row.
fn values(opset: u32, count: i64, nodes: &str) -> Vec<f64> {
    let imported = read(opset, &format!("1, {count}"), nodes).expect("it is read");
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [1, count]), |i| i as f64 + 1.0);
    interp::evaluate_plain(&imported.model, &[x]).expect("values").remove(0).to_f64s()
}

/// Resize to so many columns or by a scale.
fn to(columns: i64, attributes: &str) -> String {
    format!("n = Constant<value = int64[2] {{1, {columns}}}>() y = Resize<{attributes}>(x, , , n)")
}

fn by(scale: f64, attributes: &str) -> String {
    format!("s = Constant<value = float[2] {{1.0, {scale:?}}}>() y = Resize<{attributes}>(x, , s)")
}

const LINEAR: &str = "mode = \"linear\"";

fn is_near(found: &[f64], wanted: &[f64]) {
    let is_near = found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(is_near, "{found:?} instead of {wanted:?}");
}

#[test]
fn what_it_is_written_out_in_is_seen_by_nobody_else() {
    let nodes = format!("{} a = Neg(y) b = Abs(a)", to(4, LINEAR));
    let text =
        format!("<ir_version: 8, opset_import: [\"\" : 18]>\nm (float[1, 2] x) => (b) {{ {nodes} }}\n");
    let program = Program::from_text(&text).expect("a program");
    let imported = specialise(&program, &Options::default()).expect("it is read");
    let (graph, unseen) = (&imported.model.graph, imported.unseen());
    let seen: Vec<&str> = graph
        .iter()
        .filter(|(id, _)| !unseen.contains(id))
        .filter_map(|(_, node)| match &node.kind {
            NodeKind::Operator(op) => Some(op.name()),
            NodeKind::Variable { .. } | NodeKind::Constant(_) | NodeKind::Call(_) => None,
        })
        .collect();
    assert!(matches!(seen[..], [_, "Neg", "Abs"]), "its last node, whose result is read: {seen:?}");
    let is_of_floats = |id: NodeId| graph.node(id).outputs.iter().all(|ty| ty.dtype == DType::F32);
    assert!(
        graph.iter().all(|(id, _)| unseen.contains(&id) || is_of_floats(id)),
        "the sizes are read here alone"
    );
    let is_of_integers = |id: NodeId| graph.node(id).outputs.iter().any(|ty| ty.dtype == DType::I64);
    assert!(unseen.len() > 3 && unseen.iter().any(|&id| is_of_integers(id)), "{unseen:?}");
}

#[test]
fn the_nearest_element_is_taken() {
    assert_eq!(values(18, 2, &by(2.0, "mode = \"nearest\"")), [1.0, 1.0, 2.0, 2.0]);
    let floor =
        "mode = \"nearest\", coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\"";
    assert_eq!(values(18, 2, &by(3.0, floor)), [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
    // Halfway between two, at 0.5 and 2.5.
    assert_eq!(values(18, 4, &by(0.5, "nearest_mode = \"round_prefer_floor\"")), [1.0, 3.0]);
    assert_eq!(values(18, 4, &by(0.5, "nearest_mode = \"round_prefer_ceil\"")), [2.0, 4.0]);
    assert_eq!(values(18, 4, &by(0.5, "nearest_mode = \"ceil\"")), [2.0, 4.0]);
}

#[test]
fn what_is_between_elements_is_on_a_line() {
    is_near(&values(18, 2, &by(2.0, LINEAR)), &[1.0, 1.25, 1.75, 2.0]);
    let aligned = format!("{LINEAR}, coordinate_transformation_mode = \"align_corners\"");
    is_near(&values(18, 2, &to(4, &aligned)), &[1.0, 4.0 / 3.0, 5.0 / 3.0, 2.0]);
    is_near(&values(18, 3, &to(1, &aligned)), &[1.0]);
    let asymmetric = format!("{LINEAR}, coordinate_transformation_mode = \"asymmetric\"");
    is_near(&values(18, 2, &by(2.0, &asymmetric)), &[1.0, 1.5, 2.0, 2.0]);
    let torch = format!("{LINEAR}, coordinate_transformation_mode = \"pytorch_half_pixel\"");
    is_near(&values(18, 3, &to(1, &torch)), &[1.0]);
    is_near(&values(18, 3, &to(1, LINEAR)), &[2.0]);
}

/// x_original = (x_resized + 0.5) / scale, in opsets 11 and 12 alone.
#[test]
fn half_pixels_may_not_be_taken_away() {
    let doubled = |mode: &str| {
        let attributes =
            format!("mode = \"{mode}\", coordinate_transformation_mode = \"tf_half_pixel_for_nn\"");
        format!("r = Constant<value = float[0] {{}}>() {}", by(2.0, &attributes).replace("x, ,", "x, r,"))
    };
    is_near(&values(11, 2, &doubled("linear")), &[1.25, 1.75, 2.0, 2.0]);
    assert_eq!(values(12, 2, &doubled("nearest")), [1.0, 2.0, 2.0, 2.0]);
    let later = read(13, "1, 2", &doubled("linear")).expect_err("opset 13 has no such mode");
    let why = later.to_string();
    assert!(matches!(later, Error::Invalid { .. }) && why.contains("tf_half_pixel_for_nn"), "{why}");
}

/// Elements of f64 stay what they are, and whoever weighs them in f64 is within the bound.
#[test]
fn where_no_axis_is_resized_corners_may_be_added_up() {
    let imported = read(18, "1, 3", &to(3, LINEAR)).expect("it is read");
    let x = [0.1f32, f32::INFINITY, -3.0];
    let tensor = Tensor::from_f64_fn(&Type::new(DType::F32, [1, 3]), |i| x[i].into());
    let profile = &interp::Profile::TIGHT;
    let evaluation =
        interp::evaluate(&imported.model, &[tensor], profile, interp::Taps::Outputs).expect("values");
    let y = &evaluation.outputs[0];
    assert_eq!(y.tensor.to_f64s(), x.map(f64::from));
    let corners = (0..8).fold(0f32, |sum, _| sum + x[0] * 0.125);
    assert_ne!(corners, x[0], "so that there is something to allow");
    let off = f64::from((corners - x[0]).abs());
    assert!((off..8.0 * off).contains(&y.error_at(0)), "{off} and {}", y.error_at(0));
}

#[test]
fn what_is_between_elements_of_f64_is_f64() {
    let aligned = format!("{LINEAR}, coordinate_transformation_mode = \"align_corners\"");
    let imported = read_of("double", 18, "1, 2", &to(4, &aligned)).expect("it is read");
    let (least, step) = (1.0 + f64::EPSILON, 3.0);
    let x = Tensor::from_f64_fn(&Type::new(DType::F64, [1, 2]), |i| least + step * i as f64);
    let (profile, taps) = (&interp::Profile::DECLARED, interp::Taps::Outputs);
    let y = interp::evaluate(&imported.model, &[x], profile, taps).expect("values").outputs.remove(0);
    assert_eq!(y.tensor.dtype(), DType::F64);
    let off = |place: usize| (y.tensor.to_f64s()[place] - (least + step * place as f64 / 3.0)).abs();
    assert_eq!([off(0), off(3)], [0.0, 0.0]);
    assert!((0..4).all(|place| off(place) <= y.error[place] && y.error[place] < 1e-4), "{y:?}");
}

/// Whoever computes in f32 and rounds once is right, and whoever rounds each step to 16 bits.
#[test]
fn what_is_between_halves_may_be_rounded_at_each_step() {
    let aligned = format!("{LINEAR}, coordinate_transformation_mode = \"align_corners\"");
    for (input, dtype) in [("float16", DType::F16), ("bfloat16", DType::BF16)] {
        let imported = read_of(input, 18, "1, 2", &to(4, &aligned)).expect("it is read");
        let x = Tensor::from_f64_fn(&Type::new(dtype, [1, 2]), |i| [0.1, 700.0][i]);
        let (profile, taps) = (&interp::Profile::DECLARED, interp::Taps::Outputs);
        let ends = x.to_f64s();
        let y = interp::evaluate(&imported.model, &[x], profile, taps).expect("values").outputs.remove(0);
        assert_eq!(y.tensor.dtype(), dtype);
        let round = |number: f64| Tensor::from_f64_fn(&Type::new(dtype, []), |_| number).to_f64s()[0];
        for place in 0..4 {
            let share = place as f64 / 3.0;
            let at_once = round((1.0 - share) * ends[0] + share * ends[1]);
            let [near, far] = [round(1.0 - share), round(share)];
            let by_steps = round(round(near * ends[0]) + round(far * ends[1]));
            for other in [at_once, by_steps] {
                let off = (y.tensor.to_f64s()[place] - other).abs();
                assert!(off <= y.error_at(place), "{dtype} {place}: {other} is off by {off}");
            }
        }
        // An infinity is one, and what overflows on the way may be one.
        let infinite = Tensor::from_f64_fn(&Type::new(dtype, [1, 2]), |i| [1.0, f64::INFINITY][i]);
        let y = interp::evaluate_plain(&imported.model, &[infinite]).expect("values").remove(0).to_f64s();
        assert_eq!((y[0], y[3]), (1.0, f64::INFINITY));
    }
}

#[test]
fn a_cubic_goes_through_four() {
    // At -0.25, the elements beyond the first being the first: 1.10546875 times 1 and -0.10546875 times 2.
    let found = values(18, 4, &by(2.0, "mode = \"cubic\""));
    is_near(&found[..1], &[0.894_531_25]);
    let aligned = "mode = \"cubic\", coordinate_transformation_mode = \"align_corners\"";
    let found = values(18, 4, &to(7, aligned));
    is_near(&[found[0], found[2], found[4], found[6]], &[1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn every_axis_has_its_own_scale() {
    let nodes = "s = Constant<value = float[2] {2.0, 1.0}>() y = Resize<mode = \"linear\">(x, , s)";
    assert_eq!(values(13, 2, nodes), [1.0, 2.0, 1.0, 2.0]);
    let chosen = "s = Constant<value = float[1] {2.0}>() y = Resize<mode = \"linear\", axes = [-1]>(x, , s)";
    is_near(&values(18, 2, chosen), &[1.0, 1.25, 1.75, 2.0]);
}

#[test]
fn older_opsets_had_no_half_pixels() {
    let scales = "s = Constant<value = float[2] {1.0, 2.0}>()";
    assert_eq!(values(10, 2, &format!("{scales} y = Resize<mode = \"linear\">(x, s)")), [1.0, 1.5, 2.0, 2.0]);
    assert_eq!(values(9, 2, &format!("{scales} y = Upsample(x, s)")), [1.0, 1.0, 2.0, 2.0]);
    assert_eq!(values(8, 2, "y = Upsample<scales = [1.0, 2.0]>(x)"), [1.0, 1.0, 2.0, 2.0]);
    // Two scales, each with a name of its own.
    let first = read(6, "1, 4", "y = Upsample<width_scale = 2.0, height_scale = 1.0>(x)")
        .expect_err("it is not read");
    assert!(matches!(first, Error::Unsupported { .. }) && first.to_string().contains("opset 7"), "{first}");
    let shrinks = "s = Constant<value = float[2] {1.0, 0.5}>() y = Resize(x, s)";
    assert!(read(10, "1, 4", shrinks).expect_err("nobody knows").to_string().contains("opset 11"));
}

#[test]
fn what_is_not_known_is_refused() {
    let why = |nodes: &str| read(18, "1, 4", nodes).expect_err("it is refused").to_string();
    assert!(why(&by(2.0, "coordinate_transformation_mode = \"tf_crop_and_resize\"")).contains("operand 1"));
    assert!(why(&by(2.0, "coordinate_transformation_mode = \"none\"")).contains("none"));
    let huge = "n = Constant<value = int64[2] {1, 1}>() y = Resize<mode = \"cubic\">(x, , , n)";
    assert!(read(18, "1, 900000000", huge).expect_err("it is refused").to_string().contains("900000000"));
    assert!(why(&by(1e9, "mode = \"nearest\"")).contains("times"));
    assert!(why(&by(-1.0, "mode = \"nearest\"")).contains("not above 0"));
    assert!(why("n = Constant<value = int64[1] {4}>() y = Resize(x, , , n)").contains("for 2 axes"));
    let aligned = |scale| by(scale, "mode = \"linear\", coordinate_transformation_mode = \"align_corners\"");
    assert!(why(&aligned(0.6)).contains("no whole number"));
    assert!(read(18, "1, 4", &aligned(0.5)).is_ok());
    let floor = "coordinate_transformation_mode = \"align_corners\", nearest_mode = \"floor\"";
    assert!(read(18, "1, 4", &to(4, floor)).is_ok());
}

#[test]
fn a_region_is_cropped_and_what_is_outside_filled() {
    let crop = |from: f64, to: f64, size: i64, rest: &str| {
        format!(
            "r = Constant<value = float[4] {{0.0, {from:?}, 1.0, {to:?}}}>() n = Constant<value = int64[2] {{1, {size}}}>() \
             y = Resize<coordinate_transformation_mode = \"tf_crop_and_resize\"{rest}>(x, r, , n)"
        )
    };
    // From 1 to 3 of the positions 0 to 4, in steps of 1/2.
    is_near(&values(18, 5, &crop(0.25, 0.75, 5, ", mode = \"linear\"")), &[2.0, 2.5, 3.0, 3.5, 4.0]);
    // Of one element, the middle.
    is_near(&values(18, 5, &crop(0.25, 0.75, 1, ", mode = \"linear\"")), &[3.0]);
    // From 2 to 6, of which 6 is outside.
    let filled = crop(0.5, 1.5, 3, ", mode = \"linear\", extrapolation_value = 9.0");
    is_near(&values(18, 5, &filled), &[3.0, 5.0, 9.0]);
}

/// The text has 2 / 4 for 0.6; ONNX's own test `resize_downsample_scales_linear` and ONNX Runtime have 0.6.
#[test]
fn a_scale_is_the_one_that_is_given() {
    let node = |mode: &str| by(0.6, &format!("{LINEAR}, coordinate_transformation_mode = \"{mode}\""));
    for opset in [13, 18, 19] {
        for mode in ["half_pixel", "pytorch_half_pixel"] {
            is_near(&values(opset, 4, &node(mode)), &[1.0 + 1.0 / 3.0, 3.0]);
        }
        is_near(&values(opset, 4, &node("asymmetric")), &[1.0, 1.0 + 5.0 / 3.0]);
    }
}

#[test]
fn half_pixels_lie_the_same_way_from_both_ends() {
    let node = |mode: &str| by(0.6, &format!("{LINEAR}, coordinate_transformation_mode = \"{mode}\""));
    // 4 · 0.6 is 2.4, and 2 of it are there: the middles of 2 elements of 5/3 each, around that of all.
    is_near(&values(19, 4, &node("half_pixel_symmetric")), &[1.5 + 1.0 - 5.0 / 6.0, 1.5 + 1.0 + 5.0 / 6.0]);
}

#[test]
fn weights_outside_are_left_out() {
    let node = "mode = \"cubic\", exclude_outside = 1, cubic_coeff_a = -0.5";
    let found = values(18, 4, &by(2.0, node));
    // At -0.25 the cubic of -0.5 weighs the elements at 0 and 1 by 0.8671875 and 0.2265625 - ..., here by hand:
    // distances 1/4 and 5/4.
    let near = |d: f64| (1.5 * d - 2.5) * d * d + 1.0;
    let far = |d: f64| ((-0.5 * d + 2.5) * d - 4.0) * d + 2.0;
    let (first, second) = (near(0.25), far(1.25));
    is_near(&found[..1], &[(first + 2.0 * second) / (first + second)]);
}

#[test]
fn what_shrinks_is_filtered_against_aliasing() {
    // By a half, a line spans 4 elements: from the middle of two the distances 1/4 and 3/4 in the result.
    let node = by(0.5, &format!("{LINEAR}, antialias = 1"));
    // Three eighths of both near, one eighth of both far; beyond the ends are the first and the last.
    let inner = [(1.0 + 3.0 * 1.0 + 3.0 * 2.0 + 3.0) / 8.0, (2.0 + 3.0 * 3.0 + 3.0 * 4.0 + 4.0) / 8.0];
    is_near(&values(18, 4, &node), &inner);
    // What grows is not.
    let twice = [by(2.0, LINEAR), by(2.0, &format!("{LINEAR}, antialias = 1"))];
    assert_eq!(values(18, 4, &twice[0]), values(18, 4, &twice[1]));
}

#[test]
fn an_aspect_ratio_is_kept() {
    let to = |policy: &str| {
        format!(
            "n = Constant<value = int64[2] {{3, 6}}>() \
             y = Resize<keep_aspect_ratio_policy = \"{policy}\", axes = [0, 1]>(x, , , n)"
        )
    };
    // One row of two is to become three of six, each by as much.
    assert_eq!(values(18, 2, &to("not_larger")), [[1.0; 3], [2.0; 3]].concat().repeat(3));
    assert_eq!(values(18, 4, &to("not_larger")).len(), 2 * 6);
    assert_eq!(values(18, 4, &to("not_smaller")).len(), 3 * 12);
    assert!(read(18, "1, 2", &to("none")).is_err());
}

#[test]
fn an_element_spoils_no_place_that_it_is_not_next_to() {
    let imported =
        read(18, "1, 4", &to(7, &format!("{LINEAR}, coordinate_transformation_mode = \"align_corners\"")));
    let model = imported.expect("it is read").model;
    for spoilt in [f64::NAN, f64::INFINITY] {
        let x =
            Tensor::from_f64_fn(&Type::new(DType::F32, [1, 4]), |i| if i == 3 { spoilt } else { i as f64 });
        let taps = interp::Taps::Outputs;
        let evaluation = interp::evaluate(&model, &[x], &interp::Profile::DECLARED, taps).expect("values");
        let y = &evaluation.outputs[0];
        is_near(&y.tensor.to_f64s()[..5], &[0.0, 0.5, 1.0, 1.5, 2.0]);
        assert!(y.tensor.to_f64s()[5..].iter().all(|number| !number.is_finite()));
        // Every implementation has NaN there; of an infinity, sums say less.
        assert!(!spoilt.is_nan() || y.error[5..] == [0.0, 0.0]);
        // Place 4 is the third element: who computes with the fourth, at no weight, has NaN.
        assert!(y.error[..4].iter().all(|&error| error < 1e-4) && y.error[4] == f64::INFINITY);
    }
}
