//! Numbers as few integers: quantised by a scale and a zero point, and back.

mod dequantize_linear;
mod dynamic;
pub mod granularity;
mod quantize_linear;
mod rounded;

pub use dequantize_linear::DequantizeLinear;
pub use dynamic::DynamicQuantizeLinear;
pub use granularity::Granularity;
pub use quantize_linear::QuantizeLinear;
