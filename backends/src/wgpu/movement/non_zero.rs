//! NonZero: how many columns there are, is known from the type of the result; which column each element has, is counted.

use ir::{DType, Type};
use ops::movement::NonZero;

use super::ranks::{is_there, ranks};
use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::record::Launch;
use crate::wgpu::wgsl::{Body, Element, Shader, body, params};

params! {
    struct Places {
        columns: u32,
        rank: u32,
        extents: Vec<u32>,
    }
}

const BODY: Body<Places> = body!(Places, "non_zero.wgsl", "there.wgsl");

impl Kernel for NonZero {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (x, shape) = (c.get(0)?, c.output()?.extents());
        let [rows, columns] = shape[..] else {
            return Err(c.refuse(format!("its result is {shape:?}")));
        };
        if rows != x.rank() {
            return Err(c.refuse(format!("its result has {rows} rows for {:?}", x.shape())));
        }
        let output = c.gpu.alloc(DType::I64, &shape)?;
        if output.is_empty() {
            return one(Ok(output));
        }
        let ranks = ranks(c, x)?;
        let shader = Shader::new(c.name, BODY, x.dtype(), Element::Low(DType::I64))
            .reads("x", Element::Number(x.dtype()))
            .reads("ranks", Element::Low(DType::U32))
            .means("is_there", is_there(x.dtype()));
        let extents = x.shape().iter().map(|&d| d as u32).collect();
        let params = Places { columns: columns as u32, rank: rows as u32, extents };
        c.gpu.launch(&Launch { count: x.len(), ..Launch::new(&shader, &[x, &ranks], params, &output) })?;
        one(Ok(output))
    }
}
