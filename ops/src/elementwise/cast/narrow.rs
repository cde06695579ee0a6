//! Casts to what has 8 bits and less and is none of the older types: where ONNX's tables, its tests and its pages on the types
//! disagree, so may implementations.

use ir::DType;
use ir::format::{Extent, Specials};
use ir::round::{Conversion, Overflow, RoundMode};

use crate::arith::{Arith, Class, Comparison, Step};

/// The opset from which infinities saturate in formats without them and without a negative zero. Before, they become
/// NaN by the text, although ONNX's reference and ONNX Runtime saturate them there too.
const INFINITIES_SATURATE: u32 = 24;

/// A real number of a dtype as one of a narrow format, in an opset.
pub(crate) fn stored<A: Arith>(a: &A, x: A::R, from: DType, conversion: Conversion, opset: u32) -> A::R {
    // ONNX's own reference converts by way of f32, which rounds what has more digits twice.
    let has_more_digits = from.float().map_or(from.bits(), |format| format.precision() as u32) > 24;
    let x = if has_more_digits { a.within(DType::F32).round(x) } else { x };
    let y = a.step(Step::Convert(conversion), x);
    match (conversion.format.extent, conversion.format.specials) {
        // The ends of the format are numbers of f64, though not of every dtype that is converted from.
        (Extent::PositiveNormals, _) => power_of_two(&a.within(DType::F64), x, y, conversion),
        // The page of the type says that a NaN becomes the largest number, the test of Cast that it becomes a zero.
        (Extent::Full, Specials::None) => {
            let most = conversion.format.max_finite();
            a.select(a.is(Class::NaN, x), a.either(a.real(0.0), || a.real(most)), y)
        }
        (Extent::Full, Specials::NegativeZero)
            if conversion.overflow == Overflow::Saturate && opset < INFINITIES_SATURATE =>
        {
            let open = a.either(y, || a.real(f64::NAN));
            let y = a.select(a.is(Class::PositiveInfinity, x), open, y);
            a.select(a.is(Class::NegativeInfinity, x), open, y)
        }
        (Extent::Full, Specials::Exponent | Specials::AllOnes | Specials::NegativeZero) => y,
    }
}

/// `x` as a power of two, which is `y` wherever it lies between the ends of the format. The table of what lies beyond them
/// has columns for two pairs of attributes only, and none of it is for negative numbers, -0 among them.
fn power_of_two<A: Arith>(a: &A, x: A::R, y: A::R, conversion: Conversion) -> A::R {
    let beyond = match (conversion.overflow, conversion.mode) {
        (Overflow::Saturate, RoundMode::Up) => y,
        (Overflow::Escape, RoundMode::Nearest) => a.real(f64::NAN),
        (Overflow::Saturate, RoundMode::Nearest | RoundMode::Down)
        | (Overflow::Escape, RoundMode::Up | RoundMode::Down) => a.undefined_real(),
    };
    let (least, most) = (conversion.format.min_normal(), conversion.format.max_finite());
    let than = |comparison, v| a.compare(comparison, x, a.real(v));
    let is_minus_zero = a.is(Class::NegativeInfinity, a.div(a.real(1.0), x));
    let zero = a.select(is_minus_zero, a.undefined_real(), beyond);
    let small = a.select(than(Comparison::Equal, 0.0), zero, beyond);
    let small = a.select(than(Comparison::Less, 0.0), a.undefined_real(), small);
    let large = a.select(than(Comparison::Greater, most), beyond, y);
    a.select(than(Comparison::Less, least), small, large)
}

/// A real number as an integer of less than 8 bits. ONNX leaves open what becomes of one that does not fit; its tests keep the
/// low bits.
pub(super) fn truncated<A: Arith>(a: &A, x: A::R, to: DType) -> A::Z {
    // The pages of the types say to nearest, Cast's tests towards zero.
    let whole = a.either(a.step(Step::Trunc, x), || a.step(Step::Round, x));
    let z = a.truncate(whole, DType::I64);
    match a.peek(z) {
        Some(v) if to.wrap(v) != v => a.unspecified_int(a.int(to.wrap(v))),
        Some(_) | None => z,
    }
}

#[cfg(test)]
mod tests {
    use crate::elementwise::cast::{Cast, Rounding};
    use crate::testing::{run, tensor};
    use ir::DType;
    use ir::round::{Overflow, RoundMode};

    const UNLIMITED: Rounding = Rounding { overflow: Overflow::Escape, ..Rounding::DEFAULT };

    fn cast(to: DType, rounding: Rounding, x: &[f64]) -> Vec<f64> {
        let cast = Cast { rounding, ..Cast::to(to) };
        // Comparable, and with the signs of zeros.
        run(cast, &[&tensor(DType::F32, &[x.len() as i64], x)])
    }

    const MOST: [(DType, f64); 4] = [
        (DType::F8E4M3FN, 448.0),
        (DType::F8E4M3FNUZ, 240.0),
        (DType::F8E5M2, 57344.0),
        (DType::F8E5M2FNUZ, 57344.0),
    ];

    #[test]
    fn the_first_table_of_cast_saturates() {
        for (to, most) in MOST {
            let x = [0.0, f64::INFINITY, f64::NEG_INFINITY, 1e6, -1e6, 2.6];
            assert_eq!(cast(to, Rounding::DEFAULT, &x), [0.0, most, -most, most, -most, 2.5], "{to}");
            assert!(cast(to, Rounding::DEFAULT, &[f64::NAN])[0].is_nan(), "{to}");
            let keeps_sign = !matches!(to, DType::F8E4M3FNUZ | DType::F8E5M2FNUZ);
            assert_eq!(cast(to, Rounding::DEFAULT, &[-0.0])[0].is_sign_negative(), keeps_sign, "{to}");
        }
    }

    #[test]
    fn the_second_table_of_cast_does_not() {
        for (to, _) in MOST {
            let x = [f64::INFINITY, f64::NEG_INFINITY, 1e6, -1e6, f64::NAN];
            let y = cast(to, UNLIMITED, &x);
            if to == DType::F8E5M2 {
                assert_eq!(y[..4], [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY]);
            } else {
                assert!(y.iter().all(|y| y.is_nan()), "{to}: {y:?}");
            }
        }
    }

    #[test]
    fn powers_of_two_are_rounded_by_the_attribute() {
        let by = |round_mode| {
            let rounding = Rounding { round_mode, ..Rounding::DEFAULT };
            cast(DType::F8E8M0, rounding, &[1.0, 1.1, 1.5, 1.9, 0.3])
        };
        assert_eq!(by(RoundMode::Up), [1.0, 2.0, 2.0, 2.0, 0.5]);
        assert_eq!(by(RoundMode::Down), [1.0, 1.0, 1.0, 1.0, 0.25]);
        assert_eq!(by(RoundMode::Nearest), [1.0, 1.0, 2.0, 2.0, 0.25]);
    }

    #[test]
    fn the_table_of_powers_of_two_has_two_columns() {
        let (least, most) = (2f64.powi(-127), 2f64.powi(127));
        let x = [0.0, f64::INFINITY, 3e38, least / 2.0];
        assert_eq!(cast(DType::F8E8M0, Rounding::DEFAULT, &x), [least, most, most, least]);
        let nearest = Rounding { round_mode: RoundMode::Nearest, ..UNLIMITED };
        assert!(cast(DType::F8E8M0, nearest, &x).iter().all(|y| y.is_nan()));
    }

    #[test]
    fn four_bits_end_at_six() {
        let x = [0.25, 0.75, -0.0, 5.0, 7.0, f64::INFINITY, -1e6];
        assert_eq!(cast(DType::F4E2M1, Rounding::DEFAULT, &x), [0.0, 1.0, 0.0, 4.0, 6.0, 6.0, -6.0]);
    }

    #[test]
    fn small_integers_keep_the_low_bits() {
        let x = [-9.0, -8.0, 7.0, 8.0, 16.0];
        assert_eq!(cast(DType::I4, Rounding::DEFAULT, &x), [7.0, -8.0, 7.0, -8.0, 0.0]);
        assert_eq!(cast(DType::U4, Rounding::DEFAULT, &x), [7.0, 8.0, 7.0, 8.0, 0.0]);
        assert_eq!(cast(DType::I2, Rounding::DEFAULT, &[1.0, 2.0, -3.0]), [1.0, -2.0, 1.0]);
    }
}
