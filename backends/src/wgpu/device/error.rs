//! What can go wrong on a GPU. Every failure of `wgpu`, a driver or a device becomes one of these values.

use std::time::Duration;

use ir::DType;

use crate::engines::gpu::{AT, NAME};

/// A failure of the GPU backend.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GpuError {
    /// No adapter fits the request; normal on a machine without a Vulkan, Metal or DX12 driver.
    #[error("no GPU adapter matches {wanted}; {}", known(there))]
    NoAdapter {
        /// What was asked for.
        wanted: String,
        /// The adapters that are there, in the order of their positions.
        there: Vec<String>,
    },
    /// The adapter exists but does not open.
    #[error("adapter {adapter} does not open: {why}")]
    Open {
        /// The adapter's name.
        adapter: String,
        /// The driver's words.
        why: String,
    },
    /// The device cannot do this: a statement about the device, not a fault.
    #[error("{kernel} is not supported: {why}")]
    Unsupported {
        /// The kernel asked for.
        kernel: String,
        /// What is missing.
        why: String,
    },
    /// The arguments do not fit the kernel.
    #[error("{kernel}: {why}")]
    Arguments {
        /// The kernel asked for.
        kernel: String,
        /// Which requirement is broken.
        why: String,
    },
    /// A tensor or launch is beyond what the device allows.
    #[error("{what} needs {needed} but the device allows {limit}")]
    TooLarge {
        /// The thing that is too large.
        what: String,
        /// What it needs.
        needed: u64,
        /// What the device allows.
        limit: u64,
    },
    /// The device ran out of memory.
    #[error("the device ran out of memory during {during}")]
    OutOfMemory {
        /// What was being done.
        during: String,
    },
    /// `wgpu` refused something this crate sent it, or the driver failed.
    #[error("{during} failed on the device: {why}")]
    Device {
        /// What was being done.
        during: String,
        /// The message of `wgpu`.
        why: String,
    },
    /// The device did not finish in time. Its kernel runs on; only the end of the process stops it.
    #[error("the device did not finish within {waited:?}; the kernel cannot be stopped, restart the process")]
    Timeout {
        /// How long was waited.
        waited: Duration,
    },
}

/// The adapters that are there, for people.
fn known(there: &[String]) -> String {
    if there.is_empty() {
        return "install a driver (a software one such as lavapipe will do)".to_owned();
    }
    let each = there.iter().enumerate().map(|(position, adapter)| format!("{NAME}{AT}{position}: {adapter}"));
    format!("there {} {}", if there.len() == 1 { "is" } else { "are" }, each.collect::<Vec<_>>().join(", "))
}

impl GpuError {
    /// `kernel` does not exist for this dtype.
    pub(crate) fn dtype(kernel: &str, dtype: DType, why: &str) -> Self {
        Self::Unsupported { kernel: format!("{kernel} of {dtype}"), why: why.to_owned() }
    }

    /// The arguments of `kernel` break a requirement.
    pub(crate) fn arguments(kernel: &str, why: impl Into<String>) -> Self {
        Self::Arguments { kernel: kernel.to_owned(), why: why.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapters_that_are_there_are_told_as_they_are_asked_for() {
        let no = |there: &[&str]| {
            let there = there.iter().map(ToString::to_string).collect();
            GpuError::NoAdapter { wanted: "an adapter named `a`".to_owned(), there }.to_string()
        };
        assert!(no(&["x"]).ends_with("named `a`; there is wgpu@0: x"), "{}", no(&["x"]));
        assert!(no(&["x", "y"]).ends_with("there are wgpu@0: x, wgpu@1: y"), "{}", no(&["x", "y"]));
    }
}
