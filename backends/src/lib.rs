//! backends

pub mod engines;
pub mod wgpu;
pub mod worker;
