//! `MeanVarianceNormalization`: mean 0 and variance 1 along some axes.

use ir::graph::OPSETS;

use crate::prelude::*;

attributes! {
    /// Some axes standardised together by their own mean and variance.
    ///
    /// `x: [s…] → y: as x`
    ///
    /// (x - mean)/(√variance + 1e-9), where the variance is the mean of x² less the square of the mean. So ONNX's
    /// function body has it; the formula in its text has no such addend. With no axes named, all are taken, as the
    /// definition by `ReduceMean` has it.
    ///
    /// ONNX: [MeanVarianceNormalization](https://onnx.ai/onnx/operators/onnx__MeanVarianceNormalization.html).
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct MeanVariance {
        /// The axes that are taken together.
        pub axes: Vec<i64> = vec![0, 2, 3],
    }
}

/// What ONNX's definition adds to the standard deviation.
const EPSILON: f64 = 1e-9;

impl Single for MeanVariance {
    const ROW: Row = Row::new("MeanVarianceNormalization").but(&[Deviation::DTypes {
        of: "T",
        without: DTypes::of(&[DType::F16, DType::BF16, DType::F64]),
        opsets: OPSETS,
        why: "the function body adds an f32 constant to a deviation of X's dtype, so that it exists for f32 alone",
    }]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(1..=d.limits.max_rank)?;
        let usual = x.rank() == 4 && d.chance(0.5);
        // A list that is there and empty says what all axes say.
        Some(MeanVariance { axes: if usual { vec![0, 2, 3] } else { d.axes(x.rank(), 0) } })
    }
}

impl MeanVariance {
    fn indices(&self, rank: usize) -> Result<Vec<usize>, Reject> {
        if self.axes.is_empty() { Ok((0..rank).collect()) } else { rule::axes(&self.axes, rank) }
    }
}

/// The definition's E[X²] - E[X]²; what cancellation makes negative of a variance of 0 is 0.
fn as_written<A: Arith>(a: &A, lane: &[A::R], mean: A::R) -> A::R {
    let mean_square = a.div(a.dot(lane.iter().map(|&x| (x, x))), a.real(lane.len() as f64));
    a.max(a.sub(mean_square, a.mul(mean, mean)), a.real(0.0))
}

impl<D: Dim> TypeRule<D> for MeanVariance {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        self.indices(x.rank())?.into_iter().try_for_each(|a| r.seek_le(D::from(1), x.shape[a]))?;
        Ok(vec![x.clone()])
    }
}

impl Operator for MeanVariance {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let batch = Batch::meeting(x, &rule::accepted(self.indices(operator::rank(x, 0))));
        Facts::calculates(Cost::PerOutput(6), batch, None, vec![(0, Edge::Alike)])
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, x) = (c.arith, c.real(0));
        let axes = rule::accepted(self.indices(x.ndim()));
        vec![Data::Real(lanes::map(x, &axes, |lane| {
            let mean = a.mean(lane.iter().copied(), lane.len());
            let variance = a.either(a.variance(lane, mean), || as_written(a, lane, mean));
            let root = a.call(Fun::Sqrt, variance);
            // The formula in the standard's text has no such addend, its function body has.
            let deviation = a.or_folded(a.add(root, a.real(EPSILON)), || root);
            lane.iter().map(|&x| a.div(a.sub(x, mean), deviation)).collect()
        }))]
    }
}

#[cfg(test)]
tables! {
    the_value_far_from_zero_does_not_cancel: "
        // The mean is a third of the step of 2⁻¹¹ above, the variance 2/9 of its square.
        x = f32[3] {4096, 4096.00048828125, 4096}; y = f32[3] {-0.7071037091998936, 1.4142074183997873, -0.7071037091998936}
        MeanVarianceNormalization(x) {axes = [0]} ≈ y
    ";
    every_channel_by_default_and_all_axes_without_any: "
        x = f32[2, 2, 1, 1] {1, 0.1, 3, 0.1}
        MeanVarianceNormalization(x) = f32[2, 2, 1, 1] {-1, 0, 1, 0}
        // The mean is 1.05 and the variance 1.4025.
        y = f32[2, 2, 1, 1] {-0.05/√1.4025, -0.95/√1.4025, 1.95/√1.4025, -0.95/√1.4025}
        MeanVarianceNormalization(x) {axes = []} ≈ y
    ";
}
