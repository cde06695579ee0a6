//! Compress: how many slices stay, is known from the operator; where each goes, is counted.

use ir::{DType, Type};
use ops::movement::Compress;

use super::ranks::ranks;
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::record::Launch;
use crate::wgpu::wgsl::{Body, Element, Shader, body, params};

params! {
    /// From `[outer, size, inner]` to `[outer, count_of_slices, inner]`.
    struct Picking {
        inner: u32,
        size: u32,
        /// How many slices the condition tells of; those behind do not stay.
        conditions: u32,
        count_of_slices: u32,
    }
}

const BODY: Body<Picking> = body!(Picking, "compress.wgsl");

impl Kernel for Compress {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (x, condition) = (c.get(0)?, c.get(1)?);
        let (size, inner) = match self.axis {
            Some(axis) => {
                let axis = c.axis(axis, x.rank())?;
                (x.shape()[axis], x.shape()[axis + 1..].iter().product::<usize>())
            }
            None => (x.len(), 1),
        };
        if condition.dtype() != DType::Bool || condition.rank() != 1 || condition.len() > size {
            return Err(c.refuse(format!("the condition {} is none of {size} slices", condition.ty())));
        }
        let output = c.gpu.alloc(x.dtype(), &c.output()?.extents())?;
        if output.is_empty() {
            return one(Ok(output));
        }
        let ranks = ranks(c, condition)?;
        let shader = Shader::mover(c.name, BODY, x.dtype())
            .reads("condition", Element::Low(DType::Bool))
            .reads("ranks", Element::Low(DType::U32));
        let params = Picking {
            inner: inner as u32,
            size: size as u32,
            conditions: condition.len() as u32,
            count_of_slices: self.count.max(0) as u32,
        };
        let inputs = [x, condition, &ranks];
        c.gpu.launch(&Launch { count: x.len(), ..Launch::new(&shader, &inputs, params, &output) })?;
        one(Ok(output))
    }
}
