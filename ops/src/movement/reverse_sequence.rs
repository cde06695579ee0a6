//! `ReverseSequence`: the beginning of every sequence of a batch turned round.

use ir::Attribute;

use crate::prelude::*;

attributes! {
    /// The beginning of every sequence of a batch turned round.
    ///
    /// `x: [batch, time, …] or [time, batch, …], lengths: [batch], i64 → y: as x`
    ///
    /// What follows the beginning stays. A length below 0, or above the axis' size, is undefined.
    ///
    /// ONNX: [ReverseSequence](https://onnx.ai/onnx/operators/onnx__ReverseSequence.html).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct ReverseSequence {
        /// What the first two axes are.
        pub order: Order as part,
    }
}

/// Which of the first two axes runs over the batch; the other one runs over time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The first.
    BatchFirst,
    /// The second.
    TimeFirst,
}

impl Order {
    /// The axis of the batch and that of time.
    const fn axes(self) -> (usize, usize) {
        match self {
            Self::BatchFirst => (0, 1),
            Self::TimeFirst => (1, 0),
        }
    }
}

impl Part for Order {
    fn read(given: &Attributes) -> Result<Self, BadAttribute> {
        match (given.get_int("batch_axis", Some(1))?, given.get_int("time_axis", Some(0))?) {
            (0, 1) => Ok(Self::BatchFirst),
            (1, 0) => Ok(Self::TimeFirst),
            (batch, time) => Err(BadAttribute::Value {
                name: "batch_axis".to_owned(),
                value: format!("{batch} with time_axis {time}"),
                wanted: "0 with time_axis 1, or the other way round".to_owned(),
            }),
        }
    }

    fn write(&self, all: &mut Attributes) {
        let (batch, time) = self.axes();
        all.set("batch_axis", Attribute::Int(batch as i64));
        all.set("time_axis", Attribute::Int(time as i64));
    }
}

impl Single for ReverseSequence {
    const ROW: Row = Row::new("ReverseSequence");

    fn draw<'a>(d: &mut Draw<'_, 'a>) -> Option<Self::Over<Sym<'a>>> {
        d.any(2..=d.limits.max_rank)?;
        d.any_pinned(1)?;
        Some(ReverseSequence { order: if d.flag() { Order::BatchFirst } else { Order::TimeFirst } })
    }
}

impl ReverseSequence {
    /// Whether time is axis 1 and the batch axis 0.
    pub const fn batch_first(self) -> bool {
        matches!(self.order, Order::BatchFirst)
    }
}

impl EitherKind for ReverseSequence {
    fn facts(&self, _: &[Option<&Type>]) -> Facts {
        Facts::moves(Reads::Elements, Some(0))
    }

    fn hazards(&self, x: &[Option<&Type>]) -> Vec<Hazard> {
        let longest = x[0].and_then(|t| t.shape.get(self.order.axes().1).copied());
        longest.map(|n| Hazard::Outside { operand: 1, low: 0.0, high: n as f64 }).into_iter().collect()
    }

    fn outputs<A: Arith, K: Kind<A>>(&self, c: &Call<'_, A>, x: &Numbers<A, K>) -> Vec<Numbers<A, K>> {
        let (batch, time) = self.order.axes();
        vec![lanes::build(x.shape(), |at| {
            let Some(length) = c.arith.peek(c.int(1)[[at[batch]].as_slice()]) else {
                return K::unknown(c.arith);
            };
            if !(0..=x.shape()[time] as i128).contains(&length) {
                return K::undefined(c.arith);
            }
            let (length, mut source) = (length as usize, at.to_vec());
            if at[time] < length {
                source[time] = length - 1 - at[time];
            }
            x[source.as_slice()]
        })]
    }
}

impl<D: Dim> TypeRule<D> for ReverseSequence {
    fn infer(&self, x: Args<'_, D>, r: &mut dyn Rule<D>) -> Result<Vec<Type<D>>, Reject> {
        let data = x.ranked_from(0, 2)?;
        r.eq(x.ranked(1, 1..=1)?.shape[0], data.shape[self.order.axes().0])?;
        Ok(vec![data.clone()])
    }
}

#[cfg(test)]
tables! {
    only_the_beginning_is_turned_round: "
        x = f32[2, 3] {1, 2, 3, 4, 5, 6}
        ReverseSequence(x, i64[2] {2, 3}) {batch_axis = 0, time_axis = 1} = f32[2, 3] {2, 1, 3, 6, 5, 4}
        ReverseSequence(x, i64[3] {0, 1, 2}) = f32[2, 3] {1, 2, 6, 4, 5, 3}
    ";
}
