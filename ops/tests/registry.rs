//! What holds of every operator in the registry, whichever it is.

use std::collections::BTreeSet;

use ir::dim::{Arena, Expr};
use ir::{DType, DTypes, Sym, Type};
use onnxsmith_ops::draw::{Draw, Goal, Limits, Operand};
use onnxsmith_ops::spec::{Arity, Place};
use onnxsmith_ops::{Op, Operator, Spec, registry};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const OPSETS: std::ops::RangeInclusive<u32> = 13..=26;

/// A drawn operator with its smallest sizes, and the operands it drew.
struct Drawn {
    op: Op,
    operands: Vec<Option<Type>>,
}

fn smallest(arena: &Arena<'_>, sym: Sym<'_>) -> i64 {
    match sym {
        Sym::Known(v) => v,
        Sym::Term(t) => match arena.get(t.index()) {
            Expr::Unknown(low, _) => low,
            Expr::Op(op, a, b) => {
                op.apply(smallest(arena, a), smallest(arena, b)).expect("small sizes do not overflow")
            }
        },
    }
}

fn draw(spec: &'static Spec, opset: u32, seed: u64, goal: Goal<'_>) -> Option<Drawn> {
    let limits = Limits { opset, dtypes: DTypes::ALL, max_rank: 5, min_dim: 1, max_dim: 8 };
    let arena = Arena::new();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut d = Draw::new(spec, &mut rng, &limits, &arena, goal);
    let op = (spec.draw)(&mut d)?;
    let settle = |s: Sym<'_>| smallest(&arena, s);
    let ty =
        |o: Operand<'_>| Type::new(o.ty.dtype, o.ty.shape.iter().map(|&s| settle(s)).collect::<Vec<_>>());
    let operands = d.into_operands().into_iter().map(|o| o.map(ty)).collect();
    Some(Drawn { op: op.settle(&settle), operands })
}

/// Draws of an operator in every opset, forward and backward.
fn draws(spec: &'static Spec) -> impl Iterator<Item = (u32, Drawn)> {
    let live = [
        Type::new(DType::F32, [2, 3]),
        Type::new(DType::F32, [1, 2, 4, 4]),
        Type::new(DType::I64, [3]),
        Type::new(DType::Bool, [2, 3]),
        Type::new(DType::U8, []),
    ];
    OPSETS.flat_map(move |opset| {
        let live = live.clone();
        (0..12).filter_map(move |seed| {
            let ty = &live[seed as usize % live.len()];
            let goal = if seed % 2 == 0 { Goal::Forward(&live) } else { Goal::Backward(ty) };
            Some((opset, draw(spec, opset, seed, goal)?))
        })
    })
}

#[test]
fn names_are_unique() {
    let mut names = BTreeSet::new();
    for spec in registry() {
        assert!(names.insert(spec.name), "{} has two rows", spec.name);
    }
}

#[test]
fn tables_by_opset_ascend() {
    fn check<T>(what: &str, table: &[(u32, T)]) {
        assert!(!table.is_empty(), "{what} is empty");
        assert!(table.is_sorted_by(|a, b| a.0 < b.0), "{what} does not ascend");
        assert!(table.iter().all(|e| OPSETS.contains(&e.0)), "{what} names an unknown opset");
    }
    for spec in registry() {
        spec.inputs.iter().for_each(|p| check(&format!("{}'s {}", spec.name, p.name), p.types));
        spec.outputs.iter().for_each(|t| check(&format!("{}'s outputs", spec.name), t));
        spec.fields.iter().for_each(|f| check(&format!("{}'s {}", spec.name, f.name), f.places));
    }
}

#[test]
fn ports_only_gain_dtypes_and_required_ones_come_first() {
    for spec in registry() {
        for port in spec.inputs {
            for pair in port.types.windows(2) {
                assert_eq!(pair[0].1.union(pair[1].1), pair[1].1, "{}'s {}", spec.name, port.name);
            }
        }
        let arities: Vec<Arity> = spec.inputs.iter().map(|p| p.arity).collect();
        let required = arities.iter().take_while(|&&a| a == Arity::One).count();
        assert!(!arities[required..].contains(&Arity::One), "{}", spec.name);
        let variadic = arities.iter().position(|&a| a == Arity::Variadic);
        assert!(variadic.is_none_or(|i| i + 1 == arities.len()), "{}", spec.name);
    }
}

#[test]
fn every_operator_can_be_drawn_and_none_before_its_time() {
    for spec in registry() {
        assert!(draws(spec).count() > 0, "{} is never drawn", spec.name);
        for (opset, drawn) in draws(spec) {
            assert!(opset >= spec.since(), "{} is drawn in opset {opset}", spec.name);
            assert_eq!(drawn.op.spec().name, spec.name);
        }
    }
}

#[test]
fn drawn_operands_are_allowed() {
    for spec in registry() {
        for (opset, drawn) in draws(spec) {
            let given = drawn.operands.len();
            assert!(given <= spec.most_inputs(), "{} with {given} operands", spec.name);
            assert!(
                drawn.operands.last().is_none_or(Option::is_some),
                "{} ends in an absent operand",
                spec.name
            );
            for (i, operand) in drawn.operands.iter().enumerate() {
                match operand {
                    Some(ty) => {
                        let allowed = spec.input_types(i, opset);
                        assert!(
                            allowed.contains(ty.dtype),
                            "{}'s operand {i}: {} in {opset}",
                            spec.name,
                            ty.dtype
                        );
                    }
                    None => assert_eq!(spec.port(i).map(|p| p.arity), Some(Arity::Optional), "{}", spec.name),
                }
            }
        }
    }
}

/// An operator survives being written down. What an opset has no place for must be at its default there.
#[test]
fn attributes_parse_back() {
    for spec in registry() {
        for (opset, drawn) in draws(spec) {
            let all = Operator::attributes(&drawn.op);
            assert_eq!((spec.parse)(&all), Ok(drawn.op.clone()), "{}", spec.name);
            let written = all
                .iter()
                .filter(|(name, _)| spec.place(name, opset) != Place::Absent)
                .map(|(name, value)| (name.to_owned(), value.clone()))
                .collect();
            assert_eq!((spec.parse)(&written), Ok(drawn.op), "{} in opset {opset}", spec.name);
        }
    }
}
