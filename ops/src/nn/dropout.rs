//! `Dropout`: elements that are left out at random in training, and none at inference.

use crate::prelude::*;

attributes! {
    /// The elements themselves: none is left out unless a model is trained.
    ///
    /// `x: […], ratio, training_mode: scalars → y: as x, mask: the same, bool`
    ///
    /// In training a part of all elements, the ratio, is left out at random, and which of them is undefined here. With a ratio
    /// of 0 none is. The second output says which elements stay.
    ///
    /// ONNX: [Dropout](https://onnx.ai/onnx/operators/onnx__Dropout.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Dropout {
        /// Where the random numbers begin.
        pub seed: Option<i64>,
        /// How many outputs there are.
        pub outputs: i64 { 1..=2 } = 1,
    }
}

/// The 8-bit floats that it takes.
const FLOATS_OF_8: DTypes = DTypes::IR9.difference(DTypes::IR4);

const QUOTIENT: &str = "the text does not say what a quotient of 8-bit floats is";

impl Single for Dropout {
    const ROW: Row = Row::new("Dropout").with(&[spec::outputs("outputs")]).but(&[
        Deviation::DTypes { of: "T", without: FLOATS_OF_8, opsets: 22..=28, why: QUOTIENT },
        Deviation::DTypes { of: "T1", without: FLOATS_OF_8, opsets: 22..=28, why: QUOTIENT },
    ]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.any(0..=d.limits.max_rank)?;
        let has_mode = d.limits.dtypes.contains(DType::Bool) && d.chance(0.4);
        if d.chance(0.5) {
            d.any_pinned(0)?;
        } else if has_mode {
            d.absent();
        }
        if has_mode {
            d.pinned(DType::Bool, 0);
        }
        let outputs = if d.limits.dtypes.contains(DType::Bool) && d.chance(0.3) { 2 } else { 1 };
        let seed = if d.chance(0.2) { Some(d.int(0, 9)) } else { None };
        Some(Dropout { seed, outputs })
    }
}

impl<D: Dim> TypeRule<D> for Dropout {
    fn infer(&self, x: Args<'_, D>, _: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let y = x.need(0)?.clone();
        for operand in [1, 2] {
            x.opt(operand).map(|_| x.ranked(operand, 0..=0)).transpose()?;
        }
        let mask = (self.outputs == 2).then(|| y.with_dtype(DType::Bool));
        Ok(std::iter::once(y).chain(mask).collect())
    }
}

/// Whether elements are left out: 1, 0, or nothing that can be said.
fn leaves_out<A: Arith>(c: &Call<'_, A>) -> Option<i128> {
    let a = c.arith;
    let mode = c.opt_int(2).map_or(Some(0), |mode| mode.first().and_then(|&z| a.peek(z)))?;
    let ratio = c.opt_real(1).and_then(|ratio| ratio.first().copied()).unwrap_or_else(|| a.real(0.5));
    if mode == 0 {
        Some(0)
    } else {
        a.peek(a.compare(Comparison::Equal, ratio, a.real(0.0))).map(|none| 1 - none)
    }
}

impl Operator for Dropout {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        Facts { batch: Batch::meeting(x, &[]), ..Facts::moves(Reads::Elements, Some(0)) }
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        // A ratio is less than 1, and of what is left out nothing is defined.
        vec![
            Hazard::Outside { operand: 1, low: 0.0, high: 0.75 },
            Hazard::Outside { operand: 2, low: 0.0, high: 0.0 },
        ]
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, x) = (c.arith, c.real(0));
        let (y, mask) = match leaves_out(c) {
            Some(0) => (x.clone(), lanes::each(x, |_| a.int(1))),
            Some(_) => {
                (lanes::each(x, |x| a.unspecified(x)), lanes::each(x, |_| a.unspecified_int(a.int(1))))
            }
            None => (lanes::each(x, |_| a.unknown_real()), lanes::each(x, |_| a.unknown_int())),
        };
        let mask = (self.outputs == 2).then_some(Data::Int(mask));
        std::iter::once(Data::Real(y)).chain(mask).collect()
    }
}

#[cfg(test)]
tables! {
    nothing_is_left_out_at_inference_or_where_the_ratio_is_none: "
        x = f32[3] {1, -2, inf}; all = bool[3] {true, true, true}; half = f16[] {0.5}; none = f64[] {0}
        Dropout(x) {outputs = 2} = x, all
        Dropout(x, half) {outputs = 2} = x, all
        Dropout(x, _, bool[] {false}) {outputs = 2} = x, all
        Dropout(x, none, bool[] {true}) {outputs = 2} = x, all
    ";
}
