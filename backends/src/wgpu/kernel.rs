//! What an operator's file states of it: which uses there are kernels for, and running one.

use std::ops::Range;

use ir::{DType, Type};

use super::device::{Gpu, GpuError};
use super::record::GpuTensor;
use super::wgsl::Class;
use crate::support::Support;

/// What an operator gives.
pub(super) type Outputs = Result<Vec<GpuTensor>, GpuError>;

/// An operator on the GPU.
pub(super) trait Kernel {
    /// Whether there are kernels for operands of these types, on a device with every optional type. `x` is
    /// the type of the first operand. No device is needed to ask; what exceeds the limits of a device is an
    /// error when it runs.
    fn support(&self, x: &Type, operands: &[Option<&Type>]) -> Support;

    /// Launches the kernels of a use that is supported.
    fn run(&self, c: &Call<'_>) -> Outputs;
}

/// The operands of one operator and the types its results must have.
pub(super) struct Call<'a> {
    pub(super) gpu: &'a Gpu,
    pub(super) name: &'static str,
    pub(super) inputs: &'a [Option<&'a GpuTensor>],
    pub(super) outputs: &'a [Type],
}

impl<'a> Call<'a> {
    /// An operand, if it is there.
    pub(super) fn opt(&self, i: usize) -> Option<&'a GpuTensor> {
        self.inputs.get(i).copied().flatten()
    }

    /// An operand that has to be there.
    pub(super) fn get(&self, i: usize) -> Result<&'a GpuTensor, GpuError> {
        self.opt(i).ok_or_else(|| self.refuse(format!("operand {i} is absent")))
    }

    /// Every operand.
    pub(super) fn all(&self) -> Result<Vec<&'a GpuTensor>, GpuError> {
        (0..self.inputs.len()).map(|i| self.get(i)).collect()
    }

    /// The first two operands, which have to be of one dtype.
    pub(super) fn alike(&self) -> Result<[&'a GpuTensor; 2], GpuError> {
        let (a, b) = (self.get(0)?, self.get(1)?);
        if a.dtype() == b.dtype() {
            Ok([a, b])
        } else {
            Err(self.refuse(format!("operands are {} and {}", a.dtype(), b.dtype())))
        }
    }

    /// The type of the first result.
    pub(super) fn output(&self) -> Result<&'a Type, GpuError> {
        self.outputs.first().ok_or_else(|| self.refuse("it has no output"))
    }

    /// An axis counted from the end if negative.
    pub(super) fn axis(&self, axis: i64, rank: usize) -> Result<usize, GpuError> {
        let from_start = if axis < 0 { axis + rank as i64 } else { axis };
        usize::try_from(from_start)
            .ok()
            .filter(|&a| a < rank)
            .ok_or_else(|| self.refuse(format!("no axis {axis} in rank {rank}")))
    }

    /// The stretches of `n` places that launches walk one after the other, one at least, where a kernel goes round `rounds` times for
    /// each place: drivers bound the loops of an invocation.
    pub(super) fn stretches(&self, n: usize, rounds: usize) -> Result<Vec<Range<u32>>, GpuError> {
        let (needed, limit) = (n as u64, u64::from(u32::MAX));
        let too_large = || GpuError::TooLarge { what: format!("a loop of {}", self.name), needed, limit };
        let end = u32::try_from(n).map_err(|_| too_large())?;
        let longest = (self.gpu.loop_limit() / rounds.max(1)).max(1);
        let starts = (0..end.max(1)).step_by(longest);
        Ok(starts.map(|start| start..end.min(start.saturating_add(longest as u32))).collect())
    }

    /// The arguments break a requirement of the operator.
    pub(super) fn refuse(&self, why: impl Into<String>) -> GpuError {
        GpuError::arguments(self.name, why)
    }
}

/// The only result of an operator.
pub(super) fn one(output: Result<GpuTensor, GpuError>) -> Outputs {
    output.map(|output| vec![output])
}

/// Drivers accept the transcendental functions of f64 and return garbage.
pub(super) const ARITHMETIC_ONLY: &str =
    "drivers compute + - * / sqrt and comparisons of f64, and this needs more";

/// No kernel reads or writes the types of 8 bits and less that operators do not compute with.
pub(super) const NOT_STORED: &str = "devices hold no tensors of this dtype";

/// The answer for a dtype that an operator has kernels for, or has not.
pub(super) fn answer(has: bool, dtype: DType) -> Support {
    match (has, dtype) {
        (true, _) => Support::Yes,
        (false, DType::F64) => Support::No(ARITHMETIC_ONLY),
        (false, _) => Support::No("it is not defined for this dtype"),
    }
}

/// The answer for an operator of floats.
pub(super) fn floats(dtype: DType) -> Support {
    answer(dtype.is_float(), dtype)
}

/// The answer for an operator of floats that needs more than arithmetic.
pub(super) fn short_floats(dtype: DType) -> Support {
    answer(Class::of(dtype) == Class::Float, dtype)
}

/// The answer for an operator of all dtypes but bool.
pub(super) fn numbers(dtype: DType) -> Support {
    answer(dtype != DType::Bool, dtype)
}
