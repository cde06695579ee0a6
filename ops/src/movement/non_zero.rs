//! `NonZero`: where the elements are that are not zero.

use crate::prelude::*;

attributes! {
    /// The places of the elements that are not zero, in row-major order.
    ///
    /// `x: [s…] → y: [rank, count], i64`
    ///
    /// NaN is not zero. Of a scalar there is no place to tell, but there are as many columns.
    ///
    /// How many there are, only the values tell: here that is an attribute, which ONNX writes nowhere. The values of X
    /// must have so many elements that are not zero; for others, nothing is defined.
    ///
    /// ONNX: [NonZero](https://onnx.ai/onnx/operators/onnx__NonZero.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct NonZero<D> {
        /// How many elements are not zero.
        pub count: D as size,
    }
}

impl Single for NonZero {
    const ROW: Row = Row::new("NonZero").with(&[spec::found("count", 0)]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let dtype = d.dtype(d.allowed())?;
        let rank = d.rank(0..=d.limits.max_rank)?;
        d.pinned(dtype, rank);
        Some(NonZero { count: d.dim() })
    }
}

impl<D: Dim> TypeRule<D> for NonZero<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        r.le(self.count, x.count())?;
        Ok(vec![Type::new(DType::I64, [D::from(x.rank() as i64), self.count])])
    }
}

impl Operator for NonZero {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        let edges = vec![(0, Edge::NonFinite), (0, Edge::Zeros), (0, Edge::Denormals)];
        Facts { edges, ..Facts::moves(Reads::Elements, None) }
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        vec![Hazard::Count { operand: 0, nonzero: self.count.unsigned_abs() }]
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let a = c.arith;
        let zeros: Vec<Option<i128>> = match c.data(0) {
            Data::Real(x) => {
                x.iter().map(|&x| a.peek(a.compare(Comparison::Equal, x, a.real(0.0)))).collect()
            }
            Data::Int(x) => x.iter().map(|&z| a.peek(z).map(|z| i128::from(z == 0))).collect(),
        };
        let places: Vec<usize> = (0..zeros.len()).filter(|&i| zeros[i] == Some(0)).collect();
        let shape = c.data(0).shape();
        let is_sure = zeros.iter().all(Option::is_some);
        let index = |axis: usize, place: usize| {
            let inner: usize = shape[axis + 1..].iter().product();
            place / inner % shape[axis]
        };
        let columns = self.count.max(0) as usize;
        let element = |at: usize| match (is_sure, places.len() == columns) {
            (true, true) => a.int(index(at / columns, places[at % columns]) as i128),
            (true, false) => a.undefined_int(),
            (false, _) => a.unknown_int(),
        };
        vec![Data::Int(lanes::array(&c.extents(0), (0..shape.len() * columns).map(element).collect()))]
    }
}

#[cfg(test)]
tables! {
    every_place_is_a_column: "
        NonZero(f32[2, 3] {0, 1, 0, -0, nan, 2}) {count = 3} = i64[2, 3] {0, 1, 1, 1, 1, 2}
        NonZero(i64[3] {0, 7, -1}) {count = 2} = i64[1, 2] {1, 2}
    ";
    nothing_and_a_scalar_have_no_places: "
        NonZero(f32[2, 0]) {count = 0}: i64[2, 0]
        NonZero(f32[] {3}) {count = 1}: i64[0, 1]
        NonZero(f32[] {3}) {count = 2} is refused
    ";
}
