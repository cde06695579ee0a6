//! Trilu: the elements on one side of a diagonal of the last two axes, zeros on the other. The diagonal stays.

use ir::Type;
use ops::movement::Trilu;

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::record::Launch;
use crate::wgpu::wgsl::{Body, Shader, body, params};

params! {
    /// The matrix, and where the diagonal is.
    struct Triangle {
        rows: u32,
        columns: u32,
        /// How far above the main diagonal.
        k: i32,
        /// Whether the elements above stay.
        upper: u32,
    }
}

const BODY: Body<Triangle> = body!(Triangle, "trilu.wgsl");

impl Kernel for Trilu {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let x = c.get(0)?;
        let [.., rows, columns] = x.shape() else {
            return Err(c.refuse(format!("{:?} is no matrix", x.shape())));
        };
        let output = c.gpu.alloc(x.dtype(), x.shape())?;
        // A diagonal outside the matrix keeps all or nothing, however far it is.
        let most = (rows + columns) as i64;
        let k = self.k.clamp(-most, most) as i32;
        let triangle = Triangle { rows: *rows as u32, columns: *columns as u32, k, upper: self.upper.into() };
        let shader = Shader::mover(c.name, BODY, x.dtype());
        c.gpu.launch(&Launch::new(&shader, &[x], triangle, &output))?;
        one(Ok(output))
    }
}
