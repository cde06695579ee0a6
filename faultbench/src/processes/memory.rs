//! Memory of the run before that is read, or not written again.

use std::collections::BTreeMap;

use ir::{DType, NodeKind, Tensor, Value};
use ops::Op;

use super::{Run, WrongProcess, bytes, right, tensor_at};

pub(super) const FAULTS: &[WrongProcess] = &[
    WrongProcess {
        name: "last-element-is-left-from-the-run-before",
        does: "does not write the last element of each output, where memory has what the run before left",
        source: None,
        answer: |run| from_memory(run, |size, count| size - size / count..size),
    },
    WrongProcess {
        name: "second-half-is-not-written-in-time",
        does: "returns before the second of two threads has written its half of each output",
        source: None,
        answer: |run| from_memory(run, |size, count| size / count * count.div_ceil(2)..size),
    },
    WrongProcess {
        name: "sums-go-on-from-the-run-before",
        does: "adds sums of products to what the run before of the same model left in the output",
        source: None,
        answer: accumulated,
    },
    WrongProcess {
        name: "outputs-of-one-type-share-a-buffer",
        does: "has one buffer for all outputs of one type",
        source: None,
        answer: shared,
    },
    WrongProcess {
        name: "inputs-are-overwritten-by-the-first-run",
        does: "computes the first output in the memory of an input of its type, which the next run reads",
        source: Some("microsoft/onnxruntime#21922"),
        answer: overwritten_inputs,
    },
    WrongProcess {
        name: "rows-are-as-long-as-those-of-the-run-before",
        does: "keeps the buffer of an output that was larger, and reads its rows at the old distance",
        source: Some("microsoft/onnxruntime#10103"),
        answer: rows_of_before,
    },
];

/// The outputs with some of the bytes of each as the run before left them; `stale` says which, of so many bytes and elements.
fn from_memory(run: &Run<'_>, stale: fn(usize, usize) -> std::ops::Range<usize>) -> Option<Vec<Tensor>> {
    let memory = bytes(&run.before()?.outputs);
    let places = run.right.iter().scan(0, |place, y| {
        let begin = *place;
        *place += y.to_bytes().len();
        Some(begin)
    });
    let places: Vec<usize> = places.collect();
    run.each(|i, y| {
        let mut written = y.to_bytes();
        if y.is_empty() || y.dtype() == DType::Bool || y.dtype().bits() < u8::BITS {
            return None;
        }
        for byte in stale(written.len(), y.len()) {
            written[byte] = memory.get(places[i] + byte).copied().unwrap_or(0);
        }
        tensor_at(&y.ty(), &written, 0).filter(|new| new != y)
    })
}

fn accumulated(run: &Run<'_>) -> Option<Vec<Tensor>> {
    let before = run.again()?;
    let graph = &run.model.graph;
    let sums = |value: Value| {
        let NodeKind::Operator(op) = &graph.node(value.node).kind else { return false };
        matches!(op, Op::MatMul(_) | Op::Gemm(_) | Op::Conv(_) | Op::Reduce(_) | Op::AveragePool(_))
    };
    run.each(|i, y| {
        let left = before.outputs.get(i).filter(|_| sums(graph.outputs[i].value))?;
        Some(if y.dtype().is_float() {
            let (y, left) = (y.to_f64s(), left.to_f64s());
            Tensor::from_f64_fn(&run.right[i].ty(), |k| y[k] + left[k])
        } else {
            let (y, left) = (y.to_i128s(), left.to_i128s());
            Tensor::from_i128_fn(&run.right[i].ty(), |k| y[k] + left[k])
        })
    })
}

fn shared(run: &Run<'_>) -> Option<Vec<Tensor>> {
    let last: BTreeMap<String, &Tensor> = run.right.iter().map(|y| (y.ty().to_string(), y)).collect();
    run.each(|_, y| last.get(&y.ty().to_string()).filter(|&&last| last != y).map(|&last| last.clone()))
}

fn overwritten_inputs(run: &Run<'_>) -> Option<Vec<Tensor>> {
    let written = run.again()?.outputs.first()?;
    let place = run.inputs.iter().position(|x| x.ty() == written.ty())?;
    let mut inputs = run.inputs.to_vec();
    inputs[place] = written.clone();
    right(run.model, &inputs)
}

fn rows_of_before(run: &Run<'_>) -> Option<Vec<Tensor>> {
    let before = run.before()?;
    run.each(|i, y| {
        let old = before.outputs.get(i).filter(|old| old.dtype() == y.dtype() && old.len() > y.len())?;
        let (&row, &old_row) = (y.shape().last()?, old.shape().last()?);
        if old_row <= row || y.dtype().bits() < u8::BITS {
            return None;
        }
        // The new rows lie at the beginning of the old ones' memory, one behind the other.
        let width = y.dtype().whole_bytes();
        let mut memory = old.to_bytes();
        let written = y.to_bytes();
        memory[..written.len()].copy_from_slice(&written);
        let element = |k: usize| (k / row * old_row + k % row) * width;
        let read: Vec<u8> = (0..y.len())
            .flat_map(|k| (0..width).map(move |b| element(k) + b))
            .map(|at| memory.get(at).copied().unwrap_or(0))
            .collect();
        tensor_at(&y.ty(), &read, 0).filter(|new| new != y)
    })
}
