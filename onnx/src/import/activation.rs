//! Functions that one node applies to a sum of its own: the gates of recurrent networks, and what a runtime's optimiser
//! has fused.

use ir::{Attributes, Value};

use super::walk::Walk;
use crate::Error;

/// A function of one number.
pub(super) struct Activation {
    pub(super) name: &'static str,
    pub(super) is: Is,
    /// Whether it has a number alpha, and a beta.
    pub(super) takes: [bool; 2],
}

/// What a function is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Is {
    /// The operator of that name, whose defaults it has.
    Operator,
    /// That operator, `ThresholdedRelu`, which in a network is x at the threshold, too.
    Threshold,
    /// alpha·x + beta
    Affine,
    /// alpha·tanh(beta·x)
    ScaledTanh,
}

const fn row(name: &'static str, is: Is, takes: [bool; 2]) -> Activation {
    Activation { name, is, takes }
}

/// All of them. ONNX has no operators of the last two, whose defaults these could have.
const ALL: [Activation; 11] = [
    row("Relu", Is::Operator, [false, false]),
    row("Sigmoid", Is::Operator, [false, false]),
    row("Softplus", Is::Operator, [false, false]),
    row("Softsign", Is::Operator, [false, false]),
    row("Tanh", Is::Operator, [false, false]),
    row("Elu", Is::Operator, [true, false]),
    row("LeakyRelu", Is::Operator, [true, false]),
    row("ThresholdedRelu", Is::Threshold, [true, false]),
    row("HardSigmoid", Is::Operator, [true, true]),
    row("Affine", Is::Affine, [true, true]),
    row("ScaledTanh", Is::ScaledTanh, [true, true]),
];

/// The function of a name.
pub(super) fn find(is: impl Fn(&str) -> bool) -> Option<&'static Activation> {
    ALL.iter().find(|activation| is(activation.name))
}

/// A function with its numbers, of which those may be left out that have a default.
#[derive(Clone, Copy)]
pub(super) struct Function {
    pub(super) activation: &'static Activation,
    parameters: [Option<f32>; 2],
}

impl Activation {
    /// With an alpha and a beta, each the next of some numbers if the function has one.
    pub(super) fn with(&'static self, alpha: &mut Numbers<'_>, beta: &mut Numbers<'_>) -> Function {
        let [has_alpha, has_beta] = self.takes;
        let parameters =
            [if has_alpha { alpha.next() } else { None }, if has_beta { beta.next() } else { None }];
        Function { activation: self, parameters }
    }
}

/// Numbers that functions take one after the other.
pub(super) type Numbers<'a> = std::iter::Copied<std::slice::Iter<'a, f32>>;

impl Function {
    pub(super) fn apply(&self, walk: &mut Walk<'_, '_>, x: Value) -> Result<Value, Error> {
        match self.activation.is {
            Is::Operator | Is::Threshold => {
                let given = ["alpha", "beta"].into_iter().zip(self.parameters);
                let attributes = given.fold(Attributes::new(), |all, (name, number)| match number {
                    Some(number) => all.float(name, number),
                    None => all,
                });
                walk.op_with(self.activation.name, &attributes, &[x])
            }
            Is::Affine => {
                let [alpha, beta] = self.needed(walk, x)?;
                let scaled = walk.op("Mul", &[alpha, x])?;
                walk.op("Add", &[scaled, beta])
            }
            Is::ScaledTanh => {
                let [alpha, beta] = self.needed(walk, x)?;
                let scaled = walk.op("Mul", &[beta, x])?;
                let tanh = walk.op("Tanh", &[scaled])?;
                walk.op("Mul", &[alpha, tanh])
            }
        }
    }

    /// The function as the gates of a network have it. At the threshold of a ThresholdedRelu, which is x above it, that
    /// is x by the text of networks and 0 by the operator's own: either is right.
    pub(super) fn of_gate(&self, walk: &mut Walk<'_, '_>, x: Value) -> Result<Value, Error> {
        let y = self.apply(walk, x)?;
        if self.activation.is != Is::Threshold {
            return Ok(y);
        }
        let dtype = walk.ty(x).dtype;
        let [threshold, nothing] =
            [self.parameters[0].unwrap_or(1.0).into(), 0.0].map(|number| walk.real(dtype, number));
        let (threshold, nothing) = (threshold?, nothing?);
        let is_reached = walk.op("GreaterOrEqual", &[x, threshold])?;
        let by_text = walk.op("Where", &[is_reached, x, nothing])?;
        walk.either(by_text, y)
    }

    /// Both numbers, of a function without defaults.
    fn needed(&self, walk: &mut Walk<'_, '_>, like: Value) -> Result<[Value; 2], Error> {
        let [Some(alpha), Some(beta)] = self.parameters else {
            let why = format!("ONNX does not say what they are where {} has none", self.activation.name);
            return Err(Error::unsupported("attributes `activation_alpha` and `activation_beta`", why));
        };
        let dtype = walk.ty(like).dtype;
        Ok([walk.real(dtype, alpha.into())?, walk.real(dtype, beta.into())?])
    }
}
