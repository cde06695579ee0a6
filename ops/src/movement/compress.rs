//! `Compress`: the slices of which a list says that they stay.

use super::index::{Pointed, moved};
use crate::prelude::*;

attributes! {
    /// The slices along an axis of which a list says that they stay; without an axis, the elements in row-major order.
    ///
    /// `x: […, n, …], condition: [m], bool → y: […, count, …]`
    ///
    /// What is behind the end of the list goes. A list that is longer than the axis is refused.
    ///
    /// How many stay, only the values tell: here that is an attribute, which ONNX writes nowhere. The condition must have so
    /// many elements that are true; for others, nothing is defined.
    ///
    /// ONNX: [Compress](https://onnx.ai/onnx/operators/onnx__Compress.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Compress<D> {
        /// The axis; without one, x is taken for one list.
        pub axis: Option<i64>,
        /// How many slices stay.
        pub count: D as size,
    }
}

impl Single for Compress {
    const ROW: Row = Row::new("Compress").with(&[spec::found("count", 1)]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let rank = d.any(1..=d.limits.max_rank)?.rank();
        d.pinned(DType::Bool, 1);
        let axis = if d.chance(0.7) { d.axis(rank) } else { None };
        Some(Compress { axis, count: d.dim() })
    }
}

impl<D: Dim> TypeRule<D> for Compress<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (x, condition) = (x.ranked_from(0, 1)?, x.ranked(1, 1..=1)?);
        r.le(self.count, condition.shape[0])?;
        let Some(along) = self.axis else {
            r.le(condition.shape[0], x.count())?;
            return Ok(vec![Type::new(x.dtype, [self.count])]);
        };
        let (along, mut y) = (rule::axis(along, x.rank())?, x.clone());
        r.le(condition.shape[0], x.shape[along])?;
        y.shape[along] = self.count;
        Ok(vec![y])
    }
}

impl Compress {
    /// The slice of x, or the element of the list, that each slice of the result is, if there are as many as the count says.
    fn places<A: Arith>(self, c: &Call<'_, A>) -> Pointed<Vec<usize>> {
        let Some(condition) = c.arith.peek_all(c.int(1)) else { return Pointed::Unknown };
        let places: Vec<usize> = (0..condition.len()).filter(|&i| condition[i] != 0).collect();
        if places.len() == self.count as usize { Pointed::At(places) } else { Pointed::Undefined }
    }
}

impl EitherKind for Compress {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts::moves(Reads::Elements, Some(0))
    }

    fn hazards(&self, _: &[Option<&Type>]) -> Vec<Hazard> {
        vec![Hazard::Count { operand: 1, nonzero: self.count.unsigned_abs() }]
    }

    fn outputs<A: Arith, K: Kind<A>>(&self, c: &Call<'_, A>, x: &Numbers<A, K>) -> Vec<Numbers<A, K>> {
        let list = lanes::array(&[x.len()], x.iter().copied().collect());
        let of_axis = self.axis.map(|along| c.axis(along));
        let (x, along) = of_axis.map_or((&list, 0), |along| (x, along));
        let (places, from) = (self.places(c), lanes::broadcast(x, x.shape()));
        vec![lanes::build(&c.extents(0), |at| {
            let source = |places: &Vec<usize>| from[moved(at, (along, places[at[along]]), x.shape())];
            places.as_ref().element::<A, K>(c.arith, source)
        })]
    }
}

#[cfg(test)]
tables! {
    the_examples_of_the_specification: "
        x = f32[3, 2] {1, 2, 3, 4, 5, 6}
        Compress(x, bool[3] {false, true, true}) {axis = 0, count = 2} = f32[2, 2] {3, 4, 5, 6}
        Compress(x, bool[2] {false, true}) {axis = -1, count = 1} = f32[3, 1] {2, 4, 6}
        Compress(x, bool[5] {false, true, false, false, true}) {count = 2} = f32[2] {2, 5}
    ";
    what_is_behind_the_list_goes_and_a_longer_list_is_refused: "
        x = i64[3] {7, 8, 9}
        Compress(x, bool[1] {true}) {axis = 0, count = 1} = i64[1] {7}
        Compress(x, bool[0]) {count = 0} = i64[0]
        Compress(x, bool[4] {false, false, false, false}) {axis = 0, count = 0} is refused
    ";
    a_scalar_has_no_slices: "
        Compress(f32[], bool[1] {true}) {count = 1} is refused: operand 0 has rank 0, but must have rank 1 or more
    ";
}
