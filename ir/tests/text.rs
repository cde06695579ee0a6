//! The text form goes out and comes back unchanged, and no text whatever makes the parser or validation panic.

mod tiny;

use onnxsmith_ir::text::{ParseError, Problem};
use onnxsmith_ir::{
    Attribute, Attributes, DType, Function, FunctionId, Graph, Model, NodeId, NodeKind, Spelling, Tensor,
    Type, Unnamed, Value,
};
use proptest::prelude::*;
use tiny::Tiny;

fn parse(text: &str) -> Result<Model<Tiny>, ParseError> {
    text.parse()
}

/// A model with everything in it that the text form has a notation for.
fn everything() -> Model<Tiny> {
    let matrix = Type::new(DType::F32, [4, 3]);
    let mut body = Graph::new();
    let a = body.variable("a\"\\\n\u{7}é", matrix.clone());
    let sum = body.operator(Tiny::Add, &[Some(a), Some(a)]).unwrap();
    body.output("sum", Value::new(sum, 0));
    let named = |name: &str, body: &Graph<Tiny>| Function { name: name.into(), body: body.clone() };

    let mut graph = Graph::new();
    let x = graph.variable("x", matrix.clone());
    let specials =
        [f32::NAN, -0.0, f32::INFINITY, f32::NEG_INFINITY, 1e-45, 0.1, f32::from_bits(0x7f80_0001)];
    let bytes: Vec<u8> = specials.iter().flat_map(|v| v.to_le_bytes()).collect();
    graph.constant(Tensor::from_bytes(&Type::new(DType::F32, [7]), &bytes).unwrap());
    graph.constant(Tensor::zeros(&Type::new(DType::F16, [2, 0, 5])));
    let low = graph.constant(Tensor::from_f64_fn(&Type::new(DType::BF16, []), |_| -0.1));
    graph.constant(Tensor::from_i128_fn(&Type::new(DType::Bool, [2]), |i| i as i128));
    graph.constant(Tensor::from_i128_fn(&Type::new(DType::I64, [64]), |i| (i as i128 - 32) << 50));
    let split = graph.operator(Tiny::Split { parts: 2 }, &[Some(x)]).unwrap();
    let clip = graph.operator(Tiny::Clip, &[Some(Value::new(split, 1)), None, Some(low)]).unwrap();
    let tune = Tiny::Tune { sizes: vec![], scale: f32::INFINITY, mode: "a \"b\"".into(), to: DType::BF16 };
    let tune = graph.operator(tune, &[Some(Value::new(clip, 0))]).unwrap();
    graph.nodes[tune.index()].is_inner = true;
    let unnamed = Unnamed { operands: 1, outputs: 4 };
    graph.nodes[tune.index()].spelling = Spelling { is_terse: true, unnamed };
    let tune_more = Tiny::Tune { sizes: vec![-1, 7], scale: 1e10, mode: String::new(), to: DType::Bool };
    graph.operator(tune_more, &[Some(x)]).unwrap();
    let call = graph.push(NodeKind::Call(FunctionId(1)), vec![Some(x)], vec![matrix]);
    graph.output("y", Value::new(split, 1));
    graph.output("a name", Value::new(call, 0));
    graph.output("tuned", Value::new(tune, 0));
    Model { opset: 18, functions: vec![named("f", &body), named("the other", &body)], graph }
}

#[test]
fn a_model_with_everything_round_trips() {
    let model = everything();
    assert_eq!(model.validate(), Ok(()));
    let text = model.to_string();
    assert_eq!(parse(&text), Ok(model));
    insta::assert_snapshot!(text);
}

#[test]
fn what_is_inlined_is_from_its_call() {
    let ty = Type::new(DType::F32, [4, 3]);
    let (mut inner, mut outer) = (Graph::new(), Graph::new());
    let a = inner.variable("a", ty.clone());
    let sum = inner.operator(Tiny::Add, &[Some(a), Some(a)]).unwrap();
    inner.output("sum", Value::new(sum, 0));
    let b = outer.variable("b", ty.clone());
    let add = outer.operator(Tiny::Add, &[Some(b), Some(b)]).unwrap();
    let call = outer.push(NodeKind::Call(FunctionId(0)), vec![Some(Value::new(add, 0))], vec![ty.clone()]);
    outer.output("y", Value::new(call, 0));
    let mut graph = Graph::new();
    let x = graph.variable("x", ty.clone());
    let first = graph.push(NodeKind::Call(FunctionId(1)), vec![Some(x)], vec![ty.clone()]);
    let last = graph.push(NodeKind::Call(FunctionId(0)), vec![Some(Value::new(first, 0))], vec![ty]);
    graph.output("y", Value::new(last, 0));
    let functions =
        vec![Function { name: "inner".into(), body: inner }, Function { name: "outer".into(), body: outer }];
    let model = Model { opset: 18, functions, graph };
    assert_eq!(model.validate(), Ok(()));
    let inlined = onnxsmith_ir::inline::inlined(&model).unwrap();
    assert_eq!(inlined.from, [x.node, first, first, last]);
    assert_eq!(inlined.graph.nodes.len(), 4);
}

#[test]
fn dot_draws_everything() {
    insta::assert_snapshot!(onnxsmith_ir::view::dot(&everything()));
}

#[test]
fn invalid_models_round_trip_too() {
    let mut model = everything();
    let ty = Type::new(DType::I64, [i64::MIN, i64::MAX]);
    let dangling = Value { node: NodeId(u32::MAX), port: u32::MAX };
    let two = model.graph.push(NodeKind::Operator(Tiny::Add), vec![], vec![ty.clone(), ty.clone()]);
    model.graph.give(two, [dangling, Value::new(NodeId(0), 1)]);
    model.graph.push(NodeKind::Operator(Tiny::Add), vec![None, Some(dangling)], vec![]);
    model.graph.nodes[1].outputs = vec![ty];
    model.graph.nodes[3].outputs.clear();
    model.graph.output("y", dangling);
    // A call of a function that is not there, and one whose name means another.
    model.functions.push(model.functions[1].clone());
    for callee in [1, 2, 3] {
        model.graph.push(NodeKind::Call(FunctionId(callee)), vec![], vec![]);
    }
    assert_eq!(parse(&model.to_string()), Ok(model));
}

#[test]
fn errors_name_the_place_and_what_would_be_right() {
    let table = [
        ("", "line 1, column 1: expected `onnxsmith`, found the end of the text"),
        ("onnxsmith 2", "line 1, column 11: expected version 1 of the text form, found `2`"),
        ("onnxsmith 1 opset -1", "line 1, column 19: expected the version of the operator set, found `-1`"),
        ("onnxsmith 1 opset 17\ngrph", "line 2, column 1: expected `function` or `graph`, found `grph`"),
        ("%1", "line 2, column 3: expected `%0`, found `%1`"),
        ("Add()", "line 2, column 3: expected `%0` or `return`, found `Add`"),
        ("%0: f31[2] =", "line 2, column 7: unknown dtype `f31`"),
        ("%0: f32 = ", "line 2, column 11: expected `[`, found `=`"),
        ("%0: f32[2.0]", "line 2, column 11: `2.0` is not a number of type i64"),
        ("%0: f32[2 3]", "line 2, column 13: expected `,` or `]`, found `3`"),
        ("%0 = Sub()", "line 2, column 8: there is no operator `Sub`"),
        ("%0 = Split()", "line 2, column 8: Split: attribute `num_outputs` is missing"),
        ("%0 = Add() {a = 1, a = 2}", "line 2, column 22: attribute \"a\" is given twice"),
        ("%0 = Add(%1.2.3)", "line 2, column 12: expected a value such as `%0` or `%0.1`, found `%1.2.3`"),
        ("%0 = Add(x)", "line 2, column 12: expected an operand such as `%0`, or `_`, found `x`"),
        ("%0 = call f()", "line 2, column 13: there is no function \"f\" before this call"),
        ("%0 = constant {1}", "line 2, column 17: expected the constant's type, found `{`"),
        ("%0: i8[1] = constant {128}", "line 2, column 25: `128` is not a number of type i8"),
        (
            "%0: f16[1] = constant {nan(0x7c00)}",
            "line 2, column 26: `nan(0x7c00)` is not a number of type f16",
        ),
        ("return \"y", "line 2, column 10: the string has no closing quote on its line"),
        ("return \"\\q\"", r#"line 2, column 11: unknown escape; known are \", \\, \n, \r, \t and \u{hex}"#),
        ("return é", "line 2, column 10: unexpected character 'é'"),
        ("return } more", "line 2, column 12: expected the end of the text, found `more`"),
    ];
    for (text, message) in table {
        let whole = if text.starts_with("onnx") || text.is_empty() {
            text.to_owned()
        } else {
            format!("onnxsmith 1 opset 17 graph {{\n  {text}")
        };
        let error = parse(&whole).unwrap_err().to_string();
        assert!(error.starts_with(message), "{text}: {error}");
    }
}

#[test]
fn shapes_that_promise_too_much_are_errors() {
    for shape in
        ["3", "99999999999", "4294967296, 4294967296", "0, 9223372036854775807, 9223372036854775807", "-1"]
    {
        let text = format!("onnxsmith 1 opset 17 graph {{ %0: f64[{shape}] = constant {{}} return }}");
        let problem = parse(&text).unwrap_err().problem;
        assert!(matches!(problem, Problem::Elements(_)), "{shape}: {problem}");
    }
}

#[test]
fn a_tensor_alone_is_written_as_a_constant_is() {
    let tensor = Tensor::from_f64_fn(&Type::new(DType::F16, [2]), |i| [1.5, -0.0][i]);
    assert_eq!(tensor.to_string(), "f16[2] {1.5, -0.0}");
    let error = |text: &str| text.parse::<Tensor>().unwrap_err().to_string();
    assert!(error("f16[2] {1.5}").starts_with("line 1, column 8: "), "{}", error("f16[2] {1.5}"));
    assert_eq!(error("f16[0] {} 1"), "line 1, column 11: expected the end of the text, found `1`");
    assert!(error("{1.5}").starts_with("line 1, column 1: expected a type"));
}

#[test]
fn comments_and_layout_do_not_matter() {
    let text = "onnxsmith 1 // version\nopset 17 graph{%0:f32[]=constant{1e0}return\"y\"=%0.0}// end";
    let mut graph = Graph::new();
    let one = graph.constant(Tensor::from_f64_fn(&Type::new(DType::F32, []), |_| 1.0));
    graph.output("y", one);
    assert_eq!(parse(text), Ok(Model::new(17, graph)));
}

fn tensor() -> impl Strategy<Value = Tensor> {
    let dtype = prop::sample::select(DType::ALL.to_vec());
    let shape = prop::collection::vec(0i64..4, 0..4);
    (dtype, shape).prop_flat_map(|(dtype, shape)| {
        let ty = Type::new(dtype, shape);
        let bytes = prop::collection::vec(any::<u8>(), ty.bytes() as usize);
        bytes.prop_map(move |bytes| Tensor::from_bytes(&ty, &bytes).expect("as many bytes as the type takes"))
    })
}

fn attribute() -> impl Strategy<Value = Attribute> {
    let float = any::<u32>().prop_map(f32::from_bits);
    prop_oneof![
        any::<i64>().prop_map(Attribute::Int),
        prop::collection::vec(any::<i64>(), 0..3).prop_map(Attribute::Ints),
        prop_oneof![float.clone(), Just(f32::NAN), Just(-0.0)].prop_map(Attribute::Float),
        prop::collection::vec(float, 0..3).prop_map(Attribute::Floats),
        any::<String>().prop_map(Attribute::Name),
        prop::collection::vec(any::<String>(), 0..3).prop_map(Attribute::Strings),
        tensor().prop_map(|tensor| Attribute::Tensor(tensor.into())),
        prop::sample::select(DType::ALL.to_vec()).prop_map(Attribute::DType),
    ]
}

/// A graph of one operator with these attributes.
fn note(attributes: Attributes) -> Model<Tiny> {
    let mut graph = Graph::new();
    graph.operator(Tiny::Note(attributes), &[]).expect("it takes no operands");
    Model::new(17, graph)
}

proptest! {
    #[test]
    fn attributes_of_every_kind_round_trip(all in prop::collection::vec(attribute(), 0..4)) {
        let named = all.into_iter().enumerate().map(|(i, value)| (format!("a{i}"), value));
        let model = note(named.collect());
        prop_assert_eq!(parse(&model.to_string()), Ok(model));
    }
}

fn lists() -> Attributes {
    Attributes::new()
        .ints("a", &[])
        .floats("b", &[])
        .strings("c", &[])
        .floats("d", &[1.0, f32::INFINITY, -0.5])
        .strings("e", &["x".to_owned(), "\"".to_owned()])
        .tensor("f", &Tensor::from_i128_fn(&Type::new(DType::I4, [2]), |i| i as i128).into())
}

#[test]
fn lists_say_what_they_are_lists_of() {
    let text = note(lists()).to_string();
    let written =
        r#"{a = [], b = floats [], c = strings [], d = [1.0, inf, -0.5], e = ["x", "\""], f = i4[2] {0, 1}}"#;
    assert!(text.contains(written), "{text}");
    assert_eq!(parse(&text), Ok(note(lists())));
    for wrong in ["[1, 2.0]", "[\"x\", 1]", "[1, \"x\"]", "floats [1.0]", "f32[2] {1.0}", "f32[1]", "["] {
        assert!(parse(&text.replace("floats []", wrong)).is_err(), "{wrong}");
    }
}

/// The text with some bytes overwritten, removed or doubled, or pieces of it moved about.
fn mutated() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "%",
        "{",
        "}",
        "(",
        ")",
        "[",
        ",",
        ":",
        "=",
        "@",
        "_",
        "\"",
        "\\",
        "-",
        ".",
        "//",
        "e",
        "nan",
        "inf",
        "0x",
        "call",
        "return",
        "graph",
        "function",
        "%0",
        "%9.9",
        "4294967296",
        "9223372036854775807",
        "-1",
        "é",
        "\n",
    ]);
    let edit = (any::<prop::sample::Index>(), 0usize..12, pieces);
    (prop::sample::select(vec![everything(), note(lists())]), prop::collection::vec(edit, 1..4)).prop_map(
        |(model, edits)| {
            let mut text: Vec<char> = model.to_string().chars().collect();
            for (at, removed, piece) in edits {
                let at = at.index(text.len());
                let end = (at + removed).min(text.len());
                text.splice(at..end, piece.chars());
            }
            text.into_iter().collect()
        },
    )
}

/// The text with one number replaced by another: many of these still parse, and build something odd.
fn renumbered() -> impl Strategy<Value = String> {
    let number = prop_oneof![0i64..16, any::<u32>().prop_map(i64::from), any::<i64>()];
    (any::<prop::sample::Index>(), number).prop_map(|(which, number)| {
        let text = everything().to_string();
        let digits = |c: char| c.is_ascii_digit();
        let starts: Vec<usize> =
            text.match_indices(digits).map(|(i, _)| i).filter(|&i| !text[..i].ends_with(digits)).collect();
        let at = starts[which.index(starts.len())];
        let end = text[at..].find(|c| !digits(c)).map_or(text.len(), |n| at + n);
        format!("{}{number}{}", &text[..at], &text[end..])
    })
}

/// Parses and validates, and where it parses, prints what parses to the same again.
fn survives(text: &str) -> Result<(), TestCaseError> {
    if let Ok(model) = parse(text) {
        let _ = model.validate();
        let _ = onnxsmith_ir::view::dot(&model);
        prop_assert_eq!(parse(&model.to_string()), Ok(model));
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_tensor_round_trips(tensor in tensor()) {
        let mut graph = Graph::new();
        prop_assert_eq!(tensor.to_string().parse(), Ok(tensor.clone()));
        graph.constant(tensor);
        let model = Model::new(17, graph);
        prop_assert_eq!(parse(&model.to_string()), Ok(model));
    }

    #[test]
    fn any_name_round_trips(name in any::<String>(), other in "\\PC*") {
        let mut graph = Graph::new();
        let x = graph.variable(&name, Type::new(DType::I8, []));
        graph.output(&other, x);
        let functions = vec![Function { name, body: graph.clone() }];
        let model = Model { opset: 17, functions, graph };
        prop_assert_eq!(parse(&model.to_string()), Ok(model));
    }

    #[test]
    fn mutated_texts_never_panic(text in mutated()) {
        survives(&text)?;
    }

    #[test]
    fn renumbered_texts_never_panic(text in renumbered()) {
        survives(&text)?;
    }

    #[test]
    fn arbitrary_texts_never_panic(text in any::<String>(), from in any::<prop::sample::Index>()) {
        let valid = everything().to_string();
        let cut = from.index(valid.len() + 1);
        survives(&format!("{}{text}", String::from_utf8_lossy(&valid.as_bytes()[..cut])))?;
    }
}
