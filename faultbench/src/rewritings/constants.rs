//! What is known in advance, folded, merged or stored wrongly, and casts that are taken to lose nothing.

use ir::rewrite::Rewrite;
use ir::{DType, NodeId, NodeKind, Operation, Tensor, Type, Value};
use ops::elementwise::Cast;
use ops::{Graph, Op};

use super::site::{Inner, Site};
use super::{Pass, WrongRewriting};

pub(super) const FAULTS: &[WrongRewriting] = &[
    WrongRewriting {
        name: "constants-of-f64-are-kept-in-f32",
        does: "rounds constants of f64 to f32",
        source: None,
        pass: Pass::Whole(|g| constants(g, |c| through(c, &[DType::F64], DType::F32))),
    },
    WrongRewriting {
        name: "constants-of-f32-are-kept-in-f16",
        does: "rounds constants of f32 to f16",
        source: None,
        pass: Pass::Whole(|g| constants(g, |c| through(c, &[DType::F32], DType::F16))),
    },
    WrongRewriting {
        name: "constants-of-integers-are-kept-in-f32",
        does: "takes constants of 32 and 64 bits through f32",
        source: None,
        pass: Pass::Whole(|g| constants(g, |c| through(c, WIDE_INTEGERS, DType::F32))),
    },
    WrongRewriting {
        name: "constant-with-equal-ends-is-taken-for-uniform",
        does: "stores a constant whose first and last elements are equal as that one number",
        source: None,
        pass: Pass::Whole(|g| constants(g, uniform_by_ends)),
    },
    WrongRewriting {
        name: "constants-are-merged-by-their-first-element",
        does: "merges constants of one type that begin alike",
        source: None,
        pass: Pass::Whole(constants_by_first),
    },
    WrongRewriting {
        name: "equal-nodes-are-merged-whatever-their-attributes",
        does: "merges two uses of an operator on the same operands that have different attributes",
        source: Some("ezyang/pytorch-unattached#237"),
        pass: Pass::Whole(|g| merged(g, |a, b| a.op.name() == b.op.name() && a.operands == b.operands)),
    },
    WrongRewriting {
        name: "equal-nodes-are-merged-by-their-first-operand",
        does: "merges two uses of an operator whose first operands are the same",
        source: None,
        pass: Pass::Whole(|g| merged(g, |a, b| a.op == b.op && a.operands.first() == b.operands.first())),
    },
    WrongRewriting {
        name: "folding-of-integers-goes-through-f32",
        does: "computes integer operators all of whose operands are constants in f32",
        source: None,
        pass: Pass::Each(folded_in_f32),
    },
    WrongRewriting {
        name: "cast-of-a-cast-skips-the-first",
        does: "drops the first of two casts after each other",
        source: Some("microsoft/onnxruntime#4039"),
        pass: Pass::Each(outer_cast),
    },
    WrongRewriting {
        name: "casts-move-before-arithmetic",
        does: "casts the operands of an element-by-element operator instead of its result",
        source: None,
        pass: Pass::Each(cast_before_arithmetic),
    },
];

const WIDE_INTEGERS: &[DType] = &[DType::I32, DType::I64, DType::U32, DType::U64];

/// The graph with constants exchanged for others of the same type; `None` if none is.
fn constants(graph: &Graph, change: impl Fn(&Tensor) -> Option<Tensor>) -> Option<Graph> {
    let mut rewrite = Rewrite::of(graph);
    let mut holds = false;
    for (id, node) in graph.iter() {
        let changed = match &node.kind {
            NodeKind::Constant(tensor) => change(tensor),
            NodeKind::Variable { .. } | NodeKind::Operator(_) | NodeKind::Call(_) => None,
        };
        holds |= changed.is_some();
        match changed {
            Some(tensor) => {
                let constant = rewrite.graph.constant(tensor);
                rewrite.replace(Value::new(id, 0), constant);
            }
            None => drop(rewrite.keep(id)?),
        }
    }
    rewrite.finish().filter(|_| holds)
}

/// A constant of one of the dtypes `of`, after a round trip through `dtype`. `None` if that does not change
/// it.
fn through(constant: &Tensor, of: &[DType], dtype: DType) -> Option<Tensor> {
    let ty = constant.ty();
    let narrow = |values: &[f64]| Tensor::from_f64_fn(&ty.with_dtype(dtype), |i| values[i]).to_f64s();
    let narrow = of.contains(&ty.dtype).then(|| narrow(&constant.to_f64s()))?;
    let back = Tensor::from_f64_fn(&ty, |i| narrow[i]);
    (back != *constant).then_some(back)
}

fn uniform_by_ends(constant: &Tensor) -> Option<Tensor> {
    let values = constant.to_f64s();
    let is_uniform = values.iter().all(|v| v == &values[0]);
    let first = *values.first().filter(|&first| !is_uniform && Some(first) == values.last())?;
    let whole = constant.to_i128s();
    Some(if constant.dtype().is_float() {
        Tensor::from_f64_fn(&constant.ty(), |_| first)
    } else {
        Tensor::from_i128_fn(&constant.ty(), |_| whole[0])
    })
}

fn constants_by_first(graph: &Graph) -> Option<Graph> {
    let key = |id: NodeId| match &graph.node(id).kind {
        NodeKind::Constant(tensor) => Some((tensor.ty(), tensor.to_f64s().first()?.to_bits())),
        NodeKind::Variable { .. } | NodeKind::Operator(_) | NodeKind::Call(_) => None,
    };
    let is_alike = |a: NodeId, b: NodeId| {
        let alike: Option<(Type, u64)> = key(a).filter(|a| Some(a) == key(b).as_ref());
        alike.is_some() && graph.node(a).kind != graph.node(b).kind
    };
    earlier_stands_for(graph, is_alike)
}

/// The graph with operators of one output merged that are taken for the same; `None` if none are, or none that differ.
fn merged(graph: &Graph, is_same: impl Fn(Inner<'_>, Inner<'_>) -> bool) -> Option<Graph> {
    let operator = |id: NodeId| {
        let node = graph.node(id);
        match &node.kind {
            NodeKind::Operator(op) => Some(Inner { op, operands: &node.inputs }),
            NodeKind::Variable { .. } | NodeKind::Constant(_) | NodeKind::Call(_) => None,
        }
    };
    earlier_stands_for(graph, |a, b| {
        let (Some(first), Some(second)) = (operator(a), operator(b)) else { return false };
        let is_equal = first.op == second.op && first.operands == second.operands;
        let have_types = graph.node(a).outputs == graph.node(b).outputs;
        have_types && !is_equal && is_same(first, second)
    })
}

/// The graph with the first node that is alike in place of each node; `None` if there are none alike.
fn earlier_stands_for(graph: &Graph, is_alike: impl Fn(NodeId, NodeId) -> bool) -> Option<Graph> {
    let mut rewrite = Rewrite::of(graph);
    let mut holds = false;
    for (id, _) in graph.iter() {
        let earlier = graph.iter().map(|(earlier, _)| earlier).take_while(|earlier| *earlier != id);
        let Some(earlier) = earlier.into_iter().find(|&earlier| is_alike(earlier, id)) else {
            rewrite.keep(id)?;
            continue;
        };
        holds = true;
        for port in 0..graph.node(id).outputs.len() {
            let stand_in = rewrite.at(Value::new(earlier, port))?;
            rewrite.replace(Value::new(id, port), stand_in);
        }
    }
    rewrite.finish().filter(|_| holds)
}

fn folded_in_f32(s: &mut Site<'_, '_>) -> Option<Value> {
    let Op::Binary(_) = s.op else { return None };
    let result = s.result().clone();
    if !WIDE_INTEGERS.contains(&result.dtype) {
        return None;
    }
    let mut operands = Vec::new();
    for i in 0..s.operands().len() {
        let constant = s.constant(i)?.clone();
        let values = constant.to_f64s();
        operands.push(s.put(Tensor::from_f64_fn(&constant.ty().with_dtype(DType::F32), |k| values[k])));
    }
    let folded = s.push(s.op.clone(), &operands)?;
    s.push(Cast::to(result.dtype), &[folded])
}

fn outer_cast(s: &mut Site<'_, '_>) -> Option<Value> {
    let casts = |op: &Op| matches!(op, Op::Cast(_) | Op::CastLike(_));
    let inner = s.inner(0).filter(|inner| casts(s.op) && casts(inner.op))?;
    let x = s.now(inner.operand(0)?)?;
    let to = s.result().dtype;
    s.push(Cast::to(to), &[x])
}

fn cast_before_arithmetic(s: &mut Site<'_, '_>) -> Option<Value> {
    let (Op::Cast(_) | Op::CastLike(_), inner) = (s.op, s.inner(0)?) else { return None };
    if !matches!(inner.op, Op::Unary(_) | Op::Binary(_)) {
        return None;
    }
    let to = s.result().dtype;
    let mut operands = Vec::new();
    for &operand in inner.operands {
        let x = s.now(operand?)?;
        operands.push(s.push(Cast::to(to), &[x])?);
    }
    s.push(inner.op.clone(), &operands)
}
