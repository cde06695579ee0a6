//! The two levels of the CPU kernels against each other, on sizes that fill vectors, squares and caches and leave something over:
//! the conformance suite asks each of them about small operands alone.

use ir::{Attributes, DType, Operation, Stream, Tensor, Type};
use onnxsmith_backends::cpu::{CpuRunner, Kernels};
use onnxsmith_backends::engines::models::Runner;
use ops::Op;
use rand::RngExt;

/// What elements are.
#[derive(Clone, Copy)]
enum Elements {
    /// Whole numbers of which sums are exact in every order.
    Whole,
    /// Real numbers, zeros of both signs, infinities and NaN.
    Any,
    /// Real numbers.
    Real,
    /// Indices into an axis of this size.
    Below(i64),
}

/// How two floats may differ.
#[derive(Clone, Copy)]
enum Differ {
    /// Not at all, but for what a NaN says.
    Not,
    /// By so much of the larger one, and of nothing.
    By(f64, f64),
}

fn tensor(ty: &Type, elements: Elements, stream: Stream) -> Tensor {
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let rng = &mut stream.rng();
    if !ty.dtype.is_float() {
        let high = if let Elements::Below(size) = elements { size } else { 9 };
        let low = if matches!(elements, Elements::Below(_)) || !ty.dtype.is_signed() { 0 } else { -8 };
        return Tensor::from_i128_fn(ty, |_| i128::from(rng.random_range(low..high)));
    }
    Tensor::from_f64_fn(ty, |_| match elements {
        Elements::Whole => f64::from(rng.random_range(-8..9)),
        Elements::Any if rng.random_ratio(1, 40) => special[rng.random_range(0..special.len())],
        _ => rng.random_range(-6.0..6.0),
    })
}

fn assert_alike(name: &str, vector: &[Tensor], plain: &[Tensor], differ: Differ) {
    assert_eq!(vector.len(), plain.len(), "{name}");
    for (found, right) in vector.iter().zip(plain) {
        assert_eq!(found.ty(), right.ty(), "{name}");
        if !found.dtype().is_float() {
            assert_eq!(found, right, "{name}");
            continue;
        }
        for (i, (a, b)) in found.to_f64s().into_iter().zip(right.to_f64s()).enumerate() {
            let is_same = a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
            let is_near = match differ {
                Differ::Not => false,
                Differ::By(share, least) => {
                    let largest = a.abs().max(b.abs());
                    largest.is_finite() && (a - b).abs() <= share * largest + least
                }
            };
            assert!(is_same || is_near, "{name}: element {i} is {a:e} for {b:e}");
        }
    }
}

/// Runs an operator by both kinds of kernels, and by those with vectors on one and on three threads.
fn compare(op: &str, attributes: &Attributes, types: &[Type], elements: &[Elements], differ: Differ) {
    let name = format!("{op} {attributes:?} {types:?}");
    let op = Op::parse(op, attributes).expect("a known operator").expect("legal attributes");
    let outputs = op.infer(&types.iter().map(Some).collect::<Vec<_>>()).expect("operands that fit");
    let stream = Stream::new(7).child(&name);
    let all = types.iter().enumerate();
    let all = all.map(|(i, ty)| tensor(ty, elements[i.min(elements.len() - 1)], stream.at(i as u64)));
    let all: Vec<Tensor> = all.collect();
    let inputs: Vec<Option<&Tensor>> = all.iter().map(Some).collect();
    let run =
        |kernels: Kernels| kernels.run(&op, &inputs, &outputs).unwrap_or_else(|e| panic!("{name}: {e}"));
    let vector = run(Kernels::Vector { threads: 1 });
    assert_alike(&name, &vector, &run(Kernels::Plain), differ);
    assert_alike(&name, &run(Kernels::Vector { threads: 3 }), &vector, Differ::Not);
}

/// The same on `f32` operands of these shapes.
fn on_f32(op: &str, attributes: &Attributes, shapes: &[&[i64]], elements: Elements, differ: Differ) {
    let types: Vec<Type> = shapes.iter().map(|&shape| Type::new(DType::F32, shape)).collect();
    compare(op, attributes, &types, &[elements], differ);
}

fn none() -> Attributes {
    Attributes::new()
}

#[test]
fn products_of_whole_numbers_are_exact() {
    let exact = |op: &str, attributes: &Attributes, shapes: &[&[i64]]| {
        on_f32(op, attributes, shapes, Elements::Whole, Differ::Not);
    };
    exact("MatMul", &none(), &[&[33, 65], &[65, 129]]);
    exact("MatMul", &none(), &[&[300, 200], &[200, 310]]);
    exact("MatMul", &none(), &[&[3, 1, 17, 9], &[5, 9, 20]]);
    exact("MatMul", &none(), &[&[4, 3, 17, 9], &[9, 20]]);
    exact("MatMul", &none(), &[&[2, 3, 9], &[2, 9, 1]]);
    exact("MatMul", &none(), &[&[9], &[4, 9, 20]]);
    exact("MatMul", &none(), &[&[4, 3, 9], &[9]]);
    exact("MatMul", &none(), &[&[9], &[9]]);
    exact("MatMul", &none(), &[&[3, 0], &[0, 4]]);
    let transposed = none().int("transA", 1).int("transB", 1).float("alpha", 2.0).float("beta", -3.0);
    exact("Gemm", &transposed, &[&[40, 33], &[65, 40], &[33, 1]]);
    exact("Gemm", &none(), &[&[33, 40], &[40, 65], &[65]]);
    exact("Gemm", &none(), &[&[33, 40], &[40, 65], &[]]);
    exact("Gemm", &none().float("beta", 0.5), &[&[33, 40], &[40, 65], &[33, 65]]);
    exact("Gemm", &none(), &[&[33, 0], &[0, 65], &[65]]);
}

#[test]
fn convolutions_of_whole_numbers_are_exact() {
    let exact = |attributes: &Attributes, shapes: &[&[i64]]| {
        on_f32("Conv", attributes, shapes, Elements::Whole, Differ::Not);
    };
    exact(&none().ints("pads", &[1, 1, 1, 1]), &[&[2, 16, 33, 31], &[20, 16, 3, 3], &[20]]);
    exact(&none().ints("strides", &[2, 3]).ints("pads", &[2, 0, 1, 3]), &[&[1, 5, 40, 41], &[7, 5, 5, 4]]);
    exact(
        &none().ints("dilations", &[2, 3]).ints("pads", &[4, 6, 2, 0]),
        &[&[1, 4, 20, 30], &[6, 4, 3, 3], &[6]],
    );
    exact(&none(), &[&[2, 40, 19, 23], &[33, 40, 1, 1], &[33]]);
    exact(&none().ints("strides", &[2, 2]), &[&[1, 40, 19, 23], &[33, 40, 1, 1]]);
    exact(&none().int("group", 12).ints("pads", &[1, 1, 1, 1]), &[&[2, 12, 30, 29], &[24, 1, 3, 3], &[24]]);
    exact(&none().int("group", 3).ints("strides", &[2, 1]), &[&[1, 12, 30, 29], &[9, 4, 3, 2]]);
    exact(
        &none().int("group", 5).ints("strides", &[3, 3]).ints("pads", &[2, 2, 2, 2]),
        &[&[1, 5, 30, 29], &[5, 1, 5, 5]],
    );
    exact(&none().ints("pads", &[3, 1]), &[&[3, 8, 1000], &[9, 8, 5]]);
    exact(&none().ints("pads", &[1, 0, 2, 0, 1, 1]), &[&[1, 3, 7, 9, 11], &[4, 3, 3, 2, 4], &[4]]);
    exact(&none().name("auto_pad", "SAME_UPPER").ints("strides", &[2, 2]), &[&[1, 4, 21, 20], &[5, 4, 4, 5]]);
    exact(&none().name("auto_pad", "SAME_LOWER").ints("strides", &[3, 2]), &[&[1, 4, 21, 20], &[5, 4, 4, 5]]);
}

#[test]
fn reductions_find_every_element() {
    let shapes: [&[i64]; 6] =
        [&[5000], &[7, 1500], &[40, 33, 5], &[3, 1, 2100, 2], &[2, 3, 4, 5, 70], &[1, 70000]];
    for op in ["ReduceSum", "ReduceSumSquare", "ReduceL1", "ReduceMean", "ReduceMax", "ReduceMin"] {
        for shape in shapes {
            let rank = shape.len() as i64;
            let axes = [vec![], vec![0], vec![-1], (0..rank).step_by(2).collect(), (0..rank - 1).collect()];
            for axes in axes {
                let attributes = if axes.is_empty() { none() } else { none().ints("axes", &axes) };
                let differ = if op == "ReduceMean" { Differ::By(2e-7, 0.0) } else { Differ::Not };
                on_f32(op, &attributes, &[shape], Elements::Whole, differ);
            }
        }
    }
    for dtype in [DType::I32, DType::I64, DType::F64, DType::F16, DType::BF16] {
        for op in ["ReduceSum", "ReduceMax", "ReduceMin"] {
            let ty = Type::new(dtype, [9, 130, 3]);
            let sums_exactly = dtype != DType::BF16 && dtype != DType::F16 || op != "ReduceSum";
            let axes = if sums_exactly { vec![0, 2] } else { vec![2] };
            compare(op, &none().ints("axes", &axes), &[ty], &[Elements::Whole], Differ::Not);
        }
    }
}

#[test]
fn extremes_of_special_numbers_are_the_same() {
    for op in ["ReduceMax", "ReduceMin"] {
        for (shape, axis) in [(&[60, 70][..], 1), (&[70, 60], 0), (&[6, 5000], 1)] {
            on_f32(op, &none().ints("axes", &[axis]), &[shape], Elements::Any, Differ::Not);
        }
    }
    for strides in [[1, 1], [2, 2], [3, 1]] {
        let pool = none().ints("kernel_shape", &[3, 2]).ints("strides", &strides).ints("pads", &[1, 1, 2, 0]);
        on_f32("MaxPool", &pool, &[&[2, 3, 40, 37]], Elements::Any, Differ::Not);
    }
    // Windows on pads alone, at both ends of both axes.
    for (strides, pads) in [([1, 1], [4, 0, 0, 3]), ([2, 3], [0, 3, 5, 4])] {
        let pool = none().ints("kernel_shape", &[3, 2]).ints("strides", &strides).ints("pads", &pads);
        on_f32("MaxPool", &pool, &[&[2, 3, 40, 37]], Elements::Any, Differ::Not);
    }
    on_f32("GlobalMaxPool", &none(), &[&[2, 30, 17, 9]], Elements::Any, Differ::Not);
}

#[test]
fn logarithms_of_sums_are_near() {
    for op in ["ReduceLogSumExp", "ReduceL2"] {
        for axis in [0, 1, 2] {
            let attributes = none().ints("axes", &[axis]);
            on_f32(op, &attributes, &[&[20, 300, 7]], Elements::Real, Differ::By(1e-6, 1e-6));
        }
    }
    for op in ["Softmax", "LogSoftmax"] {
        for (shape, axis) in [(&[9, 1100][..], -1), (&[3, 70, 37], 1), (&[50, 3, 2], 0), (&[3, 1], -1)] {
            on_f32(op, &none().int("axis", axis), &[shape], Elements::Real, Differ::By(2e-6, 1e-7));
        }
    }
    let infinite = none().int("axis", -1);
    on_f32("Softmax", &infinite, &[&[300, 20]], Elements::Any, Differ::By(2e-6, 1e-7));
}

#[test]
fn averages_and_norms_are_near() {
    for (include, ceil) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let beyond = ([2, 1], [2, 3], [3, 0, 4, 5]);
        for (strides, kernel, pads) in
            [([2, 2], [3, 3], [1, 1, 1, 1]), ([3, 1], [4, 2], [1, 0, 2, 1]), beyond]
        {
            let attributes = none()
                .ints("kernel_shape", &kernel)
                .ints("strides", &strides)
                .ints("pads", &pads)
                .int("ceil_mode", ceil)
                .int("count_include_pad", include);
            on_f32("AveragePool", &attributes, &[&[2, 3, 40, 37]], Elements::Real, Differ::By(1e-6, 1e-6));
        }
    }
    on_f32("GlobalAveragePool", &none(), &[&[2, 30, 17, 90]], Elements::Real, Differ::By(1e-6, 1e-6));
    for shapes in [&[&[30, 1100][..], &[1100], &[1100]][..], &[&[4, 5, 130], &[130]], &[&[2, 3, 4], &[4]]] {
        on_f32("LayerNormalization", &none(), shapes, Elements::Real, Differ::By(1e-5, 1e-5));
    }
    let axis = none().int("axis", 1);
    on_f32(
        "LayerNormalization",
        &axis,
        &[&[3, 20, 33], &[20, 33], &[20, 33]],
        Elements::Real,
        Differ::By(1e-5, 1e-5),
    );
}

#[test]
fn functions_of_special_numbers_are_alike() {
    let exact =
        ["Abs", "Neg", "Relu", "Floor", "Ceil", "Round", "Reciprocal", "Sqrt", "Softsign", "HardSwish"];
    for op in exact {
        on_f32(op, &none(), &[&[3000]], Elements::Any, Differ::Not);
    }
    for op in ["LeakyRelu", "HardSigmoid", "ThresholdedRelu"] {
        on_f32(op, &none(), &[&[3000]], Elements::Any, Differ::Not);
    }
    let near = ["Exp", "Log", "Tanh", "Erf", "Sigmoid", "Softplus", "Mish", "Elu", "Selu", "Gelu"];
    for op in near {
        on_f32(op, &none(), &[&[3000]], Elements::Any, Differ::By(2e-6, 0.0));
    }
    on_f32("Gelu", &none().name("approximate", "tanh"), &[&[3000]], Elements::Any, Differ::By(4e-6, 0.0));
    on_f32("Swish", &none().float("alpha", 1.5), &[&[3000]], Elements::Any, Differ::By(2e-6, 0.0));
    for op in ["Add", "Sub", "Mul", "Div"] {
        on_f32(op, &none(), &[&[3000], &[3000]], Elements::Any, Differ::Not);
        let ty = Type::new(DType::I64, [200_000]);
        if op != "Div" {
            compare(op, &none(), &[ty.clone(), ty], &[Elements::Whole], Differ::Not);
        }
    }
}

#[test]
fn elements_move_to_the_same_places() {
    for dtype in [DType::Bool, DType::F16, DType::I32, DType::F64] {
        for (shape, order) in [
            (&[130, 70][..], &[1, 0][..]),
            (&[600, 601], &[1, 0]),
            (&[3, 33, 50], &[0, 2, 1]),
            (&[5, 17, 19], &[2, 1, 0]),
            (&[4, 3, 18, 17], &[0, 2, 3, 1]),
            (&[4, 3, 18, 17], &[1, 0, 2, 3]),
        ] {
            let ty = Type::new(dtype, shape);
            compare("Transpose", &none().ints("perm", order), &[ty], &[Elements::Whole], Differ::Not);
        }
    }
}

#[test]
fn floats_are_converted_alike() {
    for from in [DType::F32, DType::F16, DType::BF16] {
        for to in [
            DType::F16,
            DType::BF16,
            DType::F32,
            DType::F64,
            DType::I8,
            DType::U8,
            DType::I32,
            DType::I64,
            DType::Bool,
        ] {
            let ty = Type::new(from, [3000]);
            compare("Cast", &none().dtype("to", to), &[ty], &[Elements::Any], Differ::Not);
        }
    }
}

#[test]
fn halves_are_what_f32_rounds_to() {
    for dtype in [DType::F16, DType::BF16] {
        let ty = |shape: &[i64]| Type::new(dtype, shape);
        let exact = |op: &str, types: &[Type]| compare(op, &none(), types, &[Elements::Any], Differ::Not);
        exact("Add", &[ty(&[700]), ty(&[700])]);
        exact("Mul", &[ty(&[7, 100]), ty(&[100])]);
        exact("Sqrt", &[ty(&[700])]);
        exact("Sin", &[ty(&[700])]);
        exact("PRelu", &[ty(&[7, 100]), ty(&[100])]);
        exact("Clip", &[ty(&[700]), ty(&[]), ty(&[])]);
        exact("ArgMax", &[ty(&[7, 100])]);
        compare("CumSum", &none().int("axis", 1), &[ty(&[7, 100])], &[Elements::Any], Differ::Not);
        exact("MatMul", &[ty(&[7, 5]), ty(&[5, 9])]);
        // Exponents and scales of other dtypes are left as they are.
        compare(
            "Pow",
            &none(),
            &[ty(&[300]), Type::new(DType::I32, [300])],
            &[Elements::Real, Elements::Below(4)],
            Differ::Not,
        );
        let scale = Type::new(DType::F32, [3]);
        let types = [ty(&[2, 3, 5]), scale.clone(), scale.clone(), scale.clone(), scale];
        let variance = [Elements::Real, Elements::Real, Elements::Real, Elements::Real, Elements::Below(3)];
        compare("BatchNormalization", &none(), &types, &variance, Differ::Not);
    }
}

#[test]
fn the_plain_level_runs_where_it_is_named() {
    let hello = CpuRunner::default().describe();
    assert_eq!((hello.levels, hello.on_request), (vec!["default".to_owned()], vec!["plain".to_owned()]));
}
