//! Attention, rotations and embeddings. Where all scores are 0, what is attended to is an average, which is exact here.

use interp::{Profile, Taps, evaluate};
use ir::{DType, Tensor, Type};
use onnxsmith_onnx::import::Unknown;

use super::{read, reals, tensor};

/// One head of one number: queries that are 0, so that each key counts as much.
fn average(node: &str, values: &[f64]) -> Vec<f64> {
    let count = values.len() as i64;
    let inputs = format!("float[1, 2, 1] q, float[1, {count}, 1] k, float[1, {count}, 1] v");
    let keys = vec![3.; values.len()];
    let operands =
        [reals(&[1, 2, 1], &[0., 0.]), reals(&[1, count, 1], &keys), reals(&[1, count, 1], values)];
    tensor(&inputs, node, &operands).to_f64s()
}

fn integers(shape: &[i64], numbers: &[i128]) -> Tensor {
    Tensor::from_i128_fn(&Type::new(DType::I32, shape), |i| numbers[i])
}

#[test]
fn keys_that_are_padding_or_come_later_are_not_attended() {
    let attended = |rest: &str, attributes: &str| {
        let node = format!("y = ms.MultiHeadAttention<num_heads = 1{attributes}>(q, k, v{rest})");
        average(
            &format!(
                "m = Constant<value = int32[1] {{1}}>() n = Constant<value = int32[1, 2] {{0, 1}}>() {node}"
            ),
            &[2., 4.],
        )
    };
    assert_eq!(attended("", ""), [3., 3.]);
    assert_eq!(attended(", , m", ""), [2., 2.], "one key is there");
    assert_eq!(attended(", , n", ""), [4., 4.], "the first is padding");
    assert_eq!(attended("", ", unidirectional = 1"), [2., 3.]);
}

#[test]
fn a_mask_adds_to_scores_so_that_padding_alone_is_attended_to() {
    let node = "m = Constant<value = int32[1, 2] {0, 0}>() \
                y = ms.MultiHeadAttention<num_heads = 1>(q, k, v, , m)";
    assert_eq!(average(node, &[2., 4.]), [3., 3.]);
}

#[test]
fn a_mask_has_no_other_numbers_than_0_and_1() {
    let inputs = "float[1, 1, 1] q, float[1, 2, 1] k, float[1, 2, 1] v, int32[1, 2] m";
    let node = "y = ms.MultiHeadAttention<num_heads = 1>(q, k, v, , m)";
    let model = read(inputs, "y", node, Unknown::Refuse).expect("it is read").model;
    let is_defined = |mask: &[i128]| {
        let values = [
            reals(&[1, 1, 1], &[0.]),
            reals(&[1, 2, 1], &[1., 1.]),
            reals(&[1, 2, 1], &[1., 3.]),
            integers(&[1, 2], mask),
        ];
        evaluate(&model, &values, &Profile::DECLARED, Taps::Outputs).expect("values").is_defined
    };
    assert!(is_defined(&[0, 1]) && !is_defined(&[1, 2]) && !is_defined(&[-1, 1]));
}

#[test]
fn queries_keys_and_values_may_be_packed_and_biased() {
    let bias = "b = Constant<value = float[3] {0.0, 0.0, 1.0}>()";
    let packed = tensor(
        "float[1, 2, 1, 3, 1] x",
        &format!("{bias} y = ms.MultiHeadAttention<num_heads = 1>(x, , , b)"),
        &[reals(&[1, 2, 1, 3, 1], &[0., 5., 2., 0., 7., 4.])],
    );
    assert_eq!(packed.to_f64s(), [4., 4.]);
    let pairs = tensor(
        "float[1, 1, 1] q, float[1, 2, 1, 2, 1] x",
        &format!("{bias} y = ms.MultiHeadAttention<num_heads = 1>(q, x, , b)"),
        &[reals(&[1, 1, 1], &[0.]), reals(&[1, 2, 1, 2, 1], &[5., 2., 7., 4.])],
    );
    assert_eq!(pairs.to_f64s(), [4.]);
}

#[test]
fn what_was_before_comes_first() {
    let past = "p = Constant<value = float[1, 1, 1, 1] {8.0}>()";
    let multi = average(
        &format!("{past} x, z, y = ms.MultiHeadAttention<num_heads = 1>(q, k, v, , , , p, p)"),
        &[2., 4.],
    );
    assert_eq!(multi, [8., 2., 4.]);
    // A query at the place 1 attends two of the keys.
    let attended = average(
        &format!("{past} y = ms.MultiHeadAttention<num_heads = 1, unidirectional = 1>(q, k, v, , , , p, p)"),
        &[2., 5.],
    );
    assert_eq!(attended, [5., 5.]);
}

#[test]
fn attention_projects_first() {
    // Weights that take the one number to a query of 0, a key and twice that as a value.
    let node = "w = Constant<value = float[1, 3] {0.0, 1.0, 2.0}>() b = Constant<value = float[3] {0.0, 0.0, 1.0}>() \
                m = Constant<value = int32[2] {2, 1}>()";
    let x = [reals(&[1, 2, 1], &[1., 3.])];
    let with = |operands: &str| {
        let node = format!("{node} y = ms.Attention<num_heads = 1>(x, w, b{operands})");
        tensor("float[1, 2, 1] x", &node, &x).to_f64s()
    };
    assert_eq!(with(""), [5., 5.]);
    assert_eq!(with(", m"), [7., 7.], "the keys from 1 to 2");
    let present = "z, y = ms.Attention<num_heads = 1>(x, w, b)";
    let present = tensor("float[1, 2, 1] x", &format!("{node} {present}"), &x);
    assert_eq!(present.ty().shape[..], [2, 1, 1, 2, 1]);
    assert_eq!(present.to_f64s(), [1., 3., 3., 7.]);
}

/// Two queries of two numbers at the places 1 and 2, behind one key.
fn grouped(attributes: &str, given: &str, output: usize) -> Tensor {
    let results = ["", ", ", ", , "][output];
    let node = format!(
        "p = Constant<value = float[1, 1, 1, 2] {{1.0, 0.0}}>() l = Constant<value = int32[1] {{2}}>() \
         t = Constant<value = int32 {{3}}>() c = Constant<value = float[3, 1] {{1.0, 0.0, -1.0}}>() \
         s = Constant<value = float[3, 1] {{0.0, 1.0, 0.0}}>() \
         {results}y = ms.GroupQueryAttention<num_heads = 1, kv_num_heads = 1{attributes}>(q, k, v, p, p, l, t{given})"
    );
    let inputs = "float[1, 2, 2] q, float[1, 2, 2] k, float[1, 2, 2] v";
    let [q, k, v] = [[0., 0., 0., 0.], [1., 2., 3., 4.], [3., 2., 5., 4.]].map(|x| reals(&[1, 2, 2], &x));
    tensor(inputs, &node, &[q, k, v])
}

#[test]
fn queries_attend_keys_up_to_their_place_and_from_the_start_of_a_window_on() {
    assert_eq!(grouped("", "", 0).to_f64s(), [2., 1., 3., 2.]);
    assert_eq!(grouped(", local_window_size = 2", "", 0).to_f64s(), [2., 1., 4., 3.]);
    assert_eq!(grouped(", causal = 0", "", 0).to_f64s(), [3., 2., 3., 2.]);
}

#[test]
fn new_keys_are_turned_by_the_angles_of_their_places() {
    let keys = grouped(", do_rotary = 1", ", c, s", 1);
    // A quarter of a turn at the place 1, half of one at 2; keys of the past are turned.
    assert_eq!(keys.to_f64s(), [1., 0., -2., 1., -3., -4.]);
}

#[test]
fn sequences_that_are_shorter_than_there_are_keys_have_no_meaning() {
    let inputs = "float[1, 2, 2] q, int32[1] l, int32 t";
    let node = "y = ms.GroupQueryAttention<num_heads = 1, kv_num_heads = 1>(q, q, q, , , l, t)";
    let model = read(inputs, "y", node, Unknown::Refuse).expect("it is read").model;
    let is_defined = |length: i128, total: i128| {
        let values = [reals(&[1, 2, 2], &[0.; 4]), integers(&[1], &[length]), integers(&[], &[total])];
        evaluate(&model, &values, &Profile::DECLARED, Taps::Outputs).expect("values").is_defined
    };
    assert!(is_defined(1, 2) && !is_defined(0, 2) && !is_defined(1, 3));
}

/// Where a sequence ends before the others, its new keys are put elsewhere, or those of another size come out.
#[test]
fn keys_and_values_of_shorter_sequences_have_none_either() {
    let inputs = "float[2, 1, 2] q, float[2, 1, 1, 2] p, int32[2] l, int32 t";
    let node = "y, k, v = ms.GroupQueryAttention<num_heads = 1, kv_num_heads = 1>(q, q, q, p, p, l, t)";
    let model = read(inputs, "y, k, v", node, Unknown::Refuse).expect("it is read").model;
    let undefined = |lengths: [i128; 2]| {
        let past = reals(&[2, 1, 1, 2], &[0.; 4]);
        let values = [reals(&[2, 1, 2], &[0.; 4]), past, integers(&[2], &lengths), integers(&[], &[2])];
        let evaluation = evaluate(&model, &values, &Profile::DECLARED, Taps::Outputs).expect("values");
        [0, 1, 2].map(|i| evaluation.outputs[i].undefined.len())
    };
    assert_eq!((undefined([1, 1]), undefined([1, 0])), ([0; 3], [2, 4, 4]));
    let told = "l = Constant<value = int32[2] {1, 0}>() t = Constant<value = int32 {2}>()";
    let inputs = "float[2, 1, 2] q, float[2, 1, 1, 2] p";
    let outputs = "float[2, 1, 2] y, float[2, 1, 2, 2] k, float[2, 1, 2, 2] v";
    let read = read(inputs, outputs, &format!("{told} {node}"), Unknown::StandIn).expect("it is read");
    assert_eq!(read.unknown.len(), 1);
}

#[test]
fn a_rotation_takes_places_from_one_on_or_each_its_own() {
    let tables = "c = Constant<value = float[3, 1] {1.0, 0.0, -1.0}>() s = Constant<value = float[3, 1] {0.0, 1.0, 0.0}>()";
    let x = [reals(&[1, 2, 2], &[1., 2., 3., 4.])];
    let rotated = |places: &str| {
        let node = format!("{tables} p = Constant<value = {places}>() y = ms.RotaryEmbedding(x, p, c, s)");
        tensor("float[1, 2, 2] x", &node, &x).to_f64s()
    };
    assert_eq!(rotated("int64[1] {1}"), [-2., 1., -3., -4.]);
    assert_eq!(rotated("int64[1, 2] {0, 1}"), [1., 2., -4., 3.]);
}

#[test]
fn embeddings_are_summed_and_words_counted() {
    let node = "w = Constant<value = float[2, 2] {1.0, 2.0, 3.0, 4.0}>() r = Constant<value = float[2, 2] {0.0, 0.0, 0.0, 8.0}>() \
                g = Constant<value = float[2] {1.0, 2.0}>() b = Constant<value = float[2] {0.5, 0.5}>() \
                i = Constant<value = int32[1, 2] {1, 0}>() m = Constant<value = int32[1, 2] {1, 0}>()";
    let output = |results: &str| {
        let node =
            format!("{node} {results} = ms.EmbedLayerNormalization<epsilon = 0.0>(i, , w, r, , g, b, m)");
        tensor("float[1] unused", &node, &[reals(&[1], &[0.])])
    };
    assert_eq!(output("y").to_f64s(), [-0.5, 2.5, -0.5, 2.5]);
    assert_eq!(output("z, y").to_i128s(), [1]);
    assert_eq!(output("z, , y").to_f64s(), [3., 4., 1., 10.]);
}

#[test]
fn what_a_description_leaves_to_the_runtime_stands_open() {
    let inputs = "float[1, 1, 1] q, int32[1] n";
    let (one, scores) = ("float[1, 1, 1] y", "float[1, 1, 1] x, float[1, 1, 1, 1] y");
    for (outputs, node) in [
        (one, "y = ms.MultiHeadAttention<num_heads = 1>(q, q, q, , , , , , n)"),
        (scores, "x, , , y = ms.MultiHeadAttention<num_heads = 1>(q, q, q)"),
        (
            one,
            "y = ms.GroupQueryAttention<num_heads = 1, kv_num_heads = 1, smooth_softmax = 1>(q, q, q, , , n, n)",
        ),
    ] {
        let declared = read(inputs, outputs, node, Unknown::StandIn).expect("it is read");
        assert_eq!(declared.unknown.len(), 1, "{node}");
    }
}
