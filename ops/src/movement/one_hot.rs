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
    const ROW: Row = Row::new("OneHot").with(&[scalar("depth")]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let most = d.limits.max_rank.checked_sub(1)?;
        // The result has one axis more than the indices, and the values' dtype.
        let ranks = match d.wanted().map(Type::rank) {
            Some(rank) => rank.checked_sub(1).filter(|&r| r > 0)?..=rank - 1,
            // ONNX's shape inference asks for at least one axis.
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
        let (indices, values) = (x.need(0)?, x.ranked(1, 1..=1)?);
        r.eq(values.shape[0], D::from(2))?;
        r.le(D::from(0), self.depth)?;
        let mut shape = indices.shape.clone();
        shape.insert(axis(self.axis, indices.rank() + 1)?, self.depth);
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
            Data::Real(x) => &each(x, |x| a.truncate(x, DType::I64)),
            Data::Int(x) => x,
        };
        // A negative index counts from the end; one out of range is nowhere.
        let hit = |index, place| a.exact([index], |[z]| Some((z == place || z + depth == place).into()));
        let items = indices.iter().flat_map(|&z| (0..depth).map(move |place| (z, place)));
        let pick = |(z, place)| K::choose(a, hit(z, place), values[[1]], values[[0]]);
        let shape = [indices.shape(), &[self.depth as usize]].concat();
        let lists = array(&shape, items.map(pick).collect());
        vec![move_last(lists, accepted(axis(self.axis, shape.len())))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{outputs, run, tensor};

    #[test]
    fn indices_count_from_either_end_or_are_nowhere() {
        let values = tensor(DType::F32, &[2], &[-1., 5.]);
        for dtype in [DType::I64, DType::F32] {
            let indices = tensor(dtype, &[4], &[0., -1., 3., -4.]);
            let wanted = [5., -1., -1., -1., -1., 5., -1., -1., -1., -1., -1., -1.];
            assert_eq!(run(OneHot { depth: 3, axis: -1 }, &[&indices, &values]), wanted);
        }
    }

    #[test]
    fn the_new_axis_goes_anywhere() {
        let values = tensor(DType::Bool, &[2], &[0., 1.]);
        let indices = tensor(DType::U8, &[2], &[1., 0.]);
        assert_eq!(run(OneHot { depth: 3, axis: 0 }, &[&indices, &values]), [0., 1., 1., 0., 0., 0.]);
        let y = outputs(OneHot { depth: 3, axis: -2 }, &[&indices, &values]).unwrap();
        assert_eq!(y[0].ty(), Type::new(DType::Bool, [3, 2]));
        assert!(outputs(OneHot { depth: 3, axis: 2 }, &[&indices, &values]).is_err());
    }
}
