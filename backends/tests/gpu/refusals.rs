//! Operands that do not fit, which a valid model does not have, are error values.

use ir::DType;
use onnxsmith_backends::wgpu::{Gpu, GpuError, GpuTensor};
use ops::Op;
use ops::elementwise::{Activation, ActivationFn, Binary, BinaryFn};
use ops::linear::MatMul;
use ops::movement::{Concat, Gather, Pad, PadMode, Slice, Transpose};
use ops::reduction::{Arg, ArgFn, Reduce, ReduceFn};

use crate::{apply, apply_to, gpu, integers, tensor, typed, up, wave};

fn slice(starts: &[i64], ends: &[i64]) -> Op {
    Slice { starts: starts.to_vec(), ends: ends.to_vec(), axes: None, steps: None }.into()
}

fn is_refused(gpu: &Gpu, op: impl Into<Op>, inputs: &[&GpuTensor]) -> bool {
    matches!(apply(gpu, op, inputs), Err(GpuError::Arguments { .. }))
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let Some(gpu) = gpu() else { return };
    let of = |shape: &[usize]| up(gpu, &wave(DType::F32, shape));
    let (two, three, matrix, empty) = (of(&[2]), of(&[3]), of(&[2, 3]), of(&[0, 2]));
    let elu = Activation { function: ActivationFn::Elu, parameters: Vec::new() };
    assert!(is_refused(gpu, elu, &[&two]));
    assert!(is_refused(gpu, Binary(BinaryFn::Add), &[&two, &three]));
    assert!(is_refused(gpu, MatMul, &[&matrix, &matrix]));
    assert!(is_refused(gpu, Transpose { perm: Some(vec![0, 0]) }, &[&matrix]));
    assert!(apply(gpu, Concat { axis: 0 }, &[&matrix, &of(&[2, 2])]).is_err());
    let pads = Pad { mode: PadMode::Edge, pads: vec![1, 0, 1, 0], axes: None };
    assert!(apply(gpu, pads, &[&empty]).is_err());
    let index = up(gpu, &integers(DType::I64, &[1], &[0]));
    assert!(apply(gpu, Gather { axis: 0 }, &[&empty, &index]).is_err());
    let arg = Arg { function: ArgFn::Max, axis: 1, keepdims: true, select_last_index: false };
    assert!(apply(gpu, arg, &[&up(gpu, &tensor(DType::F32, &[2, 0], &[]))]).is_err());
}

#[test]
fn a_result_that_is_not_the_operators_is_refused() {
    let Some(gpu) = gpu() else { return };
    let x = up(gpu, &wave(DType::I64, &[4, 5]));
    assert!(apply_to(gpu, slice(&[3, 0], &[5, 1]), &[&x], &[typed(DType::I64, &[2, 1])]).is_err());
    assert!(apply_to(gpu, slice(&[0], &[1]), &[&x], &[typed(DType::I64, &[1])]).is_err());
}

#[test]
fn a_logarithm_of_integers_has_no_kernel() {
    let Some(gpu) = gpu() else { return };
    let x = up(gpu, &integers(DType::I32, &[3], &[1, 2, 3]));
    let op = Reduce { function: ReduceFn::LogSum, axes: None, keepdims: true, noop_with_empty_axes: true };
    assert!(matches!(apply(gpu, op, &[&x]), Err(GpuError::Unsupported { .. })));
}
