//! The kernels that a campaign spends its time in.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ir::{DType, Operation, Tensor, Type};
use onnxsmith_backends::cpu::run_node;
use ops::Op;

/// Runs an operator on f32 operands of these shapes; `flops` is the work of one run.
fn bench(criterion: &mut Criterion, name: &str, attributes: &ir::Attributes, shapes: &[&[i64]], flops: u64) {
    let op = Op::parse(name, attributes).expect("a known operator").expect("legal attributes");
    let types: Vec<Type> = shapes.iter().map(|&s| Type::new(DType::F32, s)).collect();
    let outputs = op.infer(&types.iter().map(Some).collect::<Vec<_>>()).expect("operands that fit");
    let tensors: Vec<Tensor> =
        types.iter().map(|ty| Tensor::from_f64_fn(ty, |i| (i % 17) as f64 / 8.0 - 1.0)).collect();
    let inputs: Vec<Option<&Tensor>> = tensors.iter().map(Some).collect();
    let mut group = criterion.benchmark_group("cpu");
    group.throughput(Throughput::Elements(flops));
    group.bench_function(name, |b| b.iter(|| run_node(&op, &inputs, &outputs)));
    group.finish();
}

fn kernels(criterion: &mut Criterion) {
    let none = ir::Attributes::new();
    bench(criterion, "MatMul", &none, &[&[256, 256], &[256, 256]], 2 * 256 * 256 * 256);
    let conv = ir::Attributes::new().ints("pads", &[1, 1, 1, 1]);
    bench(criterion, "Conv", &conv, &[&[1, 32, 56, 56], &[32, 32, 3, 3]], 2 * 32 * 32 * 9 * 56 * 56);
    bench(criterion, "Add", &none, &[&[64, 1, 1024], &[16, 1024]], 64 * 16 * 1024);
    bench(criterion, "Softmax", &none, &[&[256, 1024]], 256 * 1024);
}

criterion_group!(benches, kernels);
criterion_main!(benches);
