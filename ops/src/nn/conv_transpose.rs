//! `ConvTranspose`: what the gradient of a convolution is. Each element spreads over the results under a window; seen from
//! a result, it is a convolution with cells of its own, which steps over elements.

use ndarray::Array2;

use crate::nn::correlate::{correlated, nothing, operands, spatial};
use crate::nn::window::{self, AutoPad, Axis, Tap, Window, length, taps};
use crate::prelude::*;

attributes! {
    /// Each element spread with weights over the results under a window: what the gradient of a convolution is.
    ///
    /// `x: [N, C, spatial…], w: [C, M / group, kernel…], b: [M] → y: [N, M, sizes…]`
    ///
    /// A size is stride · (size of x − 1) + output_padding + dilation · (kernel − 1) + 1, less the padding; or what
    /// `output_shape` says; or, with SAME_UPPER and SAME_LOWER, stride · size of x. In these cases the padding follows, and
    /// where it would be negative, what is on the results beyond is undefined. Which end of an odd padding has more of it is as
    /// opset 11 says, as runtimes have it in any; the equations of opset 1 say the reverse.
    ///
    /// ONNX: [ConvTranspose](https://onnx.ai/onnx/operators/onnx__ConvTranspose.html).
    #[derive(Clone, PartialEq, Debug)]
    pub struct ConvTranspose<D> {
        /// How the kernel slides over the results.
        pub window: Window<D> as part,
        /// The number of groups that the channels fall into.
        pub group: D as size = 1,
        /// The kernel's spatial shape, where it is stated; W has it in any case.
        pub kernel_shape: Option<Vec<D>> as sizes,
        /// What is added to each size, by axis.
        pub output_padding: Option<Vec<D>> as sizes,
        /// The spatial sizes, where they are stated.
        pub output_shape: Option<Vec<D>> as sizes,
    }
}

impl Single for ConvTranspose {
    const ROW: Row = Row::new("ConvTranspose");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(3..=5)?;
        let w = d.fresh(x.dtype, x.rank());
        let group: Sym<'a> = if d.chance(0.4) { d.parts(x.shape[1], 8) } else { 1.into() };
        if d.chance(0.5) {
            d.fresh_like(x.dtype, vec![w.shape[1] * group]);
        }
        let (n, kernel_shape) = (x.rank() - 2, d.chance(0.5).then(|| w.shape[2..].to_vec()));
        let mut window = Window::draw(d, n, true, false);
        let output_padding =
            (!window.auto_pad.is_same() && d.chance(0.3)).then(|| (0..n).map(|_| d.unknown(0, 2)).collect());
        let most = d.limits.max_dim;
        let states = window.auto_pad == AutoPad::NotSet && d.chance(0.2);
        let output_shape = states.then(|| (0..n).map(|_| d.unknown(1, most)).collect());
        if output_shape.is_some() {
            window.pads = Vec::new();
        }
        Some(ConvTranspose { window, group, kernel_shape, output_padding, output_shape })
    }
}

impl<D: Dim> ConvTranspose<D> {
    /// What is added to the size of an axis.
    fn added(&self, i: usize) -> D {
        let entry = self.output_padding.as_ref().and_then(|list| list.get(i).copied());
        entry.unwrap_or_else(|| D::from(0))
    }

    /// The size of the results on an axis if nothing is cut off, for an input and a kernel of these sizes.
    fn whole(&self, i: usize, input: D, kernel: D) -> D {
        let one = D::from(1);
        let span = (kernel - one) * self.window.dilation(i) + one;
        (input - one) * self.window.stride(i) + self.added(i) + span
    }

    /// The spatial sizes of the results.
    fn sizes(&self, r: &mut dyn Rule<D>, input: &[D], kernel: &[D]) -> Result<Vec<D>, Reject> {
        let (n, window) = (input.len(), &self.window);
        let given = |list: &Option<Vec<D>>| list.as_ref().map_or(0, Vec::len);
        for (name, found, wanted) in [
            ("strides", window.strides.len(), n),
            ("dilations", window.dilations.len(), n),
            ("pads", window.pads.len(), 2 * n),
            ("output_padding", given(&self.output_padding), n),
            ("output_shape", given(&self.output_shape), n),
        ] {
            if found > 0 {
                length(name, found, wanted)?;
            }
        }
        (0..n).map(|i| self.size(r, i, input[i], kernel[i])).collect()
    }

    fn size(&self, r: &mut dyn Rule<D>, i: usize, input: D, kernel: D) -> Result<D, Reject> {
        let (zero, one) = (D::from(0), D::from(1));
        let (stride, dilation, added) = (self.window.stride(i), self.window.dilation(i), self.added(i));
        for positive in [input, kernel, stride, dilation] {
            r.le(one, positive)?;
        }
        r.le(zero, added)?;
        // An element that was added beyond the reach of a step would be one more position.
        r.le(added + one, stride.at_least(dilation))?;
        let whole = self.whole(i, input, kernel);
        let size = match (&self.output_shape, self.window.auto_pad) {
            (Some(sizes), _) if !sizes.is_empty() => sizes[i],
            (_, AutoPad::SameUpper | AutoPad::SameLower) => input * stride,
            (_, AutoPad::Valid) => whole,
            (_, AutoPad::NotSet) => {
                let [begin, end] = self.window.pads(i);
                r.le(zero, begin)?;
                r.le(zero, end)?;
                whole - begin - end
            }
        };
        r.le(one, size)?;
        Ok(size)
    }
}

impl<D: Dim> TypeRule<D> for ConvTranspose<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let stated = self.kernel_shape.as_deref();
        let maps = |w: &Type<D>| w.shape[1] * self.group;
        let (input, w, maps) = operands(x, r, self.group, stated, |w| w.shape[0], maps)?;
        let mut shape = vec![input.shape[0], maps];
        shape.extend(self.sizes(r, &input.shape[2..], &w.shape[2..])?);
        Ok(vec![Type::new(input.dtype, shape)])
    }
}

impl ConvTranspose {
    /// Whether the sizes of the results are stated.
    fn states_sizes(&self) -> bool {
        self.output_shape.as_ref().is_some_and(|sizes| !sizes.is_empty())
    }

    /// Whether sizes are such that the padding follows from them.
    fn pads_by_size(&self) -> bool {
        self.states_sizes() || self.window.auto_pad.is_same()
    }

    /// What is cut off on an axis, at both ends together, where that follows from the sizes.
    fn cut(&self, i: usize, input: i64, kernel: i64, output: i64) -> i64 {
        self.whole(i, input, kernel) - output
    }

    /// Whether the standard leaves open what the results are: what is to be cut off is less than nothing, or an attribute is
    /// there beside one of which the text and ONNX's own inference of shapes say different sizes.
    fn is_open(&self, input: &[i64], kernel: &[i64], output: &[i64]) -> bool {
        let states = self.states_sizes();
        let adds = self.output_padding.iter().flatten().any(|&added| added > 0);
        let is_less = |i: usize| self.cut(i, input[i], kernel[i], output[i]) < 0;
        (self.window.auto_pad.is_same() && adds && !states)
            || (states && self.window.auto_pad == AutoPad::Valid)
            || (self.pads_by_size() && (0..input.len()).any(is_less))
    }

    /// The axes of a window over the results, whose positions are the elements of the input.
    fn axes(&self, input: &[i64], kernel: &[i64], output: &[i64]) -> Vec<Axis> {
        let axis = |i: usize| {
            let cut = self.cut(i, input[i], kernel[i], output[i]).max(0);
            let begin = match self.window.auto_pad {
                AutoPad::SameUpper => cut / 2,
                _ if self.pads_by_size() => cut - cut / 2,
                AutoPad::NotSet => self.window.pads(i)[0],
                AutoPad::Valid | AutoPad::SameLower => 0,
            };
            Axis { stride: self.window.stride(i), dilation: self.window.dilation(i), begin, end: 0 }
        };
        (0..input.len()).map(axis).collect()
    }
}

/// For each result the elements that reach it, and the cells by which they do.
fn reached(axes: &[Axis], input: &[i64], kernel: &[i64], output: &[i64]) -> Vec<Vec<Tap>> {
    let mut by_result = vec![Vec::new(); i64::product(output) as usize];
    for (element, taps) in taps(axes, output, kernel, input).into_iter().enumerate() {
        for Tap { input: result, cell } in taps {
            by_result[result].push(Tap { input: element, cell });
        }
    }
    by_result
}

impl Operator for ConvTranspose {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let cells = x[1].map_or(0, |w| w.shape[1..].iter().product::<i64>()) as u64;
        // A bias is not scaled along.
        let linear = (x.len() == 2).then_some(0);
        let (cost, batch) = (Cost::PerInput(2 * cells), Batch::meeting(x, &[]));
        Facts::calculates(cost, batch, linear, vec![(0, Edge::Stall)])
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let [Some(input), Some(w), ..] = x else { return Vec::new() };
        let (input, kernel) = (&input.shape[2..], &w.shape[2..]);
        let sizes = rule::accepted(self.sizes(&mut Check, input, kernel));
        self.is_open(input, kernel, &sizes).then_some(Hazard::Always).into_iter().collect()
    }

    fn effort(&self, x: &[Option<&Type>], y: &[Type]) -> Effort {
        let [Some(Some(a)), Some(Some(w))] = [x.first(), x.get(1)] else { return Effort::NONE };
        window::effort(self.facts(x).cost.flops(x, y), &w.shape[2..], &a.shape[2..], &y[0])
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        if let Some(nothing) = nothing(c) {
            return vec![nothing];
        }
        let (x, w) = (c.real(0), c.real(1));
        let (input, kernel, output) = (spatial(x.shape()), spatial(w.shape()), &c.outputs[0].shape[2..]);
        let cells = reached(&self.axes(&input, &kernel, output), &input, &kernel, output);
        let groups = self.group as usize;
        let (per_group, maps) = (w.shape()[0] / groups, w.shape()[1]);
        let area = i64::product(&kernel) as usize;
        let w: Vec<A::R> = w.iter().copied().collect();
        // The filter of a result has what each channel of its group spreads to it.
        let filters: Vec<Array2<A::R>> = (0..groups)
            .map(|group| {
                Array2::from_shape_fn((maps, per_group * area), |(map, i)| {
                    w[((group * per_group + i / area) * maps + map) * area + i % area]
                })
            })
            .collect();
        let y = Data::Real(lanes::array(&c.extents(0), correlated(c, &filters, area, &cells)));
        vec![if self.is_open(&input, &kernel, output) { y.unspecified(c.arith) } else { y }]
    }
}

#[cfg(test)]
tables! {
    every_element_spreads_and_sums_meet: "
        x = f32[1, 1, 3] {1, 2, 3}; w = f32[1, 2, 2] {1, 10, 0, -1}; bias = f32[2] {0.5, 0}
        ConvTranspose(x, w, bias) = f32[1, 2, 4] {1.5, 12.5, 23.5, 30.5, 0, -1, -2, -3}
    ";
    steps_leave_gaps_and_padding_cuts: "
        x = f32[1, 1, 2] {1, 2}; w = f32[1, 1, 2] {1, 10}
        ConvTranspose(x, w) {strides = [3], output_padding = [1]} = f32[1, 1, 6] {1, 10, 0, 2, 20, 0}
        ConvTranspose(x, w) {dilations = [2], pads = [1, 0]} = f32[1, 1, 3] {2, 10, 20}
    ";
    an_odd_cell_is_cut_where_the_text_says: "
        // All of it is 1, 10, 102, 20, 200.
        x = f32[1, 1, 2] {1, 2}; w = f32[1, 1, 3] {1, 10, 100}
        ConvTranspose(x, w) {strides = [2], auto_pad = 'SAME_UPPER'} = f32[1, 1, 4] {1, 10, 102, 20}
        ConvTranspose(x, w) {strides = [2], auto_pad = 'SAME_LOWER'} = f32[1, 1, 4] {10, 102, 20, 200}
        ConvTranspose(x, w) {strides = [2], auto_pad = 'VALID'} = f32[1, 1, 5] {1, 10, 102, 20, 200}
        ConvTranspose(x, w) {strides = [2], output_shape = [4]} = f32[1, 1, 4] {10, 102, 20, 200}
        ConvTranspose(x, w) {strides = [2], output_shape = [3]} = f32[1, 1, 3] {10, 102, 20}
        ConvTranspose(x, w) {strides = [2], output_shape = [6]} has the hazards [Always]
    ";
    a_stated_size_goes_before_that_of_automatic_padding_which_says_where_an_odd_cell_goes: "
        x = f32[1, 1, 2] {1, 2}; w = f32[1, 1, 3] {1, 10, 100}; y = f32[1, 1, 3] {102, 20, 200}
        ConvTranspose(x, w) {strides = [2], output_shape = [2], auto_pad = 'SAME_UPPER'} = f32[1, 1, 2] {10, 102}
        ConvTranspose(x, w) {strides = [2], output_shape = [2], auto_pad = 'SAME_UPPER'} has the hazards []
        ConvTranspose(x, w) {strides = [2], output_shape = [2], auto_pad = 'SAME_LOWER'} = f32[1, 1, 2] {102, 20}
        ConvTranspose(x, w) {strides = [2], output_shape = [3], output_padding = [1], auto_pad = 'SAME_UPPER'} = f32[1, 1, 3] {10, 102, 20}
        ConvTranspose(x, w) {strides = [2], output_shape = [3], output_padding = [1], auto_pad = 'SAME_LOWER'} = y
        ConvTranspose(x, w) {strides = [2], output_shape = [3], output_padding = [1], auto_pad = 'SAME_LOWER'} has the hazards []
        ConvTranspose(x, w) {strides = [2], output_padding = [1], auto_pad = 'SAME_UPPER'} has the hazards [Always]
    ";
    groups_keep_apart: "
        x = f64[1, 2, 1] {3, 5}; w = f64[2, 1, 1] {2, -1}
        ConvTranspose(x, w) {group = 2} = f64[1, 2, 1] {6, -5}
        ConvTranspose(x, w) = f64[1, 1, 1] {1}
    ";
}
