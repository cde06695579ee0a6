//! AveragePool, with padding left out or counted as zeros.

use ir::{DType, Type};
use ops::nn::AveragePool;

use super::window::{Geometry, Window, pool, slides, three};
use crate::support::Support;
use crate::wgpu::device::GpuError;
use crate::wgpu::kernel::{Call, Kernel, Outputs, floats, one};
use crate::wgpu::record::GpuTensor;
use crate::wgpu::wgsl::{Body, Element, Shader, body, params};

params! {
    struct Average {
        window: Geometry,
        channels: u32,
        /// Padding after the last element of each axis.
        pads_end: [u32; 3],
    }
}

const BODY: Body<Average> = body!(Average, "average_pool.wgsl", "window.wgsl");

impl Kernel for AveragePool {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        floats(x.dtype).and(|| slides(x))
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let window = Window::new(&self.pool.window, &self.pool.kernel_shape, x, c.output()?);
        one(average(c, x, &window, self.count_include_pad))
    }
}

/// The mean of each window; padding counts as zeros if `padded`.
pub(super) fn average(
    c: &Call<'_>,
    x: &GpuTensor,
    window: &Window,
    padded: bool,
) -> Result<GpuTensor, GpuError> {
    window.check(c, x)?;
    let params = Average {
        window: window.geometry(&x.shape()[2..]),
        channels: x.shape()[1] as u32,
        pads_end: three(&window.pads_end, 0),
    };
    pool(c, &shader(x.dtype(), padded), x, window, params, x.dtype())
}

fn shader(dtype: DType, padded: bool) -> Shader<Average> {
    let number = Element::Number(dtype);
    let divisor = if padded { "with_padding" } else { "without_padding" };
    Shader::new("AveragePool", BODY, dtype, number).reads("x", number).means("divisor", divisor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wgpu::Functions;

    #[test]
    fn the_kernel_reads_well() {
        insta::assert_snapshot!(shader(DType::F16, true).parts().source(Functions::Own));
    }
}
