//! Operators that move elements without looking at them.

pub mod concat;
pub mod depth_space;
pub mod expand;
pub mod eye_like;
pub mod flatten;
pub mod gather;
pub mod non_zero;
pub mod one_hot;
pub mod pad;
pub mod reshape;
pub mod reverse_sequence;
pub mod shape;
pub mod slice;
pub mod split;
pub mod squeeze;
pub mod tile;
pub mod transpose;
pub mod trilu;

pub use concat::Concat;
pub use depth_space::{DepthToSpace, SpaceToDepth};
pub use expand::Expand;
pub use eye_like::EyeLike;
pub use flatten::Flatten;
pub use gather::{Gather, GatherElements};
pub use non_zero::NonZero;
pub use one_hot::OneHot;
pub use pad::{Pad, PadMode};
pub use reshape::Reshape;
pub use reverse_sequence::ReverseSequence;
pub use shape::{Shape, Size};
pub use slice::Slice;
pub use split::Split;
pub use squeeze::{Squeeze, Unsqueeze};
pub use tile::Tile;
pub use transpose::Transpose;
pub use trilu::Trilu;
