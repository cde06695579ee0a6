//! Conv: cross-correlation over any number of spatial axes, in groups.

use ndarray::Array2;

use crate::nn::correlate::{correlated, nothing, operands, spatial};
use crate::nn::window::{self, Window, taps};
use crate::prelude::*;

attributes! {
    /// Sums of products of the elements under a window with weights.
    ///
    /// `x: [N, C, spatial…], w: [M, C / group, kernel…], b: [M] → y: [N, M, positions…]`
    ///
    /// The bias may be absent. Padding is zeros. Where the padding of SAME_UPPER and SAME_LOWER would be negative, what
    /// the windows see is undefined.
    ///
    /// ONNX: [Conv](https://onnx.ai/onnx/operators/onnx__Conv.html).
    #[derive(Clone, PartialEq, Debug)]
    pub struct Conv<D> {
        /// How the kernel slides.
        pub window: Window<D> as part,
        /// The number of groups that the channels fall into.
        pub group: D as size = 1,
        /// The kernel's spatial shape, where it is stated; W has it in any case.
        pub kernel_shape: Option<Vec<D>> as sizes,
    }
}

impl Single for Conv {
    const ROW: Row = Row::new("Conv");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(3..=5)?;
        let w = d.fresh(x.dtype, x.rank());
        if d.chance(0.5) {
            d.fresh_like(x.dtype, vec![w.shape[0]]);
        }
        let group = if d.chance(0.4) { d.parts(x.shape[1], 8) } else { 1.into() };
        let kernel_shape = d.chance(0.5).then(|| w.shape[2..].to_vec());
        Some(Conv { window: Window::draw(d, x.rank() - 2, true, false), group, kernel_shape })
    }
}

impl<D: Dim> TypeRule<D> for Conv<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let stated = self.kernel_shape.as_deref();
        let channels = |w: &Type<D>| w.shape[1] * self.group;
        let (input, w, maps) = operands(x, r, self.group, stated, channels, |w| w.shape[0])?;
        let mut shape = vec![input.shape[0], maps];
        shape.extend(self.window.positions(r, &input.shape[2..], &w.shape[2..])?);
        Ok(vec![Type::new(input.dtype, shape)])
    }
}

impl Operator for Conv {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let taps = x[1].map_or(0, |w| w.shape[1..].iter().product::<i64>()) as u64;
        let bias = u64::from(operator::operand(x, 2).is_some());
        // A bias is not scaled along.
        let linear = (x.len() == 2).then_some(0);
        let (cost, batch) = (Cost::PerOutput(2 * taps + bias), Batch::meeting(x, &[]));
        Facts::calculates(cost, batch, linear, vec![(0, Edge::Stall)])
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let [Some(Some(x)), Some(Some(w))] = [x.first(), x.get(1)] else { return Vec::new() };
        let is_open = self.window.is_open(&x.shape[2..], &w.shape[2..]);
        is_open.then_some(Hazard::Always).into_iter().collect()
    }

    fn effort(&self, x: &[Option<&Type>], y: &[Type]) -> Effort {
        let Some(Some(w)) = x.get(1) else { return Effort::NONE };
        window::effort(self.facts(x).cost.flops(x, y), &w.shape[2..], &y[0].shape[2..], &y[0])
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        if let Some(nothing) = nothing(c) {
            return vec![nothing];
        }
        let (x, w) = (c.real(0), c.real(1));
        let (input, kernel) = (spatial(x.shape()), spatial(w.shape()));
        let cells = taps(&self.window.axes(&input, &kernel), &input, &kernel, &c.outputs[0].shape[2..]);
        let kernel_area = i64::product(&kernel) as usize;
        let (groups, per_output) = (self.group as usize, w.shape()[1] * kernel_area);
        let per_group = w.shape()[0] / groups;
        let w: Vec<A::R> = w.iter().copied().collect();
        let filters: Vec<Array2<A::R>> = (0..groups)
            .map(|group| w[group * per_group * per_output..][..per_group * per_output].to_vec())
            .map(|w| {
                Array2::from_shape_vec((per_group, per_output), w).expect("as many weights as filters have")
            })
            .collect();
        let y = Data::Real(lanes::array(&c.extents(0), correlated(c, &filters, kernel_area, &cells)));
        vec![if self.window.is_open(&input, &kernel) { y.unspecified(c.arith) } else { y }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::parse;

    #[test]
    fn no_images_cost_nothing_however_large_they_are() {
        // 5 · 10¹⁵ cells of windows.
        let large = Type::new(DType::F32, [0, 1, 1 << 13, 1 << 13]);
        let same = parse::<Conv>("Conv", &Attributes::new().name("auto_pad", "SAME_UPPER"));
        let y = Type::new(DType::F32, [0, 0, 1 << 13, 1 << 13]);
        assert_eq!(same.effort(&[Some(&large), Some(&large)], &[y]), Effort::NONE);
    }

    tables! {
        large_images_of_which_there_are_none_give_none: "
            Conv(f32[0, 1, 8192, 8192], f32[0, 1, 8192, 8192]) {auto_pad = 'SAME_UPPER'}: f32[0, 0, 8192, 8192]
        ";
        conv_pads_strides_and_groups: "
            x = f32[1, 2, 4] {1, 2, 3, 4, 10, 20, 30, 40}; w = f32[2, 1, 2] {1, 10, 1, -1}
            Conv(x, w) {group = 2, strides = [2], pads = [1, 0]} = f32[1, 2, 2] {10, 32, -10, -10}
        ";
    }
}
