use std::fs;

use ir::Held;
use prost::Message;

use super::*;
use crate::export::open_type;
use crate::proto::type_proto::Value;
use crate::proto::{SparseTensorProto, TypeProto, type_proto};
use crate::tensor;

fn port(name: &str, value: Value) -> ValueInfoProto {
    let r#type = Some(TypeProto { value: Some(value), ..Default::default() });
    ValueInfoProto { name: Some(name.to_owned()), r#type, ..Default::default() }
}

fn tensor_port(name: &str) -> ValueInfoProto {
    port(name, Value::TensorType(type_proto::Tensor::default()))
}

fn model(input: Vec<ValueInfoProto>, initializer: Vec<TensorProto>) -> Vec<u8> {
    let output = vec![tensor_port("y"), tensor_port("z")];
    let graph = GraphProto { input, output, initializer, ..Default::default() };
    ModelProto { graph: Some(graph), ..Default::default() }.encode_to_vec()
}

fn tensor_of(dtype: DType) -> Tensor {
    Tensor::from_i128_fn(&Type::new(dtype, [2, 3]), |i| i as i128)
}

fn value(name: &str, dtype: DType) -> NamedDatum {
    NamedDatum::new(name, tensor_of(dtype))
}

fn leeway() -> Leeway {
    Leeway { bound: value("", DType::F64).datum, mask: value("", DType::U8).datum }
}

fn sample() -> CaseFolder {
    let set = DataSet {
        inputs: vec![value("a", DType::F32), value("b", DType::I64)],
        outputs: vec![value("y", DType::F16), value("z", DType::Bool)],
        leeways: vec![leeway(); 2],
    };
    let ports = vec![tensor_port("a"), tensor_port("b")];
    let rewritten = CaseFolder {
        model: model(ports.clone(), vec![]).into(),
        sets: vec![set.clone()],
        ..CaseFolder::default()
    };
    let (model, json) = (model(ports, vec![]), Some(b"{}".to_vec()));
    CaseFolder {
        model: model.into(),
        sets: vec![set.clone(), set],
        json,
        rewritten: Some(Box::new(rewritten)),
    }
}

fn written(case: &CaseFolder) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cases/one");
    case.write(&path).unwrap();
    (dir, path)
}

/// The error's text, which must be of an invalid case.
fn invalid(result: Result<CaseFolder, Error>) -> String {
    let error = result.unwrap_err();
    assert!(matches!(error, Error::Invalid { .. }), "{error}");
    error.to_string()
}

#[test]
fn a_case_round_trips() {
    let bare = CaseFolder { json: None, sets: vec![], ..sample() };
    let without_outputs = {
        let mut case = sample();
        case.sets.iter_mut().for_each(|set| (set.outputs, set.leeways) = (vec![], vec![]));
        case
    };
    for case in [sample(), bare, without_outputs] {
        let (_dir, path) = written(&case);
        assert_eq!(CaseFolder::read(&path).unwrap(), case);
    }
}

#[test]
fn more_than_ten_files_keep_their_order() {
    let names: Vec<String> = (0..12).map(|i| format!("x{i}")).collect();
    let ports = names.iter().map(|n| tensor_port(n)).collect();
    let inputs = names.iter().map(|n| value(n, DType::I32)).collect();
    let set = DataSet { inputs, ..DataSet::default() };
    let case =
        CaseFolder { model: model(ports, vec![]).into(), sets: vec![set; 11], ..CaseFolder::default() };
    let (_dir, path) = written(&case);
    assert_eq!(CaseFolder::read(&path).unwrap(), case);
}

#[test]
fn writing_replaces_a_case_whole_and_leaves_nothing_behind() {
    let (dir, path) = written(&sample());
    let smaller = CaseFolder { sets: vec![], json: None, ..sample() };
    smaller.write(&path).unwrap();
    assert_eq!(CaseFolder::read(&path).unwrap(), smaller);
    assert_eq!(fs::read_dir(dir.path().join("cases")).unwrap().count(), 1);
}

#[test]
fn writing_does_not_replace_what_is_not_a_case() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("notes.txt"), "keep").unwrap();
    for path in [dir.path().to_path_buf(), dir.path().join("notes.txt")] {
        assert!(matches!(sample().write(&path), Err(Error::Invalid { .. })));
    }
    assert_eq!(fs::read(dir.path().join("notes.txt")).unwrap(), b"keep");
}

#[test]
fn a_lone_model_is_a_case_without_data() {
    let (_dir, path) = written(&sample());
    let case = CaseFolder::read(&path.join(MODEL)).unwrap();
    assert_eq!(case, CaseFolder { model: sample().model, ..CaseFolder::default() });
}

#[test]
fn names_come_from_the_graph() {
    let (_dir, path) = written(&sample());
    let renamed = tensor::to_proto("other", &tensor_of(DType::F32)).encode_to_vec();
    fs::write(path.join("test_data_set_0/input_0.pb"), renamed).unwrap();
    assert_eq!(CaseFolder::read(&path).unwrap().sets[0].inputs[0].name, "a");
}

#[test]
fn missing_and_surplus_files_are_named() {
    let set = "test_data_set_0";
    for (file, expected) in [
        ("input_1.pb", "input `b` in test_data_set_0"),
        ("input_0.pb", "input_0.pb should come before it"),
        ("output_1.pb", "output `z` in test_data_set_0"),
    ] {
        let (_dir, path) = written(&sample());
        fs::remove_file(path.join(set).join(file)).unwrap();
        let error = invalid(CaseFolder::read(&path));
        assert!(error.contains(expected), "{error}");
    }
    let (_dir, path) = written(&sample());
    fs::copy(path.join(set).join("input_0.pb"), path.join(set).join("input_2.pb")).unwrap();
    assert!(invalid(CaseFolder::read(&path)).contains("input_2.pb"));
}

#[test]
fn bounds_belong_to_their_outputs() {
    let set = "bounds_set_1";
    for (broken, expected) in [
        (None, "mask_1.pb"),
        (Some(value("z", DType::F32)), "it is f32[2, 3] where u8[2, 3] belongs to output_1.pb"),
    ] {
        let (_dir, path) = written(&sample());
        match broken {
            None => fs::remove_file(path.join(set).join("mask_1.pb")).unwrap(),
            Some(other) => {
                let bytes = encode("z", &other.datum);
                fs::write(path.join(set).join("mask_1.pb"), bytes).unwrap();
            }
        }
        let error = CaseFolder::read(&path).unwrap_err().to_string();
        assert!(error.contains(set) && error.contains(expected), "{error}");
    }
}

#[test]
fn inputs_with_an_initializer_may_be_left_out() {
    let mut case = sample();
    case.sets[0].inputs.pop().unwrap();
    case.sets.truncate(1);
    let b = tensor::to_proto("b", &tensor_of(DType::I64));
    case.model = model(vec![tensor_port("a"), tensor_port("b")], vec![b]).into();
    let (_dir, path) = written(&case);
    assert_eq!(CaseFolder::read(&path).unwrap(), case);
}

/// A model that takes these, of which `b` has a sparse default: the numbers from 0 on, but for the 0.
fn with_a_sparse_default(input: Vec<ValueInfoProto>) -> Vec<u8> {
    let numbers = |name: &str| {
        tensor::to_proto(name, &Tensor::from_i128_fn(&Type::new(DType::I64, [5]), |i| i as i128 + 1))
    };
    let b = SparseTensorProto { values: Some(numbers("b")), indices: Some(numbers("")), dims: vec![2, 3] };
    let output = vec![tensor_port("y"), tensor_port("z")];
    let graph = GraphProto { input, output, sparse_initializer: vec![b], ..Default::default() };
    ModelProto { graph: Some(graph), ..Default::default() }.encode_to_vec()
}

#[test]
fn a_sparse_initializer_is_a_default_as_well() {
    let mut case = sample();
    case.sets[0].inputs.pop().unwrap();
    case.sets.truncate(1);
    case.model = with_a_sparse_default(vec![tensor_port("a"), tensor_port("b")]).into();
    let (_dir, path) = written(&case);
    assert_eq!(CaseFolder::read(&path).unwrap(), case);
    let around = |given: &[&str]| {
        let model = with_a_sparse_default(["a", "b", "c"].map(tensor_port).to_vec()).into();
        CaseFolder { model, ..around_a_default(given) }
    };
    let (_dir, path) = written(&around(&["a", "c"]));
    assert_eq!(CaseFolder::read(&path).unwrap(), around(&["a", "b", "c"]));
}

/// A case whose model takes a, b and c, of which b has a default, with values for some of them.
fn around_a_default(given: &[&str]) -> CaseFolder {
    let ports = ["a", "b", "c"].map(tensor_port).to_vec();
    let default = tensor::to_proto("b", &tensor_of(DType::I64));
    let inputs = given.iter().map(|name| value(name, DType::I64)).collect();
    let set = DataSet { inputs, ..DataSet::default() };
    CaseFolder { model: model(ports, vec![default]).into(), sets: vec![set], ..CaseFolder::default() }
}

/// ONNX's own runner counts the files, and calls the model with what is in them by position.
#[test]
fn an_input_before_others_that_have_values_is_given_its_default() {
    let (_dir, path) = written(&around_a_default(&["a", "c"]));
    assert_eq!(CaseFolder::read(&path).unwrap(), around_a_default(&["a", "b", "c"]));
}

#[test]
fn values_that_would_get_the_numbers_of_other_inputs_are_refused() {
    for (given, why) in [(["b", "a"], "input `a`"), (["b", "c"], "input `a`"), (["a", "a"], "input `a`")] {
        let dir = tempfile::tempdir().unwrap();
        let error = around_a_default(&given).write(&dir.path().join("one")).unwrap_err().to_string();
        assert!(error.contains(why), "{given:?}: {error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{given:?}: something is left behind");
    }
}

/// A datum of each kind, and one without tensors of each that may have none.
fn data() -> Vec<(DatumKind, Datum)> {
    let two = || vec![tensor_of(DType::F32), Tensor::zeros(&Type::new(DType::F32, [0]))];
    vec![
        (DatumKind::Tensor, tensor_of(DType::F32).into()),
        (DatumKind::Sequence, Datum::Sequence(two())),
        (DatumKind::Sequence, Datum::Sequence(Vec::new())),
        (DatumKind::Optional, Datum::Optional(Some(Held::Tensor(tensor_of(DType::I8))))),
        (DatumKind::Optional, Datum::Optional(None)),
        (DatumKind::OptionalSequence, Datum::Optional(Some(Held::Sequence(two())))),
        (DatumKind::OptionalSequence, Datum::Optional(Some(Held::Sequence(Vec::new())))),
        (DatumKind::OptionalSequence, Datum::Optional(None)),
    ]
}

/// A case whose inputs and outputs are these.
fn holding(data: &[(DatumKind, Datum)]) -> CaseFolder {
    let ports = |prefix: char| {
        let named = data.iter().enumerate().map(|(i, (kind, _))| {
            let value = open_type(*kind, DType::F32).value.unwrap();
            port(&format!("{prefix}{i}"), value)
        });
        named.collect::<Vec<ValueInfoProto>>()
    };
    let values = |prefix: char| {
        let named = data.iter().enumerate();
        named.map(|(i, (_, datum))| NamedDatum::new(format!("{prefix}{i}"), datum.clone())).collect()
    };
    let like = |dtype: DType| move |t: Tensor| Tensor::from_f64_fn(&Type { dtype, ..t.ty() }, |_| 1.0);
    let leeway = |(_, datum): &(DatumKind, Datum)| Leeway {
        bound: datum.clone().map(like(DType::F64)),
        mask: datum.clone().map(like(DType::U8)),
    };
    let leeways = data.iter().map(leeway).collect();
    let graph = GraphProto { input: ports('x'), output: ports('y'), ..Default::default() };
    let model = ModelProto { graph: Some(graph), ..Default::default() }.encode_to_vec();
    let set = DataSet { inputs: values('x'), outputs: values('y'), leeways };
    CaseFolder { model: model.into(), sets: vec![set], ..CaseFolder::default() }
}

#[test]
fn sequences_and_optionals_round_trip() {
    let case = holding(&data());
    let (_dir, path) = written(&case);
    assert_eq!(CaseFolder::read(&path).unwrap(), case);
}

#[test]
fn an_optional_holds_what_the_graph_declares() {
    let held = Datum::Optional(Some(Held::Tensor(tensor_of(DType::F32))));
    let (_dir, path) = written(&holding(&[(DatumKind::OptionalSequence, held)]));
    let error = invalid(CaseFolder::read(&path));
    assert!(error.contains("input_0.pb") && error.contains("optional sequence"), "{error}");
}

#[test]
fn bounds_of_a_sequence_have_the_shapes_of_its_elements() {
    let (_dir, path) =
        written(&holding(&[(DatumKind::Sequence, Datum::Sequence(vec![tensor_of(DType::F32)]))]));
    let none = encode("y0", &Datum::Sequence(Vec::new()));
    fs::write(path.join("bounds_set_0/bound_0.pb"), none).unwrap();
    let error = invalid(CaseFolder::read(&path));
    assert!(error.contains("it is sequence of () where sequence of (f64[2, 3]) belongs"), "{error}");
}

#[test]
fn maps_and_sparse_tensors_are_unsupported() {
    let kinds = [
        Value::SequenceType(Box::default()),
        Value::OptionalType(Box::default()),
        Value::MapType(Box::default()),
        Value::SparseTensorType(type_proto::SparseTensor::default()),
    ];
    for kind in kinds {
        let case =
            CaseFolder { model: model(vec![port("a", kind), tensor_port("b")], vec![]).into(), ..sample() };
        let (_dir, path) = written(&case);
        let error = CaseFolder::read(&path).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains("`a`"), "{error}");
    }
}

#[test]
fn garbage_is_invalid_and_the_error_says_where() {
    for file in [MODEL, "test_data_set_0/input_0.pb"] {
        let (_dir, path) = written(&sample());
        fs::write(path.join(file), [0xff; 9]).unwrap();
        let error = invalid(CaseFolder::read(&path));
        assert!(error.contains("cases") && error.contains(&file_name(Path::new(file))), "{error}");
    }
    let (_dir, path) = written(&sample());
    fs::write(path.join(MODEL), []).unwrap();
    assert!(invalid(CaseFolder::read(&path)).contains("no graph"));
}
