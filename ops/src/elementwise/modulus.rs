//! Mod: the remainder of a division, with the divisor's sign (Python's `%`) or the dividend's (C's `fmod`).

use ir::{BadAttribute, Dim, Sym, Type};

use crate::arith::Arith;
use crate::attributes::attributes;
use crate::data::{Call, Data};
use crate::draw::Draw;
use crate::elementwise::binary::zip;
use crate::family::Single;
use crate::operator::{Batch, Cost, Facts, Hazard, Operator, Reads, TypeRule};
use crate::rule::{Args, Reject, Rule, broadcast_shapes, same_dtype};
use crate::spec::Row;

attributes! {
    /// What a division leaves over.
    ///
    /// `a, b: shapes that broadcast → y: the common shape`
    ///
    /// With the sign of the divisor, as in Python; with `fmod`, that of the dividend, as in C. Dividing by 0 is
    /// undefined; the least integer by -1 leaves 0.
    ///
    /// ONNX: [Mod](https://onnx.ai/onnx/operators/onnx__Mod.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Mod {
        /// Whether the result has the dividend's sign instead of the divisor's; floats need it.
        pub fmod: bool = false,
    }
}

impl Single for Mod {
    const ROW: Row = Row::new("Mod");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let a = d.any(0..=d.limits.max_rank)?;
        if a.dtype.is_float() {
            // Where a quotient of 1 is rounded first, it is truncated to either side.
            d.apart();
        }
        d.broadcast_with(a.dtype, &a)?;
        // The text of the newest version keeps `fmod` to floats; one of ONNX's own tests has it on integers.
        Some(Mod { fmod: a.dtype.is_float() })
    }
}

impl Mod {
    /// The remainder of integers; `None` for a zero divisor, which ONNX leaves undefined.
    fn int(self, p: i128, q: i128) -> Option<i128> {
        let remainder = p.checked_rem(q)?;
        let wrong_sign = remainder != 0 && (remainder < 0) != (q < 0);
        Some(if wrong_sign && !self.fmod { remainder + q } else { remainder })
    }
}

impl<D: Dim> TypeRule<D> for Mod {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (a, b) = (x.need(0)?, x.need(1)?);
        let dtype = same_dtype(&[a, b])?;
        if dtype.is_float() && !self.fmod {
            return Err(BadAttribute::Value {
                name: "fmod".to_owned(),
                value: "0".to_owned(),
                wanted: format!("{dtype} operands need 1"),
            }
            .into());
        }
        Ok(vec![Type::new(dtype, broadcast_shapes(r, &[&a.shape, &b.shape])?)])
    }
}

impl Operator for Mod {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts {
            since: 13,
            reads: Reads::Elements,
            cost: Cost::PerOutput(1),
            batch: Batch::Together,
            linear: None,
            edges: Vec::new(),
        }
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        // The smallest integer modulo -1 is 0, although x86 division traps there: worth visiting, not a hazard.
        let mut hazards = vec![Hazard::Zero { operand: 1 }];
        if x.iter().flatten().any(|ty| ty.dtype.is_float()) {
            // A quotient that is whole is truncated to either side where it is rounded first, as WGSL has it.
            hazards.push(Hazard::Ties { operand: 1 });
        }
        hazards
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, shape) = (c.arith, c.extents(0));
        vec![if c.is_real() {
            Data::Real(zip(&shape, c.real(0), c.real(1), |x, y| a.fmod(x, y)))
        } else {
            Data::Int(zip(&shape, c.int(0), c.int(1), |x, y| a.exact([x, y], |[p, q]| self.int(p, q))))
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{outputs, run, tensor};
    use ir::DType;

    #[test]
    fn the_sign_is_the_divisors_or_the_dividends() {
        let x = tensor(DType::I32, &[6], &[-4., 7., 5., 4., -7., 8.]);
        let y = tensor(DType::I32, &[6], &[2., -3., 8., -2., 3., 5.]);
        assert_eq!(run(Mod { fmod: false }, &[&x, &y]), [0., -2., 5., 0., 2., 3.]);
        assert_eq!(run(Mod { fmod: true }, &[&x, &y]), [0., 1., 5., 0., -1., 3.]);
    }

    #[test]
    fn floats_need_fmod() {
        let [x, y] = [-4.3, 2.0].map(|v| tensor(DType::F64, &[], &[v]));
        assert!(matches!(outputs(Mod { fmod: false }, &[&x, &y]), Err(Reject::Attribute(_))));
        assert_eq!(run(Mod { fmod: true }, &[&x, &y]), [-4.3 + 4.0]);
    }
}
