//! Functions of two elements whose result has the operands' dtype, with multidirectional broadcasting.

use crate::prelude::*;

attributes! {
    /// An element-by-element operator on two operands, without attributes.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Binary(BinaryFn);
}

/// Each row: documentation and name, the function on reals, the function on integers (`None` where undefined), whether
/// it commutes, and its edges.
macro_rules! table {
    ($($(#[doc = $doc:literal])+ $name:ident: |$a:pat_param, $x:pat_param, $y:pat_param| $real:expr,
       |$p:pat_param, $q:pat_param| $int:expr, $order:ident, [$($edge:expr),*];)*) => {
        functions! {
            /// Which function.
            pub enum BinaryFn of "`a, b: shapes that broadcast → y: the common shape`"; {
                $($(#[doc = $doc])+ $name = stringify!($name),)*
            }
        }

        impl BinaryFn {
            /// The function on real numbers.
            pub fn real<A: Arith>(self, a: &A, x: A::R, y: A::R) -> A::R {
                match self { $(Self::$name => { let ($a, $x, $y) = (a, x, y); $real })* }
            }

            /// The function on integers; the result is wrapped to the dtype by the caller.
            pub fn int(self, x: i128, y: i128) -> Option<i128> {
                match self { $(Self::$name => { let ($p, $q) = (x, y); $int })* }
            }

            /// Whether the operands may be exchanged.
            pub const fn commutes(self) -> bool {
                match self { $(Self::$name => $order,)* }
            }

            /// Elements of the operands on which implementations part.
            const fn edges(self) -> &'static [(usize, Edge)] {
                match self { $(Self::$name => &[$($edge),*],)* }
            }
        }
    };
}

table! {
    /// a + b.
    ///
    /// Integers wrap.
    Add: |a, x, y| a.foldable(a.add(x, y), [x, y]), |p, q| Some(p.wrapping_add(q)), COMMUTES,
        [(0, Edge::Meets(1)), (0, Edge::Wide), (0, Edge::NonFinite), (0, Edge::Sums(1))];
    /// a - b.
    ///
    /// Integers wrap.
    Sub: |a, x, y| a.foldable(a.sub(x, y), [x, y]), |p, q| Some(p.wrapping_sub(q)), ORDERED,
        [(0, Edge::Meets(1)), (0, Edge::Wide), (0, Edge::NonFinite), (0, Edge::Sums(1))];
    /// a·b.
    ///
    /// Integers wrap.
    Mul: |a, x, y| a.mul(x, y), |p, q| Some(p.wrapping_mul(q)), COMMUTES,
        [(0, Edge::Wide), (0, Edge::NonFinite), (0, Edge::Products(1))];
    /// a/b.
    ///
    /// Integers are divided towards 0, as in C. By 0, and the least one by -1, is undefined.
    Div: |a, x, y| a.div(x, y), |p, q| p.checked_div(q), ORDERED,
        [(0, Edge::Wide), (0, Edge::NonFinite), (1, Edge::Poles)];
    /// Whether both are true.
    And: |_, x, _| x, |p, q| Some(p & q), COMMUTES, [];
    /// Whether either is true.
    Or: |_, x, _| x, |p, q| Some(p | q), COMMUTES, [];
    /// Whether one alone is true.
    Xor: |_, x, _| x, |p, q| Some(p ^ q), COMMUTES, [];
    /// The bits that both have.
    BitwiseAnd: |_, x, _| x, |p, q| Some(p & q), COMMUTES, [];
    /// The bits that either has.
    BitwiseOr: |_, x, _| x, |p, q| Some(p | q), COMMUTES, [];
    /// The bits that one alone has.
    BitwiseXor: |_, x, _| x, |p, q| Some(p ^ q), COMMUTES, [];
}

impl BinaryFn {
    /// The integer that decides the result alone, whatever the other operand is: it is the result.
    fn absorbing(self, dtype: DType) -> Option<i128> {
        match self {
            Self::And | Self::BitwiseAnd | Self::Mul => Some(0),
            Self::Or => Some(1),
            // All bits.
            Self::BitwiseOr => dtype.int_range().map(|(least, most)| if least < 0 { -1 } else { most }),
            Self::Add | Self::Sub | Self::Div | Self::Xor | Self::BitwiseXor => None,
        }
    }

    /// The function on integers of a dtype, of which one may decide what the other would leave open.
    fn whole<A: Arith>(self, a: &A, dtype: DType, x: A::Z, y: A::Z) -> A::Z {
        let absorbing = self.absorbing(dtype);
        let decides = |z: &A::Z| absorbing.is_some() && a.peek(*z) == absorbing;
        match [x, y].into_iter().find(decides) {
            Some(z) => a.exact([z], |[z]| Some(z)),
            None => a.exact([x, y], |[p, q]| self.int(p, q)),
        }
    }
}

const COMMUTES: bool = true;
const ORDERED: bool = false;

impl Family for Binary {
    const ROWS: &'static [(BinaryFn, Row)] = ROWS;

    fn draw<'a>(function: BinaryFn, d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let a = d.any(0..=d.limits.max_rank)?;
        d.broadcast_with(a.dtype, &a)?;
        Some(Binary(function))
    }
}

impl<D: Dim> TypeRule<D> for Binary {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![rule::broadcast(r, &[x.need(0)?, x.need(1)?])?])
    }
}

impl Operator for Binary {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        let edges = self.0.edges().to_vec();
        let linear = (self.0 == BinaryFn::Mul).then_some(0);
        Facts::calculates(Cost::PerOutput(1), Batch::Together, linear, edges)
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        match self.0 {
            BinaryFn::Div => {
                let ends = x[1].filter(|t| t.dtype.is_signed()).and_then(|t| t.dtype.int_range());
                // The smallest integer divided by -1 overflows.
                let overflows = |(least, _): (i128, i128)| Hazard::Meeting {
                    operand: 0,
                    value: least as f64,
                    other: 1,
                    met: -1.0,
                };
                ends.map(overflows).into_iter().chain([Hazard::Zero { operand: 1 }]).collect()
            }
            BinaryFn::Add
            | BinaryFn::Sub
            | BinaryFn::Mul
            | BinaryFn::And
            | BinaryFn::Or
            | BinaryFn::Xor
            | BinaryFn::BitwiseAnd
            | BinaryFn::BitwiseOr
            | BinaryFn::BitwiseXor => Vec::new(),
        }
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, dtype) = (c.arith, c.dtype(0));
        c.zip(|x, y| self.0.real(a, x, y), |x, y| self.0.whole(a, dtype, x, y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    tables! {
        integers_wrap_and_reals_round_once_at_the_store: "
            Add(i8[] {127}, i8[] {1}) = i8[] {-128}
            Div(f32[] {1}, f32[] {3}) = f32[] {1/3}
        ";
    }

    #[test]
    fn what_absorbs_is_the_result_whatever_the_other_operand_is() {
        for &(function, _) in ROWS {
            let is_logical = matches!(function, BinaryFn::And | BinaryFn::Or | BinaryFn::Xor);
            for dtype in if is_logical { &[DType::Bool][..] } else { &[DType::I8, DType::U8] } {
                let Some(absorbing) = function.absorbing(*dtype) else { continue };
                for other in dtype.int_range().map(|(least, most)| least..=most).into_iter().flatten() {
                    let both = [function.int(absorbing, other), function.int(other, absorbing)];
                    assert_eq!(both, [Some(absorbing); 2], "{function:?} {dtype} {other}");
                }
            }
        }
    }
}
