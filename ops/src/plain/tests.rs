//! Plain numbers round, wrap and order as the standard has it.

use super::*;

#[test]
fn integers_beyond_all_dtypes_keep_their_low_bits_and_sign() {
    let least = i128::from(i32::MIN);
    let product = [least; 6].into_iter().fold(1, times);
    assert!(product > i128::from(u64::MAX) && product as u64 == 0, "{product}");
    assert!(times(product, -3) < i128::from(i64::MIN) && times(product, 0) == 0);
    let square = i128::from(i64::MIN).pow(2);
    let sum = [square + 7; 4].into_iter().fold(0, plus);
    assert!(sum > i128::from(u64::MAX) && sum as u64 == 28, "{sum}");
    assert!(plus(i128::MIN, -1) < 0);
    for (x, y) in [(3, -4), (i128::MAX, 1), (i128::from(i64::MIN), i128::from(i64::MIN))] {
        assert_eq!((times(x, y), plus(x, 0)), (x * y, x));
    }
}

#[test]
fn powers_of_norms_are_those_of_libm() {
    let infinite = [f64::INFINITY, f64::NEG_INFINITY];
    for x in [0.0, -0.0, 1.0, -3.0, 0.1, 1e-320, 1e200, -1e200, f64::NAN].into_iter().chain(infinite) {
        for y in [1.0, 2.0, 0.5] {
            let (ours, right) = (pow(x, y), libm::pow(x, y));
            let is_same = ours.to_bits() == right.to_bits() || (ours.is_nan() && right.is_nan());
            let is_next = [right.next_up(), right.next_down()].contains(&ours);
            assert!(is_same || is_next, "{x} to the power of {y}: {ours}, {right}");
        }
    }
}

#[test]
fn wide_integers_are_rounded_once() {
    // Just beyond halfway between two numbers of bf16, and of f32.
    for (dtype, z, right) in [
        (DType::BF16, (1 << 60) + (1 << 52) + 1, (1 << 60) + (1 << 53)),
        (DType::BF16, -((1 << 60) + (1 << 52) + 1), -((1 << 60) + (1 << 53))),
        (DType::BF16, (1 << 60) + (1 << 52), 1 << 60),
        (DType::F32, (1 << 62) + (1 << 38) + 1, (1 << 62) + (1 << 39)),
        (DType::F64, (1 << 62) + (1 << 9) + 1, (1 << 62) + (1 << 10)),
    ] {
        let converted = Plain::new(dtype).convert(z);
        assert_eq!(ir::round::round_to(dtype, converted) as i128, right, "{dtype} {z}");
    }
}

#[test]
fn numbers_that_an_integer_does_not_hold_are_counted() {
    let rows = [
        (DType::I64, 9_223_372_036_854_775_808.0, i128::from(i64::MAX), 1),
        (DType::U64, 18_446_744_073_709_551_616.0, i128::from(u64::MAX), 1),
        (DType::I64, -9_223_372_036_854_775_808.0, i128::from(i64::MIN), 0),
        (DType::I32, 2_147_483_647.5, i128::from(i32::MAX), 0),
        (DType::U8, -0.5, 0, 0),
        (DType::U8, f64::NAN, 0, 1),
        (DType::I8, f64::INFINITY, 127, 1),
    ];
    for (dtype, x, z, times) in rows {
        let undefined = Undefined::default();
        let given = Plain::counting(DType::F64, &undefined).truncate(x, dtype);
        assert_eq!((given, undefined.take()), (z, times), "{x} to {dtype}");
    }
}

#[test]
fn long_sums_do_not_lose_small_terms() {
    let terms = || std::iter::once(1e16).chain(std::iter::repeat_n(1.0, 1000)).chain(std::iter::once(-1e16));
    assert_eq!(sum(terms()), 1000.0);
    let dot = |dtype| Plain::new(dtype).dot(terms().map(|x| (x, 1.0)));
    assert_eq!(dot(DType::F64), 1000.0);
    assert_eq!(dot(DType::F32), 0.0, "a plain sum, whose error is far below that of a sum in f32");
    assert_eq!(sum([f64::INFINITY, 1.0].into_iter()), f64::INFINITY);
}

#[test]
fn nan_and_zeros_have_an_order() {
    assert!(max(f64::NAN, 1.0).is_nan() && min(1.0, f64::NAN).is_nan());
    assert!(max(-0.0, 0.0).is_sign_positive() && min(0.0, -0.0).is_sign_negative());
    assert_eq!(arg_max(&[1.0, f64::NAN, 3.0, f64::NAN], false), 1);
    assert_eq!(arg_max(&[3.0, 1.0, 3.0], true), 2);
}
