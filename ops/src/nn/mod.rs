//! Operators of neural networks: convolution, pooling, normalisation, softmax.

pub mod average_pool;
pub mod batch_norm;
pub mod channel_norm;
pub mod conv;
pub mod conv_transpose;
pub mod dropout;
pub mod global_lp_pool;
pub mod global_pool;
pub mod layer_norm;
pub mod lp_norm;
pub mod lp_pool;
pub mod lrn;
pub mod max_pool;
pub mod mean_variance;
mod normalize;
pub mod pooling;
pub mod rms_norm;
pub mod softmax;
pub mod window;

pub use average_pool::AveragePool;
pub use batch_norm::BatchNorm;
pub use channel_norm::{GroupNorm, InstanceNorm};
pub use conv::Conv;
pub use conv_transpose::ConvTranspose;
pub use dropout::Dropout;
pub use global_lp_pool::GlobalLpPool;
pub use global_pool::{GlobalPool, GlobalPoolFn};
pub use layer_norm::LayerNorm;
pub use lp_norm::LpNorm;
pub use lp_pool::LpPool;
pub use lrn::Lrn;
pub use max_pool::MaxPool;
pub use mean_variance::MeanVariance;
pub use pooling::Pooling;
pub use rms_norm::RmsNorm;
pub use softmax::{Softmax, SoftmaxFn};
