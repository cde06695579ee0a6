//! Whole models on the device.

use std::time::Duration;

use ir::{Attributes, DType, Operation, Type, Value};
use onnxsmith_backends::engines::gpu::GpuRunner;
use onnxsmith_backends::engines::models::Runner;
use onnxsmith_backends::wgpu::{Gpu, GpuError, Which};
use ops::{Graph, Model, Op};

use worker::EngineError;

use crate::{gpu, wave};

fn op(name: &str, attributes: &Attributes) -> Op {
    Op::parse(name, attributes).unwrap_or_else(|| panic!("{name} is registered")).unwrap()
}

fn none() -> Attributes {
    Attributes::new()
}

#[test]
fn a_whole_model_runs_in_one_go() {
    let Some(gpu) = gpu() else { return };
    let mut graph = Graph::new();
    let x = graph.variable("x", Type::new(DType::F32, [2, 3]));
    let w = graph.constant(wave(DType::F32, &[3, 4]));
    let product = Value::new(graph.operator(op("MatMul", &none()), &[Some(x), Some(w)]).unwrap(), 0);
    let relu = Value::new(graph.operator(op("Relu", &none()), &[Some(product)]).unwrap(), 0);
    let sum = Value::new(graph.operator(op("Add", &none()), &[Some(relu), Some(relu)]).unwrap(), 0);
    graph.output("sum", sum);
    graph.output("same", x);
    let model = Model::new(20, graph);
    model.validate().unwrap();
    let input = wave(DType::F32, &[2, 3]);
    let got = gpu.run(&model, &[&input]).unwrap();
    let w = wave(DType::F32, &[3, 4]).to_f64s();
    let x = input.to_f64s();
    let product = |i: usize| (0..3).map(|k| x[i / 4 * 3 + k] * w[k * 4 + i % 4]).sum::<f64>();
    let expected: Vec<_> = (0..8).map(|i| 2.0 * product(i).max(0.0)).collect();
    crate::assert_close("model", &got[0].to_f64s(), &expected, 1e-5, 1e-6);
    assert_eq!(got[1], input);
    // A failure discards what others record on the shared device at the same time.
    let error = Gpu::open(&Which::Best).unwrap().run(&model, &[]).unwrap_err();
    assert!(error.to_string().contains("input `x` is missing"), "{error}");
}

#[test]
fn a_failing_node_is_named() {
    let Some(gpu) = gpu() else { return };
    let mut graph = Graph::new();
    let x = graph.variable("x", Type::new(DType::F64, [2]));
    let exp = graph.operator(op("Exp", &none()), &[Some(x)]).unwrap();
    graph.output("y", Value::new(exp, 0));
    let error = gpu.run(&Model::new(20, graph), &[&wave(DType::F64, &[2])]).unwrap_err();
    assert_eq!((error.node, error.op.as_str()), (1, "Exp"));
    assert!(matches!(error.cause, GpuError::Unsupported { .. }));
}

#[test]
fn nothing_of_a_model_runs_that_has_a_node_without_kernels() {
    if gpu().is_none() {
        return;
    }
    let gpu = Gpu::open(&Which::Best).unwrap();
    let before = gpu.compiled();
    let text = "onnxsmith 1 opset 20 graph { %0: f32[2] = variable \"x\" %1: f32[2] = Relu(%0) \
                %2: f64[2] = Cast(%1) {to = f64} %3: f64[2] = Exp(%2) return \"y\" = %3 }";
    let error = gpu.run(&text.parse().unwrap(), &[&wave(DType::F32, &[2])]).unwrap_err();
    assert_eq!((error.node, error.op.as_str()), (3, "Exp"));
    assert_eq!(gpu.compiled(), before);
}

/// The square of a matrix of f32.
fn squared(size: i64) -> Model {
    let text = format!(
        "onnxsmith 1 opset 20 graph {{ %0: f32[{size}, {size}] = variable \"x\" \
         %1: f32[{size}, {size}] = MatMul(%0, %0) return \"y\" = %1 }}"
    );
    text.parse().unwrap()
}

#[test]
fn what_a_device_does_not_finish_or_cannot_do_is_no_refusal_of_the_model() {
    if gpu().is_none() {
        return;
    }
    let fails = |prepare: fn(&mut Gpu)| {
        let mut gpu = Gpu::open(&Which::Best).unwrap();
        prepare(&mut gpu);
        GpuRunner::new("wgpu", gpu).run(&squared(512), &[wave(DType::F32, &[512, 512])]).unwrap_err()
    };
    let late = fails(|gpu| gpu.wait_at_most(Some(Duration::ZERO)));
    assert!(
        matches!(&late, EngineError::Internal(why) if why.contains("did not finish within 0ns")),
        "{late}"
    );
    let broken = fails(|gpu| gpu.rewrite(Box::new(|_| "no shader".to_owned())));
    assert!(
        matches!(&broken, EngineError::Internal(why) if why.contains("failed on the device")),
        "{broken}"
    );
}

#[test]
fn an_adapter_that_gets_the_basics_wrong_does_not_open() {
    if gpu().is_none() {
        return;
    }
    for (right, wrong, told) in [
        ("load_x(i) * 3u + 1u", "load_x(i) * 3u", "arithmetic WRONG"),
        ("select(0u, 1u, is_nan(nan))", "0u", "NaN by bits no"),
    ] {
        let opened =
            Gpu::open_rewriting(&Which::Best, Some(Box::new(move |text| text.replace(right, wrong))));
        let why = opened.expect_err("it is of no use");
        assert!(matches!(&why, GpuError::Open { why, .. } if why.contains(told)), "{why}");
    }
}
