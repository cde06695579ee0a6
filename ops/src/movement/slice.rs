//! Slice: every step-th element between a start and an end, along some axes.

use crate::prelude::*;

attributes! {
    /// Every so many elements between a start and an end, along some axes.
    ///
    /// `x: [s…] → y: [⌈(endᵢ - startᵢ) / stepᵢ⌉, …]`
    ///
    /// Negative starts and ends count from the axis' end; both are then clamped to what the axis has. Negative steps go
    /// backwards. Where a start or an end is not known yet, it is taken not to be negative.
    ///
    /// ONNX: [Slice](https://onnx.ai/onnx/operators/onnx__Slice.html).
    #[derive(Clone, PartialEq, Debug)]
    pub struct Slice<D> {
        /// The first element, by entry of `axes`.
        pub starts: Vec<D> as sizes { Clamped },
        /// The element to stop before, by entry of `axes`.
        pub ends: Vec<D> as sizes { Clamped },
        /// The axes that are sliced; without it, the first ones.
        pub axes: Option<Vec<i64>>,
        /// The distance from one element to the next, by entry of `axes`; without it, 1.
        pub steps: Option<Vec<i64>> { Steps },
    }
}

/// The distances there may be: none of 0.
struct Steps;

impl Among<i64> for Steps {
    fn admit(&self, step: i64) -> Result<i64, String> {
        if step == 0 { Err("other than 0".to_owned()) } else { Clamped.admit(step) }
    }
}

/// What is taken from one axis: `count` elements from `start` on, `step` apart.
struct Cut<D> {
    start: D,
    step: i64,
    count: D,
}

impl Single for Slice {
    const ROW: Row = Row::new("Slice").with(&[
        spec::list("starts"),
        spec::list("ends"),
        spec::list("axes"),
        spec::list("steps"),
    ]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(0..=d.limits.max_rank)?;
        let axes = d.chance(0.7).then(|| d.axes(x.rank(), 1));
        let count = axes.as_ref().map_or(x.rank(), Vec::len);
        let most = d.limits.max_dim;
        let stepped = d.chance(0.5);
        let steps: Vec<i64> = (0..count)
            .map(|_| if stepped { d.choose(&[1, 2, 3, -1, -2, -3]).unwrap_or(1) } else { 1 })
            .collect();
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for &step in &steps {
            let (low, high) = (d.unknown(0, most), d.unknown(0, most + 2));
            let (start, end) = if step > 0 { (low, high) } else { (high, low) };
            starts.push(if d.chance(0.2) { d.int(-most, -1).into() } else { start });
            ends.push(match d.int(0, 9) {
                // Beyond whatever the axis has: how exporters spell "to the end".
                0 => (ir::dim::LIMIT * step.signum()).into(),
                1 => d.int(-most, -1).into(),
                _ => end,
            });
        }
        let steps = (stepped || d.chance(0.5)).then_some(steps);
        Some(Slice { starts, ends, axes, steps })
    }
}

impl<D: Dim> Slice<D> {
    /// What is taken from each axis of a shape.
    fn cuts(&self, r: &mut dyn Rule<D>, shape: &[D]) -> Result<Vec<Cut<D>>, Reject> {
        let wanted = self.starts.len();
        let lengths = [
            ("ends", Some(self.ends.len())),
            ("axes", self.axes.as_ref().map(Vec::len)),
            ("steps", self.steps.as_ref().map(Vec::len)),
        ];
        for (name, found) in lengths {
            if let Some(found) = found.filter(|&found| found != wanted) {
                return Err(Reject::Length { name, found, wanted });
            }
        }
        let sliced = match &self.axes {
            Some(list) => rule::axes(list, shape.len())?,
            None => rule::axes(&(0..wanted as i64).collect::<Vec<_>>(), shape.len())?,
        };
        let mut cuts: Vec<_> = shape.iter().map(|&count| Cut { start: D::from(0), step: 1, count }).collect();
        for (i, axis) in sliced.into_iter().enumerate() {
            let step = self.steps.as_ref().map_or(1, |s| s[i]);
            cuts[axis] = cut(r, self.starts[i], self.ends[i], step, shape[axis])?;
        }
        Ok(cuts)
    }
}

fn cut<D: Dim>(r: &mut dyn Rule<D>, start: D, end: D, step: i64, size: D) -> Result<Cut<D>, Reject> {
    let (zero, one) = (D::from(0), D::from(1));
    let stride = D::from(step.abs());
    r.le(one, stride)?;
    let from_end = |v: D| if v.known().is_some_and(|v| v < 0) { v + size } else { v };
    let (start, end) = (from_end(start), from_end(end));
    let (start, length) = if step > 0 {
        let (start, end) = (start.at_least(zero).at_most(size), end.at_least(zero).at_most(size));
        (start, end - start)
    } else {
        let last = size - one;
        let (start, end) = (start.at_least(zero).at_most(last), end.at_least(D::from(-1)).at_most(last));
        (start, start - end)
    };
    Ok(Cut { start, step, count: (length + stride - one).at_least(zero) / stride })
}

impl<D: Dim> TypeRule<D> for Slice<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        let shape: Vec<D> = self.cuts(r, &x.shape)?.into_iter().map(|c| c.count).collect();
        Ok(vec![Type::new(x.dtype, shape)])
    }
}

impl Movement for Slice {
    const LINEAR: Option<usize> = Some(0);

    fn rearrange<T: Clone>(&self, x: &[&ArrayD<T>], y: &[Type]) -> Vec<ArrayD<T>> {
        let shape: Vec<i64> = x[0].shape().iter().map(|&d| d as i64).collect();
        let cuts = rule::accepted(self.cuts(&mut Check, &shape));
        let from = |axis: usize, at: usize| (cuts[axis].start + at as i64 * cuts[axis].step) as usize;
        vec![lanes::by_axis(x[0], &y[0].extents(), from)]
    }
}

#[cfg(test)]
tables! {
    the_examples_of_the_specification: "
        Slice(i32[2, 4]) {starts = [1, 0], ends = [2, 3], axes = [0, -1], steps = [1, 2]} = i32[1, 2] {4, 6}
        Slice(i32[2, 4]) {starts = [0, 1], ends = [-1, 1000]} = i32[1, 3] {1, 2, 3}
    ";
    backward_slices_clamp_on_both_sides: "
        Slice(i32[5]) {starts = [9223372036854775807], ends = [-9223372036854775808], steps = [-1]} = i32[5] {4, 3, 2, 1, 0}
        Slice(i32[5]) {starts = [-1], ends = [0], steps = [-2]} = i32[2] {4, 2}
        Slice(i32[5]) {starts = [3], ends = [-1], steps = [-1]} = i32[0]
        Slice(i32[5]) {starts = [-9], ends = [-9223372036854775808], steps = [-3]} = i32[1] {0}
    ";
    empty_results_and_empty_axes: "
        Slice(i32[5]) {starts = [4], ends = [1], steps = [3]} = i32[0]
        Slice(i32[5]) {starts = [5], ends = [9223372036854775807], steps = [1]} = i32[0]
        Slice(i32[0]) {starts = [9], ends = [-9], steps = [-1]} = i32[0]
    ";
}
