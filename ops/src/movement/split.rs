//! Split: one tensor cut along an axis into several.

use ndarray::{Axis, Slice};

use crate::prelude::*;

attributes! {
    /// x cut along an axis into parts of the sizes given.
    ///
    /// `x: […, n, …] → y₁: […, n₁, …], y₂: […, n₂, …], …`
    ///
    /// The sizes add up to n. A part may be empty.
    ///
    /// ONNX: [Split](https://onnx.ai/onnx/operators/onnx__Split.html).
    #[derive(Clone, PartialEq, Debug)]
    pub struct Split<D> {
        /// The axis that is cut.
        pub axis: i64 = 0,
        /// The size of each part on that axis.
        pub split: Vec<D> as sizes,
    }
}

impl Single for Split {
    const ROW: Row =
        Row::new("Split").carrying().with(&[spec::list("split")]).but(&[Deviation::Attributes {
            names: &["num_outputs"],
            why: "equal parts by count are read as the sizes they amount to",
        }]);

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let x = d.any(1..=d.limits.max_rank)?;
        let axis = d.axis(x.rank())?;
        let parts = d.int(1, 3);
        let split = (0..parts).map(|_| d.dim()).collect();
        Some(Split { axis, split })
    }
}

impl<D: Dim> TypeRule<D> for Split<D> {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let x = x.need(0)?;
        let axis = rule::axis(self.axis, x.rank())?;
        let mut total = D::from(0);
        let mut parts = Vec::with_capacity(self.split.len());
        for &size in &self.split {
            r.le(D::from(0), size)?;
            total = total + size;
            let mut part = x.clone();
            part.shape[axis] = size;
            parts.push(part);
        }
        r.eq(total, x.shape[axis])?;
        Ok(parts)
    }
}

impl Movement for Split {
    const LINEAR: Option<usize> = Some(0);

    fn rearrange<T: Clone>(&self, x: &[&ArrayD<T>], y: &[Type]) -> Vec<ArrayD<T>> {
        let axis = rule::accepted(rule::axis(self.axis, x[0].ndim()));
        let mut start = 0;
        let mut part = |ty: &Type| {
            let end = start + ty.shape[axis] as isize;
            let part = x[0].slice_axis(Axis(axis), Slice::new(start, Some(end), 1)).to_owned();
            start = end;
            part
        };
        y.iter().map(&mut part).collect()
    }
}

/// The opset from which on a Split without sizes says how many parts there are, and the last may be smaller.
pub const COUNTED: u32 = 18;

/// The sizes of `count` equal parts of an axis of n elements, as a Split makes them that has no sizes. `None` if an opset has none.
/// A last part of fewer than no elements is for the type rule to refuse.
pub fn equal_parts(n: i64, count: i64, opset: u32) -> Option<Vec<i64>> {
    let count = count.max(1);
    if opset < COUNTED && n % count != 0 {
        return None;
    }
    let part = (n + count - 1) / count;
    let last = n - part * (count - 1);
    Some((1..=count).map(|i| if i < count { part } else { last }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_equal_parts_may_be_smaller_from_opset_18_on() {
        assert_eq!(equal_parts(6, 3, 13), Some(vec![2, 2, 2]));
        assert_eq!(equal_parts(7, 3, 13), None);
        assert_eq!(equal_parts(7, 3, 18), Some(vec![3, 3, 1]));
        assert_eq!(equal_parts(0, 2, 18), Some(vec![0, 0]));
        assert_eq!(equal_parts(5, 4, 18), Some(vec![2, 2, 2, -1]));
    }
}
