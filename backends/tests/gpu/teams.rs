//! Kernels in which a workgroup works together, which software drivers get only when they are asked for.

use std::sync::OnceLock;

use ir::{DType, Tensor};
use onnxsmith_backends::wgpu::{Gpu, Teamwork, Which};
use ops::linear::{Gemm, MatMul};
use ops::nn::Conv;
use ops::nn::window::{AutoPad, Window};
use ops::reduction::{Reduce, ReduceFn};

use crate::{apply, down, has, integers, tensor, up};

/// A device on which they work together wherever they can.
fn gpu() -> Option<&'static Gpu> {
    static GPU: OnceLock<Option<Gpu>> = OnceLock::new();
    let open = || {
        crate::gpu()?;
        let mut gpu = Gpu::open(&Which::Best).ok()?;
        gpu.team(Teamwork::Always);
        Some(gpu)
    };
    GPU.get_or_init(open).as_ref()
}

/// Element `i` of an operand: numbers from -2 to 2, or from 0 to 2, so that every sum is exact.
fn element(dtype: DType, i: usize) -> i128 {
    let number = (i * 7 + i / 5) as i128 % 5;
    if dtype.is_signed() { number - 2 } else { number % 3 }
}

fn operand(dtype: DType, shape: &[usize]) -> Tensor {
    let count = shape.iter().product();
    integers(dtype, shape, &(0..count).map(|i| element(dtype, i)).collect::<Vec<_>>())
}

/// The product of two operands, whose batches are `[2, 1]` and `[3]`.
fn product(dtype: DType, [rows, k, columns]: [usize; 3]) -> Vec<f64> {
    let mut product = Vec::new();
    for (a, b) in (0..2).flat_map(|a| (0..3).map(move |b| (a, b))) {
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let left = |i| element(dtype, (a * rows + row) * k + i);
            let right = |i| element(dtype, (b * k + i) * columns + column);
            product.push((0..k).map(|i| left(i) * right(i)).sum::<i128>() as f64);
        }
    }
    product
}

/// On a driver of which it is known, so that the kernels are not tested without.
#[test]
fn lavapipe_has_subgroups() {
    let Some(gpu) = gpu() else { return };
    if gpu.info().to_string().contains("llvmpipe") {
        assert!(gpu.self_test().subgroups && gpu.capabilities().subgroups);
    }
}

#[test]
fn squares_that_end_anywhere() {
    let Some(gpu) = gpu() else { return };
    let sizes = [[12, 1, 12], [32, 8, 32], [33, 9, 31], [65, 17, 70], [13, 0, 40], [12, 9000, 13]];
    let dtypes = [DType::F32, DType::F16, DType::I64, DType::I8, DType::F64];
    for dtype in dtypes.into_iter().filter(|&dtype| has(gpu, dtype)) {
        // What an element of few bits holds, or a float of few bits exactly.
        let fits = |k: usize| dtype.bits() >= 32 || k < 30;
        for [rows, k, columns] in sizes.into_iter().filter(|size| fits(size[1])) {
            let a = up(gpu, &operand(dtype, &[2, 1, rows, k]));
            let b = up(gpu, &operand(dtype, &[3, k, columns]));
            let got = down(gpu, &apply(gpu, MatMul, &[&a, &b]).unwrap());
            assert_eq!(got.to_f64s(), product(dtype, [rows, k, columns]), "{dtype} {rows} {k} {columns}");
        }
    }
}

#[test]
fn squares_of_transposed_matrices() {
    let Some(gpu) = gpu() else { return };
    let [rows, k, columns] = [34, 20, 45];
    let gemm = Gemm { alpha: 1.0, beta: 1.0, trans_a: true, trans_b: true };
    let a = up(gpu, &operand(DType::F32, &[k, rows]));
    let b = up(gpu, &operand(DType::F32, &[columns, k]));
    let got = down(gpu, &apply(gpu, gemm, &[&a, &b]).unwrap()).to_f64s();
    for (at, got) in got.into_iter().enumerate() {
        let (row, column) = (at / columns, at % columns);
        let term = |i| element(DType::F32, i * rows + row) * element(DType::F32, column * k + i);
        assert_eq!(got, (0..k).map(term).sum::<i128>() as f64, "{row} {column}");
    }
}

#[test]
fn infinity_beyond_a_square_stays_there() {
    let Some(gpu) = gpu() else { return };
    let n = 40;
    let mut left = vec![1.0; n * n];
    left[n * n - 1] = f64::INFINITY;
    let (a, b) = (tensor(DType::F32, &[n, n], &left), tensor(DType::F32, &[n, n], &vec![1.0; n * n]));
    let got = down(gpu, &apply(gpu, MatMul, &[&up(gpu, &a), &up(gpu, &b)]).unwrap()).to_f64s();
    let last_row = n * (n - 1);
    assert!(got[..last_row].iter().all(|&sum| sum == n as f64));
    assert!(got[last_row..].iter().all(|&sum| sum == f64::INFINITY));
}

#[test]
fn lanes_of_every_length() {
    let Some(gpu) = gpu() else { return };
    let dtypes = [DType::F32, DType::F16, DType::I32, DType::U64, DType::I8];
    for dtype in dtypes.into_iter().filter(|&dtype| has(gpu, dtype)) {
        for n in [256, 257, 5000, 200_000] {
            let short = dtype.bits() < 32;
            let x = up(gpu, &operand(dtype, &[3, n]));
            let lanes = || (0..3).map(|lane| (lane * n..(lane + 1) * n).map(|i| element(dtype, i)));
            let of = |function| {
                let reduce =
                    Reduce { function, axes: Some(vec![1]), keepdims: false, noop_with_empty_axes: false };
                down(gpu, &apply(gpu, reduce, &[&x]).unwrap()).to_i128s()
            };
            let expected: Vec<_> = lanes().map(|lane| lane.max().unwrap()).collect();
            assert_eq!(of(ReduceFn::Max), expected, "{dtype} {n}");
            let expected: Vec<_> = lanes().map(|lane| lane.min().unwrap()).collect();
            assert_eq!(of(ReduceFn::Min), expected, "{dtype} {n}");
            if !short {
                assert_eq!(of(ReduceFn::Sum), lanes().map(Iterator::sum).collect::<Vec<_>>(), "{dtype} {n}");
            }
        }
    }
}

#[test]
fn nan_reaches_the_team() {
    let Some(gpu) = gpu() else { return };
    let mut numbers = vec![1.0; 1000];
    numbers[777] = f64::NAN;
    let x = up(gpu, &tensor(DType::F32, &[1000], &numbers));
    for &function in ReduceFn::ALL {
        let reduce = Reduce { function, axes: None, keepdims: false, noop_with_empty_axes: false };
        assert!(down(gpu, &apply(gpu, reduce, &[&x]).unwrap()).to_f64s()[0].is_nan(), "{function:?}");
    }
}

/// A convolution of groups, with padding that is not the same on both sides.
fn conv(spatial: usize, group: i64) -> Conv {
    let window = Window {
        auto_pad: AutoPad::NotSet,
        strides: vec![2, 1, 1][..spatial].to_vec(),
        dilations: vec![1, 2, 1][..spatial].to_vec(),
        pads: [vec![1; spatial], vec![2; spatial]].concat(),
        ceil_mode: false,
    };
    Conv { window, group, kernel_shape: None }
}

/// What one invocation per element gives is tested against the reference elsewhere.
#[test]
fn squares_of_convolutions() {
    let (Some(alone), Some(gpu)) = (crate::gpu(), gpu()) else { return };
    let shapes: [(&[usize], &[usize], i64); 4] = [
        (&[2, 6, 40], &[26, 3, 3], 2),
        (&[2, 4, 9, 11], &[33, 4, 3, 2], 1),
        (&[1, 3, 5, 6, 4], &[36, 1, 2, 3, 1], 3),
        (&[1, 9000, 6, 4], &[13, 9000, 2, 2], 1),
    ];
    for dtype in [DType::F32, DType::F16, DType::F64].into_iter().filter(|&dtype| has(gpu, dtype)) {
        for (x, w, group) in shapes.into_iter().filter(|(x, ..)| dtype.bits() >= 32 || x[1] < 30) {
            let operands = [operand(dtype, x), operand(dtype, w), operand(dtype, &w[..1])];
            let of = |gpu: &Gpu| {
                let operands = operands.each_ref().map(|t| up(gpu, t));
                down(gpu, &apply(gpu, conv(x.len() - 2, group), &operands.each_ref()).unwrap())
            };
            assert_eq!(of(gpu), of(alone), "{dtype} {x:?} by {w:?}");
        }
    }
}
