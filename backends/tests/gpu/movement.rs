//! What is moved is not looked at.

use ir::{DType, Tensor, Type};
use ops::movement::{Compress, NonZero, Reduction, ScatterElements, ScatterNd, Slice};
use ops::nn::GridSample;
use ops::nn::grid_sample::{Mode, Padding};

use crate::{apply, apply_to, down, gpu, has, integers, tensor, up};

#[test]
fn movement_keeps_the_bits_of_nan() {
    let Some(gpu) = gpu() else { return };
    let ty = Type::new(DType::F32, [2]);
    let x = Tensor::from_bytes(&ty, &[1, 0, 0x80, 0x7f, 0x34, 0x12, 0xc0, 0xff]).unwrap();
    let all = Slice { starts: vec![0], ends: vec![2], axes: None, steps: None };
    let got = down(gpu, &apply(gpu, all, &[&up(gpu, &x)]).unwrap());
    assert_eq!(got, x);
}

#[test]
fn the_nearest_element_is_moved() {
    let Some(gpu) = gpu() else { return };
    let denormal = f64::from(f32::from_bits(1));
    let x = up(gpu, &tensor(DType::F32, &[1, 1, 2, 2], &[denormal, -denormal, 0.0, 1.0]));
    let grid = up(gpu, &tensor(DType::F32, &[1, 1, 4, 2], &[-0.5, -0.5, 0.5, -0.5, -0.5, 0.5, 4.0, 0.0]));
    let nearest = GridSample { mode: Mode::Nearest, padding: Padding::Zeros, align_corners: false };
    let got = down(gpu, &apply(gpu, nearest, &[&x, &grid]).unwrap()).to_f64s();
    assert_eq!(got, [denormal, -denormal, 0.0, 0.0]);
}

/// More updates of one element than a loop of a shader may run.
const MANY: usize = 40_000;

#[test]
fn updates_that_meet_at_an_element() {
    let Some(gpu) = gpu() else { return };
    // Sums beyond 2,048 are no numbers of f16, but for the last one, if what is between is kept in more bits.
    let sums = [(DType::I64, MANY as f64), (DType::F16, 40_000.0), (DType::F32, MANY as f64)];
    for (dtype, sum) in sums.into_iter().filter(|(dtype, _)| has(gpu, *dtype)) {
        let (zeros, ones) = (tensor(dtype, &[2], &[0.0; 2]), tensor(dtype, &[MANY], &vec![1.0; MANY]));
        let (zeros, ones) = (up(gpu, &zeros), up(gpu, &ones));
        let reduction = Reduction::Add;
        let indices = up(gpu, &integers(DType::I64, &[MANY], &vec![-1; MANY]));
        let got = apply(gpu, ScatterElements { axis: 0, reduction }, &[&zeros, &indices, &ones]).unwrap();
        assert_eq!(down(gpu, &got).to_f64s(), [0.0, sum], "{dtype}");
        let indices = indices.reshape(&[MANY, 1]).unwrap();
        let got = apply(gpu, ScatterNd { reduction }, &[&zeros, &indices, &ones]).unwrap();
        assert_eq!(down(gpu, &got).to_f64s(), [0.0, sum], "{dtype}");
    }
}

#[test]
fn of_updates_that_replace_each_has_its_element() {
    let Some(gpu) = gpu() else { return };
    let backwards: Vec<_> = (0..MANY as i128).rev().collect();
    let x = up(gpu, &integers(DType::I32, &[MANY], &vec![-1; MANY]));
    let (indices, updates) =
        (integers(DType::I64, &[MANY], &backwards), integers(DType::I32, &[MANY], &backwards));
    let op = ScatterElements { axis: 0, reduction: Reduction::None };
    let got = apply(gpu, op, &[&x, &up(gpu, &indices), &up(gpu, &updates)]).unwrap();
    assert_eq!(down(gpu, &got).to_i128s(), (0..MANY as i128).collect::<Vec<_>>());
}

#[test]
fn what_is_picked_of_many() {
    let Some(gpu) = gpu() else { return };
    let is_picked = |i: usize| i.is_multiple_of(3) || i == MANY - 1;
    let picked: Vec<_> = (0..MANY).filter(|&i| is_picked(i)).map(|i| i as i128).collect();
    let flags: Vec<_> = (0..MANY).map(|i| i128::from(is_picked(i))).collect();
    let columns = picked.len() as i64;
    let x = up(gpu, &integers(DType::I16, &[2, MANY / 2], &flags));
    let places = [Type::new(DType::I64, [2, columns])];
    let got = down(gpu, &apply_to(gpu, NonZero { count: columns }, &[&x], &places).unwrap()).to_i128s();
    let half = MANY as i128 / 2;
    let rows = picked.iter().map(|i| i / half).chain(picked.iter().map(|i| i % half));
    assert_eq!(got, rows.collect::<Vec<_>>());

    let x = up(gpu, &integers(DType::I32, &[MANY], &(0..MANY as i128).collect::<Vec<_>>()));
    let condition = up(gpu, &integers(DType::Bool, &[MANY], &flags));
    let stays = [Type::new(DType::I32, [columns])];
    let op = Compress { axis: None, count: columns };
    let got = down(gpu, &apply_to(gpu, op, &[&x, &condition], &stays).unwrap());
    assert_eq!(got.to_i128s(), picked);
}
