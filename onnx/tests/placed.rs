//! Elements that get another place, written out, are where the text says.

use ir::{DType, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, specialise};
use onnxsmith_onnx::program::Program;

fn read(inputs: &str, node: &str) -> Result<Imported, Error> {
    let text = format!("<ir_version: 10, opset_import: [\"\" : 24]>\nm ({inputs}) => (y) {{ {node} }}\n");
    specialise(&Program::from_text(&text)?, &Options::default())
}

/// The shape and the elements for an input that counts from 1.
fn counted(shape: &[i64], node: &str) -> (Vec<usize>, Vec<f64>) {
    let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
    let inputs = format!("float[{}] x", sizes.join(", "));
    let model = read(&inputs, node).unwrap_or_else(|e| panic!("{e}")).model;
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, shape), |i| i as f64 + 1.0);
    let y = interp::evaluate_plain(&model, &[x]).expect("values").remove(0);
    (y.shape().to_vec(), y.to_f64s())
}

fn why(inputs: &str, node: &str) -> String {
    read(inputs, node).expect_err("it is not read").to_string()
}

#[test]
fn the_middle_is_cut_out_or_padded() {
    let node = |sizes: &str, axes: &str| {
        format!("s = Constant<value_ints = [{sizes}]>() y = CenterCropPad{axes}(x, s)")
    };
    // Of one too many the one is on the right, of one too few it comes there.
    assert_eq!(counted(&[4], &node("3", "")), (vec![3], vec![1.0, 2.0, 3.0]));
    assert_eq!(counted(&[4], &node("2", "")).1, [2.0, 3.0]);
    assert_eq!(counted(&[2], &node("5", "")).1, [0.0, 1.0, 2.0, 0.0, 0.0]);
    assert_eq!(counted(&[2, 2], &node("1, 3", "")), (vec![1, 3], vec![1.0, 2.0, 0.0]));
    assert_eq!(counted(&[2, 2], &node("1", "<axes = [-1]>")), (vec![2, 1], vec![1.0, 3.0]));
    assert!(why("float[2, 2] x", &node("1", "")).contains("1 sizes for 2 axes"));
    assert!(why("float[2, 2] x", &node("1, 1", "<axes = [0, -2]>")).contains("there twice"));
    assert!(why("float[2, 2] x", &node("-1, 1", "")).contains("a list of sizes"));
    assert!(why("float[2, 2] x", &node("1", "<axes = [2]>")).contains("axes"));
    let unknown = why("float[2] x, int64[1] s", "y = CenterCropPad(x, s)");
    assert!(unknown.contains("unsupported"), "{unknown}");
}

#[test]
fn a_cache_gets_an_update_from_an_index_on() {
    let cache = "u = Constant<value = float[2, 2, 1] {10.0, 20.0, 30.0, 40.0}>() at = Constant<value_ints = [1, 2]>()";
    let circular = format!("{cache} y = TensorScatter<mode = \"circular\">(x, u, at)");
    assert_eq!(counted(&[2, 3, 1], &circular).1, [1.0, 10.0, 20.0, 40.0, 5.0, 30.0]);
    assert_eq!(
        counted(&[2, 3, 1], &format!("{cache} y = TensorScatter<axis = 1>(x, u)")).1,
        [10.0, 20.0, 3.0, 30.0, 40.0, 6.0]
    );
    let refused = |node: &str| why("float[2, 3, 1] x", &format!("{cache} {node}"));
    assert!(refused("y = TensorScatter<axis = 0>(x, u)").contains("that of the batch"));
    assert!(refused("y = TensorScatter<axis = 3>(x, u)").contains("axis"));
    assert!(refused("y = TensorScatter(u, x)").contains("no longer than"));
    assert!(refused("y = TensorScatter<mode = \"odd\">(x, u)").contains("no mode odd"));
    assert!(
        refused("i = Constant<value_ints = [1]>() y = TensorScatter(x, u, i)")
            .contains("an index for each of 2")
    );
}

#[test]
fn what_was_largest_comes_back_among_zeros() {
    let node = |rest: &str| format!("i = Constant<value = int64[1, 1, 2] {{1, 2}}>() {rest}");
    let pooled = node("y = MaxUnpool<kernel_shape = [2], strides = [2]>(x, i)");
    assert_eq!(counted(&[1, 1, 2], &pooled), (vec![1, 1, 4], vec![0.0, 1.0, 2.0, 0.0]));
    let more =
        "s = Constant<value_ints = [1, 1, 5]>() y = MaxUnpool<kernel_shape = [2], strides = [2]>(x, i, s)";
    assert_eq!(counted(&[1, 1, 2], &node(more)).1, [0.0, 1.0, 2.0, 0.0, 0.0]);
    let padded = node("y = MaxUnpool<kernel_shape = [2], strides = [2], pads = [0, 1]>(x, i)");
    assert_eq!(counted(&[1, 1, 2], &padded).1, [0.0, 1.0, 2.0]);
    let refused = |rest: &str| why("float[1, 1, 2] x", &node(rest));
    assert!(refused("y = MaxUnpool<strides = [2]>(x, i)").contains("kernel_shape"));
    assert!(refused("y = MaxUnpool<kernel_shape = [2, 2]>(x, i)").contains("there are 1 axes"));
    assert!(refused("y = MaxUnpool<kernel_shape = [2], strides = [0]>(x, i)").contains("strides"));
    assert!(refused("y = MaxUnpool<kernel_shape = [1], pads = [2, 2]>(x, i)").contains("more than there is"));
    let less =
        "s = Constant<value_ints = [1, 1, 3]>() y = MaxUnpool<kernel_shape = [2], strides = [2]>(x, i, s)";
    assert!(refused(less).contains("does not say"));
}

/// "So the values in indices are in the range [0, N x C x D1 x ... x Dn)": a negative one is as good as one that is too large.
#[test]
fn a_place_before_the_first_is_none() {
    let is_undefined = |shape: &[i64], node: &str| counted(shape, node).1.iter().any(|y| y.is_nan());
    let unpooled = |at: i64| {
        format!(
            "i = Constant<value = int64[1, 1, 2] {{1, {at}}}>() y = MaxUnpool<kernel_shape = [2], strides = [2]>(x, i)"
        )
    };
    assert!(!is_undefined(&[1, 1, 2], &unpooled(3)));
    assert!([4, -1, -4].iter().all(|&at| is_undefined(&[1, 1, 2], &unpooled(at))));
    let scattered = |mode: &str, at: i64| {
        format!(
            "u = Constant<value = float[1, 2, 1] {{10.0, 20.0}}>() i = Constant<value_ints = [{at}]>() \
             y = TensorScatter<mode = \"{mode}\">(x, u, i)"
        )
    };
    assert!(!is_undefined(&[1, 3, 1], &scattered("linear", 1)));
    assert!([2, -1, -3].iter().all(|&at| is_undefined(&[1, 3, 1], &scattered("linear", at))));
    // "The write index is modulo max_sequence_length."
    assert_eq!(counted(&[1, 3, 1], &scattered("circular", -1)).1, [20.0, 2.0, 10.0]);
}

#[test]
fn blocks_are_added_up_where_they_were() {
    let node = |image: &str, block: &str, rest: &str| {
        format!(
            "i = Constant<value_ints = [{image}]>() b = Constant<value_ints = [{block}]>() y = Col2Im{rest}(x, i, b)"
        )
    };
    // Two blocks of two share the middle of three.
    assert_eq!(counted(&[1, 2, 2], &node("1, 3", "1, 2", "")), (vec![1, 1, 1, 3], vec![1.0, 5.0, 4.0]));
    assert_eq!(counted(&[1, 2, 2], &node("1, 4", "1, 2", "<strides = [1, 2]>")).1, [1.0, 3.0, 2.0, 4.0]);
    assert_eq!(counted(&[1, 2, 2], &node("1, 4", "1, 2", "<dilations = [1, 2]>")).1, [1.0, 2.0, 3.0, 4.0]);
    // What lies on the pads is gone.
    let padded = node("1, 2", "1, 2", "<pads = [0, 1, 0, 0]>");
    assert_eq!(counted(&[1, 2, 2], &padded).1, [5.0, 4.0]);
    let refused = |node: &str| why("float[1, 2, 2] x", node);
    assert!(refused(&node("1, 4", "1, 2", "")).contains("of 3 blocks"));
    assert!(refused(&node("1, 1", "1, 2", "")).contains("larger than axis 1"));
    assert!(refused(&node("1, 3", "1, 3", "")).contains("not put together"));
    assert!(refused(&node("1, 3", "1, 0", "")).contains("kernel_shape"));
    assert!(refused(&node("3", "1, 2", "")).contains("not put together"));
}
