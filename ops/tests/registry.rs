//! What holds of every operator in the registry, whichever it is.

use std::collections::BTreeSet;

use ir::Choices;
use ir::dim::{Arena, Expr};
use ir::{Attribute, DType, DTypes, Operation, Sym, Tensor, Type};
use onnxsmith_ops::draw::{Draw, Goal, Limits, Operand, Taste};
use onnxsmith_ops::movement::Split;
use onnxsmith_ops::plain::{evaluate, of_types};
use onnxsmith_ops::spec::{Arity, Deviation, Place};
use onnxsmith_ops::{Batch, Facts, Op, Operator, Reads, Spec, registry, schema};

/// More than so many operations are not worth waiting for.
const MOST_OPERATIONS: u64 = 100_000_000;

const OPSETS: std::ops::RangeInclusive<u32> = 13..=28;

/// A drawn operator with small sizes, and the operands it drew.
struct Drawn {
    op: Op,
    operands: Vec<Option<Type>>,
}

/// The value when every unknown is so much above the least it may be.
fn settle(arena: &Arena<'_>, above: i64, sym: Sym<'_>) -> i64 {
    match sym {
        Sym::Known(v) => v,
        Sym::Term(t) => match arena.get(t.index()) {
            Expr::Unknown(low, high) => (low + above).min(high),
            Expr::Op(op, a, b) => {
                let [a, b] = [a, b].map(|s| settle(arena, above, s));
                op.apply(a, b).expect("small sizes do not overflow")
            }
        },
    }
}

fn draw(spec: &'static Spec, opset: u32, seed: u64, goal: Goal<'_>) -> Option<Drawn> {
    // Every fourth draw may have narrow dtypes too.
    let dtypes = if seed % 4 == 3 { DTypes::IR13 } else { DTypes::IR4 };
    let limits = Limits {
        opset,
        dtypes,
        wanted: dtypes,
        max_rank: 5,
        min_dim: (seed % 2) as i64,
        max_dim: 8,
        long_dim: seed.is_multiple_of(3).then_some(33),
        usual_dim: None,
        usual_dtype: DType::F32,
        taste: Taste::EVEN,
    };
    let arena = Arena::new();
    let mut rng = Choices::seeded(seed);
    let mut d = Draw::new(spec, &mut rng, &limits, &arena, goal);
    let op = Op::draw(spec, &mut d)?;
    let settle = |s: Sym<'_>| settle(&arena, seed as i64 / 2 % 3, s);
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
        (0..6).filter_map(move |i| {
            let seed = u64::from(opset) * 7 + i;
            let ty = &live[seed as usize % live.len()];
            let values: Vec<&Type> = live.iter().collect();
            let goal = if seed % 2 == 0 { Goal::Forward(&values) } else { Goal::Backward(ty) };
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
        spec.inputs.iter().for_each(|p| check(&format!("{}'s {}", spec.name, p.name), &p.types));
        spec.outputs.iter().for_each(|t| check(&format!("{}'s outputs", spec.name), t));
        spec.fields.iter().for_each(|f| check(&format!("{}'s {}", spec.name, f.name), &f.places));
    }
}

/// The operators that opset 28 has taken integers from.
const NARROWED: [&str; 2] = ["ReduceLogSum", "ReduceLogSumExp"];

#[test]
fn ports_only_gain_dtypes_and_required_ones_come_first() {
    for spec in registry() {
        let deviating = spec.deviations.iter().fold(DTypes::NONE, |all, deviation| match deviation {
            Deviation::DTypes { without, .. } => all.union(*without),
            Deviation::Attributes { .. } => all,
        });
        for port in spec.inputs.iter().filter(|_| !NARROWED.contains(&spec.name)) {
            for pair in port.types.windows(2) {
                let kept = pair[0].1.difference(deviating);
                assert_eq!(kept.union(pair[1].1), pair[1].1, "{}'s {}", spec.name, port.name);
            }
        }
        let arities: Vec<Arity> = spec.inputs.iter().map(|p| p.arity).collect();
        let required = arities.iter().take_while(|&&a| a == Arity::One).count();
        assert!(!arities[required..].contains(&Arity::One), "{}", spec.name);
        let variadic = arities.iter().position(|&a| a == Arity::Variadic);
        assert!(variadic.is_none_or(|i| i + 1 == arities.len()), "{}", spec.name);
    }
}

/// A deviation that no longer deviates has outlived its reason.
#[test]
fn every_deviation_is_one_from_the_schema() {
    let lists = |ty: &str, d: DTypes, all: &[schema::Parameter]| {
        all.iter().any(|p| p.ty == ty && p.dtypes.intersection(d) == d)
    };
    for spec in registry() {
        let held = OPSETS.filter_map(|opset| Some((opset, schema::in_force(spec.name, opset)?)));
        let held: Vec<_> = held.collect();
        for deviation in spec.deviations {
            let deviates = match deviation {
                Deviation::DTypes { of, without, opsets, .. } => held
                    .iter()
                    .filter(|(opset, _)| opsets.contains(opset))
                    .all(|(_, schema)| lists(of, *without, &schema.inputs)),
                Deviation::Attributes { names, .. } => names
                    .iter()
                    .all(|name| held.iter().any(|(_, s)| s.attributes.iter().any(|a| a.name == *name))),
            };
            assert!(deviates, "{}: {deviation:?}", spec.name);
        }
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
            let all = drawn.op.attributes();
            assert_eq!(Op::from_attributes(spec, &all), Ok(drawn.op.clone()), "{}", spec.name);
            let written = all
                .iter()
                .filter(|(name, _)| spec.place(name, opset) != Place::Absent)
                .map(|(name, value)| (name.to_owned(), value.clone()))
                .collect();
            assert_eq!(Op::from_attributes(spec, &written), Ok(drawn.op), "{} in opset {opset}", spec.name);
        }
    }
}

/// Defaults that have another name today, by which the same is meant.
const RENAMED: [(&str, &str); 1] = [("GridSample", "bilinear")];

/// What an operator takes for absent attributes is what the standard says, in every opset that has them.
#[test]
fn defaults_are_those_of_the_schemas() {
    for spec in registry() {
        let Some((_, drawn)) = draws(spec).next() else { continue };
        let given = drawn.op.attributes();
        let defaults = OPSETS.filter_map(|opset| schema::in_force(spec.name, opset)).flat_map(|schema| {
            let defaults = schema.attributes.iter().filter_map(|attribute| match attribute.absence {
                schema::Absence::Default(text) => Some((attribute, text)),
                schema::Absence::Allowed | schema::Absence::Forbidden => None,
            });
            defaults.collect::<Vec<_>>()
        });
        let is_written = |(attribute, text): &(&schema::Attribute, &str)| {
            given.get(attribute.name).is_some() && !RENAMED.contains(&(spec.name, text))
        };
        for (attribute, text) in defaults.filter(is_written) {
            let mut rest = given.clone();
            rest.remove(attribute.name);
            // Where two attributes only go together, neither is given.
            let op = Op::from_attributes(spec, &rest).unwrap_or_else(|_| {
                for name in ["batch_axis", "time_axis"] {
                    rest.remove(name);
                }
                Op::from_attributes(spec, &rest).expect("what has a default may be absent")
            });
            let all = op.attributes();
            let is_default = all.get(attribute.name).is_some_and(|found| is_spelled(found, text));
            assert!(is_default, "{}: {} is not {text}, but {all:?}", spec.name, attribute.name);
        }
    }
}

/// Whether a value is the one that the schemas spell so.
fn is_spelled(value: &Attribute, text: &str) -> bool {
    match value {
        Attribute::Ints(list) => list.iter().map(i64::to_string).collect::<Vec<_>>().join(" ") == text,
        Attribute::Name(name) => name == text,
        Attribute::Float(number) => text.parse() == Ok(*number),
        Attribute::Int(_) | Attribute::DType(_) => value.to_string() == text,
        // No operator of ours has a default of these kinds.
        Attribute::Floats(_) | Attribute::Strings(_) | Attribute::Tensor(_) => false,
    }
}

/// Whatever the type rule accepts can be evaluated, and gives what the rule says.
#[test]
fn accepted_calls_evaluate_to_the_inferred_types() {
    for spec in registry() {
        let mut accepted = 0;
        for (opset, drawn) in draws(spec) {
            let tensor = |ty: &Option<Type>| {
                ty.as_ref().map(|ty| {
                    if ty.dtype.is_float() {
                        Tensor::from_f64_fn(ty, |i| i as f64 - 1.5)
                    } else {
                        Tensor::from_i128_fn(ty, |i| i as i128 - 1)
                    }
                })
            };
            let operands: Vec<Option<Tensor>> = drawn.operands.iter().map(tensor).collect();
            let types: Vec<Option<&Type>> = drawn.operands.iter().map(Option::as_ref).collect();
            let Ok(inferred) = Operation::infer(&drawn.op, &types) else { continue };
            accepted += 1;
            // Sizes are not drawn here to be affordable together.
            if drawn.op.facts(&types).cost.flops(&types, &inferred) > MOST_OPERATIONS {
                continue;
            }
            let operands: Vec<Option<&Tensor>> = operands.iter().map(Option::as_ref).collect();
            let found = evaluate(&drawn.op, &operands, &inferred);
            let given: Vec<Type> = found.iter().map(Tensor::ty).collect();
            assert_eq!(given, inferred, "{} on {types:?}", spec.name);
            for (i, ty) in inferred.iter().enumerate() {
                let allowed = spec.output_types(i, opset);
                assert!(allowed.contains(ty.dtype), "{}'s output {i} is {} in {opset}", spec.name, ty.dtype);
            }
            drawn.op.hazards(&types);
            if drawn.op.facts(&types).reads == Reads::Types {
                let told = of_types(&drawn.op, &types, &inferred);
                assert_eq!(told, found, "{} reads elements of {types:?}", spec.name);
            }
        }
        assert!(accepted > 0, "no draw of {} was accepted", spec.name);
    }
}

/// A tensor's slices along its first axis.
fn slices(x: &Tensor) -> Vec<Tensor> {
    let sizes = vec![1; x.shape()[0]];
    let split = Op::from(Split { axis: 0, split: sizes });
    let types = Operation::infer(&split, &[Some(&x.ty())]).expect("it has so many slices");
    evaluate(&split, &[Some(x)], &types)
}

/// Elements between -8 and 8 that are no multiples of each other.
fn elements(ty: &Type) -> Tensor {
    if ty.dtype.is_float() {
        Tensor::from_f64_fn(ty, |i| (i as f64 * 0.61).sin() * 8.0)
    } else {
        Tensor::from_i128_fn(ty, |i| i as i128 * 7 % 3)
    }
}

/// More than so many are not worth doing again for parts.
const FEW_OPERATIONS: u64 = 20_000;

/// What an operator gives, if its type rule takes these operands.
fn given(op: &Op, operands: &[Option<Tensor>]) -> Option<Vec<Tensor>> {
    let types: Vec<Option<Type>> = operands.iter().map(|x| x.as_ref().map(Tensor::ty)).collect();
    let types: Vec<Option<&Type>> = types.iter().map(Option::as_ref).collect();
    let outputs = Operation::infer(op, &types).ok()?;
    let is_affordable = op.facts(&types).cost.flops(&types, &outputs) <= FEW_OPERATIONS;
    let operands: Vec<Option<&Tensor>> = operands.iter().map(Option::as_ref).collect();
    is_affordable.then(|| evaluate(op, &operands, &outputs))
}

fn facts(op: &Op, operands: &[Option<Tensor>]) -> Facts {
    let types: Vec<Option<Type>> = operands.iter().map(|x| x.as_ref().map(Tensor::ty)).collect();
    op.facts(&types.iter().map(Option::as_ref).collect::<Vec<_>>())
}

/// The calls of which the type rule takes the operands, with what they give.
fn calls(spec: &'static Spec) -> impl Iterator<Item = (Op, Vec<Option<Tensor>>, Vec<Tensor>)> {
    draws(spec).filter_map(|(_, drawn)| {
        let operands: Vec<Option<Tensor>> =
            drawn.operands.iter().map(|ty| ty.as_ref().map(elements)).collect();
        let results = given(&drawn.op, &operands)?;
        Some((drawn.op, operands, results))
    })
}

/// The operators of which some call must have been tried.
const APART: [&str; 8] =
    ["Cast", "Clip", "Softmax", "ReduceSum", "ArgMax", "CumSum", "LayerNormalization", "MaxPool"];

#[test]
fn slices_of_a_batch_that_keeps_apart_are_those_of_the_result() {
    for spec in registry() {
        let mut tried = 0;
        for (op, operands, results) in calls(spec) {
            if facts(&op, &operands).batch == Batch::Together {
                continue;
            }
            let first = operands[0].as_ref().expect("a batch");
            let whole: Vec<Vec<Tensor>> = results.iter().map(slices).collect();
            for (at, slice) in slices(first).into_iter().enumerate().take(3) {
                let mut operands = operands.clone();
                operands[0] = Some(slice);
                let part = given(&op, &operands).expect("it takes each slice");
                let wanted: Vec<Tensor> = whole.iter().map(|slices| slices[at].clone()).collect();
                assert_eq!(part, wanted, "{op:?} on slice {at} of {}", first.ty());
            }
            tried += 1;
        }
        assert!(tried > 0 || !APART.contains(&spec.name), "{} never keeps slices apart", spec.name);
    }
}

/// The operators of which some call must have been tried.
const LINEAR: [&str; 7] = ["LeakyRelu", "PRelu", "Gather", "Trilu", "CumSum", "AveragePool", "GlobalMaxPool"];

#[test]
fn what_is_linear_in_an_operand_is_scaled_as_that_is() {
    for spec in registry() {
        let mut tried = 0;
        for (op, mut operands, results) in calls(spec) {
            let Some(operand) = facts(&op, &operands).linear else { continue };
            let twice = |x: &Tensor| {
                let all = x.to_f64s();
                Tensor::from_f64_fn(&x.ty(), |i| 2.0 * all[i])
            };
            let Some(x) = operands[operand].as_ref().filter(|x| x.dtype() == DType::F32) else { continue };
            operands[operand] = Some(twice(x));
            let wanted: Vec<Tensor> = results.iter().map(twice).collect();
            assert_eq!(given(&op, &operands), Some(wanted), "{op:?}");
            tried += 1;
        }
        assert!(tried > 0 || !LINEAR.contains(&spec.name), "{} is never linear", spec.name);
    }
}

/// The page of operators is made of these, and a reader of the code looks for the same in the same place.
#[test]
fn every_operator_says_what_it_does_its_shapes_and_where_the_standard_does() {
    for spec in registry() {
        let (name, about) = (spec.name, spec.about);
        let does = about.does();
        assert!(does.ends_with('.') && !does.contains('\n'), "{name} does `{does}`");
        assert!(about.shapes().contains('→') && !about.shapes().contains('\n'), "{name}: {}", about.shapes());
        let link = format!("ONNX: [{name}](https://onnx.ai/onnx/operators/onnx__{name}.html).");
        assert!(about.text.trim().ends_with(&link), "{name}: {}", about.text);
        let groups = ["elementwise", "movement", "linear", "reduction", "nn", "quantized"];
        assert!(groups.contains(&about.group()), "{name} is in {}", about.module);
    }
}
