//! `ReverseSequence`: the beginning of every sequence of a batch turned round.

use ir::{Attributes, BadAttribute, DType, DTypes, Dim, Type};
use ndarray::ArrayD;

use crate::arith::Arith;
use crate::data::{Call, Data};
use crate::draw::Draw;
use crate::lanes;
use crate::list::Op;
use crate::operator::{Hazard, Operator, TypeRule};
use crate::rule::{Args, Reject, Rule};
use crate::spec::{Allowed, Spec, one};

/// `ReverseSequence`. One of the first two axes runs over the batch, the other over time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReverseSequence {
    /// Whether time is axis 1 and the batch axis 0.
    pub batch_first: bool,
}

const T: Allowed = &[(13, DTypes::IR4.without(DType::BF16))];

/// The row of the registry.
pub static SPECS: &[Spec] = &[Spec {
    name: "ReverseSequence",
    inputs: &[one("input", T), one("sequence_lens", &[(13, DTypes::of(&[DType::I64]))])],
    outputs: &[T],
    fields: &[],
    draw,
    parse,
}];

fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Op<ir::Sym<'a>>> {
    d.any(2..=d.limits.max_rank)?;
    let allowed = d.allowed();
    let dtype = d.dtype(allowed)?;
    d.pinned(dtype, 1);
    Some(ReverseSequence { batch_first: d.chance(0.5) }.into())
}

fn parse(a: &Attributes) -> Result<Op, BadAttribute> {
    match (a.get_int("batch_axis", Some(1))?, a.get_int("time_axis", Some(0))?) {
        (0, 1) => Ok(ReverseSequence { batch_first: true }.into()),
        (1, 0) => Ok(ReverseSequence { batch_first: false }.into()),
        (batch, time) => Err(BadAttribute::Value {
            name: "batch_axis".to_owned(),
            value: format!("{batch} with time_axis {time}"),
            wanted: "one must be 0 and the other 1".to_owned(),
        }),
    }
}

impl ReverseSequence {
    /// The axis of the batch and that of time.
    const fn axes(self) -> (usize, usize) {
        if self.batch_first { (0, 1) } else { (1, 0) }
    }

    fn reverse<A: Arith, T: Copy>(
        self,
        c: &Call<'_, A>,
        x: &ArrayD<T>,
        unknown: T,
        undefined: T,
    ) -> ArrayD<T> {
        let (batch, time) = self.axes();
        lanes::build(x.shape(), |at| {
            let Some(length) = c.arith.peek(c.int(1)[[at[batch]].as_slice()]) else { return unknown };
            if !(0..=x.shape()[time] as i128).contains(&length) {
                return undefined;
            }
            let (length, mut source) = (length as usize, at.to_vec());
            if at[time] < length {
                source[time] = length - 1 - at[time];
            }
            x[source.as_slice()]
        })
    }
}

impl<D: Dim> TypeRule<D> for ReverseSequence {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let data = x.ranked(0, 2..=usize::from(u8::MAX))?;
        r.eq(x.ranked(1, 1..=1)?.shape[0], data.shape[self.axes().0])?;
        Ok(vec![data.clone()])
    }
}

impl Operator for ReverseSequence {
    fn spec(&self) -> &'static Spec {
        &SPECS[0]
    }

    fn flops(&self, _: &[Option<&Type>], _: &[Type]) -> u64 {
        0
    }

    fn attributes(&self) -> Attributes {
        let (batch, time) = self.axes();
        Attributes::new().int("batch_axis", batch as i64).int("time_axis", time as i64)
    }

    fn eval<A: Arith>(&self, c: &Call<'_, A>) -> Vec<Data<A>> {
        let a = c.arith;
        vec![match c.data(0) {
            Data::Real(x) => Data::Real(self.reverse(c, x, a.unknown_real(), a.undefined_real())),
            Data::Int(x) => Data::Int(self.reverse(c, x, a.unknown_int(), a.undefined_int())),
        }]
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let longest = x[0].and_then(|t| t.shape.get(self.axes().1).copied());
        longest.map(|n| Hazard::Outside { operand: 1, low: 0.0, high: n as f64 }).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{parse, run, tensor};

    #[test]
    fn only_the_beginning_is_turned_round() {
        let x = tensor(DType::F32, &[2, 3], &[1., 2., 3., 4., 5., 6.]);
        let batch_first = Attributes::new().int("batch_axis", 0).int("time_axis", 1);
        let lengths = tensor(DType::I64, &[2], &[2., 3.]);
        assert_eq!(run(parse("ReverseSequence", &batch_first), &[&x, &lengths]), [2., 1., 3., 6., 5., 4.]);
        let lengths = tensor(DType::I64, &[3], &[0., 1., 2.]);
        assert_eq!(
            run(parse("ReverseSequence", &Attributes::new()), &[&x, &lengths]),
            [1., 2., 6., 4., 5., 3.]
        );
    }
}
