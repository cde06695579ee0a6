//! What the static answer says is what the device does, for every operator of the registry.

use graphgen::{Settings, Weights, generate};
use ir::{DType, DTypes, NodeKind, Stream, Tensor, Type};
use onnxsmith_backends::Support;
use onnxsmith_backends::wgpu::{GpuError, support};

use crate::{down, gpu, up};

#[test]
fn the_device_runs_what_is_supported_and_nothing_else() {
    let Some(gpu) = gpu() else { return };
    let has = gpu.capabilities();
    if !(has.f16 && has.int64 && has.f64) {
        println!("{} has not every optional type: {has:?}", gpu.info());
        return;
    }
    let (mut yes, mut no) = (0, 0);
    for spec in ops::drawn() {
        // What is not supported is mostly f64, which has to be drawn often enough.
        let wide = DTypes::of(&[DType::F64, DType::I64, DType::I32, DType::Bool]);
        for (seed, dtypes) in (0..).zip([DTypes::IR4, wide, DTypes::IR4, wide]) {
            let settings = Settings {
                opset: 26,
                nodes: 3,
                operators: [spec.name].into(),
                dtypes,
                max_elements: 64,
                function: 0.0,
                ..Settings::default()
            };
            let model = generate(&settings, &Weights, Stream::new(seed)).model;
            for node in &model.graph.nodes {
                let NodeKind::Operator(op) = &node.kind else { continue };
                let types: Vec<_> = node.inputs.iter().map(|v| v.map(|v| model.graph.ty(v))).collect();
                let answer = support(op, &types);
                let operands: Vec<_> = types.iter().map(|t| t.map(|t| up(gpu, &small(t)))).collect();
                let operands: Vec<_> = operands.iter().map(Option::as_ref).collect();
                match (answer, gpu.operator(op, &operands, &node.outputs)) {
                    (Support::Yes, Ok(outputs)) => {
                        yes += 1;
                        let types: Vec<Type> = outputs.iter().map(|t| down(gpu, t).ty()).collect();
                        assert_eq!(types, node.outputs, "{op:?}");
                    }
                    (Support::No(said), Err(GpuError::Unsupported { why, .. })) => {
                        no += 1;
                        assert_eq!(said, why, "{op:?}");
                    }
                    (answer, result) => panic!("{op:?} of {types:?}: {answer}, but {result:?}"),
                }
            }
        }
    }
    println!("{yes} uses run, {no} are not supported");
    assert!(yes > 500 && no > 20, "{yes} and {no} were drawn");
}

fn small(ty: &Type) -> Tensor {
    Tensor::from_i128_fn(ty, |i| (i % 3) as i128)
}
