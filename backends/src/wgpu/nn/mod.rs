//! Operators of neural networks: convolution, pools, normalisations, softmax.

pub(super) mod average_pool;
mod batch_norm;
mod channel_norm;
mod conv;
mod conv_transpose;
mod dropout;
mod global_lp_pool;
mod global_pool;
mod grid_sample;
mod layer_norm;
mod lp_norm;
mod lp_pool;
mod lrn;
mod max_pool;
mod mean_variance;
mod normalize;
mod rms_norm;
mod softmax;
mod window;
