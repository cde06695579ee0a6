//! Reading from values: what decides a branch, a count or a shape.

use std::sync::Arc;

use ir::{NodeKind, Tensor, Value};
use ops::schema;

use super::frame::Bound;
use super::known::{self, Inputs, Known};
use super::terms::{check_dtype, misshapen};
use super::translation::if_given;
use super::walk::Walk;
use crate::Error;
use crate::program::{Node, ValueId};

/// Elements that something was read from, and the value to name as that: it is there where they depend on the model's
/// inputs.
pub(super) type Read = (Arc<Tensor>, Option<Value>);

impl Walk<'_, '_> {
    /// The elements of a value of the program that something is read from, which the inputs must tell.
    pub(super) fn read(&mut self, id: ValueId) -> Result<Read, Error> {
        let what = format!("value `{}`", self.frame.scope.name(id));
        match self.frame.get(id)?.clone() {
            Bound::Static(tensor) => Ok((tensor, None)),
            Bound::Tensor(value) => self.read_value(value, what),
            bound @ (Bound::Sequence(_) | Bound::Nothing(_) | Bound::Strings(_) | Bound::Absent) => {
                Err(self.not_a_tensor(id, &bound))
            }
        }
    }

    /// The elements of a value, where they are known before the model is run. Nothing is read from them yet.
    pub(super) fn known(&mut self, id: ValueId) -> Result<Option<Arc<Tensor>>, Error> {
        match self.frame.get(id)?.clone() {
            Bound::Static(tensor) => Ok(Some(tensor)),
            Bound::Tensor(value) => {
                let known = known::elements(self.context, &self.graph, &mut self.knowledge, value)?;
                Ok(known.map(|known| known.tensor.shared()))
            }
            Bound::Sequence(_) | Bound::Nothing(_) | Bound::Strings(_) | Bound::Absent => Ok(None),
        }
    }

    /// The elements of a value of the graph that something is read from. `what` names it where the inputs do not tell it.
    pub(super) fn read_value(&mut self, value: Value, what: String) -> Result<Read, Error> {
        let known = known::elements(self.context, &self.graph, &mut self.knowledge, value)?;
        let Some(Known { tensor, inputs }) = known else {
            self.context.functions.lacks_value = true;
            return Err(Error::unsupported(
                what,
                "it must be known before the model is run, but is computed",
            ));
        };
        self.note(&inputs);
        // What is computed from constants alone has no input to name, and the model has only what came of it.
        self.context.is_written_out |=
            !matches!(self.graph.node(value.node).kind, NodeKind::Variable { .. } | NodeKind::Constant(_));
        Ok((tensor.shared(), (!inputs.is_empty()).then_some(value)))
    }

    /// Notes that something was read from inputs of the model.
    fn note(&mut self, inputs: &Inputs) {
        for input in inputs.iter() {
            if !self.context.specialised.contains(input) {
                self.context.specialised.push(input.clone());
            }
        }
    }

    /// The lengths of sequences, where an operand tells them: one for each of a batch, of at most so many steps.
    pub(super) fn lengths(
        &mut self,
        node: &Node,
        i: usize,
        [batch, most]: [i64; 2],
    ) -> Result<Option<Lengths>, Error> {
        let Some(lengths) = if_given(self, node, i) else { return Ok(None) };
        let (lengths, from) = self.read(lengths)?;
        let schema = schema::in_force(node.rest.op_type(), self.context.declared);
        if let Some(parameter) = schema.and_then(|schema| schema.inputs.get(i)) {
            check_dtype(i, parameter, lengths.dtype())?;
        }
        if lengths.ty().shape[..] != [batch] {
            return Err(misshapen(i, &lengths.ty(), &format!("a length for each of {batch}")));
        }
        let each = lengths.to_i128s();
        if let Some(length) = each.iter().find(|length| !(0..=i128::from(most)).contains(length)) {
            let why = format!("a sequence of {most} steps is said to have {length}");
            return Err(Error::invalid(format!("operand {i}"), why));
        }
        Ok(Some(Lengths { each: each.into_iter().map(|length| length as i64).collect(), from }))
    }
}

/// How many steps each sequence of a batch has, and the value that this was read from where it depends on the model's inputs.
pub(super) struct Lengths {
    pub(super) each: Vec<i64>,
    pub(super) from: Option<Value>,
}
