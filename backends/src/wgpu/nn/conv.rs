//! Conv: `x` is `[n, c, …]`, `w` is `[m, c / groups, …]`, the bias is `[m]`. One invocation computes one element, or a
//! workgroup a square of maps by positions. Many channels are cut into launches that add to the result, because drivers
//! bound the loops of an invocation.

use ir::Type;
use ops::nn::Conv;

use super::window::{Geometry, Window, slides};
use crate::support::Support;
use crate::wgpu::device::GpuError;
use crate::wgpu::kernel::{Call, Kernel, Outputs, floats, one};
use crate::wgpu::linear::{is_tiled, tiles};
use crate::wgpu::record::Launch;
use crate::wgpu::wgsl::{Body, Element, KernelForm, Shader, accumulator, body, params};

params! {
    /// The window, the channels, and which of them a launch adds up.
    struct Convolution {
        window: Geometry,
        /// Channels of the result.
        maps: u32,
        channels: u32,
        channels_per_group: u32,
        maps_per_group: u32,
        start: u32,
        end: u32,
        has_bias: u32,
    }
}

const BODY: Body<Convolution> = body!(Convolution, "conv.wgsl", "window.wgsl");
const TILED: Body<Convolution> = body!(Convolution, "conv_tiled.wgsl", "../linear/tile.wgsl", "window.wgsl");

impl Kernel for Conv {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        floats(x.dtype).and(|| slides(x))
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (x, w, bias) = (c.get(0)?, c.get(1)?, c.opt(2));
        let (dtype, groups) = (x.dtype(), self.group.max(0) as usize);
        let kernel: Vec<_> = w.shape().iter().skip(2).map(|&d| d as i64).collect();
        let window = Window::new(&self.window, &kernel, x, c.output()?);
        window.check(c, x)?;
        let (channels, maps) = (x.shape()[1], w.shape().first().copied().unwrap_or(0));
        let fits = w.rank() == x.rank()
            && w.dtype() == dtype
            && groups > 0
            && w.shape()[1] * groups == channels
            && maps % groups == 0
            && bias.is_none_or(|b| b.shape() == [maps] && b.dtype() == dtype);
        if !fits {
            let why = format!("{:?} by {:?} in {groups} groups with {window:?}", x.shape(), w.shape());
            return Err(c.refuse(why));
        }
        let per_group = w.shape()[1];
        let each = window.iterations() + 1;
        if each > c.gpu.loop_limit() {
            let what = "the window of a Conv".to_owned();
            let limit = c.gpu.loop_limit() as u64;
            return Err(GpuError::TooLarge { what, needed: each as u64, limit });
        }
        let volume = window.output.iter().product();
        let terms = per_group * window.kernel.iter().product::<usize>();
        // In a square an invocation goes round twice as often, nearly.
        let is_tiled = 2 * each <= c.gpu.loop_limit() && is_tiled(c.gpu, maps / groups, volume, terms);
        let stretches = c.stretches(per_group, if is_tiled { 2 * each } else { each })?;
        let partial = if stretches.len() > 1 { accumulator(dtype) } else { dtype };
        let output = c.gpu.alloc(partial, &[&[x.shape()[0], maps], &window.output[..]].concat())?;
        let number = Element::Number(dtype);
        let (body, form) = if is_tiled { (TILED, KernelForm::Teams) } else { (BODY, KernelForm::Elements) };
        let parts = x.shape()[0] * groups;
        let count = if is_tiled { parts * tiles(maps / groups, volume) } else { output.len() };
        let shader = Shader::new(c.name, body, dtype, Element::Number(partial)).form(form);
        let shader = shader.reads("x", number).reads("w", number).reads("bias", number);
        for stretch in stretches {
            let params = Convolution {
                window: window.geometry(&x.shape()[2..]),
                maps: maps as u32,
                channels: channels as u32,
                channels_per_group: per_group as u32,
                maps_per_group: (maps / groups.max(1)) as u32,
                start: stretch.start,
                end: stretch.end,
                has_bias: bias.is_some().into(),
            };
            let inputs = [x, w, bias.unwrap_or(w)];
            c.gpu.launch(&Launch { count, ..Launch::new(&shader, &inputs, params, &output) })?;
        }
        one(Ok(if partial == dtype { output } else { c.gpu.cast(&output, dtype)? }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wgpu::Functions;
    use ir::DType;

    #[test]
    fn the_kernel_reads_well() {
        let number = Element::Number(DType::F32);
        let shader = Shader::new("Conv", BODY, DType::F32, number);
        insta::assert_snapshot!(
            shader.reads("x", number).reads("w", number).reads("bias", number).parts().source(Functions::Own)
        );
    }
}
