//! What operators of today are in words of opsets before 13.

use std::collections::BTreeMap;

use graphgen::{Forms, Settings, Weights, generate};
use ir::{Datum, Stream, Tensor};
use onnx::import::{Options, specialise};
use onnx::program::{Node, Program};
use onnxsmith_forms::{former, usual, write};
use ops::Model;

/// How often each model is written.
const TRIES: u64 = 100;

/// The programs of former opsets that a model gets, each of which computes the same.
fn written(text: &str) -> Vec<(u32, Program)> {
    let model: Model = format!("onnxsmith 1 opset 13\ngraph {{\n{text}\n}}\n").parse().expect("a model");
    let inputs: Vec<(String, Tensor)> = model
        .graph
        .variables()
        .map(|(_, name, ty)| (name.to_owned(), Tensor::from_f64_fn(ty, |i| (i * 7 % 5) as f64 - 1.5)))
        .collect();
    let values: Vec<Tensor> = inputs.iter().map(|(_, tensor)| tensor.clone()).collect();
    let known: BTreeMap<String, Datum> =
        inputs.iter().map(|(name, tensor)| (name.clone(), tensor.clone().into())).collect();
    let options = Options { known_inputs: &known, ..Options::default() };
    let right = interp::evaluate_plain(&model, &values).expect("values");
    let only = Forms { share: 1.0, each: [("former opset", 1.0)].into() };
    let all = (0..TRIES).filter_map(|seed| write(&model, &inputs, &[], &only, Stream::new(seed)));
    let checked = all.map(|written| {
        for program in [Some(written.program.clone()), written.program.in_first_opset(&known)] {
            let program = program.expect("it is of a former opset");
            let text = || program.to_text().to_string();
            let led = specialise(&program, &options).unwrap_or_else(|e| panic!("{e}\n{}", text())).model;
            assert_eq!(interp::evaluate_plain(&led, &values).expect("values"), right, "{}", text());
        }
        let opset = written.program.rest.opset_import[0].version() as u32;
        (opset, written.program)
    });
    checked.collect()
}

#[test]
fn what_is_drawn_for_a_former_opset_is_written_in_one() {
    let model: Model =
        "onnxsmith 1 opset 13\ngraph {\n  %0: f32[2] = variable \"x\"\n  %1: f32[2] = Relu(%0)\n  \
                        return \"y\" = %1\n}\n"
            .parse()
            .expect("a model");
    let inputs = [("x".to_owned(), Tensor::from_f64_fn(&ir::Type::new(ir::DType::F32, [2]), |i| i as f64))];
    let forms = Forms { share: 0.5, each: [("former opset", 0.8)].into() };
    let settings = Settings { forms: forms.clone(), ..Settings::default() };
    let drawn = (0..2000).map(Stream::new).filter(|at| {
        let drawn = former::draw(&settings, at.child("former"), at.child("forms")).is_some();
        let written = write(&model, &inputs, &[], &forms, at.child("forms"));
        assert!(!drawn || written.is_some_and(|written| written.forms == ["former opset"]));
        drawn
    });
    let drawn = drawn.count();
    assert!((100..190).contains(&drawn), "{drawn} of 2000 are 17 % of those that are to be written so");
}

fn nodes<'p>(program: &'p Program, name: &str) -> Vec<&'p Node> {
    program.main.body.nodes.iter().filter(|node| node.rest.op_type() == name).collect()
}

fn attribute(node: &Node, name: &str) -> Option<f32> {
    let found = node.attributes.iter().map(|attribute| &attribute.rest).find(|a| a.name() == name)?;
    Some(if found.f.is_some() { found.f() } else { found.i() as f32 })
}

/// The opsets of the programs that have a node of this name, if it is as it should be.
fn opsets(all: &[(u32, Program)], name: &str, is_right: impl Fn(&Node) -> bool) -> Vec<u32> {
    let with = all.iter().filter(|(_, program)| nodes(program, name).iter().any(|node| is_right(node)));
    let mut opsets: Vec<u32> = with.map(|(opset, _)| *opset).collect();
    opsets.sort_unstable();
    opsets.dedup();
    opsets
}

#[test]
fn softmax_is_over_several_axes_at_once() {
    for name in ["Softmax", "LogSoftmax", "Hardmax"] {
        let all = written(&format!(
            "%0: f32[2, 6, 2] = variable \"x\"\n%1: f32[2, 6, 2] = {name}(%0) {{axis = 1}}\nreturn \"y\" = %1"
        ));
        assert_eq!(opsets(&all, name, |_| true), [7, 8, 9, 10, 11, 12]);
        // The other axis becomes the last one, of size 6, and that two of sizes 2 and 3 in either order.
        assert!(all.iter().all(|(_, program)| nodes(program, "Transpose").len() == 2));
        let is_split = |program: &Program| !nodes(program, "Reshape").is_empty();
        let axis_of = |program: &Program| attribute(nodes(program, name)[0], "axis");
        let split: Vec<_> = all.iter().filter(|(_, program)| is_split(program)).collect();
        assert!(2 * split.len() > all.len() && split.len() < all.len(), "{} of {TRIES}", split.len());
        assert!(split.iter().all(|(_, program)| matches!(axis_of(program), Some(2.0 | -2.0))));
    }
}

#[test]
fn softmax_of_an_axis_before_some_of_size_one_is_over_all_of_these() {
    let all = written(
        "%0: f32[2, 3, 1, 1] = variable \"x\"\n%1: f32[2, 3, 1, 1] = Softmax(%0) {axis = 1}\nreturn \"y\" = %1",
    );
    assert_eq!(opsets(&all, "Softmax", |node| attribute(node, "axis") == Some(1.0)), [7, 8, 9, 10, 11, 12]);
    // 1 is the default, and axes count from the end since opset 11.
    assert!(!opsets(&all, "Softmax", |node| attribute(node, "axis").is_none()).is_empty());
    let from_the_end = opsets(&all, "Softmax", |node| attribute(node, "axis") == Some(-3.0));
    assert!(!from_the_end.is_empty() && from_the_end.iter().all(|&opset| opset >= 11), "{from_the_end:?}");
}

#[test]
fn operands_were_attributes_of_floats() {
    let all = written(
        "%0: f32[4] = variable \"x\"\n%1: f32[] = constant f32[] {-0.5}\n%2: f32[] = constant f32[] {1.25}\n\
         %3: f32[4] = Clip(%0, %1, %2)\n%4: f32[7] = Pad(%3, %2) {pads = [1, 2]}\nreturn \"y\" = %4",
    );
    let has = |name: &str, attribute_name: &str, number: f32| {
        opsets(&all, name, |node| attribute(node, attribute_name) == Some(number))
    };
    assert_eq!(has("Clip", "min", -0.5), [7, 8, 9, 10]);
    assert_eq!(has("Clip", "max", 1.25), [7, 8, 9, 10]);
    assert_eq!(has("Pad", "value", 1.25), [7, 8, 9, 10]);
    assert!(all.iter().any(|(opset, program)| *opset == 7 && program.main.body.initializers.is_empty()));
    // What is read is no attribute.
    let read = written(
        "%0: f32[4] = variable \"x\"\n%1: f32[] = variable \"low\"\n%2: f32[] = constant f32[] {1.25}\n\
         %3: f32[4] = Clip(%0, %1, %2)\nreturn \"y\" = %3",
    );
    assert_eq!(opsets(&read, "Clip", |_| true), [11, 12]);
}

#[test]
fn what_does_nothing_was_a_dropout_and_scatter_had_another_name() {
    let all = written(
        "%0: f32[4] = variable \"x\"\n%1: f32[4] = Identity(%0)\n%2: i64[2] = constant i64[2] {2, 0}\n\
         %3: f32[2] = constant f32[2] {5, 6}\n%4: f32[4] = ScatterElements(%1, %2, %3)\nreturn \"y\" = %4",
    );
    assert_eq!(opsets(&all, "Dropout", |node| attribute(node, "ratio").is_some()), [9, 10, 11]);
    assert_eq!(opsets(&all, "Scatter", |_| true), [9, 10]);
    let dropped = written("%0: f32[4] = variable \"x\"\n%1: f32[4] = Dropout(%0)\nreturn \"y\" = %1");
    assert_eq!(opsets(&dropped, "Dropout", |_| true), [7, 8, 9, 10, 11, 12]);
}

#[test]
fn what_is_drawn_for_a_former_opset_is_written_in_one_before_11_in_a_third_of_draws() {
    let each: BTreeMap<&str, f64> = usual();
    let settings = Settings { forms: Forms { share: 1.0, each }, nodes: 4, ..Settings::default() };
    let only = Forms { share: 1.0, each: [("former opset", 1.0)].into() };
    let (mut drawn, mut before_11) = (0, 0);
    for seed in 0..400 {
        let stream = Stream::new(seed);
        let Some(settings) = former::draw(&settings, stream, stream.child("forms")) else { continue };
        let model = generate(&settings, &Weights, stream.child("structure")).model;
        let zeros = model.graph.variables().map(|(_, name, ty)| (name.to_owned(), Tensor::zeros(ty)));
        let written = write(&model, &zeros.collect::<Vec<_>>(), &[], &only, stream);
        drawn += 1;
        before_11 +=
            usize::from(written.is_some_and(|written| written.program.rest.opset_import[0].version() < 11));
    }
    assert!((20..80).contains(&drawn), "{drawn} of 400");
    assert!(3 * before_11 > drawn, "{before_11} of {drawn}");
}

#[test]
fn no_model_is_drawn_for_a_form_that_is_not_asked_for() {
    let without = Settings::default();
    assert!((0..200).all(|seed| former::draw(&without, Stream::new(seed), Stream::new(seed)).is_none()));
}

/// Of bounds that cross opset 13 says something at first, and of axes that count from the end opset 11.
#[test]
fn nothing_is_written_of_which_the_text_of_the_opset_says_nothing() {
    let crossed = written(
        "%0: f32[4] = variable \"x\"\n%1: f32[] = constant f32[] {2}\n%2: f32[] = constant f32[] {1}\n\
         %3: f32[4] = Clip(%0, %1, %2)\nreturn \"y\" = %3",
    );
    assert!(crossed.iter().all(|(opset, _)| *opset >= 11));
    let from_the_end =
        written("%0: f32[4] = variable \"x\"\n%1: f32[4] = Concat(%0) {axis = -1}\nreturn \"y\" = %1");
    assert_eq!(opsets(&from_the_end, "Concat", |_| true), [11, 12]);
}

#[test]
fn an_input_that_nothing_reads_any_more_keeps_its_default() {
    let text = "onnxsmith 1 opset 13\ngraph {\n  %0: f32[4] = variable \"x\"\n  %1: f32[] = constant {0.5}\n  \
        %2: f32[4] = Dropout(%0, %1)\n  return \"y\" = %2\n}\n";
    let model: Model = text.parse().expect("a model");
    let inputs = [("x".to_owned(), Tensor::zeros(&model.graph.nodes[0].outputs[0]))];
    let only = Forms { share: 1.0, each: [("default", 1.0), ("former opset", 1.0)].into() };
    let mut met = 0;
    for seed in 0..TRIES {
        let Some(written) = write(&model, &inputs, &[], &only, Stream::new(seed)) else { continue };
        let body = &written.program.main.body;
        for input in &body.inputs {
            let has_default = body.initializers.iter().any(|initializer| initializer.value == input.value);
            let name = written.program.main.name(input.value);
            let is_given = written.inputs.iter().any(|(given, _)| given == name);
            assert!(has_default || is_given, "seed {seed}: nothing says what `{name}` is");
            met += usize::from(has_default && written.forms.contains(&"former opset"));
        }
    }
    assert!(met > TRIES as usize / 10, "{met} inputs have a default");
}
