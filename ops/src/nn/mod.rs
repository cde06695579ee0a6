//! Operators of neural networks: convolution, pooling, normalisation, softmax.

pub mod average_pool;
pub mod conv;
pub mod global_pool;
pub mod max_pool;
pub mod softmax;
pub mod window;

pub use average_pool::AveragePool;
pub use conv::Conv;
pub use global_pool::{GlobalPool, GlobalPoolFn};
pub use max_pool::MaxPool;
pub use softmax::{Softmax, SoftmaxFn};
