//! Kernels of neural networks.

pub(super) mod conv;
pub(super) mod layer_norm;
pub(super) mod pool;
pub(super) mod softmax;
mod slide;
