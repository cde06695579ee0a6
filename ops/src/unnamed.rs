//! Optional operands and outputs at the end of a node's lists: ONNX lets them be left off, or stand there with the empty name.

use ir::Unnamed;

use crate::list::Op;
use crate::schema::{self, Arity, Parameter};
use crate::spec::Place;

/// ONNX takes this operator with its first output alone or with all. From this opset on it takes all only from an
/// operator that trains, which has names for them.
const ALL_OR_ONE: (&str, u32) = ("BatchNormalization", 14);

impl Op {
    /// How many of the wanted optional operands and outputs a node may list in an opset, behind those that it writes.
    /// The node has `operands` operands and `outputs` outputs here.
    pub fn listed(&self, wanted: Unnamed, operands: usize, outputs: usize, opset: u32) -> Unnamed {
        let room = self.room(operands, outputs, opset);
        let least = wanted.least(room);
        let (name, since) = ALL_OR_ONE;
        let is_taken = self.spec().name != name || opset < since && least.outputs == room.outputs;
        if is_taken { least } else { Unnamed { outputs: 0, ..least } }
    }

    /// How many optional operands and outputs an opset has behind those that a node writes. The node has `operands`
    /// operands and `outputs` outputs here.
    pub fn room(&self, operands: usize, outputs: usize, opset: u32) -> Unnamed {
        let Some(schema) = schema::in_force(self.spec().name, opset) else { return Unnamed::default() };
        let written = self.slots_written(operands, opset);
        Unnamed { operands: optional(&schema.inputs, written), outputs: optional(&schema.outputs, outputs) }
    }

    /// How many operands a node writes that has `operands` of them here: it writes some attributes as operands.
    fn slots_written(&self, operands: usize, opset: u32) -> usize {
        let (spec, attributes) = (self.spec(), self.attributes());
        let slots = spec.fields.iter().filter_map(|field| match spec.place(field.name, opset) {
            Place::List(slot) | Place::Scalar(slot) | Place::Single(slot) => Some((slot, field.name)),
            Place::Attribute | Place::Absent | Place::Outputs | Place::Found(_) => None,
        });
        let slots: Vec<(usize, &str)> = slots.collect();
        let is_free = |at: &usize| slots.iter().all(|(slot, _)| slot != at);
        let behind_operands = match operands.checked_sub(1) {
            Some(last) => (0..).filter(is_free).nth(last).map_or(0, |at| at + 1),
            None => 0,
        };
        let stated = slots.iter().filter(|(_, name)| attributes.get(name).is_some());
        stated.map(|(slot, _)| slot + 1).fold(behind_operands, usize::max)
    }
}

/// How many parameters follow the first ones; 0 if one that follows is required, or stands for several.
fn optional(parameters: &[Parameter], first: usize) -> u32 {
    let rest = parameters.get(first..).unwrap_or_default();
    let may_go = rest.iter().all(|parameter| parameter.arity == Arity::Optional);
    if may_go { rest.len() as u32 } else { 0 }
}

#[cfg(test)]
mod tests {
    use ir::Attributes;

    use super::*;

    #[test]
    fn a_batch_normalization_lists_all_outputs_or_one() {
        let spec = crate::find("BatchNormalization").expect("an operator");
        let op = Op::from_attributes(spec, &Attributes::new()).expect("attributes");
        let listed = |outputs, opset| op.listed(Unnamed { operands: 0, outputs }, 5, 1, opset).outputs;
        assert_eq!([1, 3, 4, 9].map(|outputs| listed(outputs, 13)), [0, 0, 4, 4]);
        assert_eq!([1, 2].map(|outputs| listed(outputs, 14)), [0, 0]);
    }

    /// The room of an operator behind so many operands and outputs, as two numbers.
    fn room(name: &str, attributes: &Attributes, there: (usize, usize), opset: u32) -> (u32, u32) {
        let spec = crate::find(name).expect("an operator");
        let op = Op::from_attributes(spec, attributes).expect("attributes");
        let Unnamed { operands, outputs } = op.room(there.0, there.1, opset);
        (operands, outputs)
    }

    #[test]
    fn what_is_optional_and_not_there_has_room() {
        let none = Attributes::new();
        // Statistics came as four further outputs, and later as two.
        assert_eq!(room("BatchNormalization", &none, (5, 1), 13), (0, 4));
        assert_eq!(room("BatchNormalization", &none, (5, 1), 15), (0, 2));
        assert_eq!(room("Clip", &none, (1, 1), 13), (2, 0));
        assert_eq!(room("Clip", &none, (3, 1), 13), (0, 0));
        assert_eq!(room("Max", &none, (1, 1), 13), (0, 0));
        assert_eq!(room("Abs", &none, (1, 1), 13), (0, 0));
    }

    #[test]
    fn an_attribute_that_is_an_operand_takes_its_place() {
        let axes = Attributes::new().ints("axes", &[0]);
        assert_eq!(room("Squeeze", &axes, (1, 1), 13), (0, 0));
        assert_eq!(room("Squeeze", &Attributes::new(), (1, 1), 13), (1, 0));
        // The value of Pad stands between its sizes and its axes.
        let pads = Attributes::new().ints("pads", &[1, 1]);
        assert_eq!(room("Pad", &pads, (1, 1), 13), (1, 0));
        assert_eq!(room("Pad", &pads, (1, 1), 18), (2, 0));
        assert_eq!(room("Pad", &pads, (2, 1), 18), (1, 0));
        assert_eq!(room("Pad", &axes.ints("pads", &[1, 1]), (1, 1), 18), (0, 0));
    }
}
