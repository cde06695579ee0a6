//! Operators that move elements without looking at them.

pub mod compress;
pub mod concat;
pub mod depth_space;
pub mod expand;
pub mod eye_like;
pub mod flatten;
pub mod gather;
pub mod gather_nd;
pub mod non_zero;
pub mod one_hot;
pub mod pad;
pub mod reshape;
pub mod reverse_sequence;
pub mod scatter;
pub mod shape;
pub mod slice;
pub mod split;
pub mod squeeze;
pub mod tile;
pub mod transpose;
pub mod trilu;

pub use compress::Compress;
pub use concat::Concat;
pub use depth_space::{DepthToSpace, SpaceToDepth};
pub use expand::Expand;
pub use eye_like::EyeLike;
pub use flatten::Flatten;
pub use gather::{Gather, GatherElements};
pub use gather_nd::GatherNd;
pub use non_zero::NonZero;
pub use one_hot::OneHot;
pub use pad::{Pad, PadMode};
pub use reshape::Reshape;
pub use reverse_sequence::ReverseSequence;
pub use scatter::{Reduction, ScatterElements, ScatterNd};
pub use shape::{Shape, Size};
pub use slice::Slice;
pub use split::Split;
pub use squeeze::{Squeeze, Unsqueeze};
pub use tile::Tile;
pub use transpose::Transpose;
pub use trilu::Trilu;

use std::fmt::Debug;

use ir::Type;
use ndarray::ArrayD;

use crate::arith::Arith;
use crate::data::{Call, Data, Integers, Kind, Reals};
use crate::lanes::array;
use crate::operator::{Facts, Hazard, Operator, Reads, TypeRule};

/// A rearrangement of elements that does not look at them: the same for every element type. That, its type rule and one fact are
/// all there is to such an operator.
pub trait Movement: TypeRule<i64> + Clone + PartialEq + Debug {
    /// The operand that it is [`linear`](Facts::linear) in.
    const LINEAR: Option<usize>;

    /// The outputs, made of copies of the operands' elements.
    fn rearrange<T: Clone>(&self, operands: &[&ArrayD<T>], outputs: &[Type]) -> Vec<ArrayD<T>>;
}

impl<M: Movement> Operator for M {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts::moves(Reads::Elements, M::LINEAR)
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        if c.is_real() { rearranged::<A, Reals>(self, c) } else { rearranged::<A, Integers>(self, c) }
    }
}

/// The outputs of a movement, whose operands are all of one kind.
fn rearranged<A: Arith, K: Kind<A>>(movement: &impl Movement, c: &Call<'_, A>) -> Vec<Data<A>> {
    let operands: Vec<_> = (0..c.inputs.len()).filter_map(|i| K::operand(c, i)).collect();
    movement.rearrange(&operands, c.outputs).into_iter().map(K::data).collect()
}

/// The elements in their order, in the output's shape.
fn reshaped<T: Clone>(x: &ArrayD<T>, y: &Type) -> Vec<ArrayD<T>> {
    vec![array(&y.extents(), x.iter().cloned().collect())]
}
