//! Concat: one launch per part, all into the same result.

use ir::Type;
use ops::movement::Concat;

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::record::{GpuTensor, Launch};
use crate::wgpu::wgsl::{Body, Shader, body, params};

params! {
    /// Where a part lies in the result, both seen as rows that contain the axis and all behind it.
    struct Part {
        /// The length of a row of the part.
        own: u32,
        /// The length of a row of the result.
        row: u32,
        /// Where the part begins in it.
        start: u32,
    }
}

const BODY: Body<Part> = body!(Part, "concat.wgsl");

impl Kernel for Concat {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let parts = c.all()?;
        let axis = c.axis(self.axis, c.output()?.rank())?;
        let first = parts.first().ok_or_else(|| c.refuse("no operand"))?;
        let mut shape = first.shape().to_vec();
        if axis >= shape.len() || !parts.iter().all(|part| join(first, part, axis)) {
            let shapes: Vec<_> = parts.iter().map(|t| t.shape()).collect();
            return Err(c.refuse(format!("{shapes:?} do not join at axis {axis}")));
        }
        shape[axis] = parts.iter().map(|t| t.shape()[axis]).sum();
        let output = c.gpu.alloc(first.dtype(), &shape)?;
        let shader = Shader::mover(c.name, BODY, first.dtype());
        let inner: usize = shape[axis + 1..].iter().product();
        let row = shape[axis] * inner;
        let mut start = 0;
        for part in parts {
            let own = part.shape()[axis] * inner;
            let place = Part { own: own as u32, row: row as u32, start: start as u32 };
            c.gpu.launch(&Launch { count: part.len(), ..Launch::new(&shader, &[part], place, &output) })?;
            start += own;
        }
        one(Ok(output))
    }
}

/// Whether two tensors have one dtype and differ in the size of the axis at most.
fn join(a: &GpuTensor, b: &GpuTensor, axis: usize) -> bool {
    let alike = |(at, (x, y)): (usize, (&usize, &usize))| at == axis || x == y;
    a.dtype() == b.dtype() && a.rank() == b.rank() && a.shape().iter().zip(b.shape()).enumerate().all(alike)
}
