//! Concat: several tensors one after the other along an axis.

use ndarray::Axis;

use crate::prelude::*;

attributes! {
    /// The operands behind each other along an axis.
    ///
    /// `x₁: […, n₁, …], x₂: […, n₂, …], … → y: […, n₁ + n₂ + …, …]`
    ///
    /// All other sizes, and the dtypes, are the same. One may be empty.
    ///
    /// ONNX: [Concat](https://onnx.ai/onnx/operators/onnx__Concat.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Concat {
        /// The axis along which the operands follow each other.
        pub axis: i64,
    }
}

impl Single for Concat {
    const ROW: Row = Row::new("Concat").carrying();

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        let first = d.any(1..=d.limits.max_rank)?;
        let spelled = d.axis(first.rank())?;
        let mut pattern: Vec<_> = first.shape.iter().map(|&size| Some(size)).collect();
        pattern[rule::axis(spelled, first.rank()).ok()?] = None;
        for _ in 0..d.int(0, 3) {
            d.matching(first.dtype, &pattern)?;
        }
        Some(Concat { axis: spelled })
    }
}

impl<D: Dim> TypeRule<D> for Concat {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let all = x.all()?;
        let (dtype, first) = (rule::same_dtype(&all)?, all[0]);
        let along = rule::axis(self.axis, first.rank())?;
        let mut shape = first.shape.clone();
        for (i, other) in all.iter().enumerate().skip(1) {
            x.ranked(i, first.rank()..=first.rank())?;
            for (a, &size) in other.shape.iter().enumerate() {
                if a == along {
                    shape[a] = shape[a] + size;
                } else {
                    r.eq(first.shape[a], size)?;
                }
            }
        }
        Ok(vec![Type::new(dtype, shape)])
    }
}

impl Movement for Concat {
    const LINEAR: Option<usize> = None;

    fn rearrange<T: Clone>(&self, x: &[&ArrayD<T>], y: &[Type]) -> Vec<ArrayD<T>> {
        let axis = rule::accepted(rule::axis(self.axis, y[0].rank()));
        let views: Vec<_> = x.iter().map(|x| x.view()).collect();
        let all = ndarray::concatenate(Axis(axis), &views);
        vec![all.expect("the type rule makes the other axes agree").as_standard_layout().into_owned()]
    }
}
