//! Sums that are longer than a loop of a shader may run.

use ir::DType;
use onnxsmith_backends::wgpu::GpuError;
use ops::linear::equation::Equation;
use ops::linear::{Einsum, MatMul};
use ops::nn::Conv;
use ops::nn::window::{AutoPad, Window};

use crate::{apply, down, gpu, has, tensor, up};

/// What 100,000 ones come to.
const LONG: [(DType, f64); 3] = [(DType::F32, 100_000.0), (DType::I64, 100_000.0), (DType::BF16, 99_840.0)];

#[test]
fn an_inner_dimension_longer_than_a_loop_may_run() {
    let Some(gpu) = gpu() else { return };
    let k = 100_000;
    for (dtype, exact) in LONG.into_iter().filter(|(dtype, _)| has(gpu, *dtype)) {
        let ones = up(gpu, &tensor(dtype, &[k], &vec![1.0; k]));
        assert_eq!(down(gpu, &apply(gpu, MatMul, &[&ones, &ones]).unwrap()).to_f64s(), [exact], "{dtype}");
    }
}

#[test]
fn an_einsum_longer_than_a_loop_may_run() {
    let Some(gpu) = gpu() else { return };
    let equation = Equation::parse("ij,ij->").unwrap();
    for (dtype, exact) in LONG.into_iter().filter(|(dtype, _)| has(gpu, *dtype)) {
        let ones = up(gpu, &tensor(dtype, &[2, 50_000], &vec![1.0; 100_000]));
        let got = apply(gpu, Einsum { equation: equation.clone() }, &[&ones, &ones]).unwrap();
        assert_eq!(down(gpu, &got).to_f64s(), [exact], "{dtype}");
    }
}

#[test]
fn a_sum_of_more_terms_than_kernels_count_is_an_error_value() {
    let Some(gpu) = gpu() else { return };
    let long = up(gpu, &tensor(DType::F32, &[1 << 17], &vec![0.0; 1 << 17]));
    let summed = apply(gpu, Einsum { equation: Equation::parse("i,j->").unwrap() }, &[&long, &long]);
    let terms = 1u64 << 34;
    assert!(matches!(summed, Err(GpuError::TooLarge { needed, .. }) if needed == terms), "{summed:?}");
}

#[test]
fn a_convolution_longer_than_a_loop_may_run() {
    let Some(gpu) = gpu() else { return };
    let shape = [1, 9000, 3, 3];
    let ones = up(gpu, &tensor(DType::F32, &shape, &vec![1.0; shape.iter().product()]));
    let bias = up(gpu, &tensor(DType::F32, &[1], &[0.5]));
    let window = Window {
        auto_pad: AutoPad::NotSet,
        strides: vec![1, 1],
        dilations: vec![1, 1],
        pads: vec![0; 4],
        ceil_mode: false,
    };
    let conv = Conv { window, group: 1, kernel_shape: None };
    let got = apply(gpu, conv, &[&ones, &ones, &bias]).unwrap();
    assert_eq!(down(gpu, &got).to_f64s(), [81_000.5]);
}
