//! Kernels in which a workgroup works together against those in which each invocation works alone, on the fastest adapter.
//! A time is that of one operator on operands that are on the device, until a number that is computed behind it is back: its own
//! result stays there, since the way back would take longer than most kernels.

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use ir::{DType, Operation, Tensor, Type};
use onnxsmith_backends::wgpu::{Gpu, GpuTensor, Teamwork, Which};
use ops::Op;

/// An operator on f32 operands of these shapes, in both manners.
fn bench(
    criterion: &mut Criterion,
    gpu: &mut Gpu,
    name: &str,
    attributes: &ir::Attributes,
    shapes: &[&[i64]],
) {
    let op = Op::parse(name, attributes).expect("a known operator").expect("legal attributes");
    let types: Vec<Type> = shapes.iter().map(|&s| Type::new(DType::F32, s)).collect();
    let outputs = op.infer(&types.iter().map(Some).collect::<Vec<_>>()).expect("operands that fit");
    let tensor = |ty| Tensor::from_f64_fn(ty, |i| (i % 17) as f64 / 8.0 - 1.0);
    let operands: Vec<GpuTensor> =
        types.iter().map(|ty| gpu.upload(&tensor(ty)).expect("memory for the operands")).collect();
    let inputs: Vec<Option<&GpuTensor>> = operands.iter().map(Some).collect();
    let number =
        gpu.upload(&Tensor::from_f64_fn(&Type::new(DType::F32, [1]), |_| 1.0)).expect("memory for a number");
    let last = Op::parse("Neg", &ir::Attributes::new()).expect("a known operator").expect("legal attributes");
    let mut group = criterion.benchmark_group(format!("wgpu/{name} {shapes:?}"));
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(1));
    for (manner, teamwork) in [("alone", Teamwork::Never), ("together", Teamwork::Always)] {
        gpu.team(teamwork);
        let run = || {
            gpu.operator(&op, &inputs, &outputs)?;
            gpu.download(&gpu.operator(&last, &[Some(&number)], &[number.ty()])?[0])
        };
        group.bench_function(manner, |b| b.iter(|| run().expect("a kernel that runs")));
    }
    group.finish();
}

fn kernels(criterion: &mut Criterion) {
    let mut gpu = match Gpu::open(&Which::Best) {
        Ok(gpu) => gpu,
        Err(e) => return println!("no GPU adapter: {e}"),
    };
    println!("on {}", gpu.info());
    let none = ir::Attributes::new();
    for size in [16, 64, 256, 1024, 4096] {
        bench(criterion, &mut gpu, "MatMul", &none, &[&[size, size], &[size, size]]);
    }
    let conv = ir::Attributes::new().ints("pads", &[1, 1, 1, 1]);
    for (channels, size) in [(4, 14), (32, 56), (256, 56), (256, 224)] {
        let shapes: [&[i64]; 2] = [&[1, channels, size, size], &[channels, channels, 3, 3]];
        bench(criterion, &mut gpu, "Conv", &conv, &shapes);
    }
    let last = ir::Attributes::new().ints("axes", &[1]);
    for (lanes, length) in [(16, 256), (16, 4096), (16, 200_000), (16_384, 256), (1, 1 << 24)] {
        bench(criterion, &mut gpu, "ReduceSum", &last, &[&[lanes, length]]);
    }
}

criterion_group!(benches, kernels);
criterion_main!(benches);
