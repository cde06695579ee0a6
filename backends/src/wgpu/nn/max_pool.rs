//! MaxPool, and where in `x` each window's largest element is.

use ir::{DType, Type};
use ops::nn::MaxPool;

use super::window::{Geometry, Window, pool, slides};
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, numbers};
use crate::wgpu::wgsl::{Body, Element, Shader, body, params};

params! {
    struct Pool {
        window: Geometry,
        channels: u32,
    }
}

params! {
    struct Places {
        window: Geometry,
        channels: u32,
        /// Whether elements are numbered along the first axis first.
        first_axis_first: u32,
    }
}

const VALUES: Body<Pool> = body!(Pool, "max_pool.wgsl", "window.wgsl");
const PLACES: Body<Places> = body!(Places, "max_pool_places.wgsl", "window.wgsl");

impl Kernel for MaxPool {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        numbers(x.dtype).and(|| slides(x))
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let window = Window::new(&self.pool.window, &self.pool.kernel_shape, x, c.output()?);
        window.check(c, x)?;
        let number = Element::Number(x.dtype());
        let (geometry, channels) = (window.geometry(&x.shape()[2..]), x.shape()[1] as u32);
        let params = Pool { window: geometry.clone(), channels };
        let shader = Shader::new(c.name, VALUES, x.dtype(), number).reads("x", number);
        let mut outputs = vec![pool(c, &shader, x, &window, params, x.dtype())?];
        if c.outputs.len() > 1 {
            let shader = Shader::new(c.name, PLACES, x.dtype(), Element::Low(DType::I64)).reads("x", number);
            let params = Places { window: geometry, channels, first_axis_first: self.column_major.into() };
            outputs.push(pool(c, &shader, x, &window, params, DType::I64)?);
        }
        Ok(outputs)
    }
}
