//! Operators of neural networks: convolution, pooling, normalisation, softmax.

pub mod conv;
pub mod softmax;
pub mod window;

pub use conv::Conv;
pub use softmax::Softmax;
