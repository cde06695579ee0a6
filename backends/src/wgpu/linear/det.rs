//! Det: elimination with partial pivoting, a launch for each step, from one tensor of matrices into another; then the
//! product of each diagonal.

use ir::Type;
use ops::linear::Det;

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, floats, one};
use crate::wgpu::record::Launch;
use crate::wgpu::wgsl::{Body, Element, Shader, accumulator, body, params};

params! {
    /// A step of the elimination.
    struct Elimination {
        rows: u32,
        /// The column, and the place on the diagonal.
        step: u32,
    }
}

params! {
    struct Diagonal {
        rows: u32,
    }
}

const ELIMINATE: Body<Elimination> = body!(Elimination, "det_eliminate.wgsl");
const MULTIPLY: Body<Diagonal> = body!(Diagonal, "det_multiply.wgsl");

impl Kernel for Det {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        floats(x.dtype)
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let rows = match x.shape() {
            [.., rows, columns] if rows == columns => *rows,
            _ => return Err(c.refuse("its matrices are not square")),
        };
        if rows > c.gpu.loop_limit() {
            return Err(c.refuse(format!("matrices of {rows} rows are more than a loop may walk")));
        }
        let (dtype, wide) = (x.dtype(), Element::Number(accumulator(x.dtype())));
        let shape = &x.shape()[..x.rank() - 2];
        let mut matrices = c.gpu.cast(x, accumulator(dtype))?;
        for step in 0..rows.saturating_sub(1) {
            let next = c.gpu.alloc(accumulator(dtype), x.shape())?;
            let shader = Shader::new(c.name, ELIMINATE, accumulator(dtype), wide).reads("x", wide);
            let params = Elimination { rows: rows as u32, step: step as u32 };
            c.gpu.launch(&Launch::new(&shader, &[&matrices], params, &next))?;
            matrices = next;
        }
        let output = c.gpu.alloc(accumulator(dtype), shape)?;
        let shader = Shader::new(c.name, MULTIPLY, accumulator(dtype), wide).reads("x", wide);
        c.gpu.launch(&Launch::new(&shader, &[&matrices], Diagonal { rows: rows as u32 }, &output))?;
        one(c.gpu.cast(&output, dtype))
    }
}
