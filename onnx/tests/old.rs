//! Definitions of opsets 7 to 12 are read as they were meant.

use std::collections::BTreeMap;

use ir::{DType, Datum, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

/// A program of an opset that takes `x` of this type.
fn read(opset: u32, x: &str, nodes: &str) -> Result<Imported, Error> {
    let text = format!("<ir_version: 3, opset_import: [\"\" : {opset}]>\nm ({x} x) => (y) {{ {nodes} }}\n");
    specialise(&Program::from_text(&text)?, &Options::default())
}

/// What such a program gives for 1, 2, 3 …
fn values(opset: u32, shape: &[i64], nodes: &str) -> Vec<f64> {
    let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
    let imported = read(opset, &format!("float[{}]", sizes.join(", ")), nodes).expect("it is read");
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, shape), |i| i as f64 + 1.0);
    interp::evaluate_plain(&imported.model, &[x]).expect("values").remove(0).to_f64s()
}

fn why(opset: u32, x: &str, nodes: &str) -> String {
    read(opset, x, nodes).expect_err("it is not read").to_string()
}

#[test]
fn softmax_was_over_all_axes_from_one_on() {
    let zeros = "zero = Constant<value = float {0.0}>() zeros = Mul(x, zero)";
    assert_eq!(values(11, &[1, 2, 2], &format!("{zeros} y = Softmax(zeros)")), [0.25; 4]);
    assert_eq!(values(11, &[1, 2, 2], &format!("{zeros} y = Softmax<axis = 2>(zeros)")), [0.5; 4]);
    assert_eq!(values(9, &[2, 2], &format!("{zeros} y = Softmax<axis = 0>(zeros)")), [0.25; 4]);
    assert_eq!(values(9, &[1, 2, 2], "y = Hardmax(x)"), [0.0, 0.0, 0.0, 1.0]);
    let logs = values(9, &[1, 2, 2], &format!("{zeros} y = LogSoftmax(zeros)"));
    assert!(logs.iter().all(|log| (log - 0.25_f64.ln()).abs() < 1e-6), "{logs:?}");
}

#[test]
fn softmax_had_an_axis_that_its_operand_has() {
    for name in ["Softmax", "LogSoftmax", "Hardmax"] {
        let read = |opset: u32, x: &str, axis: &str| read(opset, x, &format!("y = {name}{axis}(x)"));
        // The axis is 1 where none is given.
        for (x, axis) in [("float[3]", ""), ("float[2, 3]", "<axis = 2>"), ("float[2, 3]", "<axis = -3>")] {
            let error = read(11, x, axis).expect_err("opset 11 has a range");
            assert!(
                matches!(error, Error::Invalid { .. }) && error.to_string().contains("`axis`"),
                "{error}"
            );
            let error = read(7, x, axis).expect_err("nobody says what that is");
            assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        }
        assert!(read(11, "float[3]", "<axis = -1>").is_ok() && read(7, "float[3]", "<axis = 0>").is_ok());
    }
}

#[test]
fn what_is_an_operand_now_was_an_attribute() {
    assert_eq!(values(9, &[4], "y = Slice<starts = [1], ends = [3]>(x)"), [2.0, 3.0]);
    assert_eq!(values(9, &[1, 2], "y = Squeeze<axes = [0]>(x)"), [1.0, 2.0]);
    assert_eq!(values(11, &[2], "y = Unsqueeze<axes = [-1]>(x)"), [1.0, 2.0]);
    assert_eq!(values(11, &[2, 2], "y = ReduceSum<axes = [1], keepdims = 0>(x)"), [3.0, 7.0]);
    assert_eq!(values(11, &[3], "a, y = Split<split = [1, 2]>(x)"), [2.0, 3.0]);
    assert_eq!(values(9, &[3], "y, places = TopK<k = 2>(x)"), [3.0, 2.0]);
    assert_eq!(values(9, &[3], "y = Clip<min = 1.5, max = 2.5>(x)"), [1.5, 2.0, 2.5]);
    assert_eq!(values(9, &[3], "y = Clip<min = 2.0>(x)"), [2.0, 2.0, 3.0]);
    assert_eq!(values(9, &[2], "y = Pad<pads = [1, 1], value = 7.0>(x)"), [7.0, 1.0, 2.0, 7.0]);
    assert_eq!(values(9, &[3], "y = Pad<mode = \"reflect\", pads = [1, 0]>(x)"), [2.0, 1.0, 2.0, 3.0]);
}

#[test]
fn axes_did_not_count_from_the_last_one() {
    for node in ["Flatten<axis = -1>", "Squeeze<axes = [-2]>", "Unsqueeze<axes = [0, -1]>"] {
        let node = format!("y = {node}(x)");
        for opset in [7, 9, 10] {
            let error = read(opset, "float[1, 2]", &node).expect_err("it is negative");
            assert!(matches!(error, Error::Invalid { .. }), "{error}");
            assert!(error.to_string().contains("before opset 11 none is negative"), "{error}");
        }
        assert!(read(11, "float[1, 2]", &node).is_ok());
    }
    assert_eq!(values(9, &[1, 2], "y = Flatten<axis = 2>(x)"), [1.0, 2.0]);
    assert_eq!(values(9, &[1, 2], "y = Unsqueeze<axes = [0, 3]>(x)"), [1.0, 2.0]);
}

#[test]
fn the_operands_of_a_sum_had_one_shape() {
    for name in ["Sum", "Mean", "Max", "Min"] {
        let broadcast = format!("z = Constant<value = float[1, 2] {{0.0, 0.0}}>() y = {name}(x, z)");
        let error = read(7, "float[2, 2]", &broadcast).expect_err("they differ");
        assert!(matches!(error, Error::Invalid { .. }) && error.to_string().contains("operand 1"), "{error}");
        assert!(read(8, "float[2, 2]", &broadcast).is_ok());
        assert!(read(7, "float[1, 2]", &broadcast).is_ok());
    }
}

#[test]
fn dropout_does_nothing_and_has_no_mask() {
    assert_eq!(values(9, &[2], "y, mask = Dropout<ratio = 0.9>(x)"), [1.0, 2.0]);
    for nodes in ["z, y = Dropout(x)", "z, mask = Dropout(x) y = Not(mask)"] {
        let error = read(10, "float[2]", nodes).expect_err("ONNX does not say what the mask is");
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains("Dropout's mask"), "{error}");
    }
}

#[test]
fn scatter_is_scatter_elements() {
    let operands = "at = Constant<value = int64[1] {1}>() with = Constant<value = float[1] {5.0}>()";
    assert_eq!(values(9, &[3], &format!("{operands} y = Scatter(x, at, with)")), [1.0, 5.0, 3.0]);
    let along = format!("{operands} y = Scatter <axis = -1> (x, at, with)");
    assert_eq!(values(9, &[3], &along), [1.0, 5.0, 3.0]);
    let why = why(11, "float[3]", &format!("{operands} y = Scatter(x, at, with)"));
    assert!(why.contains("deprecated from opset 11 on"), "{why}");
}

#[test]
fn what_has_changed_its_dtypes_alone_is_the_same() {
    assert_eq!(values(7, &[2], "y = Add(x, x)"), [2.0, 4.0]);
    assert_eq!(
        values(9, &[2, 2], "w = Constant<value = float[2] {1.0, 1.0}>() y = Gemm(x, x, w)"),
        [8.0, 11.0, 16.0, 23.0]
    );
    assert_eq!(values(8, &[1, 1, 4], "y = MaxPool<kernel_shape = [2]>(x)"), [2.0, 3.0, 4.0]);
    assert_eq!(values(10, &[2, 2], "y = ArgMax<axis = 1, keepdims = 0>(x)").len(), 2);
}

#[test]
fn statistics_were_those_of_channels_or_not_at_all() {
    let one = "one = Constant<value = float[1] {1.0}>()";
    let norm =
        |attributes: &str| format!("{one} y = BatchNormalization<{attributes}>(x, one, one, one, one)");
    let read_as = values(8, &[1, 1, 2], &norm("spatial = 1, epsilon = 0.0"));
    assert_eq!(read_as, [1.0, 2.0]);
    assert!(why(8, "float[1, 1, 2]", &norm("spatial = 0")).contains("`spatial`"));
    for outputs in ["y, mean, var, saved_mean, saved_var", "y, , var"] {
        let node = norm("epsilon = 0.0").replace("y =", &format!("{outputs} ="));
        for opset in [7, 9, 13] {
            let error = read(opset, "float[1, 1, 2]", &node).expect_err("it trains");
            assert!(matches!(error, Error::Unsupported { .. }), "{error}");
            assert!(error.to_string().contains("training"), "{error}");
        }
    }
}

#[test]
fn a_default_that_is_written_out_is_none_the_less_one() {
    let one = "one = Constant<value = float[1] {1.0}>()";
    let norm =
        format!("{one} y = BatchNormalization<training_mode = 0, epsilon = 0.0>(x, one, one, one, one)");
    assert_eq!(values(17, &[1, 1, 2], &norm), [1.0, 2.0]);
    assert!(why(13, "float[1, 1, 2]", &norm).contains("`training_mode`"));
}

#[test]
fn operands_of_one_type_parameter_have_one_dtype_and_a_loop_carried_something() {
    let mixed = "e = Constant<value = double[1] {2.0}>() y = Pow(x, e)";
    assert!(why(11, "float[2]", mixed).contains("operand 0 is f32: both are T in opset 11"));
    assert!(read(12, "float[2]", mixed).is_ok());
    let idle = "n = Constant<value = int64 {2}>() t = Constant<value = bool {1}>() \
                y = Loop(n, t) <body = b (int64 i, bool go) => (bool go, float[2] p) { p = Neg(x) }>";
    assert!(why(10, "float[2]", idle).contains("operand"));
    assert!(read(11, "float[2]", idle).is_ok());
}

/// "Any entries in the 'indices' input tensor with values outside the range [0, depth) will result in one-hot
/// representation with all 'off_value' values": before opset 11 negative ones, too.
#[test]
fn no_index_counted_from_the_end() {
    let hot = |x: &str, opset: u32, attributes: &str| {
        let nodes = format!(
            "n = Constant<value = int64[1] {{2}}>() v = Constant<value = float[2] {{0.5, 3.0}}>() y = OneHot{attributes}(x, n, v)"
        );
        let text =
            format!("<ir_version: 3, opset_import: [\"\" : {opset}]>\nm ({x}[5] x) => (y) {{ {nodes} }}\n");
        Program::from_text(&text).expect("a program")
    };
    let values = |program: &Program, dtype: DType| {
        let model = specialise(program, &Options::default()).expect("it is read").model;
        let x = Tensor::from_f64_fn(&Type::new(dtype, [5]), |i| [-2.0, -1.0, 0.0, 1.0, 2.0][i]);
        interp::evaluate_plain(&model, &[x]).expect("values").remove(0).to_f64s()
    };
    let known: BTreeMap<String, Datum> = BTreeMap::new();
    let (former, since) = ([0.5, 0.5, 0.5, 0.5, 3.0, 0.5, 0.5, 3.0, 0.5, 0.5], [3.0, 0.5, 0.5, 3.0]);
    for (x, dtype) in [("int64", DType::I64), ("int8", DType::I8), ("float", DType::F32)] {
        for opset in [9, 10] {
            let program = hot(x, opset, "");
            assert_eq!(values(&program, dtype), former, "{x} in {opset}");
            let today = program.in_first_opset(&known).expect("it is of a former opset");
            assert_eq!(values(&today, dtype), former, "{x} in {opset}: {}", today.to_text());
        }
        assert_eq!(values(&hot(x, 11, ""), dtype)[..4], since, "{x}");
    }
    assert_eq!(values(&hot("int64", 9, "<axis = 0>"), DType::I64)[..5], [0.5, 0.5, 3.0, 0.5, 0.5]);
}

#[test]
fn what_meant_something_else_or_was_not_there_is_refused() {
    let hot = "n = Constant<value = int64[1] {3}>() v = Constant<value = float[2] {0.0, 1.0}>() y = OneHot<axis = -2>(x, n, v)";
    assert!(why(9, "int64[2]", hot).contains("`axis`"));
    assert!(read(11, "int64[2]", hot).is_ok());
    assert!(why(6, "float[2]", "y = Add(x, x)").contains("only definitions from opset 7 on"));
    assert!(
        why(7, "float[1, 1, 4]", "y = AveragePool<kernel_shape = [2], ceil_mode = 1>(x)")
            .contains("ceil_mode")
    );
    assert!(why(9, "float[2]", "y = Clip<low = 1.0>(x)").contains("`low`"));
    assert!(why(10, "float[4]", "y = Slice<starts = [1], ends = [3]>(x)").contains("operand"));
}

#[test]
fn a_program_says_the_same_in_the_words_of_opset_13() {
    let zeros = "zero = Constant<value = float {0.0}>() zeros = Mul(x, zero)";
    let hundred = format!("{zeros} y = Softmax(zeros)");
    let at = "at = Constant<value = int64[1, 1, 1] {1}>() with = Constant<value = float[1, 1, 1] {5.0}>()";
    let scattered = format!("{at} y = Scatter<axis = 1>(x, at, with)");
    let scaled = "scales = Constant<value = float[3] {1.0, 2.0, 1.0}>()";
    let [upsampled, resized] =
        ["Upsample", "Resize"].map(|name| format!("{scaled} y = {name}<mode = \"linear\">(x, scales)"));
    let one = "one = Constant<value = float[2] {1.0, 2.0}>()";
    let normal = format!("{one} y = BatchNormalization<spatial = 1>(x, one, one, one, one)");
    let programs = [
        (11, "Softmax", "Flatten", hundred.as_str()),
        (11, "LogSoftmax", "LogSoftmax", "y = LogSoftmax<axis = 2>(x)"),
        (7, "Hardmax", "Flatten", "y = Hardmax<axis = 0>(x)"),
        (9, "Clip", "Clip", "y = Clip<max = 2.5>(x)"),
        (7, "Pad", "Pad", "y = Pad<pads = [0, 1, 0, 0, 0, 2], value = 7.0>(x)"),
        (10, "Dropout", "Identity", "y, mask = Dropout<ratio = 0.5>(x)"),
        (10, "Scatter", "ScatterElements", &scattered),
        (7, "Upsample", "Resize", "y = Upsample<scales = [1.0, 2.0, 1.0]>(x)"),
        (9, "Upsample", "Resize", &upsampled),
        (10, "Resize", "Resize", &resized),
        (8, "BatchNormalization", "BatchNormalization", &normal),
        (11, "Squeeze", "Squeeze", "y = Squeeze<axes = [0]>(x)"),
    ];
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [1, 2, 2]), |i| i as f64 + 1.0);
    for (opset, name, today, nodes) in programs {
        let text = format!(
            "<ir_version: 3, opset_import: [\"\" : {opset}]>\nm (float[1, 2, 2] x) => (y) {{ {nodes} }}\n"
        );
        let program = Program::from_text(&text).expect("a program");
        let known: BTreeMap<String, Datum> = BTreeMap::new();
        let first = program.in_first_opset(&known).expect("it is of a former opset");
        assert_eq!(first.rest.opset_import[0].version(), 13);
        assert!(first.in_first_opset(&known).is_none(), "{name} is of today");
        let has = |wanted: &str| first.main.body.nodes.iter().any(|node| node.rest.op_type() == wanted);
        assert!(has(today) && (today == name || today == "Flatten" || !has(name)), "{}", first.to_text());
        let value = |program: &Program| {
            let led = specialise(program, &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
            interp::evaluate_plain(&led.model, std::slice::from_ref(&x)).expect("values")
        };
        assert_eq!(value(&first), value(&program), "{name}\n{}", first.to_text());
    }
}
