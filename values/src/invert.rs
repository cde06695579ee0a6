//! Runs that know where every element comes from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ir::execute::Keep;
use ir::{NodeId, Stream, Tensor};
use ndarray::ArrayD;
use ops::{Data, Model, plain};
use rand::RngExt;

use crate::found::Tensors;
use crate::origin::{Element, Number, Record};
use crate::trace::{Traced, Traces, Tracing};
use crate::undefined::{UndefinedAt, Wish};
use interp::walk::{Held, Visit, walk};

/// Runs a model on values, with the origins in some of its tensors, until the visitor ends it.
pub(crate) fn run(
    model: &Model,
    tensors: &Tensors,
    chosen: &BTreeSet<NodeId>,
    record: &Record,
    visit: &mut dyn FnMut(&Visit<'_, Tracing<'_>>) -> bool,
) {
    let system = Traces::from(record);
    let given = |id: NodeId| {
        let tensor = tensors.get(&id)?;
        Some(if chosen.contains(&id) { Held::new(origin(record, id, tensor)) } else { Held::of(tensor) })
    };
    walk(&system, model, Keep::Outputs, &given, visit);
}

fn origin<'r>(record: &'r Record, node: NodeId, tensor: &Tensor) -> Data<Tracing<'r>> {
    let mut index = 0..;
    let mut next = || index.next().unwrap_or(0);
    match plain::load(tensor) {
        Data::Real(a) => Data::Real(a.mapv(|v| record.element(v, node, next()))),
        Data::Int(a) => Data::Int(a.mapv(|v| record.element(v, node, next()))),
    }
}

/// The tensors with some elements replaced; of several numbers for one element, the first. Numbers that the dtype
/// does not have are left out.
pub(crate) fn place(tensors: &Tensors, elements: &[Element]) -> Tensors {
    let mut by_node: BTreeMap<NodeId, BTreeMap<usize, Number>> = BTreeMap::new();
    for element in elements {
        by_node.entry(element.node).or_default().entry(element.index).or_insert(element.value);
    }
    let mut all = tensors.clone();
    for (node, numbers) in by_node {
        if let Some(tensor) = all.get_mut(&node) {
            let other = with(tensor, &numbers);
            if other != **tensor {
                *tensor = Arc::new(other);
            }
        }
    }
    all
}

fn with(tensor: &Tensor, numbers: &BTreeMap<usize, Number>) -> Tensor {
    let ty = tensor.ty();
    match ty.dtype.int_range() {
        None => {
            let mut all = tensor.to_f64s();
            for (&i, number) in numbers {
                all[i] = match number {
                    Number::Real(v) => *v,
                    Number::Int(z) => *z as f64,
                };
            }
            Tensor::from_f64_fn(&ty, |i| all[i])
        }
        Some((least, most)) => {
            let mut all = tensor.to_i128s();
            for (&i, number) in numbers {
                let whole = match number {
                    Number::Int(z) => *z,
                    Number::Real(v) => v.round() as i128,
                };
                if (least..=most).contains(&whole) {
                    all[i] = whole;
                }
            }
            Tensor::from_i128_fn(&ty, |i| all[i])
        }
    }
}

/// Values on which the elements that were at fault are where they should be, as far as that can be pulled
/// back to the leaves.
pub(crate) fn repair(
    model: &Model,
    tensors: &Tensors,
    leaves: &BTreeSet<NodeId>,
    undefined: &UndefinedAt,
    limit: usize,
    at: Stream,
) -> Option<Tensors> {
    let record = Record::new(limit);
    let rng = &mut at.rng();
    let mut elements = Vec::new();
    let mut number = 0;
    run(model, tensors, leaves, &record, &mut |v| {
        number += 1;
        if number <= undefined.visit {
            return true;
        }
        for &(operand, wish) in &undefined.wishes {
            let mut wanted = |value: f64, place: Option<u32>| {
                let target = if rng.random_bool(0.5) {
                    wish.target(value)
                } else {
                    somewhere(wish, value, rng.random())
                };
                let number = if v.types[operand].is_some_and(|t| t.dtype.is_float()) {
                    Number::Real(target)
                } else {
                    Number::Int(target.round() as i128)
                };
                elements.extend(place.and_then(|place| record.pull(place, number)));
            };
            match v.operands.get(operand).copied().flatten() {
                Some(Data::Real(a)) => broken(a, wish, |x| x).for_each(|(v, p)| wanted(v, p)),
                Some(Data::Int(a)) => broken(a, wish, |z| z as f64).for_each(|(v, p)| wanted(v, p)),
                None => {}
            }
        }
        false
    });
    (!elements.is_empty()).then(|| place(tensors, &elements))
}

fn broken<T: Copy>(
    a: &ArrayD<Traced<T>>,
    wish: Wish,
    real: impl Fn(T) -> f64,
) -> impl Iterator<Item = (f64, Option<u32>)> {
    a.iter().map(move |x| (real(x.value), x.place)).filter(move |(v, _)| !wish.holds(*v))
}

/// A number where the wish holds, for a random one between 0 and 1.
fn somewhere(wish: Wish, value: f64, random: f64) -> f64 {
    match wish {
        Wish::Between(low, high) => {
            let (low, high) = crate::draw::stretch(low, high);
            low + (high - low) * random
        }
        Wish::Not(number) => number + (0.5 + 3.5 * random).copysign(value),
        Wish::Smaller => 2.0 * random - 1.0,
    }
}
