//! Operators through the dispatch, against the reference: two implementations that share no code.

use ir::{Attributes, DType, DTypes, Operation, Tensor, Type, Value};
use onnxsmith_backends::wgpu::GpuError;
use ops::{Graph, Model, Op};

use crate::{down, gpu, integers, tensor, up, wave};

fn op(name: &str, attributes: &Attributes) -> Op {
    Op::parse(name, attributes).unwrap_or_else(|| panic!("{name} is registered")).unwrap()
}

/// Runs one operator here and there; `None` where the operator does not take the dtype, or the device lacks it.
#[track_caller]
fn check(name: &str, attributes: &Attributes, inputs: &[Option<&Tensor>], tolerance: f64) -> Option<()> {
    let gpu = gpu()?;
    let op = op(name, attributes);
    let given: Vec<Option<Type>> = inputs.iter().map(|t| t.map(Tensor::ty)).collect();
    let given: Vec<Option<&Type>> = given.iter().map(Option::as_ref).collect();
    let types = match Operation::infer(&op, &given) {
        Ok(types) => types,
        Err(ops::Reject::DType { .. }) => return None,
        Err(e) => panic!("{name}: {e}"),
    };
    let expected = ops::plain::evaluate(&op, inputs, &types);
    let uploaded: Vec<_> = inputs.iter().map(|t| t.map(|t| up(gpu, t))).collect();
    let operands: Vec<_> = uploaded.iter().map(Option::as_ref).collect();
    let got = match gpu.operator(&op, &operands, &types) {
        Ok(got) => got,
        Err(GpuError::Unsupported { .. }) if inputs.iter().flatten().any(|t| t.dtype().bits() == 64) => {
            return None;
        }
        Err(e) => panic!("{name}: {e}"),
    };
    assert_eq!(got.len(), expected.len(), "{name}");
    for (got, expected) in got.iter().zip(&expected) {
        let got = down(gpu, got);
        assert_eq!(got.ty(), expected.ty(), "{name}");
        for (i, (g, e)) in got.to_f64s().iter().zip(expected.to_f64s()).enumerate() {
            let close = *g == e || (g.is_nan() && e.is_nan()) || (g - e).abs() <= tolerance * (1.0 + e.abs());
            assert!(close, "{name} {attributes:?} of {}: element {i} is {g}, expected {e}", expected.ty());
        }
    }
    Some(())
}

fn none() -> Attributes {
    Attributes::new()
}

/// The tolerance for a dtype: some ULPs of it, and of the functions that WGSL bounds loosely.
fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F16 | DType::BF16 => dtype.float().unwrap().epsilon(),
        d if d.is_float() => 1e-5,
        _ => 0.0,
    }
}

#[test]
fn every_unary_operator() {
    for &f in ops::elementwise::UnaryFn::ALL {
        for dtype in [DType::F32, DType::F16, DType::BF16, DType::I32, DType::Bool] {
            // In the domain of every function but Acosh, which starts at 1.
            let shift = if format!("{f:?}") == "Acosh" { 1.0 } else { 0.0 };
            let values: Vec<f64> = (0..12).map(|i| shift + f64::from(i) / 12.5 + 0.03).collect();
            let x = tensor(dtype, &[3, 4], &values);
            let name = format!("{f:?}");
            check(&name, &none(), &[Some(&x)], 4.0 * tolerance(dtype));
        }
    }
}

#[test]
fn elementwise_operators() {
    for dtype in [DType::F32, DType::F16, DType::BF16, DType::I32, DType::I64, DType::U8] {
        let x = wave(dtype, &[2, 3]);
        let y = tensor(dtype, &[3], &[1.0, 2.0, 3.0]);
        let both = [Some(&x), Some(&y)];
        for name in ["Add", "Sub", "Mul", "Div", "Less", "GreaterOrEqual", "Equal", "Min", "Max"] {
            check(name, &none(), &both, tolerance(dtype));
        }
        check("Mod", &none().flag("fmod", dtype.is_float()), &both, tolerance(dtype));
        for exponent in [DType::F32, DType::I64, DType::U8] {
            if dtype.is_float() || exponent.is_int() {
                let positive = tensor(dtype, &[3], &[1.5, 2.0, 3.0]);
                let y = tensor(exponent, &[3], &[3.0, 2.0, 1.0]);
                check("Pow", &none(), &[Some(&positive), Some(&y)], 4.0 * tolerance(dtype));
            }
        }
        check("Clip", &none(), &[Some(&x), None, Some(&tensor(dtype, &[], &[1.0]))], 0.0);
        check("Where", &none(), &[Some(&integers(DType::Bool, &[2, 1], &[1, 0])), Some(&x), Some(&y)], 0.0);
        check("CastLike", &none(), &[Some(&x), Some(&tensor(DType::U16, &[0], &[]))], 0.0);
        if dtype.is_float() {
            for name in ["Sum", "Mean"] {
                check(name, &none(), &[Some(&x), Some(&y), Some(&x)], 2.0 * tolerance(dtype));
            }
            for name in ["LeakyRelu", "Elu", "Selu", "HardSigmoid", "ThresholdedRelu", "Swish", "Gelu"] {
                check(name, &none(), &[Some(&x)], 4.0 * tolerance(dtype));
            }
            if dtype == DType::F32 {
                check("Celu", &none(), &[Some(&x)], tolerance(dtype));
            }
            check("Gelu", &none().name("approximate", "tanh"), &[Some(&x)], 4.0 * tolerance(dtype));
            check("Shrink", &none().float("bias", 0.5).float("lambd", 1.0), &[Some(&x)], tolerance(dtype));
            check("IsInf", &none(), &[Some(&x)], 0.0);
        }
    }
}

#[test]
fn movement_operators() {
    for dtype in DTypes::IR4.iter() {
        let x = integers(dtype, &[2, 3, 4], &(0..24).collect::<Vec<_>>());
        let one = [Some(&x)];
        check("Transpose", &none(), &one, 0.0);
        check("Transpose", &none().ints("perm", &[1, 2, 0]), &one, 0.0);
        check("Reshape", &none().ints("shape", &[0, -1]), &one, 0.0);
        check("Flatten", &none().int("axis", 2), &one, 0.0);
        check("Unsqueeze", &none().ints("axes", &[0, -1]), &one, 0.0);
        check("Split", &none().int("axis", -1).ints("split", &[1, 3]), &one, 0.0);
        check("Concat", &none().int("axis", -2), &[Some(&x), Some(&x)], 0.0);
        check("Expand", &none().ints("shape", &[2, 2, 1, 1]), &one, 0.0);
        let slice = none().ints("starts", &[-1, 0]).ints("ends", &[-100, 100]).ints("axes", &[2, 1]);
        check("Slice", &slice.ints("steps", &[-2, 2]), &one, 0.0);
        for mode in ["constant", "reflect", "edge", "wrap"] {
            check("Pad", &none().name("mode", mode).ints("pads", &[1, -1, 2, 0, 2, -1]), &one, 0.0);
        }
        let indices = integers(DType::I64, &[2, 1], &[-1, 1]);
        check("Gather", &none().int("axis", 1), &[Some(&x), Some(&indices)], 0.0);
        let elements =
            integers(DType::I32, &[2, 2, 4], &[-1, 1, 0, 2, 1, 1, 1, 1, 0, -2, -1, 2, 0, 0, 2, -3]);
        check("GatherElements", &none().int("axis", 1), &[Some(&x), Some(&elements)], 0.0);
        check("Tile", &none().ints("repeats", &[2, 1, 3]), &one, 0.0);
        check(
            "ReverseSequence",
            &none().int("batch_axis", 0).int("time_axis", 1),
            &[Some(&x), Some(&integers(DType::I64, &[2], &[2, 3]))],
            0.0,
        );
        check(
            "ReverseSequence",
            &none().int("batch_axis", 1).int("time_axis", 0),
            &[Some(&x), Some(&integers(DType::I64, &[3], &[0, 1, 2]))],
            0.0,
        );
        for mode in ["DCR", "CRD"] {
            let image = integers(dtype, &[1, 8, 2, 3], &(0..48).collect::<Vec<_>>());
            check("DepthToSpace", &none().int("blocksize", 2).name("mode", mode), &[Some(&image)], 0.0);
        }
        let image = integers(dtype, &[1, 2, 4, 6], &(0..48).collect::<Vec<_>>());
        check("SpaceToDepth", &none().int("blocksize", 2), &[Some(&image)], 0.0);
        check("EyeLike", &none().int("k", -1), &[Some(&integers(dtype, &[3, 2], &[0; 6]))], 0.0);
        check("Shape", &none().int("start", -2), &one, 0.0);
        check("Size", &none(), &one, 0.0);
        for (upper, k) in [(true, 0), (false, 1), (true, -2), (false, 9)] {
            check("Trilu", &none().flag("upper", upper).int("k", k), &one, 0.0);
        }
    }
    let values = tensor(DType::F16, &[2], &[-1.0, 5.0]);
    for dtype in [DType::I64, DType::F32, DType::I8] {
        let indices = tensor(dtype, &[4], &[0.0, -1.0, 3.0, -4.0]);
        for axis in [0, -1] {
            let attributes = none().int("depth", 3).int("axis", axis);
            check("OneHot", &attributes, &[Some(&indices), Some(&values)], 0.0);
        }
    }
}

#[test]
fn the_largest_indices_point_nowhere() {
    let values = tensor(DType::F32, &[2], &[-1.0, 5.0]);
    for dtype in [DType::U64, DType::I64, DType::U32] {
        let (low, high) = dtype.int_range().unwrap();
        let indices = integers(dtype, &[3], &[high, low, high - 1]);
        check("OneHot", &none().int("depth", 3), &[Some(&indices), Some(&values)], 0.0);
    }
}

#[test]
fn reducing_operators() {
    for dtype in [DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32, DType::U64] {
        let x = wave(dtype, &[3, 2, 4]);
        for name in ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceSumSquare", "ReduceL1"] {
            for axes in [&[0i64, -1][..], &[1], &[]] {
                check(
                    name,
                    &none().ints("axes", axes).flag("keepdims", false),
                    &[Some(&x)],
                    2.0 * tolerance(dtype),
                );
            }
        }
        if dtype.is_float() {
            check("ReduceL2", &none(), &[Some(&x)], 2.0 * tolerance(dtype));
        }
        for name in ["ArgMax", "ArgMin"] {
            check(name, &none().int("axis", 1).flag("select_last_index", true), &[Some(&x)], 0.0);
        }
        for (exclusive, reverse) in [(false, false), (true, false), (false, true), (true, true)] {
            let attributes = none().int("axis", 1).flag("exclusive", exclusive).flag("reverse", reverse);
            check("CumSum", &attributes, &[Some(&x)], tolerance(dtype));
        }
        for largest in [true, false] {
            let attributes = none().int("k", 2).int("axis", -1).flag("largest", largest);
            check("TopK", &attributes, &[Some(&x)], 0.0);
        }
    }
}

#[test]
fn nn_operators() {
    for dtype in [DType::F32, DType::F16, DType::BF16, DType::F64] {
        let (x, w, b) = (wave(dtype, &[2, 4, 5, 6]), wave(dtype, &[6, 2, 3, 2]), wave(dtype, &[6]));
        let t = tolerance(dtype);
        for auto_pad in ["SAME_UPPER", "SAME_LOWER", "VALID"] {
            let attributes = none().name("auto_pad", auto_pad).ints("strides", &[2, 3]).int("group", 2);
            check("Conv", &attributes, &[Some(&x), Some(&w), Some(&b)], 8.0 * t);
        }
        check("Conv", &none().ints("pads", &[4, 0, 0, 3]).int("group", 2), &[Some(&x), Some(&w)], 8.0 * t);
        let window =
            none().ints("kernel_shape", &[3, 2]).ints("strides", &[2, 2]).ints("pads", &[1, 0, 1, 1]);
        for ceil in [false, true] {
            let window = window.clone().flag("ceil_mode", ceil);
            for include in [false, true] {
                check(
                    "AveragePool",
                    &window.clone().flag("count_include_pad", include),
                    &[Some(&x)],
                    2.0 * t,
                );
            }
            for order in [false, true] {
                check(
                    "MaxPool",
                    &window.clone().flag("storage_order", order).int("outputs", 2),
                    &[Some(&x)],
                    0.0,
                );
            }
        }
        for name in ["GlobalAveragePool", "GlobalMaxPool"] {
            check(name, &none(), &[Some(&x)], t);
        }
        for name in ["Softmax", "LogSoftmax", "Hardmax"] {
            check(name, &none().int("axis", 1), &[Some(&x)], 2.0 * t);
        }
        let channel = |v: f64| tensor(dtype, &[4], &[v, v + 0.5, v + 1.0, v + 0.25]);
        let [s, o, m, v] = [1.0, -0.5, 0.1, 0.9].map(channel);
        check("BatchNormalization", &none(), &[Some(&x), Some(&s), Some(&o), Some(&m), Some(&v)], 4.0 * t);
        check("InstanceNormalization", &none(), &[Some(&x), Some(&s), Some(&o)], 4.0 * t);
        check("GroupNormalization", &none().int("num_groups", 2), &[Some(&x), Some(&s), Some(&o)], 4.0 * t);
        let (scale, bias) = (wave(dtype, &[5, 6]), wave(dtype, &[6]));
        let layer = none().int("axis", 2).int("outputs", 3);
        let stage = t.max(1e-5);
        check("LayerNormalization", &layer, &[Some(&x), Some(&scale), Some(&bias)], 8.0 * stage);
        check("RMSNormalization", &none().int("axis", 2), &[Some(&x), Some(&scale)], 8.0 * stage);
        for p in [1, 2] {
            check("LpNormalization", &none().int("axis", 1).int("p", p), &[Some(&x)], 2.0 * t);
        }
        check("MeanVarianceNormalization", &none().ints("axes", &[0, 2, 3]), &[Some(&x)], 4.0 * t);
        check("LRN", &none().int("size", 3).float("alpha", 0.3), &[Some(&x)], 4.0 * t);
        check("MatMul", &none(), &[Some(&x), Some(&wave(dtype, &[6, 3]))], 8.0 * t);
        let gemm = none().float("alpha", 0.5).float("beta", 2.0).flag("transB", true);
        let [a, b, c] = [wave(dtype, &[3, 4]), wave(dtype, &[2, 4]), wave(dtype, &[1, 2])];
        check("Gemm", &gemm, &[Some(&a), Some(&b), Some(&c)], 8.0 * t);
    }
}

#[test]
fn a_whole_model_runs_in_one_go() {
    let Some(gpu) = gpu() else { return };
    let mut graph = Graph::new();
    let x = graph.variable("x", Type::new(DType::F32, [2, 3]));
    let w = graph.constant(wave(DType::F32, &[3, 4]));
    let product = Value::new(graph.operator(op("MatMul", &none()), &[Some(x), Some(w)]).unwrap(), 0);
    let relu = Value::new(graph.operator(op("Relu", &none()), &[Some(product)]).unwrap(), 0);
    let sum = Value::new(graph.operator(op("Add", &none()), &[Some(relu), Some(relu)]).unwrap(), 0);
    graph.output("sum", sum);
    graph.output("same", x);
    let model = Model::new(20, graph);
    model.validate().unwrap();
    let input = wave(DType::F32, &[2, 3]);
    let got = gpu.run(&model, &[&input]).unwrap();
    let w = wave(DType::F32, &[3, 4]).to_f64s();
    let x = input.to_f64s();
    let product = |i: usize| (0..3).map(|k| x[i / 4 * 3 + k] * w[k * 4 + i % 4]).sum::<f64>();
    let expected: Vec<_> = (0..8).map(|i| 2.0 * product(i).max(0.0)).collect();
    crate::assert_close("model", &got[0].to_f64s(), &expected, 1e-5, 1e-6);
    assert_eq!(got[1], input);
    let error = gpu.run(&model, &[]).unwrap_err();
    assert!(error.to_string().contains("input `x` is missing"), "{error}");
}

#[test]
fn a_failing_node_is_named() {
    let Some(gpu) = gpu() else { return };
    let mut graph = Graph::new();
    let x = graph.variable("x", Type::new(DType::F64, [2]));
    let exp = graph.operator(op("Exp", &none()), &[Some(x)]).unwrap();
    graph.output("y", Value::new(exp, 0));
    let error = gpu.run(&Model::new(20, graph), &[&wave(DType::F64, &[2])]).unwrap_err();
    assert_eq!((error.node, error.op.as_str()), (1, "Exp"));
    assert!(matches!(error.cause, GpuError::Unsupported { .. }));
}
