//! TfIdfVectorizer, written out, counts what its text says.

use ir::{DType, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

fn read(inputs: &str, nodes: &str) -> Result<Imported, Error> {
    let text = format!("<ir_version: 10, opset_import: [\"\" : 13]>\nm ({inputs}) => (y) {{ {nodes} }}\n");
    specialise(&Program::from_text(&text)?, &Options::default())
}

const X: [i128; 6] = [1, 2, 3, 1, 2, 2];

fn vectorizer(attributes: &str) -> String {
    format!("y = TfIdfVectorizer<{attributes}>(x)")
}

/// What is counted in 1, 2, 3, 1, 2, 2.
fn values(attributes: &str) -> Vec<f64> {
    let model = read("int32[6] x", &vectorizer(attributes)).unwrap_or_else(|e| panic!("{e}")).model;
    let x = Tensor::from_i128_fn(&Type::new(DType::I32, [6]), |i| X[i]);
    interp::evaluate_plain(&model, &[x]).expect("values").remove(0).to_f64s()
}

/// The single 1 and 2, and the pairs 1 2, 2 2 and 1 1.
const POOL: &str =
    "ngram_counts = [0, 2], ngram_indexes = [0, 1, 2, 3, 4], pool_int64s = [1, 2, 1, 2, 2, 2, 1, 1]";

fn of(mode: &str, rest: &str) -> String {
    format!("mode = \"{mode}\", {POOL}, {rest}")
}

#[test]
fn n_grams_are_counted_by_their_length() {
    let lengths = |least: i64, most: i64, skipped: i64| {
        format!("min_gram_length = {least}, max_gram_length = {most}, max_skip_count = {skipped}")
    };
    assert_eq!(values(&of("TF", &lengths(1, 1, 0))), [2.0, 3.0, 0.0, 0.0, 0.0]);
    assert_eq!(values(&of("TF", &lengths(2, 2, 0))), [0.0, 0.0, 2.0, 1.0, 0.0]);
    // One apart there is 1 2 (the fourth and the sixth), two apart 1 1, 2 2 (the second and the fifth).
    assert_eq!(values(&of("TF", &lengths(2, 2, 1))), [0.0, 0.0, 3.0, 1.0, 0.0]);
    assert_eq!(values(&of("TF", &lengths(1, 2, 2))), [2.0, 3.0, 3.0, 2.0, 1.0]);
}

#[test]
fn a_weight_stands_for_being_there_or_is_multiplied() {
    let rest =
        "min_gram_length = 1, max_gram_length = 1, max_skip_count = 0, weights = [0.5, 2.0, 3.0, 4.0, 5.0]";
    assert_eq!(values(&of("IDF", rest)), [0.5, 2.0, 0.0, 0.0, 0.0]);
    assert_eq!(values(&of("TFIDF", rest)), [1.0, 6.0, 0.0, 0.0, 0.0]);
    // Whose weight is which is said in two ways where an n-gram's place is not its number.
    let other = of("TFIDF", rest).replace("[0, 1, 2, 3, 4]", "[1, 0, 2, 3, 4]");
    assert!(
        read("int32[6] x", &vectorizer(&other)).expect_err("nobody knows").to_string().contains("differ")
    );
}

#[test]
fn rows_and_strings_are_counted_too() {
    let rows = "s = Constant<value = int64[2] {2, 3}>() r = Reshape(x, s) y = TfIdfVectorizer<mode = \"TF\", \
                min_gram_length = 1, max_gram_length = 1, max_skip_count = 0, ngram_counts = [0], \
                ngram_indexes = [1, 0], pool_int64s = [2, 7]>(r)";
    let model = read("int32[6] x", rows).unwrap_or_else(|e| panic!("{e}")).model;
    let x = Tensor::from_i128_fn(&Type::new(DType::I32, [6]), |i| X[i]);
    let y = interp::evaluate_plain(&model, &[x]).expect("values").remove(0);
    assert_eq!((y.shape(), y.to_f64s()), (&[2, 2][..], vec![0.0, 1.0, 0.0, 2.0]));
    let texts = "x = Constant<value_strings = [\"b\", \"a\", \"c\"]>() y = TfIdfVectorizer<mode = \"TF\", \
                 min_gram_length = 1, max_gram_length = 1, max_skip_count = 0, ngram_counts = [0], \
                 ngram_indexes = [0, 1], pool_strings = [\"a\", \"d\"]>(x)";
    let model = read("", texts).unwrap_or_else(|e| panic!("{e}")).model;
    assert_eq!(interp::evaluate_plain(&model, &[]).expect("values").remove(0).to_f64s(), [1.0, 0.0]);
}

#[test]
fn pools_that_are_none_are_refused() {
    let why = |attributes: &str| {
        read("int32[6] x", &vectorizer(attributes)).expect_err("it is not read").to_string()
    };
    let lengths = "min_gram_length = 1, max_gram_length = 2, max_skip_count = 0";
    assert!(why(&of("NONE", lengths)).contains("NONE"));
    assert!(
        why(&of("TF", &lengths.replace("max_gram_length = 2", "max_gram_length = 0"))).contains("1 to 0")
    );
    for column in ["-4", "9223372036854775807"] {
        let columns = format!("[0, 1, 2, 3, {column}]");
        assert!(why(&of("TF", lengths).replace("[0, 1, 2, 3, 4]", &columns)).contains("ngram_indexes"));
    }
    why(&of("TF", lengths).replace("[0, 1, 2, 3, 4]", "[0, 1]"));
    why(&of("TF", lengths).replace("ngram_counts = [0, 2]", "ngram_counts = [3, 2]"));
    why(&of("TF", lengths).replace("ngram_counts = [0, 2]", "ngram_counts = [0, 99]"));
}
