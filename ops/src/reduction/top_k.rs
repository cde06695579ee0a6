//! TopK: the largest or smallest elements along an axis, and where they are.

use crate::prelude::*;

attributes! {
    /// The k largest or smallest elements along an axis, and where they are.
    ///
    /// `x: […, n, …] → values: […, k, …], indices: the same, i64`
    ///
    /// NaN counts as the largest; of equal elements the one with the lower index comes first. Where they need not be
    /// sorted, ONNX leaves the order open.
    ///
    /// ONNX: [TopK](https://onnx.ai/onnx/operators/onnx__TopK.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct TopK<D> {
        /// How many elements.
        pub k: D as size,
        /// The axis to search along.
        pub axis: i64 = -1,
        /// Whether the largest are wanted instead of the smallest.
        pub largest: bool = true,
        /// Whether they come in order; otherwise ONNX leaves the order open.
        pub sorted: bool = true,
    }
}

impl Single for TopK {
    const ROW: Row = Row::new("TopK").with(&[spec::single("K", "k")]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(1..=d.limits.max_rank)?;
        let axis = d.axis(x.rank())?;
        let k = d.unknown(1, d.limits.max_dim);
        // Without an order there is little to compare, so that is drawn rarely.
        Some(TopK { k, axis, largest: d.flag(), sorted: d.chance(0.95) })
    }
}

impl<D: Dim> TypeRule<D> for TopK<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let mut values = x.need(0)?.clone();
        let axis = rule::axis(self.axis, values.rank())?;
        r.le(D::from(1), self.k)?;
        r.le(self.k, values.shape[axis])?;
        values.shape[axis] = self.k;
        let indices = values.with_dtype(DType::I64);
        Ok(vec![values, indices])
    }
}

impl TopK {
    /// The elements of a lane that come first, with their places.
    fn real<A: Arith>(self, a: &A, lane: &[A::R]) -> Vec<(A::R, A::Z)> {
        let flip = |x| if self.largest { x } else { a.neg(x) };
        let mut rest: Vec<A::R> = lane.iter().map(|&x| flip(x)).collect();
        let mut places: Vec<usize> = (0..lane.len()).collect();
        let mut out = Vec::with_capacity(self.k as usize);
        while out.len() < self.k as usize {
            let Some(next) = a.peek(a.arg_max(&rest, false)) else {
                // Which element comes next is open, but how large it is need not be.
                let wanted = self.k as usize - out.len();
                out.extend(descending(a, rest, wanted).map(|x| (flip(x), a.unknown_int())));
                break;
            };
            let place = a.int(places.remove(next as usize) as i128);
            out.push((flip(rest.remove(next as usize)), place));
        }
        out
    }

    fn int<A: Arith>(self, a: &A, lane: &[A::Z]) -> Vec<(A::Z, A::Z)> {
        let Some(zs) = a.peek_all(lane) else {
            return vec![(a.unknown_int(), a.unknown_int()); self.k as usize];
        };
        let mut places: Vec<usize> = (0..zs.len()).collect();
        // A stable sort keeps equal elements in order.
        places.sort_by_key(|&i| if self.largest { -zs[i] } else { zs[i] });
        places.into_iter().take(self.k as usize).map(|i| (lane[i], a.int(i as i128))).collect()
    }

    /// Values and indices, from those of each lane.
    fn split<T: Clone, U: Clone, V: Clone>(
        self,
        x: &ndarray::ArrayD<T>,
        f: impl FnMut(&[T]) -> Vec<(U, V)>,
    ) -> Pair<U, V> {
        let axis = rule::accepted(rule::axis(self.axis, x.ndim()));
        let mut shape: Vec<usize> = x.shape().to_vec();
        shape.remove(axis);
        shape.push(self.k as usize);
        let (values, indices) = Lanes::new(x, &[axis]).iter().flat_map(f).unzip();
        (
            lanes::move_last(lanes::array(&shape, values), axis),
            lanes::move_last(lanes::array(&shape, indices), axis),
        )
    }

    /// Whether the order of the results follows from the attributes.
    fn has_order(self) -> bool {
        self.sorted || self.k == 1
    }
}

/// Two tensors of one shape.
type Pair<U, V> = (ndarray::ArrayD<U>, ndarray::ArrayD<V>);

/// Two numbers, the larger one first. Where a NaN is larger than all, as [`Arith::arg_max`] has it, it does not spread
/// to the other one.
fn exchanged<A: Arith>(a: &A, x: A::R, y: A::R) -> (A::R, A::R) {
    let is_nan = |x| a.peek(a.is(Class::NaN, x)).is_some_and(|truth| truth != 0);
    let is_first = |x| is_nan(x) && a.peek(a.arg_max(&[a.real(0.0), x], false)) == Some(1);
    match (is_first(x), is_first(y)) {
        (true, _) => (x, y),
        (false, true) => (y, x),
        // Where a NaN may lose, so may what it meets later: it says nothing of either.
        (false, false) if is_nan(x) || is_nan(y) => (a.unspecified(x), a.unspecified(y)),
        (false, false) => (a.max(x, y), a.min(x, y)),
    }
}

/// The largest numbers in descending order, by comparing and exchanging: continuous in every one of them.
fn descending<A: Arith>(a: &A, mut xs: Vec<A::R>, wanted: usize) -> impl Iterator<Item = A::R> {
    for from in 0..wanted {
        for i in from + 1..xs.len() {
            (xs[from], xs[i]) = exchanged(a, xs[from], xs[i]);
        }
    }
    xs.into_iter().take(wanted)
}

impl Operator for TopK {
    fn facts(&self, x: &[Option<&Type>]) -> Facts {
        // Those of a selection: as many comparisons for each element as elements are wanted.
        let cost = Cost::PerInput(self.k.unsigned_abs().max(1));
        let edges = vec![(0, Edge::Alike), (0, Edge::Zeros), (0, Edge::Limits)];
        Facts::calculates(cost, Batch::meeting_along(x, self.axis), None, edges)
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let a = c.arith;
        let (values, indices) = match c.data(0) {
            Data::Real(x) => {
                let (values, indices) = self.split(x, |lane| self.real(a, lane));
                (Data::Real(values), indices)
            }
            Data::Int(x) => {
                let (values, indices) = self.split(x, |lane| self.int(a, lane));
                (Data::Int(values), indices)
            }
        };
        let both = [values, Data::Int(indices)].into_iter();
        if self.has_order() { both.collect() } else { both.map(|data| data.unspecified(a)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    tables! {
        ties_go_to_the_lower_index: "
            for T of f32, i32
            x = T[2, 4] {1, 3, 3, 2, -5, 0, -5, 7}
            TopK(x) {k = 3} = T[2, 3] {3, 3, 2, 7, 0, -5}, i64[2, 3] {1, 2, 3, 3, 1, 0}
            TopK(x) {k = 2, axis = 1, largest = 0} = T[2, 2] {1, 2, -5, -5}, i64[2, 2] {0, 3, 0, 2}
            TopK(x) {k = 1, axis = 0} = T[1, 4] {1, 3, 3, 7}, i64[1, 4] {0, 0, 0, 1}
        ";
        more_than_there_are_is_refused: "
            TopK(f32[2]) {k = 3, axis = 0} is refused: 3 must not exceed 2
        ";
    }

    #[test]
    fn exchanging_sorts() {
        let a = plain::Plain::new(DType::F64);
        let nans: Vec<f64> = descending(&a, vec![1., f64::NAN, f64::NEG_INFINITY], 3).collect();
        assert!(nans[0].is_nan() && nans[1..] == [1., f64::NEG_INFINITY], "{nans:?}");
        assert_eq!(descending(&a, vec![1., 4., -2., 3.], 4).collect::<Vec<f64>>(), [4., 3., 1., -2.]);
    }
}
