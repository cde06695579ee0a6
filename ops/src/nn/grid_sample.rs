//! GridSample: elements of an image at positions that another operand says, and between them.

mod around;

use crate::kind::{Integers, Reals};
use crate::prelude::*;
use around::{Around, Axis, Nowhere};

attributes! {
    /// An image at positions between -1 and 1 along each of its axes: the nearest element, or what lies between.
    ///
    /// `x: [N, C, D…], grid: [N, E…, r] → y: [N, C, E…]`
    ///
    /// r is the number of axes D; the last of them comes first in a position. What lies between is a sum of elements, each with a
    /// weight: linear ones, or those of cubic convolution with a = -0.75. What is outside is 0, the element at the
    /// border, or the one that it is a reflection of. Halfway between two elements the even one is nearest; of one that
    /// is reflected as well, implementations part, and so they do beyond a border with `cubic`: there, either is right.
    /// A position that is no number is undefined, and so is an infinite one.
    ///
    /// Before opset 20 `linear` is called `bilinear`, `cubic` `bicubic`, and there are two axes.
    ///
    /// ONNX: [GridSample](https://onnx.ai/onnx/operators/onnx__GridSample.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct GridSample {
        /// What is there between elements.
        pub mode: Mode as "mode" {
            "linear" => Mode::Linear,
            "nearest" => Mode::Nearest,
            "cubic" => Mode::Cubic,
            "bilinear" => Mode::Linear,
            "bicubic" => Mode::Cubic
        } = Mode::Linear,
        /// What is there outside.
        pub padding: Padding as "padding_mode" {
            "zeros" => Padding::Zeros,
            "border" => Padding::Border,
            "reflection" => Padding::Reflection
        } = Padding::Zeros,
        /// Whether -1 and 1 are the middles of the elements at the ends, not their outer edges.
        pub align_corners: bool = false,
    }
}

/// What is there between elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// The nearest of them.
    Nearest,
    /// What is on the line between two.
    Linear,
    /// What is on a curve through four.
    Cubic,
}

/// What is there outside of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Padding {
    /// Nothing but 0.
    Zeros,
    /// The elements at the border.
    Border,
    /// The image, reflected as often as is needed.
    Reflection,
}

/// The first opset in which modes have the names that are written here, and images any number of axes.
const RENAMED: u32 = 20;

impl Single for GridSample {
    const ROW: Row = Row::new("GridSample");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let is_renamed = d.limits.opset >= RENAMED;
        let ranks = if is_renamed && d.chance(0.3) { 3..=5 } else { 4..=4 };
        let x = d.any(ranks)?;
        let is_real = DTypes::FLOATS.contains(x.dtype);
        let modes = [Mode::Linear, Mode::Nearest, Mode::Cubic];
        let mode = if is_real && is_renamed { d.choose(&modes)? } else { Mode::Nearest };
        let padding = d.choose(&[Padding::Zeros, Padding::Border, Padding::Reflection])?;
        let axes = x.rank() - 2;
        let shape: Vec<Option<Sym<'a>>> = std::iter::once(Some(x.shape[0]))
            .chain(std::iter::repeat_n(None, axes))
            .chain([Some((axes as i64).into())])
            .collect();
        let allowed = d.allowed();
        let dtype = if allowed.contains(x.dtype) { x.dtype } else { d.dtype(allowed)? };
        d.matching(dtype, &shape)?;
        Some(GridSample { mode, padding, align_corners: d.flag() })
    }
}

impl<D: Dim> TypeRule<D> for GridSample {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let image = x.ranked_from(0, 3)?;
        let grid = x.ranked(1, image.rank()..=image.rank())?;
        if self.mode != Mode::Nearest && !DTypes::FLOATS.contains(image.dtype) {
            return Err(Reject::DType { operand: 0, found: image.dtype, allowed: DTypes::FLOATS });
        }
        let last = image.rank() - 1;
        r.eq(grid.shape[0], image.shape[0])?;
        r.eq(grid.shape[last], D::from(last as i64 - 1))?;
        image.shape[2..].iter().try_for_each(|&size| r.le(D::from(1), size))?;
        let shape = image.shape[..2].iter().chain(&grid.shape[1..last]).copied().collect::<Vec<_>>();
        Ok(vec![Type::new(image.dtype, shape)])
    }
}

impl GridSample {
    /// What `found` says of each position of the grid for every channel. What is around a position is the same in all of them.
    fn at_positions<A: Arith, T: Clone, P>(
        c: &Call<'_, A>,
        x: &ArrayD<T>,
        around: impl Fn(&[A::R]) -> P,
        found: impl Fn(&P, &[T]) -> T,
    ) -> ArrayD<T> {
        let shape = c.extents(0);
        let (elements, area) = (lanes::broadcast(x, x.shape()), x.shape()[2..].iter().product::<usize>());
        let (images, channels, places) = (shape[0], shape[1], shape[2..].iter().product::<usize>());
        let mut by_channel: Vec<Vec<T>> =
            std::iter::repeat_with(|| Vec::with_capacity(places)).take(images * channels).collect();
        let grid = c.real(1);
        for (number, position) in grid.rows().into_iter().enumerate() {
            let image = number / places;
            // The last axis comes first.
            let around = around(&position.iter().rev().copied().collect::<Vec<_>>());
            for channel in image * channels..(image + 1) * channels {
                by_channel[channel].push(found(&around, &elements[channel * area..][..area]));
            }
        }
        lanes::array(&shape, by_channel.into_iter().flatten().collect())
    }

    /// Sums of elements around each position.
    fn interpolated<A: Arith>(self, c: &Call<'_, A>, x: &ArrayD<A::R>) -> ArrayD<A::R> {
        let a = c.arith;
        let steps = &around::steps(a, c.dtype(1));
        let axes = Axis::all(&x.shape()[2..]);
        let around = |position: &[A::R]| Around::of(self, (a, steps), position, &axes);
        Self::at_positions(c, x, around, |around, image| around.sum(a, image))
    }

    /// The nearest elements.
    fn nearest<A: Arith, K: Kind<A>>(self, c: &Call<'_, A>, x: &Numbers<A, K>) -> Numbers<A, K> {
        let a = c.arith;
        let steps = &around::steps(a, c.dtype(1));
        let axes = Axis::all(&x.shape()[2..]);
        let nearest = |position: &[A::R]| {
            let each = position.iter().zip(&axes);
            let offset = |x: A::R, Axis { size, stride }: Axis| {
                around::nearest(self, steps, x, size).map(|element| element * stride)
            };
            each.map(|(&x, &axis)| offset(x, axis)).sum::<Result<usize, _>>()
        };
        Self::at_positions(c, x, nearest, |nearest, image| match nearest {
            &Ok(place) => image[place],
            Err(Nowhere::Outside) => K::zero(a),
            Err(Nowhere::Unknown) => K::unknown(a),
            Err(Nowhere::Undefined) => K::undefined(a),
        })
    }
}

impl Operator for GridSample {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let axes = x[0].map_or(2, |x| x.rank().saturating_sub(2));
        let (each, is_old) = match self.mode {
            Mode::Nearest => (1, axes == 2),
            Mode::Linear => (4, false),
            Mode::Cubic => (32, false),
        };
        Facts {
            since: if is_old { 13 } else { RENAMED },
            ..Facts::calculates(Cost::PerOutput(each << axes.min(8)), Batch::Together, Some(0), Vec::new())
        }
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        vec![Hazard::Perhaps { operand: 1, low: -1.25, high: 1.25 }]
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        vec![match (self.mode, c.data(0)) {
            (Mode::Linear | Mode::Cubic, Data::Real(x)) => Data::Real(self.interpolated(c, x)),
            (Mode::Nearest, Data::Real(x)) => Data::Real(self.nearest::<A, Reals>(c, x)),
            (_, Data::Int(x)) => Data::Int(self.nearest::<A, Integers>(c, x)),
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{parse, run, tensor};

    #[test]
    fn a_reflection_may_be_reflected() {
        let given = Attributes::new().name("padding_mode", "reflection").flag("align_corners", true);
        let op = parse::<GridSample>("GridSample", &given);
        let row = tensor(DType::F32, &[1, 1, 4], &[0., 1., 2., 3.]);
        // -3.5 by the border 0 and 3: 3.5, and then 2.5.
        let y = run(op, &[&row, &tensor(DType::F32, &[1, 1, 1], &[-10. / 3.])]);
        assert_eq!(y[0] as f32, 2.5);
    }

    tables! {
        the_ends_are_middles_or_edges_of_elements: "
            x = f32[1, 1, 4] {0, 1, 2, 3}; ends = f32[1, 2, 1] {0.75, 1}
            middles = f32[1, 3, 1] {-1, 0, 1}; edges = f32[1, 4, 1] {-1, -0.75, 0, 0.5}
            GridSample(x, middles) {mode = 'linear', align_corners = 1} = f32[1, 1, 3] {0, 1.5, 3}
            // -1 is half an element before the first.
            GridSample(x, edges) {mode = 'linear', padding_mode = 'border'} = f32[1, 1, 4] {0, 0, 1.5, 2.5}
            GridSample(x, ends) {mode = 'bilinear'} = f32[1, 1, 2] {3, 1.5}
        ";
        outside_is_nothing_the_border_or_a_reflection: "
            x = f32[1, 1, 4] {0, 1, 2, 3}; far = f32[1, 2, 1] {-2, 2}; further = f32[1, 3, 1] {-2, 2, 5}
            GridSample(x, far) {mode = 'nearest', padding_mode = 'zeros'} = f32[1, 1, 2] {0, 0}
            GridSample(x, far) {mode = 'nearest', padding_mode = 'border'} = f32[1, 1, 2] {0, 3}
            // -2 is at -2.5, which a reflection by -0.5 brings to 1.5.
            GridSample(x, further) {mode = 'linear', padding_mode = 'reflection'} = f32[1, 1, 3] {1.5, 1.5, 3}
        ";
        the_even_element_is_nearest_of_two: "
            x = f32[1, 1, 4] {0, 1, 2, 3}; between = f32[1, 3, 1] {-2/3, 0, 0.1}
            GridSample(x, between) {mode = 'nearest', align_corners = 1} = f32[1, 1, 3] {0, 2, 2}
            // The last axis comes first.
            x = i8[1, 1, 2, 2] {1, 2, 3, 4}; grid = f32[1, 1, 1, 2] {1, -1}
            GridSample(x, grid) {mode = 'nearest', align_corners = 1} = i8[1, 1, 1, 1] {2}
            GridSample(x, grid) {mode = 'linear', align_corners = 1} is refused
        ";
        a_cubic_curve_goes_through_the_elements: "
            x = f32[1, 1, 4] {0, 1, 2, 3}; ends = f32[1, 2, 1] {-1, 1}
            GridSample(x, ends) {mode = 'cubic', padding_mode = 'border', align_corners = 1} = f32[1, 1, 2] {0, 3}
            // Halfway the weights are -0.09375, 0.59375 and so back: 1.5 of a line.
            GridSample(x, f32[1, 1, 1] {0}) {mode = 'bicubic', align_corners = 1} = f32[1, 1, 1] {1.5}
        ";
        every_image_has_positions_of_its_own_and_all_its_channels_share_them: "
            x = f32[2, 2, 2] {0, 1, 10, 20, 2, 3, 30, 40}; grid = f32[2, 3, 1] {-1, 0, 1, 1, 1, 0}
            between = f32[2, 2, 3] {0, 0.5, 1, 10, 15, 20, 3, 3, 2.5, 40, 40, 35}
            nearest = f32[2, 2, 3] {0, 0, 1, 10, 10, 20, 3, 3, 2, 40, 40, 30}
            GridSample(x, grid) {mode = 'linear', padding_mode = 'border', align_corners = 1} = between
            GridSample(x, grid) {mode = 'nearest', padding_mode = 'border', align_corners = 1} = nearest
        ";
        modes_have_other_names_before_opset_20: "
            GridSample(f32[1, 1, 1, 1], f32[1, 1, 1, 1]) {mode = 'linear'} is there since 20
            GridSample(f32[1, 1, 1, 1], f32[1, 1, 1, 1]) {mode = 'nearest'} is there since 13
            GridSample(f32[1, 1, 1, 1, 1], f32[1, 1, 1, 1, 1]) {mode = 'nearest'} is there since 20
        ";
    }
}
