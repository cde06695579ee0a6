//! Operators that move elements without looking at them.

pub mod concat;
pub mod expand;
pub mod flatten;
pub mod gather;
pub mod one_hot;
pub mod pad;
pub mod reshape;
pub mod slice;
pub mod split;
pub mod squeeze;
pub mod transpose;
pub mod trilu;

pub use concat::Concat;
pub use expand::Expand;
pub use flatten::Flatten;
pub use gather::Gather;
pub use one_hot::OneHot;
pub use pad::{Pad, PadMode};
pub use reshape::Reshape;
pub use slice::Slice;
pub use split::Split;
pub use squeeze::{Squeeze, Unsqueeze};
pub use transpose::Transpose;
pub use trilu::Trilu;
