//! Operators that move elements without looking at them.

pub mod compress;
pub mod concat;
pub mod depth_to_space;
pub mod expand;
pub mod eye_like;
pub mod flatten;
pub mod gather;
pub mod gather_elements;
pub mod gather_nd;
mod index;
pub mod non_zero;
pub mod one_hot;
pub mod pad;
pub mod reshape;
pub mod reverse_sequence;
mod scatter;
pub mod scatter_elements;
pub mod scatter_nd;
pub mod shape;
pub mod size;
pub mod slice;
pub mod space_to_depth;
pub mod split;
pub mod squeeze;
pub mod tile;
pub mod transpose;
pub mod trilu;
pub mod unsqueeze;

pub use compress::Compress;
pub use concat::Concat;
pub use depth_to_space::DepthToSpace;
pub use expand::Expand;
pub use eye_like::EyeLike;
pub use flatten::Flatten;
pub use gather::Gather;
pub use gather_elements::GatherElements;
pub use gather_nd::GatherNd;
pub use non_zero::NonZero;
pub use one_hot::OneHot;
pub use pad::{Pad, PadMode};
pub use reshape::Reshape;
pub use reverse_sequence::ReverseSequence;
pub use scatter::Reduction;
pub use scatter_elements::ScatterElements;
pub use scatter_nd::ScatterNd;
pub use shape::Shape;
pub use size::Size;
pub use slice::Slice;
pub use space_to_depth::SpaceToDepth;
pub use split::Split;
pub use squeeze::Squeeze;
pub use tile::Tile;
pub use transpose::Transpose;
pub use trilu::Trilu;
pub use unsqueeze::Unsqueeze;

use ir::Type;
use ndarray::ArrayD;

use crate::lanes::array;

/// The elements in their order, in the output's shape.
fn reshaped<T: Clone>(x: &ArrayD<T>, y: &Type) -> Vec<ArrayD<T>> {
    vec![array(&y.extents(), x.iter().cloned().collect())]
}
