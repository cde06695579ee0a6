//! Sequences and optionals as inputs and outputs of a model: they become tensors of the graph, and the interface says which.

use std::collections::BTreeMap;

use ir::{DType, Datum, DatumKind, Held, Tensor, Type, Wanted};
use onnx::export::open_type;
use onnx::import::{Options, import};
use onnx::proto::{GraphProto, ModelProto, NodeProto, OperatorSetIdProto, ValueInfoProto};
use onnx::{Error, Imported};
use onnxsmith_onnx as onnx;

fn node(op_type: &str, inputs: &[&str], outputs: &[&str]) -> NodeProto {
    let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect();
    NodeProto {
        op_type: Some(op_type.to_owned()),
        input: names(inputs),
        output: names(outputs),
        ..Default::default()
    }
}

fn port(&(name, kind): &(&str, DatumKind)) -> ValueInfoProto {
    let r#type = Some(open_type(kind, DType::F32));
    ValueInfoProto { name: Some(name.to_owned()), r#type, ..Default::default() }
}

/// A model whose inputs and outputs hold f32, of shapes that are not said.
fn model(inputs: &[(&str, DatumKind)], nodes: Vec<NodeProto>, outputs: &[(&str, DatumKind)]) -> ModelProto {
    let (input, output) = (inputs.iter().map(port).collect(), outputs.iter().map(port).collect());
    ModelProto {
        ir_version: Some(10),
        opset_import: vec![OperatorSetIdProto { domain: None, version: Some(21) }],
        graph: Some(GraphProto { node: nodes, input, output, ..Default::default() }),
        ..Default::default()
    }
}

fn floats(values: &[f64]) -> Tensor {
    Tensor::from_f64_fn(&Type::new(DType::F32, [values.len() as i64]), |i| values[i])
}

fn specialise(model: &ModelProto, inputs: &[(&str, Datum)]) -> Result<Imported, Error> {
    let known_inputs: BTreeMap<String, Datum> =
        inputs.iter().map(|(name, datum)| ((*name).to_owned(), datum.clone())).collect();
    import(model, &Options { known_inputs: &known_inputs, ..Options::default() })
}

/// The outputs of a program, computed by the model that it leads to.
#[track_caller]
fn run(model: &ModelProto, inputs: &[(&str, Datum)]) -> Vec<Datum> {
    let imported = specialise(model, inputs).unwrap_or_else(|e| panic!("{e}"));
    assert!(imported.is_specialised);
    let graph = &imported.model.graph;
    let mut tensors: BTreeMap<String, Tensor> =
        inputs.iter().flat_map(|(name, datum)| datum.clone().into_named(name)).collect();
    let given: Vec<Tensor> = graph.variables().map(|(_, name, _)| tensors.remove(name).unwrap()).collect();
    let outputs = interp::evaluate_plain(&imported.model, &given).unwrap();
    let mut parts = graph.outputs.iter().map(|o| o.name.clone()).zip(outputs).collect();
    let gather = |Wanted { name, kind, .. }: &Wanted| kind.gather(name, &mut parts).unwrap();
    let gathered = imported.interface.outputs.iter().map(gather).collect();
    assert!(parts.is_empty(), "{parts:?}");
    gathered
}

#[test]
fn a_sequence_is_a_variable_for_each_of_its_tensors() {
    let model = model(
        &[("xs", DatumKind::Sequence), ("x", DatumKind::Tensor)],
        vec![node("SequenceInsert", &["xs", "x"], &["ys"]), node("SequenceLength", &["ys"], &["n"])],
        &[("ys", DatumKind::Sequence)],
    );
    let items = vec![floats(&[1.0]), floats(&[2.0, 3.0])];
    let inputs = [("xs", Datum::Sequence(items.clone())), ("x", floats(&[4.0]).into())];
    let imported = specialise(&model, &inputs).unwrap();
    let variables: Vec<&str> = imported.model.graph.variables().map(|(_, name, _)| name).collect();
    assert_eq!(variables, ["xs[0]", "xs[1]", "x"]);
    let made_of = Datum::Sequence(vec!["xs[0]".to_owned(), "xs[1]".to_owned()]);
    let itself = Datum::Tensor("x".to_owned());
    assert_eq!(imported.interface.inputs, [("xs".to_owned(), made_of), ("x".to_owned(), itself)]);
    let wanted = Wanted { name: "ys".to_owned(), dtype: DType::F32, kind: DatumKind::Sequence };
    assert_eq!(imported.interface.outputs, [wanted]);
    let all = [items, vec![floats(&[4.0])]].concat();
    assert_eq!(run(&model, &inputs), [Datum::Sequence(all)]);
}

#[test]
fn values_pass_through_as_what_they_are() {
    let held = [Held::Tensor(floats(&[1.0])), Held::Sequence(vec![floats(&[1.0]), floats(&[])])];
    let [_, sequence] = held.clone().map(Datum::from);
    let [optional, of_sequence] = held.map(|held| Datum::Optional(Some(held)));
    for (kind, datum) in [
        (DatumKind::Sequence, sequence),
        (DatumKind::Sequence, Datum::Sequence(Vec::new())),
        (DatumKind::Optional, optional),
        (DatumKind::Optional, Datum::Optional(None)),
        (DatumKind::OptionalSequence, of_sequence),
        (DatumKind::OptionalSequence, Datum::Optional(Some(Held::Sequence(Vec::new())))),
        (DatumKind::OptionalSequence, Datum::Optional(None)),
    ] {
        let pass = vec![node("Identity", &["x"], &["y"])];
        let model = model(&[("x", kind)], pass, &[("y", kind)]);
        assert_eq!(run(&model, &[("x", datum.clone())]), [datum]);
    }
}

#[test]
fn an_input_is_of_the_kind_that_is_declared() {
    let pass = || vec![node("Identity", &["x"], &["y"])];
    let (tensor, sequence) = (Datum::from(floats(&[1.0])), Datum::Sequence(vec![floats(&[1.0])]));
    let narrow = Tensor::from_i128_fn(&Type::new(DType::I8, [1]), |_| 1);
    for (kind, datum) in [
        (DatumKind::Tensor, sequence.clone()),
        (DatumKind::Sequence, tensor.clone()),
        (DatumKind::Optional, tensor),
        (DatumKind::Optional, sequence),
        (DatumKind::Sequence, Datum::Sequence(vec![floats(&[1.0]), narrow])),
    ] {
        let error = specialise(&model(&[("x", kind)], pass(), &[("y", kind)]), &[("x", datum)]).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{error}");
        assert!(error.to_string().contains("`x`"), "{error}");
    }
}

#[test]
fn an_output_is_of_the_kind_that_is_declared() {
    let construct = vec![node("SequenceConstruct", &["x", "x"], &["y"])];
    let model = model(&[("x", DatumKind::Tensor)], construct, &[("y", DatumKind::Tensor)]);
    let error = specialise(&model, &[("x", floats(&[1.0]).into())]).unwrap_err();
    assert!(matches!(error, Error::Invalid { .. }), "{error}");
}

#[test]
fn a_sequence_whose_length_is_not_known_is_unsupported() {
    let model = model(
        &[("x", DatumKind::Sequence)],
        vec![node("Identity", &["x"], &["y"])],
        &[("y", DatumKind::Sequence)],
    );
    let error = specialise(&model, &[]).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
}

/// Who gives an optional may give what it holds.
#[test]
fn what_an_optional_output_holds_need_not_be_wrapped() {
    let model = model(
        &[("x", DatumKind::Tensor)],
        vec![node("Identity", &["x"], &["y"])],
        &[("y", DatumKind::Optional)],
    );
    let x = floats(&[1.0, 2.0]);
    assert_eq!(run(&model, &[("x", x.clone().into())]), [Datum::Optional(Some(Held::Tensor(x)))]);
}

#[test]
fn a_function_that_gets_a_sequence_is_written_out() {
    let pass = onnx::proto::FunctionProto {
        name: Some("pass".to_owned()),
        domain: Some("own".to_owned()),
        input: vec!["a".to_owned()],
        output: vec!["b".to_owned()],
        node: vec![node("Identity", &["a"], &["b"])],
        opset_import: vec![OperatorSetIdProto { domain: None, version: Some(21) }],
        ..Default::default()
    };
    let call = NodeProto { domain: Some("own".to_owned()), ..node("pass", &["x"], &["y"]) };
    let mut model = model(&[("x", DatumKind::Sequence)], vec![call], &[("y", DatumKind::Sequence)]);
    model.functions.push(pass);
    model.opset_import.push(OperatorSetIdProto { domain: Some("own".to_owned()), version: Some(1) });
    let datum = Datum::Sequence(vec![floats(&[1.0])]);
    assert_eq!(run(&model, &[("x", datum.clone())]), [datum]);
}
