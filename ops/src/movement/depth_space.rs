//! `DepthToSpace` and `SpaceToDepth`: blocks of an image's plane from its channels, and back.

use crate::prelude::*;

attributes! {
    /// Channels laid out as blocks of pixels.
    ///
    /// `x: [N, C·b², H, W] → y: [N, C, H·b, W·b]`
    ///
    /// b is `blocksize`. A channel's number has the place in the block first and the depth last (DCR), or the other way
    /// round (CRD).
    ///
    /// ONNX: [DepthToSpace](https://onnx.ai/onnx/operators/onnx__DepthToSpace.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct DepthToSpace<D> {
        /// The side of a block.
        pub blocksize: D as size,
        /// Whether the channel's number has the depth first and the place in the block last (CRD), not the other
        /// way round (DCR).
        pub depth_first: bool as "mode" { "DCR" => false, "CRD" => true } = false,
    }
}

attributes! {
    /// Blocks of pixels laid out as channels.
    ///
    /// `x: [N, C, H·b, W·b] → y: [N, C·b², H, W]`
    ///
    /// b is `blocksize`. Undoes [`DepthToSpace`] in the same order, which before opset 28 is DCR.
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

impl Single for DepthToSpace {
    const ROW: Row = Row::new("DepthToSpace");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let (blocksize, depth) = (side(d), d.dim());
        let dtype = d.dtype(d.allowed())?;
        d.matching(dtype, &[None, Some(depth * blocksize * blocksize), None, None])?;
        Some(DepthToSpace { blocksize, depth_first: d.flag() })
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

/// The side of a block: mostly more than 1, where nothing moves.
fn side<'a>(d: &mut Draw<'_, 'a>) -> Sym<'a> {
    let is_parted = d.chance(d.limits.taste.parted);
    d.unknown(if is_parted { 2 } else { 1 }, 4)
}

impl<D: Dim> TypeRule<D> for DepthToSpace<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.ranked(0, 4..=4)?;
        let side = self.blocksize;
        r.le(D::from(1), side)?;
        // Divided twice, because the square could overflow.
        let depth = x.shape[1] / side / side;
        r.eq(D::product(&[depth, side, side]), x.shape[1])?;
        Ok(vec![Type::new(x.dtype, vec![x.shape[0], depth, x.shape[2] * side, x.shape[3] * side])])
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

impl Movement for DepthToSpace {
    const LINEAR: Option<usize> = Some(0);

    fn rearrange<T: Clone>(&self, x: &[&ArrayD<T>], y: &[Type]) -> Vec<ArrayD<T>> {
        let (side, shape) = (self.blocksize as usize, y[0].extents());
        vec![lanes::build(&shape, |at| {
            let place = at[2] % side * side + at[3] % side;
            let channel =
                if self.depth_first { at[1] * side * side + place } else { place * shape[1] + at[1] };
            x[0][[at[0], channel, at[2] / side, at[3] / side].as_slice()].clone()
        })]
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
    both_orders_and_the_way_back: "
        x = i8[1, 8, 1, 1] {0, 1, 2, 3, 4, 5, 6, 7}
        dcr = i8[1, 2, 2, 2] {0, 2, 4, 6, 1, 3, 5, 7}; crd = i8[1, 2, 2, 2] {0, 1, 2, 3, 4, 5, 6, 7}
        DepthToSpace(x) {blocksize = 2} = dcr
        DepthToSpace(x) {blocksize = 2, mode = 'CRD'} = crd
        SpaceToDepth(dcr) {blocksize = 2} = x
        SpaceToDepth(crd) {blocksize = 2, mode = 'CRD'} = x
        DepthToSpace(x) {blocksize = 3} is refused
    ";
}
