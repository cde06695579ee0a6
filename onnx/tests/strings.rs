//! Tensors of strings come in as lists of bytes, operators read them, and they go out as what they are.

use std::collections::BTreeMap;

use ir::{DType, Datum, DatumKind, Strings, Tensor, Type, Wanted};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

const ML: &str = "ai.onnx.ml";

fn strings(shape: &[i64], texts: &[&str]) -> Datum {
    let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
    Datum::Strings(Strings::of_texts(shape.to_vec(), &texts).expect("as many as there are places"))
}

fn read(inputs: &str, outputs: &str, nodes: &str, given: &[(&str, Datum)]) -> Result<Imported, Error> {
    // Its first version is the only one with a list of classes.
    let ml = if nodes.contains("classes_strings") { 1 } else { 4 };
    let head = format!("<ir_version: 10, opset_import: [\"\" : 21, \"{ML}\" : {ml}]>");
    let text = format!("{head}\nm ({inputs}) => ({outputs}) {{ {nodes} }}\n");
    let known: BTreeMap<String, Datum> =
        given.iter().map(|(name, datum)| ((*name).to_owned(), datum.clone())).collect();
    specialise(&Program::from_text(&text)?, &Options { known_inputs: &known, ..Options::default() })
}

/// What a program makes of these inputs, as whoever runs its model has it.
fn run(inputs: &str, outputs: &str, nodes: &str, given: &[(&str, Datum)]) -> Vec<Datum> {
    let imported = read(inputs, outputs, nodes, given).unwrap_or_else(|e| panic!("{e}"));
    let graph = &imported.model.graph;
    let mut tensors: BTreeMap<String, Tensor> =
        given.iter().flat_map(|(name, datum)| datum.clone().into_named(name)).collect();
    let operands: Vec<Tensor> = graph.variables().map(|(_, name, _)| tensors.remove(name).unwrap()).collect();
    let results = interp::evaluate_plain(&imported.model, &operands).expect("values");
    let mut parts = graph.outputs.iter().map(|o| o.name.clone()).zip(results).collect();
    let gather = |Wanted { name, kind, .. }: &Wanted| kind.gather(name, &mut parts).expect("its parts");
    imported.interface.outputs.iter().map(gather).collect()
}

/// What nodes make of strings `x` and `z`.
fn of_two(nodes: &str, x: &Datum, z: &Datum) -> Datum {
    run("string[N] x, string[M] z", "y", nodes, &[("x", x.clone()), ("z", z.clone())]).remove(0)
}

fn whole(shape: &[i64], dtype: DType, numbers: &[i128]) -> Datum {
    Datum::Tensor(Tensor::from_i128_fn(&Type::new(dtype, shape), |i| numbers[i]))
}

#[test]
fn strings_come_in_and_go_out() {
    let x = strings(&[2, 2], &["", "a", "é", "a b"]);
    assert_eq!(run("string[2, 2] x", "string[2, 2] y", "y = Identity(x)", &[("x", x.clone())]), [x]);
    let constant = "y = Constant<value_strings = [\"a\", \"b\"]>()";
    assert_eq!(run("", "y", constant, &[]), [strings(&[2], &["a", "b"])]);
    assert_eq!(run("", "y", "y = Constant<value_string = \"a\">()", &[]), [strings(&[], &["a"])]);
    let nobody = read("string[2] x", "y", "y = Identity(x)", &[]).expect_err("it is not known how many");
    assert!(nobody.to_string().contains('x'), "{nobody}");
}

#[test]
fn strings_are_joined_and_compared_after_broadcasting() {
    let (x, one) = (strings(&[2], &["a", "é"]), strings(&[1], &["é"]));
    assert_eq!(of_two("y = StringConcat(x, z)", &x, &one), strings(&[2], &["aé", "éé"]));
    assert_eq!(of_two("y = Equal(x, z)", &x, &one), whole(&[2], DType::Bool, &[0, 1]));
    let none = strings(&[0], &[]);
    assert_eq!(of_two("y = StringConcat(x, z)", &none, &one), none);
    let why = |nodes: &str| {
        let given = [("x", x.clone()), ("z", strings(&[3], &["", "", ""]))];
        read("string[N] x, string[M] z", "y", nodes, &given).expect_err("it is not read").to_string()
    };
    assert!(why("y = StringConcat(x, z)").contains("broadcast"));
    assert!(why("n = Shape(z) y = StringConcat(x, n)").contains("strings"));
}

#[test]
fn strings_that_grow_and_grow_are_refused_before_they_are_there() {
    let twice =
        (1..=40).map(|i| format!("s{i} = StringConcat(s{0}, s{0})", i - 1)).collect::<Vec<_>>().join(" ");
    let nodes = format!("s0 = Identity(x) {twice} y = StringConcat(s40, z)");
    let given = [("x", strings(&[1], &["a"])), ("z", strings(&[1], &["b"]))];
    let why = read("string[N] x, string[M] z", "y", &nodes, &given).expect_err("it is too long").to_string();
    assert!(why.contains("bytes together"), "{why}");
}

#[test]
fn a_shape_is_read_without_the_strings() {
    let x = strings(&[2, 0], &[]);
    let given = [("x", x)];
    let found = run("string[A, B] x", "y, n", "y = Shape<start = 1>(x) n = Size(x)", &given);
    assert_eq!(found, [whole(&[1], DType::I64, &[0]), whole(&[], DType::I64, &[0])]);
}

#[test]
fn a_string_is_split_and_its_parts_are_counted() {
    let given = [("x", strings(&[2], &["a,b,c", "d"]))];
    let found = run("string[N] x", "y, n", "y, n = StringSplit<delimiter = \",\">(x)", &given);
    assert_eq!(found, [strings(&[2, 3], &["a", "b", "c", "d", "", ""]), whole(&[2], DType::I64, &[3, 1])]);
    let node = "y, n = StringSplit<delimiter = \",\", maxsplit = 1>(x)";
    assert_eq!(run("string[N] x", "y, n", node, &given)[0], strings(&[2, 2], &["a", "b,c", "d", ""]));
}

#[test]
fn words_are_taken_out_and_a_case_is_changed() {
    let x = strings(&[3], &["Monday", "tuesday", "monday"]);
    let node = |attributes: &str| format!("y = StringNormalizer<{attributes}>(x)");
    let one = |attributes: &str| of_two(&node(attributes), &x, &strings(&[0], &[]));
    let cased = "case_change_action = \"UPPER\", is_case_sensitive = 1, stopwords = [\"monday\"]";
    assert_eq!(one(cased), strings(&[2], &["MONDAY", "TUESDAY"]));
    assert_eq!(one("stopwords = [\"monday\"]"), strings(&[1], &["tuesday"]));
    // Where nothing is left, there is one empty string.
    assert_eq!(one("stopwords = [\"monday\", \"tuesday\"]"), strings(&[1], &[""]));
}

#[test]
fn a_pattern_must_match_all_of_a_string() {
    let x = strings(&[4], &["www.a.com", "a.com", "www.a.com/b", "www..com"]);
    let found =
        of_two("y = RegexFullMatch<pattern = \"www\\\\.[a-z]+\\\\.com\">(x)", &x, &strings(&[0], &[]));
    assert_eq!(found, whole(&[4], DType::Bool, &[1, 0, 0, 0]));
    let given = [("x", x)];
    let bad = read("string[N] x", "y", "y = RegexFullMatch<pattern = \"(\">(x)", &given);
    assert!(bad.expect_err("it is no pattern").to_string().contains("pattern"));
}

#[test]
fn labels_are_looked_up() {
    let node = |attributes: &str| format!("y = {ML}.LabelEncoder<{attributes}>(x)");
    let (x, none) = (strings(&[3], &["b", "c", "a"]), strings(&[0], &[]));
    let numbers = node("keys_strings = [\"a\", \"b\", \"a\"], values_int64s = [1, 2, 3], default_int64 = 9");
    // Of a key that is there twice the last counts.
    assert_eq!(of_two(&numbers, &x, &none), whole(&[3], DType::I64, &[2, 9, 3]));
    let texts = node("keys_strings = [\"a\"], values_strings = [\"é\"]");
    assert_eq!(of_two(&texts, &x, &none), strings(&[3], &["_Unused", "_Unused", "é"]));
    let x = whole(&[3], DType::I64, &[5, 6, 7]);
    let named = node("keys_int64s = [7, 5], values_strings = [\"seven\", \"five\"], default_string = \"\"");
    assert_eq!(run("int64[3] x", "y", &named, &[("x", x.clone())]), [strings(&[3], &["five", "", "seven"])]);
    let floats = node("keys_int64s = [7, 5], values_floats = [0.5, 0.25], default_float = 1.0");
    let found = run("int64[3] x", "y", &floats, &[("x", x.clone())]);
    let [Datum::Tensor(y)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(y.to_f64s(), [0.25, 1.0, 0.5]);
    let why = |attributes: &str| {
        let given = [("x", x.clone())];
        read("int64[3] x", "y", &node(attributes), &given).expect_err("it is not read").to_string()
    };
    assert!(why("keys_int64s = [7], values_int64s = [1, 2]").contains("1 keys and 2 values"));
    assert!(why("keys_int64s = [7]").contains("values_"));
    assert!(why("keys_floats = [7.0], values_int64s = [1]").contains("operand 0"));
    assert!(why("keys_strings = [\"a\"], values_int64s = [1]").contains("strings"));
}

#[test]
fn a_class_is_its_place_in_a_list() {
    let node = |rest: &str| format!("y = {ML}.LabelEncoder<classes_strings = [\"a\", \"b\"]{rest}>(x)");
    let (x, none) = (strings(&[3], &["b", "zz", "a"]), strings(&[0], &[]));
    assert_eq!(of_two(&node(", default_int64 = 7"), &x, &none), whole(&[3], DType::I64, &[1, 7, 0]));
    let places = whole(&[4], DType::I64, &[1, 2, 0, -1]);
    let named = run("int64[4] x", "y", &node(", default_string = \"zz\""), &[("x", places)]);
    assert_eq!(named, [strings(&[4], &["b", "zz", "a", "zz"])]);
    let twice = node("").replace("\"b\"", "\"a\"");
    let error = read("string[3] x", "y", &twice, &[("x", x)]).expect_err("0 or 1");
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
}

#[test]
fn operators_of_numbers_refuse_strings() {
    let x = strings(&[1], &["1"]);
    let why = |nodes: &str| {
        let given = [("x", x.clone())];
        read("string[1] x", "y", nodes, &given).expect_err("it is not read").to_string()
    };
    assert!(why("y = Add(x, x)").contains("string"));
    assert!(why("y = Cast<to = 1>(x)").contains("string"));
    let given = [("x", x.clone())];
    let declared = read("string[1] x", "float[1] y", "y = Identity(x)", &given).expect_err("it is no number");
    assert!(declared.to_string().contains('y'), "{declared}");
    assert_eq!(
        read("string[1] x", "y", "y = Identity(x)", &given).unwrap().interface.outputs[0].kind,
        DatumKind::Strings
    );
}

#[test]
fn strings_are_moved() {
    let x = strings(&[2, 2], &["a", "b", "é", ""]);
    let of = |nodes: &str| run("string[2, 2] x", "y", nodes, &[("x", x.clone())]).remove(0);
    let gathered = of("n = Constant<value = int64[2] {1, -2}>() y = Gather<axis = 1>(x, n)");
    assert_eq!(gathered, strings(&[2, 2], &["b", "a", "", "é"]));
    assert_eq!(of("y = Concat<axis = -1>(x, x)"), strings(&[2, 4], &["a", "b", "a", "b", "é", "", "é", ""]));
    assert_eq!(
        of("n = Constant<value_ints = [4, -1]>() y = Reshape(x, n)"),
        strings(&[4, 1], &["a", "b", "é", ""])
    );
    let chosen = of(
        "c = Constant<value = bool[2, 1] {1, 0}>() z = Constant<value_string = \"z\">() y = Where(c, x, z)",
    );
    assert_eq!(chosen, strings(&[2, 2], &["a", "b", "z", "z"]));
    let none = of("n = Constant<value = int64[0] {}>() y = Gather(x, n)");
    assert_eq!(none, strings(&[0, 2], &[]));
}

/// What chooses strings may be computed from an input, whose value tells it; the result is given that.
#[test]
fn what_strings_are_chosen_by_is_read() {
    let nodes = "n = ArgMax<axis = 0, keepdims = 0>(w) y = Gather(x, n)";
    let x = strings(&[3], &["a", "b", "c"]);
    let w = Datum::Tensor(Tensor::from_f64_fn(&Type::new(DType::F32, [3]), |i| [0.5, 2.0, 1.0][i]));
    let given = [("x", x), ("w", w)];
    assert_eq!(run("string[3] x, float[3] w", "y", nodes, &given), [strings(&[], &["b"])]);
    let imported = read("string[3] x, float[3] w", "y", nodes, &given).expect("a model");
    assert!(imported.specialised.contains(&"w".to_owned()), "{:?}", imported.specialised);
    let unknown = read("string[3] x, float[3] w", "y", nodes, &given[..1]).expect_err("nobody knows w");
    assert!(
        matches!(unknown, Error::Unsupported { .. }) && unknown.to_string().contains("(Gather)"),
        "{unknown}"
    );
    let beside = "n = Constant<value_int = 3>() y = Gather(x, n)";
    let beside = read("string[3] x, float[3] w", "y", beside, &given).expect_err("there is no fourth");
    assert!(beside.to_string().contains("3 is no place on an axis of 3"), "{beside}");
    let mixed =
        read("string[3] x, float[3] w", "y", "y = Concat<axis = 0>(x, w)", &given).expect_err("two types");
    assert!(mixed.to_string().contains("operand 1"), "{mixed}");
}

/// x: float[2, 2] {1, 2, 3, 4}; two classes that weigh the features, or trees.
#[test]
fn classifiers_have_labels_of_strings() {
    let x = Datum::Tensor(Tensor::from_f64_fn(&Type::new(DType::F32, [2, 2]), |i| [2.0, 1.0, 1.0, 2.0][i]));
    let given = [("x", x)];
    let linear = |rest: &str| {
        format!(
            "y, z = {ML}.LinearClassifier<classlabels_strings = [\"cat\", \"dög\"], coefficients = [1.0, 0.0, 0.0, 1.0], \
             intercepts = [0.0, 0.0]{rest}>(x)"
        )
    };
    let labels = strings(&[2], &["cat", "dög"]);
    assert_eq!(run("float[2, 2] x", "y", &linear(""), &given)[0], labels);
    // Without values only the scores are known.
    assert!(read("float[2, 2] x", "z", &linear(""), &[]).is_ok());
    let unknown = read("float[2, 2] x", "y", &linear(""), &[]).expect_err("which label it is, nobody knows");
    assert!(matches!(unknown, Error::Unsupported { .. }), "{unknown}");
    let both =
        read("float[2, 2] x", "y", &linear(", classlabels_ints = [1, 2]"), &given).expect_err("one of both");
    assert!(
        matches!(both, Error::Invalid { .. }) && both.to_string().contains("classlabels_strings"),
        "{both}"
    );
    let tree = format!(
        "y, z = {ML}.TreeEnsembleClassifier<nodes_treeids = [0, 0, 0], nodes_nodeids = [0, 1, 2], nodes_truenodeids = [1, 0, 0], \
         nodes_falsenodeids = [2, 0, 0], nodes_featureids = [0, 0, 0], nodes_values = [1.0, 0.0, 0.0], \
         nodes_modes = [\"BRANCH_GT\", \"LEAF\", \"LEAF\"], class_treeids = [0, 0], class_nodeids = [1, 2], class_ids = [0, 1], \
         class_weights = [1.0, 1.0], classlabels_strings = [\"cat\", \"dög\"]>(x)"
    );
    assert_eq!(run("float[2, 2] x", "y", &tree, &given), [labels]);
}

#[test]
fn categories_of_strings_are_hot() {
    let x = strings(&[3], &["b", "c", "a"]);
    let node = |rest: &str| format!("y = {ML}.OneHotEncoder<cats_strings = [\"a\", \"b\"]{rest}>(x)");
    let hot = |numbers: [f64; 6]| {
        Datum::Tensor(Tensor::from_f64_fn(&Type::new(DType::F32, [3, 2]), |i| numbers[i]))
    };
    let given = [("x", x)];
    let wanted = hot([0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(run("string[3] x", "y", &node(""), &given), [wanted]);
    let lacking = read("string[3] x", "y", &node(", zeros = 0"), &given).expect_err("c has no category");
    assert!(matches!(lacking, Error::Invalid { .. }) && lacking.to_string().contains("\"c\""), "{lacking}");
}
