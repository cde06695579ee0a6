//! `BatchNormalization`: every channel standardised, by the statistics given or in training by its own.

use ndarray::Axis;

use crate::nn::normalize::{Standard, draw_epsilon, edges, standardize};
use crate::prelude::*;

attributes! {
    /// Every channel standardised by statistics that are given, as at inference, or in training by its own.
    ///
    /// `x: [N, C, …] or [N], scale, bias, mean, variance: [C] → y: as x, in training running_mean, running_variance: [C]`
    ///
    /// (x - mean)/√(variance + ε)·scale + bias. `[N]` is one channel. Scale and bias may have a dtype of their own, and
    /// so may the statistics. The root of a negative variance is undefined. In training the statistics that are given
    /// move towards those of the operand, which are computed in f32 at least.
    ///
    /// ONNX: [BatchNormalization](https://onnx.ai/onnx/operators/onnx__BatchNormalization.html).
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct BatchNorm {
        /// Added to the variance.
        pub epsilon: f32 = 1e-5,
        /// How slowly running statistics change in training; without effect otherwise.
        pub momentum: f32 = 0.9,
        /// Whether the operand's own statistics are taken.
        pub training_mode: bool = false,
    }
}

impl Single for BatchNorm {
    const ROW: Row = Row::new("BatchNormalization");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(1..=d.limits.max_rank)?;
        let channels = [Some(channels(&x))];
        // The three groups of operands came to have dtypes of their own: the statistics in 14, the others in 15.
        let mut dtype = |since: u32| {
            let allowed = d.allowed();
            if d.limits.opset >= since && d.chance(0.1) { d.dtype(allowed) } else { Some(x.dtype) }
        };
        let (parameters, statistics) = (dtype(15)?, dtype(14)?);
        for dtype in [parameters, parameters, statistics, statistics] {
            d.matching(dtype, &channels)?;
        }
        let momentum = d.choose(&[0.9, 0.99, 0.5])?;
        let epsilon = draw_epsilon(d);
        // Few engines train, and before 14 the outputs alone said so.
        let training_mode = d.limits.opset >= 14 && d.chance(0.15);
        Some(BatchNorm { epsilon, momentum, training_mode })
    }
}

fn channels<D: Dim>(x: &Type<D>) -> D {
    x.shape.get(1).copied().unwrap_or_else(|| D::from(1))
}

impl<D: Dim> TypeRule<D> for BatchNorm {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let data = x.ranked_from(0, 1)?;
        for operand in 1..=4 {
            r.eq(x.ranked(operand, 1..=1)?.shape[0], channels(data))?;
        }
        rule::same_dtype(&[x.need(1)?, x.need(2)?])?;
        rule::same_dtype(&[x.need(3)?, x.need(4)?])?;
        if !self.training_mode {
            return Ok(vec![data.clone()]);
        }
        // The statistics of nothing would go on as those of the past.
        let others = data.shape[..1].iter().chain(data.shape.get(2..).unwrap_or_default());
        others.into_iter().try_for_each(|&size| r.le(D::from(1), size))?;
        Ok(vec![data.clone(), x.need(3)?.clone(), x.need(4)?.clone()])
    }
}

/// What the operand's own statistics are computed in.
fn stage(x: DType) -> DType {
    if x == DType::F64 { DType::F64 } else { DType::F32 }
}

impl BatchNorm {
    /// What becomes of a channel in training, each element with the factors that ONNX's formula has, and its new statistics.
    fn trained<A: Arith>(self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let x = c.real(0);
        let [scale, bias, mean, variance] = [1, 2, 3, 4].map(|i| c.real(i));
        let (a, stage, kept) = (c.arith, c.arith.within(stage(c.dtype(0))), c.arith.within(c.dtype(3)));
        let (momentum, one) = (kept.real(self.momentum.into()), kept.real(1.0));
        let rest = kept.sub(one, momentum);
        let moved =
            |before: A::R, now: A::R| kept.dot([(before, momentum), (kept.round(now), rest)].into_iter());
        let mut all = Vec::with_capacity(scale.len());
        let (mut means, mut variances) = (mean.clone(), variance.clone());
        for channel in 0..scale.len() {
            let lane: Vec<A::R> = match x.ndim() {
                1 => x.iter().copied().collect(),
                _ => x.index_axis(Axis(1), channel).iter().copied().collect(),
            };
            let Standard { mean, inverse, .. } = standardize(&stage, &lane, self.epsilon);
            means[[channel].as_slice()] = moved(means[[channel].as_slice()], mean);
            let spread = stage.variance(&lane, mean);
            variances[[channel].as_slice()] = moved(variances[[channel].as_slice()], spread);
            all.push((mean, inverse));
        }
        let y = lanes::build(x.shape(), |at| {
            let channel = at.get(1).copied().unwrap_or(0);
            let (mean, inverse) = all[channel];
            let (scale, bias) = (scale[[channel].as_slice()], bias[[channel].as_slice()]);
            let centred = a.sub(x[at], a.round(mean));
            let factors = [centred, scale, a.round(inverse)];
            a.or_folded(a.add(a.product(factors.into_iter()), bias), || {
                a.affine(x[at], a.round(mean), a.mul(a.round(inverse), scale), bias)
            })
        });
        [y, means, variances].map(Data::Real).into()
    }
}

impl Operator for BatchNorm {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let statistics = operator::dtype(x, 0).filter(|_| self.training_mode);
        Facts::calculates(
            Cost::PerOutput(if self.training_mode { 9 } else { 2 }),
            Batch::apart_if(operator::rank(x, 0) >= 1 && !self.training_mode),
            None,
            statistics.map_or_else(Vec::new, |dtype| edges(x, stage(dtype))),
        )
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        if self.training_mode {
            return Vec::new();
        }
        let most = operator::dtype(x, 4).and_then(DType::float);
        most.map(|f| Hazard::Outside { operand: 4, low: 0.0, high: f.max_finite() }).into_iter().collect()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        if self.training_mode {
            return self.trained(c);
        }
        let (a, x) = (c.arith, c.real(0));
        let [scale, bias, mean, variance] = [1, 2, 3, 4].map(|i| c.real(i));
        let root = |&v: &A::R| a.call(Fun::Sqrt, a.add(v, a.real(self.epsilon.into())));
        let roots: Vec<A::R> = variance.iter().map(root).collect();
        let slopes: Vec<A::R> = scale.iter().zip(&roots).map(|(&scale, &root)| a.div(scale, root)).collect();
        let inverses: Vec<A::R> = roots.iter().map(|&root| a.div(a.real(1.0), root)).collect();
        // One reading is one multiplication and one addition per element. The other subtracts the mean first and has
        // three factors in whatever order.
        vec![Data::Real(lanes::build(x.shape(), |at| {
            let (x, channel) = (x[at], at.get(1).copied().unwrap_or(0));
            let (mean, bias) = (mean[[channel].as_slice()], bias[[channel].as_slice()]);
            a.either(a.affine(x, mean, slopes[channel], bias), || {
                let centred = a.sub(x, mean);
                let factors = [centred, scale[[channel].as_slice()], inverses[channel]];
                a.add(a.product(factors.into_iter()), bias)
            })
        }))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{outputs, parse, tensor, values};

    tables! {
        channels_have_their_own_line: "
            x = f32[1, 2, 2] {1, 2, 3, 4}; scale = f32[2] {2, 3}; bias = f32[2] {0, 1}
            mean = f32[2] {1, 3}; variance = f32[2] {4, 0.25}
            BatchNormalization(x, scale, bias, mean, variance) {epsilon = 0.0} = f32[1, 2, 2] {0, 1, 1, 7}
        ";
        one_axis_is_one_channel_and_statistics_may_differ_in_dtype: "
            x = f16[3] {1, 2, 3}; one = f32[1] {1}; two = f64[1] {2}
            BatchNormalization(x, one, one, two, two) {epsilon = 2.0} = f16[3] {0.5, 1, 1.5}
            BatchNormalization(x, one, two, two, two) {epsilon = 2.0} is refused
        ";
    }

    #[test]
    fn in_training_a_channel_has_its_own_statistics_and_those_given_follow() {
        let x = tensor(DType::F32, &[2, 2, 1], &[1., 10., 5., 10.]);
        let parameter = |values: &[f64]| tensor(DType::F32, &[2], values);
        let (scale, bias) = (parameter(&[3., 1.]), parameter(&[1., 7.]));
        let (mean, variance) = (parameter(&[1., 0.]), parameter(&[0., 8.]));
        let given = Attributes::new().int("training_mode", 1).float("momentum", 0.5);
        let op = parse::<BatchNorm>("BatchNormalization", &given.float("epsilon", 0.25));
        let y = outputs(op, &[&x, &scale, &bias, &mean, &variance]).unwrap();
        // Mean 3 and variance 4, whose deviation with ε is √4.25; the other channel does not vary.
        let step = (6.0 / 4.25_f64.sqrt()) as f32;
        let found = values(&y[0]);
        assert!(
            (found[0] - f64::from(1.0 - step)).abs() < 1e-6
                && (found[2] - f64::from(1.0 + step)).abs() < 1e-6
        );
        assert_eq!([found[1], found[3]], [7., 7.]);
        assert_eq!((values(&y[1]), values(&y[2])), (vec![2., 5.], vec![2., 4.]));
        let nothing = tensor(DType::F32, &[0, 2, 1], &[]);
        assert!(outputs(op, &[&nothing, &scale, &bias, &mean, &variance]).is_err());
    }
}
