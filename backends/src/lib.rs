//! Engines: our own kernels, and adapters to real runtimes.
//!
//! | module | holds |
//! |---|---|
//! | [`cpu`] | kernels for the processor |
//! | [`wgpu`] | kernels for the GPU, in WGSL |
//! | [`support`] | whether a backend has an operator |
//! | [`engines`] | adapters: each makes a runtime look like every other |
//! | [`usage`] | processor time |
//!
//! Kernels share no code with the reference semantics in `ops`: a shared mistake would be invisible.

pub mod cpu;
pub mod engines;
pub mod support;
pub mod usage;
pub mod wgpu;

pub use support::Support;
