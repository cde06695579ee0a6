//! ReverseSequence: of each batch, the first `sequence_lens` steps in time backwards.

use ir::{DType, Type};
use ops::movement::ReverseSequence;

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};
use crate::wgpu::record::Launch;
use crate::wgpu::wgsl::{Body, Element, Shader, body, params};

params! {
    /// `x` seen as `[outer, middle, inner]`, of which one of the first two is time and the other the batch.
    struct Sizes {
        middle: u32,
        inner: u32,
        /// The number of steps in time.
        steps: u32,
        /// Whether the batch is the first axis.
        batch_first: u32,
    }
}

const BODY: Body<Sizes> = body!(Sizes, "reverse_sequence.wgsl");

impl Kernel for ReverseSequence {
    fn support(&self, _: &Type, _: &[Option<&Type>]) -> Support {
        Support::Yes
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        let (x, lengths) = (c.get(0)?, c.get(1)?);
        let [first, second, rest @ ..] = x.shape() else {
            return Err(c.refuse(format!("{:?} has no batch and time", x.shape())));
        };
        let (batch, steps) = if self.batch_first() { (*first, *second) } else { (*second, *first) };
        if lengths.dtype() != DType::I64 || lengths.shape() != [batch] {
            let (shape, dtype) = (lengths.shape(), lengths.dtype());
            return Err(c.refuse(format!("lengths are {shape:?} of {dtype}, the batch is {batch}")));
        }
        let output = c.gpu.alloc(x.dtype(), x.shape())?;
        let inner: usize = rest.iter().product();
        let sizes = Sizes {
            middle: *second as u32,
            inner: inner as u32,
            steps: steps as u32,
            batch_first: self.batch_first().into(),
        };
        let shader = Shader::mover(c.name, BODY, x.dtype()).reads("lengths", Element::Low(DType::I64));
        c.gpu.launch(&Launch::new(&shader, &[x, lengths], sizes, &output))?;
        one(Ok(output))
    }
}
