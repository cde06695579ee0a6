//! Operators on a GPU, through `wgpu`.
//!
//! | module | holds |
//! |---|---|
//! | [`device`], [`selftest`] | adapters, opening one, what its driver can be trusted with |
//! | [`tensor`], `record` | device memory; recording launches and submitting them |
//! | `wgsl`, `shaders/` | how kernels are written: dtypes, the skeleton, the function library |
//! | `view` | broadcasting and striding as data |
//! | `map`, [`unary`], [`binary`], `cast` | elementwise kernels and their tables |
//! | [`movement`], [`gather`] | moving words |
//! | [`reduce`], [`arg`], [`topk`], `scan` | kernels along axes, in chunks that a driver's loops can hold |
//! | [`matmul`], [`window`] | products, convolution, pools |
//! | [`norm`] | softmax and normalisations, composed of the above |
//! | [`support`](mod@support) | which operators there are kernels for, on which dtypes |
//! | [`dispatch`], [`run`] | from operators and models to kernels |
//!
//! Nothing here panics on what a driver does: every `wgpu` call runs inside error scopes, and what escapes them is kept
//! and reported by the next call. f16 is a storage type only: arithmetic of native `f16` is not exercised. Shapes and attributes are data, so a pipeline is compiled once per kernel and dtype.

pub mod arg;
pub mod binary;
mod cast;
pub mod device;
pub mod dispatch;
pub mod error;
pub mod gather;
mod map;
pub mod matmul;
pub mod movement;
pub mod norm;
mod record;
pub mod reduce;
pub mod run;
mod scan;
pub mod selftest;
pub mod support;
pub mod tensor;
pub mod topk;
pub mod unary;
mod view;
mod wgsl;
pub mod window;

pub use binary::Binary;
pub use device::{AdapterInfo, Capabilities, Gpu, Which, adapters};
pub use error::GpuError;
pub use movement::PadMode;
pub use norm::Statistics;
pub use reduce::Reduce;
pub use run::NodeError;
pub use selftest::SelfTest;
pub use support::support;
pub use tensor::GpuTensor;
pub use unary::Unary;
pub use window::{Pool, Window};
