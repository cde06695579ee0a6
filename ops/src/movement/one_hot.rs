//! OneHot: every index becomes a list with one value at its place and another value elsewhere.

use ir::{Attributes, BadAttribute, DType, DTypes, Dim, Type};
use ndarray::ArrayD;

use crate::arith::Arith;
use crate::data::{Call, Data};
use crate::draw::Draw;
use crate::elementwise::select::choose;
use crate::lanes::{array, move_last};
use crate::list::Op;
use crate::operator::{Operator, TypeRule};
use crate::rule::{Args, Reject, Rule, axis};
use crate::spec::{Allowed, Field, Place, Spec, one};

/// OneHot. The operand `values` is the pair of the value elsewhere and the value at the index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OneHot<D = i64> {
    /// The length of the lists.
    pub depth: D,
    /// The axis of the result along which the lists lie.
    pub axis: i64,
}

const INDEX: Allowed = &[(13, DTypes::INTS.union(DTypes::IEEE_FLOATS))];
const VALUE: Allowed = &[(13, DTypes::IR4.without(DType::BF16))];

/// The row of the registry.
pub static SPECS: &[Spec] = &[Spec {
    name: "OneHot",
    inputs: &[one("indices", INDEX), one("values", VALUE)],
    outputs: &[VALUE],
    fields: &[Field { name: "depth", places: &[(13, Place::Scalar(1))] }],
    draw,
    parse,
}];

fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Op<ir::Sym<'a>>> {
    let most = d.limits.max_rank.checked_sub(1)?;
    // The result has one axis more than the indices, and the values' dtype.
    let ranks = match d.wanted().map(Type::rank) {
        Some(rank) => rank.checked_sub(1).filter(|&r| r > 0)?..=rank - 1,
        // ONNX's shape inference asks for at least one axis.
        None => 1..=most,
    };
    let dtypes = if d.chance(0.8) { DTypes::INTS } else { DTypes::IR4 };
    let indices = d.one_of(dtypes, ranks)?;
    let allowed = d.allowed();
    let dtype = d.dtype(allowed)?;
    d.fresh_like(dtype, vec![2.into()]);
    let depth = d.unknown(1, d.limits.max_dim);
    Some(OneHot { depth, axis: d.axis(indices.rank() + 1)? }.into())
}

fn parse(a: &Attributes) -> Result<Op, BadAttribute> {
    Ok(OneHot { depth: a.get_int("depth", None)?, axis: a.get_int("axis", Some(-1))? }.into())
}

impl<D: Dim> OneHot<D> {
    /// This operator with its sizes in another number system.
    pub fn map<E: Dim>(&self, f: &mut dyn FnMut(D) -> E) -> OneHot<E> {
        OneHot { depth: f(self.depth), axis: self.axis }
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

impl OneHot {
    /// One list for each index, put together along the axis; `pick` chooses a value as the condition says.
    fn lists<A: Arith, T: Clone>(self, a: &A, indices: &ArrayD<A::Z>, pick: impl Fn(A::Z) -> T) -> ArrayD<T> {
        let depth = i128::from(self.depth);
        // A negative index counts from the end; one out of range is nowhere.
        let hit = |index, place| a.exact([index], |[z]| Some((z == place || z + depth == place).into()));
        let items = indices.iter().flat_map(|&z| (0..depth).map(move |place| (z, place)));
        let shape = [indices.shape(), &[self.depth as usize]].concat();
        let lists = array(&shape, items.map(|(z, place)| pick(hit(z, place))).collect());
        move_last(lists, axis(self.axis, shape.len()).unwrap_or(0))
    }
}

impl Operator for OneHot {
    fn spec(&self) -> &'static Spec {
        &SPECS[0]
    }

    fn flops(&self, _: &[Option<&Type>], _: &[Type]) -> u64 {
        0
    }

    fn attributes(&self) -> Attributes {
        Attributes::new().int("depth", self.depth).int("axis", self.axis)
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let a = c.arith;
        let indices = match c.data(0) {
            Data::Real(x) => &x.mapv(|x| a.truncate(x, DType::I64)),
            Data::Int(x) => x,
        };
        vec![match c.data(1) {
            Data::Real(v) => Data::Real(self.lists(a, indices, |hit| a.select(hit, v[[1]], v[[0]]))),
            Data::Int(v) => Data::Int(self.lists(a, indices, |hit| choose(a, hit, v[[1]], v[[0]]))),
        }]
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
