//! Models of all kinds keep their meaning on the way through text, and no text makes the parser panic.

use std::collections::BTreeSet;

use graphgen::{Settings, Weights, generate};
use ir::Stream;
use onnx::proto::ModelProto;
use onnx::{Error, export, import, text};
use onnxsmith_onnx as onnx;
use ops::Model;
use proptest::prelude::*;

mod uncounted;

use uncounted::{COUNTED, settings};

/// The message of a model after a way through text that loses nothing.
#[track_caller]
fn through_text(proto: &ModelProto) -> ModelProto {
    let text = text::print(proto);
    assert!(text.left_out.is_empty(), "{text}");
    let back = text::parse(&text.to_string()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(text::print(&back), text);
    back
}

fn drawn(opset: u32, seed: u64, settings: Settings) -> Model {
    let settings = Settings { opset, function: 0.4, ..settings };
    generate(&settings, &Weights, Stream::new(u64::from(opset)).at(seed)).model
}

/// Every operator in the oldest and the newest opset that has it, with the attributes, constants and functions that are drawn.
#[test]
fn a_generated_model_is_read_back_from_text() {
    for spec in ops::registry().filter(|spec| !COUNTED.contains(&spec.name)) {
        for opset in [spec.since(), *ir::graph::OPSETS.end()] {
            let settings = Settings { nodes: 4, operators: [spec.name].into(), ..Settings::default() };
            let model = drawn(opset, 1, settings);
            let proto = through_text(&export(&model).unwrap());
            let back = import(&proto, &onnx::import::Options::default());
            assert_eq!(back.unwrap_or_else(|e| panic!("{e}\n{}", text::print(&proto))).model, model);
        }
    }
}

/// What breaks the rule is still there, and named.
#[test]
fn a_model_that_breaks_a_rule_breaks_it_in_text_too() {
    let mut broken = BTreeSet::new();
    for seed in 0..30 {
        let valid = export(&drawn(21, seed, settings())).unwrap();
        for rule in onnx::violate::rules() {
            let Some(violation) = rule.violate(&valid, Stream::new(seed)) else { continue };
            if text::print(&violation.model).left_out.is_empty() {
                broken.insert(rule.name);
                let back = through_text(&violation.model);
                let error = import(&back, &onnx::import::Options::default()).expect_err(rule.name);
                let is_named = error.to_string().contains(&violation.subject);
                assert!(
                    is_named && matches!(error, Error::Invalid { .. }),
                    "{error}\n{}",
                    text::print(&back)
                );
            }
        }
    }
    let all: BTreeSet<_> = onnx::violate::rules().map(|rule| rule.name).collect();
    let never: Vec<_> = all.difference(&broken).collect();
    assert!(never.is_empty(), "{never:?}");
}

const PIECES: &[&str] = &[
    "<",
    ">",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "=",
    "=>",
    "@",
    ".",
    "?",
    "\"",
    "\\",
    "-",
    "nan",
    "inf",
    "0x1",
    "1e",
    "float",
    "int4",
    "seq",
    "map",
    "opaque",
    "graph",
    "ir_version",
    "opset_import",
    "x",
    "\u{e9}",
    "#",
    "\n",
    " ",
];

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60)) {
        let _ = text::parse(&pieces.concat());
    }

    #[test]
    fn no_damage_to_a_text_makes_the_parser_panic(seed in 0..50u64, at in 0.0..1.0f64, piece in prop::sample::select(PIECES)) {
        let whole = text::print(&export(&drawn(21, seed, settings())).unwrap()).to_string();
        let at = whole.floor_char_boundary((whole.len() as f64 * at) as usize);
        let _ = text::parse(&whole[..at]);
        if let Ok(model) = text::parse(&format!("{}{piece}{}", &whole[..at], &whole[at..])) {
            through_text(&model);
        }
    }
}
