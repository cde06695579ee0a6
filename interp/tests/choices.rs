//! What is chosen where the choice is open, and steps that may be taken another way.

use ir::DType;
use onnxsmith_interp::Profile;
use onnxsmith_interp::bound::{Ball, Bound};
use ops::Arith;
use ops::arith::{Comparison, Fun};

fn tight() -> Bound<'static> {
    Bound::new(&Profile::TIGHT, DType::F32)
}

#[test]
fn a_selection_between_two_numbers_is_one_of_them_or_between() {
    let a = tight();
    let x = Ball::within(1e-9, 1e-6);
    let positive = a.compare(Comparison::GreaterOrEqual, x, a.real(0.0));
    let leaky = a.select(positive, x, a.mul(x, a.real(0.01)));
    assert!(leaky.is_known() && leaky.error < 3e-6);
    let apart = a.select(positive, a.real(1.0), a.real(-1.0));
    assert!(apart.value == 1.0 && apart.low() <= -1.0 && apart.error < 2.1, "{apart:?}");
    let whole = a.select_int(positive, a.int(7), a.int(-2));
    assert_eq!((whole.value, whole.ends()), (7, Some((-2, 7))));
    let unknown = a.select(positive, a.real(1.0), a.unknown_real());
    assert!(!unknown.is_known());
}

#[test]
fn a_power_of_two_divides_a_sum_exactly() {
    let a = Bound::new(&Profile::DECLARED, DType::F32);
    let three = a.mul(a.real(5.0), a.real(3.0));
    let half = a.div(three, a.real(2.0));
    assert!(half.is_exact() && half.value == 7.5, "{half:?}");
    let third = a.div(three, a.real(7.0));
    assert!(!third.is_exact());
}

#[test]
fn a_tangent_may_be_a_quotient_and_a_power_a_product() {
    let a = Bound::new(&Profile::DECLARED, DType::F32);
    let steep = a.call(Fun::Tan, a.real(1.5625));
    assert!(steep.is_known() && (1e-3..1.0).contains(&steep.error), "{steep:?}");
    let (base, mut product) = (1.001_f32, 1.0_f32);
    for _ in 0..1000 {
        product *= base;
    }
    let power = a.pow(a.real(f64::from(base)), a.real(1000.0));
    let (low, high) = (power.low(), power.high());
    assert!(low <= f64::from(product) && f64::from(product) <= high, "{product} of {power:?}");
    let root = a.pow(a.real(f64::from(base)), a.real(1000.5));
    assert!(root.error < power.error / 2.0, "{root:?} and {power:?}");
    // Halves are computed in f32.
    let half = Bound::new(&Profile::DECLARED, DType::F16).pow(a.real(1.125), a.real(40.0));
    assert!(half.error < 10.0 * 2.0_f64.powi(-11) * half.value, "{half:?}");
}
