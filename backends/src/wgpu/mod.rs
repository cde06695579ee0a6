//! Operators on a GPU, through `wgpu`.

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
pub use tensor::GpuTensor;
pub use unary::Unary;
pub use window::{Pool, Window};
