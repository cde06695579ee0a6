//! `SpaceToDepth`: blocks of an image's plane as its channels.

use super::depth_to_space::side;
use crate::prelude::*;

attributes! {
    /// Blocks of pixels laid out as channels.
    ///
    /// `x: [N, C, H·b, W·b] → y: [N, C·b², H, W]`
    ///
    /// b is `blocksize`. Undoes [`DepthToSpace`](super::DepthToSpace) in the same order, which before opset 28 is DCR.
    ///
    /// ONNX: [SpaceToDepth](https://onnx.ai/onnx/operators/onnx__SpaceToDepth.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct SpaceToDepth<D> {
        /// The side of a block.
        pub blocksize: D as size,
        /// Whether the channel's number has the depth first and the place in the block last (CRD), not the other
        /// way round (DCR).
        pub depth_first: bool as "mode" { "DCR" => false, "CRD" => true } = false,
    }
}

impl Single for SpaceToDepth {
    const ROW: Row = Row::new("SpaceToDepth");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let (blocksize, height, width) = (side(d), d.dim(), d.dim());
        let dtype = d.dtype(d.allowed())?;
        d.matching(dtype, &[None, None, Some(height * blocksize), Some(width * blocksize)])?;
        Some(SpaceToDepth { blocksize, depth_first: d.has("mode") && d.flag() })
    }
}

impl<D: Dim> TypeRule<D> for SpaceToDepth<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.ranked(0, 4..=4)?;
        let side = self.blocksize;
        r.le(D::from(1), side)?;
        let [height, width] = [x.shape[2] / side, x.shape[3] / side];
        r.eq(height * side, x.shape[2])?;
        r.eq(width * side, x.shape[3])?;
        Ok(vec![Type::new(x.dtype, vec![x.shape[0], D::product(&[x.shape[1], side, side]), height, width])])
    }
}

impl Movement for SpaceToDepth {
    const LINEAR: Option<usize> = Some(0);

    fn rearrange<T: Clone>(&self, x: &[&ArrayD<T>], y: &[Type]) -> Vec<ArrayD<T>> {
        let (side, depth) = (self.blocksize as usize, x[0].shape()[1]);
        vec![lanes::build(&y[0].extents(), |at| {
            let (place, channel) = if self.depth_first {
                (at[1] % (side * side), at[1] / (side * side))
            } else {
                (at[1] / depth, at[1] % depth)
            };
            let (row, column) = (at[2] * side + place / side, at[3] * side + place % side);
            x[0][[at[0], channel, row, column].as_slice()].clone()
        })]
    }
}

#[cfg(test)]
tables! {
    what_depth_to_space_does_is_undone_in_either_order: "
        x = i8[1, 8, 1, 1] {0, 1, 2, 3, 4, 5, 6, 7}
        SpaceToDepth(i8[1, 2, 2, 2] {0, 2, 4, 6, 1, 3, 5, 7}) {blocksize = 2} = x
        SpaceToDepth(i8[1, 2, 2, 2] {0, 1, 2, 3, 4, 5, 6, 7}) {blocksize = 2, mode = 'CRD'} = x
    ";
}
