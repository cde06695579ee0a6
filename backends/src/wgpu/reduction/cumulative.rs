//! CumSum and CumProd: one invocation walks one lane. A lane longer than a loop may run continues in the next launch from
//! the last result of the one before.

use ir::Type;
use ops::reduction::{Cumulative, CumulativeFn};

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, numbers, one};
use crate::wgpu::record::Launch;
use crate::wgpu::wgsl::{Body, Element, Shader, accumulator, body, params};

params! {
    /// The lanes of `[outer, n, inner]`, and the places that a launch walks.
    struct Walk {
        n: u32,
        inner: u32,
        start: u32,
        end: u32,
        /// Whether each element's own place is left out.
        exclusive: u32,
        /// Whether places are counted from the end.
        reverse: u32,
    }
}

const BODY: Body<Walk> = body!(Walk, "cumulative.wgsl");

impl Kernel for Cumulative {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        numbers(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let (axis, dtype) = (c.axis(self.axis, x.rank())?, x.dtype());
        let (n, wide) = (x.shape()[axis], accumulator(dtype));
        let output = c.gpu.alloc(wide, x.shape())?;
        let outer: usize = x.shape()[..axis].iter().product();
        let inner: usize = x.shape()[axis + 1..].iter().product();
        let shader =
            Shader::new(c.name, BODY, dtype, Element::Number(wide)).reads("x", Element::Number(dtype));
        let [combine, neutral] = match self.function {
            CumulativeFn::Sum => ["sum", "zero"],
            CumulativeFn::Prod => ["product", "one"],
        };
        let shader = shader.means("combine", combine).means("neutral", neutral);
        for stretch in c.stretches(n, 1)? {
            let walk = Walk {
                n: n as u32,
                inner: inner as u32,
                start: stretch.start,
                end: stretch.end,
                exclusive: self.exclusive.into(),
                reverse: self.reverse.into(),
            };
            c.gpu.launch(&Launch { count: outer * inner, ..Launch::new(&shader, &[x], walk, &output) })?;
        }
        one(c.gpu.cast(&output, dtype))
    }
}
