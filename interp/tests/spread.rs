//! How far good implementations are from the reference: not so far that faults hide, and no nearer than they are.

use std::iter;

use ir::format::FloatFormat;
use ir::round::round_to_format;
use ir::{Attributes, DType, Operation, Stream, Tensor, Type, Value};
use onnxsmith_interp::{Accumulators, Bounded, Profile, Taps, Tier, evaluate, limits};
use ops::{Graph, Model, Op};
use rand::RngExt;

/// A model that is a chain of operators, with as many operands of its own as each wants beside what is before it.
fn chain(x: &Type, links: &[(&str, &[Type])]) -> Model {
    let mut graph = Graph::new();
    let mut last = graph.variable("x", x.clone());
    for (i, (name, operands)) in links.iter().enumerate() {
        let op = Op::parse(name, &Attributes::new()).unwrap().unwrap();
        let mut inputs = vec![Some(last)];
        for (j, ty) in operands.iter().enumerate() {
            inputs.push(Some(graph.variable(format!("x{i}_{j}"), ty.clone())));
        }
        last = Value::new(graph.operator(op, &inputs).unwrap(), 0);
    }
    graph.output("y", last);
    Model::new(21, graph)
}

fn tier(profile: &Profile, accumulators: &[(DType, DType)]) -> Tier {
    Tier::new(profile, accumulators.iter().copied().collect::<Accumulators>())
}

/// The reference of a model's only output under a profile, and the limits of its elements.
fn judged(model: &Model, inputs: &[Tensor], profile: &Profile, tier: &Tier) -> (Bounded, Vec<f64>) {
    let evaluation = evaluate(model, inputs, profile, Taps::Outputs).unwrap();
    let limits = limits(model, inputs, tier).unwrap().remove(0);
    let output = evaluation.outputs.into_iter().next().unwrap();
    let each = (0..output.tensor.len()).map(|i| limits.at(i)).collect();
    (output, each)
}

/// A sum of 2,048 halves, and one made in a loop in some format.
fn sum_of_halves(accumulator: DType, terms: impl Fn(usize) -> f64) -> (f64, f64, f64) {
    let x = Tensor::from_f64_fn(&Type::new(DType::F16, [2048]), terms);
    let model = chain(&x.ty(), &[("ReduceSum", &[])]);
    let tier = tier(&Profile::DECLARED, &[(DType::F16, accumulator)]);
    let (output, limits) = judged(&model, std::slice::from_ref(&x), &Profile::DECLARED, &tier);
    let format = accumulator.float().unwrap();
    let looped = x.to_f64s().into_iter().fold(0.0, |s, x| round_to_format(format, s + x));
    let value = output.tensor.to_f64s()[0];
    (value, limits[0], (round_to_format(FloatFormat::F16, looped) - value).abs())
}

#[test]
fn a_sum_of_2048_halves_is_good_to_a_few_ulp_unless_it_is_made_in_halves() {
    let random = |seed: u64| {
        let mut rng = Stream::new(seed).rng();
        let terms: Vec<f64> = iter::repeat_with(|| rng.random_range(0.0..1.0)).take(2048).collect();
        move |i: usize| terms[i]
    };
    for seed in 0..5 {
        let (value, limit, error) = sum_of_halves(DType::F32, random(seed));
        let ulp = FloatFormat::F16.ulp(value);
        assert!(error <= limit && limit <= 3.0 * ulp, "{value}: {error} ulp {ulp} limit {limit}");
        let (value, limit, error) = sum_of_halves(DType::F16, random(seed));
        assert!(error <= limit && limit < 0.1 * value, "{value}: {error}, limit {limit}");
    }
    // Every 0.3 is lost once the sum is 512.
    let (value, limit, error) = sum_of_halves(DType::F16, |_| 0.3);
    assert!(error > 50.0 && error <= limit, "{value}: {error}, limit {limit}");
    assert!(sum_of_halves(DType::F32, |_| 0.3).1 <= 1.5);
}

#[test]
fn the_error_of_a_number_added_to_itself_grows_as_the_number_does() {
    let scalar = Type::new(DType::F32, []);
    let x = Tensor::from_f64_fn(&scalar, |_| 1.3);
    let mut graph = Graph::new();
    let x0 = graph.variable("x", scalar);
    let apply = |graph: &mut Graph, name: &str, operands: &[Value]| {
        let op = Op::parse(name, &Attributes::new()).unwrap().unwrap();
        let operands: Vec<_> = operands.iter().map(|&v| Some(v)).collect();
        Value::new(graph.operator(op, &operands).unwrap(), 0)
    };
    let mut last = apply(&mut graph, "Exp", &[x0]);
    for _ in 0..10 {
        last = apply(&mut graph, "Add", &[last, last]);
    }
    graph.output("y", last);
    let tier = tier(&Profile::DECLARED, &[]);
    let (output, limits) = judged(&Model::new(21, graph), &[x], &Profile::DECLARED, &tier);
    let ulps = limits[0] / FloatFormat::F32.ulp(output.tensor.to_f64s()[0]);
    assert!((3.0..6.0).contains(&ulps), "an exponential is good to 3 ULP, its multiples too: {ulps}");
}

#[test]
fn a_function_is_as_good_as_tight_has_it_whatever_the_profile_grants() {
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [1]), |_| 3.1);
    for profile in Profile::ALL {
        let model = chain(&x.ty(), &[("Sin", &[])]);
        let (output, limits) = judged(&model, std::slice::from_ref(&x), profile, &tier(profile, &[]));
        let ulps = limits[0] / FloatFormat::F32.ulp(output.tensor.to_f64s()[0]);
        assert!((4.0..=4.5).contains(&ulps), "{}: {ulps}", profile.name);
    }
}

/// Four layers of a network, 576 wide with He's initialisation, and each of them in f32 as a loop has it.
#[test]
fn four_layers_of_a_network_are_good_to_a_few_millionths() {
    const WIDTH: usize = 576;
    const LAYERS: usize = 4;
    let mut rng = Stream::new(7).rng();
    // A sum of twelve is as good as normal.
    let mut normal =
        |scale: f64| -> f64 { scale * ((0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0) };
    let row = Type::new(DType::F32, [1, WIDTH as i64]);
    let weights = Type::new(DType::F32, [WIDTH as i64, WIDTH as i64]);
    let mut inputs = vec![Tensor::from_f64_fn(&row, |_| normal(1.0))];
    let mut x: Vec<f32> = inputs[0].to_f64s().iter().map(|&x| x as f32).collect();
    for _ in 0..LAYERS {
        let w = Tensor::from_f64_fn(&weights, |_| normal((2.0 / WIDTH as f64).sqrt()));
        let elements: Vec<f32> = w.to_f64s().iter().map(|&w| w as f32).collect();
        let dot = |j| (0..WIDTH).fold(0.0f32, |s, i| s + x[i] * elements[i * WIDTH + j]).max(0.0);
        x = (0..WIDTH).map(dot).collect();
        inputs.push(w);
    }
    let links = [("MatMul", std::slice::from_ref(&weights)), ("Relu", &[][..])].repeat(LAYERS);
    let tier = tier(&Profile::DECLARED, &[]);
    let (output, limits) = judged(&chain(&row, &links), &inputs, &Profile::DECLARED, &tier);
    let error = |(y, &x): (f64, &f32)| (y - f64::from(x)).abs();
    let errors: Vec<f64> = output.tensor.to_f64s().into_iter().zip(&x).map(error).collect();
    assert!(errors.iter().zip(&limits).all(|(error, limit)| error <= limit));
    assert!(median(&limits) <= 1e-5 && limits.iter().all(|&limit| limit < 3e-5), "{limits:?}");
    assert!(median(&output.error) > 0.5, "the bound has become wider than the values");
}

fn median(of: &[f64]) -> f64 {
    let mut sorted = of.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[test]
fn the_limit_of_the_furthest_of_many_is_wider() {
    let widened = |n: i64| {
        let x = Tensor::from_f64_fn(&Type::new(DType::F32, [n]), |i| 0.1 + i as f64);
        let model = chain(&x.ty(), &[("Exp", &[])]);
        let limits = limits(&model, &[x], &tier(&Profile::DECLARED, &[])).unwrap().remove(0);
        limits.among_all(0) / limits.at(0)
    };
    assert_eq!((widened(1), widened(64)), (1.0, 1.0));
    // 5.7 deviations for 4.
    let many = widened(64 * 2981);
    assert!((many - 2f64.sqrt()).abs() < 1e-4, "{many}");
}
