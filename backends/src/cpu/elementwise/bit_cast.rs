//! BitCast: the bytes, read as another dtype.

use ir::Tensor;

use crate::cpu::call::Call;
use crate::cpu::error::{CpuError, Outputs};

pub(crate) fn run(c: &Call<'_>) -> Outputs {
    let bytes = c.tensor(0)?.to_bytes();
    let y = Tensor::from_bytes(c.output(0)?, &bytes);
    Ok(vec![y.map_err(|_| CpuError::Invalid("its dtypes are not of one width"))?])
}
