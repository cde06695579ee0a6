//! Scan as opset 8 had it: for each of a batch, along the second axis of what is scanned.
//!
//! ONNX: [Scan, version 8](https://onnx.ai/onnx/operators/onnx__Scan.html#scan-8). The first axis of all operands is
//! that of the batch, and of all results too. Sequences that are shorter than others are refused: the text does not say
//! what comes behind them.

use ir::Value;

use super::{Scan, Scanned};
use crate::Error;
use crate::import::frame::Bound;
use crate::import::given::GivenAttributes;
use crate::import::terms::misshapen;
use crate::import::translation::{SourceNode, body, number, stack, tensor};
use crate::import::walk::Walk;

/// The results, of the whole batch.
pub(super) fn scan<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<Vec<Bound>, Error> {
    let node = source.node;
    let body = body(node, "body")?;
    let given = GivenAttributes::of(source);
    given.ignore("body");
    let scanned = usize::try_from(given.int("num_scan_inputs", 0)).unwrap_or(0);
    let directions = given.ints("directions");
    given.finish()?;
    // The lengths of the sequences stand before all other operands.
    let operands = node.inputs.len().saturating_sub(1);
    let piled = body.outputs.len().checked_sub(operands.saturating_sub(scanned));
    let (Some(piled), true) = (piled, (1..=operands).contains(&scanned) && body.inputs.len() == operands)
    else {
        let why =
            format!("it has other inputs or outputs than {operands} operands, {scanned} of them scanned");
        return Err(Error::invalid("attribute `body`", why));
    };
    if !directions.is_empty() && directions.len() != scanned {
        let why = format!("it has {} elements instead of {scanned}", directions.len());
        return Err(Error::invalid("attribute `directions`", why));
    }
    let values = (0..operands).map(|i| tensor(walk, node, i + 1)).collect::<Result<Vec<Value>, _>>()?;
    let states = operands - scanned;
    let [batch, length] = sizes(walk, &values, states)?;
    let lengths = walk.lengths(node, 0, [batch, length])?;
    if lengths.as_ref().is_some_and(|lengths| lengths.each.iter().any(|&of| of != length)) {
        let why = "sequences that are shorter than others are not written out";
        return Err(Error::unsupported("operand 0", why));
    }
    let from = lengths.and_then(|lengths| lengths.from);
    if batch == 0 {
        return Err(Error::unsupported("operands", "of an empty batch nothing is written out"));
    }
    let mut results: Vec<Vec<Value>> = vec![Vec::new(); body.outputs.len()];
    for of in 0..batch {
        let at = number(walk, of)?;
        let mut slices = Vec::with_capacity(operands);
        for &value in &values {
            slices.push(walk.op("Gather", &[value, at])?);
        }
        let inputs = slices.split_off(states).into_iter().enumerate().map(|(i, value)| Scanned {
            value,
            axis: 0,
            is_reversed: directions.get(i).is_some_and(|&direction| direction != 0),
            extent: length,
        });
        let scan = Scan { node, body, states, inputs: inputs.collect(), outputs: vec![(0, false); piled] };
        let initial: Vec<Bound> = slices.into_iter().map(Bound::Tensor).collect();
        let each = scan.run(walk, &initial, (of * length) as usize)?;
        for ((all, one), port) in results.iter_mut().zip(each).zip(&body.outputs) {
            all.push(super::piece(walk, one, port.value)?);
        }
        walk.check_size(|| format!("{} of a batch of {batch}", node.called()))?;
    }
    results.iter().map(|all| stack(walk, all, 0, from.as_slice()).map(Bound::Tensor)).collect()
}

/// The sizes of the batch and of the sequences, which all values have as it is said: states, then what is scanned.
fn sizes(walk: &Walk<'_, '_>, values: &[Value], states: usize) -> Result<[i64; 2], Error> {
    let ty = walk.ty(values[states]);
    let &[batch, length, ..] = &ty.shape[..] else {
        return Err(misshapen(states + 1, &ty, "of a batch and a sequence"));
    };
    for (i, &value) in values.iter().enumerate() {
        let ty = walk.ty(value);
        if ty.shape.first() != Some(&batch) || i >= states && ty.shape.get(1) != Some(&length) {
            return Err(misshapen(
                i + 1,
                &ty,
                &format!("a batch of {batch}, and of {length} slices where it is scanned"),
            ));
        }
    }
    Ok([batch, length])
}
