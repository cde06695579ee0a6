//! Kernels of neural networks.

pub(crate) mod average_pool;
pub(crate) mod batch_norm;
pub(crate) mod channel_norm;
pub(crate) mod conv;
pub(crate) mod conv_transpose;
pub(crate) mod dropout;
pub(crate) mod global_lp_pool;
pub(crate) mod global_pool;
pub(crate) mod grid_sample;
pub(crate) mod layer_norm;
pub(crate) mod lp_norm;
pub(crate) mod lp_pool;
pub(crate) mod lrn;
pub(crate) mod max_pool;
pub(crate) mod mean_variance;
mod normalize;
pub(crate) mod rms_norm;
pub(crate) mod softmax;
mod window;
