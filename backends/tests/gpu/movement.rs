use ir::{DType, DTypes, Tensor};
use onnxsmith_backends::wgpu::{Gpu, GpuError, GpuTensor};
use ops::movement::{Concat, Expand, Gather, GatherElements, Pad, PadMode, Slice, Transpose};

use crate::{apply, apply_to, down, gpu, integers, tensor, typed, up};

fn transpose(gpu: &Gpu, x: &GpuTensor, perm: &[i64]) -> Result<GpuTensor, GpuError> {
    apply(gpu, Transpose { perm: Some(perm.to_vec()) }, &[x])
}

/// From a start on each axis, so many elements, a step apart.
fn slice(
    gpu: &Gpu,
    x: &GpuTensor,
    starts: &[i64],
    steps: &[i64],
    count: &[usize],
) -> Result<GpuTensor, GpuError> {
    let ends =
        starts.iter().zip(steps).zip(count).map(|((start, step), &n)| start + step * n as i64).collect();
    let op = Slice { starts: starts.to_vec(), ends, axes: None, steps: Some(steps.to_vec()) };
    apply_to(gpu, op, &[x], &[typed(x.dtype(), count)])
}

/// 0, 1, 2, … in a shape.
fn count(dtype: DType, shape: &[usize]) -> Tensor {
    let n = shape.iter().product::<usize>();
    integers(dtype, shape, &(0..n as i128).collect::<Vec<_>>())
}

#[test]
fn transpose_every_dtype() {
    let Some(gpu) = gpu() else { return };
    for dtype in DTypes::IR4.iter() {
        let x = count(dtype, &[2, 3, 2]);
        let got = down(gpu, &transpose(gpu, &up(gpu, &x), &[2, 0, 1]).unwrap());
        assert_eq!(got, integers(dtype, &[2, 2, 3], &[0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11]), "{dtype}");
    }
    let x = up(gpu, &count(DType::F32, &[2, 3]));
    assert!(matches!(transpose(gpu, &x, &[0, 0]), Err(GpuError::Arguments { .. })));
    let deep = count(DType::I32, &[2, 1, 3, 2, 1, 2]);
    let there = transpose(gpu, &up(gpu, &deep), &[5, 3, 1, 0, 2, 4]).unwrap();
    assert_eq!(there.shape(), [2, 2, 1, 2, 3, 1]);
    assert_eq!(down(gpu, &transpose(gpu, &there, &[3, 2, 4, 1, 5, 0]).unwrap()), deep);
}

#[test]
fn movement_keeps_the_bits_of_nan() {
    let Some(gpu) = gpu() else { return };
    let ty = ir::Type::new(DType::F32, [2]);
    let x = Tensor::from_bytes(&ty, &[1, 0, 0x80, 0x7f, 0x34, 0x12, 0xc0, 0xff]).unwrap();
    let got = down(gpu, &slice(gpu, &up(gpu, &x), &[0], &[1], &[2]).unwrap());
    assert_eq!(got, x);
}

#[test]
fn slices_with_steps() {
    let Some(gpu) = gpu() else { return };
    let x = up(gpu, &count(DType::I64, &[4, 5]));
    let got = down(gpu, &slice(gpu, &x, &[3, 1], &[-2, 2], &[2, 2]).unwrap());
    assert_eq!(got, integers(DType::I64, &[2, 2], &[16, 18, 6, 8]));
    assert_eq!(down(gpu, &slice(gpu, &x, &[4, 0], &[1, 1], &[0, 5]).unwrap()).shape(), [0, 5]);
    assert!(slice(gpu, &x, &[3, 0], &[1, 1], &[2, 1]).is_err());
    assert!(slice(gpu, &x, &[0], &[1], &[1]).is_err());
}

#[test]
fn expand_and_concat() {
    let Some(gpu) = gpu() else { return };
    let x = up(gpu, &count(DType::U8, &[2, 1]));
    assert_eq!(
        down(
            gpu,
            &apply_to(gpu, Expand { shape: vec![3, 1, 2] }, &[&x], &[typed(DType::U8, &[3, 2, 2])]).unwrap()
        )
        .to_i128s(),
        [0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1]
    );
    for dtype in [DType::F16, DType::Bool, DType::F64] {
        let (a, b) = (up(gpu, &count(dtype, &[2, 1])), up(gpu, &count(dtype, &[2, 2])));
        let none = up(gpu, &count(dtype, &[2, 0]));
        let got = down(gpu, &apply(gpu, Concat { axis: 1 }, &[&a, &none, &b, &a]).unwrap());
        assert_eq!(got, integers(dtype, &[2, 4], &[0, 0, 1, 0, 1, 2, 3, 1]), "{dtype}");
        assert!(apply(gpu, Concat { axis: 0 }, &[&a, &b]).is_err());
    }
}

fn pad(
    gpu: &Gpu,
    x: &GpuTensor,
    before: &[i64],
    after: &[i64],
    mode: PadMode,
    value: Option<&GpuTensor>,
) -> Result<GpuTensor, GpuError> {
    let op = Pad { mode, pads: [before, after].concat(), axes: None };
    let operands: Vec<_> = [Some(x), value].into_iter().flatten().collect();
    apply(gpu, op, &operands)
}

#[test]
fn pads_in_every_mode() {
    let Some(gpu) = gpu() else { return };
    let x = up(gpu, &count(DType::F16, &[3]));
    let nine = up(gpu, &tensor(DType::F16, &[], &[9.0]));
    let run = |before, after, mode, value| {
        down(gpu, &pad(gpu, &x, &[before], &[after], mode, value).unwrap()).to_i128s()
    };
    assert_eq!(run(2, 1, PadMode::Constant, Some(&nine)), [9, 9, 0, 1, 2, 9]);
    assert_eq!(run(1, 1, PadMode::Constant, None), [0, 0, 1, 2, 0]);
    assert_eq!(run(2, 2, PadMode::Edge, None), [0, 0, 0, 1, 2, 2, 2]);
    assert_eq!(run(2, 2, PadMode::Reflect, None), [2, 1, 0, 1, 2, 1, 0]);
    assert_eq!(run(4, 4, PadMode::Wrap, None), [2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0]);
    assert_eq!(run(-1, 2, PadMode::Constant, Some(&nine)), [1, 2, 9, 9]);
    assert_eq!(run(-1, -1, PadMode::Edge, None), [1]);
    let empty = up(gpu, &count(DType::F16, &[0]));
    assert_eq!(
        down(gpu, &pad(gpu, &empty, &[1], &[1], PadMode::Constant, Some(&nine)).unwrap()).to_i128s(),
        [9, 9]
    );
    assert!(pad(gpu, &empty, &[1], &[1], PadMode::Edge, None).is_err());
    let square = up(gpu, &count(DType::I64, &[2, 2]));
    let got = down(gpu, &pad(gpu, &square, &[1, 0], &[0, 1], PadMode::Constant, None).unwrap());
    assert_eq!(got, integers(DType::I64, &[3, 3], &[0, 0, 0, 0, 1, 0, 2, 3, 0]));
}

#[test]
fn gathers() {
    let Some(gpu) = gpu() else { return };
    let x = up(gpu, &count(DType::F32, &[2, 3, 2]));
    for dtype in [DType::I32, DType::I64] {
        let indices = up(gpu, &integers(dtype, &[2, 2], &[0, -1, 1, -3]));
        let got = down(gpu, &apply(gpu, Gather { axis: 1 }, &[&x, &indices]).unwrap());
        let expected = [0, 1, 4, 5, 2, 3, 0, 1, 6, 7, 10, 11, 8, 9, 6, 7];
        assert_eq!(got, integers(DType::F32, &[2, 2, 2, 2], &expected));
        let scalar = up(gpu, &integers(dtype, &[], &[-1]));
        assert_eq!(
            down(gpu, &apply(gpu, Gather { axis: 0 }, &[&x, &scalar]).unwrap()).to_i128s(),
            [6, 7, 8, 9, 10, 11]
        );
        let matrix = up(gpu, &count(DType::U8, &[2, 3]));
        let rows = up(gpu, &integers(dtype, &[1, 3], &[1, 0, -1]));
        assert_eq!(
            down(gpu, &apply(gpu, GatherElements { axis: 0 }, &[&matrix, &rows]).unwrap()).to_i128s(),
            [3, 1, 5]
        );
    }
    let empty = up(gpu, &count(DType::F32, &[0, 2]));
    let index = up(gpu, &integers(DType::I64, &[1], &[0]));
    assert!(apply(gpu, Gather { axis: 0 }, &[&empty, &index]).is_err());
}
