//! Many sums of products at once: their bounds are those of each alone, bit for bit, and hold whatever a conforming
//! matrix product does.

use ir::format::FloatFormat;
use ir::round::round_to;
use ir::{DType, Stream};
use ndarray::{Array2, s};
use onnxsmith_interp::Profile;
use onnxsmith_interp::bound::{Ball, Bound};
use ops::Arith;
use ops::arith::each_dot;
use rand::{Rng, RngExt};

mod native;

use native::{Native, Order};

const FLOATS: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::BF16];

/// What the numbers of a lane are.
#[derive(Clone, Copy, Debug)]
enum Style {
    /// Small whole numbers and zeros.
    Whole,
    Real,
    /// Powers of ten from the least denormals to beyond what products may reach.
    Wide,
    Denormal,
    /// One number among zeros.
    Single,
    /// Any of the above, with infinities, NaN and what is unknown or undefined.
    Any,
}

const STYLES: [Style; 6] =
    [Style::Whole, Style::Real, Style::Wide, Style::Denormal, Style::Single, Style::Any];

/// A number of a format.
fn number(style: Style, format: FloatFormat, rng: &mut impl Rng) -> f64 {
    let real: f64 = rng.random_range(-4.0..4.0);
    match style {
        Style::Whole => f64::from(rng.random_range(-3i32..4)),
        Style::Real => real,
        Style::Wide => {
            let reach = format.max_finite().log2() as i32;
            real * 2f64.powi(rng.random_range(-reach..reach))
        }
        Style::Denormal => real * format.min_normal(),
        Style::Single => {
            if rng.random_ratio(1, 8) {
                real
            } else {
                0.0
            }
        }
        Style::Any => {
            let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, format.max_finite()];
            special[rng.random_range(0..special.len())]
        }
    }
}

/// A ball about a number of the dtype.
fn ball(style: Style, is_exact: bool, dtype: DType, rng: &mut impl Rng) -> Ball {
    let format = dtype.float().unwrap();
    let one = if rng.random_ratio(1, 10) { STYLES[rng.random_range(0..5)] } else { style };
    let value = round_to(dtype, number(one, format, rng));
    let kind = if is_exact { 9 } else { rng.random_range(0..10) };
    match (style, kind) {
        (Style::Any, 0) => Ball::undefined(value),
        (Style::Any, 1) => Ball::unknown(value),
        (_, 2) => Ball::either_zero(),
        (_, 3..6) if value.is_finite() => {
            Ball::within(value, format.ulp(value) * f64::from(rng.random_range(1u8..9)))
        }
        (_, 6) if value.is_finite() => Ball::within(0.0, format.ulp(value)),
        _ => Ball::exact(value),
    }
}

/// So many lanes, each of a style of its own.
fn lanes(count: usize, length: usize, dtype: DType, rng: &mut impl Rng) -> Array2<Ball> {
    let mut items = Vec::new();
    for _ in 0..count {
        let (style, is_exact) = (STYLES[rng.random_range(0..STYLES.len())], rng.random_ratio(1, 2));
        // Now and then one element is unlike the others.
        let other = rng.random_range(0..4 * length.max(1));
        items.extend((0..length).map(|i| {
            let style = if i == other { Style::Any } else { style };
            ball(style, is_exact && i != other, dtype, rng)
        }));
    }
    Array2::from_shape_vec((count, length), items).unwrap()
}

fn bits(x: f64) -> u64 {
    if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }
}

/// All of a ball, any NaN for any other.
fn all_of(x: Ball) -> (u64, u64, u64, u64, u32, i16) {
    (
        bits(x.value),
        bits(x.error),
        x.least().map_or(0, bits),
        bits(x.terms().size),
        x.terms().roundings,
        x.terms().grain,
    )
}

#[test]
fn many_dots_are_each_dot_bit_for_bit() {
    let (mut known, mut exact, mut all) = (0, 0, 0);
    for seed in 0..400 {
        let rng = &mut Stream::new(seed).child("dots").rng();
        let (m, n) = (rng.random_range(0..7), rng.random_range(0..40));
        let length = [0, 1, 2, 7, 33, 150][rng.random_range(0..6)];
        let dtype = FLOATS[seed as usize % 4];
        let (rows, columns) = (lanes(m, length, dtype, rng), lanes(n, length, dtype, rng));
        let addends = lanes(m, n, dtype, rng);
        let has_addend: bool = rng.random();
        let addend = |i: usize, j: usize| has_addend.then(|| addends[[i, j]]);
        for profile in Profile::ALL {
            let bound = Bound::new(profile, dtype);
            let each = each_dot(&bound, &rows.view(), &columns.t(), addend);
            let many = bound.dots(&rows.view(), &columns.t(), addend);
            let by_columns = columns.t().as_standard_layout().into_owned();
            let laid_out = bound.dots(&rows.view(), &by_columns.view(), addend);
            assert!(laid_out.iter().copied().map(all_of).eq(many.iter().copied().map(all_of)));
            assert_eq!((many.len(), each.len()), (m * n, m * n));
            for (at, (&one, &right)) in many.iter().zip(&each).enumerate() {
                let (row, column) = (rows.row(at / n), columns.row(at % n));
                let case = || format!("{} {dtype}, seed {seed}: {row:?} {column:?}", profile.name);
                assert_eq!(all_of(one), all_of(right), "{}", case());
                known += usize::from(one.is_known());
                exact += usize::from(one.is_exact());
                all += 1;
            }
        }
    }
    assert!(3 * known > all && 10 * exact > all, "{exact} are exact and {known} known of {all}");
}

/// Columns that are long are taken some at once.
#[test]
fn the_dots_of_long_columns_are_those_of_each() {
    let rng = &mut Stream::new(1).child("long").rng();
    let (rows, columns) = (lanes(2, 9000, DType::F32, rng), lanes(130, 9000, DType::F32, rng));
    let addend = |i: usize, j: usize| Some(columns[[j, i]]);
    let bound = Bound::new(&Profile::DECLARED, DType::F32);
    let many = bound.dots(&rows.view(), &columns.t(), addend);
    let by_columns = columns.t().as_standard_layout().into_owned();
    let laid_out = bound.dots(&rows.view(), &by_columns.view(), addend);
    assert_eq!(many.len(), 260);
    for (at, (one, other)) in many.into_iter().zip(laid_out).enumerate() {
        let (i, j) = (at / 130, at % 130);
        let alone =
            bound.dots(&rows.slice(s![i..=i, ..]), &columns.slice(s![j..=j, ..]).t(), |_, _| addend(i, j));
        assert_eq!(all_of(one), all_of(alone[0]), "{i}, {j}");
        assert_eq!(all_of(other), all_of(alone[0]), "{i}, {j}");
    }
}

#[test]
fn the_dots_of_plain_numbers_are_the_values_of_the_bounds() {
    for dtype in FLOATS {
        let rng = &mut Stream::new(7).child("plain").rng();
        let rows = lanes(5, 100, dtype, rng);
        let columns = lanes(30, 100, dtype, rng);
        let [x, y] = [&rows, &columns].map(|balls| balls.mapv(|x| x.value));
        let addend = |i, j| Some(rows[[i, j]]);
        let plain = ops::plain::Plain::new(dtype);
        let many = plain.dots(&x.view(), &y.t(), |i, j| addend(i, j).map(|x| x.value));
        let bounds = Bound::new(&Profile::TIGHT, dtype).dots(&rows.view(), &columns.t(), addend);
        for (value, ball) in many.iter().zip(bounds) {
            assert_eq!(bits(*value), bits(ball.value), "{dtype} {ball:?}");
        }
    }
}

/// A number that a conforming implementation may have in place of a ball.
fn inside(x: Ball, dtype: DType, rng: &mut impl Rng) -> f64 {
    let format = dtype.float().unwrap();
    let steps = (x.error / format.ulp(x.value)).floor().min(8.0);
    if steps.is_nan() || steps < 1.0 {
        return x.value;
    }
    let number = round_to(dtype, x.value + rng.random_range(-steps..=steps).round() * format.ulp(x.value));
    if (number - x.value).abs() <= x.error { number } else { x.value }
}

/// The ways in which matrix products are made, in a dtype.
fn natives(dtype: DType) -> Vec<(&'static Profile, Native)> {
    let orders = [Order::Left, Order::Right, Order::Pairwise, Order::Lanes(4), Order::Lanes(16)];
    let mut natives = Vec::new();
    for each in [dtype, DType::F32, DType::F64] {
        for order in orders {
            for fused in [false, true] {
                let native = Native { each, order, fused, sloppy: false };
                natives.extend([&Profile::TIGHT, &Profile::DECLARED].map(|profile| (profile, native)));
                if each == dtype {
                    natives.push((&Profile::WGSL, Native { sloppy: true, ..native }));
                }
            }
        }
    }
    natives
}

#[test]
fn matrix_products_in_every_order_and_rounding_stay_inside() {
    let (mut used, mut bounded, mut all) = (0.0f64, 0, 0);
    for seed in 0..240 {
        let rng = &mut Stream::new(seed).child("products").rng();
        let dtype = [DType::F32, DType::F16, DType::BF16][seed as usize % 3];
        let format = dtype.float().unwrap();
        let length = rng.random_range(1..48);
        let (rows, columns) = (lanes(3, length, dtype, rng), lanes(3, length, dtype, rng));
        let [x, y] = [&rows, &columns].map(|balls| balls.mapv(|x| inside(x, dtype, rng)));
        for (profile, native) in natives(dtype) {
            let bound = Bound::new(profile, dtype);
            for (at, ball) in bound.dots(&rows.view(), &columns.t(), |_, _| None).into_iter().enumerate() {
                let stored = bound.stored(ball, format, false);
                let terms = x.row(at / 3).into_iter().copied().zip(y.row(at % 3).into_iter().copied());
                let terms: Vec<(f64, f64)> = terms.collect();
                let made = round_to(dtype, native.dot(&terms, rng));
                all += 1;
                if !stored.is_known() {
                    continue;
                }
                bounded += 1;
                let distance = (made - stored.value).abs();
                let is_same = made == stored.value || (made.is_nan() && stored.value.is_nan());
                assert!(
                    is_same || distance <= stored.error,
                    "{} {dtype} {native:?}, seed {seed}: {made:e} is not {stored:?}, of {terms:?}",
                    profile.name
                );
                if stored.error > 0.0 {
                    used = used.max(distance / stored.error);
                }
            }
        }
    }
    assert!(2 * bounded > all, "{bounded} of {all}");
    assert!(used > 0.3, "no bound is used by more than {used}");
}
