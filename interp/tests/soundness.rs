//! Bounds hold: whatever a conforming implementation does, its numbers lie inside.
//!
//! Random straight-line programs are run over [`Bound`] and by several native implementations, which round at each
//! step or only at the end, sum in different orders, fuse or not, round to nearest or to either side, and flush
//! denormals. Every stored number of each must lie within the bound of the profile it keeps. Operators as a whole, by
//! implementations that are as bad as they may be, are tried in `faultbench::soundness`.

use ir::round::round_to;
use ir::{DType, Stream};
use onnxsmith_interp::Profile;
use onnxsmith_interp::bound::{Ball, Bound, State, Whole};
use ops::Arith;
use ops::arith::{Comparison, Fun, Step};
use rand::RngExt;

mod native;

use native::{Native, Order};

const FUNS: [Fun; 9] =
    [Fun::Exp, Fun::Log, Fun::Sqrt, Fun::Tanh, Fun::Atan, Fun::Cosh, Fun::Sigmoid, Fun::Erf, Fun::Sin];

/// How many stored numbers had a bound, and the largest share of it that was used.
#[derive(Default)]
struct Tally {
    bounded: usize,
    undecidable: usize,
    used: f64,
}

/// Runs one random program in the number system and natively, and checks every stored number.
fn check(profile: &Profile, dtype: DType, native: Native, seed: u64, tally: &mut Tally) {
    let format = dtype.float().unwrap();
    let bound = Bound::new(profile, dtype);
    let rng = &mut Stream::new(seed).child("soundness").rng();
    let mut values: Vec<(Ball, f64)> = (0..6)
        .map(|i| {
            let v: f64 =
                if i < 3 { rng.random_range(-4.0..4.0) } else { rng.random_range(-4i32..5) as f64 / 2.0 };
            // Some are denormal, or become so.
            let scale = if rng.random_range(0..4) == 0 { format.min_normal() } else { 1.0 };
            let v = round_to(dtype, v * scale);
            (bound.real(v), v)
        })
        .collect();
    for step in 0..12 {
        let picked: Vec<(Ball, f64)> = (0..5).map(|_| values[rng.random_range(0..values.len())]).collect();
        let [(a, x), (b, y)] = [picked[0], picked[1]];
        let (ball, number) = match rng.random_range(0..12) {
            0 => (bound.add(a, b), native.round(x + y, rng)),
            1 => (bound.sub(a, b), native.round(x - y, rng)),
            2 => (bound.mul(a, b), native.round(x * y, rng)),
            3 => (bound.div(a, b), native.round(x / y, rng)),
            4 => (bound.max(a, b), ops::plain::max(x, y)),
            5 => (bound.abs(bound.neg(a)), x.abs()),
            6 => (bound.sum(picked.iter().map(|p| p.0)), {
                native.sum(&picked.iter().map(|p| p.1).collect::<Vec<_>>(), rng)
            }),
            7 | 8 => {
                let pairs = [(0, 1), (2, 3), (4, 0), (1, 1)];
                let numbers = pairs.map(|(i, j)| (picked[i].1, picked[j].1));
                (bound.dot(pairs.iter().map(|&(i, j)| (picked[i].0, picked[j].0))), native.dot(&numbers, rng))
            }
            9 => (bound.step(Step::Round, a), x.round_ties_even()),
            10 => (bound.product(picked.iter().take(3).map(|p| p.0)), {
                let first = native.round(picked[1].1 * picked[2].1, rng);
                native.round(x * first, rng)
            }),
            _ => {
                let f = FUNS[rng.random_range(0..FUNS.len())];
                (bound.call(f, a), native.round(f.value(x), rng))
            }
        };
        let stored = bound.stored(ball, format, false);
        let held = round_to(dtype, number);
        if stored.is_known() {
            let distance = (held - stored.value).abs();
            let same = held == stored.value || (held.is_nan() && stored.value.is_nan());
            assert!(
                same || distance <= stored.error,
                "step {step} of seed {seed}, {} {dtype} {native:?}: {held:e} is not {stored:?}",
                profile.name
            );
            tally.bounded += 1;
            if stored.error > 0.0 && distance.is_finite() {
                tally.used = tally.used.max(distance / stored.error);
            }
        } else {
            tally.undecidable += 1;
        }
        // Some results go on as they are, as inside an operator; the others are stored first.
        values.push(if rng.random() { (ball, number) } else { (stored, held) });
    }
}

#[test]
fn every_order_and_every_rounding_stays_inside() {
    let orders = [Order::Left, Order::Right, Order::Pairwise, Order::Lanes(2)];
    let mut tally = Tally::default();
    for seed in 0..1500 {
        let (order, fused) = (orders[seed as usize % 4], seed % 3 == 0);
        for (dtype, each) in [
            (DType::F32, DType::F32),
            (DType::F32, DType::F64),
            (DType::F16, DType::F16),
            (DType::F16, DType::F32),
            (DType::BF16, DType::BF16),
            (DType::BF16, DType::F32),
        ] {
            check(&Profile::TIGHT, dtype, Native { each, order, fused, sloppy: false }, seed, &mut tally);
            check(&Profile::DECLARED, dtype, Native { each, order, fused, sloppy: false }, seed, &mut tally);
            check(&Profile::WGSL, dtype, Native { each, order, fused, sloppy: true }, seed, &mut tally);
        }
    }
    assert!(tally.bounded > 3 * tally.undecidable, "{} against {}", tally.bounded, tally.undecidable);
    assert!(tally.used > 0.3, "no bound is used by more than {}: they are too wide to test this", tally.used);
}

fn tight() -> Bound<'static> {
    Bound::new(&Profile::TIGHT, DType::F32)
}

fn stored(x: Ball) -> Ball {
    tight().stored(x, DType::F32.float().unwrap(), false)
}

#[test]
fn bounds_of_single_steps_are_as_small_as_they_can_be() {
    let (a, third) = (tight(), 1.0 / 3.0);
    let third = a.real(round_to(DType::F32, third));
    // A correctly rounded sum leaves one number.
    assert!(stored(a.add(third, a.real(1.0))).is_exact());
    assert!(stored(a.mul(third, third)).is_exact());
    // Three ULP of e^x, and the half that storing the reference takes.
    let ulp = DType::F32.float().unwrap().ulp(third.value.exp());
    assert!(stored(a.call(Fun::Exp, third)).error <= 3.5 * ulp);
    // A sum of n terms: no more than n-1 half ULP of the largest partial sum.
    let terms = vec![third; 64];
    let error = stored(a.sum(terms.into_iter())).error;
    assert!(error > 0.0 && error < 64.0 * DType::F32.float().unwrap().ulp(64.0 / 3.0));
}

#[test]
fn integers_in_floats_are_exact_in_every_order() {
    let a = tight();
    let whole = |n: i32| a.real(n as f64);
    assert!(a.sum((-50..100).map(whole)).is_exact());
    assert!(a.dot((0..100).map(|n| (whole(n), whole(-n)))).is_exact());
    assert!(a.product((1..11).map(whole)).is_exact());
    assert!(!a.product((1..20).map(whole)).is_exact());
    let large = [16_777_216.0, 1.0, 1.0].map(|v| a.real(v));
    assert!(!a.sum(large.into_iter()).is_exact());
    // 2^24 + 1 is no f32, though 2^24 + 1 - 1 is.
    assert!(!a.sum([16_777_216.0, 1.0, -1.0].map(|v| a.real(v)).into_iter()).is_exact());
}

#[test]
fn discontinuities_leave_open_what_is_on_either_side_where_they_are_straddled() {
    let a = tight();
    let near = |v: f64| Ball::within(v, 1e-3);
    assert_eq!(a.step(Step::Floor, near(2.5)), Ball::exact(2.0));
    assert_eq!(a.step(Step::Floor, near(2.0)), Ball::within(2.0, 1.0));
    assert!(!a.step(Step::Floor, Ball::unknown(2.0)).is_known());
    assert_eq!(a.step(Step::Floor, Ball::exact(2.0)), Ball::exact(2.0));
    assert_eq!(a.peek(a.compare(Comparison::Less, near(1.0), near(1.1))), Some(1));
    assert_eq!(a.peek(a.compare(Comparison::Less, near(1.0), near(1.001))), None);
    assert_eq!(a.peek(a.compare(Comparison::Equal, near(1.0), near(1.0))), None);
    assert_eq!(a.peek(a.truncate(near(2.0), DType::I32)), None);
    assert_eq!(a.truncate(near(2.0), DType::I32).ends(), Some((1, 2)));
    assert_eq!(a.truncate(Ball::within(255.5, 1.0), DType::U8).ends(), None);
    assert_eq!(a.peek(a.truncate(near(2.5), DType::I32)), Some(2));
    assert_eq!(a.peek(a.arg_max(&[near(1.0), near(2.0)], false)), Some(1));
    assert_eq!(a.peek(a.arg_max(&[near(2.0), near(2.0)], false)), None);
    assert_eq!(a.peek(a.arg_max(&[Ball::exact(2.0), Ball::exact(2.0)], true)), Some(1));
    assert!(!a.div(near(1.0), near(0.0)).is_known());
    assert!(!a.call(Fun::Log, near(0.0)).is_known());
    assert!(!a.call(Fun::Tan, near(std::f64::consts::FRAC_PI_2)).is_known());
    assert!(!a.call(Fun::Exp, near(88.73)).is_known());
}

#[test]
fn what_is_made_of_an_integer_that_is_one_of_a_few_is_made_of_each() {
    let a = tight();
    let few = Whole::between(1, 2, 3);
    assert_eq!(a.exact([few, Whole::sure(10)], |[x, y]| Some(y - x)), Whole::between(7, 8, 9));
    assert_eq!(a.exact([few, few], |[x, y]| Some(x * y)), Whole::between(1, 4, 9));
    assert_eq!(a.exact([few], |[x]| (x < 3).then_some(x)).ends(), None);
    assert_eq!(a.exact([Whole::between(0, 50, 100)], |[x]| Some(x)).ends(), None);
    assert_eq!(a.convert(few), Ball::within(2.0, a.convert(few).error));
    assert!((1.0..1.001).contains(&a.convert(few).error));
    // As a tensor holds it.
    assert_eq!(a.stored_whole(few, DType::U8), few);
    assert_eq!(a.stored_whole(Whole::between(254, 255, 256), DType::U8).ends(), None);
    assert_eq!(a.stored_whole(Whole::between(0, 0, 1), DType::Bool).ends(), None);
}

#[test]
fn a_quotient_by_a_power_of_two_is_what_a_product_is() {
    let by =
        |profile, divisor: f64| Bound::new(profile, DType::F32).div(Ball::exact(1.25), Ball::exact(divisor));
    for divisor in [1.0, -2.0, 0.25] {
        assert_eq!(by(&Profile::DECLARED, divisor), Ball::exact(1.25 / divisor));
        assert!(!by(&Profile::WGSL, divisor).is_exact(), "WGSL grants 2.5 ULP of any quotient");
    }
    assert!(!by(&Profile::DECLARED, 5.0).is_exact());
    // The reciprocal is denormal.
    assert!(!by(&Profile::DECLARED, 127f64.exp2()).is_exact());
}

#[test]
fn an_integer_is_rounded_to_a_float_next_to_it() {
    let bf16 = Bound::new(&Profile::DECLARED, DType::BF16);
    let cast = |z| {
        let ball = bf16.output(bf16.convert(Whole::sure(z)), ir::format::FloatFormat::BF16);
        (ball.value, ball.error)
    };
    // Its numbers are 4 apart there.
    assert_eq!(cast(517), (516.0, 0.0));
    assert_eq!(cast(518), (520.0, 4.0), "516 is as near");
}

#[test]
fn a_remainder_jumps_just_below_a_multiple_that_the_quotient_is_rounded_to() {
    let a = Bound::new(&Profile::TIGHT, DType::F64);
    let mut jumps = 0;
    for (tenths, n) in (1..40).flat_map(|tenths| (2..60).map(move |n| (tenths, n))) {
        let (y, n) = (f64::from(tenths) / 10.0, f64::from(n));
        let mut low = n * y;
        // To where the remainder is that of the quotient below.
        while libm::fmod(low, y) < y / 2.0 {
            low = low.next_down();
        }
        let x = Ball::within(low.next_up(), low.next_up() - low);
        if libm::fmod(x.value, y) > y / 2.0 || x.low() != low {
            continue;
        }
        jumps += usize::from((low / y).trunc() == n);
        assert!(!a.fmod(x, Ball::exact(y)).is_known(), "{low} by {y}");
        let above = Ball::within(x.value, 0.0);
        assert!(a.fmod(above, Ball::exact(y)).is_known());
    }
    assert!(jumps > 10, "the division is rounded up to a whole number {jumps} times");
}

#[test]
fn undefined_is_not_undecidable() {
    let a = tight();
    let zero_division = a.exact([a.int(1), a.int(0)], |[p, q]| p.checked_div(q));
    assert_eq!(zero_division.state, State::Undefined);
    assert!(a.convert(zero_division).is_undefined());
    assert_eq!(a.truncate(Ball::exact(300.0), DType::U8).state, State::Undefined);
    assert!(!a.div(Ball::within(1.0, 0.1), Ball::within(0.0, 0.1)).is_undefined());
}

#[test]
fn infinities_are_determined_by_ieee_and_by_nothing_in_wgsl() {
    let (a, w) = (tight(), Bound::new(&Profile::WGSL, DType::F32));
    let infinity = Ball::exact(f64::INFINITY);
    assert_eq!(a.add(infinity, Ball::within(1.0, 0.5)), infinity);
    assert!(a.sub(infinity, infinity).is_nan());
    assert_eq!(a.div(a.real(1.0), a.real(0.0)), infinity);
    assert!(!w.div(w.real(1.0), w.real(0.0)).is_known());
    assert!(!a.mul(a.real(3e38), a.real(2.0)).is_known());
    assert_eq!(a.call(Fun::Exp, Ball::exact(f64::NEG_INFINITY)), Ball::exact(0.0));
    assert!(w.call(Fun::Sin, w.real(3.0)).is_known() && !w.call(Fun::Sin, w.real(4.0)).is_known());
}

#[test]
fn a_zero_of_either_sign_is_a_zero() {
    let zero = Ball::either_zero();
    for profile in [&Profile::TIGHT, &Profile::DECLARED, &Profile::WGSL] {
        let a = Bound::new(profile, DType::F32);
        assert_eq!(a.call(Fun::Sqrt, zero), zero);
        assert_eq!(a.peek(a.compare(Comparison::Equal, zero, a.real(-0.0))), Some(1));
        assert_eq!(a.peek(a.compare(Comparison::Less, zero, zero)), Some(0));
        assert_eq!(a.step(Step::Floor, zero), zero);
        assert!(!a.div(a.real(1.0), zero).is_known());
    }
    assert_eq!(tight().call(Fun::Log, zero), Ball::exact(f64::NEG_INFINITY));
}

#[test]
fn flushing_a_positive_number_does_not_make_it_negative() {
    let a = Bound::new(&Profile::DECLARED, DType::F32);
    let denormal = a.real(1e-40);
    let root = a.call(Fun::Sqrt, denormal);
    assert!(root.is_known() && root.has_zero() && root.high() >= 1e-20, "{root:?}");
    assert!(!a.call(Fun::Log, denormal).is_known());
    let sum = a.add(denormal, a.real(2e-40));
    assert!(sum.has_zero() && sum.high() < 1e-38 && a.add(sum, a.real(-0.0)).has_zero(), "{sum:?}");
}

#[test]
fn halves_have_narrow_floors() {
    for dtype in [DType::F16, DType::BF16] {
        let (a, format) = (Bound::new(&Profile::DECLARED, dtype), dtype.float().unwrap());
        for x in [0.0, 0.01, 0.3, 9.0] {
            let x = round_to(dtype, x);
            let tanh = a.stored(a.call(Fun::Tanh, a.real(x)), format, false);
            let most = 2.5 * format.epsilon() + 4.5 * format.ulp(tanh.value);
            assert!(tanh.error <= most, "{dtype}: {tanh:?}");
            // A formula that cancels near 0, every step of it rounded to the format.
            let power = round_to(dtype, round_to(dtype, 2.0 * x).exp());
            let quotient = round_to(dtype, 2.0 / round_to(dtype, power + 1.0));
            let by_formula = round_to(dtype, 1.0 - quotient);
            assert!((by_formula - tanh.value).abs() <= tanh.error, "{dtype}: {by_formula} is not {tanh:?}");
        }
    }
}

/// What a step after a dot product does when an optimiser folds it into the product's terms.
fn folded(x: &[f64], w: &[f64], scale: f64, addend: f64) -> f64 {
    let rounded = |v: f64| f64::from(v as f32);
    let weights = w.iter().map(|w| rounded(w * scale));
    x.iter().zip(weights).fold(addend, |sum, (x, w)| rounded(sum + rounded(x * w)))
}

#[test]
fn constants_folded_into_a_dot_product_stay_inside() {
    let unfolded = Profile { folds: false, ..Profile::DECLARED };
    let mut outside_without = 0;
    for seed in 0..2000 {
        let rng = &mut Stream::new(seed).child("folding").rng();
        let mut draw = |n: usize| -> Vec<f64> {
            let whole = rng.random();
            let one =
                |_| if whole { f64::from(rng.random_range(-4i32..5)) } else { rng.random_range(-2.0..2.0) };
            (0..n).map(one).map(|v| round_to(DType::F32, v)).collect()
        };
        let (mut x, w, [scale, addend]) = (draw(8), draw(8), [0, 1].map(|_| draw(1)[0]));
        // Half of the terms nearly cancel the other half.
        for i in 0..4 {
            x[i + 4] = round_to(DType::F32, if w[i + 4] == 0.0 { x[i + 4] } else { -x[i] * w[i] / w[i + 4] });
        }
        let number = folded(&x, &w, scale, addend);
        for profile in [&Profile::DECLARED, &unfolded] {
            let b = Bound::new(profile, DType::F32);
            let format = DType::F32.float().unwrap();
            let store = |ball| b.stored(ball, format, false);
            let dot = b.dot(x.iter().zip(&w).map(|(x, w)| (b.real(*x), b.real(*w))));
            let product = store(b.mul(store(dot), b.real(scale)));
            let total = store(b.add(product, b.real(addend)));
            let inside = (number - total.value).abs() <= total.error;
            if profile.folds {
                assert!(inside, "seed {seed}: {number:e} is not {total:?}");
            } else {
                outside_without += usize::from(!inside);
            }
        }
    }
    assert!(outside_without > 20, "folding is too mild to need a bound: {outside_without}");
}

/// How many of some results of f32, each with the bound it is held to, are beyond so many ULP of it; all are inside.
fn beyond(ulps: f64, results: impl Iterator<Item = (Ball, f32)>) -> usize {
    let format = DType::F32.float().unwrap();
    let beyond = results.filter(|(ball, found)| {
        let off = (f64::from(*found) - ball.value).abs();
        assert!(off <= ball.error, "{found:e} is not {ball:?}");
        off > ulps * format.ulp(ball.value)
    });
    beyond.count()
}

#[test]
fn powers_and_exponentials_of_common_make_stay_inside() {
    let a = Bound::new(&Profile::DECLARED, DType::F32);
    let rng = &mut Stream::new(1).child("powers").rng();
    let powers = (0..3000).map(|_| {
        let (x, t) = (rng.random_range(0.01f32..100.0), rng.random_range(-80.0f32..80.0));
        let y = t / x.ln();
        (a.pow(a.real(x.into()), a.real(y.into())), (y * x.ln()).exp())
    });
    assert!(beyond(32.0, powers.filter(|(ball, _)| ball.is_known())) > 100);
    let rng = &mut Stream::new(2).child("exponentials").rng();
    let exponentials = (0..3000).map(|_| {
        let x = rng.random_range(-80.0f32..80.0);
        (a.call(Fun::Exp, a.real(x.into())), (x * std::f32::consts::LOG2_E).exp2())
    });
    assert!(beyond(4.0, exponentials) > 100);
    // Exponent and mantissa apart.
    let logarithms = (1u8..200).map(|i| {
        let x = 1.0 - f32::from(i) * f32::EPSILON;
        let log2 = (2.0 * x).log2() - 1.0;
        (a.call(Fun::Log, a.real(x.into())), log2 * std::f32::consts::LN_2)
    });
    assert!(beyond(4.0, logarithms) > 10);
}

#[test]
fn the_error_of_an_inexact_power_holds_for_all_of_them() {
    let a = Bound::new(&Profile::DECLARED, DType::F32);
    for (x, error, y) in [(10.0, 9.99, 20.0), (0.5, 0.5, 3.0), (0.02, 0.0199, 12.0), (40.0, 1.0, -20.0)] {
        let power = a.pow(Ball::within(x, error), a.real(y));
        assert!(power.is_known(), "{x} {error} {y}: {power:?}");
        for i in 0..=100 {
            let s = f64::powf(x + error * (f64::from(i) / 50.0 - 1.0), y);
            // A half of what is granted beside the exponential's own error.
            let off = s * s.ln().abs() * 2.25 * f64::from(f32::EPSILON);
            let inside = |s: f64| power.low() <= s && s <= power.high();
            assert!(s == 0.0 || (inside(s + off) && inside(s - off)), "{x} {error} {y}: {s:e} in {power:?}");
        }
    }
}

/// The variance of a lane in f32: about a mean by a sum, in two passes, or a running one.
fn variance(lane: &[f32], is_running: bool) -> f32 {
    let count = lane.len() as f32;
    if is_running {
        let (mut mean, mut squares) = (0.0f32, 0.0f32);
        for (k, &x) in (1u16..).zip(lane) {
            let before = x - mean;
            mean += before / f32::from(k);
            squares += before * (x - mean);
        }
        return squares / count;
    }
    let mean = lane.iter().sum::<f32>() / count;
    lane.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / count
}

#[test]
fn variances_stay_inside() {
    let (mut most_used, mut running_outside) = (0.0f64, 0);
    for seed in 0..3000 {
        let rng = &mut Stream::new(seed).child("variance").rng();
        let (n, offset) = (rng.random_range(1..40), [0.0f32, 10.0, 3000.0][seed as usize % 3]);
        let carried = if rng.random() { 0.0 } else { f64::from(offset.max(1.0)) * 1e-6 };
        let exact: Vec<f32> = (0..n).map(|_| offset + rng.random_range(-2.0f32..2.0)).collect();
        let lane: Vec<f32> =
            exact.iter().map(|&x| x + (carried * rng.random_range(-0.9..0.9)) as f32).collect();
        let bound = |profile| {
            let a = Bound::new(profile, DType::F32);
            // Storing what was carried rounds once more.
            let ball = |&x: &f32| Ball::within(x.into(), if carried > 0.0 { carried * 1.5 } else { 0.0 });
            let balls: Vec<Ball> = exact.iter().map(ball).collect();
            let mean = a.mean(balls.iter().copied(), n);
            a.variance(&balls, mean)
        };
        let (tight, declared) = (bound(&Profile::TIGHT), bound(&Profile::DECLARED));
        assert!(tight.error <= declared.error * (1.0 + 1e-12));
        let off = |is_running, ball: Ball| {
            (f64::from(variance(&lane, is_running)) - ball.value).abs() / ball.error.max(f64::MIN_POSITIVE)
        };
        assert!(off(false, tight) <= 1.0 && off(true, declared) <= 1.0, "seed {seed}: {lane:?}");
        most_used = most_used.max(off(false, tight));
        running_outside += usize::from(off(true, tight) > 1.0);
    }
    assert!(most_used > 0.3, "no bound is used by more than {most_used}");
    assert!(running_outside > 10, "a running variance needs no wider bound: {running_outside}");
}
