//! BitCast: device memory, read as another dtype, where that is stored as it is.

use ir::{DType, Type};
use ops::elementwise::BitCast;

use crate::support::Support;
use crate::wgpu::kernel::{Call, Kernel, Outputs, one};

const WHY: &str = "only dtypes of 32 and 64 bits are stored as they are";

impl Kernel for BitCast {
    fn support(&self, x: &Type, _: &[Option<&Type>]) -> Support {
        let is_stored_so = |dtype: DType| dtype.bits() >= 32;
        if is_stored_so(x.dtype) && is_stored_so(self.to) { Support::Yes } else { Support::No(WHY) }
    }

    fn run(&self, c: &Call<'_>) -> Outputs {
        one(c.get(0)?.read_as(self.to).ok_or_else(|| c.refuse(WHY)))
    }
}
