//! Operators on a GPU, through `wgpu`.
//!
//! | module | holds |
//! |---|---|
//! | `device` | adapters, opening one, what its driver can be trusted with, errors |
//! | `record` | device memory; recording launches and submitting them, one submission a graph |
//! | `wgsl` | how kernels are written: dtypes, parameters by name, the function library |
//! | `elementwise`, `movement`, `linear`, `reduction`, `nn`, `quantized` | an operator at the same path as in `ops`, and beside it the text of its kernels |
//! | `kernel` | what an operator's file states: which uses have kernels, and running one |
//! | [`support()`], `dispatch` | from an operator to its file: an exhaustive match, no wildcard |
//! | [`run`] | running whole models |
//!
//! Shapes and attributes are data, so a pipeline is compiled once per kernel and dtype.

mod device;
mod dispatch;
mod elementwise;
mod kernel;
mod linear;
mod movement;
mod nn;
mod quantized;
mod record;
mod reduction;
pub mod run;
mod wgsl;

pub use device::{AdapterInfo, Capabilities, Gpu, GpuError, Rewriting, SelfTest, Teamwork, Which, adapters};
pub use dispatch::support;
pub use record::{GpuTensor, Launched};
pub use run::NodeError;
pub use wgsl::Functions;
