//! Activation functions with parameters, as ONNX float attributes.

use crate::prelude::*;

/// An element-by-element operator on floats whose attributes are all numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct Activation {
    /// Which function.
    pub function: ActivationFn,
    /// Its attributes' values, in the order of [`ActivationFn::attributes`].
    pub parameters: Vec<f32>,
}

/// Each row: documentation and name, attributes with their defaults, the function.
macro_rules! table {
    ($($(#[doc = $doc:literal])+ $name:ident: [$($attribute:ident = $default:expr),+],
       |$a:pat_param, $x:pat_param| $real:expr;)*) => {
        functions! {
            /// Which function.
            pub enum ActivationFn of "`x: any shape, floats → y: as x`"; {
                $($(#[doc = $doc])+ $name = stringify!($name),)*
            }
        }

        impl ActivationFn {
            /// The attributes' names and defaults.
            pub const fn attributes(self) -> &'static [(&'static str, f32)] {
                match self { $(Self::$name => &[$((stringify!($attribute), $default)),+],)* }
            }

            /// The function on a real number; a parameter that is not given has its default.
            pub fn real<A: Arith>(self, a: &A, parameters: &[f32], x: A::R) -> A::R {
                match self {
                    $(Self::$name => {
                        let mut given = parameters.iter();
                        $(let $attribute = a.real(f64::from(given.next().copied().unwrap_or($default)));)+
                        let ($a, $x) = (a, x);
                        $real
                    })*
                }
            }
        }
    };
}

table! {
    /// alpha·x where x is below 0, else x.
    LeakyRelu: [alpha = 0.01], |a, x| a.select(negative(a, x), a.mul(alpha, x), x);
    /// alpha·(eˣ - 1) where x is below 0, else x.
    Elu: [alpha = 1.0],
        |a, x| a.select(negative(a, x), a.mul(alpha, exp_minus_one(a, x)), x);
    /// gamma·x where x is above 0, else gamma·alpha·(eˣ - 1).
    Selu: [alpha = 1.673_263_2, gamma = 1.050_701],
        |a, x| {
            let expanded = || a.sub(a.mul(alpha, a.call(Fun::Exp, x)), alpha);
            let below = a.either(a.mul(alpha, exp_minus_one(a, x)), expanded);
            a.mul(gamma, a.select(a.compare(Comparison::Greater, x, a.real(0.0)), x, below))
        };
    /// max(0, x) + min(0, alpha·(exp(x/alpha) - 1)).
    Celu: [alpha = 1.0],
        |a, x| {
            let scaled = a.div(x, alpha);
            let curve = a.mul(alpha, exp_minus_one(a, scaled));
            let sum = a.add(a.max(a.real(0.0), x), a.min(a.real(0.0), curve));
            // The function's body is alpha·Elu(x/alpha), which rounds what is positive too, and for negative alpha is another
            // function than the formula of the text.
            a.either(sum, || a.select(negative(a, scaled), curve, a.mul(alpha, scaled)))
        };
    /// max(0, min(1, alpha·x + beta)).
    HardSigmoid: [alpha = 0.2, beta = 0.5],
        |a, x| a.max(a.real(0.0), a.min(a.real(1.0), a.add(a.mul(alpha, x), beta)));
    /// x where it is above alpha, else 0.
    ThresholdedRelu: [alpha = 1.0],
        |a, x| a.select(a.compare(Comparison::Greater, x, alpha), x, a.real(0.0));
    /// x/(1 + exp(-alpha·x)).
    Swish: [alpha = 1.0], |a, x| a.mul(x, a.call(Fun::Sigmoid, a.mul(alpha, x)));
}

fn negative<A: Arith>(a: &A, x: A::R) -> A::Z {
    a.compare(Comparison::Less, x, a.real(0.0))
}

/// eˣ - 1 by the function that does not cancel near 0, or as it is written.
fn exp_minus_one<A: Arith>(a: &A, x: A::R) -> A::R {
    a.either(a.call(Fun::Expm1, x), || a.sub(a.call(Fun::Exp, x), a.real(1.0)))
}

impl Declared for Activation {
    const ABOUT: About =
        About { text: "An element-by-element operator with parameters.", module: module_path!() };
    type Function = ActivationFn;
    type Over<D: Dim> = Activation;

    fn parse(function: ActivationFn, a: &Attributes) -> Result<Self, BadAttribute> {
        let all = function.attributes().iter();
        let parameters = all.map(|&(name, default)| a.get_float(name, default)).collect::<Result<_, _>>()?;
        Ok(Activation { function, parameters })
    }

    fn function(&self) -> ActivationFn {
        self.function
    }

    fn attributes(&self) -> Attributes {
        let names = self.function.attributes().iter().map(|(name, _)| name);
        names.zip(&self.parameters).fold(Attributes::new(), |all, (name, &value)| all.float(name, value))
    }
}

impl Family for Activation {
    const ROWS: &'static [(ActivationFn, Row)] = ROWS;

    fn draw<'a>(function: ActivationFn, d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.any(0..=d.limits.max_rank)?;
        let parameter = |&(_, default): &(&str, f32)| {
            if d.chance(0.5) { Some(default) } else { d.choose(&[-0.5, 0.1, 0.25, 1.0, 1.5, 2.0]) }
        };
        let parameters = function.attributes().iter().map(parameter).collect::<Option<_>>()?;
        Some(Activation { function, parameters })
    }
}

impl<D: Dim> TypeRule<D> for Activation {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (found, wanted) = (self.parameters.len(), self.function.attributes().len());
        if found != wanted {
            return Err(Reject::Length { name: "parameters", found, wanted });
        }
        Ok(vec![x.need(0)?.clone()])
    }
}

impl Operator for Activation {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let edges = vec![(0, Edge::Saturation), (0, Edge::NonFinite)];
        let linear = (self.function == ActivationFn::LeakyRelu).then_some(0);
        Facts::calculates(Cost::PerOutput(4), Batch::meeting(x, &[]), linear, edges)
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        vec![Data::Real(lanes::each(c.real(0), |x| self.function.real(c.arith, &self.parameters, x)))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{parse, run, tensor};
    use approx::abs_diff_eq;

    /// Values at -1, 0 and 2, in double precision from the formulas of the standard.
    #[test]
    fn values_follow_the_standard() {
        let x = tensor(DType::F64, &[3], &[-1., 0., 2.]);
        let below = (-1f64).exp() - 1.0;
        let (alpha, gamma) = (f64::from(1.673_263_2f32), f64::from(1.050_701f32));
        for (name, attributes, wanted) in [
            ("LeakyRelu", Attributes::new().float("alpha", 0.5), [-0.5, 0., 2.]),
            ("Elu", Attributes::new().float("alpha", 2.0), [2.0 * below, 0., 2.]),
            ("Selu", Attributes::new(), [gamma * alpha * below, 0., 2.0 * gamma]),
            ("HardSigmoid", Attributes::new().float("alpha", 0.5), [0., 0.5, 1.]),
            ("ThresholdedRelu", Attributes::new().float("alpha", 2.0), [0., 0., 0.]),
            ("Swish", Attributes::new(), [-1.0 / (1.0 + 1f64.exp()), 0., 2.0 / (1.0 + (-2f64).exp())]),
        ] {
            for (found, wanted) in run(parse::<Activation>(name, &attributes), &[&x]).into_iter().zip(wanted)
            {
                assert!(abs_diff_eq!(found, wanted, epsilon = 1e-15), "{name}: {found} instead of {wanted}");
            }
        }
    }

    #[test]
    fn the_value_near_zero_does_not_cancel() {
        let x = tensor(DType::F32, &[1], &[-1e-21]);
        let of = |name| run(parse::<Activation>(name, &Attributes::new()), &[&x])[0];
        assert_eq!((of("Elu"), of("Celu")), (f64::from(-1e-21f32), f64::from(-1e-21f32)));
        let slope = f64::from(1.673_263_2f32) * f64::from(1.050_701f32);
        assert!(abs_diff_eq!(of("Selu"), -1e-21 * slope, epsilon = 1e-27));
    }

    #[test]
    fn celu_has_its_slope_in_the_exponent() {
        let x = tensor(DType::F32, &[2], &[-1., 100.]);
        let celu = parse::<Activation>("Celu", &Attributes::new().float("alpha", 0.5));
        assert_eq!(run(celu, &[&x]), [f64::from((0.5 * ((-2f64).exp() - 1.0)) as f32), 100.]);
    }
}
