//! ×2ᵏ: a linear operator on an operand times a power of two, and its result times the inverse.
//!
//! In IEEE 754, multiplying by 2ᵏ changes the exponent alone. Every sum, product and rounding of a linear operator is
//! then scaled along, so its result is exactly 2ᵏ times what it was, in whatever order it adds, as long as nothing
//! overflows or becomes denormal. So the relation applies where every operand and result of the operators on the chain
//! is 0 or, with its bound, between 2⁻³⁰ and 2³⁰ in magnitude: a product of two such numbers times 2ᵏ, and a unit in its
//! last place, is far within the normal range of f32 for the k used here. Halves are left out, whose range is too short.

use std::collections::BTreeMap;

use interp::Taps;
use ir::format::exp2i;
use ir::rewrite::Rewrite;
use ir::{DType, Node, Stream, Tensor, Type, Value};
use ops::elementwise::binary::{Binary, BinaryFn};
use ops::{Graph, Op, Operator};
use rand::RngExt;
use rand::seq::IndexedRandom;

use super::relation::Subject;

/// The largest k, up or down.
const MOST: i32 = 8;
/// The range of magnitudes in which the relation is exact.
const RANGE: std::ops::RangeInclusive<f64> = 9.313_225_746_154_785e-10..=1_073_741_824.0;

/// A chain of linear operators on scaled values.
pub(super) fn scale(subject: &Subject, stream: Stream) -> Option<Subject> {
    let mut rng = stream.rng();
    let graph = &subject.model.graph;
    let linear = linear_nodes(subject)?;
    let (start, operand) = *linear.as_slice().choose(&mut rng)?;
    let entry = graph.node(ir::NodeId(start)).inputs[operand]?;
    let k = if rng.random_bool(0.5) { rng.random_range(1..=MOST) } else { -rng.random_range(1..=MOST) };
    let linear: BTreeMap<u32, usize> = linear.into_iter().collect();

    let mut copy = Rewrite::of(graph);
    // Values of the original whose multiple there is in the copy.
    let mut scaled: BTreeMap<Value, Value> = BTreeMap::new();
    for (id, node) in graph.iter() {
        let on_chain = linear.get(&id.0).filter(|_| id.0 >= start).and_then(|&operand| {
            let value = node.inputs[operand]?;
            (id.0 == start || scaled.contains_key(&value)).then_some((operand, value))
        });
        let Some((operand, value)) = on_chain else {
            copy.keep(id)?;
            continue;
        };
        if id.0 == start {
            let factor = power(&mut copy, graph.ty(entry).dtype, k);
            let start = copy.at(entry)?;
            let multiple = copy.push(Binary(BinaryFn::Mul), &[start, factor])?;
            scaled.insert(entry, multiple);
        }
        let mut operands = copy.operands(&node.inputs)?;
        operands[operand] = Some(*scaled.get(&value)?);
        let multiple = Value::new(copy.keep_on(id, operands), 0);
        scaled.insert(Value::new(id, 0), multiple);
        let inverse = power(&mut copy, node.outputs[0].dtype, -k);
        let restored = copy.push(Binary(BinaryFn::Mul), &[multiple, inverse])?;
        copy.replace(Value::new(id, 0), restored);
    }
    Some(subject.with(copy.finish()?))
}

/// 2ᵏ as a scalar.
fn power(copy: &mut Rewrite<'_, Op>, dtype: DType, k: i32) -> Value {
    copy.graph.constant(Tensor::from_f64_fn(&Type::new(dtype, []), |_| exp2i(k)))
}

/// The nodes that are linear in an operand, which is not one of their other operands too, and tame; with that operand.
fn linear_nodes(subject: &Subject) -> Option<Vec<(u32, usize)>> {
    let graph = &subject.model.graph;
    let candidates: Vec<(u32, usize)> =
        graph.iter().filter_map(|(id, node)| Some((id.0, linear_operand(graph, node)?))).collect();
    if candidates.is_empty() {
        return None;
    }
    let profile = &interp::Profile::TIGHT;
    let values = interp::evaluate(&subject.model, &subject.inputs, profile, Taps::All).ok()?.taps;
    // What the reference has as 0 may be a denormal for an engine, if the bound is more than a sign.
    let is_tame_within = |x: f64, error: f64| {
        let (low, high) = (x.abs() - error, x.abs() + error);
        (x == 0.0 && error <= f64::from_bits(1)) || (RANGE.contains(&low) && RANGE.contains(&high))
    };
    let is_tame = |v: &Value| {
        values.get(v).is_some_and(|judged| {
            let mut elements = judged.tensor.to_f64s().into_iter().enumerate();
            elements.all(|(i, x)| is_tame_within(x, judged.error_at(i)))
        })
    };
    let is_chosen = |&(id, _): &(u32, usize)| {
        let node = graph.node(ir::NodeId(id));
        node.inputs.iter().flatten().all(is_tame) && is_tame(&Value::new(ir::NodeId(id), 0))
    };
    Some(candidates.into_iter().filter(is_chosen).collect())
}

/// The operand in which a node is linear, if it has no other part in it.
fn linear_operand(graph: &Graph, node: &Node<Op>) -> Option<usize> {
    let ir::NodeKind::Operator(op) = &node.kind else { return None };
    let types = graph.types(&node.inputs);
    let operand = op.facts(&types).linear?;
    let value = node.inputs.get(operand).copied().flatten()?;
    let is_wide = matches!(graph.ty(value).dtype, DType::F32 | DType::F64);
    let is_alone = node.inputs.iter().filter(|v| **v == Some(value)).count() == 1;
    (is_wide && is_alone && node.outputs.len() == 1).then_some(operand)
}
