//! Numbers as few integers: divided by a scale, and back.

mod dequantize_linear;
mod dynamic;
mod quantize_linear;
mod scales;
