//! What is printed is read again, what cannot be printed is said, and what is no model is pointed at.

use prost::Message as _;

use super::{ParseError, Problem, parse, print};
use crate::program::Program;
use crate::proto::attribute_proto::AttributeType;
use crate::proto::tensor_proto::{DataLocation, DataType};
use crate::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, SparseTensorProto, StringStringEntryProto,
    TensorAnnotation, TensorProto, TypeProto, ValueInfoProto,
};

/// All of ONNX's syntax, in the layout that is printed. `scripts/programs.py` compares how ONNX's parser reads it.
const STANDARD: &str = include_str!("tests/standard.onnxtxt");
/// What is beyond that.
const BEYOND: &str = include_str!("tests/beyond.onnxtxt");

#[track_caller]
fn read(text: &str) -> ModelProto {
    parse(text).unwrap_or_else(|e| panic!("{e}"))
}

#[track_caller]
fn is_printed_as_it_was_read(written: &str) {
    let model = read(written);
    assert_eq!(print(&model).to_string(), written);
    let program = Program::read(model.clone()).unwrap();
    let text = program.to_text();
    assert!(text.left_out.is_empty(), "{text}");
    let back = Program::read(read(&text.to_string())).unwrap().write();
    // As bytes, because NaN is not itself.
    assert_eq!(back.encode_to_vec(), model.encode_to_vec());
}

#[test]
fn all_of_the_syntax_is_printed_as_it_was_read() {
    is_printed_as_it_was_read(STANDARD);
    is_printed_as_it_was_read(BEYOND);
}

/// The message of that text, field by field where it is easily got wrong.
#[test]
fn what_is_read_is_what_onnx_means() {
    let model = read(STANDARD);
    let opsets: Vec<_> = model.opset_import.iter().map(|o| (o.domain(), o.version())).collect();
    assert_eq!(opsets, [("", 21), ("local.functions", 1)]);
    let graph = model.graph.as_ref().unwrap();
    let tensor = |name: &str| graph.initializer.iter().find(|t| t.name() == name).unwrap();
    assert_eq!(tensor("halves").int32_data, [0x3c00, 0x8000], "bits");
    assert_eq!((&tensor("packed").int32_data[..], &tensor("packed").dims[..]), (&[0x2f, 1][..], &[3][..]));
    assert_eq!(tensor("texts").string_data, [&b"a\"b\\c"[..], "é\n".as_bytes()]);
    let bits: Vec<u32> = tensor("floats").float_data.iter().map(|v| v.to_bits()).collect();
    let notable = [0x8000_0000, 1, 0x7f7f_ffff, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0xffc0_0000];
    assert_eq!(bits, notable);
    assert_eq!(tensor("outside").data_location(), DataLocation::External);
    assert_eq!(graph.node[0].input, ["x", "", "large"]);
    assert_eq!(graph.node[0].name(), "first node");
    let function = &model.functions[0];
    assert_eq!((&function.attribute[..], function.attribute_proto[0].f()), (&["alpha".to_owned()][..], 0.5));
    assert_eq!(function.node[0].attribute[0].ref_attr_name(), "alpha");
    assert_eq!(model.functions[1].overload(), "second");
}

#[test]
fn what_is_beyond_onnx_is_read_all_the_same() {
    let graph = read(BEYOND).graph.unwrap();
    let bits: Vec<u32> = graph.initializer[0].float_data.iter().map(|v| v.to_bits()).collect();
    assert_eq!(bits, [0x7f80_0001, 0xffff_ffff, 0x7fc0_0000]);
    assert_eq!(graph.initializer[1].double_data[0].to_bits(), 0x7ff0_0000_0000_0001);
    let [odd, holds] = &graph.node[..] else { panic!("{graph:?}") };
    let says = (odd.domain(), odd.op_type(), odd.overload(), odd.attribute[0].name());
    assert_eq!(says, ("odd-domain", "Odd Operator", "one of two", "an attribute"));
    let of = |name: &str| holds.attribute.iter().find(|a| a.name() == name).unwrap();
    assert_eq!(
        [of("odd"), of("typed"), of("nameless")].map(|a| a.g.as_ref().unwrap().name()),
        ["inf", "float", ""]
    );
    assert_eq!((of("ts").tensors.len(), of("gs").graphs.len(), of("tps").type_protos.len()), (2, 2, 2));
    assert_eq!(of("gs").graphs[1].name(), "two graphs");
}

#[test]
fn bytes_become_the_numbers_of_their_type() {
    let tensor = |dtype: DataType, raw: &[u8]| TensorProto {
        name: Some("w".to_owned()),
        data_type: Some(dtype as i32),
        raw_data: Some(raw.to_vec().into()),
        ..Default::default()
    };
    let shown = |dtype, raw: &[u8]| {
        let graph = GraphProto { initializer: vec![tensor(dtype, raw)], ..Default::default() };
        let text = print(&ModelProto { graph: Some(graph), ..Default::default() }).to_string();
        text.lines().nth(1).unwrap().trim().to_owned()
    };
    assert_eq!(shown(DataType::Int8, &[0xff]), "int8 w = {-1}");
    assert_eq!(shown(DataType::Uint8, &[0xff]), "uint8 w = {255}");
    assert_eq!(shown(DataType::Int16, &[0, 0x80]), "int16 w = {-32768}");
    assert_eq!(shown(DataType::Bfloat16, &[0, 0x80]), "bfloat16 w = {32768}");
    assert_eq!(shown(DataType::Uint32, &[0xff; 4]), "uint32 w = {4294967295}");
    assert_eq!(shown(DataType::Uint64, &[0xff; 8]), "uint64 w = {18446744073709551615}");
    assert_eq!(shown(DataType::Int64, &[0xff; 8]), "int64 w = {-1}");
    assert_eq!(shown(DataType::Float, &0.1f32.to_le_bytes()), "float w = {0.1}");
    assert_eq!(
        shown(DataType::Double, &f64::MIN_POSITIVE.to_le_bytes()),
        "double w = {2.2250738585072014e-308}"
    );
    assert_eq!(shown(DataType::Complex64, &[0; 8]), "complex64 w = {0.0, 0.0}");
    assert_eq!(shown(DataType::Int4, &[0x2f, 1]), "int4 w = {47, 1}");
}

/// Whatever the syntax has no place for.
#[test]
fn what_is_left_out_is_said() {
    let some = || Some("something".to_owned());
    let entries = || vec![StringStringEntryProto { key: some(), value: some() }];
    let tensor = TensorProto {
        name: some(),
        data_type: Some(DataType::Float as i32),
        raw_data: Some(vec![0; 3].into()),
        doc_string: some(),
        metadata_props: entries(),
        ..Default::default()
    };
    let value = ValueInfoProto { name: some(), doc_string: some(), ..Default::default() };
    let attribute = AttributeProto {
        name: some(),
        r#type: Some(AttributeType::Int as i32),
        i: Some(1),
        f: Some(1.0),
        doc_string: some(),
        ..Default::default()
    };
    let untyped = AttributeProto { name: some(), s: Some(vec![0xff]), ..Default::default() };
    let node = NodeProto {
        attribute: vec![attribute, untyped],
        doc_string: some(),
        metadata_props: entries(),
        ..Default::default()
    };
    let graph = GraphProto {
        node: vec![node.clone(), node],
        initializer: vec![tensor],
        sparse_initializer: vec![SparseTensorProto::default()],
        doc_string: some(),
        value_info: vec![value],
        quantization_annotation: vec![TensorAnnotation::default()],
        input: vec![ValueInfoProto {
            name: some(),
            r#type: Some(TypeProto { denotation: some(), value: None }),
            ..Default::default()
        }],
        ..Default::default()
    };
    let text = print(&ModelProto { graph: Some(graph), ..Default::default() });
    let left_out: Vec<_> = text.left_out.iter().map(|(what, times)| format!("{what}: {times}")).collect();
    assert_eq!(
        left_out,
        [
            "a type that says nothing: 1",
            "a value of an attribute that is not of its type: 2",
            "bytes of a string that are no UTF-8: 2",
            "doc_string of a graph: 1",
            "doc_string of a node: 2",
            "doc_string of a tensor: 1",
            "doc_string of a value: 1",
            "doc_string of an attribute: 2",
            "elements of a tensor that are not as its type has them: 1",
            "metadata_props of a node: 2",
            "metadata_props of a tensor: 1",
            "quantization_annotation of a graph: 1",
            "sparse_initializer of a graph: 1",
            "type of an attribute: 2",
        ]
    );
    assert!(text.to_string().ends_with("\n# left out: type of an attribute (2)\n"));
    assert!(parse(&text.to_string()).is_ok(), "the rest is still a model");
}

/// Where no other than ONNX's own printer puts commas, types and spaces.
#[test]
fn other_layouts_mean_the_same() {
    let ours =
        read("g (float x, int64[1] n = {3}) => (y, z) { y, z = d.e.F <a = 1, b : ints = []> (x, \"\", n) }");
    for other in [
        "g(float x,int64[1] n={3})=>(y,z){y,z=d.e.F<a=1,b:ints=[]>(x,,n)}",
        "# what it is\ng (float x, int64[1] \"n\" = {3}) => (y, z)\n{ y, z = d.e.F (x, \"\", n,) <a : int = 1, b : ints = []> } # the end",
        "g (float x, int64[1] n) => (y, z) <int64[1] n = {3}> { y, z = d . e . F <\"a\" = 1, b: ints = []> (x, \"\", n) }",
    ] {
        assert_eq!(read(other), ours, "{other}");
    }
    let alike = |one, other| assert_eq!(print(&read(one)), print(&read(other)));
    alike("g () => () { = F <a: floats = [1, 2.5]> () }", "g () => () { = F <a = [1.0, 2.5]> () }");
    alike("g () => () { = F <a = Infinity, b = -NaN> () }", "g () => () { = F <a = inf, b = -nan> () }");
}

#[track_caller]
fn wrong(text: &str) -> (usize, usize, String) {
    let ParseError { place, problem, .. } = parse(text).unwrap_err();
    (place.line, place.column, problem.to_string())
}

#[test]
fn errors_point_at_what_is_wrong() {
    let expected = |line, column, what: &str| (line, column, format!("expected {what}"));
    assert_eq!(wrong("g () => () {\n  é"), (2, 3, "unexpected character 'é'".to_owned()));
    assert_eq!(wrong("g (float x) {}"), expected(1, 13, "`=>`, found `{`"));
    assert_eq!(
        wrong("g (float x) => () <float y = x> {}"),
        expected(1, 30, "`{` and elements, or `[` and where they are, found `x`")
    );
    assert_eq!(wrong("g () => () { y Relu(x) }"), expected(1, 16, "`=`, found `Relu`"));
    assert_eq!(wrong("g () => () {"), expected(1, 13, "a node or `}`, found the end of the text"));
    assert_eq!(
        wrong("g () => () { = F <a: int = 1.5> () }"),
        expected(1, 28, "a value of type `int`, found `1.5`")
    );
    assert_eq!(
        wrong("g () => () { = F <a = []> () }"),
        expected(1, 23, "a type before a list without values, found `[`")
    );
    assert_eq!(
        wrong("g () => () { = F <a = [1, \"b\"]> () }"),
        expected(1, 27, "a value of type `int`, found \"b\"")
    );
    assert_eq!(wrong("<ir_versoin: 1> g () => () {}").1, 2);
    assert_eq!(
        wrong("g () => () <uint64 x = {-1}> {}"),
        (1, 25, "`-1` is not a number of type uint64".to_owned())
    );
    assert_eq!(
        wrong("g () => () <float x = {1e39}> {}"),
        (1, 24, "`1e39` is not a number of type float".to_owned())
    );
    assert_eq!(wrong("g () => () <float x = {nan(0x1)}> {}").2, "`nan(0x1)` is not a number of type float");
    assert_eq!(
        wrong("g () => () { = F <a = \"b> () }"),
        (1, 23, "the string has no closing quote".to_owned())
    );
    assert_eq!(wrong("g () => () {} } "), expected(1, 15, "the function's name, found `}`"));
}

#[test]
fn a_long_line_is_shown_around_the_place() {
    let error = parse(&format!("g () => () <float x = {{{}x}}> {{}}", "1.0, ".repeat(500))).unwrap_err();
    let [_, line, mark] =
        error.to_string().lines().map(str::to_owned).collect::<Vec<_>>().try_into().unwrap();
    assert!(line.len() < 130 && line.contains("1.0, x}> {}"), "{line}");
    assert_eq!(line.find('x'), mark.find('^'));
}

#[test]
fn what_nests_too_deep_is_refused_and_all_else_can_be_decoded() {
    let nested =
        |n: usize| format!("{}g () => () {{}}{}", "g () => () { y = F <a = ".repeat(n), "> () }".repeat(n));
    let deepest = (1..100).take_while(|&n| parse(&nested(n)).is_ok()).last().unwrap();
    assert!(deepest > 20, "{deepest}");
    let bytes = read(&nested(deepest)).encode_to_vec();
    assert_eq!(ModelProto::decode(&*bytes).unwrap(), read(&nested(deepest)));
    assert_eq!(parse(&nested(deepest + 1)).unwrap_err().problem, Problem::Deep);
    assert_eq!(parse(&nested(100_000)).unwrap_err().problem, Problem::Deep);
    assert_eq!(parse(&format!("g ({}", "seq(".repeat(100_000))).unwrap_err().problem, Problem::Deep);
}
