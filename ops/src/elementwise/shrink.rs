//! Shrink: elements moved towards zero by a bias, those within a threshold set to zero.

use crate::prelude::*;

attributes! {
    /// x + bias below -lambd, x - bias above lambd, else 0.
    ///
    /// `x: any shape → y: as x`
    ///
    /// On integers the standard has two readings. Its function body casts both attributes to the dtype first; its formula
    /// compares and adds real numbers, and ONNX's reference casts what comes of that. The value is the body's, which
    /// says how. But the body negates the threshold, which no unsigned integer has, so where the readings part (a u8 of 3
    /// with a bias of 0.97 is 3 or 2) neither is demanded. With whole numbers, which are the only ones drawn, they do not.
    ///
    /// ONNX: [Shrink](https://onnx.ai/onnx/operators/onnx__Shrink.html).
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Shrink {
        /// How far elements move.
        pub bias: f32 = 0.0,
        /// The threshold.
        pub lambd: f32 = 0.5,
    }
}

impl Single for Shrink {
    const ROW: Row = Row::new("Shrink");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(0..=d.limits.max_rank)?;
        let shrink = if x.dtype.is_float() {
            let (bias, lambd) = (d.choose(&[0.0, 0.25, 1.5, -1.0])?, d.choose(&[0.5, 0.0, 0.1, 1.5])?);
            Shrink { bias, lambd }
        } else {
            // A bias within the threshold: an unsigned element cannot move beyond zero.
            let lambd = d.int(0, 3);
            Shrink { bias: d.int(0, lambd) as f32, lambd: lambd as f32 }
        };
        Some(shrink)
    }
}

impl Shrink {
    fn real<A: Arith>(self, a: &A, x: A::R) -> A::R {
        let (bias, lambd) = (a.real(f64::from(self.bias)), a.real(f64::from(self.lambd)));
        let above = a.select(a.compare(Comparison::Greater, x, lambd), a.sub(x, bias), a.real(0.0));
        a.select(a.compare(Comparison::Less, x, a.neg(lambd)), a.add(x, bias), above)
    }

    /// The result with attributes that are cast first.
    fn by_body(self, z: i128) -> i128 {
        let (bias, lambd) = (self.bias as i128, self.lambd as i128);
        if z < lambd.saturating_neg() {
            z.wrapping_add(bias)
        } else if z > lambd {
            z.wrapping_sub(bias)
        } else {
            0
        }
    }

    /// The result by the formula on real numbers, cast at the end.
    fn by_formula(self, z: i128) -> i128 {
        let (bias, lambd) = (f64::from(self.bias), f64::from(self.lambd));
        if z < (-lambd).ceil() as i128 {
            truncated_sum(z, bias)
        } else if z > lambd.floor() as i128 {
            truncated_sum(z, -bias)
        } else {
            0
        }
    }

    fn int<A: Arith>(self, a: &A, z: A::Z) -> A::Z {
        let y = a.exact([z], |[z]| Some(self.by_body(z)));
        match a.peek(z) {
            Some(z) if self.by_formula(z) != self.by_body(z) => a.unspecified_int(y),
            Some(_) | None => y,
        }
    }
}

/// z + x, cut off towards 0.
fn truncated_sum(z: i128, x: f64) -> i128 {
    let (sum, rest) = (z.wrapping_add(x.trunc() as i128), x.fract());
    if sum > 0 && rest < 0.0 {
        sum - 1
    } else if sum < 0 && rest > 0.0 {
        sum + 1
    } else {
        sum
    }
}

impl<D: Dim> TypeRule<D> for Shrink {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        Ok(vec![x.need(0)?.clone()])
    }
}

impl Operator for Shrink {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        Facts::calculates(Cost::PerOutput(3), Batch::meeting(x, &[]), None, Vec::new())
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        c.each(|x| self.real(c.arith, x), |z| self.int(c.arith, z))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    tables! {
        hard_and_soft: "
            x = f32[5] {-2, -1, 0, 1, 2}
            Shrink(x) {bias = 0.0, lambd = 1.5} = f32[5] {-2, 0, 0, 0, 2}
            Shrink(x) {bias = 1.5, lambd = 1.5} = f32[5] {-0.5, 0, 0, 0, 0.5}
            Shrink(i8[5] {-2, -1, 0, 1, 2}) {bias = 1.0, lambd = 1.0} = i8[5] {-1, 0, 0, 0, 1}
        ";
    }

    /// z, its result with attributes that are cast first and by the formula.
    #[test]
    fn readings_on_integers_part_for_fractions_alone() {
        let fraction = Shrink { bias: 0.97, lambd: 0.5 };
        let whole = Shrink { bias: 1.0, lambd: 2.0 };
        for (shrink, z, body, formula) in [
            (fraction, 3, 3, 2),
            (fraction, -3, -3, -2),
            (fraction, 1, 1, 0),
            (fraction, 0, 0, 0),
            (Shrink { lambd: -0.5, ..whole }, 0, 0, 1),
            (Shrink { bias: -0.5, ..whole }, 3, 3, 3),
            (whole, 2, 0, 0),
            (whole, 3, 2, 2),
            (whole, -3, -2, -2),
        ] {
            assert_eq!((shrink.by_body(z), shrink.by_formula(z)), (body, formula), "{shrink:?} {z}");
        }
    }
}
