//! Broken models, one per way to be broken, and legal ones that are beyond this program.

use std::collections::BTreeMap;

use ir::{DType, Datum, Tensor, Type};
use onnx::proto::attribute_proto::AttributeType;
use onnx::proto::tensor_shape_proto::{Dimension, dimension};
use onnx::proto::{
    AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorShapeProto,
    TrainingInfoProto, TypeProto, ValueInfoProto, type_proto,
};
use onnx::{Error, import};
use onnxsmith_onnx as onnx;

fn opset(domain: &str, version: i64) -> OperatorSetIdProto {
    OperatorSetIdProto { domain: Some(domain.into()), version: Some(version) }
}

/// A value with its type; `None` is a size that is not known.
fn info(name: &str, dtype: DType, shape: &[Option<i64>]) -> ValueInfoProto {
    let dim = |d: &Option<i64>| Dimension {
        value: d
            .map_or(Some(dimension::Value::DimParam("n".into())), |d| Some(dimension::Value::DimValue(d))),
        ..Default::default()
    };
    let tensor = type_proto::Tensor {
        elem_type: Some(onnx::tensor::code_of(dtype)),
        shape: Some(TensorShapeProto { dim: shape.iter().map(dim).collect() }),
    };
    let value = Some(type_proto::Value::TensorType(tensor));
    ValueInfoProto {
        name: Some(name.into()),
        r#type: Some(TypeProto { value, ..Default::default() }),
        ..Default::default()
    }
}

fn node(op_type: &str, input: &[&str], output: &[&str]) -> NodeProto {
    let strings = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect();
    NodeProto {
        op_type: Some(op_type.into()),
        name: Some(format!("the {op_type}")),
        input: strings(input),
        output: strings(output),
        ..Default::default()
    }
}

fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        name: Some(name.into()),
        r#type: Some(AttributeType::Int as i32),
        i: Some(value),
        ..Default::default()
    }
}

fn string(name: &str, value: &str) -> AttributeProto {
    AttributeProto {
        name: Some(name.into()),
        r#type: Some(AttributeType::String as i32),
        s: Some(value.into()),
        ..Default::default()
    }
}

fn ints(dtype: DType, values: &[i64]) -> Tensor {
    Tensor::from_i128_fn(&Type::new(dtype, [values.len() as i64]), |i| values[i].into())
}

/// x: f32[2, 3] → Abs → a → Reshape by the initializer `shape` → y: f32[3, 2].
fn base() -> ModelProto {
    let graph = GraphProto {
        name: Some("g".into()),
        node: vec![node("Abs", &["x"], &["a"]), node("Reshape", &["a", "shape"], &["y"])],
        initializer: vec![onnx::tensor::to_proto("shape", &ints(DType::I64, &[3, 2]))],
        input: vec![info("x", DType::F32, &[Some(2), Some(3)])],
        output: vec![info("y", DType::F32, &[Some(3), Some(2)])],
        value_info: vec![info("a", DType::F32, &[Some(2), Some(3)])],
        ..Default::default()
    };
    ModelProto {
        ir_version: Some(10),
        opset_import: vec![opset("", 21)],
        graph: Some(graph),
        ..Default::default()
    }
}

fn outcome(change: impl FnOnce(&mut ModelProto, &mut GraphProto)) -> Result<onnx::Imported, Error> {
    let mut model = base();
    let mut graph = model.graph.take().unwrap();
    change(&mut model, &mut graph);
    model.graph = Some(graph);
    import(&model, &onnx::import::Options::default())
}

/// The changed model is invalid, and the message names these things.
#[track_caller]
fn invalid(parts: &[&str], change: impl FnOnce(&mut ModelProto, &mut GraphProto)) {
    match outcome(change) {
        Err(error @ Error::Invalid { .. }) => names(&error, parts),
        other => panic!("expected an invalid model with {parts:?}, but got {other:?}"),
    }
}

/// The changed model is legal but unsupported, and the message names these things.
#[track_caller]
fn unsupported(parts: &[&str], change: impl FnOnce(&mut ModelProto, &mut GraphProto)) {
    match outcome(change) {
        Err(error @ Error::Unsupported { .. }) => names(&error, parts),
        other => panic!("expected an unsupported model with {parts:?}, but got {other:?}"),
    }
}

#[track_caller]
fn names(error: &Error, parts: &[&str]) {
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

#[test]
fn the_unbroken_model_is_read() {
    let imported = outcome(|_, _| {}).unwrap();
    assert_eq!(imported.model.graph.nodes.len(), 3, "{imported:?}");
    assert!(imported.specialised.is_empty());
}

#[test]
fn a_graph_of_a_broken_structure_is_invalid() {
    invalid(&["the Abs", "`b`", "no input"], |_, g| g.node[0].input[0] = "b".into());
    invalid(&["the Reshape", "`size`", "no input"], |_, g| g.node[1].input[1] = "size".into());
    invalid(&["the Reshape", "`a`", "not sorted"], |_, g| g.node.reverse());
    invalid(&["the Abs", "`y`", "`a`, `y` form a cycle"], |_, g| g.node[0].input[0] = "y".into());
    invalid(&["the Abs", "`a` form a cycle"], |_, g| g.node[0].input[0] = "a".into());
    invalid(&["the Reshape", "`a`"], |_, g| g.node[1].output[0] = "a".into());
    invalid(&["`x`"], |_, g| g.node[0].output[0] = "x".into());
    invalid(&["`x`", "two"], |_, g| g.input.push(g.input[0].clone()));
    invalid(&["`shape`"], |_, g| g.initializer.push(g.initializer[0].clone()));
    invalid(&["`z`"], |_, g| g.output[0].name = Some("z".into()));
    invalid(&["`a`", "twice"], |_, g| g.value_info.push(g.value_info[0].clone()));
    invalid(&["the Abs", "outputs", "2"], |_, g| g.node[0].output.push("b".into()));
}

#[test]
fn a_value_of_a_wrong_type_is_invalid_and_one_of_an_unknown_type_unsupported() {
    invalid(&["`a`", "f32[2, 3]", "f64[2, 3]"], |_, g| {
        g.value_info[0] = info("a", DType::F64, &[Some(2), Some(3)]);
    });
    invalid(&["`y`", "f32[2, n]"], |_, g| g.output[0] = info("y", DType::F32, &[Some(2), None]));
    invalid(&["`y`"], |_, g| g.output[0] = info("y", DType::F32, &[None]));
    assert!(outcome(|_, g| g.output[0] = info("y", DType::F32, &[None, None])).is_ok());
    assert!(outcome(|_, g| g.value_info.clear()).is_ok());
    invalid(&["`x`", "element type"], |_, g| g.input[0].r#type = None);
    invalid(&["`x`", "negative"], |_, g| g.input[0] = info("x", DType::F32, &[Some(-2)]));
    invalid(&["the Relu", "`b`", "f32[3, 2]"], |_, g| {
        g.node.push(node("Relu", &["a"], &["b"]));
        g.output[0] = info("b", DType::F32, &[Some(3), Some(2)]);
    });
    invalid(&["the Reshape", "must equal", "f32[2, 3]"], |_, g| {
        g.initializer[0] = onnx::tensor::to_proto("shape", &ints(DType::I64, &[4]));
    });
    invalid(&["the And", "operand 0", "f32"], |_, g| g.node[0] = node("And", &["x", "x"], &["a"]));
    invalid(&["the Add", "operand 0", "i8"], |m, g| {
        m.opset_import[0].version = Some(13);
        g.input[0] = info("x", DType::I8, &[Some(2), Some(3)]);
        g.node[0] = node("Add", &["x", "x"], &["a"]);
        g.value_info.clear();
        g.output[0] = info("y", DType::I8, &[None, None]);
    });
    unsupported(&["input `x`", "f32[65536, 65536]"], |_, g| {
        g.input[0] = info("x", DType::F32, &[Some(1 << 16), Some(1 << 16)]);
        g.node.clear();
        g.output[0] = info("x", DType::F32, &[None, None]);
        g.value_info.clear();
    });
    unsupported(&["`x`", "[2, n]"], |_, g| g.input[0] = info("x", DType::F32, &[Some(2), None]));
}

#[test]
fn an_operator_or_attribute_that_the_opset_lacks_is_invalid() {
    invalid(&["Frobnicate"], |_, g| g.node[0].op_type = Some("Frobnicate".into()));
    invalid(&["BitwiseNot", "opset 18"], |m, g| {
        m.opset_import[0].version = Some(17);
        g.node[0].op_type = Some("BitwiseNot".into());
    });
    invalid(&["the Abs", "`axis`"], |_, g| g.node[0].attribute.push(int("axis", 1)));
    invalid(&["the Reshape", "`allowzero`"], |m, g| {
        m.opset_import[0].version = Some(13);
        g.node[1].attribute.push(int("allowzero", 0));
    });
    // Whatever it says: what an opset lacks is refused, though it would change nothing.
    for (opset, name, value) in
        [(23, "round_mode", string("round_mode", "up")), (18, "saturate", int("saturate", 1))]
    {
        let cast = |opset: u32| {
            let attribute = vec![int("to", 1), value.clone()];
            move |m: &mut ModelProto, g: &mut GraphProto| {
                m.opset_import[0].version = Some(opset.into());
                g.node[0] = NodeProto { attribute, ..node("Cast", &["x"], &["a"]) };
            }
        };
        let came = format!("came with opset {}", opset + 1);
        invalid(&["the Cast", name, "no such attribute", &came], cast(opset));
        assert!(outcome(cast(opset + 1)).is_ok());
    }
    invalid(&["the CastLike", "`round_mode`", "opset 24"], |_, g| {
        let attribute = vec![string("round_mode", "up")];
        g.node[0] = NodeProto { attribute, ..node("CastLike", &["x", "x"], &["a"]) };
    });
}

#[test]
fn a_wrong_attribute_is_invalid() {
    invalid(&["the ReduceMax", "`axes`", "operand 1"], |_, g| {
        let axes = AttributeProto {
            ints: vec![0],
            r#type: Some(AttributeType::Ints as i32),
            i: None,
            ..int("axes", 0)
        };
        g.node[0] = NodeProto { attribute: vec![axes], ..node("ReduceMax", &["x"], &["a"]) };
    });
    invalid(&["the Reshape", "`allowzero`", "twice"], |_, g| {
        g.node[1].attribute = vec![int("allowzero", 0); 2];
    });
    invalid(&["the Reshape", "`allowzero`", "0 or 1"], |_, g| g.node[1].attribute.push(int("allowzero", 2)));
    invalid(&["the Reshape", "`allowzero`", "must be int"], |_, g| {
        let float = AttributeProto {
            r#type: Some(AttributeType::Float as i32),
            i: None,
            f: Some(1.0),
            ..int("allowzero", 1)
        };
        g.node[1].attribute.push(float);
    });
    invalid(&["the Reshape", "`allowzero`", "FLOAT"], |_, g| {
        let float = AttributeProto { r#type: Some(AttributeType::Float as i32), ..int("allowzero", 1) };
        g.node[1].attribute.push(float);
    });
    invalid(&["the Reshape", "`allowzero`", "no type"], |_, g| {
        g.node[1].attribute.push(AttributeProto { r#type: None, ..int("allowzero", 1) });
    });
    invalid(&["the Reshape", "outside"], |_, g| {
        let reference = AttributeProto { i: None, ref_attr_name: Some("z".into()), ..int("allowzero", 1) };
        g.node[1].attribute.push(reference);
    });
    invalid(&["the Constant", "attributes"], |_, g| g.node[0] = node("Constant", &[], &["a"]));
}

#[test]
fn wrong_operands_are_invalid() {
    invalid(&["the Reshape", "`shape`", "missing"], |_, g| g.node[1].input.truncate(1));
    invalid(&["the Abs", "missing"], |_, g| g.node[0].input.clear());
    invalid(&["the Abs", "at most 1"], |_, g| g.node[0].input.push("x".into()));
    invalid(&["the Reshape", "must be one of i64"], |_, g| {
        g.initializer[0] =
            onnx::tensor::to_proto("shape", &Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |_| 1.0));
    });
    invalid(&["the Reshape", "a list"], |_, g| {
        g.initializer[0] =
            onnx::tensor::to_proto("shape", &Tensor::from_i128_fn(&Type::new(DType::I64, []), |_| 6));
    });
}

#[test]
fn a_model_with_wrong_fields_around_its_graph_is_refused() {
    invalid(&["ir_version"], |m, _| m.ir_version = None);
    invalid(&["opset 0"], |m, _| m.opset_import[0].version = Some(0));
    invalid(&["Abs", "no opset"], |m, _| m.opset_import.clear());
    invalid(&["two versions"], |m, _| m.opset_import.push(opset("ai.onnx", 20)));
    unsupported(&["opset 99"], |m, _| m.opset_import[0].version = Some(99));
    unsupported(&["training_info"], |m, _| m.training_info.push(TrainingInfoProto::default()));
    let model = ModelProto { graph: None, ..base() };
    assert!(matches!(import(&model, &onnx::import::Options::default()), Err(Error::Invalid { .. })));
}

#[test]
fn what_this_program_lacks_is_unsupported() {
    unsupported(&["`y`", "two"], |_, g| g.output.push(g.output[0].clone()));
    unsupported(&["ImageDecoder"], |_, g| g.node[0].op_type = Some("ImageDecoder".into()));
    unsupported(&["com.example.Abs"], |m, g| {
        m.opset_import.push(opset("com.example", 1));
        g.node[0].domain = Some("com.example".into());
    });
    unsupported(&["sequence"], |_, g| {
        let sequence = type_proto::Value::SequenceType(Box::default());
        g.input[0].r#type.as_mut().unwrap().value = Some(sequence);
    });
    unsupported(&["strings"], |_, g| {
        let tensor = type_proto::Tensor { elem_type: Some(8), shape: None };
        g.input[0].r#type.as_mut().unwrap().value = Some(type_proto::Value::TensorType(tensor));
    });
    unsupported(&["the Reshape", "`shape`", "known"], |_, g| {
        g.initializer.clear();
        g.input.push(info("shape", DType::I64, &[Some(2)]));
    });
}

/// p → Add(p, p) → q
fn twice() -> FunctionProto {
    FunctionProto {
        name: Some("Twice".into()),
        domain: Some("mine".into()),
        input: vec!["p".into()],
        output: vec!["q".into()],
        node: vec![node("Add", &["p", "p"], &["q"])],
        opset_import: vec![opset("", 21)],
        ..Default::default()
    }
}

fn call() -> NodeProto {
    NodeProto { domain: Some("mine".into()), ..node("Twice", &["x"], &["a"]) }
}

/// A change by which the model has a function, and calls it in place of its Abs.
fn with(function: FunctionProto) -> impl FnOnce(&mut ModelProto, &mut GraphProto) {
    move |m, g| {
        m.functions.push(function);
        m.opset_import.push(opset("mine", 1));
        g.node[0] = call();
    }
}

/// `twice` with a second parameter, which the call leaves out.
fn longer() -> FunctionProto {
    FunctionProto { input: vec!["p".into(), "r".into()], ..twice() }
}

#[test]
fn a_function_that_is_called_is_read() {
    let imported = outcome(with(twice())).unwrap();
    assert_eq!(imported.model.functions.len(), 1);
    assert_eq!(imported.model.functions[0].name, "Twice");
    // Add is the same operator in both.
    assert!(outcome(with(FunctionProto { opset_import: vec![opset("", 20)], ..twice() })).is_ok());
    assert_eq!(outcome(with(longer())).unwrap().model.functions, [], "it is written out");
}

#[test]
fn a_broken_function_or_call_is_invalid() {
    let mut recursive = twice();
    recursive.opset_import.push(opset("mine", 1));
    recursive.node[0] = NodeProto { output: vec!["q".into()], input: vec!["p".into()], ..call() };
    invalid(&["`Twice`", "itself"], with(recursive));
    invalid(&["`Twice`", "`r`"], with(FunctionProto { output: vec!["r".into()], ..twice() }));
    // A parameter that the call leaves out may only be used where an operand may be left out.
    invalid(
        &["`Twice`", "Add"],
        with(FunctionProto { node: vec![node("Add", &["p", "r"], &["q"])], ..longer() }),
    );
    invalid(&["`Twice`", "1 parameters", "2 operands"], |m, g| {
        with(twice())(m, g);
        g.node[0].input.push("x".into());
    });
    invalid(&["the Twice", "`mine`", "not imported"], |m, g| {
        with(twice())(m, g);
        m.opset_import.pop();
    });
    invalid(&["`Twice`", "defined twice"], |m, g| {
        with(twice())(m, g);
        m.functions.push(twice());
    });
    invalid(&["`alpha`"], |m, g| {
        with(twice())(m, g);
        g.node[0].attribute.push(int("alpha", 1));
    });
}

/// One function, called with two shapes and with an attribute that its body passes on.
#[test]
fn functions_are_typed_for_each_use() {
    let pass = AttributeProto { i: None, ref_attr_name: Some("start".into()), ..int("axis", 0) };
    let function = FunctionProto {
        name: Some("F".into()),
        domain: Some("mine".into()),
        input: vec!["p".into()],
        output: vec!["q".into()],
        attribute: vec!["start".into()],
        node: vec![NodeProto { attribute: vec![pass], ..node("Softmax", &["p"], &["q"]) }],
        opset_import: vec![opset("ai.onnx", 21)],
        ..Default::default()
    };
    let call = |input: &str, output: &str, start: Option<i64>| NodeProto {
        name: None,
        domain: Some("mine".into()),
        attribute: start.map(|s| int("start", s)).into_iter().collect(),
        ..node("F", &[input], &[output])
    };
    let model = outcome(|m, g| {
        m.functions.push(function);
        m.opset_import.push(opset("mine", 1));
        g.node.push(call("x", "b", Some(0)));
        g.node.push(call("a", "c", Some(0)));
        g.node.push(call("y", "d", Some(0)));
        g.node.push(call("y", "e", None));
    });
    let model = model.unwrap().model;
    let names: Vec<&str> = model.functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["F", "F_", "F__"]);
}

/// Functions in a chain, each of which calls the next `calls` times with another attribute and passes on all it has.
fn chain(length: usize, calls: i64) -> Result<onnx::Imported, Error> {
    let to = |i: usize, input: &str, output: &str| NodeProto {
        name: None,
        domain: Some("mine".into()),
        ..node(&format!("F{i}"), &[input], &[output])
    };
    let level = |i: usize| {
        let passed = |k: usize| AttributeProto {
            i: None,
            ref_attr_name: Some(format!("a{k}")),
            ..int(&format!("a{k}"), 0)
        };
        let call = |value: i64| NodeProto {
            attribute: (0..i).map(passed).chain([int(&format!("a{i}"), value)]).collect(),
            ..to(i + 1, "p", &format!("q{value}"))
        };
        FunctionProto {
            name: Some(format!("F{i}")),
            domain: Some("mine".into()),
            input: vec!["p".into()],
            output: vec!["q0".into()],
            attribute: (0..i).map(|k| format!("a{k}")).collect(),
            node: if i + 1 < length {
                (0..calls).map(call).collect()
            } else {
                vec![node("Abs", &["p"], &["q0"])]
            },
            opset_import: vec![opset("", 21), opset("mine", 1)],
            ..Default::default()
        }
    };
    outcome(|m, g| {
        m.functions.extend((0..length).map(level));
        m.opset_import.push(opset("mine", 1));
        g.node.push(to(0, "x", "b"));
    })
}

#[test]
fn functions_that_multiply_are_refused() {
    assert_eq!(chain(5, 2).unwrap().model.functions.len(), 31);
    let refused = |result| matches!(result, Err(Error::Unsupported { .. }));
    assert!(refused(chain(20, 2)), "each level doubles the number of typed functions");
    assert!(refused(chain(1000, 1)), "the chain is too long to follow");
}

#[test]
fn known_inputs_settle_shapes_and_attributes() {
    let mut model = base();
    let graph = model.graph.as_mut().unwrap();
    graph.initializer.clear();
    graph.input = vec![info("x", DType::F32, &[None, Some(3)]), info("shape", DType::I64, &[Some(2)])];
    graph.output[0] = info("y", DType::F32, &[None, None]);
    graph.value_info.clear();
    let x = Tensor::zeros(&Type::new(DType::F32, [4, 3]));
    let mut known_inputs =
        BTreeMap::from([("x".to_owned(), x.into()), ("shape".to_owned(), ints(DType::I64, &[2, -1]).into())]);
    let read = |known_inputs: &BTreeMap<String, Datum>| {
        import(&model, &onnx::import::Options { known_inputs, ..Default::default() })
    };
    let imported = read(&known_inputs).unwrap();
    assert_eq!(imported.specialised, ["shape"]);
    let graph = &imported.model.graph;
    assert_eq!(graph.variables().map(|(_, name, _)| name).collect::<Vec<_>>(), ["x", "shape"]);
    assert_eq!(graph.ty(graph.outputs[0].value), &Type::new(DType::F32, [2, 6]));

    known_inputs.insert("shape".to_owned(), ints(DType::I64, &[12]).into());
    names(&read(&known_inputs).unwrap_err(), &["`shape`", "i64[1]"]);
}

#[test]
fn tensors_of_a_sequence_are_of_one_dtype() {
    let read = |dtype: &str, nodes: &str| {
        let text =
            format!("<ir_version: 10, opset_import: [\"\" : 21]>\nm ({dtype}[2] x) => (y) {{ {nodes} }}\n");
        onnx::import::specialise(
            &onnx::program::Program::from_text(&text).expect("a text"),
            &onnx::import::Options::default(),
        )
    };
    let inserted = |attributes: &str| {
        format!("e = SequenceEmpty{attributes}() s = SequenceInsert(e, x) y = SequenceLength(s)")
    };
    assert!(read("float", &inserted("")).is_ok() && read("int8", &inserted("<dtype = 3>")).is_ok());
    let why = read("int8", &inserted("")).expect_err("of f32").to_string();
    assert!(why.contains("operand 1") && why.contains("f32"), "{why}");
    let mixed = "h = Cast<to = 10>(x) s = SequenceConstruct(x, h) y = SequenceLength(s)";
    assert!(read("float", mixed).expect_err("of both").to_string().contains("operand 1"));
}
