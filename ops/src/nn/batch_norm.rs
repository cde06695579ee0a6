//! `BatchNormalization`, as at inference: every channel standardised by the statistics given.

use ir::{Attributes, BadAttribute, Dim, Sym, Type};

use crate::arith::{Arith, Fun};
use crate::attributes::attributes;
use crate::data::{Call, Data};
use crate::draw::Draw;
use crate::family::Single;
use crate::lanes;
use crate::nn::normalize::draw_epsilon;
use crate::operator::{Batch, Cost, Facts, Hazard, Operator, Reads, TypeRule, rank};
use crate::rule::{Args, Reject, Rule, same_dtype};
use crate::spec::{Deviation, Row};

attributes! {
    /// Every channel standardised by statistics that are given, as at inference.
    ///
    /// `x: [N, C, …] or [N], scale, bias, mean, variance: [C] → y: as x`
    ///
    /// (x - mean)/√(variance + ε)·scale + bias. `[N]` is one channel. Scale and bias may have a dtype of their own, and
    /// so may the statistics. The root of a negative variance is undefined.
    ///
    /// ONNX: [BatchNormalization](https://onnx.ai/onnx/operators/onnx__BatchNormalization.html).
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct BatchNorm {
        /// Added to the variance.
        pub epsilon: f32 = 1e-5,
        /// How slowly running statistics change in training; without effect here.
        pub momentum: f32 = 0.9,
    }
    check Self::at_inference;
}

impl BatchNorm {
    fn at_inference(self, given: &Attributes) -> Result<Self, BadAttribute> {
        if given.get_flag("training_mode", false)? {
            let (name, value) = ("training_mode".to_owned(), "1".to_owned());
            return Err(BadAttribute::Unsupported { name, value });
        }
        Ok(self)
    }
}

impl Single for BatchNorm {
    const ROW: Row = Row::new("BatchNormalization").but(&[Deviation::Outputs {
        first: 1,
        why: "the others are of training, which this program does not do",
    }]);

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
        Some(BatchNorm { epsilon: draw_epsilon(d), momentum })
    }
}

fn channels<D: Dim>(x: &Type<D>) -> D {
    x.shape.get(1).copied().unwrap_or_else(|| D::from(1))
}

impl<D: Dim> TypeRule<D> for BatchNorm {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let data = x.ranked(0, 1..=usize::from(u8::MAX))?;
        for operand in 1..=4 {
            r.eq(x.ranked(operand, 1..=1)?.shape[0], channels(data))?;
        }
        same_dtype(&[x.need(1)?, x.need(2)?])?;
        same_dtype(&[x.need(3)?, x.need(4)?])?;
        Ok(vec![data.clone()])
    }
}

impl Operator for BatchNorm {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        Facts {
            since: 13,
            reads: Reads::Elements,
            cost: Cost::PerOutput(2),
            batch: Batch::apart_if(rank(x, 0) >= 1),
            linear: None,
            edges: Vec::new(),
        }
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let most = x.get(4).copied().flatten().and_then(|t| t.dtype.float());
        most.map(|f| Hazard::Outside { operand: 4, low: 0.0, high: f.max_finite() }).into_iter().collect()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let (a, x) = (c.arith, c.real(0));
        let [scale, bias, mean, variance] = [1, 2, 3, 4].map(|i| c.real(i));
        let root = |&v: &A::R| a.call(Fun::Sqrt, a.add(v, a.real(self.epsilon.into())));
        let roots: Vec<A::R> = variance.iter().map(root).collect();
        let slopes: Vec<A::R> = scale.iter().zip(&roots).map(|(&scale, &root)| a.div(scale, root)).collect();
        // Three products, so that the bound covers the folded form, one multiplication and one addition per element.
        // The other reading subtracts the mean first and has three factors in whatever order.
        vec![Data::Real(lanes::build(x.shape(), |at| {
            let channel = [at.get(1).copied().unwrap_or(0)];
            let slope = slopes[channel[0]];
            let terms = [(x[at], slope), (a.neg(mean[channel]), slope), (bias[channel], a.real(1.0))];
            a.either(a.dot(terms.into_iter()), || {
                let factors =
                    [a.sub(x[at], mean[channel]), scale[channel], a.div(a.real(1.0), roots[channel[0]])];
                a.add(a.product(factors.into_iter()), bias[channel])
            })
        }))]
    }
}

#[cfg(test)]
mod tests {
    use ir::DType;

    use super::*;
    use crate::testing::{outputs, parse, run, tensor};

    #[test]
    fn channels_have_their_own_line() {
        let x = tensor(DType::F32, &[1, 2, 2], &[1., 2., 3., 4.]);
        let parameter = |values: &[f64]| tensor(DType::F32, &[2], values);
        let (scale, bias) = (parameter(&[2., 3.]), parameter(&[0., 1.]));
        let (mean, variance) = (parameter(&[1., 3.]), parameter(&[4., 0.25]));
        let op = parse::<BatchNorm>("BatchNormalization", &Attributes::new().float("epsilon", 0.0));
        assert_eq!(run(op, &[&x, &scale, &bias, &mean, &variance]), [0., 1., 1., 7.]);
    }

    #[test]
    fn one_axis_is_one_channel_and_statistics_may_differ_in_dtype() {
        let x = tensor(DType::F16, &[3], &[1., 2., 3.]);
        let (one, two) = (tensor(DType::F32, &[1], &[1.]), tensor(DType::F64, &[1], &[2.]));
        let op = parse::<BatchNorm>("BatchNormalization", &Attributes::new().float("epsilon", 2.0));
        assert_eq!(run(op, &[&x, &one, &one, &two, &two]), [0.5, 1., 1.5]);
        assert!(outputs(op, &[&x, &one, &two, &two, &two]).is_err());
    }
}
