//! Signals: transforms and windows.

use ir::{DType, DTypes};

use super::piece::Piece;
use super::{Composite, REALS};

/// What a window's length is given in.
const WHOLE: DTypes = DTypes::of(&[DType::I32, DType::I64]);

pub(super) const ALL: &[Composite] = &[
    Composite::new("DFT", 17, REALS, dft),
    Composite::new("STFT", 17, REALS, stft),
    Composite::new("BlackmanWindow", 17, WHOLE, window),
    Composite::new("HammingWindow", 17, WHOLE, window),
    Composite::new("HannWindow", 17, WHOLE, window),
];

fn dft(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let axes = p.size(1..=2);
    let mut shape = vec![p.count(1..=2)];
    (0..axes).for_each(|_| shape.push(p.size(1..=6)));
    let is_inverse = p.chance(0.3);
    let parts = if is_inverse || p.chance(0.4) { 2 } else { 1 };
    shape.push(parts);
    p.of(dtype, &shape);
    let axis = if p.chance(0.15) { 0 } else { p.size(1..=axes) };
    if p.chance(0.4) {
        let length = p.size(1..=7);
        p.integers(DType::I64, &[], &[length]);
    } else {
        p.absent();
    }
    along(p, axis, axes + 2);
    if is_inverse {
        p.int("inverse", 1);
    } else if parts == 1 && p.chance(0.4) {
        p.int("onesided", 1);
    }
    Some(())
}

/// The axis that is transformed, from either end; that which is the default may be left out.
fn along(p: &mut Piece<'_>, axis: i64, rank: i64) {
    let default = if p.opset >= 20 { rank - 2 } else { 1 };
    if axis == default && p.chance(0.4) {
        return;
    }
    let axis = if p.chance(0.3) { axis - rank } else { axis };
    if p.opset >= 20 {
        p.integers(DType::I64, &[], &[axis]);
    } else {
        p.int("axis", axis);
    }
}

fn stft(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let (batch, frame) = (p.count(1..=2), p.size(2..=5));
    let length = frame + p.size(0..=6);
    let is_complex = p.chance(0.25);
    p.of(dtype, &[batch, length, if is_complex { 2 } else { 1 }]);
    let step = p.size(1..=3);
    p.integers(DType::I64, &[], &[step]);
    if p.chance(0.5) {
        p.of(dtype, &[frame]);
    } else {
        p.absent();
    }
    p.integers(DType::I64, &[], &[frame]);
    // Of complex numbers one side is not all, and it is taken where nothing is said.
    if is_complex {
        p.int("onesided", 0);
    } else {
        p.flag_or("onesided", 1);
    }
    Some(())
}

fn window(p: &mut Piece<'_>) -> Option<()> {
    let dtype = p.dtype()?;
    let size = p.size(2..=12);
    p.integers(dtype, &[], &[size]);
    if p.chance(0.4) {
        p.int("periodic", 0);
    }
    result(p)
}

/// The floats of a result that is f32 where nothing is said.
pub(super) fn result(p: &mut Piece<'_>) -> Option<()> {
    if p.chance(0.4) {
        let dtype = p.other_dtype(REALS)?;
        p.int("output_datatype", onnx::tensor::code_of(dtype).into());
    }
    Some(())
}
