//! What the GPU kernels promise beyond what the conformance suite asks of every backend: numbers that are not finite, rounding
//! to nearest, sums and launches that must be divided, errors that are values. Expectations are computed here, in `f64` or by
//! hand. Without an adapter each test says so and passes: that is the contract of a program that must work without a GPU.
#![allow(missing_docs, reason = "a test binary")]

use std::io::Write;
use std::sync::OnceLock;

use ir::{DType, DTypes, Operation, Tensor, Type};
use onnxsmith_backends::wgpu::{Gpu, GpuError, GpuTensor, Which, adapters};
use ops::Op;

mod casts;
mod elementwise;
mod models;
mod movement;
mod pipelines;
mod products;
mod quantized;
mod reductions;
mod refusals;
mod teams;

/// The device all tests share, or `None` and a note where there is none.
fn gpu() -> Option<&'static Gpu> {
    static GPU: OnceLock<Option<Gpu>> = OnceLock::new();
    let gpu = GPU.get_or_init(|| match Gpu::open(&Which::Best) {
        Ok(gpu) => {
            println!("on {}; {}", gpu.info(), gpu.self_test());
            Some(gpu)
        }
        Err(e) => {
            // Past the test harness, which shows nothing of a test that passes.
            let _ =
                writeln!(std::io::stderr(), "NOT TESTED: kernels in WGSL, as there is no GPU adapter: {e}");
            None
        }
    });
    gpu.as_ref()
}

/// Whether a device has a dtype; where it has not, a line says that this is not tested.
fn has(gpu: &Gpu, dtype: DType) -> bool {
    let has = gpu.capabilities().has(dtype);
    if !has {
        // Past the test harness, which shows nothing of a test that passes.
        let _ = writeln!(std::io::stderr(), "NOT TESTED: {dtype}, which {} does not have", gpu.info());
    }
    has
}

/// A tensor of the given numbers.
fn tensor(dtype: DType, shape: &[usize], values: &[f64]) -> Tensor {
    let shape: Vec<_> = shape.iter().map(|&d| d as i64).collect();
    Tensor::from_f64_fn(&Type::new(dtype, shape), |i| values[i])
}

/// A tensor of integers.
fn integers(dtype: DType, shape: &[usize], values: &[i128]) -> Tensor {
    let shape: Vec<_> = shape.iter().map(|&d| d as i64).collect();
    Tensor::from_i128_fn(&Type::new(dtype, shape), |i| values[i])
}

/// A smooth, sign-changing sequence.
fn wave(dtype: DType, shape: &[usize]) -> Tensor {
    let shape: Vec<_> = shape.iter().map(|&d| d as i64).collect();
    Tensor::from_f64_fn(&Type::new(dtype, shape), |i| ((i * 37 % 101) as f64 - 50.0) / 16.0)
}

fn up(gpu: &Gpu, t: &Tensor) -> GpuTensor {
    gpu.upload(t).unwrap()
}

fn down(gpu: &Gpu, t: &GpuTensor) -> Tensor {
    gpu.download(t).unwrap()
}

/// The first result of an operator, of the type that its rule infers. Where the rule refuses the operands, the kernels are
/// asked all the same, for a result like the first operand.
fn apply(gpu: &Gpu, op: impl Into<Op>, inputs: &[&GpuTensor]) -> Result<GpuTensor, GpuError> {
    let op = op.into();
    let types: Vec<_> = inputs.iter().map(|t| t.ty()).collect();
    let outputs = op.infer(&types.iter().map(Some).collect::<Vec<_>>());
    apply_to(gpu, op, inputs, &outputs.unwrap_or_else(|_| types[..1].to_vec()))
}

/// The first result of an operator whose results have these types.
fn apply_to(
    gpu: &Gpu,
    op: impl Into<Op>,
    inputs: &[&GpuTensor],
    outputs: &[Type],
) -> Result<GpuTensor, GpuError> {
    let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
    Ok(gpu.operator(&op.into(), &inputs, outputs)?.swap_remove(0))
}

/// The type of a tensor of a shape.
fn typed(dtype: DType, shape: &[usize]) -> Type {
    Type::new(dtype, shape.iter().map(|&d| d as i64).collect::<Vec<_>>())
}

/// Fails unless every element is within `abs + rel·|expected|`; NaN matches NaN.
#[track_caller]
fn assert_close(what: &str, got: &[f64], expected: &[f64], abs: f64, rel: f64) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (i, (&g, &e)) in got.iter().zip(expected).enumerate() {
        let near = e.is_finite() && (g - e).abs() <= abs + rel * e.abs();
        let close = g == e || (g.is_nan() && e.is_nan()) || near;
        assert!(close, "{what}: element {i} is {g}, expected {e} (off by {:e})", (g - e).abs());
    }
}

#[test]
fn a_device_opens_and_knows_itself() {
    let Some(gpu) = gpu() else { return };
    let test = gpu.self_test();
    assert!(test.arithmetic && test.nan_by_bits, "{test}");
    assert!(gpu.info().to_string().contains(&gpu.info().name));
}

#[test]
fn an_adapter_that_does_not_exist_is_an_error_value() {
    let error = Gpu::open(&Which::Name("no such adapter".to_owned())).unwrap_err();
    assert!(error.to_string().contains("no such adapter"), "{error}");
    let there: Vec<String> = adapters().iter().map(ToString::to_string).collect();
    assert!(
        there.iter().all(|one| error.to_string().contains(one)),
        "those that are there are listed: {error}"
    );
    assert!(Gpu::open(&Which::Index(usize::MAX)).is_err());
}

#[test]
fn tensors_come_back_as_they_went() {
    let Some(gpu) = gpu() else { return };
    for dtype in DTypes::IR4.iter() {
        for shape in [vec![], vec![0], vec![2, 0, 3], vec![7], vec![1, 2, 3, 2, 1, 2], vec![1000]] {
            let t = integers(dtype, &shape, &(0..1000).map(|i| i * 77 - 300).collect::<Vec<_>>());
            assert_eq!(down(gpu, &up(gpu, &t)), t, "{dtype}");
        }
    }
    let special = tensor(DType::F32, &[4], &[f64::NAN, f64::INFINITY, -0.0, 1e-42]);
    assert_eq!(down(gpu, &up(gpu, &special)), special);
}

#[test]
fn a_shape_of_another_length_is_an_error_value() {
    let Some(gpu) = gpu() else { return };
    let one = up(gpu, &tensor(DType::F32, &[1], &[1.0]));
    assert!(one.reshape(&[2]).is_err());
    assert!(one.reshape(&[usize::MAX, 2]).is_err());
}

#[test]
fn a_tensor_beyond_the_device_is_an_error_value() {
    let Some(gpu) = gpu() else { return };
    let one = up(gpu, &tensor(DType::F32, &[1], &[1.0]));
    // 8 GiB, the most that a type may have.
    let made = apply(gpu, ops::movement::Expand { shape: vec![1 << 15, (1 << 16) - 1] }, &[&one]);
    assert!(matches!(made, Err(GpuError::TooLarge { .. })), "{:?}", made.map(|made| made.ty()));
}
