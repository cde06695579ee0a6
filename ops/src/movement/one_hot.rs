//! OneHot: every index becomes a list with one value at its place and another value elsewhere.

use crate::prelude::*;

attributes! {
    /// For each index, a list that holds one value at the index and another elsewhere.
    ///
    /// `indices: [i…], values: [2] → y: [i…, depth], the last axis moved to axis`
    ///
    /// The operand `values` is the pair of the value elsewhere and the value at the index. Negative indices count from
    /// the end. One out of range has no hit.
    ///
    /// ONNX: [OneHot](https://onnx.ai/onnx/operators/onnx__OneHot.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct OneHot<D> {
        /// The length of the lists.
        pub depth: D as size,
        /// The axis of the result along which the lists lie.
        pub axis: i64 = -1,
    }
}

impl Single for OneHot {
    const ROW: Row = Row::new("OneHot").with(&[spec::scalar("depth")]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let most = d.limits.max_rank.checked_sub(1)?;
        // The result has one axis more than the indices, and the values' dtype.
        let ranks = match d.wanted().map(Type::rank) {
            Some(rank) => rank.checked_sub(1).filter(|&r| r > 0)?..=rank - 1,
            None => 1..=most,
        };
        let dtypes = if d.chance(0.8) { DTypes::INTS } else { DTypes::IR4 };
        let indices = d.one_of(dtypes, ranks)?;
        let dtype = d.dtype(d.allowed())?;
        d.fresh_like(dtype, vec![2.into()]);
        let depth = d.unknown(1, d.limits.max_dim);
        Some(OneHot { depth, axis: d.axis(indices.rank() + 1)? })
    }
}

impl<D: Dim> TypeRule<D> for OneHot<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (indices, values) = (x.ranked_from(0, 1)?, x.ranked(1, 1..=1)?);
        // The text says "rank(output) = rank(indices) + 1" and no more; ONNX's shape inference takes no scalar.
        r.eq(values.shape[0], D::from(2))?;
        r.le(D::from(0), self.depth)?;
        let mut shape = indices.shape.clone();
        shape.insert(rule::axis(self.axis, indices.rank() + 1)?, self.depth);
        Ok(vec![Type::new(values.dtype, shape)])
    }
}

impl EitherKind for OneHot {
    const OF: usize = 1;

    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts::moves(Reads::Elements, None)
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        Vec::new()
    }

    /// One list for each index, put together along the axis.
    fn outputs<A: Arith, K: Kind<A>>(&self, c: &Call<'_, A>, values: &Numbers<A, K>) -> Vec<Numbers<A, K>> {
        let (a, depth) = (c.arith, i128::from(self.depth));
        let indices = match c.data(0) {
            Data::Real(x) => &lanes::each(x, |x| a.truncate(x, DType::I64)),
            Data::Int(x) => x,
        };
        // A negative index counts from the end; one out of range is nowhere.
        let hit = |index, place| a.exact([index], |[z]| Some((z == place || z + depth == place).into()));
        let items = indices.iter().flat_map(|&z| (0..depth).map(move |place| (z, place)));
        let pick = |(z, place)| K::choose(a, hit(z, place), values[[1]], values[[0]]);
        let shape = [indices.shape(), &[self.depth as usize]].concat();
        let lists = lanes::array(&shape, items.map(pick).collect());
        vec![lanes::move_last(lists, rule::accepted(rule::axis(self.axis, shape.len())))]
    }
}

#[cfg(test)]
tables! {
    indices_count_from_either_end_or_are_nowhere: "
        for T of i64, f32
        indices = T[4] {0, -1, 3, -4}; values = f32[2] {-1, 5}
        OneHot(indices, values) {depth = 3} = f32[4, 3] {5, -1, -1, -1, -1, 5, -1, -1, -1, -1, -1, -1}
    ";
    the_new_axis_goes_anywhere: "
        indices = u8[2] {1, 0}; values = bool[2] {false, true}
        OneHot(indices, values) {depth = 3, axis = 0} = bool[3, 2] {false, true, true, false, false, false}
        OneHot(indices, values) {depth = 3, axis = -2}: bool[3, 2]
        OneHot(indices, values) {depth = 3, axis = 2} is refused
        OneHot(indices, values) {depth = 0} = bool[2, 0]
        OneHot(u8[] {1}, values) {depth = 3} is refused: operand 0 has rank 0, but must have rank 1 or more
    ";
}
