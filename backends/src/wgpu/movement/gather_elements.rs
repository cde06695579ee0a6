//! GatherElements: element `[.., k, ..]` of the result is element `[.., indices[.., k, ..], ..]` of `x`.

use ir::Type;
use ops::movement::GatherElements;

use super::gather::index;
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::record::{Launch, View, view_params};
use crate::wgpu::wgsl::{Body, Shader, body, params};

params! {
    /// The axis of `x` that indices point into.
    struct Axis {
        extent: u32,
        stride: u32,
    }
}

const BODY: Body<Axis> = body!(Axis, "gather_elements.wgsl", "index.wgsl");

impl Kernel for GatherElements {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (x, indices) = (c.get(0)?, c.get(1)?);
        let axis = c.axis(self.axis, x.rank())?;
        let fits = indices.rank() == x.rank()
            && (0..x.rank()).all(|a| a == axis || indices.shape()[a] <= x.shape()[a])
            && (indices.is_empty() || x.shape()[axis] > 0);
        if !fits {
            let why = format!("indices {:?} into {:?} along axis {axis}", indices.shape(), x.shape());
            return Err(c.refuse(why));
        }
        let output = c.gpu.alloc(x.dtype(), indices.shape())?;
        // The index alone says where along the axis to read.
        let mut view = View::whole(x);
        let stride = std::mem::replace(&mut view.strides[axis], 0) as u32;
        let views = view_params(indices.shape(), &[view]);
        let shader =
            Shader::mover(c.name, BODY, x.dtype()).reads("indices", index(c, indices.dtype())?).views(1);
        let axis = Axis { extent: x.shape()[axis] as u32, stride };
        c.gpu.launch(&Launch { views, ..Launch::new(&shader, &[x, indices], axis, &output) })?;
        one(Ok(output))
    }
}
