//! What holds of the reference for every operator in the registry, whichever it is.

use std::collections::BTreeMap;

use ir::Choices;
use ir::dim::{Arena, Expr};
use ir::{DType, DTypes, Stream, Sym, Type, Value};
use onnxsmith_interp::{Profile, Taps, compare, evaluate, evaluate_plain};
use ops::draw::{Draw, Goal, Limits, Taste};
use ops::{Graph, Model, Op, Spec};
use values::{Budget, find_values};

/// Operators whose sizes must satisfy equations that the least sizes do not.
const NEED_SOLVER: [&str; 1] = ["Reshape"];

/// Operators of which the standard does not say what they are on integers.
const OPEN_ON_INTEGERS: [&str; 1] = ["ReduceLogSum"];

/// A value of a symbol that satisfies most type rules: its least.
fn least(arena: &Arena<'_>, sym: Sym<'_>) -> Option<i64> {
    match sym {
        Sym::Known(v) => Some(v),
        Sym::Term(t) => match arena.get(t.index()) {
            Expr::Unknown(low, _) => Some(low),
            Expr::Op(op, a, b) => op.apply(least(arena, a)?, least(arena, b)?),
        },
    }
}

/// A model of one drawn operator, every operand a variable. `None` where the least sizes do not fit together.
fn drawn(spec: &'static Spec, opset: u32, seed: u64) -> Option<Model> {
    let limits = Limits {
        opset,
        dtypes: DTypes::IR4,
        wanted: DTypes::IR4,
        max_rank: 4,
        min_dim: 2,
        max_dim: 6,
        long_dim: None,
        usual_dim: None,
        usual_dtype: DType::F32,
        taste: Taste::EVEN,
    };
    let arena = Arena::new();
    let mut rng = Choices::seeded(seed);
    let mut d = Draw::new(spec, &mut rng, &limits, &arena, Goal::Forward(&[]));
    let op = Op::draw(spec, &mut d)?;
    let operands = d.into_operands();
    let settle = |s: Sym<'_>| least(&arena, s).unwrap_or(2);
    let op = op.settle(&settle);
    let mut graph = Graph::new();
    let mut inputs = Vec::new();
    for (i, operand) in operands.into_iter().enumerate() {
        inputs.push(operand.map(|o| {
            let shape: Vec<i64> = o.ty.shape.iter().map(|&s| settle(s)).collect();
            graph.variable(format!("x{i}"), Type::new(o.ty.dtype, shape))
        }));
    }
    let node = graph.operator(op, &inputs).ok()?;
    for port in 0..graph.node(node).outputs.len() {
        graph.output(format!("y{port}"), Value::new(node, port));
    }
    Some(Model::new(opset, graph))
}

fn models() -> impl Iterator<Item = (&'static Spec, u64, Model)> {
    ops::registry().flat_map(|spec| {
        (0..30).filter_map(move |seed| {
            Some((spec, seed, drawn(spec, [17, 22, 24, 28][seed as usize % 4], seed)?))
        })
    })
}

#[test]
fn values_lie_within_their_own_bounds_and_are_mostly_decidable() {
    let mut share: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (spec, seed, model) in models() {
        let found = find_values(&model, &[], Stream::new(seed), Budget::default()).unwrap();
        let inputs = found.inputs(&model);
        let plain = evaluate_plain(&model, &inputs).unwrap();
        let is_open = OPEN_ON_INTEGERS.contains(&spec.name) && inputs[0].dtype().is_int();
        for profile in [Profile::TIGHT, Profile::WGSL, Profile::DECLARED] {
            let all = evaluate(&model, &inputs, &profile, Taps::Outputs).unwrap();
            for (expected, value) in all.outputs.iter().zip(&plain) {
                let verdict = compare(expected, value, &profile).unwrap();
                assert!(
                    verdict.passes(),
                    "{} seed {seed} {}: {verdict:?} of {model:?}",
                    spec.name,
                    profile.name
                );
                if profile.name == "tight" && found.all_defined && !is_open {
                    let count = share.entry(spec.name).or_default();
                    count.0 += verdict.elements;
                    count.1 += verdict.undecidable + verdict.undefined;
                }
            }
        }
    }
    for spec in ops::registry().filter(|s| !NEED_SOLVER.contains(&s.name)) {
        let (elements, unknown) = share.get(spec.name).copied().unwrap_or_default();
        assert!(elements > 0, "{} was never evaluated on values it is defined on", spec.name);
        assert!(unknown * 10 <= elements, "{}: {unknown} of {elements} are undecidable", spec.name);
    }
}
