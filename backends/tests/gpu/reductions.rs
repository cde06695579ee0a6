use ir::{DType, Tensor};
use onnxsmith_backends::wgpu::{Gpu, GpuError, GpuTensor};
use ops::nn::{BatchNorm, LayerNorm, RmsNorm, Softmax, SoftmaxFn};
use ops::reduction::{Arg, ArgFn, Reduce, ReduceFn};

use crate::{apply, assert_close, down, gpu, integers, tensor, up, wave};

/// A reduction over these axes; none means none.
fn reduce(
    gpu: &Gpu,
    function: ReduceFn,
    x: &GpuTensor,
    axes: &[usize],
    keepdims: bool,
) -> Result<GpuTensor, GpuError> {
    let axes = Some(axes.iter().map(|&a| a as i64).collect());
    apply(gpu, Reduce { function, axes, keepdims, noop_with_empty_axes: true }, &[x])
}

/// Where the extreme is, with the axis kept.
fn arg(
    gpu: &Gpu,
    x: &GpuTensor,
    axis: i64,
    largest: bool,
    select_last_index: bool,
) -> Result<GpuTensor, GpuError> {
    let function = if largest { ArgFn::Max } else { ArgFn::Min };
    apply(gpu, Arg { function, axis, keepdims: true, select_last_index }, &[x])
}

/// The elements of each group that a reduction over `axes` combines, in row-major order of the result.
fn groups(x: &Tensor, axes: &[usize]) -> Vec<Vec<f64>> {
    let shape = x.shape();
    let kept: Vec<_> = (0..shape.len()).filter(|a| !axes.contains(a)).collect();
    let mut groups = vec![Vec::new(); kept.iter().map(|&a| shape[a]).product()];
    for (i, v) in x.to_f64s().into_iter().enumerate() {
        let at = |axis: usize| i / shape[axis + 1..].iter().product::<usize>() % shape[axis];
        groups[kept.iter().fold(0, |g, &a| g * shape[a] + at(a))].push(v);
    }
    groups
}

fn exact(f: ReduceFn, group: &[f64]) -> f64 {
    let sum = |f: fn(f64) -> f64| group.iter().map(|&v| f(v)).sum::<f64>();
    match f {
        ReduceFn::Sum => sum(|v| v),
        ReduceFn::Mean => sum(|v| v) / group.len() as f64,
        ReduceFn::Max => group.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ReduceFn::Min => group.iter().copied().fold(f64::INFINITY, f64::min),
        ReduceFn::Prod => group.iter().product(),
        ReduceFn::SumSquare => sum(|v| v * v),
        ReduceFn::L1 => sum(f64::abs),
        ReduceFn::L2 => sum(|v| v * v).sqrt(),
        ReduceFn::LogSum => sum(|v| v).ln(),
        ReduceFn::LogSumExp => sum(f64::exp).ln(),
    }
}

#[test]
fn reductions_over_any_axes() {
    let Some(gpu) = gpu() else { return };
    let axes: &[&[usize]] = &[&[], &[0], &[1], &[3], &[1, 2], &[0, 3], &[0, 2], &[0, 1, 2, 3]];
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        // Positive where a logarithm is taken, near 1 so that products stay finite.
        let x =
            Tensor::from_f64_fn(&wave(dtype, &[3, 2, 4, 5]).ty(), |i| 0.5 + (i * 37 % 101) as f64 / 101.0);
        let t = up(gpu, &x);
        for &f in ReduceFn::ALL {
            for &axes in axes {
                let got = down(gpu, &reduce(gpu, f, &t, axes, true).unwrap());
                let expected: Vec<_> = groups(&x, axes).iter().map(|g| exact(f, g)).collect();
                let kept: Vec<_> = (0..4).map(|a| if axes.contains(&a) { 1 } else { x.shape()[a] }).collect();
                assert_eq!(got.shape(), kept);
                let rel =
                    3e-5 + if dtype == DType::F32 { 0.0 } else { 0.51 * dtype.float().unwrap().epsilon() };
                assert_close(&format!("{f:?} {dtype} {axes:?}"), &got.to_f64s(), &expected, 2e-6, rel);
            }
        }
        let got = reduce(gpu, ReduceFn::Sum, &t, &[0, 2], false).unwrap();
        assert_eq!(got.shape(), [2, 5]);
    }
}

#[test]
fn reductions_of_integers() {
    let Some(gpu) = gpu() else { return };
    for dtype in ir::DTypes::INTS.iter() {
        let (low, high) = dtype.int_range().unwrap();
        let x = up(gpu, &integers(dtype, &[2, 3], &[high, 5, 4, low, 1, 2]));
        let run = |f| down(gpu, &reduce(gpu, f, &x, &[1], false).unwrap()).to_i128s();
        let wrap = |v: [i128; 2]| v.map(|v| dtype.wrap(v)).to_vec();
        assert_eq!(run(ReduceFn::Sum), wrap([high + 9, low + 3]), "{dtype}");
        assert_eq!(run(ReduceFn::Prod), wrap([high.wrapping_mul(20), low.wrapping_mul(2)]), "{dtype}");
        assert_eq!(run(ReduceFn::Max), [high, 2], "{dtype}");
        assert_eq!(run(ReduceFn::Min), [4, low], "{dtype}");
        if dtype.bits() < 32 {
            assert_eq!(run(ReduceFn::Mean), [(high + 9) / 3, (low + 3) / 3], "{dtype}");
        }
        assert!(matches!(reduce(gpu, ReduceFn::LogSum, &x, &[1], false), Err(GpuError::Unsupported { .. })));
    }
}

#[test]
fn reductions_of_nothing_give_the_identity() {
    let Some(gpu) = gpu() else { return };
    let x = up(gpu, &tensor(DType::F32, &[2, 0], &[]));
    let inf = f64::INFINITY;
    for (f, identity) in [
        (ReduceFn::Sum, 0.0),
        (ReduceFn::Prod, 1.0),
        (ReduceFn::Max, -inf),
        (ReduceFn::Min, inf),
        (ReduceFn::LogSumExp, -inf),
    ] {
        assert_eq!(down(gpu, &reduce(gpu, f, &x, &[1], false).unwrap()).to_f64s(), [identity; 2], "{f:?}");
    }
    let none = down(gpu, &reduce(gpu, ReduceFn::Sum, &x, &[0], false).unwrap());
    assert_eq!(none.shape(), [0]);
}

#[test]
fn reductions_longer_than_a_loop_may_run() {
    let Some(gpu) = gpu() else { return };
    let n = 300_000;
    let ones = tensor(DType::F32, &[2, n], &vec![1.0; 2 * n]);
    let t = up(gpu, &ones);
    assert_eq!(down(gpu, &reduce(gpu, ReduceFn::Sum, &t, &[1], false).unwrap()).to_f64s(), [n as f64; 2]);
    assert_eq!(down(gpu, &reduce(gpu, ReduceFn::Mean, &t, &[0, 1], false).unwrap()).to_f64s(), [1.0]);
    let mut spike = vec![0; n];
    (spike[250_001], spike[299_999]) = (7, 7);
    let t = up(gpu, &integers(DType::I32, &[n], &spike));
    assert_eq!(down(gpu, &arg(gpu, &t, 0, true, false).unwrap()).to_i128s(), [250_001]);
    assert_eq!(down(gpu, &arg(gpu, &t, 0, true, true).unwrap()).to_i128s(), [299_999]);
    // The sum of 300,000 ones is beyond f16 and stays exact in between.
    let halves = up(gpu, &tensor(DType::F16, &[n], &vec![1.0; n]));
    assert_eq!(down(gpu, &reduce(gpu, ReduceFn::Mean, &halves, &[0], false).unwrap()).to_f64s(), [1.0]);
}

#[test]
fn nan_reaches_the_result() {
    let Some(gpu) = gpu() else { return };
    let x = up(gpu, &tensor(DType::F32, &[3], &[1.0, f64::NAN, 2.0]));
    for &f in ReduceFn::ALL {
        assert!(down(gpu, &reduce(gpu, f, &x, &[0], false).unwrap()).to_f64s()[0].is_nan(), "{f:?}");
    }
    assert_eq!(down(gpu, &arg(gpu, &x, 0, true, false).unwrap()).to_i128s(), [1]);
    assert_eq!(down(gpu, &arg(gpu, &x, 0, false, false).unwrap()).to_i128s(), [1]);
}

#[test]
fn positions_of_extremes() {
    let Some(gpu) = gpu() else { return };
    for dtype in [DType::F32, DType::F16, DType::U8, DType::I64, DType::F64] {
        let x = up(gpu, &tensor(dtype, &[2, 3], &[3.0, 5.0, 5.0, 4.0, 2.0, 2.0]));
        let run = |axis, largest, last| down(gpu, &arg(gpu, &x, axis, largest, last).unwrap());
        assert_eq!(run(1, true, false), integers(DType::I64, &[2, 1], &[1, 0]), "{dtype}");
        assert_eq!(run(1, true, true), integers(DType::I64, &[2, 1], &[2, 0]), "{dtype}");
        assert_eq!(run(1, false, true), integers(DType::I64, &[2, 1], &[0, 2]), "{dtype}");
        assert_eq!(run(0, false, false), integers(DType::I64, &[1, 3], &[0, 1, 1]), "{dtype}");
    }
    let empty = up(gpu, &tensor(DType::F32, &[2, 0], &[]));
    assert!(arg(gpu, &empty, 1, true, false).is_err());
}

#[test]
fn softmax_over_each_axis() {
    let Some(gpu) = gpu() else { return };
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        let x = wave(dtype, &[2, 3, 4]);
        let t = up(gpu, &x);
        let eps = if dtype == DType::F32 { 0.0 } else { dtype.float().unwrap().epsilon() };
        for axis in 0..3usize {
            // Shifting does not change the exact result, so the sum is taken as it is.
            let sums: Vec<_> =
                groups(&x, &[axis]).iter().map(|g| g.iter().map(|v| v.exp()).sum::<f64>()).collect();
            let inner: usize = x.shape()[axis + 1..].iter().product();
            let group = |i: usize| (i / (inner * x.shape()[axis])) * inner + i % inner;
            let expected: Vec<_> =
                x.to_f64s().iter().enumerate().map(|(i, v)| v.exp() / sums[group(i)]).collect();
            let got = down(
                gpu,
                &apply(gpu, Softmax { function: SoftmaxFn::Softmax, axis: axis as i64 }, &[&t]).unwrap(),
            );
            assert_close("Softmax", &got.to_f64s(), &expected, 1e-7, 2e-5 + eps);
            let expected: Vec<_> = expected.iter().map(|v| v.ln()).collect();
            let got = down(
                gpu,
                &apply(gpu, Softmax { function: SoftmaxFn::LogSoftmax, axis: axis as i64 }, &[&t]).unwrap(),
            );
            assert_close("LogSoftmax", &got.to_f64s(), &expected, 1e-5, 1e-6 + eps);
        }
    }
    let large = up(gpu, &tensor(DType::F32, &[1, 2], &[1000.0, 1000.0]));
    assert_eq!(
        down(gpu, &apply(gpu, Softmax { function: SoftmaxFn::Softmax, axis: 1 }, &[&large]).unwrap())
            .to_f64s(),
        [0.5, 0.5]
    );
}

#[test]
fn normalizations() {
    let Some(gpu) = gpu() else { return };
    for dtype in [DType::F32, DType::F64] {
        let (x, scale, bias) = (wave(dtype, &[2, 3, 4]), wave(dtype, &[3, 4]), wave(dtype, &[4]));
        let t = up(gpu, &x);
        for center in [true, false] {
            let (ps, pb, epsilon) = (up(gpu, &scale), up(gpu, &bias), 1e-3);
            let stash = DType::F32;
            let got = if center {
                apply(gpu, LayerNorm { axis: 1, epsilon, stash, outputs: 1 }, &[&t, &ps, &pb]).unwrap()
            } else {
                apply(gpu, RmsNorm { axis: 1, epsilon, stash }, &[&t, &ps]).unwrap()
            };
            let mut expected = Vec::new();
            for group in groups(&x, &[1, 2]) {
                let mean = if center { group.iter().sum::<f64>() / 12.0 } else { 0.0 };
                let variance = group.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 12.0;
                let root = (variance + f64::from(1e-3f32)).sqrt();
                expected.extend(group.iter().enumerate().map(|(i, v)| {
                    (v - mean) / root * scale.to_f64s()[i] + if center { bias.to_f64s()[i % 4] } else { 0.0 }
                }));
            }
            assert_close("normalize", &down(gpu, &got).to_f64s(), &expected, 2e-6, 2e-6);
        }
        let [s, b, m, v] = [[1.0, 2.0, 3.0], [0.5, -1.0, 0.0], [0.1, 0.2, 0.3], [1.0, 4.0, 0.25]];
        let parts = [s, b, m, v].map(|p| up(gpu, &tensor(dtype, &[3], &p)));
        let [ps, pb, pm, pv] = &parts;
        let op = BatchNorm { epsilon: 1e-5, momentum: 0.9 };
        let got = apply(gpu, op, &[&t, ps, pb, pm, pv]).unwrap();
        let expected: Vec<_> = (x.to_f64s().iter().enumerate())
            .map(|(i, x)| (i / 4 % 3, x))
            .map(|(c, x)| (x - m[c]) / (v[c] + 1e-5).sqrt() * s[c] + b[c])
            .collect();
        assert_close("BatchNormalization", &down(gpu, &got).to_f64s(), &expected, 2e-6, 2e-6);
    }
}
