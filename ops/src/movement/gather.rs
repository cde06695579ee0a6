//! Gather and `GatherElements`: elements of one operand that indices, the other operand, point to along an axis. Negative
//! indices count from the axis' end; one out of range is undefined.

use crate::prelude::*;

attributes! {
    /// Slices of x that indices point to along an axis.
    ///
    /// `x: [a…, n, b…], indices: [i…] → y: [a…, i…, b…]`
    ///
    /// Negative indices count from the axis' end. One out of range is undefined.
    ///
    /// ONNX: [Gather](https://onnx.ai/onnx/operators/onnx__Gather.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Gather {
        /// The axis that the indices point into.
        pub axis: i64 = 0,
    }
}

attributes! {
    /// Elements of x that indices point to along an axis, each at its own place on the others.
    ///
    /// `x: […, n, …], indices: […, m, …] → y: as indices`
    ///
    /// The indices may be less than x on the other axes too. Negative ones count from the axis' end. One out of range
    /// is undefined.
    ///
    /// ONNX: [GatherElements](https://onnx.ai/onnx/operators/onnx__GatherElements.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct GatherElements {
        /// The axis that the indices point into.
        pub axis: i64 = 0,
    }
}

impl Single for Gather {
    const ROW: Row = Row::new("Gather").carrying();

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let most = d.limits.max_rank;
        let rank = d.rank(0..=most)?;
        // The output has the axes of both operands but one.
        let data_rank = d.int(1, most.min(rank + 1).max(1) as i64) as usize;
        let data = d.any(data_rank..=data_rank)?;
        let axis = d.axis(data.rank())?;
        d.any_pinned(rank + 1 - data_rank)?;
        Some(Gather { axis })
    }
}

impl Single for GatherElements {
    const ROW: Row = Row::new("GatherElements");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let rank = d.any(1..=d.limits.max_rank)?.rank();
        d.any_pinned(rank)?;
        Some(GatherElements { axis: d.axis(rank)? })
    }
}

impl<D: Dim> TypeRule<D> for Gather {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let (data, indices) = (x.need(0)?, x.need(1)?);
        let axis = rule::axis(self.axis, data.rank())?;
        points_into(r, indices, &data.shape[axis..=axis])?;
        let mut shape = data.shape[..axis].to_vec();
        shape.extend(&indices.shape);
        shape.extend(&data.shape[axis + 1..]);
        Ok(vec![Type::new(data.dtype, shape)])
    }
}

impl<D: Dim> TypeRule<D> for GatherElements {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let data = x.need(0)?;
        let along = rule::axis(self.axis, data.rank())?;
        let indices = x.ranked(1, data.rank()..=data.rank())?;
        for (a, (&index, &size)) in indices.shape.iter().zip(&data.shape).enumerate() {
            if a != along {
                r.le(index, size)?;
            }
        }
        points_into(r, indices, &data.shape[along..=along])?;
        Ok(vec![indices.with_dtype(data.dtype)])
    }
}

/// What an index points to: an element, or nothing that can be said.
pub(super) enum Pointed<P> {
    /// The element at this position.
    At(P),
    /// One of the elements, but which one is undecidable.
    Unknown,
    /// None: the index is out of range.
    Undefined,
}

impl<P> Pointed<P> {
    /// What a function makes of the position.
    pub(super) fn map<Q>(self, f: impl FnOnce(P) -> Q) -> Pointed<Q> {
        match self {
            Self::At(position) => Pointed::At(f(position)),
            Self::Unknown => Pointed::Unknown,
            Self::Undefined => Pointed::Undefined,
        }
    }

    /// The element that a function finds at the position, or one that tells that there is none.
    pub(super) fn element<A: Arith, K: Kind<A>>(self, a: &A, f: impl FnOnce(P) -> K::Number) -> K::Number {
        match self {
            Self::At(position) => f(position),
            Self::Unknown => K::unknown(a),
            Self::Undefined => K::undefined(a),
        }
    }
}

/// All the positions, or of the first that is none, why.
impl<P> FromIterator<Pointed<P>> for Pointed<Vec<P>> {
    fn from_iter<I: IntoIterator<Item = Pointed<P>>>(all: I) -> Self {
        let mut positions = Vec::new();
        for pointed in all {
            match pointed {
                Pointed::At(position) => positions.push(position),
                Pointed::Unknown => return Self::Unknown,
                Pointed::Undefined => return Self::Undefined,
            }
        }
        Self::At(positions)
    }
}

/// Requires that no index points into an empty axis: these are the sizes of those that some do.
pub(super) fn points_into<D: Dim>(r: &mut dyn Rule<D>, indices: &Type<D>, sizes: &[D]) -> Result<(), Reject> {
    sizes.iter().try_for_each(|&size| r.le(indices.count(), size * D::from(ir::dim::LIMIT)))
}

/// Reads an index into an axis of `size`.
pub(super) fn point<A: Arith>(a: &A, index: A::Z, size: usize) -> Pointed<usize> {
    let Some(index) = a.peek(index) else { return Pointed::Unknown };
    let from_start = if index < 0 { index + size as i128 } else { index };
    if (0..size as i128).contains(&from_start) {
        Pointed::At(from_start as usize)
    } else {
        Pointed::Undefined
    }
}

/// Indices, at operand 1, point into an axis of the first operand.
pub(super) fn in_range(x: &[Option<&Type>], axis: i64) -> Vec<Hazard> {
    let size = x[0].map(|t| t.shape[accepted(rule::axis(axis, t.rank()))]);
    let hazard = |size: i64| Hazard::Outside { operand: 1, low: -size as f64, high: (size - 1) as f64 };
    size.map(hazard).into_iter().collect()
}

/// The elements that indices point to. For a place of the output, `index` says where its index stands, and `source` where an
/// element is that it points to.
fn gather<A: Arith, K: Kind<A>>(
    c: &Call<'_, A>,
    x: &ArrayD<K::Number>,
    axis: usize,
    index: impl Fn(&[usize]) -> &[usize],
    source: impl Fn(&[usize], usize) -> Vec<usize>,
) -> ArrayD<K::Number> {
    lanes::build(&c.extents(0), |at| {
        let pointed = point(c.arith, c.int(1)[index(at)], x.shape()[axis]);
        pointed.element::<A, K>(c.arith, |i| x[source(at, i).as_slice()])
    })
}

impl EitherKind for Gather {
    /// The axes of the indices stand for the axis that they point into.
    fn elements<A: Arith, K: Kind<A>>(&self, c: &Call<'_, A>, x: &ArrayD<K::Number>) -> ArrayD<K::Number> {
        let axis = c.axis(self.axis);
        let after = axis + c.int(1).ndim();
        let source = |at: &[usize], i| [&at[..axis], &[i], &at[after..]].concat();
        gather::<A, K>(c, x, axis, |at| &at[axis..after], source)
    }
}

impl EitherKind for GatherElements {
    /// Each index stands for itself: the element is at its own position but for the axis.
    fn elements<A: Arith, K: Kind<A>>(&self, c: &Call<'_, A>, x: &ArrayD<K::Number>) -> ArrayD<K::Number> {
        let axis = c.axis(self.axis);
        let source = |at: &[usize], i| {
            let mut source = at.to_vec();
            source[axis] = i;
            source
        };
        gather::<A, K>(c, x, axis, |at| at, source)
    }
}

impl Operator for Gather {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts::moves(Reads::Elements, None)
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        in_range(x, self.axis)
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        of_either_kind(self, c, 0)
    }
}

impl Operator for GatherElements {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts::moves(Reads::Elements, None)
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        in_range(x, self.axis)
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        of_either_kind(self, c, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{evaluate, outputs, parse, run, tensor};
    use ir::Tensor;

    fn gather(axis: i64, shape: &[i64], indices: &Tensor) -> Result<(Vec<usize>, Vec<i128>), Reject> {
        let x = Tensor::from_i128_fn(&Type::new(DType::I32, shape), |i| i as i128 + 1);
        let y = evaluate(&Gather { axis }, &[Some(&x), Some(indices)])?.remove(0);
        Ok((y.shape().to_vec(), y.to_i128s()))
    }

    fn indices(shape: &[i64], values: &[i128]) -> Tensor {
        Tensor::from_i128_fn(&Type::new(DType::I64, shape), |i| values[i])
    }

    #[test]
    fn the_indices_shape_replaces_the_axis() {
        let two_rows = indices(&[2, 1], &[1, -3]);
        assert_eq!(gather(0, &[3, 2], &two_rows), Ok((vec![2, 1, 2], vec![3, 4, 1, 2])));
        assert_eq!(gather(-1, &[2, 3], &indices(&[], &[2])), Ok((vec![2], vec![3, 6])));
    }

    #[test]
    fn out_of_range_is_undefined_and_an_empty_axis_has_nothing() {
        assert_eq!(gather(0, &[3], &indices(&[2], &[3, -4])), Ok((vec![2], vec![0, 0])));
        assert!(gather(0, &[0, 2], &indices(&[1], &[0])).is_err());
        assert_eq!(gather(0, &[0, 2], &indices(&[0], &[])), Ok((vec![0, 2], vec![])));
    }

    #[test]
    fn gather_elements_gives_the_examples_of_the_specification() {
        let x = tensor(DType::F32, &[3, 3], &[1., 2., 3., 4., 5., 6., 7., 8., 9.]);
        let indices = tensor(DType::I32, &[2, 3], &[1., -1., 0., 2., 0., 0.]);
        let gather = |axis| parse::<GatherElements>("GatherElements", &Attributes::new().int("axis", axis));
        assert_eq!(run(gather(0), &[&x, &indices]), [4., 8., 3., 7., 2., 3.]);
        assert_eq!(run(gather(-1), &[&x, &indices]), [2., 3., 1., 6., 4., 4.]);
        let wide = tensor(DType::I32, &[1, 4], &[0.; 4]);
        assert!(outputs(gather(0), &[&x, &wide]).is_err());
        assert_eq!(run(gather(1), &[&x, &wide]), [1.; 4]);
    }
}
