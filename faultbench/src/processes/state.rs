//! What a process prepared for an earlier run and takes for a later one, and the order in which things are done.

use std::collections::BTreeMap;

use ir::format::FloatFormat;
use ir::rewrite::Rewrite;
use ir::round::round_to_format;
use ir::{DType, NodeKind, Operation, Tensor, Value};
use ops::{Graph, Model, Op};

use super::{Run, WrongProcess, right, tensor_at};

pub(super) const FAULTS: &[WrongProcess] = &[
    WrongProcess {
        name: "kernels-are-cached-without-their-attributes",
        does: "runs an operator with the attributes of its first use on operands of these types in the process",
        source: Some("tensorflow/tfjs-core#75"),
        answer: cached_kernels,
    },
    WrongProcess {
        name: "weights-are-cached-by-their-type",
        does: "takes for a constant the first of its type that a model before this one had",
        source: None,
        answer: cached_weights,
    },
    WrongProcess {
        name: "weights-are-packed-anew-by-every-run",
        does: "transposes square constant matrices in place for a product, once more in each run",
        source: None,
        answer: packed_twice,
    },
    WrongProcess {
        name: "inputs-stay-bound-to-the-run-before",
        does: "reads for an input what the run before had at its place, where that has the same type",
        source: None,
        answer: bound_before,
    },
    WrongProcess {
        name: "results-are-cached-by-the-types-of-the-outputs",
        does: "returns the outputs of the run before where they have the same types",
        source: None,
        answer: cached_results,
    },
    WrongProcess {
        name: "fewer-bits-stay-on-after-a-model-of-halves",
        does: "rounds outputs of f32 to 11 bits after a model with f16 or bf16 in it",
        source: None,
        answer: fewer_bits,
    },
    WrongProcess {
        name: "batch-comes-back-in-another-order",
        does: "gives the slices of each output's first axis in reverse from the second run of a model on",
        source: None,
        answer: reversed_batch,
    },
    WrongProcess {
        name: "outputs-are-paired-by-size",
        does: "gives the outputs in the order of their sizes, the largest first",
        source: None,
        answer: by_size,
    },
    WrongProcess {
        name: "memory-pattern-of-the-first-run-is-too-small",
        does: "lays the outputs of the second run of a model over each other by one element",
        source: Some("microsoft/onnxruntime#18672"),
        answer: overlapping,
    },
];

/// The model with operators exchanged for others that give the same types; `None` if none is.
fn exchanged(model: &Model, other: impl Fn(&Graph, &Op, &[Option<Value>]) -> Option<Op>) -> Option<Model> {
    let graph = &model.graph;
    let mut rewrite = Rewrite::of(graph);
    let mut holds = false;
    for (id, node) in graph.iter() {
        let new = rewrite.keep(id)?;
        let NodeKind::Operator(op) = &node.kind else { continue };
        let other = other(graph, op, &node.inputs).filter(|other| other != op);
        let fits =
            |other: &Op| other.infer(&graph.types(&node.inputs)).is_ok_and(|types| types == node.outputs);
        if let Some(other) = other.filter(fits) {
            rewrite.graph.nodes[new.index()].kind = NodeKind::Operator(other);
            holds = true;
        }
    }
    let graph = rewrite.finish().filter(|_| holds)?;
    Some(Model { graph, ..model.clone() })
}

fn cached_kernels(run: &Run<'_>) -> Option<Vec<Tensor>> {
    let key = |graph: &Graph, op: &Op, operands: &[Option<Value>]| {
        let types = graph.types(operands);
        let ranks = types.iter().flatten().map(|ty| (ty.dtype, ty.shape.len()));
        format!("{} {:?}", op.name(), ranks.collect::<Vec<_>>())
    };
    let mut first: BTreeMap<String, Op> = BTreeMap::new();
    for graph in run.past.iter().map(|past| &past.model.graph).chain([&run.model.graph]) {
        for node in &graph.nodes {
            if let NodeKind::Operator(op) = &node.kind {
                first.entry(key(graph, op, &node.inputs)).or_insert_with(|| op.clone());
            }
        }
    }
    let model = exchanged(run.model, |graph, op, operands| first.get(&key(graph, op, operands)).cloned())?;
    right(&model, run.inputs)
}

/// The model with other constants of the same types; `None` if none is another.
fn with_constants(model: &Model, other: impl Fn(Value, &Tensor) -> Option<Tensor>) -> Option<Model> {
    let mut model = model.clone();
    let mut holds = false;
    for (i, node) in model.graph.nodes.iter_mut().enumerate() {
        if let NodeKind::Constant(tensor) = &mut node.kind
            && let Some(new) =
                other(Value::new(ir::NodeId(i as u32), 0), tensor).filter(|new| new != &**tensor)
        {
            *tensor = new.into();
            holds = true;
        }
    }
    holds.then_some(model)
}

fn cached_weights(run: &Run<'_>) -> Option<Vec<Tensor>> {
    let mut first: BTreeMap<String, &Tensor> = BTreeMap::new();
    for node in run.past.iter().flat_map(|past| &past.model.graph.nodes) {
        if let NodeKind::Constant(tensor) = &node.kind {
            first.entry(tensor.ty().to_string()).or_insert(tensor);
        }
    }
    let model = with_constants(run.model, |_, c| first.get(&c.ty().to_string()).map(|&t| t.clone()))?;
    right(&model, run.inputs)
}

fn packed_twice(run: &Run<'_>) -> Option<Vec<Tensor>> {
    // The first run packs them, and each later one once more.
    let times = run.past.iter().filter(|past| past.model == *run.model).count();
    let graph = &run.model.graph;
    let is_weight = |value: Value| {
        let uses = graph.nodes.iter().filter(|node| node.inputs.get(1) == Some(&Some(value)));
        uses.into_iter().any(|node| matches!(&node.kind, NodeKind::Operator(Op::MatMul(_) | Op::Gemm(_))))
    };
    let model = with_constants(run.model, |value, c| {
        let [n, m] = *c.shape() else { return None };
        let width = c.dtype().whole_bytes();
        if n != m || times % 2 == 0 || !is_weight(value) || c.dtype().bits() < u8::BITS {
            return None;
        }
        let bytes = c.to_bytes();
        let element = |k: usize| (k % n * n + k / n) * width;
        let turned: Vec<u8> =
            (0..n * n).flat_map(|k| bytes[element(k)..element(k) + width].to_vec()).collect();
        tensor_at(&c.ty(), &turned, 0)
    })?;
    right(&model, run.inputs)
}

fn bound_before(run: &Run<'_>) -> Option<Vec<Tensor>> {
    let before = run.before()?;
    let mut inputs = run.inputs.to_vec();
    for (input, old) in inputs.iter_mut().zip(&before.inputs).filter(|(new, old)| new.ty() == old.ty()) {
        *input = old.clone();
    }
    if inputs == run.inputs { None } else { right(run.model, &inputs) }
}

fn cached_results(run: &Run<'_>) -> Option<Vec<Tensor>> {
    let before = run.before()?;
    run.each(|i, y| before.outputs.get(i).filter(|old| old.ty() == y.ty() && *old != y).cloned())
}

fn fewer_bits(run: &Run<'_>) -> Option<Vec<Tensor>> {
    const BITS: FloatFormat = FloatFormat { mantissa_bits: 10, ..FloatFormat::F64 };
    let halves = [DType::F16, DType::BF16];
    let types = |model: &Model| model.graph.nodes.iter().flat_map(|n| n.outputs.clone()).collect::<Vec<_>>();
    let has_halves = |model| types(model).iter().any(|ty| halves.contains(&ty.dtype));
    run.past.iter().find(|past| has_halves(&past.model))?;
    run.each(|_, y| {
        let values = (y.dtype() == DType::F32).then(|| y.to_f64s())?;
        let short = Tensor::from_f64_fn(&y.ty(), |i| round_to_format(BITS, values[i]));
        (short != *y).then_some(short)
    })
}

fn reversed_batch(run: &Run<'_>) -> Option<Vec<Tensor>> {
    run.again()?;
    run.each(|_, y| {
        let slices = *y.shape().first()?;
        if slices < 2 || y.is_empty() || y.dtype().bits() < u8::BITS {
            return None;
        }
        let bytes = y.to_bytes();
        let reversed: Vec<u8> = bytes.chunks(bytes.len() / slices).rev().flatten().copied().collect();
        tensor_at(&y.ty(), &reversed, 0).filter(|new| new != y)
    })
}

fn by_size(run: &Run<'_>) -> Option<Vec<Tensor>> {
    let mut outputs = run.right.to_vec();
    outputs.sort_by_key(|y| std::cmp::Reverse(y.len()));
    (outputs != run.right).then_some(outputs)
}

/// Each output of the second run begins where the last element of the one before it is.
fn overlapping(run: &Run<'_>) -> Option<Vec<Tensor>> {
    run.again()?;
    run.each(|i, y| {
        let next = run.right.get(i + 1).filter(|next| !next.is_empty() && next.dtype() == y.dtype())?;
        let width = y.dtype().whole_bytes();
        let mut bytes = y.to_bytes();
        let last = bytes.len().checked_sub(width)?;
        if y.dtype().bits() < u8::BITS {
            return None;
        }
        bytes[last..].copy_from_slice(next.to_bytes().get(..width)?);
        tensor_at(&y.ty(), &bytes, 0).filter(|new| new != y)
    })
}
