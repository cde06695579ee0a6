//! A Scan, written out: its body once for each slice.

use std::collections::HashMap;

use ir::{DType, Type};

use super::edit::Way;
use super::{Node, Program, ValueId};

impl Program {
    /// The program with the body of a Scan for so many slices in its place.
    pub fn with_slices(
        &self,
        way: &Way,
        at: usize,
        slices: usize,
        type_of: &dyn Fn(ValueId) -> Option<Type>,
    ) -> Option<Self> {
        let mut program = self.clone();
        let node = program.body(way)?.nodes.get(at)?.clone();
        let held = node.attributes.iter().find(|a| a.rest.name() == "body")?.body.clone()?;
        let attribute = |name: &str| node.attributes.iter().find(|a| a.rest.name() == name);
        let list =
            |name: &str, i: usize| attribute(name).and_then(|a| a.rest.ints.get(i)).copied().unwrap_or(0);
        let scanned = usize::try_from(attribute("num_scan_inputs")?.rest.i()).ok()?;
        let operands: Vec<ValueId> = node.inputs.iter().copied().collect::<Option<_>>()?;
        let states = operands.len().checked_sub(scanned)?;
        let mut state = operands[..states].to_vec();
        let mut piles = vec![Vec::new(); held.outputs.len().checked_sub(states)?];
        let (mut nodes, mut initializers) = (Vec::new(), Vec::new());
        for step in 0..slices {
            let mut arguments = state;
            for (i, &operand) in operands[states..].iter().enumerate() {
                let is_reversed = list("scan_input_directions", i) != 0;
                let place = if is_reversed { slices - 1 - step } else { step };
                let index = program.main.number(place as i64, DType::I64, &mut initializers);
                let slice = program.main.fresh("slice");
                let gather = Node::new("Gather", vec![Some(operand), Some(index)], vec![Some(slice)]);
                nodes.push(gather.with_int("axis", list("scan_input_axes", i)));
                arguments.push(slice);
            }
            let parameters = held.inputs.iter().map(|port| port.value);
            let mut bound: HashMap<ValueId, ValueId> = parameters.zip(arguments).collect();
            let body = program.main.copy(&held, &mut bound);
            initializers.extend(body.initializers);
            nodes.extend(body.nodes);
            let mut results = body.outputs.iter().map(|port| port.value);
            state = results.by_ref().take(states).collect();
            piles.iter_mut().zip(results).for_each(|(pile, piece)| pile.push(piece));
        }
        for (i, mut pile) in piles.into_iter().enumerate() {
            if list("scan_output_directions", i) != 0 {
                pile.reverse();
            }
            let axis = list("scan_output_axes", i);
            let given = || type_of(node.outputs.get(states + i).copied().flatten()?);
            state.push(match &pile[..] {
                [] => program.main.nothing_of(&held.outputs[states + i], axis, given, &mut initializers)?,
                pile => program.main.stack(pile, axis, &mut nodes, &mut initializers)?,
            });
        }
        program.replace(way, at, nodes, initializers, &state)
    }
}
