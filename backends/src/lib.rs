//! backends

pub mod cpu;
pub mod engines;
pub mod support;
pub mod wgpu;
pub mod worker;

pub use support::Support;
