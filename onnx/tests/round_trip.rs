//! What is exported is imported again as it was.

use graphgen::{Settings, Weights, generate};
use ir::{Attributes, DType, Operation, Stream, Tensor, Type};
use onnx::proto::{ModelProto, decode};
use onnx::{encode, export, import};
use onnxsmith_onnx as onnx;
use ops::{Graph, Model, Op};

mod uncounted;

use uncounted::{COUNTED, settings};

/// The model after a way out and in.
#[track_caller]
fn there_and_back(model: &Model) -> Model {
    let bytes = encode(&export(model).unwrap_or_else(|e| panic!("{e}\n{model:#?}")));
    let proto: ModelProto = decode("model", &bytes).unwrap();
    let imported = import(&proto, &onnx::import::Options::default());
    imported.unwrap_or_else(|e| panic!("{e}\n{proto:#?}")).model
}

#[track_caller]
fn assert_round_trip(model: &Model) {
    assert_eq!(&there_and_back(model), model);
}

fn op(name: &str, attributes: &Attributes) -> Op {
    Op::parse(name, attributes).unwrap().unwrap()
}

#[test]
fn generated_models_of_every_opset() {
    let seeds_per_opset = 20;
    let mut functions = 0;
    for opset in ir::graph::OPSETS {
        for seed in 0..seeds_per_opset {
            let stream = Stream::new(u64::from(opset)).at(seed);
            let settings = Settings {
                opset,
                function: 0.4,
                empty_dims: f64::from(u8::from(seed % 4 == 0)),
                ..settings()
            };
            let model = generate(&settings, &Weights, stream).model;
            functions += model.functions.len();
            assert_round_trip(&model);
        }
    }
    assert!(functions > 20, "only {functions} functions were met");
}

#[test]
fn the_same_model_gives_the_same_bytes() {
    let model = generate(&Settings::default(), &Weights, Stream::new(1)).model;
    assert_eq!(encode(&export(&model).unwrap()), encode(&export(&model).unwrap()));
}

/// Every single operator, many times over, in the oldest and the newest opset that has it.
#[test]
fn every_operator() {
    for spec in ops::registry().filter(|spec| !COUNTED.contains(&spec.name)) {
        for opset in [spec.since(), *ir::graph::OPSETS.end()] {
            for seed in 0..8 {
                let operators = [spec.name].into();
                let unnamed = f64::from(u8::from(seed % 2 == 0));
                let settings = Settings { opset, nodes: 2, operators, unnamed, ..Settings::default() };
                assert_round_trip(&generate(&settings, &Weights, Stream::new(seed)).model);
            }
        }
    }
}

#[test]
fn what_is_not_there_may_be_listed_by_the_empty_name() {
    let text = |spelling| {
        format!(
            "onnxsmith 1 opset 13
            graph {{
              %0: f32[1, 2] = variable \"x\"
              %1: f32[2] = variable \"p\"
              %2: f32[1, 2] = BatchNormalization(%0, %1, %1, %1, %1) {spelling}
              %3: f32[1, 2] = Clip(%2) {spelling}
              return \"y\" = %3
            }}"
        )
    };
    let lists = |model: &Model| {
        let nodes = export(model).unwrap().graph.unwrap().node;
        nodes.iter().map(|node| (node.input.len(), node.output.len())).collect::<Vec<_>>()
    };
    let model: Model = text("").parse().unwrap();
    assert_eq!(lists(&model), [(5, 1), (1, 1)]);
    // No more than there is room for.
    let model: Model = text("unnamed (9, 9)").parse().unwrap();
    assert_eq!(lists(&model), [(5, 5), (3, 1)]);
    let back = there_and_back(&model);
    assert_eq!(lists(&back), lists(&model));
    let unnamed = |at: usize| back.graph.nodes[at].spelling.unnamed;
    assert_eq!([unnamed(2), unnamed(3)].map(|it| (it.operands, it.outputs)), [(0, 4), (2, 0)]);
}

/// Positions that ONNX's separate lists do not keep: inputs and constants between operators, an unused constant,
/// names like those that export gives.
#[test]
fn positions_and_names_are_kept() {
    let ty = Type::new(DType::F32, [2, 3]);
    let mut graph = Graph::new();
    let unused = Tensor::from_f64_fn(&ty, |i| i as f64);
    graph.constant(unused.clone());
    let a = graph.variable("v4", ty.clone());
    let relu = graph.operator(op("Abs", &Attributes::new()), &[Some(a)]).unwrap();
    let relu = ir::Value::new(relu, 0);
    let c = graph.constant(unused);
    let sum = graph.operator(op("Add", &Attributes::new()), &[Some(relu), Some(c)]).unwrap();
    let b = graph.variable("v2", ty);
    let product = graph.operator(op("Mul", &Attributes::new()), &[Some(ir::Value::new(sum, 0)), Some(b)]);
    graph.output("n4", ir::Value::new(product.unwrap(), 0));
    assert_round_trip(&Model::new(21, graph));
}

/// Outputs that in ONNX are not the name of a value: an input, a constant, a value with two names.
#[test]
fn outputs_of_every_kind() {
    let ty = Type::new(DType::F32, [2]);
    let mut graph = Graph::new();
    let x = graph.variable("x", ty.clone());
    let c = graph.constant(Tensor::from_f64_fn(&ty, |_| 1.0));
    let y = graph.operator(op("Add", &Attributes::new()), &[Some(x), Some(c)]).unwrap();
    let y = ir::Value::new(y, 0);
    let z = graph.operator(op("Identity", &Attributes::new()), &[Some(y)]);
    graph.output("first", y);
    graph.output("second", y);
    graph.output("constant", c);
    graph.output("x", x);
    graph.output("input", x);
    if let Ok(z) = z {
        graph.output("identity", ir::Value::new(z, 0));
    }
    assert_round_trip(&Model::new(21, graph));
}

#[test]
fn functions_with_constants_calls_and_without_use() {
    let ty = Type::new(DType::F32, [2, 3]);
    let reshape = || op("Reshape", &Attributes::new().ints("shape", &[3, 2]));
    let body = |callee: Option<u32>| {
        let mut body = Graph::new();
        let c = body.constant(Tensor::from_f64_fn(&ty, |i| i as f64));
        let x = body.variable("x", ty.clone());
        let mut sum = body.operator(op("Add", &Attributes::new()), &[Some(x), Some(c)]).unwrap();
        if let Some(callee) = callee {
            let call = ir::NodeKind::Call(ir::FunctionId(callee));
            let types = vec![Type::new(DType::F32, [3, 2]), ty.clone()];
            sum = body.push(call, vec![Some(ir::Value::new(sum, 0))], types);
            body.output("other", ir::Value::new(sum, 1));
            body.output("y", x);
        } else {
            let y = body.operator(reshape(), &[Some(ir::Value::new(sum, 0))]).unwrap();
            body.output("y", ir::Value::new(y, 0));
            body.output("other", x);
        }
        body
    };
    let function = |name: &str, body| ir::Function { name: name.to_owned(), body };
    let functions =
        vec![function("inner", body(None)), function("unused", body(None)), function("outer", body(Some(0)))];
    let mut graph = Graph::new();
    let x = graph.variable("x", ty.clone());
    let call = ir::NodeKind::Call(ir::FunctionId(2));
    let call = graph.push(call, vec![Some(x)], vec![ty.clone(), ty]);
    graph.output("y", ir::Value::new(call, 1));
    for opset in [13, 21] {
        let model = Model { opset, functions: functions.clone(), graph: graph.clone() };
        assert_round_trip(&model);
    }
}

#[test]
fn what_an_opset_lacks_is_not_exported() {
    let export_in = |opset, op: Op, dtype| {
        let mut graph = Graph::new();
        let x = graph.variable("x", Type::new(dtype, [2, 3]));
        let y = graph.operator(op, &[Some(x)]).unwrap();
        graph.output("y", ir::Value::new(y, 0));
        export(&Model::new(opset, graph)).map(drop).map_err(|e| e.to_string())
    };
    let bitwise = || op("BitwiseNot", &Attributes::new());
    assert!(export_in(17, bitwise(), DType::I32).unwrap_err().contains("opset 18"));
    assert_eq!(export_in(18, bitwise(), DType::I32), Ok(()));
    let reshape = || op("Reshape", &Attributes::new().ints("shape", &[3, 2]).flag("allowzero", true));
    assert!(export_in(13, reshape(), DType::F32).unwrap_err().contains("`allowzero`"));
    assert_eq!(export_in(14, reshape(), DType::F32), Ok(()));
    let softmax = || op("ReduceMax", &Attributes::new());
    assert!(export_in(19, softmax(), DType::Bool).unwrap_err().contains("bool"));
}

#[test]
fn names_that_onnx_cannot_express_are_refused() {
    let ty = Type::new(DType::F32, [2]);
    let model = |input: &str, output: &str| {
        let mut graph = Graph::new();
        let x = graph.variable(input, ty.clone());
        let y = graph.operator(op("Abs", &Attributes::new()), &[Some(x)]).unwrap();
        graph.output(output, ir::Value::new(y, 0));
        Model::new(21, graph)
    };
    assert!(export(&model("x", "x")).unwrap_err().to_string().contains("output `x`"));
    assert!(export(&model("", "y")).is_err());
    assert!(export(&model("x", "")).is_err());
    assert!(export(&model("x", "y")).is_ok());
}
