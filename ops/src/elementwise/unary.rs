//! Functions of one element whose result has the operand's dtype.

use ir::format::FloatFormat;
use std::f64::consts::PI;

use crate::prelude::*;

attributes! {
    /// An element-by-element operator without attributes.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Unary(UnaryFn);
}

/// Each row: documentation and name, the function on reals, the function on integers, its domain, whether it is linear, and its
/// edges. A row whose dtypes exclude one of the two kinds has the identity there, which no validated graph reaches.
macro_rules! table {
    ($($(#[doc = $doc:literal])+ $name:ident: |$a:pat_param, $x:pat_param| $real:expr, |$z:pat_param| $int:expr,
       $domain:ident, $linear:ident, [$($edge:ident),*];)*) => {
        functions! {
            /// Which function.
            pub enum UnaryFn of "`x: any shape → y: as x`"; {
                $($(#[doc = $doc])+ $name = stringify!($name),)*
            }
        }

        impl UnaryFn {
            /// The function on a real number.
            pub fn real<A: Arith>(self, a: &A, x: A::R) -> A::R {
                match self { $(Self::$name => { let ($a, $x) = (a, x); $real })* }
            }

            /// The function on an integer; the result is wrapped to the dtype by the caller.
            pub fn int(self, z: i128) -> i128 {
                match self { $(Self::$name => { let $z = z; $int })* }
            }

            /// Where the function is defined and does not overflow.
            const fn domain(self) -> Domain {
                match self { $(Self::$name => Domain::$domain,)* }
            }

            /// Whether twice the element gives twice the result, and so for every power of two.
            const fn is_linear(self) -> bool {
                match self { $(Self::$name => $linear,)* }
            }

            /// Elements on which implementations part.
            const fn edges(self) -> &'static [Edge] {
                match self { $(Self::$name => &[$(Edge::$edge),*],)* }
            }
        }
    };
}

table! {
    /// x itself.
    Identity: |_, x| x, |z| z, Everywhere, LINEAR, [NonFinite, Limits];
    /// |x|.
    ///
    /// The least integer stays, as its absolute value does not fit.
    Abs: |a, x| a.abs(x), |z| z.abs(), Everywhere, LINEAR, [NonFinite, Limits];
    /// -x.
    ///
    /// The least integer stays, as its negative does not fit.
    Neg: |a, x| a.neg(x), |z| -z, Everywhere, LINEAR, [NonFinite, Limits];
    /// -1, 0 or 1: the sign of x.
    ///
    /// Of -0 it is a 0 of either sign.
    Sign: |a, x| sign(a, x), |z| z.signum(), Everywhere, CURVED, [NonFinite, Limits];
    /// The largest integer that is not above x.
    Floor: |a, x| a.step(Step::Floor, x), |z| z, Everywhere, CURVED, [NonFinite];
    /// The least integer that is not below x.
    Ceil: |a, x| a.step(Step::Ceil, x), |z| z, Everywhere, CURVED, [NonFinite];
    /// x rounded to an integer, ties to even.
    Round: |a, x| a.step(Step::Round, x), |z| z, Everywhere, CURVED, [NonFinite];
    /// max(x, 0).
    ///
    /// NaN stays.
    Relu: |a, x| a.max(x, a.real(0.0)), |z| z.max(0), Everywhere, LINEAR, [NonFinite, Limits];
    /// 1/x.
    ///
    /// Of 0 it is infinite.
    Reciprocal: |a, x| a.div(a.real(1.0), x), |z| z, ButZero, CURVED, [Poles];
    /// √x.
    ///
    /// Of negative numbers it is NaN.
    Sqrt: |a, x| a.call(Fun::Sqrt, x), |z| z, FromZero, CURVED, [NonFinite, Poles];
    /// eˣ.
    Exp: |a, x| a.call(Fun::Exp, x), |z| z, Exponents, CURVED, [NonFinite, Poles];
    /// ln x.
    ///
    /// Of 0 it is -∞, and of negative numbers NaN.
    Log: |a, x| a.call(Fun::Log, x), |z| z, Normal, CURVED, [Poles];
    /// The sine of x, in radians.
    Sin: |a, x| a.call(Fun::Sin, x), |z| z, Angles, CURVED, [];
    /// The cosine of x, in radians.
    Cos: |a, x| a.call(Fun::Cos, x), |z| z, Angles, CURVED, [];
    /// The tangent of x, in radians.
    Tan: |a, x| a.call(Fun::Tan, x), |z| z, Angles, CURVED, [];
    /// The arc sine of x, in radians.
    ///
    /// Beyond -1 and 1 it is NaN.
    Asin: |a, x| a.call(Fun::Asin, x), |z| z, Unit, CURVED, [Poles];
    /// The arc cosine of x, in radians.
    ///
    /// Beyond -1 and 1 it is NaN.
    Acos: |a, x| a.call(Fun::Acos, x), |z| z, Unit, CURVED, [Poles];
    /// The arc tangent of x, in radians.
    Atan: |a, x| a.call(Fun::Atan, x), |z| z, Everywhere, CURVED, [Saturation];
    /// The hyperbolic sine, (eˣ - e⁻ˣ)/2.
    Sinh: |a, x| a.call(Fun::Sinh, x), |z| z, Hyperbolic, CURVED, [Poles];
    /// The hyperbolic cosine, (eˣ + e⁻ˣ)/2.
    Cosh: |a, x| a.call(Fun::Cosh, x), |z| z, Hyperbolic, CURVED, [Poles];
    /// The hyperbolic tangent, (eˣ - e⁻ˣ)/(eˣ + e⁻ˣ).
    Tanh: |a, x| a.call(Fun::Tanh, x), |z| z, Quotient, CURVED, [Saturation];
    /// The inverse of the hyperbolic sine, ln(x + √(x² + 1)).
    Asinh: |a, x| a.call(Fun::Asinh, x), |z| z, Everywhere, CURVED, [Saturation];
    /// The inverse of the hyperbolic cosine, ln(x + √(x² - 1)).
    ///
    /// Below 1 it is NaN.
    Acosh: |a, x| a.call(Fun::Acosh, x), |z| z, FromOne, CURVED, [Poles];
    /// The inverse of the hyperbolic tangent, ln((1 + x)/(1 - x))/2.
    ///
    /// At -1 and 1 it is infinite, and beyond NaN.
    Atanh: |a, x| a.call(Fun::Atanh, x), |z| z, WithinUnit, CURVED, [Poles];
    /// The error function, 2/√π·∫₀ˣ exp(-t²) dt.
    Erf: |a, x| a.call(Fun::Erf, x), |z| z, Everywhere, CURVED, [Saturation];
    /// 1/(1 + e⁻ˣ).
    Sigmoid: |a, x| a.call(Fun::Sigmoid, x), |z| z, Everywhere, CURVED, [Saturation];
    /// ln(1 + eˣ).
    Softplus: |a, x| a.call(Fun::Softplus, x), |z| z, Everywhere, CURVED, [Saturation];
    /// x·tanh(ln(1 + eˣ)).
    Mish: |a, x| a.mul(x, a.call(Fun::Tanh, a.call(Fun::Softplus, x))), |z| z, Everywhere, CURVED, [Saturation];
    /// x/(1 + |x|).
    Softsign: |a, x| a.div(x, a.add(a.real(1.0), a.abs(x))), |z| z, Everywhere, CURVED, [Saturation];
    /// x·max(0, min(1, x/6 + 1/2)).
    ///
    /// Or x·max(0, min(6, x + 3))/6: many implementations have the factor last.
    HardSwish: |a, x| hard_swish(a, x), |z| z, Everywhere, CURVED, [Saturation];
    /// Whether x is false.
    Not: |_, x| x, |z| i128::from(z == 0), Everywhere, CURVED, [];
    /// The bits of x, each the other way round.
    BitwiseNot: |_, x| x, |z| !z, Everywhere, CURVED, [];
}

const LINEAR: bool = true;
const CURVED: bool = false;

/// Where a function is defined and does not overflow.
#[derive(Clone, Copy)]
enum Domain {
    Everywhere,
    /// Everywhere, but WGSL says nothing of angles beyond half a turn.
    Angles,
    /// Everywhere, but as a quotient of exponentials, as WGSL has it, it is one of infinities far out.
    Quotient,
    ButZero,
    FromZero,
    /// Positive, and no denormal.
    Normal,
    /// Up to the largest exponent of e.
    Exponents,
    /// Up to it, and down to its negative.
    Hyperbolic,
    Unit,
    WithinUnit,
    FromOne,
}

impl Domain {
    /// The hazard outside of the domain, in a float format.
    fn hazard(self, format: FloatFormat) -> Option<Hazard> {
        let (most, exponent) = (format.max_finite(), libm::log(format.max_finite()));
        let inner = 1.0 - format.epsilon();
        let (low, high) = match self {
            Self::Everywhere => return None,
            Self::Angles => return Some(Hazard::Far { operand: 0, low: -PI, high: PI }),
            Self::Quotient => {
                return Some(Hazard::Far { operand: 0, low: -exponent, high: exponent });
            }
            Self::ButZero => return Some(Hazard::Zero { operand: 0 }),
            Self::FromZero => (0.0, most),
            Self::Normal => (format.min_normal(), most),
            Self::Exponents => (-most, exponent),
            Self::Hyperbolic => (-exponent, exponent),
            Self::Unit => (-1.0, 1.0),
            Self::WithinUnit => (-inner, inner),
            Self::FromOne => (1.0, most),
        };
        Some(Hazard::Outside { operand: 0, low, high })
    }
}

/// "If input == 0, output 0": -0 itself, or +0, as a comparison with 0 gives it.
fn sign<A: Arith>(a: &A, x: A::R) -> A::R {
    a.either(a.step(Step::Sign, x), || a.step(Step::Sign, a.add(x, a.real(0.0))))
}

/// HardSigmoid with the constants HardSwish uses: clamp(x/6 + 1/2, 0, 1). As a sum of products it covers both
/// x·(1/6) + 1/2, as ONNX has it, and (x + 3)/6, as many implementations do. No float is 1/6, so that is a step too.
fn hard_sigmoid<A: Arith>(a: &A, x: A::R, sixth: A::R) -> A::R {
    let line = a.dot([(sixth, x), (a.real(0.5), a.real(1.0))].into_iter());
    a.max(a.real(0.0), a.min(a.real(1.0), line))
}

/// x·clamp(x + 3, 0, 6)/6, as many implementations have it, or x·HardSigmoid(x), as ONNX does: there a rounded sixth makes
/// something of -3. In ONNX's function body it is an attribute, and so rounded to f32 even where x is f64.
fn hard_swish<A: Arith>(a: &A, x: A::R) -> A::R {
    let six = a.real(6.0);
    let factor = a.max(a.real(0.0), a.min(six, a.add(x, a.real(3.0))));
    let by_line =
        a.either(a.div(a.mul(x, factor), six), || a.mul(x, hard_sigmoid(a, x, a.div(a.real(1.0), six))));
    let by_either = a.either(by_line, || a.mul(x, hard_sigmoid(a, x, a.real(f64::from(1f32 / 6.0)))));
    // Whatever a sixth is rounded to.
    a.select(a.is(Class::PositiveInfinity, x), x, by_either)
}

impl Family for Unary {
    const ROWS: &'static [(UnaryFn, Row)] = ROWS;

    fn draw<'a>(function: UnaryFn, d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.any(0..=d.limits.max_rank).map(|_| Unary(function))
    }
}

impl<D: Dim> TypeRule<D> for Unary {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![x.need(0)?.clone()])
    }
}

impl Operator for Unary {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        Facts::calculates(
            if self.0 == UnaryFn::Identity { Cost::Moves } else { Cost::PerOutput(1) },
            Batch::meeting(x, &[]),
            self.0.is_linear().then_some(0),
            self.0.edges().iter().map(|&edge| (0, edge)).collect(),
        )
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        // Without an operand, as f32 has it.
        let dtype = x[0].map_or(DType::F32, |t| t.dtype);
        dtype.float().and_then(|format| self.0.domain().hazard(format)).into_iter().collect()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, dtype) = (c.arith, c.dtype(0));
        let int = |z| match self.0 {
            // Of an unsigned integer this is negative, but that is no overflow.
            UnaryFn::BitwiseNot => dtype.wrap(self.0.int(z)),
            _ => self.0.int(z),
        };
        c.each(|x| self.0.real(a, x), |z| a.exact([z], |[z]| Some(int(z))))
    }
}
