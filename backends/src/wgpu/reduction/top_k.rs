//! TopK by counting: an element's place in the order is the number of elements before it. That is quadratic in the
//! length of the axis, but every element counts for itself, in any order, without exchanging anything.

use std::ops::Range;

use ir::{DType, Type};
use ops::reduction::TopK;

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, numbers};
use crate::wgpu::record::Launch;
use crate::wgpu::wgsl::{Body, Element, Shader, body, params};

params! {
    /// The lanes of `[outer, n, inner]`, and the places of a lane that a launch looks at.
    struct Count {
        n: u32,
        inner: u32,
        start: u32,
        end: u32,
        /// Whether the largest elements come first.
        largest: u32,
    }
}

params! {
    /// From `[outer, n, inner]` to `[outer, k, inner]`.
    struct Pick {
        n: u32,
        inner: u32,
        k: u32,
    }
}

const COUNT: Body<Count> = body!(Count, "top_k_count.wgsl");
const PICK: Body<Pick> = body!(Pick, "top_k_pick.wgsl");

impl Kernel for TopK {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        numbers(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (x, k) = (c.get(0)?, self.k.max(0) as usize);
        let (axis, dtype) = (c.axis(self.axis, x.rank())?, x.dtype());
        let n = x.shape()[axis];
        if k > n {
            return Err(c.refuse(format!("{k} elements along axis {axis} of {:?}", x.shape())));
        }
        let inner = x.shape()[axis + 1..].iter().product::<usize>() as u32;
        let order = c.gpu.alloc(DType::U32, x.shape())?;
        let count =
            Shader::new(c.name, COUNT, dtype, Element::Low(DType::U32)).reads("x", Element::Number(dtype));
        for Range { start, end } in c.stretches(n, 1)? {
            let params = Count { n: n as u32, inner, start, end, largest: self.largest.into() };
            c.gpu.launch(&Launch::new(&count, &[x], params, &order))?;
        }
        let mut shape = x.shape().to_vec();
        shape[axis] = k;
        let pick = |shader: Shader<Pick>, dtype| {
            let output = c.gpu.alloc(dtype, &shape)?;
            let shader = shader.reads("order", Element::Low(DType::U32));
            let params = Pick { n: n as u32, inner, k: k as u32 };
            let inputs = [x, &order];
            c.gpu.launch(&Launch { count: x.len(), ..Launch::new(&shader, &inputs, params, &output) })?;
            Ok(output)
        };
        let values = Shader::mover(c.name, PICK, dtype).means("picked", "value");
        let places = Shader::counter(c.name, PICK, Element::Low(DType::I64))
            .reads("x", Element::Bits(dtype))
            .means("picked", "place");
        Ok(vec![pick(values, dtype)?, pick(places, DType::I64)?])
    }
}
