//! LpPool, for the norms of sums and of squares.

use ir::Type;
use ops::nn::LpPool;

use super::window::{Geometry, Window, pool, slides};
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, floats, one};
use crate::wgpu::wgsl::{Body, Element, Shader, body, params};

params! {
    struct Pool {
        window: Geometry,
        channels: u32,
    }
}

const BODY: Body<Pool> = body!(Pool, "lp_pool.wgsl", "window.wgsl");

impl Kernel for LpPool {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        match self.p {
            1 | 2 => floats(x.dtype).and(|| slides(x)),
            _ => Support::No("kernels exist for p = 1 and p = 2"),
        }
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let window = Window::new(&self.pool.window, &self.pool.kernel_shape, x, c.output()?);
        let [power, norm] = if self.p == 1 { ["magnitude", "itself"] } else { ["square", "root"] };
        let number = Element::Number(x.dtype());
        let shader = Shader::new(c.name, BODY, x.dtype(), number).reads("x", number);
        let shader = shader.means("power", power).means("norm", norm);
        let params = Pool { window: window.geometry(&x.shape()[2..]), channels: x.shape()[1] as u32 };
        one(pool(c, &shader, x, &window, params, x.dtype()))
    }
}
