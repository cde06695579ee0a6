//! The variance of a normalisation in one pass: E[x²] − E[x]². It is right where the profile has that liberty, and suspect.

use ir::{DType, Stream, Tensor, Type, Value};
use onnxsmith_interp::{Accumulators, Profile, Taps, Tier, compare, evaluate, limits};
use ops::nn::LayerNorm;
use ops::{Graph, Model, Op};
use rand::RngExt;

const WIDTH: usize = 4;
const LANES: usize = 200;
const EPSILON: f32 = 1e-5;

/// Lanes that are standardised, the scale being 1.
fn model() -> Model {
    let mut graph = Graph::new();
    let x = graph.variable("x", Type::new(DType::F32, [LANES as i64, WIDTH as i64]));
    let scale = graph.constant(Tensor::from_f64_fn(&Type::new(DType::F32, [WIDTH as i64]), |_| 1.0));
    let op = LayerNorm { axis: -1, epsilon: EPSILON, stash: DType::F32, outputs: 1 };
    let node = graph.operator(Op::from(op), &[Some(x), Some(scale)]).unwrap();
    graph.output("y", Value::new(node, 0));
    Model::new(21, graph)
}

/// Lanes in f32, given mean and variance.
fn standardised(lanes: &[f32], variance: fn(&[f32], f32) -> f32) -> Vec<f32> {
    let each = lanes.chunks(WIDTH).flat_map(|lane| {
        let mean = lane.iter().sum::<f32>() / WIDTH as f32;
        let deviation = (variance(lane, mean) + EPSILON).sqrt();
        lane.iter().map(move |x| (x - mean) / deviation)
    });
    each.collect()
}

fn one_pass(lane: &[f32], mean: f32) -> f32 {
    lane.iter().map(|x| x * x).sum::<f32>() / WIDTH as f32 - mean * mean
}

fn two_passes(lane: &[f32], mean: f32) -> f32 {
    lane.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / WIDTH as f32
}

/// How many elements are wrong under a profile, and how many are right and suspect.
fn judged(profile: &Profile, lanes: &[f32], y: &[f32]) -> (usize, usize) {
    let inputs =
        [Tensor::from_f64_fn(&Type::new(DType::F32, [LANES as i64, WIDTH as i64]), |i| lanes[i].into())];
    let y = Tensor::from_f64_fn(&inputs[0].ty(), |i| y[i].into());
    let evaluation = evaluate(&model(), &inputs, profile, Taps::Outputs).unwrap();
    let output = &evaluation.outputs[0];
    // A lane may be so narrow that nothing is known of it in one pass.
    assert!(output.undecidable() <= 2 * WIDTH);
    let limits = limits(&model(), &inputs, &Tier::new(profile, Accumulators::default())).unwrap().remove(0);
    let distances = output.tensor.to_f64s().into_iter().zip(y.to_f64s()).map(|(x, y)| (x - y).abs());
    let is_suspect = |(i, distance): (usize, f64)| {
        distance > limits.at(i) && distance <= output.error_at(i) && output.error_at(i) < f64::INFINITY
    };
    let wrong = compare(output, &y, profile).unwrap().mismatches;
    (wrong, distances.enumerate().filter(|&at| is_suspect(at)).count())
}

#[test]
fn it_is_inside_of_the_bound_where_it_is_a_liberty_and_suspect_there() {
    let mut rng = Stream::new(0).rng();
    let lanes: Vec<f32> = (0..LANES * WIDTH).map(|_| rng.random_range(3.9..4.1)).collect();
    let (fast, careful) = (standardised(&lanes, one_pass), standardised(&lanes, two_passes));
    let (wrong, _) = judged(&Profile::TIGHT, &lanes, &fast);
    assert!(wrong > LANES * WIDTH / 4, "{wrong} are wrong");
    for profile in [&Profile::DECLARED, &Profile::WGSL, &Profile::TRANSFORMING] {
        let (wrong, suspect) = judged(profile, &lanes, &fast);
        assert!(
            wrong == 0 && suspect > LANES * WIDTH / 4,
            "{}: {wrong} wrong, {suspect} suspect",
            profile.name
        );
        assert_eq!(judged(profile, &lanes, &careful), (0, 0), "{}", profile.name);
    }
    assert_eq!(judged(&Profile::TIGHT, &lanes, &careful), (0, 0));
}

#[test]
fn where_the_mean_is_all_of_the_squares_nothing_is_known() {
    let lanes = vec![100.0; LANES * WIDTH];
    let inputs = [Tensor::from_f64_fn(&Type::new(DType::F32, [LANES as i64, WIDTH as i64]), |_| 100.0)];
    let undecidable =
        |profile| evaluate(&model(), &inputs, profile, Taps::Outputs).unwrap().outputs[0].undecidable();
    assert_eq!(undecidable(&Profile::TIGHT), 0);
    assert_eq!(undecidable(&Profile::DECLARED), lanes.len());
}
