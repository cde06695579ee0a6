//! Gradients: reverse-mode differentiation of an operator's meaning, read in the system of [`trace`](crate::trace).
//!
//! Value search asks in which direction an operand must move. So where a derivative vanishes or does not exist,
//! a proxy stands in for it: 1 for the step functions, a small slope for the losing side of a minimum or maximum,
//! 1 for a function outside of its domain (towards which all of these rise).

use std::cell::RefCell;

use ops::arith::Fun;

use crate::trace::Traced;

/// The slope of the side of a minimum or maximum that was not taken.
pub(crate) const LEAK: f64 = 0.1;

/// The record of a calculation.
#[derive(Debug)]
pub struct Tape {
    steps: RefCell<Steps>,
    limit: usize,
}

/// For each place the end of its edges; an edge is an earlier place and the derivative by it.
#[derive(Default, Debug)]
struct Steps {
    ends: Vec<usize>,
    edges: Vec<(u32, f64)>,
}

impl Tape {
    /// An empty tape that records up to so many edges; later results are constants to it.
    pub fn new(limit: usize) -> Self {
        Self { steps: RefCell::default(), limit }
    }

    /// A number that gradients are wanted for.
    pub fn leaf(&self, value: f64) -> Traced<f64> {
        self.record(value, std::iter::empty())
    }

    /// The result of a step, with the derivatives by its operands.
    pub(crate) fn record(&self, value: f64, edges: impl Iterator<Item = (Traced<f64>, f64)>) -> Traced<f64> {
        let steps = &mut *self.steps.borrow_mut();
        if steps.edges.len() > self.limit {
            return Traced::constant(value);
        }
        let useful = |d: &f64| d.is_finite() && *d != 0.0;
        steps.edges.extend(edges.filter_map(|(x, d)| Some((x.place.filter(|_| useful(&d))?, d))));
        steps.ends.push(steps.edges.len());
        Traced { value, place: Some(steps.ends.len() as u32 - 1) }
    }

    /// The derivatives of Σ seed·number by every place.
    pub fn gradient(&self, seeds: &[(Traced<f64>, f64)]) -> Gradient {
        let steps = self.steps.borrow();
        let mut by = vec![0.0; steps.ends.len()];
        for (x, seed) in seeds {
            if let Some(place) = x.place {
                by[place as usize] += seed;
            }
        }
        for place in (0..by.len()).rev() {
            let first = if place == 0 { 0 } else { steps.ends[place - 1] };
            for &(from, derivative) in &steps.edges[first..steps.ends[place]] {
                by[from as usize] += by[place] * derivative;
            }
        }
        Gradient(by)
    }
}

/// Derivatives by the places of a tape.
#[derive(Debug)]
pub struct Gradient(Vec<f64>);

impl Gradient {
    /// The derivative by a number; 0 where it went out of range.
    pub fn by(&self, x: Traced<f64>) -> f64 {
        x.place.map_or(0.0, |p| self.0[p as usize]).clamp(-1e30, 1e30)
    }
}

/// The derivative of a function, with proxies.
pub(crate) fn derivative(f: Fun, x: f64) -> f64 {
    let value = f.value(x);
    let exact = match f {
        Fun::Sqrt => 0.5 / value,
        Fun::Exp => value,
        Fun::Expm1 => value + 1.0,
        Fun::Log => x.recip(),
        Fun::Log1p => (1.0 + x).recip(),
        Fun::Sin => libm::cos(x),
        Fun::Cos => -libm::sin(x),
        Fun::Tan => 1.0 + value * value,
        Fun::Asin => libm::sqrt(1.0 - x * x).recip(),
        Fun::Acos => -libm::sqrt(1.0 - x * x).recip(),
        Fun::Atan => (1.0 + x * x).recip(),
        Fun::Sinh => libm::cosh(x),
        Fun::Cosh => libm::sinh(x),
        Fun::Tanh => 1.0 - value * value,
        Fun::Asinh => libm::sqrt(x * x + 1.0).recip(),
        Fun::Acosh => libm::sqrt(x * x - 1.0).recip(),
        Fun::Atanh => (1.0 - x * x).recip(),
        Fun::Erf => std::f64::consts::FRAC_2_SQRT_PI * libm::exp(-x * x),
        Fun::Erfc => -std::f64::consts::FRAC_2_SQRT_PI * libm::exp(-x * x),
        Fun::Sigmoid => value * (1.0 - value),
        Fun::Softplus => Fun::Sigmoid.value(x),
    };
    if exact.is_finite() && value.is_finite() { exact } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use approx::{abs_diff_eq, assert_abs_diff_eq};

    use ir::DType;
    use ops::Arith;

    use super::*;
    use crate::trace::Tracing;

    #[test]
    fn gradients_agree_with_differences() {
        let f = |a: &Tracing<'_>, x: Traced<f64>, y: Traced<f64>| {
            let t = a.call(Fun::Tanh, a.mul(x, y));
            a.dot([(t, x), (a.call(Fun::Exp, y), a.div(x, y)), (a.pow(x, y), a.sub(x, y))].into_iter())
        };
        let tape = Tape::new(1000);
        let a = Tracing::slopes(&tape, DType::F64);
        let (x, y) = (tape.leaf(1.25), tape.leaf(0.75));
        let gradient = tape.gradient(&[(f(&a, x, y), 1.0)]);
        let value = |x: f64, y: f64| f(&a, a.real(x), a.real(y)).value;
        let h = 1e-6;
        let by_x = (value(1.25 + h, 0.75) - value(1.25 - h, 0.75)) / (2.0 * h);
        let by_y = (value(1.25, 0.75 + h) - value(1.25, 0.75 - h)) / (2.0 * h);
        assert_abs_diff_eq!(gradient.by(x), by_x, epsilon = 1e-6);
        assert_abs_diff_eq!(gradient.by(y), by_y, epsilon = 1e-6);
    }

    #[test]
    fn every_function_has_its_derivative() {
        let all = [
            (Fun::Sqrt, 2.0),
            (Fun::Log, 2.0),
            (Fun::Expm1, 0.3),
            (Fun::Log1p, 0.3),
            (Fun::Tan, 0.3),
            (Fun::Asin, 0.3),
            (Fun::Acos, 0.3),
            (Fun::Atan, 0.3),
            (Fun::Sinh, 0.3),
            (Fun::Cosh, 0.3),
            (Fun::Asinh, 0.3),
            (Fun::Acosh, 1.3),
            (Fun::Atanh, 0.3),
            (Fun::Erf, 0.3),
            (Fun::Erfc, 0.3),
            (Fun::Sigmoid, 0.3),
            (Fun::Softplus, 0.3),
            (Fun::Sin, 0.3),
            (Fun::Cos, 0.3),
        ];
        for (f, x) in all {
            let difference = (f.value(x + 1e-6) - f.value(x - 1e-6)) / 2e-6;
            assert!(abs_diff_eq!(derivative(f, x), difference, epsilon = 1e-6), "{f:?}");
        }
        assert_eq!(derivative(Fun::Sqrt, -1.0), 1.0);
    }

    #[test]
    fn a_full_tape_stops_recording() {
        let tape = Tape::new(2);
        let a = Tracing::slopes(&tape, DType::F32);
        let x = tape.leaf(1.0);
        let y = (0..5).fold(x, |y, _| a.add(y, x));
        assert_eq!((y.value, y.place), (6.0, None));
    }
}
