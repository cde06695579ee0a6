//! The CPU kernels beyond what the conformance suite asks of every backend: what is undefined, errors, whole models, the engine.

use graphgen::{Settings, Weights, generate};
use ir::{Attributes, DType, Datum, Operation, Stream, Tensor, Type, Wanted};
use onnxsmith_backends::cpu::{Cpu, CpuEngine, CpuError, NodeRunner, RunError, run_model, run_node};
use ops::Op;
use rand::RngExt;
use worker::{Case, Engine, EngineError, Source};

/// Elements between −4 and 4.
fn elements(ty: &Type, stream: Stream) -> Tensor {
    let mut rng = stream.rng();
    if ty.dtype.is_float() {
        Tensor::from_f64_fn(ty, |_| rng.random_range(-4.0..=4.0))
    } else {
        let low = if ty.dtype.is_signed() { -4 } else { 0 };
        Tensor::from_i128_fn(ty, |_| rng.random_range(low..=4))
    }
}

fn op(name: &str, attributes: &Attributes) -> Op {
    Op::parse(name, attributes).expect("a known operator").expect("legal attributes")
}

fn tensor(dtype: DType, shape: &[i64], values: &[f64]) -> Tensor {
    let ty = Type::new(dtype, shape);
    if dtype.is_float() {
        Tensor::from_f64_fn(&ty, |i| values[i])
    } else {
        Tensor::from_i128_fn(&ty, |i| values[i] as i128)
    }
}

/// The first output of an operator.
fn run(op: &Op, operands: &[&Tensor]) -> Result<Vec<f64>, CpuError> {
    let types: Vec<Type> = operands.iter().map(|t| t.ty()).collect();
    let outputs = op.infer(&types.iter().map(Some).collect::<Vec<_>>()).expect("operands that fit");
    let operands: Vec<Option<&Tensor>> = operands.iter().copied().map(Some).collect();
    let y = run_node(op, &operands, &outputs)?;
    Ok(if y[0].dtype().is_float() {
        y[0].to_f64s()
    } else {
        y[0].to_i128s().into_iter().map(|z| z as f64).collect()
    })
}

#[test]
fn one_scale_in_a_list_is_for_all_of_a_list() {
    let none = Attributes::new();
    let (scale, point) = (tensor(DType::F32, &[1], &[2.0]), tensor(DType::U8, &[1], &[1.0]));
    let x = tensor(DType::F32, &[3], &[6.0, 12.0, 18.0]);
    assert_eq!(run(&op("QuantizeLinear", &none), &[&x, &scale, &point]).unwrap(), [4.0, 7.0, 10.0]);
    let x = tensor(DType::U8, &[3], &[4.0, 7.0, 0.0]);
    assert_eq!(run(&op("DequantizeLinear", &none), &[&x, &scale, &point]).unwrap(), [6.0, 12.0, -2.0]);
}

#[test]
fn undefined_integers_do_not_panic() {
    let none = Attributes::new();
    for dtype in ir::DTypes::INTS.iter() {
        let (low, _) = dtype.int_range().expect("an integer");
        let least = Tensor::from_i128_fn(&Type::new(dtype, [2]), |_| low);
        let by = tensor(dtype, &[2], &[0.0, -1.0]);
        for name in ["Div", "Mul", "Sub"] {
            run(&op(name, &none), &[&least, &by]).expect("a result");
        }
        assert_eq!(run(&op("Div", &none), &[&least, &by]).unwrap()[0], 0.0);
        assert_eq!(run(&op("Mod", &none), &[&least, &by]).unwrap()[0], 0.0);
        run(&op("Abs", &none), &[&least]).expect("a result");
    }
    let shift = op("BitShift", &Attributes::new().name("direction", "LEFT"));
    let [x, far] = [3.0, 9.0].map(|v| tensor(DType::U8, &[1], &[v]));
    assert_eq!(run(&shift, &[&x, &far]).unwrap(), [0.0]);
}

#[test]
fn an_index_out_of_range_is_an_error() {
    let x = tensor(DType::F32, &[3], &[1.0, 2.0, 3.0]);
    let gather = op("Gather", &Attributes::new());
    assert_eq!(run(&gather, &[&x, &tensor(DType::I64, &[2], &[-1.0, 0.0])]), Ok(vec![3.0, 1.0]));
    let found = run(&gather, &[&x, &tensor(DType::I64, &[1], &[3.0])]);
    assert_eq!(found, Err(CpuError::Index { operand: 1, index: 3, size: 3 }));
}

#[test]
fn nothing_is_padded_without_memory() {
    // Runs of no elements, more than memory holds.
    let x = tensor(DType::F32, &[1000, 1000, 1000, 0], &[]);
    let pads = Attributes::new().ints("pads", &[1, 1, 1, 0, 1, 1, 1, 0]);
    assert_eq!(run(&op("Pad", &pads), &[&x]).unwrap(), [0.0; 0]);
}

#[test]
fn roots_and_logarithms_of_integers_saturate() {
    let none = Attributes::new();
    for dtype in [DType::I32, DType::I64] {
        let (low, high) = dtype.int_range().expect("an integer");
        // Two squares of 2^(bits/2 - 1) wrap to the least integer.
        let side = (1i64 << (dtype.bits() / 2 - 1)) as f64;
        let x = tensor(dtype, &[2], &[side, side]);
        assert_eq!(run(&op("ReduceL2", &none), &[&x]), Ok(vec![0.0]));
        let zeros = tensor(dtype, &[2], &[0.0, 0.0]);
        assert_eq!(run(&op("ReduceLogSum", &none), &[&zeros]), Ok(vec![low as f64]));
        let most = Tensor::from_i128_fn(&Type::new(dtype, [2]), |_| high);
        assert_eq!(run(&op("ReduceLogSumExp", &none), &[&most]), Ok(vec![high as f64]));
    }
}

/// Inputs for every variable of a model.
fn inputs(model: &ops::Model, seed: u64) -> Vec<Tensor> {
    let stream = Stream::new(seed).child("inputs");
    let variables = model.graph.variables();
    variables.map(|(id, _, ty)| elements(ty, stream.at(u64::from(id.0)))).collect()
}

#[test]
fn whole_models_run_and_calls_are_transparent() {
    let (mut called, mut compared) = (0, 0);
    for seed in 0..40 {
        let movement = ["Transpose", "Reshape", "Concat", "Split", "Add", "Neg", "Where", "Expand"];
        let settings = Settings {
            nodes: 8,
            operators: movement.into(),
            function: 1.0,
            max_elements: 256,
            ..Settings::default()
        };
        let with = generate(&settings, &Weights, Stream::new(seed)).model;
        let without = generate(&Settings { function: 0.0, ..settings }, &Weights, Stream::new(seed)).model;
        called += with.functions.len();
        let outputs = run_model(&with, &inputs(&with, seed), &mut Cpu).expect("a valid model");
        let types: Vec<Type> = outputs.iter().map(Tensor::ty).collect();
        let declared: Vec<Type> = with.graph.outputs.iter().map(|o| with.graph.ty(o.value).clone()).collect();
        assert_eq!(types, declared, "seed {seed}");
        // Extracting a function keeps the order of variables, if not their positions.
        let variables = |model: &ops::Model| model.graph.variables().map(|v| v.2.clone()).collect::<Vec<_>>();
        if variables(&with) == variables(&without) {
            let found = run_model(&without, &inputs(&with, seed), &mut Cpu).expect("a valid model");
            assert_eq!(found, outputs, "seed {seed}");
            compared += 1;
        }
    }
    assert!(called > 5 && compared > 5, "only {called} functions, {compared} compared");
}

#[test]
fn the_engine_runs_onnx_by_names() {
    let settings = Settings { nodes: 6, function: 1.0, max_elements: 128, ..Settings::default() };
    let mut ran = 0;
    for seed in 0..20 {
        let model = generate(&settings, &Weights, Stream::new(seed)).model;
        let given = inputs(&model, seed);
        let Ok(expected) = run_model(&model, &given, &mut Cpu) else { continue };
        let bytes = onnx::encode(&onnx::export(&model).expect("an exportable model"));
        let names = model.graph.variables().map(|(_, name, _)| name.to_owned());
        let inputs: Vec<(String, Tensor)> = names.zip(given).collect();
        // Asked for in another order than the graph's.
        let expected = expected.into_iter().map(Datum::Tensor);
        let mut wanted: Vec<(String, Datum)> =
            model.graph.outputs.iter().map(|o| o.name.clone()).zip(expected).collect();
        wanted.reverse();
        let outputs = wanted.iter().map(|(name, datum)| {
            Wanted::tensor(name, datum.tensor().expect("all outputs are tensors").dtype())
        });
        let (inputs, outputs) = (Datum::of_tensors(&inputs), outputs.collect::<Vec<_>>());
        let case =
            Case { model: Source::Message(&bytes), level: "default", inputs: &inputs, outputs: &outputs };
        assert_eq!(CpuEngine::default().run(&case), Ok(wanted), "seed {seed}");
        ran += 1;
    }
    assert!(ran > 10, "only {ran} models ran");
    let garbage = Case { model: Source::Message(&[0xff; 8]), level: "default", inputs: &[], outputs: &[] };
    assert!(matches!(CpuEngine::default().run(&garbage), Err(EngineError::Load(_))));
}

/// A runner with one wrong kernel, which gives its operand's type.
struct Wrong;

impl NodeRunner for Wrong {
    type Error = CpuError;

    fn run_node(
        &mut self,
        op: &Op,
        inputs: &[Option<&Tensor>],
        outputs: &[Type],
    ) -> Result<Vec<Tensor>, CpuError> {
        match op {
            Op::Transpose(_) => Ok(inputs.iter().flatten().copied().cloned().collect()),
            _ => Cpu.run_node(op, inputs, outputs),
        }
    }
}

#[test]
fn a_runner_can_stand_in_for_one_operator() {
    let mut graph = ops::Graph::new();
    let x = graph.variable("x", Type::new(DType::F32, [1, 2]));
    let y = graph.operator(op("Transpose", &Attributes::new()), &[Some(x)]).unwrap();
    graph.output("y", ir::Value::new(y, 0));
    let model = ops::Model::new(21, graph);
    let x = tensor(DType::F32, &[1, 2], &[1.0, 2.0]);
    let wrong = run_model(&model, std::slice::from_ref(&x), &mut Wrong);
    assert!(matches!(wrong, Err(RunError::Outputs { node: 1, op: "Transpose", .. })), "{wrong:?}");
    assert_eq!(run_model(&model, &[x], &mut Cpu).unwrap()[0].shape(), [2, 1]);
    assert!(matches!(run_model(&model, &[], &mut Cpu), Err(RunError::Arity { given: 0, wanted: 1 })));
}
