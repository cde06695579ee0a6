//! LRN: every element divided by a power of the squares of its neighbours among the channels.

use crate::prelude::*;

attributes! {
    /// Each element over a power of the squares at the same place of neighbouring channels.
    ///
    /// `x: [N, C, spatial…] → y: as x`
    ///
    /// x/(bias + alpha/size·Σx²)^beta, the sum over the channels from ⌊(size - 1)/2⌋ before to ⌈(size - 1)/2⌉ behind
    /// that there are.
    ///
    /// ONNX: [LRN](https://onnx.ai/onnx/operators/onnx__LRN.html).
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Lrn {
        /// How many neighbouring channels count, at least 1.
        pub size: i64,
        /// The weight of the squares.
        pub alpha: f32 = 1e-4,
        /// The exponent.
        pub beta: f32 = 0.75,
        /// Added to the squares.
        pub bias: f32 = 1.0,
    }
}

impl Single for Lrn {
    const ROW: Row = Row::new("LRN");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.any(3..=d.limits.max_rank)?;
        let (alpha, beta) = (d.choose(&[1e-4, 0.1, 1.0])?, d.choose(&[0.75, 0.5, 1.0])?);
        Some(Lrn { size: d.int(1, 6), alpha, beta, bias: d.choose(&[1.0, 2.0])? })
    }
}

impl<D: Dim> TypeRule<D> for Lrn {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        r.le(D::from(1), D::from(self.size))?;
        Ok(vec![x.ranked_from(0, 2)?.clone()])
    }
}

impl Operator for Lrn {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        // No more channels are summed up than there are.
        let channels = operator::operand(x, 0).map_or(0, |x| x.shape[1]);
        let each = (self.size.clamp(0, channels) as u64).saturating_mul(2).saturating_add(4);
        Facts::calculates(Cost::PerOutput(each), Batch::meeting(x, &[]), None, Vec::new())
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let a = c.arith;
        let weight = a.div(a.real(self.alpha.into()), a.real(self.size as f64));
        let (bias, beta) = (a.real(self.bias.into()), a.real(self.beta.into()));
        // ⌊(size - 1) / 2⌋ channels before and ⌈(size - 1) / 2⌉ after.
        let (before, after) = ((self.size as usize - 1) / 2, self.size as usize / 2);
        vec![Data::Real(lanes::map(c.real(0), &[1], |lane| {
            let norm = |channel: usize| {
                let region = channel.saturating_sub(before)..lane.len().min(channel + after + 1);
                let squares = a.dot(lane[region].iter().map(|&x| (x, x)));
                a.pow(a.add(bias, a.mul(weight, squares)), beta)
            };
            lane.iter().enumerate().map(|(channel, &x)| a.div(x, norm(channel))).collect()
        }))]
    }
}

#[cfg(test)]
tables! {
    an_even_size_reaches_further_ahead: "
        x = f64[1, 4, 1] {1, 2, 3, 4}
        LRN(x) {size = 1, alpha = 1.0, beta = 1.0, bias = 0.0} = f64[1, 4, 1] {1, 1/2, 1/3, 1/4}
        LRN(x) {size = 2, alpha = 2.0, beta = 1.0, bias = 0.0} = f64[1, 4, 1] {1/5, 2/13, 3/25, 4/16}
        LRN(x) {size = 3, alpha = 3.0, beta = 1.0, bias = 0.0} = f64[1, 4, 1] {1/5, 2/14, 3/29, 4/25}
        LRN(x) {size = 0, alpha = 0.0, beta = 1.0, bias = 0.0} is refused
        LRN(f64[1, 2] {1, 2}) {size = 1, alpha = 1.0, beta = 1.0, bias = 0.0} = f64[1, 2] {1, 1/2}
    ";
}

#[test]
fn a_size_beyond_the_channels_costs_what_the_channels_do() {
    let x = Type::new(DType::F32, [1, 3, 2, 2]);
    let cost = |size| Lrn { size, alpha: 1.0, beta: 1.0, bias: 1.0 }.facts(&[Some(&x)]).cost;
    assert_eq!([cost(3), cost(2_000_000_001)], [Cost::PerOutput(10); 2]);
    assert_eq!(cost(1), Cost::PerOutput(6));
}
