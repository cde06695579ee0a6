//! The CPU kernels against the reference and its bounds, operator by operator; and rules that are easy to get wrong.

use graphgen::{Settings, Weights, generate};
use interp::{Profile, Taps, evaluate, judge};
use ir::{Attributes, DType, NodeKind, Operation, Stream, Tensor, Type};
use onnxsmith_backends::Support;
use onnxsmith_backends::cpu::{Cpu, CpuEngine, CpuError, NodeRunner, RunError, run_model, run_node, support};
use ops::{Hazard, Op, Operator};
use rand::RngExt;
use worker::{Case, Engine, EngineError};

/// Elements on which the operator is defined: small, of both signs, and no two of them alike where they can differ.
fn elements(ty: &Type, hazards: &[Hazard], operand: usize, stream: Stream) -> Tensor {
    let mut rng = stream.rng();
    let (mut low, mut high, mut zero) = (-4.0, 4.0, true);
    for hazard in hazards {
        match *hazard {
            Hazard::Outside { operand: o, low: l, high: h }
            | Hazard::Perhaps { operand: o, low: l, high: h }
                if o == operand =>
            {
                (low, high) = if l > high { (l, l + 4.0) } else { (f64::max(low, l), f64::min(high, h)) };
            }
            Hazard::Zero { operand: o } if o == operand => zero = false,
            _ => {}
        }
    }
    if ty.dtype.is_float() {
        let mut draw = || {
            let v: f64 = rng.random_range(low..=high);
            if zero || v.abs() > 0.25 { v } else { 1.0 }
        };
        Tensor::from_f64_fn(ty, |_| draw())
    } else {
        let low = if ty.dtype.is_signed() { low.ceil() } else { low.ceil().max(0.0) };
        let (low, high) = (low as i128, high.floor() as i128);
        let mut draw = || {
            let v: i128 = rng.random_range(low..=high.max(low));
            if zero || v != 0 { v } else { 1 }
        };
        Tensor::from_i128_fn(ty, |_| draw())
    }
}

/// A use of an operator on variables alone, as a model.
fn alone(op: &Op, types: &[Option<&Type>], opset: u32) -> ops::Model {
    let mut graph = ops::Graph::new();
    let inputs: Vec<_> = (0..)
        .zip(types)
        .map(|(i, ty)| ty.map(|ty: &Type| graph.variable(format!("x{i}"), ty.clone())))
        .collect();
    let node = graph.operator(op.clone(), &inputs).expect("a node of a valid graph");
    for port in 0..graph.node(node).outputs.len() {
        graph.output(format!("y{port}"), ir::Value::new(node, port));
    }
    ops::Model::new(opset, graph)
}

/// Judges a node's outputs by their bounds; gives the number of elements that there was a bound for.
fn compare(
    op: &Op,
    types: &[Option<&Type>],
    opset: u32,
    operands: &[Option<&Tensor>],
    found: &[Tensor],
) -> Result<usize, String> {
    let inputs: Vec<Tensor> = operands.iter().flatten().copied().cloned().collect();
    let expected = evaluate(&alone(op, types, opset), &inputs, &Profile::TIGHT, Taps::Outputs)
        .map_err(|e| e.to_string())?;
    let mut bounded = 0;
    for (wanted, found) in expected.outputs.iter().zip(found) {
        let comparison = judge(wanted, found, &Profile::TIGHT).map_err(|e| e.to_string())?;
        if let Some(worst) = &comparison.worst {
            return Err(format!("{worst:?}"));
        }
        bounded += comparison.compared();
    }
    Ok(bounded)
}

/// A few nodes of one operator, in a graph of its own.
fn drawn(name: &'static str, opset: u32, seed: u64) -> ops::Graph {
    let settings = Settings {
        opset,
        nodes: 1 + seed as usize % 3,
        operators: [name].into(),
        empty_dims: f64::from(u8::from(seed.is_multiple_of(4))),
        backward: 0.5,
        function: 0.0,
        max_elements: 256,
        ..Settings::default()
    };
    generate(&settings, &Weights, Stream::new(seed)).model.graph
}

#[test]
fn every_kernel_agrees_with_the_reference() {
    let mut failures = Vec::new();
    for spec in ops::drawn() {
        let (mut checked, mut bounded) = (0, 0);
        for (seed, opset) in (0..48).zip([13, 17, 21, 24, 26].into_iter().cycle()) {
            let graph = drawn(spec.name, opset, seed);
            for (id, node) in graph.iter() {
                let NodeKind::Operator(op) = &node.kind else { continue };
                let types: Vec<Option<&Type>> = node.inputs.iter().map(|v| v.map(|v| graph.ty(v))).collect();
                if !support(op, &types).is_yes() {
                    continue;
                }
                let hazards = op.hazards(&types);
                let stream = Stream::new(seed).child("values").at(u64::from(id.0));
                let tensors: Vec<Option<Tensor>> = types
                    .iter()
                    .enumerate()
                    .map(|(i, ty)| ty.map(|ty| elements(ty, &hazards, i, stream.at(i as u64))))
                    .collect();
                let operands: Vec<Option<&Tensor>> = tensors.iter().map(Option::as_ref).collect();
                let result = run_node(op, &operands, &node.outputs).map_err(|e| e.to_string());
                checked += 1;
                match result.and_then(|found| compare(op, &types, opset, &operands, &found)) {
                    Ok(compared) => bounded += compared,
                    Err(why) => failures
                        .push(format!("{} seed {seed} opset {opset}: {why}\n  {op:?} {types:?}", op.name())),
                }
            }
        }
        assert!(checked >= 20, "{} was checked only {checked} times", spec.name);
        assert!(bounded > 0, "nothing of {} was compared", spec.name);
    }
    assert!(
        failures.is_empty(),
        "{} failures, such as\n{}",
        failures.len(),
        failures[..failures.len().min(12)].join("\n")
    );
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
fn nan_passes_through_what_chooses() {
    let (none, nan) = (Attributes::new(), f64::NAN);
    for dtype in ir::DTypes::FLOATS.iter() {
        let x = tensor(dtype, &[3], &[nan, 1.0, -1.0]);
        let y = tensor(dtype, &[3], &[0.0, nan, 0.0]);
        for name in ["Min", "Max"] {
            let z = run(&op(name, &none), &[&x, &y]).unwrap();
            assert!(z[0].is_nan() && z[1].is_nan() && !z[2].is_nan(), "{name} {dtype}");
        }
        for name in ["Relu", "Sign", "HardSwish", "Mish", "Softplus", "Sigmoid"] {
            let z = run(&op(name, &none), &[&x]).unwrap();
            assert!(z[0].is_nan() && !z[1].is_nan(), "{name} {dtype}");
        }
        assert!(run(&op("ReduceMax", &none), &[&x]).unwrap()[0].is_nan());
        assert_eq!(run(&op("ArgMax", &none), &[&x]).unwrap(), [0.0]);
        let [low, high] = [-0.5, 0.5].map(|v| tensor(dtype, &[], &[v]));
        let clipped = run(&op("Clip", &none), &[&x, &low, &high]).unwrap();
        assert!(clipped[0].is_nan() && clipped[1..] == [0.5, -0.5]);
    }
}

#[test]
fn activations_hold_far_out() {
    let x = tensor(DType::F32, &[3], &[-95.0, 95.0, -3.0]);
    for (name, wanted) in [
        ("Sigmoid", [(-95f64).exp(), 1.0, 1.0 / (1.0 + 3f64.exp())]),
        ("Softplus", [(-95f64).exp(), 95.0, (-3f64).exp().ln_1p()]),
        ("HardSwish", [0.0, 95.0, 0.0]),
    ] {
        let found = run(&op(name, &Attributes::new()), &[&x]).unwrap();
        for (found, wanted) in found.into_iter().zip(wanted) {
            assert!((found - wanted).abs() <= 1e-6 * wanted.abs() + 2e-45, "{name}: {found} for {wanted}");
        }
    }
}

#[test]
fn the_extremes_of_nothing_are_the_neutral_ones() {
    for (name, float, int) in
        [("ReduceMax", f64::NEG_INFINITY, i32::MIN), ("ReduceMin", f64::INFINITY, i32::MAX)]
    {
        let op = op(name, &Attributes::new());
        assert_eq!(run(&op, &[&tensor(DType::F32, &[2, 0], &[])]), Ok(vec![float]));
        assert_eq!(run(&op, &[&tensor(DType::I32, &[0], &[])]), Ok(vec![f64::from(int)]));
    }
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
fn what_has_no_kernel_says_why() {
    let ty = Type::new(DType::I32, [2]);
    let norm = op("ReduceL2", &Attributes::new());
    assert!(matches!(support(&norm, &[Some(&ty)]), Support::No(_)));
    assert_eq!(support(&norm, &[Some(&ty.with_dtype(DType::F32))]), Support::Yes);
    assert!(matches!(run(&norm, &[&tensor(DType::I32, &[2], &[3.0, 4.0])]), Err(CpuError::Unsupported(_))));
}

/// Inputs for every variable of a model.
fn inputs(model: &ops::Model, seed: u64) -> Vec<Tensor> {
    let stream = Stream::new(seed).child("inputs");
    let variables = model.graph.variables();
    variables.map(|(id, _, ty)| elements(ty, &[], 0, stream.at(u64::from(id.0)))).collect()
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
        let mut wanted: Vec<(String, Tensor)> =
            model.graph.outputs.iter().map(|o| o.name.clone()).zip(expected).collect();
        wanted.reverse();
        let outputs: Vec<(String, DType)> = wanted.iter().map(|(n, t)| (n.clone(), t.dtype())).collect();
        let case = Case { model: &bytes, level: "default", inputs: &inputs, outputs: &outputs };
        assert_eq!(CpuEngine::default().run(&case), Ok(wanted), "seed {seed}");
        ran += 1;
    }
    assert!(ran > 10, "only {ran} models ran");
    let garbage = Case { model: &[0xff; 8], level: "default", inputs: &[], outputs: &[] };
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
