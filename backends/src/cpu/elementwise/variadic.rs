//! Min, Max, Sum and Mean of several operands: one is combined with the result so far after the other.

use ops::elementwise::VariadicFn;

use crate::cpu::call::{Call, Join};
use crate::cpu::element::{Number, Numeric, dispatch_work};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::{Rows, broadcast};

pub(crate) fn run(function: VariadicFn, c: &Call<'_>) -> Outputs {
    dispatch_work!(c.dtype(0)?, T => {
        let mut y = match function {
            VariadicFn::Min => combined::<T>(c, &|y, x| join(y, x, Number::smaller)),
            VariadicFn::Max => combined::<T>(c, &|y, x| join(y, x, Number::larger)),
            VariadicFn::Sum | VariadicFn::Mean => combined::<T>(c, &|y, x| join(y, x, Number::add)),
        }?;
        if function == VariadicFn::Mean {
            let count = Number::from_count(c.inputs.len());
            for y in &mut y {
                *y = y.div(count);
            }
        }
        c.only_numbers::<T>(y)
    })
}

/// What the operands come to, the first of which is taken as it is. `join` gets some of the result so far and of an operand.
fn combined<T: Numeric>(c: &Call<'_>, join: &Join<'_, T::Work, T>) -> Result<Vec<T::Work>, CpuError> {
    let shape = c.output(0)?.extents();
    let mut out = vec![<T::Work as Number>::ZERO; shape.iter().product()];
    for i in 0..c.inputs.len() {
        let x = c.elements::<T>(i)?;
        let rows = Rows::new(&shape, &[broadcast(c.shape(i)?, &shape)?]);
        for (y, [start]) in out.chunks_mut(rows.len.max(1)).zip(rows.starts()) {
            let x = &x[rows.part(0, start)];
            if i == 0 { self::join(y, x, |_, x| x) } else { join(y, x) }
        }
    }
    Ok(out)
}

/// Combines numbers with as many elements, or with one element.
fn join<T: Numeric>(y: &mut [T::Work], x: &[T], f: impl Fn(T::Work, T::Work) -> T::Work) {
    if let &[x] = x {
        for y in y {
            *y = f(*y, x.load());
        }
    } else {
        for (y, &x) in y.iter_mut().zip(x) {
            *y = f(*y, x.load());
        }
    }
}
