//! One smoke test for all built-in engines: a hand-made model at every level, in a worker process.

use ir::{DType, Tensor, Type};
use onnxsmith_backends::engines;
use onnxsmith_backends::worker::{Case, Limits, Outcome, Spec, Worker};

/// y = Relu(a + b), greater = a > b, n = k + k; f32, bool and i64.
const MODEL: &[u8] = include_bytes!("models/add_relu.onnx");

fn worker(engine: &str) -> Worker {
    let program = env!("CARGO_BIN_EXE_chaos-worker").into();
    let spec = Spec { name: engine.into(), program, args: vec![engine.into()] };
    Worker::start(spec, Limits::default()).expect("the engine starts")
}

/// The engines that run here: without a GPU adapter `wgpu` does not, and says so.
fn engines_here() -> impl Iterator<Item = &'static str> {
    let no_adapter = onnxsmith_backends::wgpu::adapters().is_empty();
    if no_adapter {
        println!("no GPU adapter: wgpu is not tested");
    }
    engines::all().iter().copied().filter(move |name| !(no_adapter && *name == engines::gpu::NAME))
}

fn f32s(shape: &[i64], values: &[f64]) -> Tensor {
    Tensor::from_f64_fn(&Type::new(DType::F32, shape), |i| values[i])
}

fn i64s(values: &[i128]) -> Tensor {
    Tensor::from_i128_fn(&Type::new(DType::I64, [values.len() as i64]), |i| values[i])
}

#[test]
fn every_engine_runs_a_small_model_at_every_level() {
    for engine in engines_here() {
        let mut worker = worker(engine);
        let description = worker.description().clone();
        assert_eq!(description.engine, engine);
        // In another order than the model's, to see that names decide.
        let inputs = [
            ("k".to_owned(), i64s(&[7, -9])),
            ("b".to_owned(), f32s(&[3], &[0.5, -10.0, 0.0])),
            ("a".to_owned(), f32s(&[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])),
        ];
        let outputs = [("n", DType::I64), ("y", DType::F32), ("greater", DType::Bool)];
        let outputs = outputs.map(|(name, dtype)| (name.to_owned(), dtype));
        let greater = Tensor::from_i128_fn(&Type::new(DType::Bool, [2, 3]), |i| i128::from(i > 0));
        let expected = vec![
            ("n".to_owned(), i64s(&[14, -18])),
            ("y".to_owned(), f32s(&[2, 3], &[0.5, 0.0, 2.0, 3.5, 0.0, 5.0])),
            ("greater".to_owned(), greater),
        ];
        for level in &description.levels {
            let case = Case { model: MODEL, level, inputs: &inputs, outputs: &outputs };
            let run = worker.run(&case).expect("the worker runs");
            assert_eq!(run.outcome, Outcome::Outputs(expected.clone()), "{engine} at {level}");
            assert!(run.engine_seconds > 0.0 && run.engine_seconds <= run.wall_seconds);
        }
    }
}

#[test]
fn every_engine_refuses_nonsense_cleanly() {
    for engine in engines_here() {
        let mut worker = worker(engine);
        let process = worker.process_id();
        let level = worker.description().levels[0].clone();
        let case = Case { model: b"\xff\xff not a model", level: &level, inputs: &[], outputs: &[] };
        let outcome = worker.run(&case).expect("the worker runs").outcome;
        assert!(matches!(outcome, Outcome::Rejected { .. }), "{engine}: {outcome:?}");
        let case = Case { model: MODEL, level: "no such level", inputs: &[], outputs: &[] };
        let outcome = worker.run(&case).expect("the worker runs").outcome;
        assert!(!matches!(outcome, Outcome::Outputs(_) | Outcome::Fault(_)), "{engine}: {outcome:?}");
        assert_eq!(worker.process_id(), process);
    }
}

#[test]
#[cfg(feature = "rten")]
fn rten_says_what_it_calculates_in() {
    let mut worker = worker("rten");
    assert_eq!(worker.description().computes_in(DType::I64), Some(DType::I32));
    assert_eq!(worker.description().computes_in(DType::BF16), None);
    let inputs = [
        ("k".to_owned(), i64s(&[1 << 40, 0])),
        ("b".to_owned(), f32s(&[3], &[0.0; 3])),
        ("a".to_owned(), f32s(&[2, 3], &[0.0; 6])),
    ];
    let outputs = [("y".to_owned(), DType::F32)];
    let case = Case { model: MODEL, level: "none", inputs: &inputs, outputs: &outputs };
    let Outcome::Unsupported { why } = worker.run(&case).expect("the worker runs").outcome else { panic!() };
    assert!(why.contains("`k`") && why.contains("1099511627776"), "{why}");
}
