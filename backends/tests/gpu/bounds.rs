//! Generated models on the device against the reference: nothing may leave the bound that WGSL's accuracy gives.

use graphgen::{Settings, Weights, generate};
use interp::{Comparison, Evaluation, Profile, Taps, evaluate, judge};
use ir::{NodeKind, Stream, Tensor};
use onnxsmith_backends::wgpu::{Gpu, support};
use ops::Model;
use values::{Budget, find_values};

use crate::gpu;

/// Enough to meet every operator a few times; `ONNXSMITH_BOUNDS_MODELS` asks for a longer run.
const MODELS: u64 = 250;

/// A model whose operators all have kernels, with values on which it is defined.
fn case(index: u64) -> Option<(Model, Vec<Tensor>)> {
    let stream = Stream::new(26).child("case").at(index);
    let settings = Settings { opset: 26, nodes: 6, max_elements: 256, ..Settings::default() }.swarm(stream);
    let generated = generate(&settings, &Weights, stream.child("structure"));
    if !supported(&generated.model) {
        return None;
    }
    let (model, constants) = (generated.model, generated.constants);
    let found = find_values(&model, &constants, stream.child("values"), Budget::default()).unwrap();
    Some((found.settle(model.clone()), found.inputs(&model)))
}

fn supported(model: &Model) -> bool {
    model.functions.iter().map(|f| &f.body).chain([&model.graph]).all(|graph| {
        graph.nodes.iter().all(|node| match &node.kind {
            NodeKind::Operator(op) => {
                let types: Vec<_> = node.inputs.iter().map(|v| v.map(|v| graph.ty(v))).collect();
                support(op, &types).is_yes()
            }
            _ => true,
        })
    })
}

/// Every output next to what it may be.
fn compare(gpu: &Gpu, model: &Model, inputs: &[Tensor]) -> Vec<Comparison> {
    let got = gpu.run(model, &inputs.iter().collect::<Vec<_>>()).unwrap();
    let Evaluation { outputs, .. } = evaluate(model, inputs, &Profile::WGSL, Taps::Outputs).unwrap();
    outputs.iter().zip(&got).map(|(expected, got)| judge(expected, got, &Profile::WGSL).unwrap()).collect()
}

#[test]
fn generated_models_stay_within_the_bounds_of_wgsl() {
    let Some(gpu) = gpu() else { return };
    let has = gpu.capabilities();
    if !(has.f16 && has.int64 && has.f64) {
        println!("{} has not every optional type: {has:?}", gpu.info());
        return;
    }
    let models = std::env::var("ONNXSMITH_BOUNDS_MODELS").ok().and_then(|n| n.parse().ok()).unwrap_or(MODELS);
    let (mut run, mut compared, mut elements, mut wrong) = (0, 0, 0, Vec::new());
    for index in 0..models {
        let Some((model, inputs)) = case(index) else { continue };
        run += 1;
        for (output, comparison) in compare(gpu, &model, &inputs).into_iter().enumerate() {
            compared += comparison.compared();
            elements += comparison.elements;
            if let Some(worst) = comparison.worst {
                wrong.push(format!("case {index}, output {output}: {worst:?}\n{model}"));
            }
        }
    }
    println!("{run} of {models} models run, {compared} of {elements} elements compared");
    assert!(wrong.is_empty(), "{} outputs are beyond their bounds:\n{}", wrong.len(), wrong.join("\n"));
    assert!(2 * run > models && 2 * compared > elements, "most of what is drawn must be compared");
}
