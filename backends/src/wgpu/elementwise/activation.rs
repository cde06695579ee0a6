//! Activations with parameters: the function of the same name in `activation.wgsl`.

use ir::{DType, Type};
use ops::elementwise::{Activation, ActivationFn};

use super::map::Map;
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, answer, one};
use crate::wgpu::wgsl::{Body, Class, body, params};

params! {
    /// A function's attributes in ONNX's order; few have two.
    struct Attributes {
        first: f32,
        second: f32,
    }
}

const BODY: Body<Attributes> = body!(Attributes, "activation.wgsl");

impl Kernel for Activation {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        answer(has(self.function, x.dtype), x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let needed = self.function.attributes().len();
        if self.parameters.len() < needed {
            return Err(c.refuse(format!("{} parameters given, {needed} are used", self.parameters.len())));
        }
        let at = |i: usize| self.parameters.get(i).copied().unwrap_or(0.0);
        let attributes = Attributes { first: at(0), second: at(1) };
        one(c.gpu.map(Map::with(c.name, BODY, c.name, x.dtype(), attributes), &[x]))
    }
}

fn has(f: ActivationFn, dtype: DType) -> bool {
    let class = Class::of(dtype);
    match f {
        ActivationFn::LeakyRelu | ActivationFn::ThresholdedRelu => class.is_real(),
        ActivationFn::Elu
        | ActivationFn::Selu
        | ActivationFn::Celu
        | ActivationFn::HardSigmoid
        | ActivationFn::Swish => class == Class::Float,
    }
}
