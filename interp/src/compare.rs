//! Comparing a tensor with the reference.
//!
//! Where the bound of an element is 0 the comparison is bit for bit (any NaN stands for any other, and the sign of
//! a zero counts only where the profile keeps it); elsewhere the element must lie within the bound. Undecidable and
//! undefined elements are counted and never compared.

use ir::{DType, Tensor, Type};

use crate::evaluate::{Bounded, Limit};
use crate::margin::Margins;
use crate::profile::Profile;

/// What comparing a tensor with the reference gave.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Comparison {
    /// How many elements there are.
    pub elements: usize,
    /// How many are not compared because conforming implementations may disagree about them.
    pub undecidable: usize,
    /// How many are not compared because the specification leaves them undefined.
    pub undefined: usize,
    /// How many must agree bit for bit.
    pub exact: usize,
    /// How many are not acceptable.
    pub mismatches: usize,
    /// How many are a zero of the other sign where the reference has an exact one, which the profile ignores.
    pub zero_signs: usize,
    /// How many integers are not the low bits of a number that the dtype does not have, but something else
    /// that the profile allows.
    pub saturated: usize,
    /// The mismatch that says most: one that is not [slight](Mismatch::is_slight) if there is any, and of such the one
    /// that is most ULP beyond its bound.
    pub worst: Option<Mismatch>,
    /// The largest share of its bound that an acceptable element uses, of those with a bound above 0.
    pub used: f64,
    /// How much wider the bounds of acceptable elements are than their errors.
    pub margins: Margins,
    /// The largest distance in ULP of any compared element.
    pub max_ulp: f64,
}

/// An element that no conforming implementation has.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mismatch {
    /// Its row-major position.
    pub index: usize,
    /// What the reference has.
    pub expected: f64,
    /// How far from that an implementation may be.
    pub bound: f64,
    /// What was found.
    pub actual: f64,
    /// The distance in ULP of the dtype at the expected value; for integers the difference.
    pub ulp: f64,
}

impl Mismatch {
    /// Whether the element is within 16 times its bound: a question of accuracy, and not another value.
    pub fn is_slight(&self) -> bool {
        // False for NaN and for infinities that are not expected; of expected ones the distance is infinite.
        (self.actual - self.expected).abs() <= 16.0 * self.bound
    }

    /// How much an element says: by whether it is another value, and then by how many ULP it is beyond its bound.
    fn gravity(&self, beyond: f64) -> (bool, f64) {
        (!self.is_slight(), beyond)
    }
}

/// The tensor is not of the type the reference has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the tensor is {actual} but must be {expected}")]
pub struct WrongType {
    /// The reference's type.
    pub expected: Type,
    /// The tensor's.
    pub actual: Type,
}

impl Comparison {
    /// Whether every compared element is acceptable.
    pub fn passes(&self) -> bool {
        self.mismatches == 0
    }

    /// How many elements were compared.
    pub fn compared(&self) -> usize {
        self.elements - self.undecidable - self.undefined
    }
}

/// What is acceptable for one element of a floating-point tensor.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Acceptance {
    /// What the reference has.
    pub value: f64,
    /// How far from it an implementation may be.
    pub error: f64,
    /// Whether the sign of a zero counts.
    pub zero_sign: bool,
}

impl Acceptance {
    /// Whether a conforming implementation may have this number.
    pub fn accepts(&self, actual: f64) -> bool {
        if self.error > 0.0 {
            // False for NaN.
            self.error == f64::INFINITY || (actual - self.value).abs() <= self.error
        } else if self.value.is_nan() {
            actual.is_nan()
        } else if self.value == 0.0 && self.zero_sign {
            actual.to_bits() == self.value.to_bits()
        } else {
            actual == self.value
        }
    }
}

/// Compares a tensor with the reference.
pub fn compare(expected: &Bounded, actual: &Tensor, profile: &Profile) -> Result<Comparison, WrongType> {
    if expected.is_open && expected.tensor.dtype() == actual.dtype() {
        let elements = actual.len();
        return Ok(Comparison { elements, undecidable: elements, ..Comparison::default() });
    }
    if expected.tensor.ty() != actual.ty() {
        return Err(WrongType { expected: expected.tensor.ty(), actual: actual.ty() });
    }
    let mut all = Comparison {
        elements: actual.len(),
        undecidable: expected.undecidable() - expected.limited.len(),
        undefined: expected.undefined.len(),
        ..Comparison::default()
    };
    // Most of what is exact is also equal, and that is quickly seen.
    if expected.is_exact() && expected.tensor == *actual {
        all.exact = all.elements;
    } else if actual.dtype().is_float() {
        floats(&mut all, expected, actual, profile);
    } else {
        integers(&mut all, expected, actual);
    }
    Ok(all)
}

fn floats(all: &mut Comparison, expected: &Bounded, actual: &Tensor, profile: &Profile) {
    let format = actual.dtype().float();
    let mut gravest = (false, f64::NEG_INFINITY);
    for (index, (value, actual)) in expected.tensor.to_f64s().into_iter().zip(actual.to_f64s()).enumerate() {
        let Some(accepts) = expected.accepts_float(index, (value, actual), profile) else { continue };
        let bound = expected.error_at(index);
        let has_limit = bound == f64::INFINITY;
        if accepts && has_limit {
            continue;
        }
        // Where there is a limit, the error says nothing.
        let bound = if has_limit { 0.0 } else { bound };
        let distance = (actual - value).abs();
        let same = actual == value || (actual.is_nan() && value.is_nan());
        let scale = if value.is_finite() { format.map_or(1.0, |f| f.ulp(value)) } else { 1.0 };
        let ulp = match (same, distance.is_nan()) {
            (true, _) => 0.0,
            (false, true) => f64::INFINITY,
            (false, false) => distance / scale,
        };
        all.max_ulp = all.max_ulp.max(ulp);
        all.exact += usize::from(bound == 0.0 && !has_limit);
        if accepts {
            let is_other_zero = value == 0.0 && value.is_sign_negative() != actual.is_sign_negative();
            all.zero_signs += usize::from(bound == 0.0 && is_other_zero);
            if bound > 0.0 {
                all.used = all.used.max(distance / bound);
                if distance > 0.0 {
                    all.margins.add(bound, distance);
                }
            }
            continue;
        }
        all.mismatches += 1;
        let mismatch = Mismatch { index, expected: value, bound, actual, ulp };
        let gravity = mismatch.gravity(ulp - bound / scale);
        if gravity > gravest || all.worst.is_none() {
            (gravest, all.worst) = (gravity, Some(mismatch));
        }
    }
}

impl Bounded {
    /// Whether an implementation may have the float `actual` at a row-major position where the reference has `value`; `None` where
    /// nothing is known.
    pub fn accepts_float(
        &self,
        index: usize,
        (value, actual): (f64, f64),
        profile: &Profile,
    ) -> Option<bool> {
        let error = self.error_at(index);
        if error == f64::INFINITY {
            return self.limit_at(index).map(|limit| limit.accepts(value, actual));
        }
        Some(Acceptance { value, error, zero_sign: !profile.ignores_zero_sign }.accepts(actual))
    }

    /// Whether an implementation may have the integer `actual`, likewise.
    pub fn accepts_integer(&self, index: usize, (value, actual): (i128, i128)) -> Option<bool> {
        if self.error_at(index) == f64::INFINITY {
            return self.limit_at(index).map(|_| after_overflow(self.tensor.dtype(), value, actual));
        }
        let [below, above] = self.sides_at(index);
        Some((-below..=above).contains(&((actual - value) as f64)))
    }
}

impl Limit {
    /// Whether an implementation may have the float `actual` where the reference has `value`.
    pub fn accepts(self, value: f64, actual: f64) -> bool {
        match self {
            // False for NaN.
            Self::Beyond(least) => {
                actual.abs() >= least && actual.is_sign_negative() == value.is_sign_negative()
            }
            Self::NaNOr { low, high } => actual.is_nan() || (low..=high).contains(&actual),
            // That is said of integers alone.
            Self::Overflown => false,
        }
    }
}

/// Whether an implementation may have the integer `actual` after one step whose result the dtype does not
/// have. `wrapped` are the low bits of the result. Allowed are these, the largest and the smallest integer of
/// the dtype, and what comes of converting a float that does not fit: processors give the smallest integer of
/// 32 or 64 bits, or the nearest one, and a narrow dtype keeps its low bits.
pub fn after_overflow(dtype: DType, wrapped: i128, actual: i128) -> bool {
    let Some((low, high)) = dtype.int_range() else { return actual == wrapped };
    let of_wider = [i128::from(i32::MIN), i128::from(i32::MAX), i128::from(i64::MIN), i128::from(i64::MAX)];
    actual == wrapped || actual == low || actual == high || of_wider.iter().any(|&v| dtype.wrap(v) == actual)
}

fn integers(all: &mut Comparison, expected: &Bounded, actual: &Tensor) {
    for (index, (value, actual)) in expected.tensor.to_i128s().into_iter().zip(actual.to_i128s()).enumerate()
    {
        let Some(accepts) = expected.accepts_integer(index, (value, actual)) else { continue };
        let bound = expected.error_at(index);
        let is_overflown = bound == f64::INFINITY;
        all.exact += usize::from(bound == 0.0);
        if accepts {
            all.saturated += usize::from(is_overflown && actual != value);
            continue;
        }
        let bound = if is_overflown { 0.0 } else { bound };
        all.mismatches += 1;
        let ulp = (actual - value).abs() as f64;
        all.max_ulp = all.max_ulp.max(ulp);
        let mismatch = Mismatch { index, expected: value as f64, bound, actual: actual as f64, ulp };
        if all.worst.is_none_or(|worst| mismatch.gravity(ulp) > worst.gravity(worst.ulp)) {
            all.worst = Some(mismatch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limited, Uneven};

    fn bounded(values: &[f64], error: &[f64]) -> Bounded {
        let ty = Type::new(DType::F32, [values.len() as i64]);
        Bounded::within(Tensor::from_f64_fn(&ty, |i| values[i]), error.to_vec())
    }

    fn against(expected: &Bounded, actual: &[f64], profile: &Profile) -> Comparison {
        compare(expected, &bounded(actual, &[]).tensor, profile).unwrap()
    }

    #[test]
    fn exact_elements_are_compared_bit_for_bit() {
        let expected = bounded(&[1.0, f64::NAN, f64::INFINITY, 0.0], &[]);
        assert!(against(&expected, &[1.0, -f64::NAN, f64::INFINITY, 0.0], &Profile::TIGHT).passes());
        let signs = [1.0, f64::NAN, f64::INFINITY, -0.0];
        assert_eq!(against(&expected, &signs, &Profile::TIGHT).mismatches, 1);
        let ignored = against(&expected, &signs, &Profile::WGSL);
        assert_eq!((ignored.passes(), ignored.zero_signs), (true, 1));
        let next = f64::from(1.0f32.next_up());
        let off = against(&expected, &[next, 1.0, f64::NAN, 0.0], &Profile::TIGHT);
        assert_eq!(off.mismatches, 3);
        assert_eq!(off.worst.map(|w| w.ulp), Some(f64::INFINITY));
    }

    #[test]
    fn bounds_hold_and_the_undecidable_is_counted() {
        let expected = bounded(&[1.0, 2.0, 3.0], &[0.5, f64::INFINITY, 0.0]);
        let fine = against(&expected, &[1.25, f64::NAN, 3.0], &Profile::TIGHT);
        assert_eq!((fine.passes(), fine.undecidable, fine.compared(), fine.used), (true, 1, 2, 0.5));
        let off = against(&expected, &[1.75, 0.0, 3.0], &Profile::TIGHT);
        assert_eq!(off.worst.map(|w| (w.index, w.bound)), Some((0, 0.5)));
        assert!(!against(&expected, &[f64::NAN, 0.0, 3.0], &Profile::TIGHT).passes());
    }

    /// The first element is further off, but not by much of what it may be.
    #[test]
    fn what_is_another_value_says_more_than_what_is_further_off_within_a_wide_bound() {
        let expected = bounded(&[8.0, 1.0, 1.0], &[1.0, 0.0, 0.0]);
        let worst = against(&expected, &[0.0, 2.0, 1.5], &Profile::TIGHT).worst.expect("it is off");
        assert_eq!((worst.index, worst.is_slight()), (1, false));
        let ty = Type::new(DType::U8, [3]);
        let whole = |values: [i128; 3]| Tensor::from_i128_fn(&ty, |i| values[i]);
        let expected = Bounded { tensor: whole([8, 1, 1]), ..expected };
        let worst = compare(&expected, &whole([0, 1, 0]), &Profile::TIGHT).unwrap().worst.expect("it is off");
        assert_eq!((worst.index, worst.is_slight()), (2, false));
        let slight =
            compare(&expected, &whole([0, 1, 1]), &Profile::TIGHT).unwrap().worst.expect("it is off");
        assert_eq!((slight.index, slight.is_slight()), (0, true));
    }

    #[test]
    fn an_overflow_is_wrapped_saturated_or_a_float_and_nothing_else() {
        let ty = Type::new(DType::I8, [1]);
        let whole = |v| Tensor::from_i128_fn(&ty, |_| v);
        let limited = vec![Limited { at: 0, limit: Limit::Overflown }];
        let expected = Bounded { limited, ..Bounded::within(whole(44), vec![f64::INFINITY]) };
        let against = |v| compare(&expected, &whole(v), &Profile::DECLARED).unwrap();
        assert_eq!((against(44).passes(), against(44).saturated), (true, 0));
        for v in [127, -128, 0, -1] {
            assert_eq!((against(v).passes(), against(v).saturated), (true, 1), "{v}");
        }
        for v in [43, 1, 100, -2] {
            assert_eq!((against(v).passes(), against(v).undecidable), (false, 0), "{v}");
        }
        assert!(!after_overflow(DType::I32, 7, 1) && after_overflow(DType::I32, 7, -1));
    }

    #[test]
    fn an_integer_may_be_off_on_one_side_alone() {
        let ty = Type::new(DType::I32, [2]);
        let whole = |values: [i128; 2]| Tensor::from_i128_fn(&ty, |i| values[i]);
        let uneven = vec![Uneven { at: 1, below: 1, above: 0 }];
        let expected = Bounded { uneven, ..Bounded::within(whole([5, 5]), vec![1.0; 2]) };
        let passes = |values| compare(&expected, &whole(values), &Profile::TIGHT).unwrap().passes();
        assert!(passes([6, 5]) && passes([4, 4]));
        assert!(!passes([5, 6]) && !passes([5, 3]) && !passes([7, 5]));
    }

    #[test]
    fn another_type_is_no_mismatch_but_an_error() {
        assert!(compare(&bounded(&[1.0], &[]), &bounded(&[1.0, 2.0], &[]).tensor, &Profile::TIGHT).is_err());
    }
}
