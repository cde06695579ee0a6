//! `DepthToSpace`: blocks of an image's plane from its channels.

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

impl Single for DepthToSpace {
    const ROW: Row = Row::new("DepthToSpace");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let (blocksize, depth) = (side(d), d.dim());
        let dtype = d.dtype(d.allowed())?;
        d.matching(dtype, &[None, Some(depth * blocksize * blocksize), None, None])?;
        Some(DepthToSpace { blocksize, depth_first: d.flag() })
    }
}

/// The side of a block: mostly more than 1, where nothing moves.
pub(super) fn side<'a>(d: &mut Draw<'_, 'a>) -> Sym<'a> {
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

#[cfg(test)]
tables! {
    a_channel_has_its_place_in_the_block_first_or_last: "
        x = i8[1, 8, 1, 1] {0, 1, 2, 3, 4, 5, 6, 7}
        DepthToSpace(x) {blocksize = 2} = i8[1, 2, 2, 2] {0, 2, 4, 6, 1, 3, 5, 7}
        DepthToSpace(x) {blocksize = 2, mode = 'CRD'} = i8[1, 2, 2, 2] {0, 1, 2, 3, 4, 5, 6, 7}
        DepthToSpace(x) {blocksize = 3} is refused
    ";
}
