use ir::{Attributes, DType, Operation};
use onnxsmith_backends::wgpu::{Gpu, GpuError, GpuTensor};
use ops::Op;
use ops::reduction::{Arg, ArgFn, Reduce, ReduceFn};

use crate::{apply, down, gpu, has, integers, tensor, up};

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
    if has(gpu, DType::F16) {
        let halves = up(gpu, &tensor(DType::F16, &[n], &vec![1.0; n]));
        assert_eq!(down(gpu, &reduce(gpu, ReduceFn::Mean, &halves, &[0], false).unwrap()).to_f64s(), [1.0]);
    }
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
fn windows_may_start_on_pads_beyond_the_kernel() {
    let Some(gpu) = gpu() else { return };
    let x = up(gpu, &tensor(DType::F32, &[1, 1, 3], &[1.0, 2.0, 3.0]));
    let pool = |name: &str, kernel: i64, pads: [i64; 2], stride: i64| {
        let attributes = Attributes::new().ints("kernel_shape", &[kernel]).ints("strides", &[stride]);
        let attributes = attributes.ints("pads", &pads);
        let counts = name == "AveragePool";
        let attributes = if counts { attributes.int("count_include_pad", 1) } else { attributes };
        let op = Op::parse(name, &attributes).expect("a known operator").expect("legal attributes");
        down(gpu, &apply(gpu, op, &[&x]).expect("a result")).to_f64s()
    };
    assert_eq!(pool("AveragePool", 2, [2, 0], 1), [0.0, 0.5, 1.5, 2.5]);
    assert_eq!(pool("AveragePool", 2, [0, 3], 1), [1.5, 2.5, 1.5, 0.0, 0.0]);
    // The first window of these sees nothing, which has no largest element.
    assert_eq!(pool("MaxPool", 2, [2, 0], 1)[1..], [1.0, 2.0, 3.0]);
    assert_eq!(pool("MaxPool", 1, [0, 1], 2), [1.0, 3.0]);
}
