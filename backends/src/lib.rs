//! Engines: our own kernels, and adapters to real runtimes.
//!
//! ```
//! use ir::{DType, Tensor, Type};
//! use onnxsmith_backends::cpu::{Cpu, run_model};
//!
//! let text = "onnxsmith 1 opset 17 graph { %0: f32[2] = variable \"x\" %1: f32[2] = Neg(%0) return \"y\" = %1 }";
//! let model: ops::Model = text.parse()?;
//! let x = Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |i| i as f64 + 1.0);
//! let outputs = run_model(&model, &[x], &mut Cpu)?;
//! assert_eq!(outputs[0].to_f64s(), [-1.0, -2.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`cpu`] | kernels for the processor |
//! | [`wgpu`] | kernels for the GPU, in WGSL |
//! | [`support`] | whether a backend has an operator |
//! | [`engines`] | adapters: each makes a runtime look like every other |
//! | [`usage`] | processor time, and memory that is kept |
//!
//! Kernels share no code with the reference semantics in `ops`: a shared mistake would be invisible.

pub mod cpu;
pub mod engines;
mod implied;
pub mod support;
pub mod usage;
pub mod wgpu;

pub use support::Support;
