//! Scales of numbers as few integers, where their axis says nothing.

use ir::{Attributes, DType, Operation};
use ops::Op;

use crate::{apply, down, gpu, integers, tensor, up};

#[test]
fn one_scale_in_a_list_is_for_all_of_a_list() {
    let Some(gpu) = gpu() else { return };
    let scale = up(gpu, &tensor(DType::F32, &[1], &[2.0]));
    let op = |name: &str| Op::parse(name, &Attributes::new()).unwrap().unwrap();
    let x = up(gpu, &tensor(DType::F32, &[3], &[6.0, 12.0, 18.0]));
    let y = down(gpu, &apply(gpu, op("QuantizeLinear"), &[&x, &scale]).unwrap());
    assert_eq!(y.to_i128s(), [3, 6, 9]);
    let x = up(gpu, &integers(DType::I8, &[3], &[4, 7, -1]));
    let y = down(gpu, &apply(gpu, op("DequantizeLinear"), &[&x, &scale]).unwrap());
    assert_eq!(y.to_f64s(), [8.0, 14.0, -2.0]);
}
