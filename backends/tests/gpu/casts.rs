use ir::{DType, DTypes, Tensor};
use ops::elementwise::Cast;

use crate::{apply, down, gpu, has, integers, tensor, up};

/// `None` where there is no adapter that has both dtypes.
fn cast(x: &Tensor, to: DType) -> Option<Tensor> {
    let gpu = gpu().filter(|gpu| has(gpu, x.dtype()) && has(gpu, to))?;
    Some(down(gpu, &apply(gpu, Cast::to(to), &[&up(gpu, x)]).unwrap()))
}

#[test]
fn integers_wrap_and_round() {
    let values = [
        0,
        1,
        -1,
        127,
        128,
        255,
        -129,
        40_000,
        -40_000,
        (1 << 24) + 1,
        (1 << 24) + 3,
        (1 << 31) - 1,
        (1 << 25) + (1 << 17) + 1,
        (1 << 40) + (1 << 16) + 1,
        (1 << 40) + (1 << 32),
        (1 << 40) + (1 << 32) + 1,
        i64::MAX as i128,
        i64::MIN as i128,
        u64::MAX as i128,
        2049,
        65_519,
        65_520,
    ];
    for from in DTypes::INTS.iter() {
        let x = integers(from, &[values.len()], &values);
        for to in DTypes::IR4.iter() {
            let Some(got) = cast(&x, to) else { continue };
            let exact = x.to_i128s();
            if to.is_float() && from.bits() == 64 && to != DType::F64 {
                // `i128 as f64` rounds; round once from the exact integer with a sticky bit instead.
                let sticky = |v: i128| {
                    let m = v.unsigned_abs();
                    let m = if m >> 50 == 0 { m } else { (m & !0xffff) | u128::from(m & 0xffff != 0) << 16 };
                    if v < 0 { -(m as f64) } else { m as f64 }
                };
                let expected: Vec<_> = exact.iter().map(|&v| sticky(v)).collect();
                assert_eq!(got, tensor(to, &[values.len()], &expected), "{from} -> {to}");
            } else if from.bits() == 32 && to == DType::F32 {
                // The driver's own conversion, which WGSL lets round to either neighbour.
                let near = |(&exact, got): (&i128, f64)| {
                    (exact as f64 - got).abs() <= (exact as f64).abs() * f64::from(f32::EPSILON)
                };
                assert!(exact.iter().zip(got.to_f64s()).all(near), "{from} -> {to}: {got:?}");
            } else {
                assert_eq!(got, integers(to, &[values.len()], &exact), "{from} -> {to}");
            }
        }
    }
}

#[test]
fn floats_truncate_saturate_and_round() {
    let values = [
        0.0,
        -0.0,
        0.4,
        -0.6,
        1.5,
        -1.5,
        100.7,
        -128.9,
        255.9,
        300.0,
        -300.0,
        70_000.0,
        2_147_483_520.0,
        2_147_483_648.0,
        -2_147_483_648.0,
        4_294_967_040.0,
        4_294_967_296.0,
        9.3e18,
        -9.3e18,
        1.9e19,
        1e30,
        -1e30,
        1.000_976_562_5,
        1.000_488_281_25,
        65_504.0,
        65_519.0,
        65_520.0,
        6e-8,
        2.9e-8,
        3e-8,
        1.003_906_25,
        1.011_718_75,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    for from in DTypes::FLOATS.iter() {
        let x = tensor(from, &[values.len()], &values);
        for to in DTypes::IR4.iter() {
            let Some(got) = cast(&x, to) else { continue };
            // `as` of Rust truncates, saturates and makes NaN 0, as the kernels do.
            let expected = tensor(to, &[values.len()], &x.to_f64s());
            assert_eq!(got.to_f64s().len(), values.len());
            for (i, (g, e)) in got.to_f64s().iter().zip(expected.to_f64s()).enumerate() {
                assert!(
                    g.to_bits() == e.to_bits() || (g.is_nan() && e.is_nan()),
                    "{from} -> {to} of {}: {g} {e}",
                    x.to_f64s()[i]
                );
            }
        }
    }
}

#[test]
fn doubles_round_once() {
    // Halfway between two values of the target once rounded to f32, but not before.
    let f16_trap = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
    let bf16_trap = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
    let x = tensor(DType::F64, &[4], &[f16_trap, -f16_trap, bf16_trap, -bf16_trap]);
    for to in [DType::F16, DType::BF16, DType::F32] {
        let Some(got) = cast(&x, to) else { continue };
        assert_eq!(got, tensor(to, &[4], &x.to_f64s()), "{to}");
    }
}

#[test]
fn bool_is_not_zero() {
    let x = tensor(DType::F32, &[5], &[0.0, -0.0, 1e-45, f64::NAN, -2.0]);
    let Some(got) = cast(&x, DType::Bool) else { return };
    assert_eq!(got.to_i128s(), [0, 0, 1, 1, 1]);
    for to in DTypes::IR4.iter() {
        let Some(got) = cast(&integers(DType::Bool, &[2], &[0, 1]), to) else { continue };
        assert_eq!(got, integers(to, &[2], &[0, 1]));
    }
}
