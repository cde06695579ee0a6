//! Dropout, as at inference: a copy, and a mask that says so.

use ir::{DType, Type};
use ops::nn::Dropout;

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, floats};
use crate::wgpu::record::View;

impl Kernel for Dropout {
    fn support(&self, x: &Type, operands: &[Option<&Type>]) -> Support {
        match operands.get(2).copied().flatten() {
            Some(_) => Support::No("whether a model is trained is in the device's memory"),
            None => floats(x.dtype),
        }
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let mut outputs = vec![x.clone()];
        if self.outputs == 2 {
            let stays = c.gpu.scalar(DType::Bool, 1)?;
            let view = View::broadcast(c.name, &stays, x.shape())?;
            outputs.push(c.gpu.copy_view(c.name, &view, x.shape())?);
        }
        Ok(outputs)
    }
}
