//! Attributes at their defaults, or with simpler numbers.

use ir::{Attribute, Attributes, NodeId, NodeKind, Operation, Spelling};
use ops::Op;

use super::Candidates;
use crate::reduce::interest::Shown;
use crate::reduce::problem::{Problem, with_a_default};
use crate::reduce::rewrite::Edit;

pub(super) fn candidates(shown: &Shown) -> Candidates<'_> {
    let simpler = operators(shown).flat_map(|(id, op)| simpler(op).map(move |other| (id, other)));
    Box::new(defaults(shown).chain(simpler.filter_map(|edit| edited(shown, edit))))
}

/// Attributes at their defaults alone, and nodes that are written in plainer ways.
pub(super) fn defaults(shown: &Shown) -> Candidates<'_> {
    let others = operators(shown).flat_map(|(id, op)| with_a_default(op).map(move |other| (id, other)));
    Box::new(spelled_out(shown).chain(others.filter_map(|edit| edited(shown, edit))))
}

/// The problem in which every node is written in the plainest way, or one in a plainer way than before.
fn spelled_out(shown: &Shown) -> impl Iterator<Item = Problem> {
    let Problem { model, inputs, .. } = &shown.problem;
    let spelled: Vec<(usize, Spelling)> = model
        .graph
        .nodes
        .iter()
        .map(|node| node.spelling)
        .enumerate()
        .filter(|(_, s)| s.count() > 0)
        .collect();
    let with = |others: &[(usize, Spelling)]| {
        let mut model = model.clone();
        for &(at, spelling) in others {
            model.graph.nodes[at].spelling = spelling;
        }
        Problem::flat(model, inputs.clone())
    };
    let plain: Vec<_> = spelled.iter().map(|&(at, _)| (at, Spelling::default())).collect();
    let all = (plain.len() > 1).then(|| with(&plain));
    let each =
        spelled.into_iter().flat_map(|(at, spelling)| spelling.plainer().map(move |other| (at, other)));
    all.into_iter().chain(each.map(move |one| with(&[one])))
}

fn operators(shown: &Shown) -> impl Iterator<Item = (NodeId, &Op)> {
    shown.problem.model.graph.iter().filter_map(|(id, node)| match &node.kind {
        NodeKind::Operator(op) => Some((id, op)),
        _ => None,
    })
}

/// The problem with another operator in a node.
fn edited(shown: &Shown, (id, op): (NodeId, Op)) -> Option<Problem> {
    let operands = shown.problem.model.graph.node(id).inputs.clone();
    Edit { operators: [(id, (op, operands))].into(), ..Edit::default() }.apply(&shown.problem)
}

/// The operators with one number of one attribute simpler.
fn simpler(op: &Op) -> impl Iterator<Item = Op> {
    let all = Operation::attributes(op);
    let mut others = Vec::new();
    for (name, value) in all.iter() {
        let other = |value: Attribute| {
            let mut attributes: Attributes = all.clone();
            attributes.set(name, value);
            Op::parse(op.name(), &attributes)?.ok()
        };
        match value {
            Attribute::Int(v) => others.extend(whole(*v).filter_map(|v| other(Attribute::Int(v)))),
            Attribute::Ints(list) => {
                for (i, &v) in list.iter().enumerate() {
                    let with = |v| [&list[..i], &[v], &list[i + 1..]].concat();
                    others.extend(whole(v).filter_map(|v| other(Attribute::Ints(with(v)))));
                }
            }
            Attribute::Float(v) => {
                others.extend([0.0, 1.0, v.trunc()].into_iter().filter_map(|v| other(Attribute::Float(v))));
            }
            Attribute::Floats(_)
            | Attribute::Name(_)
            | Attribute::Strings(_)
            | Attribute::Tensor(_)
            | Attribute::DType(_) => {}
        }
    }
    others.into_iter()
}

/// Simpler whole numbers.
fn whole(v: i64) -> impl Iterator<Item = i64> {
    [0, 1, -1, 2, v / 2, v - v.signum()]
        .into_iter()
        .filter(move |w| w.unsigned_abs() <= v.unsigned_abs() && *w != v)
}
