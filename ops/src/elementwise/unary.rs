//! Functions of one element whose result has the operand's dtype.

use ir::{DType, DTypes, Dim, Type};

use crate::arith::{Arith, Fun, Step};
use crate::data::{Call, Data};
use crate::operator::{Edge, Hazard, Operator, TypeRule, elements};
use crate::rule::{Args, Reject, Rule};
use crate::spec::{Allowed, Spec, one};

/// An element-by-element operator without attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unary(pub UnaryFn);

/// f16, f32, f64 in every opset; bfloat16 joined in 22.
const FLOATS_22: Allowed = &[(13, DTypes::IEEE_FLOATS), (22, DTypes::FLOATS)];
const FLOATS: Allowed = &[(13, DTypes::FLOATS)];
const NUMERIC: Allowed = &[(13, DTypes::NUMERIC)];
const SIGNED: Allowed = &[(13, DTypes::SIGNED_INTS.union(DTypes::FLOATS))];
const RELU: Allowed = &[(13, DTypes::FLOATS), (14, DTypes::SIGNED_INTS.union(DTypes::FLOATS))];
const HARD_SWISH: Allowed = &[(14, DTypes::IEEE_FLOATS), (22, DTypes::FLOATS)];
const MISH: Allowed = &[(18, DTypes::IEEE_FLOATS), (22, DTypes::FLOATS)];

/// Each row: name, dtypes by opset, the function on reals, the function on integers. A row whose dtypes exclude
/// one of the two kinds has the identity there, which no validated graph reaches.
macro_rules! table {
    ($($name:ident: $types:expr, |$a:pat_param, $x:pat_param| $real:expr, |$z:pat_param| $int:expr;)*) => {
        /// Which function.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[allow(missing_docs, reason = "the names are ONNX's")]
        pub enum UnaryFn { $($name,)* }

        impl UnaryFn {
            /// Every function, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The function on a real number.
            pub fn real<A: Arith>(self, a: &A, x: A::R) -> A::R {
                match self { $(Self::$name => { let ($a, $x) = (a, x); $real })* }
            }

            /// The function on an integer; the result is wrapped to the dtype by the caller.
            pub fn int(self, z: i128) -> i128 {
                match self { $(Self::$name => { let $z = z; $int })* }
            }
        }

        /// The rows of the registry.
        pub static SPECS: &[Spec] = &[$(Spec {
            name: stringify!($name),
            inputs: &[one("X", $types)],
            outputs: &[$types],
            fields: &[],
            draw: |d| d.any(0..=d.limits.max_rank).map(|_| Unary(UnaryFn::$name).into()),
            parse: |_| Ok(Unary(UnaryFn::$name).into()),
        },)*];
    };
}

table! {
    Identity: &[(13, DTypes::IR4)], |_, x| x, |z| z;
    Abs: NUMERIC, |a, x| a.abs(x), |z| z.abs();
    Neg: SIGNED, |a, x| a.neg(x), |z| -z;
    Sign: NUMERIC, |a, x| a.step(Step::Sign, x), |z| z.signum();
    Floor: FLOATS, |a, x| a.step(Step::Floor, x), |z| z;
    Ceil: FLOATS, |a, x| a.step(Step::Ceil, x), |z| z;
    Round: FLOATS_22, |a, x| a.step(Step::Round, x), |z| z;
    Relu: RELU, |a, x| a.max(x, a.real(0.0)), |z| z.max(0);
    Reciprocal: FLOATS, |a, x| a.div(a.real(1.0), x), |z| z;
    Sqrt: FLOATS, |a, x| a.call(Fun::Sqrt, x), |z| z;
    Exp: FLOATS, |a, x| a.call(Fun::Exp, x), |z| z;
    Log: FLOATS, |a, x| a.call(Fun::Log, x), |z| z;
    Sin: FLOATS_22, |a, x| a.call(Fun::Sin, x), |z| z;
    Cos: FLOATS_22, |a, x| a.call(Fun::Cos, x), |z| z;
    Tan: FLOATS_22, |a, x| a.call(Fun::Tan, x), |z| z;
    Asin: FLOATS_22, |a, x| a.call(Fun::Asin, x), |z| z;
    Acos: FLOATS_22, |a, x| a.call(Fun::Acos, x), |z| z;
    Atan: FLOATS_22, |a, x| a.call(Fun::Atan, x), |z| z;
    Sinh: FLOATS_22, |a, x| a.call(Fun::Sinh, x), |z| z;
    Cosh: FLOATS_22, |a, x| a.call(Fun::Cosh, x), |z| z;
    Tanh: FLOATS, |a, x| a.call(Fun::Tanh, x), |z| z;
    Asinh: FLOATS_22, |a, x| a.call(Fun::Asinh, x), |z| z;
    Acosh: FLOATS_22, |a, x| a.call(Fun::Acosh, x), |z| z;
    Atanh: FLOATS_22, |a, x| a.call(Fun::Atanh, x), |z| z;
    Erf: NUMERIC_ERF, |a, x| a.call(Fun::Erf, x), |z| z;
    Sigmoid: FLOATS, |a, x| a.call(Fun::Sigmoid, x), |z| z;
    Softplus: FLOATS_22, |a, x| a.call(Fun::Softplus, x), |z| z;
    // x·tanh(ln(1 + eˣ))
    Mish: MISH, |a, x| a.mul(x, a.call(Fun::Tanh, a.call(Fun::Softplus, x))), |z| z;
    Softsign: FLOATS_22, |a, x| a.div(x, a.add(a.real(1.0), a.abs(x))), |z| z;
    HardSwish: HARD_SWISH, |a, x| hard_swish(a, x), |z| z;
    Not: &[(13, DTypes::BOOL)], |_, x| x, |z| i128::from(z == 0);
    BitwiseNot: &[(18, DTypes::INTS)], |_, x| x, |z| !z;
}

/// ONNX also allows Erf on integers; no document says what it rounds to, so only the floats are taken.
const NUMERIC_ERF: Allowed = FLOATS;

/// HardSigmoid with the constants HardSwish uses: clamp(x/6 + 1/2, 0, 1). As a sum of products it covers both
/// x·(1/6) + 1/2, as ONNX has it, and (x + 3)/6, as many implementations do. No float is 1/6, so that is a step too.
fn hard_sigmoid<A: Arith>(a: &A, x: A::R) -> A::R {
    let sixth = a.div(a.real(1.0), a.real(6.0));
    let line = a.dot([(sixth, x), (a.real(0.5), a.real(1.0))].into_iter());
    a.max(a.real(0.0), a.min(a.real(1.0), line))
}

/// x·HardSigmoid(x), or x·clamp(x + 3, 0, 6)/6: many implementations have the factor 6 last.
fn hard_swish<A: Arith>(a: &A, x: A::R) -> A::R {
    a.either(a.mul(x, hard_sigmoid(a, x)), || {
        let six = a.real(6.0);
        let factor = a.max(a.real(0.0), a.min(six, a.add(x, a.real(3.0))));
        a.div(a.mul(x, factor), six)
    })
}

impl<D: Dim> TypeRule<D> for Unary {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![x.need(0)?.clone()])
    }
}

impl Operator for Unary {
    fn spec(&self) -> &'static Spec {
        &SPECS[self.0 as usize]
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let dtype = c.dtype(0);
        let int = |z| match self.0 {
            // Of an unsigned integer this is negative, but that is no overflow.
            UnaryFn::BitwiseNot => dtype.wrap(self.0.int(z)),
            _ => self.0.int(z),
        };
        vec![match c.data(0) {
            Data::Real(x) => Data::Real(x.mapv(|x| self.0.real(c.arith, x))),
            Data::Int(x) => Data::Int(x.mapv(|x| c.arith.exact([x], |[z]| Some(int(z))))),
        }]
    }

    fn flops(&self, _: &[Option<&Type>], y: &[Type]) -> u64 {
        if self.0 == UnaryFn::Identity { 0 } else { elements(&y[0]) }
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let dtype = x[0].map_or(DType::F32, |t| t.dtype);
        let Some(format) = dtype.float() else { return Vec::new() };
        let (max, tiny) = (format.max_finite(), format.min_normal());
        let range = |low, high| vec![Hazard::Outside { operand: 0, low, high }];
        match self.0 {
            UnaryFn::Reciprocal => vec![Hazard::Zero { operand: 0 }],
            UnaryFn::Sqrt => range(0.0, max),
            UnaryFn::Log => range(tiny, max),
            UnaryFn::Exp => range(-max, libm::log(max)),
            UnaryFn::Sinh | UnaryFn::Cosh => range(-libm::log(max), libm::log(max)),
            UnaryFn::Asin | UnaryFn::Acos => range(-1.0, 1.0),
            UnaryFn::Acosh => range(1.0, max),
            UnaryFn::Atanh => range(-1.0 + format.epsilon(), 1.0 - format.epsilon()),
            _ => Vec::new(),
        }
    }

    fn edges(&self, x: &[Option<&Type>]) -> Vec<(usize, Edge)> {
        use UnaryFn as F;
        if !x[0].is_some_and(|t| t.dtype.is_float()) {
            return Vec::new();
        }
        let edges: &[Edge] = match self.0 {
            F::Identity | F::Abs | F::Neg | F::Relu | F::Sign => &[Edge::NonFinite, Edge::Limits],
            F::Sqrt | F::Exp | F::Floor | F::Ceil | F::Round => &[Edge::NonFinite],
            F::Tanh
            | F::Erf
            | F::Sigmoid
            | F::Softplus
            | F::Mish
            | F::Softsign
            | F::HardSwish
            | F::Atan
            | F::Asinh => &[Edge::Saturation],
            _ => &[],
        };
        edges.iter().map(|&edge| (0, edge)).collect()
    }
}
