//! What is moved is not looked at.

use ir::{DType, Tensor, Type};
use ops::movement::Slice;

use crate::{apply, down, gpu, up};

#[test]
fn movement_keeps_the_bits_of_nan() {
    let Some(gpu) = gpu() else { return };
    let ty = Type::new(DType::F32, [2]);
    let x = Tensor::from_bytes(&ty, &[1, 0, 0x80, 0x7f, 0x34, 0x12, 0xc0, 0xff]).unwrap();
    let all = Slice { starts: vec![0], ends: vec![2], axes: None, steps: None };
    let got = down(gpu, &apply(gpu, all, &[&up(gpu, &x)]).unwrap());
    assert_eq!(got, x);
}
