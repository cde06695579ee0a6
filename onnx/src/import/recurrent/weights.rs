//! The weights of one direction, and sums that are made with them.

use ir::{Attributes, Type, Value};

use super::cells::Cell;
use super::{Sizes, one};
use crate::Error;
use crate::import::translation::tensor;
use crate::import::walk::Walk;
use crate::program::Node;

/// What belongs to a direction: its part of a tensor whose first axis are the directions.
pub(super) fn of_direction(walk: &mut Walk<'_, '_>, value: Value, direction: i64) -> Result<Value, Error> {
    let part = rows(walk, value, direction, direction + 1)?;
    one(walk, "Squeeze", &Attributes::new().ints("axes", &[0]), &[part])
}

/// Some rows of a tensor.
fn rows(walk: &mut Walk<'_, '_>, value: Value, from: i64, to: i64) -> Result<Value, Error> {
    if from == 0 && walk.graph.ty(value).shape.first() == Some(&to) {
        return Ok(value);
    }
    let slice = Attributes::new().ints("starts", &[from]).ints("ends", &[to]).ints("axes", &[0]);
    one(walk, "Slice", &slice, &[value])
}

/// The weights of one direction, a row for each gate and hidden number.
pub(super) struct Weights {
    input: Value,
    recurrence: Value,
    /// Those of the input and of the recurrence.
    biases: Option<[Value; 2]>,
    /// Weights of what is held, gate after gate.
    pub(super) peepholes: Option<Vec<Value>>,
    sizes: Sizes,
}

/// What stands on the left of a sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Of {
    /// The input of the step and the state.
    Both,
    /// The input alone.
    Input,
    /// The state alone.
    State,
}

/// What a gate sums: its weights, and the ones that meet the biases among them, if there are any.
pub(super) struct Sum {
    weights: Value,
    ones: Option<Value>,
}

impl Weights {
    pub(super) fn read(
        walk: &mut Walk<'_, '_>,
        node: &Node,
        cell: Cell,
        sizes: Sizes,
        direction: i64,
    ) -> Result<Self, Error> {
        let rows_of = cell.gates() * sizes.hidden;
        let mut part = |i: usize, wanted: &[i64]| -> Result<Option<Value>, Error> {
            if walk.is_absent(node.inputs.get(i).copied().flatten()) {
                return Ok(None);
            }
            let value = tensor(walk, node, i)?;
            let whole: Vec<i64> = std::iter::once(sizes.directions).chain(wanted.iter().copied()).collect();
            let ty = walk.graph.ty(value);
            if ty.shape[..] != whole[..] {
                let wanted = Type::new(ty.dtype, whole);
                return Err(Error::invalid(
                    format!("operand {i}"),
                    format!("it must be {wanted}, but is {ty}"),
                ));
            }
            of_direction(walk, value, direction).map(Some)
        };
        let missing = |i: usize| Error::invalid(format!("operand {i}"), "it must be there");
        let input = part(1, &[rows_of, sizes.input])?.ok_or_else(|| missing(1))?;
        let recurrence = part(2, &[rows_of, sizes.hidden])?.ok_or_else(|| missing(2))?;
        let biases = part(3, &[2 * rows_of])?;
        let peepholes = if cell == Cell::Lstm { part(7, &[3 * sizes.hidden])? } else { None };
        let biases = match biases {
            Some(both) => Some([rows(walk, both, 0, rows_of)?, rows(walk, both, rows_of, 2 * rows_of)?]),
            None => None,
        };
        let peepholes = match peepholes {
            Some(all) => {
                let gate = |gate: i64| rows(walk, all, gate * sizes.hidden, (gate + 1) * sizes.hidden);
                Some((0..3).map(gate).collect::<Result<_, _>>()?)
            }
            None => None,
        };
        Ok(Self { input, recurrence, biases, peepholes, sizes })
    }

    /// The sum of some gates. Its weights are put together once.
    pub(super) fn sum(
        &self,
        walk: &mut Walk<'_, '_>,
        of: Of,
        gates: std::ops::Range<i64>,
    ) -> Result<Sum, Error> {
        let (from, to) = (gates.start * self.sizes.hidden, gates.end * self.sizes.hidden);
        let matrices = [(self.input, of != Of::State), (self.recurrence, of != Of::Input)];
        let biases = self
            .biases
            .map_or(Vec::new(), |both| both.into_iter().zip([of != Of::State, of != Of::Input]).collect());
        let mut parts = Vec::new();
        for (matrix, _) in matrices.into_iter().filter(|(_, is_in)| *is_in) {
            parts.push(rows(walk, matrix, from, to)?);
        }
        let mut ones = 0;
        for (bias, _) in biases.into_iter().filter(|(_, is_in)| *is_in) {
            let bias = rows(walk, bias, from, to)?;
            parts.push(one(walk, "Unsqueeze", &Attributes::new().ints("axes", &[1]), &[bias])?);
            ones += 1;
        }
        let dtype = walk.graph.ty(self.input).dtype;
        let ones = if ones > 0 { Some(walk.reals(dtype, &[self.sizes.batch, ones], |_| 1.0)?) } else { None };
        Ok(Sum { weights: beside(walk, &parts)?, ones })
    }
}

impl Sum {
    /// The sum of what stands on the left: the input of the step, the state, or both.
    pub(super) fn of(&self, walk: &mut Walk<'_, '_>, left: &[Value]) -> Result<Value, Error> {
        let left: Vec<Value> = left.iter().copied().chain(self.ones).collect();
        let left = beside(walk, &left)?;
        one(walk, "Gemm", &Attributes::new().int("transB", 1), &[left, self.weights])
    }
}

/// Matrices beside each other.
fn beside(walk: &mut Walk<'_, '_>, parts: &[Value]) -> Result<Value, Error> {
    match parts {
        [only] => Ok(*only),
        parts => one(walk, "Concat", &Attributes::new().int("axis", 1), parts),
    }
}
