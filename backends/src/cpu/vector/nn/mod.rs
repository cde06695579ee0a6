//! Kernels of neural networks.

pub(super) mod conv;
pub(super) mod layer_norm;
pub(super) mod pool;
mod slide;
pub(super) mod softmax;
