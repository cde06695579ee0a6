//! ArgMax and ArgMin, staged like the reductions, with positions in place of values. A NaN is found before any number.

use ir::{DType, Type};
use ops::reduction::{Arg, ArgFn};

use super::grouped::{Grouped, Stage, longest_chunk};
use crate::support::Support;
use crate::wgpu::device::{Gpu, GpuError};
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::record::{GpuTensor, Launch};
use crate::wgpu::wgsl::{Body, Element, Shader, body, params};

params! {
    /// One stage of a search.
    struct Search {
        stage: Stage,
        /// The length of the axis.
        extent: u32,
        /// Whether the largest element is sought, or the smallest.
        largest: u32,
        /// Whether the last of equals is, or the first.
        last: u32,
    }
}

const BODY: Body<Search> = body!(Search, "arg.wgsl", "chunk.wgsl");
const WIDEN: Body<()> = body!((), "arg_widen.wgsl");

impl Kernel for Arg {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let axis = c.axis(self.axis, x.rank())?;
        let found = c.gpu.positions(x, axis, self.function, self.select_last_index)?;
        let mut shape = found.shape().to_vec();
        if !self.keepdims {
            shape.remove(axis);
        }
        let output = c.gpu.alloc(DType::I64, &shape)?;
        let (low, wide) = (Element::Low(DType::U32), Element::Low(DType::I64));
        let shader = Shader::counter(c.name, WIDEN, wide).reads("positions", low);
        c.gpu.launch(&Launch::new(&shader, &[&found], (), &output))?;
        one(Ok(output))
    }
}

impl Gpu {
    /// Where along an axis the extreme is, as u32, with the axis kept as 1.
    pub(crate) fn positions(
        &self,
        x: &GpuTensor,
        axis: usize,
        f: ArgFn,
        select_last: bool,
    ) -> Result<GpuTensor, GpuError> {
        let name = match f {
            ArgFn::Max => "ArgMax",
            ArgFn::Min => "ArgMin",
        };
        let grouped = Grouped::new(self, name, x, &[axis])?;
        if grouped.n == 0 {
            return Err(GpuError::arguments(name, format!("axis {axis} of {:?} is empty", x.shape())));
        }
        let shader = Shader::new(name, BODY, x.dtype(), Element::Low(DType::U32))
            .reads("x", Element::Number(x.dtype()));
        // The first stage looks at elements, the later ones at the positions found so far.
        let first = || shader.clone().means("position", "own_position");
        let later =
            || shader.clone().reads("found", Element::Low(DType::U32)).means("position", "found_position");
        let (longest, extent) = (longest_chunk(self), grouped.n as u32);
        let (mut n, mut found): (usize, Option<GpuTensor>) = (grouped.n, None);
        loop {
            let chunks = n.div_ceil(longest);
            let output = self.alloc(DType::U32, &[grouped.outer, chunks, grouped.inner])?;
            let params = Search {
                stage: Stage::new(n, grouped.inner, chunks),
                extent,
                largest: (f == ArgFn::Max).into(),
                last: select_last.into(),
            };
            let x = &grouped.tensor;
            match &found {
                None => self.launch(&Launch::new(&first(), &[x], params, &output)),
                Some(found) => self.launch(&Launch::new(&later(), &[x, found], params, &output)),
            }?;
            if chunks == 1 {
                return output.reshape(&grouped.kept);
            }
            (n, found) = (chunks, Some(output));
        }
    }
}
