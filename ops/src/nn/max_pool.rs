//! `MaxPool`: the largest element under a window, and where it was.

use crate::kind::{Integers, Reals};
use crate::nn::pooling::{Pooling, View, undefined_if};
use crate::nn::window::Tap;
use crate::prelude::*;

attributes! {
    /// The largest element under a window that slides over each channel, and where it is.
    ///
    /// `x: [N, C, spatial…] → y: [N, C, positions…], indices: the same, i64`
    ///
    /// Padding never wins, and NaN counts as the largest. Of equal elements the index may be that of any, as the text does not
    /// choose; here it is the first. What a window that sees no element gives is undefined; and so is the result where the
    /// padding of SAME_UPPER and SAME_LOWER would be negative.
    ///
    /// ONNX: [MaxPool](https://onnx.ai/onnx/operators/onnx__MaxPool.html).
    #[derive(Clone, PartialEq, Debug)]
    pub struct MaxPool<D> {
        /// How the kernel slides, and its size.
        pub pool: Pooling<D> as part,
        /// Whether the second output numbers the elements of an image with the first spatial axis running fastest.
        /// Images are numbered in row-major order in any case: the standard speaks of one image only.
        pub column_major: bool as "storage_order" = false,
        /// How many outputs there are; the second one says where in X each element was.
        pub outputs: i64 { 1..=2 } = 1,
    }
}

impl Single for MaxPool {
    const ROW: Row = Row::new("MaxPool").with(&[spec::outputs("outputs")]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let pool = Pooling::draw(d)?;
        // With equal elements it is open which one is pointed to, so the second output is kept rare.
        let outputs = if d.limits.dtypes.contains(DType::I64) && d.chance(0.15) { 2 } else { 1 };
        Some(MaxPool { pool, column_major: outputs == 2 && d.flag(), outputs })
    }
}

impl<D: Dim> TypeRule<D> for MaxPool<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let y = self.pool.infer(x, r)?;
        self.pool.reach_in(r)?;
        let places = (self.outputs == 2).then(|| y.with_dtype(DType::I64));
        Ok(std::iter::once(y).chain(places).collect())
    }
}

impl MaxPool {
    /// The number that the second output gives an element.
    fn number(&self, view: &View<'_>, tap: &Tap, spatial: &[usize]) -> i128 {
        let within = if self.column_major { column_major(tap.input, spatial) } else { tap.input };
        (view.image + within) as i128
    }

    /// The largest element under each window, and the number of each where it is asked for.
    fn largest<A: Arith, K: Kind<A>>(
        &self,
        c: &Call<'_, A>,
        x: &Numbers<A, K>,
    ) -> (Data<A>, Option<ArrayD<A::Z>>) {
        let (a, spatial) = (c.arith, &x.shape()[2..]);
        let x: Vec<K::Number> = x.iter().copied().collect();
        let seen = |v: &View<'_>| v.taps.iter().map(|tap| x[v.image + tap.input]).collect::<Vec<_>>();
        let largest = self.pool.each(c, |v| K::largest(a, &seen(&v)));
        let number = |v: View<'_>| {
            let seen = seen(&v);
            let [first, last] = [false, true].map(|last| K::arg_max(a, &seen, last));
            let tap = |i: i128| v.taps.get(usize::try_from(i).ok()?);
            let number = a.exact([first], |[i]| tap(i).map(|tap| self.number(&v, tap, spatial)));
            if a.peek(first) == a.peek(last) { number } else { a.unspecified_int(number) }
        };
        (K::data(largest), (self.outputs == 2).then(|| self.pool.each(c, number)))
    }
}

/// The position of an element when the first axis runs fastest, from that when the last one does.
fn column_major(mut row_major: usize, shape: &[usize]) -> usize {
    let mut number = 0;
    for (axis, &size) in shape.iter().enumerate().rev() {
        number += row_major % size * shape[..axis].iter().product::<usize>();
        row_major /= size;
    }
    number
}

impl Operator for MaxPool {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        let edges = vec![(0, Edge::Alike), (0, Edge::Limits), (0, Edge::NonFinite)];
        let facts = self.pool.facts(x, self.pool.cells(), edges);
        // Places are counted over all images, and stay where they are.
        if self.outputs == 2 {
            return Facts { batch: Batch::Together, ..facts };
        }
        Facts { linear: Some(0), ..facts }
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        undefined_if(x, |x| self.pool.misses(x) || self.pool.is_open(x))
    }

    fn effort(&self, x: &[Option<&Type>], y: &[Type]) -> Effort {
        self.pool.effort(self.facts(x).cost.flops(x, y), &y[0])
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let a = c.arith;
        let (largest, place) = match c.data(0) {
            Data::Real(x) => self.largest::<A, Reals>(c, x),
            Data::Int(x) => self.largest::<A, Integers>(c, x),
        };
        let outputs = std::iter::once(largest).chain(place.map(Data::Int));
        if self.pool.is_open(c.ty(0)) {
            return outputs.map(|data| data.unspecified(a)).collect();
        }
        outputs.collect()
    }
}

#[cfg(test)]
tables! {
    a_last_window_may_overhang_but_not_start_in_padding: "
        x = i8[1, 1, 5] {1, 2, 3, 4, 5}
        MaxPool(x) {kernel_shape = [2], strides = [2]} = i8[1, 1, 2] {2, 4}
        MaxPool(x) {kernel_shape = [2], strides = [2], ceil_mode = 1} = i8[1, 1, 3] {2, 4, 5}
        // ⌈(1 + 2 - 2) / 3⌉ + 1 windows would fit, the second starting after the input.
        MaxPool(i8[1, 1, 1] {1}) {kernel_shape = [2], strides = [3], pads = [1, 1], ceil_mode = 1} = i8[1, 1, 1] {1}
    ";
    indices_count_in_either_order: "
        x = i8[1, 2, 2, 3] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}; y = i8[1, 2, 1, 2] {5, 6, 11, 12}
        MaxPool(x) {kernel_shape = [2, 2], outputs = 2} = y, i64[1, 2, 1, 2] {4, 5, 10, 11}
        MaxPool(x) {kernel_shape = [2, 2], outputs = 2, storage_order = 1} = y, i64[1, 2, 1, 2] {3, 5, 9, 11}
    ";
    windows_of_padding_alone_are_undefined_and_others_are_not: "
        x = i8[1, 1, 3] {1, 2, 3}
        // The first window sees nothing, which reads as 0 here.
        MaxPool(x) {kernel_shape = [2], pads = [2, 0]} = i8[1, 1, 4] {0, 1, 2, 3}
        MaxPool(x) {kernel_shape = [2], pads = [2, 0]} has the hazards [Always]
        // Windows start at 0 and 2, on the input, whatever the pads behind it.
        MaxPool(x) {kernel_shape = [1], pads = [0, 1], strides = [2]} = i8[1, 1, 2] {1, 3}
        MaxPool(x) {kernel_shape = [1], pads = [0, 1], strides = [2]} has the hazards []
        // Now one starts at 4, on the pad.
        MaxPool(i8[1, 1, 4]) {kernel_shape = [1], pads = [0, 1], strides = [4]} has the hazards [Always]
        MaxPool(i8[1, 1, 4] {1, 2, 3, 4}) {kernel_shape = [2], auto_pad = 'SAME_LOWER'} = i8[1, 1, 4] {1, 2, 3, 4}
        // Cells at -1 and 1 step over the only element: undefined, which reads as 0 here.
        MaxPool(i8[1, 1, 1] {1}) {kernel_shape = [2], dilations = [2], pads = [1, 1]} = i8[1, 1, 1] {0}
        MaxPool(i8[1, 1, 1]) {kernel_shape = [2], dilations = [2], pads = [1, 1]} has the hazards [Always]
        MaxPool(i8[1, 1, 2]) {kernel_shape = [2], dilations = [2], pads = [1, 1]} has the hazards []
    ";
}
