//! Min, Max, Sum and Mean of several operands: one is combined with the result so far after the other.

use ops::elementwise::VariadicFn;

use crate::cpu::call::Call;
use crate::cpu::element::{Number, Numeric, dispatch_number};
use crate::cpu::error::{CpuError, Outputs};
use crate::cpu::strided::{Rows, broadcast, dense};

pub(crate) fn run(function: VariadicFn, c: &Call<'_>) -> Outputs {
    dispatch_number!(c.dtype(0)?, T => match function {
        VariadicFn::Min => fold::<T>(c, Number::smaller),
        VariadicFn::Max => fold::<T>(c, Number::larger),
        VariadicFn::Sum => fold::<T>(c, Number::add),
        VariadicFn::Mean => {
            let count = Number::from_count(c.inputs.len());
            let sum = combine::<T>(c, Number::add)?;
            c.only(sum.into_iter().map(|x| T::store(x.div(count))).collect())
        }
    })
}

fn fold<T: Numeric>(c: &Call<'_>, f: impl Fn(T::Work, T::Work) -> T::Work) -> Outputs {
    c.only(combine::<T>(c, f)?.into_iter().map(T::store).collect())
}

fn combine<T: Numeric>(
    c: &Call<'_>,
    f: impl Fn(T::Work, T::Work) -> T::Work,
) -> Result<Vec<T::Work>, CpuError> {
    let shape = c.output(0)?.extents();
    let mut out: Vec<T::Work> = Vec::new();
    for i in 0..c.inputs.len() {
        let x = c.elements::<T>(i)?;
        let rows = Rows::new(&shape, &[broadcast(c.shape(i)?, &shape)?, dense(&shape)]);
        if i == 0 {
            for [from, _] in rows.starts() {
                out.extend((0..rows.len).map(|k| x[rows.nth(0, from, k)].load()));
            }
        } else {
            for [from, to] in rows.starts() {
                for (k, y) in out[to..to + rows.len].iter_mut().enumerate() {
                    *y = f(*y, x[rows.nth(0, from, k)].load());
                }
            }
        }
    }
    Ok(out)
}
