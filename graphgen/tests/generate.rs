//! Properties of every generated model, for every operator of the registry.

use std::collections::BTreeMap;

use ir::{NodeKind, Operation, Stream, Tensor, Type, Value};
use onnxsmith_graphgen::{Budget, Settings, Span, Weights, generate};
use ops::{Footprint, Model};

fn models(settings: &Settings, seeds: std::ops::Range<u64>) -> impl Iterator<Item = Model> {
    seeds.map(move |seed| generate(settings, &Weights, Stream::new(seed)).model)
}

#[test]
fn models_are_valid_and_of_the_size_wanted() {
    for swarm in [false, true] {
        for seed in 0..150 {
            let stream = Stream::new(seed);
            let mut settings = Settings {
                empty_dims: f64::from(u8::from(seed % 5 == 0)),
                function: 0.5,
                ..Settings::default()
            };
            if swarm {
                settings = settings.swarm(stream);
            }
            let generated = generate(&settings, &Weights, stream);
            if let Err(e) = generated.model.validate() {
                panic!("seed {seed}: {e}\n{:#?}", generated.model);
            }
            let in_functions: usize = generated.model.functions.iter().map(|f| operators(&f.body)).sum();
            assert!(
                swarm || operators(&generated.model.graph) + in_functions == 10,
                "seed {seed} is too small"
            );
        }
    }
}

/// A tensor without elements may have axes as long as it likes, and their product is still one that can be counted.
#[test]
fn nothing_has_no_more_elements_than_can_be_counted() {
    let settings = Settings {
        empty_dims: 1.0,
        long_dims: 1.0,
        equal_dims: 1.0,
        max_rank: 8,
        nodes: 3,
        ..Settings::default()
    };
    for (seed, model) in models(&settings, 0..2000).enumerate() {
        assert!(model.validate().is_ok(), "seed {seed}: {:?}", model.validate());
    }
}

fn operators(graph: &ops::Graph) -> usize {
    graph.nodes.iter().filter(|n| matches!(n.kind, NodeKind::Operator(_))).count()
}

#[test]
fn the_same_seed_gives_the_same_model() {
    let settings = Settings::default();
    for seed in 0..20 {
        let [a, b] = [(); 2].map(|()| generate(&settings, &Weights, Stream::new(seed)).model);
        assert_eq!(a, b);
    }
}

/// Each operator alone: it can be drawn forward and backward, in every opset that has it, its attributes survive
/// being written down, and its reference semantics gives outputs of the types that its rule says.
#[test]
fn every_operator_is_drawn_written_and_evaluated() {
    for spec in ops::registry() {
        let mut drawn = 0;
        for (seed, opset) in (0..24).zip([13, 17, 21, 28].into_iter().cycle()) {
            let settings = Settings {
                opset,
                nodes: 3,
                operators: [spec.name].into(),
                empty_dims: f64::from(u8::from(seed % 3 == 0)),
                backward: 0.5,
                max_elements: 256,
                ..Settings::default()
            };
            let model = generate(&settings, &Weights, Stream::new(seed)).model;
            model.validate().unwrap_or_else(|e| panic!("{} seed {seed}: {e}", spec.name));
            for node in &model.graph.nodes {
                let NodeKind::Operator(op) = &node.kind else { continue };
                drawn += 1;
                let written = ir::Operation::attributes(op);
                assert_eq!(ops::Op::parse(op.name(), &written), Some(Ok(op.clone())), "{written:?}");
                let operands: Vec<Option<Tensor>> =
                    node.inputs.iter().map(|v| v.map(|v| small(model.graph.ty(v)))).collect();
                let operands: Vec<Option<&Tensor>> = operands.iter().map(Option::as_ref).collect();
                let types = model.graph.types(&node.inputs);
                assert_eq!(ir::Operation::infer(op, &types).as_ref(), Ok(&node.outputs), "{op:?}");
                ops::plain::evaluate(op, &operands, &node.outputs);
            }
        }
        assert!(drawn >= 12, "{} was drawn only {drawn} times", spec.name);
    }
}

fn small(ty: &Type) -> Tensor {
    Tensor::from_i128_fn(ty, |i| (i % 3) as i128)
}

#[test]
fn budgets_hold() {
    for most in [500, 2_000, 20_000] {
        let span = Span::up_to(most);
        for budget in [
            Budget { flops: span, ..Budget::default() },
            Budget { peak: span, ..Budget::default() },
            Budget { total: span, ..Budget::default() },
        ] {
            let settings = Settings { budget, function: 0.5, tap: 0.3, ..Settings::default() };
            for model in models(&settings, 0..20) {
                let footprint = Footprint::of(&model).expect("few nodes");
                assert!(!budget.is_exceeded_by(&footprint), "{footprint:?} in {budget:?}");
            }
        }
    }
}

#[test]
fn models_are_grown_into_what_a_budget_asks_for() {
    let (flops, memory) =
        (Span { least: 1_000_000, most: 100_000_000 }, Span { least: 100_000, most: 1_000_000 });
    for budget in [
        Budget { flops, ..Budget::default() },
        Budget { peak: memory, flops: Span::up_to(50_000_000), ..Budget::default() },
    ] {
        let settings = Settings { budget, function: 0.3, ..Settings::default() };
        let made: Vec<Footprint> =
            models(&settings, 0..40).map(|m| Footprint::of(&m).expect("few nodes")).collect();
        assert!(made.iter().all(|f| !budget.is_exceeded_by(f)), "{made:?}");
        let inside = |f: &&Footprint| f.flops >= budget.flops.least && f.peak >= budget.peak.least;
        assert!(made.iter().filter(inside).count() >= 36, "{budget:?}: {made:?}");
    }
}

/// No operator crowds out the others.
#[test]
fn operators_are_spread() {
    let mut counts: BTreeMap<&str, usize> = ops::registry().map(|s| (s.name, 0)).collect();
    let settings = Settings { opset: 26, function: 0.0, ..Settings::default() };
    let mut total = 0;
    for model in models(&settings, 0..300) {
        for node in &model.graph.nodes {
            if let NodeKind::Operator(op) = &node.kind {
                *counts.entry(op.name()).or_default() += 1;
                total += 1;
            }
        }
    }
    let most = counts.values().max().copied().unwrap_or(0);
    assert!(most * 5 < total, "{counts:?}");
    let never: Vec<_> = counts.iter().filter(|(_, n)| **n == 0).collect();
    assert!(never.is_empty(), "never generated: {never:?}");
}

fn settings(operators: &[&'static str]) -> Settings {
    let operators = operators.iter().copied().collect();
    Settings { operators, nodes: 6, function: 0.0, backward: 0.0, pattern: 0.0, ..Settings::default() }
}

/// The operators of a graph with their operands.
fn uses(model: &Model) -> Vec<(&ops::Op, &[Option<Value>])> {
    let nodes = model.graph.nodes.iter();
    nodes
        .filter_map(|n| if let NodeKind::Operator(op) = &n.kind { Some((op, &n.inputs[..])) } else { None })
        .collect()
}

#[test]
fn an_operand_may_come_again() {
    let twice = |again: f64| {
        let settings = Settings { again, reuse: 0.0, related: 0.0, ..settings(&["Sub", "MatMul", "Where"]) };
        let models: Vec<Model> = models(&settings, 0..30).collect();
        let all: Vec<_> = models.iter().flat_map(uses).collect();
        let is_alias = |(_, x): &&(&ops::Op, &[Option<Value>])| x[x.len() - 2] == x[x.len() - 1];
        (all.iter().filter(is_alias).count(), all.len())
    };
    let (always, all) = twice(1.0);
    assert!(always == all, "{always} of {all}");
    let (by_chance, all) = twice(0.0);
    assert!(by_chance * 5 < all, "{by_chance} of {all}");
}

#[test]
fn a_share_beyond_1_is_1() {
    let reusing = |reuse: f64| models(&Settings { reuse, ..Settings::default() }, 0..10).collect::<Vec<_>>();
    assert!(reusing(1.1) == reusing(1.0));
}

#[test]
fn nodes_relate_to_those_that_stand() {
    let pairs = |related: f64| {
        let settings = Settings { related, ..settings(&["Transpose", "Slice", "Exp", "Conv", "Pad"]) };
        let (mut twice, mut onto) = (0, 0);
        for model in models(&settings, 0..40) {
            let all = uses(&model);
            let places = (0..all.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
            twice += places.filter(|&(i, j)| all[i] == all[j]).count();
            let made = |v: Value| model.graph.node(v.node).kind.clone();
            let is_same = |(op, x): &&(&ops::Op, &[Option<Value>])| {
                x[0].is_some_and(
                    |v| matches!(made(v), NodeKind::Operator(inner) if inner.name() == op.name()),
                )
            };
            onto += all.iter().filter(is_same).count();
        }
        (twice, onto)
    };
    let (often, seldom) = (pairs(0.8), pairs(0.0));
    assert!(often.0 > 10 && often.0 > 3 * seldom.0, "the same twice: {often:?}, {seldom:?}");
    assert!(often.1 > 30 && often.1 > 2 * seldom.1, "one onto the other: {often:?}, {seldom:?}");
}
