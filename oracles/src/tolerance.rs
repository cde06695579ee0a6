//! Comparison with a fixed tolerance, for cases that come with outputs but without bounds; and the tolerance for tools that
//! cannot use bounds.

use interp::Bounded;
use ir::{DType, Tensor};

use crate::signature::{ErrorShape, Symptom};

/// A relative and an absolute tolerance: |actual − expected| ≤ absolute + relative·|expected|.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// Relative to the expected value.
    pub relative: f64,
    /// In the value's own unit.
    pub absolute: f64,
}

impl Tolerance {
    /// What ONNX's backend tests use for all dtypes but bf16.
    pub const ONNX: Self = Self { relative: 1e-3, absolute: 1e-7 };

    /// What ONNX's backend tests use for a dtype: of bf16, two ULP at least.
    pub fn onnx(dtype: DType) -> Self {
        let relative = if dtype == DType::BF16 { 1.0 / 64.0 } else { Self::ONNX.relative };
        Self { relative, ..Self::ONNX }
    }

    /// The tolerance for tools that know no bounds. It allows each judged element of these outputs at least
    /// its bound. Of all such tolerances it is the one that allows least in sum over these elements, except
    /// that it is rounded up.
    pub fn covering<'a>(outputs: impl IntoIterator<Item = &'a Bounded>) -> Self {
        let mut points: Vec<Point> = outputs.into_iter().flat_map(points).collect();
        let mean = points.iter().map(|p| p.size / points.len() as f64).sum();
        points.sort_by(|p, q| p.size.total_cmp(&q.size).then(q.bound.total_cmp(&p.bound)));
        let found = line_above(&roof(&points), mean);
        let found = Self { relative: rounded_up(found.relative), absolute: rounded_up(found.absolute) };
        let covers = |p: &Point| found.absolute + found.relative * p.size >= p.bound;
        if points.iter().all(covers) {
            return found;
        }
        // Numbers so far apart that the line is lost in rounding.
        Self { relative: 0.0, absolute: rounded_up(points.iter().map(|p| p.bound).fold(0.0, f64::max)) }
    }

    /// Compares two tensors. NaN equals NaN, infinities must be the same; integers and `bool` are exact.
    pub fn compare(self, expected: &Tensor, actual: &Tensor) -> Result<(), (Symptom, String)> {
        if expected.ty() != actual.ty() {
            return Err((Symptom::WrongType, format!("is {} instead of {}", actual.ty(), expected.ty())));
        }
        if !expected.dtype().is_float() {
            let pairs = expected.to_i128s().into_iter().zip(actual.to_i128s());
            return match pairs.enumerate().find(|(_, (e, a))| e != a) {
                Some((i, (e, a))) => {
                    Err((Symptom::Mismatch(ErrorShape::Gross), format!("element {i} is {a} instead of {e}")))
                }
                None => Ok(()),
            };
        }
        let pairs = expected.to_f64s().into_iter().zip(actual.to_f64s());
        match pairs.enumerate().find(|(_, (e, a))| !self.close(*e, *a)) {
            Some((i, (e, a))) => Err((
                Symptom::Mismatch(ErrorShape::Gross),
                format!(
                    "element {i} is {a:?} instead of {e:?} (rtol {:e}, atol {:e})",
                    self.relative, self.absolute
                ),
            )),
            None => Ok(()),
        }
    }

    fn close(self, expected: f64, actual: f64) -> bool {
        if expected.is_nan() || actual.is_nan() {
            return expected.is_nan() && actual.is_nan();
        }
        // The first test also covers equal infinities, whose difference is NaN.
        expected == actual
            || (expected.is_finite()
                && (actual - expected).abs() <= self.absolute + self.relative * expected.abs())
    }
}

/// An element that a tolerance has to cover.
#[derive(Clone, Copy)]
struct Point {
    /// The magnitude of the expected value.
    size: f64,
    bound: f64,
}

/// The judged elements of a float output, and those of an integer one that may be one of several numbers. Infinities and NaN are
/// compared as such, and all other integers are exact, whatever their size.
fn points(output: &Bounded) -> Vec<Point> {
    let format = output.tensor.dtype().float();
    // No two numbers are closer, so a smaller bound allows nothing but the other zero.
    let least = format.map_or(0.0, |format| format.ulp(0.0));
    let values = output.tensor.to_f64s().into_iter().enumerate();
    let judged = values.filter(|(i, value)| value.is_finite() && output.error_at(*i).is_finite());
    let bound = |i| Some(output.error_at(i)).filter(|bound| *bound >= least).unwrap_or(0.0);
    let points = judged.map(|(i, value)| Point { size: value.abs(), bound: bound(i) });
    points.filter(|point| format.is_some() || point.bound > 0.0).collect()
}

fn slope(p: Point, q: Point) -> f64 {
    (q.bound - p.bound) / (q.size - p.size)
}

/// The corners of the least concave line above the origin and points in order of their size, as far as it rises.
fn roof(points: &[Point]) -> Vec<Point> {
    let mut corners = vec![Point { size: 0.0, bound: 0.0 }];
    for &next in points {
        if corners.last().is_some_and(|last| next.bound <= last.bound) {
            continue;
        }
        while let [.., before, last] = corners[..]
            && slope(before, next) >= slope(before, last)
        {
            corners.pop();
        }
        if corners.last().is_some_and(|last| last.size == next.size) {
            corners.pop();
        }
        corners.push(next);
    }
    corners
}

/// The line through the edge of the roof above a size; it lies above the whole roof.
fn line_above(roof: &[Point], size: f64) -> Tolerance {
    let edge = roof.windows(2).find(|edge| size < edge[1].size);
    match edge {
        Some(edge) => {
            let relative = slope(edge[0], edge[1]);
            Tolerance { relative, absolute: (edge[0].bound - relative * edge[0].size).max(0.0) }
        }
        None => Tolerance { relative: 0.0, absolute: roof.last().map_or(0.0, |top| top.bound) },
    }
}

/// A number of three digits, above the given one by 0.1 to 1.1 %: that much is for the rounding of whoever compares.
fn rounded_up(x: f64) -> f64 {
    format!("{:.2e}", x * 1.006).parse().unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::Type;

    /// A value and its bound; or a relative and an absolute tolerance.
    type Pair = (f64, f64);

    fn covering(dtype: DType, rows: &[Pair]) -> Tolerance {
        let ty = Type::new(dtype, [rows.len() as i64]);
        let tensor = Tensor::from_f64_fn(&ty, |i| rows[i].0);
        Tolerance::covering(&[Bounded::within(tensor, rows.iter().map(|r| r.1).collect())])
    }

    #[test]
    fn the_least_tolerance_covers_what_is_judged() {
        let near = |given: f64, wanted: f64| given >= wanted && given <= wanted * 1.012 + 1e-15;
        let rows: &[(&[Pair], Pair)] = &[
            (&[], (0.0, 0.0)),
            (&[(3.0, 0.0), (0.0, 0.0)], (0.0, 0.0)),
            (&[(2.0, 2e-6), (-4.0, 4e-6), (1.0, 1e-7)], (1e-6, 0.0)),
            (&[(0.0, 1e-7), (10.0, 1.1e-6), (5.0, 1e-9)], (1e-7, 1e-7)),
            // Where the small are off by more, no share of the value helps.
            (&[(1.0, 1e-3), (8.0, 1e-5)], (0.0, 1e-3)),
            (&[(f64::NAN, 0.0), (f64::INFINITY, 0.0), (1.0, f64::INFINITY), (1.0, 1e-6)], (0.0, 1e-6)),
            (&[(1e300, 1e290), (1e-300, 0.0)], (1e-10, 0.0)),
            // Of two lines that cover all, the lower at the mean of 1, 1 and 7.
            (&[(1.0, 1.0), (1.0, 0.0), (7.0, 4.0)], (0.5, 0.5)),
        ];
        for (elements, (relative, absolute)) in rows {
            let found = covering(DType::F64, elements);
            assert!(
                near(found.relative, *relative) && near(found.absolute, *absolute),
                "{elements:?}: {found:?}"
            );
        }
    }

    #[test]
    fn an_integer_that_may_be_one_of_several_is_covered_and_others_are_exact_whatever_their_size() {
        assert_eq!(
            covering(DType::I64, &[(1e18, 0.0), (7.0, 0.0)]),
            Tolerance { relative: 0.0, absolute: 0.0 }
        );
        let quantised = covering(DType::I64, &[(1e18, 0.0), (4.0, 1.0)]);
        assert!(quantised.absolute + quantised.relative * 4.0 >= 1.0, "{quantised:?}");
    }

    fn close(e: f64, a: f64) -> bool {
        let t = |v| Tensor::from_f64_fn(&Type::new(DType::F64, []), |_| v);
        Tolerance::ONNX.compare(&t(e), &t(a)).is_ok()
    }

    #[test]
    fn special_values_equal_only_themselves() {
        assert!(close(f64::NAN, f64::NAN) && close(f64::INFINITY, f64::INFINITY) && close(0.0, -0.0));
        assert!(!close(f64::NAN, 0.0) && !close(1.0, f64::NAN) && !close(f64::INFINITY, f64::NEG_INFINITY));
        assert!(!close(f64::INFINITY, 1e300) && !close(1e300, f64::INFINITY));
        assert!(close(1.0, 1.0009) && !close(1.0, 1.002));
    }

    #[test]
    fn the_two_tolerances_add_up_and_one_is_relative_to_what_is_expected() {
        assert!(close(1e-4, 1.0015e-4) && !close(1e-4, 1.0025e-4));
        assert!(!close(1.0, 1.001_001) && close(1.001_001, 1.0));
    }
}
