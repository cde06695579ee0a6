//! Pad: elements added at the ends of axes, or taken away.

use crate::prelude::*;

/// What is added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PadMode {
    /// The constant operand, or 0.
    Constant,
    /// The axis mirrored at its first and last element, which are not repeated.
    Reflect,
    /// The first and the last element.
    Edge,
    /// The axis from its other end, as on a ring.
    Wrap,
}

attributes! {
    /// x with elements added before and behind it.
    ///
    /// `x: [s…], value: [] → y: [sᵢ + beginᵢ + endᵢ, …]`
    ///
    /// What is added is a value, the mirrored inside (`reflect`), the nearest element (`edge`) or the other end
    /// (`wrap`). Negative pads crop, nothing that is not there. Whether the mirror and the ring are of what is left or of all that was
    /// there, ONNX leaves open: where both give another element, the result is undecidable.
    ///
    /// ONNX: [Pad](https://onnx.ai/onnx/operators/onnx__Pad.html).
    #[derive(Clone, PartialEq, Debug)]
    pub struct Pad<D> {
        /// What is added.
        pub mode: PadMode as "mode" {
            "constant" => PadMode::Constant,
            "reflect" => PadMode::Reflect,
            "edge" => PadMode::Edge,
            "wrap" => PadMode::Wrap,
        } = PadMode::Constant,
        /// How much is added before each axis of `axes`, then after each.
        pub pads: Vec<D> as sizes,
        /// The axes that are padded; without it, all.
        pub axes: Option<Vec<i64>>,
    }
}

impl PadMode {
    /// Every mode.
    pub const ALL: [Self; 4] = [Self::Constant, Self::Reflect, Self::Edge, Self::Wrap];

    /// The first opset that has the mode.
    const fn since(self) -> u32 {
        match self {
            Self::Constant | Self::Reflect | Self::Edge => 13,
            Self::Wrap => 19,
        }
    }

    /// The element of an axis of `size` that stands at a position before, on or after the axis. As in numpy,
    /// reflection goes on however far the padding reaches.
    fn source(self, at: i64, size: i64) -> Option<i64> {
        match self {
            _ if (0..size).contains(&at) => Some(at),
            Self::Constant => None,
            Self::Reflect if size == 1 => Some(0),
            Self::Reflect => {
                let there_and_back = 2 * (size - 1);
                let along = at.rem_euclid(there_and_back);
                Some(along.min(there_and_back - along))
            }
            Self::Edge => Some(at.clamp(0, size - 1)),
            Self::Wrap => Some(at.rem_euclid(size)),
        }
    }
}

impl Single for Pad {
    const ROW: Row = Row::new("Pad").with(&[spec::list("pads"), spec::list("axes")]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(0..=d.limits.max_rank)?;
        let modes: Vec<PadMode> = PadMode::ALL.into_iter().filter(|m| m.since() <= d.limits.opset).collect();
        let mode = d.choose(&modes)?;
        // The operand is legal but without effect in the other modes.
        if d.chance(if mode == PadMode::Constant { 0.6 } else { 0.1 }) {
            d.of(x.dtype, 0..=0)?;
        }
        let axes = (d.has("axes") && d.chance(0.5)).then(|| d.axes(x.rank(), 1));
        let count = axes.as_ref().map_or(x.rank(), Vec::len);
        let least = if d.chance(0.25) { -2 } else { 0 };
        let pads = (0..2 * count).map(|_| d.unknown(least, 3)).collect();
        Some(Pad { mode, pads, axes })
    }
}

impl<D: Dim> Pad<D> {
    /// What is added before and after each axis.
    pub fn by_axis(&self, rank: usize) -> Result<Vec<[D; 2]>, Reject> {
        let axes = match &self.axes {
            Some(list) => rule::axes(list, rank)?,
            None => (0..rank).collect(),
        };
        let n = axes.len();
        if self.pads.len() != 2 * n {
            return Err(Reject::Length { name: "pads", found: self.pads.len(), wanted: 2 * n });
        }
        let mut by_axis = vec![[D::from(0); 2]; rank];
        for (i, axis) in axes.into_iter().enumerate() {
            by_axis[axis] = [self.pads[i], self.pads[n + i]];
        }
        Ok(by_axis)
    }
}

impl<D: Dim> TypeRule<D> for Pad<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let data = x.need(0)?;
        if let Some(value) = x.opt(1) {
            rule::same_dtype(&[data, value])?;
            // A list of one element passes for a scalar, as it does in practice.
            r.eq(x.ranked(1, 0..=1)?.count(), D::from(1))?;
        }
        let zero = D::from(0);
        let mut shape = Vec::with_capacity(data.rank());
        for ([before, after], &size) in self.by_axis(data.rank())?.into_iter().zip(&data.shape) {
            let left = size + before.at_most(zero) + after.at_most(zero);
            r.le(zero, left)?;
            let padded = size + before + after;
            if self.mode != PadMode::Constant {
                // An axis with nothing left has nothing to copy from.
                r.le(padded, left * D::from(ir::dim::LIMIT))?;
            }
            shape.push(padded);
        }
        Ok(vec![Type::new(data.dtype, shape)])
    }
}

impl EitherKind for Pad {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts { since: self.mode.since(), ..Facts::moves(Reads::Elements, None) }
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn outputs<A: Arith, K: Kind<A>>(&self, c: &Call<'_, A>, x: &Numbers<A, K>) -> Vec<Numbers<A, K>> {
        let constant = K::operand(c, 1).and_then(|value| value.first().copied());
        let constant = constant.unwrap_or_else(|| K::zero(c.arith));
        let by_axis = rule::accepted(self.by_axis(x.ndim()));
        let cropped_first = |axis: usize, at: usize| {
            let [before, after] = by_axis[axis];
            let left = x.shape()[axis] as i64 + before.min(0) + after.min(0);
            let from = self.mode.source(at as i64 - before.max(0), left)?;
            // What was cropped before lies in front of it.
            Some((from - before.min(0)) as usize)
        };
        let padded_first = |axis: usize, at: usize| {
            let [before, _] = by_axis[axis];
            self.mode.source(at as i64 - before, x.shape()[axis] as i64).map(|from| from as usize)
        };
        let shape = c.extents(0);
        let of_axis =
            |axis: usize| (0..shape[axis]).map(move |at| [cropped_first(axis, at), padded_first(axis, at)]);
        let sources: Vec<Vec<[Option<usize>; 2]>> =
            (0..x.ndim()).map(|axis| of_axis(axis).collect()).collect();
        let place = |at: &[usize], order: usize| {
            let mut axes = at.iter().zip(&sources).zip(x.shape());
            axes.try_fold(0, |place, ((&at, sources), &size)| Some(place * size + sources[at][order]?))
        };
        let from = lanes::broadcast(x, x.shape());
        vec![lanes::build(&shape, |at| {
            let place_of_cropped = place(at, 0);
            let element = place_of_cropped.map_or(constant, |place| from[place]);
            if place_of_cropped == place(at, 1) { element } else { K::unspecified(c.arith, element) }
        })]
    }
}

#[cfg(test)]
tables! {
    each_mode_fills_both_ends: "
        Pad(i32[2]) {mode = 'constant', pads = [1, 2]} = i32[5] {0, 0, 1, 0, 0}
        Pad(i32[3]) {mode = 'reflect', pads = [2, 1]} = i32[6] {2, 1, 0, 1, 2, 1}
        Pad(i32[3]) {mode = 'edge', pads = [2, 1]} = i32[6] {0, 0, 0, 1, 2, 2}
        Pad(i32[3]) {mode = 'wrap', pads = [2, 1]} = i32[6] {1, 2, 0, 1, 2, 0}
    ";
    padding_may_be_longer_than_the_axis: "
        Pad(i32[2]) {mode = 'reflect', pads = [4, 0]} = i32[6] {0, 1, 0, 1, 0, 1}
        Pad(i32[1]) {mode = 'reflect', pads = [1, 2]} = i32[4] {0, 0, 0, 0}
        Pad(i32[2]) {mode = 'wrap', pads = [3, 0]} = i32[5] {1, 0, 1, 0, 1}
    ";
    negative_pads_crop_first: "
        Pad(i32[5]) {mode = 'constant', pads = [-1, -2]} = i32[2] {1, 2}
        Pad(i32[3]) {mode = 'edge', pads = [-1, 2]} = i32[4] {1, 2, 2, 2}
        Pad(i32[3]) {mode = 'wrap', pads = [1, -1]} = i32[3] {1, 0, 1}
        Pad(i32[2]) {mode = 'constant', pads = [-3, 3]} is refused
    ";
    axes_and_the_constant_are_optional: "
        Pad(u8[1, 2] {1, 2}, u8[] {9}) {pads = [1, 0], axes = [-2]} = u8[2, 2] {9, 9, 1, 2}
        Pad(i32[0]) {mode = 'edge', pads = [1, 0]} is refused
    ";
}
