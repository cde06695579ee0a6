//! Value search finds values, cheaply and always the same ones.

use std::sync::Arc;

use interp::evaluate_plain;
use ir::{DType, NodeKind, Stream, Tensor, Type, Value};
use onnxsmith_values::first_undefined;
use onnxsmith_values::{AtEdge, Budget, Searched, find_or_replace, find_values, move_to_edges};
use ops::elementwise::{Binary, BinaryFn, Unary, UnaryFn};
use ops::reduction::{Reduce, ReduceFn};
use ops::{Graph, Model, Op};
use rand::RngExt;

fn f32s(shape: &[i64]) -> Type {
    Type::new(DType::F32, shape)
}

fn append(graph: &mut Graph, op: impl Into<Op>, inputs: &[Value]) -> Value {
    let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
    Value::new(graph.operator(op.into(), &inputs).unwrap(), 0)
}

fn unary(graph: &mut Graph, f: UnaryFn, x: Value) -> Value {
    append(graph, Unary(f), &[x])
}

fn binary(graph: &mut Graph, f: BinaryFn, x: Value, y: Value) -> Value {
    append(graph, Binary(f), &[x, y])
}

fn model(mut graph: Graph, output: Value) -> Model {
    graph.output("y", output);
    Model::new(22, graph)
}

fn model_of(text: &str) -> Model {
    text.parse().expect("the text is a model's")
}

fn search(model: &Model, seed: u64) -> onnxsmith_values::FoundValues {
    let constants: Vec<_> = model.graph.iter().map(|(id, _)| id).collect();
    find_values(model, &constants, Stream::new(seed), Budget::default()).unwrap()
}

#[test]
fn domains_behind_other_operators_are_reached() {
    // ln(x - y) and 1/⌊z⌋: most first draws are undefined somewhere.
    let mut g = Graph::new();
    let (x, y, z) = (g.variable("x", f32s(&[4])), g.variable("y", f32s(&[4])), g.variable("z", f32s(&[4])));
    let difference = binary(&mut g, BinaryFn::Sub, x, y);
    let log = unary(&mut g, UnaryFn::Log, difference);
    let floor = unary(&mut g, UnaryFn::Floor, z);
    let quotient = binary(&mut g, BinaryFn::Div, log, floor);
    let model = model(g, quotient);
    for seed in 0..50 {
        let found = search(&model, seed);
        assert!(found.all_defined, "seed {seed} after {} runs", found.runs);
        assert_eq!(first_undefined(&model, &found.tensors), Ok(None));
        let y = evaluate_plain(&model, &found.inputs(&model)).unwrap();
        assert!(y[0].to_f64s().iter().all(|v| v.is_finite()));
        assert_eq!(found, search(&model, seed));
    }
}

#[test]
fn the_least_integer_may_be_divided_but_not_by_minus_one() {
    let mut g = Graph::new();
    let bytes = |shape: &[i64]| Type::new(DType::I8, shape);
    let (x, y) = (g.variable("x", bytes(&[2, 2])), g.variable("y", bytes(&[2])));
    let quotient = binary(&mut g, BinaryFn::Div, x, y);
    let model = model(g, quotient);
    let is_defined = |dividends: [i128; 4], divisors: [i128; 2]| {
        let tensor =
            |v: Value, all: &[i128]| (v.node, Arc::new(Tensor::from_i128_fn(model.graph.ty(v), |i| all[i])));
        let tensors = [tensor(x, &dividends), tensor(y, &divisors)].into();
        first_undefined(&model, &tensors).unwrap().is_none()
    };
    assert!(is_defined([-128, 1, -128, 2], [3, -1]));
    assert!(!is_defined([1, 1, 2, -128], [3, -1]), "the last row meets the last divisor");
    assert!(!is_defined([-128, 1, 1, 2], [0, -1]));
}

#[test]
fn constants_are_replaced_only_where_they_are_free() {
    let mut g = Graph::new();
    let x = g.variable("x", f32s(&[2]));
    let w = g.constant(ir::Tensor::zeros(&f32s(&[2])));
    let y = binary(&mut g, BinaryFn::Div, x, w);
    let model = model(g, y);
    let stuck = find_values(&model, &[], Stream::new(1), Budget::default()).unwrap();
    assert!(!stuck.all_defined && stuck.tensors.len() == 1);
    let found = search(&model, 1);
    let searched = found.fill(model.clone());
    assert!(found.all_defined);
    let NodeKind::Constant(held) = &searched.graph.node(w.node).kind else { panic!("{searched:?}") };
    assert!(held.to_f64s().iter().all(|&v| v != 0.0));
}

/// ln(-|x|) / w, where w is a constant: no values help.
fn hopeless() -> (Model, ir::NodeId) {
    let mut g = Graph::new();
    let x = g.variable("x0", f32s(&[3]));
    let magnitude = unary(&mut g, UnaryFn::Abs, x);
    let negative = unary(&mut g, UnaryFn::Neg, magnitude);
    let log = unary(&mut g, UnaryFn::Log, negative);
    let w = g.constant(ir::Tensor::from_f64_fn(&f32s(&[3]), |_| 0.5));
    let quotient = binary(&mut g, BinaryFn::Div, log, w);
    (model(g, quotient), w.node)
}

#[test]
fn an_edge_is_cut_where_no_values_help() {
    let (model, w) = hopeless();
    assert!(!find_values(&model, &[w], Stream::new(1), Budget::default()).unwrap().all_defined);
    let searched = find_or_replace(model, &[w], Stream::new(1), Budget::default()).unwrap();
    assert_eq!(searched.model.validate(), Ok(()));
    let Searched { model, constants, found, replaced } = searched;
    assert!(found.all_defined && replaced == 1);
    assert_eq!(first_undefined(&model, &found.tensors), Ok(None));
    // The logarithm reads an input; what it read is an output, so it is still compared; the constant is found again.
    let names: Vec<&str> = model.graph.variables().map(|(_, name, _)| name).collect();
    assert_eq!(names, ["x0", "x1"]);
    assert_eq!(model.graph.outputs.len(), 2);
    assert!(matches!(model.graph.node(constants[0]).kind, NodeKind::Constant(_)) && constants[0] != w);
    assert_eq!(evaluate_plain(&model, &found.inputs(&model)).map(|y| y.len()), Ok(2));
}

#[test]
fn what_values_can_help_is_not_cut() {
    let mut g = Graph::new();
    let x = g.variable("x", f32s(&[3]));
    let negative = unary(&mut g, UnaryFn::Neg, x);
    let log = unary(&mut g, UnaryFn::Log, negative);
    let model = model(g, log);
    let searched = find_or_replace(model.clone(), &[], Stream::new(1), Budget::default()).unwrap();
    assert_eq!((searched.replaced, searched.model), (0, model));
}

#[test]
fn functions_are_searched_too() {
    let mut body = Graph::new();
    let p = body.variable("p", f32s(&[3]));
    let negative = unary(&mut body, UnaryFn::Neg, p);
    let root = unary(&mut body, UnaryFn::Sqrt, negative);
    body.output("r", root);
    let mut g = Graph::new();
    let x = g.variable("x", f32s(&[3]));
    let call = g.push(NodeKind::Call(ir::FunctionId(0)), vec![Some(x)], vec![f32s(&[3])]);
    let shifted = g.variable("s", f32s(&[]));
    let sum = binary(&mut g, BinaryFn::Add, Value::new(call, 0), shifted);
    let mut model = model(g, sum);
    model.functions.push(ir::Function { name: "root".into(), body });
    let defined = (0..20).filter(|&seed| search(&model, seed).all_defined).count();
    assert!(defined >= 15, "{defined} of 20");
}

/// A random graph of ten operators, none of them chosen to be harmless.
fn random(seed: u64) -> Model {
    let rng = &mut Stream::new(seed).child("graph").rng();
    let mut g = Graph::new();
    let mut values: Vec<Value> = (0..3).map(|i| g.variable(format!("x{i}"), f32s(&[2, 3]))).collect();
    let real = |f: &&UnaryFn| !matches!(f, UnaryFn::Not | UnaryFn::BitwiseNot);
    let unaries: Vec<UnaryFn> = UnaryFn::ALL.iter().filter(real).copied().collect();
    let binaries = [BinaryFn::Add, BinaryFn::Sub, BinaryFn::Mul, BinaryFn::Div];
    let reductions = [ReduceFn::Sum, ReduceFn::Mean, ReduceFn::L2, ReduceFn::LogSumExp, ReduceFn::Prod];
    for _ in 0..10 {
        let x = values[rng.random_range(0..values.len())];
        let y = values[rng.random_range(0..values.len())];
        let function = reductions[rng.random_range(0..reductions.len())];
        values.push(match rng.random_range(0..10) {
            0..5 => unary(&mut g, unaries[rng.random_range(0..unaries.len())], x),
            5..9 => binary(&mut g, binaries[rng.random_range(0..4)], x, y),
            _ => {
                let reduce = Reduce { function, axes: None, keepdims: true, noop_with_empty_axes: false };
                append(&mut g, reduce, &[x])
            }
        });
    }
    let last = values[values.len() - 1];
    model(g, last)
}

#[test]
fn most_random_graphs_need_few_runs() {
    let found: Vec<_> = (0..300).map(|seed| search(&random(seed), seed)).collect();
    let defined = found.iter().filter(|f| f.all_defined).count();
    let at_once = found.iter().filter(|f| f.all_defined && f.runs == 1).count();
    let runs: u32 = found.iter().map(|f| f.runs).sum();
    println!("{defined} of 300 defined, {at_once} at once, {runs} runs");
    assert!(defined >= 285, "{defined} of 300");
    assert!(runs < 300 * 10, "{runs} runs");
}

#[test]
fn every_place_gets_its_update_at_once() {
    // As many updates as there are places, of which none may be given twice, and a float that has to be 0.
    let model = model_of(
        "onnxsmith 1 opset 25
        graph {
          %0: bool[4, 4, 4] = variable \"x0\"
          %1: i64[4, 4, 4] = variable \"x1\"
          %2: f32[4, 3, 2] = variable \"x2\"
          %3: i64[4, 3, 2, 3] = variable \"x3\"
          %4: f32[7] = variable \"x4\"
          %5: f32[] = variable \"x5\"
          %6: f8e5m2[] = variable \"x6\"
          %7: bool[4, 4, 4] = ScatterElements(%0, %1, %0) {axis = 1, reduction = \"none\"}
          %8: f32[4, 3, 2] = ScatterND(%2, %3, %2) {reduction = \"none\"}
          %9: f8e5m2[7] = QuantizeLinear(%4, %5, %6) {axis = 1, block_size = 0, precision = f32}
          return \"y7\" = %7, \"y8\" = %8, \"y9\" = %9
        }",
    );
    for seed in 0..20 {
        let found = search(&model, seed);
        assert!(found.all_defined && found.runs == 1, "seed {seed} after {} runs", found.runs);
    }
}

#[test]
fn a_list_of_indices_out_of_range_is_seen_whatever_it_updates() {
    for dtype in [DType::F32, DType::I32, DType::Bool] {
        let model = model_of(&format!(
            "onnxsmith 1 opset 25
            graph {{
              %0: {dtype}[4, 3] = variable \"x0\"
              %1: i64[2, 2] = variable \"x1\"
              %2: {dtype}[2] = variable \"x2\"
              %3: {dtype}[4, 3] = ScatterND(%0, %1, %2) {{reduction = \"none\"}}
              return \"y\" = %3
            }}"
        ));
        let mut found = search(&model, 0);
        assert_eq!(first_undefined(&model, &found.tensors), Ok(None), "{dtype}");
        let (indices, ..) = model.graph.variables().nth(1).unwrap();
        let ty = Type::new(DType::I64, [2, 2]);
        found.tensors.insert(indices, Arc::new(Tensor::from_i128_fn(&ty, |i| [3, 2, 4, 0][i])));
        assert!(matches!(first_undefined(&model, &found.tensors), Ok(Some(_))), "{dtype}");
    }
}

#[test]
fn the_least_of_none_is_no_fault_and_what_becomes_of_it_is() {
    let of = |read: &str| {
        model_of(&format!(
            "onnxsmith 1 opset 25
            graph {{
              %0: f32[0] = variable \"x0\"
              %1: f32[1] = ReduceMin(%0) {{axes = [0], keepdims = 1, noop_with_empty_axes = 0}}
              %2: f32[1] = {read}
              return \"y\" = %2
            }}"
        ))
    };
    assert!(search(&of("Abs(%1)"), 0).all_defined);
    // ∞ - ∞ is NaN whatever the inputs are, and there is nothing to look for.
    let found = search(&of("Sub(%1, %1)"), 0);
    assert!(!found.all_defined && found.runs <= 4, "{} runs", found.runs);
}

#[test]
fn what_functions_require_of_their_arguments_is_kept() {
    let text = "onnxsmith 1 opset 21
function f0 {
  %0: i64[2, 3] = variable \"p0\"
  %1: f32[2, 3] = variable \"p1\"
  %2: f32[2, 3] = GatherElements(%1, %0) {axis = 1}
  return \"r0\" = %2
}
graph {
  %0: f32[2, 3] = variable \"x0\"
  %1: i64[2, 3] = variable \"x1\"
  %2: f32[2, 3] = call f0(%1, %0)
  return \"y0\" = %2
}
";
    let model: Model = text.parse().unwrap();
    for seed in 0..50 {
        let found = search(&model, seed);
        assert!(found.all_defined && found.runs == 1, "seed {seed}: {found:?}");
    }
}

/// The edges that adversarial values reach in some seeds: operator, edge, values.
fn edges(model: &Model) -> Vec<(&'static str, &'static str, Vec<ir::Tensor>)> {
    let at = |seed: u64| {
        let found = find_values(model, &[], Stream::new(seed), Budget::default()).unwrap();
        let moved = move_to_edges(model, &[], &found, Stream::new(seed).child("edge"));
        assert_eq!(moved, move_to_edges(model, &[], &found, Stream::new(seed).child("edge")));
        let (sharp, edges) = moved;
        assert_eq!(sharp == found, edges.is_empty(), "seed {seed}: {edges:?}");
        let at_one = |edge: AtEdge| (edge.operator, edge.edge, sharp.inputs(model));
        edges.into_iter().map(at_one).collect::<Vec<_>>()
    };
    (0..100).flat_map(at).collect()
}

#[test]
fn wide_integers_reach_a_product_behind_other_operators() {
    let mut g = Graph::new();
    let (x, y) = (g.variable("x", Type::new(DType::I32, [4])), g.variable("y", Type::new(DType::I32, [4])));
    let negative = unary(&mut g, UnaryFn::Neg, x);
    let product = binary(&mut g, BinaryFn::Mul, negative, y);
    let edges = edges(&model(g, product));
    let lossy = |z: &i128| (*z as f32) as i128 != *z;
    let is_product = |e: &&(&str, &str, Vec<ir::Tensor>)| e.0 == "Mul" && e.1 == "integers wider than floats";
    let wide = edges.iter().filter(is_product).filter(|e| e.2.iter().any(|t| t.to_i128s().iter().any(lossy)));
    assert!(wide.count() >= 10, "{edges:?}");
}

#[test]
fn a_relu_behind_a_negation_gets_nan() {
    let mut g = Graph::new();
    let x = g.variable("x", f32s(&[4]));
    let negative = unary(&mut g, UnaryFn::Neg, x);
    let relu = unary(&mut g, UnaryFn::Relu, negative);
    let edges = edges(&model(g, relu));
    let has_nan = |t: &ir::Tensor| t.to_f64s().iter().any(|v| v.is_nan());
    assert!(edges.iter().any(|e| e.0 == "Relu" && e.2.iter().any(has_nan)), "{edges:?}");
}

#[test]
fn a_function_behind_a_negation_gets_its_poles() {
    for f in [UnaryFn::Reciprocal, UnaryFn::Sqrt, UnaryFn::Log, UnaryFn::Exp, UnaryFn::Acosh, UnaryFn::Atanh]
    {
        let mut g = Graph::new();
        let x = g.variable("x", f32s(&[4]));
        let negative = unary(&mut g, UnaryFn::Neg, x);
        let y = unary(&mut g, f, negative);
        let model = model(g, y);
        let is_pole =
            |e: &&(&str, &str, Vec<ir::Tensor>)| e.0 == format!("{f:?}") && e.1 == "poles and domain errors";
        let edges = edges(&model);
        let poles: Vec<_> = edges.iter().filter(is_pole).collect();
        let is_made = |e: &&&(&str, &str, Vec<ir::Tensor>)| {
            let (x, y) = (e.2[0].to_f64s(), evaluate_plain(&model, &e.2).unwrap()[0].to_f64s());
            x.iter().zip(y).any(|(x, y)| x.is_finite() && !y.is_finite())
        };
        let made = poles.iter().filter(is_made).count();
        assert!(made >= 5, "{f:?}: {made} of {} from finite numbers", poles.len());
    }
}

#[test]
fn a_root_gets_nan_and_infinities() {
    let mut g = Graph::new();
    let x = g.variable("x", f32s(&[4]));
    let root = unary(&mut g, UnaryFn::Sqrt, x);
    let edges = edges(&model(g, root));
    let meant = edges.iter().filter(|e| e.0 == "Sqrt" && e.1 == "NaN and infinities");
    assert!(meant.count() >= 20, "{edges:?}");
}

#[test]
fn sums_and_products_of_finite_halves_overflow() {
    for (f, edge) in [(BinaryFn::Mul, "a product that overflows"), (BinaryFn::Sub, "a sum that overflows")] {
        let mut g = Graph::new();
        let halves = Type::new(DType::F16, [16]);
        let (x, y) = (g.variable("x", halves.clone()), g.variable("y", halves));
        let negative = unary(&mut g, UnaryFn::Neg, x);
        let z = binary(&mut g, f, negative, y);
        let model = model(g, z);
        let edges = edges(&model);
        let meant = edges.iter().filter(|e| e.1 == edge);
        let is_made = |e: &&(&str, &str, Vec<ir::Tensor>)| {
            let [x, y] = [0, 1].map(|i| e.2[i].to_f64s());
            let z = evaluate_plain(&model, &e.2).unwrap()[0].to_f64s();
            (0..16).any(|i| x[i].is_finite() && y[i].is_finite() && z[i].is_infinite())
        };
        let made = meant.clone().filter(is_made).count();
        assert!(made >= 3, "{edge}: {made} of {} from finite numbers", meant.count());
    }
}

#[test]
fn branches_are_found_in_the_meaning() {
    // round(2x) has its ties where x is an odd multiple of 1/4.
    let mut g = Graph::new();
    let x = g.variable("x", f32s(&[4]));
    let two = g.constant(ir::Tensor::from_f64_fn(&f32s(&[]), |_| 2.0));
    let product = binary(&mut g, BinaryFn::Mul, x, two);
    let rounded = unary(&mut g, UnaryFn::Round, product);
    let edges = edges(&model(g, rounded));
    let is_tie = |v: &f64| (4.0 * v).rem_euclid(2.0) == 1.0;
    let ties = edges.iter().filter(|e| e.0 == "Round" && e.1 == "a branch");
    assert!(ties.clone().any(|e| e.2[0].to_f64s().iter().any(is_tie)), "{edges:?}");
}

#[test]
fn what_undoes_no_element_is_left_alone() {
    // x - x is 0 whatever number x is, and NaN where x is none, so nothing else that is planned at Exp is kept.
    let mut g = Graph::new();
    let x = g.variable("x", f32s(&[4]));
    let zero = binary(&mut g, BinaryFn::Sub, x, x);
    let one = unary(&mut g, UnaryFn::Exp, zero);
    let is_met = |e: &(&str, &str, Vec<ir::Tensor>)| ["zeros", "NaN and infinities"].contains(&e.1);
    assert!(edges(&model(g, one)).iter().all(|e| e.0 != "Exp" || is_met(e)));
}
