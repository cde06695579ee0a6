//! Steps of optimisers of ONNX's domain `ai.onnx.preview.training`, written out: Adagrad, Adam and Momentum.
//!
//! [Adagrad](https://onnx.ai/onnx/operators/onnx_aionnxpreviewtraining_Adagrad.html),
//! [Adam](https://onnx.ai/onnx/operators/onnx_aionnxpreviewtraining_Adam.html),
//! [Momentum](https://onnx.ai/onnx/operators/onnx_aionnxpreviewtraining_Momentum.html). Several tensors are updated by
//! one node, each for itself: the operands are those of all tensors, kind by kind, and so are the results. The pseudo
//! code of the text is what is written out, in the dtype of the tensors, which that of the learning rate must be.

use ir::{DType, Value};

use super::frame::Bound;
use super::given::GivenAttributes;
use super::terms::misshapen;
use super::translation::{SourceNode, Translation, bind, tensor};
use super::walk::Walk;
use crate::Error;

/// The domain.
pub(super) const DOMAIN: &str = "ai.onnx.preview.training";

/// What adds an operator of that name of the domain.
pub(super) fn translation(op_type: &str) -> Option<Translation> {
    match op_type {
        "Adagrad" => Some(adagrad),
        "Adam" => Some(adam),
        "Momentum" => Some(momentum),
        _ => None,
    }
}

/// What every step is told.
struct Step {
    rate: Value,
    /// Whether there was an update before.
    is_later: Value,
    /// How many there were, as a number of the dtype of the tensors.
    count: Value,
    dtype: DType,
}

/// The operands: the rate, the count of updates, and `N` tensors for each that is updated.
fn operands<const N: usize>(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
) -> Result<(Step, Vec<[Value; N]>), Error> {
    let node = source.node;
    let (rate, count) = (tensor(walk, node, 0)?, tensor(walk, node, 1)?);
    let dtype = walk.ty(rate).dtype;
    if !matches!(dtype, DType::F32 | DType::F64) || walk.ty(rate).count() != 1 {
        return Err(misshapen(0, &walk.ty(rate), "one number of f32 or f64"));
    }
    if walk.ty(count).dtype != DType::I64 || walk.ty(count).count() != 1 {
        return Err(misshapen(1, &walk.ty(count), "one number of i64"));
    }
    let given = node.inputs.len() - 2;
    if given == 0 || !given.is_multiple_of(N) {
        return Err(Error::invalid(
            "operands",
            format!("there are {given} tensors, and {N} belong together"),
        ));
    }
    let mut all = vec![[rate; N]; given / N];
    for (i, of) in all.iter_mut().enumerate() {
        for (kind, value) in of.iter_mut().enumerate() {
            let at = 2 + kind * (given / N) + i;
            *value = tensor(walk, node, at)?;
        }
        for (kind, &value) in of.iter().enumerate() {
            let (ty, first) = (walk.ty(value), walk.ty(of[0]));
            let at = 2 + kind * (given / N) + i;
            if ty != first {
                return Err(misshapen(at, &ty, &format!("like {first}")));
            }
            if ty.dtype != dtype {
                let why = format!(
                    "it is {ty}, and the rate is {dtype}: in which of both is computed, ONNX does not say"
                );
                return Err(Error::unsupported(format!("operand {at}"), why));
            }
        }
    }
    let (rate, count) = (walk.reshaped(rate, &[])?, walk.reshaped(count, &[])?);
    let none = walk.integers(DType::I64, &[], |_| 0)?;
    let is_later = walk.op("Greater", &[count, none])?;
    let count = walk.cast(count, dtype)?;
    Ok((Step { rate, is_later, count, dtype }, all))
}

/// a · x + b · y.
fn mixed(walk: &mut Walk<'_, '_>, [a, x]: [Value; 2], [b, y]: [Value; 2]) -> Result<Value, Error> {
    let (first, second) = (walk.op("Mul", &[a, x])?, walk.op("Mul", &[b, y])?);
    walk.op("Add", &[first, second])
}

/// x - rate · direction.
fn moved(walk: &mut Walk<'_, '_>, x: Value, rate: Value, direction: Value) -> Result<Value, Error> {
    let way = walk.op("Mul", &[rate, direction])?;
    walk.op("Sub", &[x, way])
}

impl Step {
    fn number(&self, walk: &mut Walk<'_, '_>, number: f32) -> Result<Value, Error> {
        walk.real(self.dtype, number.into())
    }

    /// One less a number.
    fn rest(&self, walk: &mut Walk<'_, '_>, number: Value) -> Result<Value, Error> {
        let one = self.number(walk, 1.0)?;
        walk.op("Sub", &[one, number])
    }

    /// The gradient, with that of the regularisation.
    fn gradient(&self, walk: &mut Walk<'_, '_>, norm: f32, x: Value, g: Value) -> Result<Value, Error> {
        if norm == 0.0 {
            return Ok(g);
        }
        let norm = self.number(walk, norm)?;
        let part = walk.op("Mul", &[norm, x])?;
        walk.op("Add", &[part, g])
    }

    /// x - rate · direction / (√size + ε).
    fn adapted(
        &self,
        walk: &mut Walk<'_, '_>,
        x: Value,
        [rate, direction, size]: [Value; 3],
        epsilon: f32,
    ) -> Result<Value, Error> {
        let (root, epsilon) = (walk.op("Sqrt", &[size])?, self.number(walk, epsilon)?);
        let divisor = walk.op("Add", &[root, epsilon])?;
        let way = walk.op("Mul", &[rate, direction])?;
        let way = walk.op("Div", &[way, divisor])?;
        walk.op("Sub", &[x, way])
    }
}

/// Lets the results stand for what each tensor became, kind by kind.
fn finish<const N: usize>(
    walk: &mut Walk<'_, '_>,
    source: &SourceNode<'_, '_>,
    results: &[[Value; N]],
) -> Result<(), Error> {
    let all = (0..N).flat_map(|kind| results.iter().map(move |of| Bound::Tensor(of[kind])));
    bind(walk, source.node, all.collect())
}

fn adagrad<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let [norm, decay] = ["norm_coefficient", "decay_factor"].map(|name| given.float(name).unwrap_or(0.0));
    let epsilon = given.float("epsilon").unwrap_or(1e-6);
    given.finish()?;
    let (step, all) = operands::<3>(walk, source)?;
    let mut rate = step.rate;
    if decay != 0.0 {
        let (decay, one) = (step.number(walk, decay)?, step.number(walk, 1.0)?);
        let decayed = walk.op("Mul", &[step.count, decay])?;
        let divisor = walk.op("Add", &[one, decayed])?;
        rate = walk.op("Div", &[rate, divisor])?;
    }
    let mut results = Vec::with_capacity(all.len());
    for [x, g, h] in all {
        let g = step.gradient(walk, norm, x, g)?;
        let square = walk.op("Mul", &[g, g])?;
        let h = walk.op("Add", &[h, square])?;
        results.push([step.adapted(walk, x, [rate, g, h], epsilon)?, h]);
    }
    finish(walk, source, &results)
}

fn adam<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let [norm, after] =
        ["norm_coefficient", "norm_coefficient_post"].map(|name| given.float(name).unwrap_or(0.0));
    let (alpha, beta) = (given.float("alpha").unwrap_or(0.9), given.float("beta").unwrap_or(0.999));
    let epsilon = given.float("epsilon").unwrap_or(1e-6);
    given.finish()?;
    let (step, all) = operands::<4>(walk, source)?;
    let (alpha, beta) = (step.number(walk, alpha)?, step.number(walk, beta)?);
    let (rest_of_alpha, rest_of_beta) = (step.rest(walk, alpha)?, step.rest(walk, beta)?);
    let power = walk.op("Pow", &[beta, step.count])?;
    let left = step.rest(walk, power)?;
    let root = walk.op("Sqrt", &[left])?;
    let product = walk.op("Mul", &[step.rate, root])?;
    let power = walk.op("Pow", &[alpha, step.count])?;
    let divisor = step.rest(walk, power)?;
    let adjusted = walk.op("Div", &[product, divisor])?;
    let rate = walk.op("Where", &[step.is_later, adjusted, step.rate])?;
    let mut results = Vec::with_capacity(all.len());
    for [x, g, v, h] in all {
        let g = step.gradient(walk, norm, x, g)?;
        let square = walk.op("Mul", &[g, g])?;
        let v = mixed(walk, [alpha, v], [rest_of_alpha, g])?;
        let h = mixed(walk, [beta, h], [rest_of_beta, square])?;
        let mut x = step.adapted(walk, x, [rate, v, h], epsilon)?;
        if after != 0.0 {
            let after = step.number(walk, after)?;
            let rest = step.rest(walk, after)?;
            x = walk.op("Mul", &[rest, x])?;
        }
        results.push([x, v, h]);
    }
    finish(walk, source, &results)
}

fn momentum<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let [alpha, beta, norm] = ["alpha", "beta", "norm_coefficient"].map(|name| {
        given.float(name).ok_or_else(|| Error::invalid(format!("attribute `{name}`"), "it must be there"))
    });
    let (alpha, beta, norm) = (alpha?, beta?, norm?);
    let mode = given.text("mode", "");
    given.finish()?;
    let is_ahead = match mode.as_str() {
        "nesterov" => true,
        "standard" => false,
        other => return Err(Error::invalid("attribute `mode`", format!("there is no mode `{other}`"))),
    };
    let (step, all) = operands::<3>(walk, source)?;
    let (alpha, beta, one) = (step.number(walk, alpha)?, step.number(walk, beta)?, step.number(walk, 1.0)?);
    let beta = walk.op("Where", &[step.is_later, beta, one])?;
    let mut results = Vec::with_capacity(all.len());
    for [x, g, v] in all {
        let g = step.gradient(walk, norm, x, g)?;
        let v = mixed(walk, [alpha, v], [beta, g])?;
        let mut direction = v;
        if is_ahead {
            let part = walk.op("Mul", &[alpha, v])?;
            direction = walk.op("Add", &[g, part])?;
        }
        results.push([moved(walk, x, step.rate, direction)?, v]);
    }
    finish(walk, source, &results)
}
