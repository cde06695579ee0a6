//! One smoke suite for all engines, each in a worker process. What is not built in or not installed is named on
//! standard error, and the suite goes on.

use std::io::Write;
use std::path::Path;

use ir::{DType, DTypes, Datum, Tensor, Type, Wanted};
use onnxsmith_backends::engines;
use ops::Model;
use worker::protocol::WRITTEN;
use worker::{Case, Description, EngineSpec, Limits, Outcome, Source, Worker, WorkerError, set_variable};

/// y = Relu(a + b), greater = a > b, n = k + k; f32, bool and i64.
const MODEL: &[u8] = include_bytes!("models/add_relu.onnx");

/// The repository's root.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The variable by which the Vulkan loader is told of further drivers.
const DRIVERS: &str = "VK_ADD_DRIVER_FILES";

/// Says what is not tested, past the test harness, which shows nothing of a test that passes.
fn not_tested(engine: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "NOT TESTED: engine `{engine}`: {why}");
}

fn start(engine: &str) -> Result<Worker, WorkerError> {
    let program = env!("CARGO_BIN_EXE_engine-worker").into();
    Worker::start(EngineSpec { name: engine.into(), program, args: vec![engine.into()] }, Limits::default())
}

/// Tells workers where `scripts/python-env` put ONNX Runtime, unless the environment already does.
fn find_ort() {
    if std::env::var_os(engines::ORT_LIBRARY).is_some() {
        return;
    }
    if let Some(library) = engines::ort_library(Path::new(ROOT)) {
        set_variable(engines::ORT_LIBRARY, library);
    }
}

/// A worker for each engine that runs here, with the engine's name. The others are named.
fn workers() -> Vec<(String, Worker)> {
    find_ort();
    for name in engines::left_out() {
        not_tested(name, "it is not built in (cargo features add it)");
    }
    let mut found = Vec::new();
    for &name in engines::all() {
        match start(name) {
            Ok(worker) => found.push((name.to_owned(), worker)),
            Err(e) => match engines::needs(name) {
                Some(what) => not_tested(name, &format!("it needs {what}: {e}")),
                None => panic!("{name}: {e}"),
            },
        }
    }
    found.extend(adapters());
    found
}

/// Tells the Vulkan loader where `scripts/swiftshader` put a driver, unless the environment already names one: Dawn
/// takes no older lavapipe, and machines without a GPU have nothing else.
fn with_driver(spec: EngineSpec) -> EngineSpec {
    let driver = format!("{ROOT}/.swiftshader/swiftshader_icd.json");
    if std::env::var_os(DRIVERS).is_some() || !Path::new(&driver).exists() {
        return spec;
    }
    let variable = format!("{DRIVERS}={driver}").into();
    let args = [variable, spec.program.into()].into_iter().chain(spec.args).collect();
    EngineSpec { program: "env".into(), args, name: spec.name }
}

/// A worker for each adapter whose packages are installed.
fn adapters() -> Vec<(String, Worker)> {
    let files = std::fs::read_dir(format!("{ROOT}/adapters")).expect("the repository has adapters").flatten();
    let mut found = Vec::new();
    for file in files {
        let file_name = file.file_name().to_string_lossy().into_owned();
        let Some((name, "" | ".exe" | ".py" | ".mjs")) = file_name.split_once("_runner") else { continue };
        let worker = EngineSpec::adapter(Path::new(ROOT), name)
            .and_then(|spec| Worker::start(with_driver(spec), Limits::default()));
        match worker {
            Ok(worker) => found.push((name.to_owned(), worker)),
            Err(
                why @ (WorkerError::NoPython { .. }
                | WorkerError::Unavailable { .. }
                | WorkerError::Start { .. }),
            ) => not_tested(name, &why.to_string()),
            Err(e) => panic!("{name}: {e}"),
        }
    }
    found
}

fn f32s(shape: &[i64], values: &[f64]) -> Tensor {
    Tensor::from_f64_fn(&Type::new(DType::F32, shape), |i| values[i])
}

fn i64s(values: &[i128]) -> Tensor {
    Tensor::from_i128_fn(&Type::new(DType::I64, [values.len() as i64]), |i| values[i])
}

#[test]
fn every_engine_runs_a_small_model_at_every_level() {
    for (engine, mut worker) in workers() {
        let description = worker.description().clone();
        assert_eq!(description.engine, engine);
        if description.computes_in(DType::I64).is_none() {
            not_tested(&engine, "it has no i64 here");
            continue;
        }
        // In another order than the model's, to see that names decide.
        let inputs = [
            ("k".to_owned(), i64s(&[7, -9])),
            ("b".to_owned(), f32s(&[3], &[0.5, -10.0, 0.0])),
            ("a".to_owned(), f32s(&[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])),
        ];
        let outputs = [("n", DType::I64), ("y", DType::F32), ("greater", DType::Bool)];
        let outputs = outputs.map(|(name, dtype)| Wanted::tensor(name, dtype));
        let greater = Tensor::from_i128_fn(&Type::new(DType::Bool, [2, 3]), |i| i128::from(i > 0));
        let expected = vec![
            ("n".to_owned(), i64s(&[14, -18])),
            ("y".to_owned(), f32s(&[2, 3], &[0.5, 0.0, 2.0, 3.5, 0.0, 5.0])),
            ("greater".to_owned(), greater),
        ];
        let written = description.written.iter().map(|level| format!("{level}{WRITTEN}"));
        for level in description.all_levels().map(str::to_owned).chain(written) {
            let case = Case {
                model: Source::Message(MODEL),
                level: &level,
                inputs: &Datum::of_tensors(&inputs),
                outputs: &outputs,
            };
            let run = worker.run(&case).expect("the worker runs");
            assert_eq!(run.outcome, Outcome::Outputs(expected.clone()), "{engine} at {level}");
            assert!(run.engine_seconds > 0.0 && run.engine_seconds <= run.wall_seconds);
        }
    }
}

/// y = x + w, where `w` is an initializer of 300 elements, all 2.
const LONG: &str = "<ir_version: 8, opset_import: [\"\" : 17]>
    m (float[300] x) => (float[300] y) { w = Identity(v) y = Add(x, w) }";

/// y = x - w, where `w` is 1 unless it is given.
const DEFAULT: &str = "<ir_version: 8, opset_import: [\"\" : 17]>
    m (float[1] x, float[1] w) => (float[1] y) <float[1] w = {1.0}> { v = Neg(w) y = Add(x, v) }";

/// What the worker of an engine that says something gives at each level, by the name of the engine.
fn outputs_where(
    is_meant: impl Fn(&Description) -> bool,
    model: Source<'_>,
    inputs: &[(String, Tensor)],
) -> Vec<(String, Outcome)> {
    let mut all = Vec::new();
    for (engine, mut worker) in workers() {
        let description = worker.description().clone();
        if !is_meant(&description) {
            continue;
        }
        for level in description.all_levels() {
            let outputs = [Wanted::tensor("y", DType::F32)];
            let case = Case { model, level, inputs: &Datum::of_tensors(inputs), outputs: &outputs };
            let outcome = worker.run(&case).expect("the worker runs").outcome;
            all.push((format!("{engine} at {level}"), outcome));
        }
    }
    all
}

#[test]
fn an_engine_that_says_so_takes_a_model_with_data_in_a_file_beside_it() {
    let long = |value: f64| f32s(&[300], &[value; 300]);
    let mut model = onnx::text::parse(LONG).expect("a text");
    let graph = model.graph.as_mut().expect("a graph");
    graph.initializer.push(onnx::tensor::to_proto("v", &long(2.0)));
    let folder = tempfile::tempdir().expect("a folder");
    let path = onnx::external::spill(&onnx::encode(&model), folder.path()).expect("files");
    let expected = Outcome::Outputs(vec![("y".to_owned(), long(5.0))]);
    let inputs = [("x".to_owned(), long(3.0))];
    for (engine, outcome) in outputs_where(|is| is.files, Source::File(&path), &inputs) {
        assert_eq!(outcome, expected, "{engine}");
    }
}

#[test]
fn an_engine_that_says_so_takes_a_value_in_place_of_a_default() {
    let model = onnx::encode(&onnx::text::parse(DEFAULT).expect("a text"));
    let inputs = [("x".to_owned(), f32s(&[1], &[3.0])), ("w".to_owned(), f32s(&[1], &[7.0]))];
    let expected = Outcome::Outputs(vec![("y".to_owned(), f32s(&[1], &[-4.0]))]);
    for (engine, outcome) in outputs_where(|is| is.overrides_defaults, Source::Message(&model), &inputs) {
        // A finding: corpus/oxionnx-0.1/default-folded.
        assert_eq!(outcome == expected, engine != "oxionnx at all", "{engine}: {outcome:?}");
    }
}

#[test]
fn every_engine_refuses_nonsense_cleanly() {
    for (engine, mut worker) in workers() {
        let process = worker.process_id();
        let level = worker.description().levels[0].clone();
        let case = Case {
            model: Source::Message(b"\xff\xff not a model"),
            level: &level,
            inputs: &[],
            outputs: &[],
        };
        let outcome = worker.run(&case).expect("the worker runs").outcome;
        assert!(matches!(outcome, Outcome::Rejected { .. }), "{engine}: {outcome:?}");
        let case = Case { model: Source::Message(MODEL), level: "no such level", inputs: &[], outputs: &[] };
        let outcome = worker.run(&case).expect("the worker runs").outcome;
        assert!(!matches!(outcome, Outcome::Outputs(_) | Outcome::Fault(_)), "{engine}: {outcome:?}");
        assert_eq!(worker.process_id(), process);
    }
}

/// A model whose output is its input, on any dtype: `y = Identity(x)`, or by way of f32 where there is no Identity.
fn identity(ty: &Type) -> Vec<u8> {
    if DTypes::IR4.contains(ty.dtype) {
        return on_x(ty, "Identity(%0)");
    }
    let wide = ty.with_dtype(DType::F32);
    let dtype = ty.dtype;
    encoded(&format!(
        "onnxsmith 1 opset 25\ngraph {{\n  %0: {ty} = variable \"x\"\n  %1: {wide} = Cast(%0) {{to = f32}}\n  \
         %2: {ty} = Cast(%1) {{to = {dtype}}}\n  return \"y\" = %2\n}}\n"
    ))
}

/// A model of one operator, `y`, on one input, `x`, of the same type.
fn on_x(ty: &Type, operator: &str) -> Vec<u8> {
    encoded(&format!(
        "onnxsmith 1 opset 17\ngraph {{\n  %0: {ty} = variable \"x\"\n  %1: {ty} = {operator}\n  return \"y\" = %1\n}}\n"
    ))
}

/// The bytes of a model in its text form.
fn encoded(text: &str) -> Vec<u8> {
    let model: Model = text.parse().expect("the text is a model");
    onnx::export::encode(&onnx::export::export(&model).expect("the model is valid"))
}

#[test]
fn every_dtype_an_engine_accepts_survives_the_way_there_and_back() {
    for (engine, mut worker) in workers() {
        let description = worker.description().clone();
        let level = description.levels.last().expect("there is a level");
        for dtype in DType::ALL.into_iter().filter(|&d| description.computes_in(d).is_some()) {
            for shape in [&[2, 3][..], &[], &[0, 2]] {
                let ty = Type::new(dtype, shape);
                let x = vec![("x".to_owned(), Tensor::from_i128_fn(&ty, |i| i as i128 % 2))];
                let outputs = [Wanted::tensor("y", dtype)];
                let case = Case {
                    model: Source::Message(&identity(&ty)),
                    level,
                    inputs: &Datum::of_tensors(&x),
                    outputs: &outputs,
                };
                match worker.run(&case).expect("the worker runs").outcome {
                    Outcome::Outputs(y) => assert_eq!(y[0].1, x[0].1, "{engine} on {ty}"),
                    // An engine may lack a kernel for an exotic dtype, or empty tensors.
                    Outcome::Unsupported { .. } if dtype != DType::F32 || shape.contains(&0) => {}
                    // ONNX's reference evaluator fails on scalars that become powers of two.
                    Outcome::Rejected { .. }
                        if engine == "onnx_reference" && ty == Type::new(DType::F8E8M0, []) => {}
                    other => panic!("{engine} on {ty}: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn an_unknown_operator_and_a_missing_input_are_clean_errors() {
    let ty = Type::new(DType::F32, [2]);
    let known = identity(&ty);
    let at = known.windows(8).position(|w| w == b"Identity").expect("the operator's name is in the bytes");
    let mut unknown = known.clone();
    unknown[at..at + 8].copy_from_slice(b"Idontity");
    let x = [("x".to_owned(), f32s(&[2], &[1.0, 2.0]))];
    let outputs = [Wanted::tensor("y", DType::F32)];
    for (engine, mut worker) in workers() {
        let level = worker.description().levels[0].clone();
        for (model, inputs) in [(&unknown, &x[..]), (&known, &[])] {
            let case = Case {
                model: Source::Message(model),
                level: &level,
                inputs: &Datum::of_tensors(inputs),
                outputs: &outputs,
            };
            let outcome = worker.run(&case).expect("the worker runs").outcome;
            assert!(!matches!(outcome, Outcome::Outputs(_) | Outcome::Fault(_)), "{engine}: {outcome:?}");
        }
    }
}

#[test]
#[cfg(feature = "rten")]
fn rten_says_what_it_calculates_in() {
    let mut worker = start("rten").expect("the engine starts");
    assert_eq!(worker.description().computes_in(DType::I64), Some(DType::I32));
    assert_eq!(worker.description().computes_in(DType::BF16), None);
    let inputs = [
        ("k".to_owned(), i64s(&[1 << 40, 0])),
        ("b".to_owned(), f32s(&[3], &[0.0; 3])),
        ("a".to_owned(), f32s(&[2, 3], &[0.0; 6])),
    ];
    let outputs = [Wanted::tensor("y", DType::F32)];
    let case = Case {
        model: Source::Message(MODEL),
        level: "none",
        inputs: &Datum::of_tensors(&inputs),
        outputs: &outputs,
    };
    let Outcome::Unsupported { why } = worker.run(&case).expect("the worker runs").outcome else { panic!() };
    assert!(why.contains("`k`") && why.contains("1099511627776"), "{why}");
}

#[test]
#[cfg(feature = "tract")]
fn tract_says_what_it_cannot_write() {
    let mut worker = start("tract").expect("the engine starts");
    let model = on_x(&Type::new(DType::I32, [2]), "Mod(%0, %0) {fmod = 0}");
    let x = Tensor::from_i128_fn(&Type::new(DType::I32, [2]), |i| 1 + i as i128);
    let inputs = [("x".to_owned(), x)];
    let outputs = [Wanted::tensor("y", DType::I32)];
    let mut run = |level: &str| {
        let case = Case {
            model: Source::Message(&model),
            level,
            inputs: &Datum::of_tensors(&inputs),
            outputs: &outputs,
        };
        worker.run(&case).expect("the worker runs").outcome
    };
    assert!(matches!(run("declutter"), Outcome::Outputs(_)));
    // Its NNEF has no remainder, and nothing that `optimize` makes.
    for (level, said) in [("declutter", "No serializer"), ("optimize", "no optimisation level")] {
        let Outcome::Unsupported { why } = run(&format!("{level}{WRITTEN}")) else { panic!("{level}") };
        assert!(why.contains(said), "{why}");
    }
}

/// ONNX Runtime's CPU provider has Det, and would run it for one that has not.
#[test]
fn the_webgpu_provider_leaves_nothing_to_the_cpu() {
    let Some((_, mut worker)) = adapters().into_iter().find(|(name, _)| name == "onnxruntime_webgpu") else {
        return;
    };
    let model = encoded(
        "onnxsmith 1 opset 17\ngraph {\n  %0: f32[1, 1] = variable \"x\"\n  %1: f32[] = Det(%0)\n  return \"y\" = %1\n}\n",
    );
    let x = [("x".to_owned(), f32s(&[1, 1], &[1.0]))];
    let outputs = [Wanted::tensor("y", DType::F32)];
    for level in worker.description().levels.clone() {
        let case = Case {
            model: Source::Message(&model),
            level: &level,
            inputs: &Datum::of_tensors(&x),
            outputs: &outputs,
        };
        let outcome = worker.run(&case).expect("the worker runs").outcome;
        assert!(matches!(outcome, Outcome::Unsupported { .. }), "{level}: {outcome:?}");
    }
}
