//! Models with operators that nobody here knows: what does not follow from these is judged.

use std::path::PathBuf;

use harness::Target;
use ir::{DType, Tensor, Type};
use onnx::program::Program;
use onnxsmith_campaign::replay::{Grade, NotPassing, Replay, Replayed, replay};
use tempfile::TempDir;
use triage::oracle::Oracles;

mod having;
mod replayed;

use having::{Having, case};
use replayed::not_passing;

const MODEL: &str = r#"<ir_version: 10, opset_import: ["" : 21, "org.example" : 1]>
m (float[n] x) => (float[n] y, float[n] z) <float[n] a>
{
    a = org.example.Mystery(x)
    y = Exp(a)
    z = Neg(x)
}
"#;

/// An engine to which the operator is another one, and of which it asks no operator of that name.
fn knowing(program: &Program, others: &[(&str, &str)]) -> Program {
    let mut program = program.clone();
    for node in &mut program.main.body.nodes {
        if node.rest.op_type() == "Mystery" {
            (node.rest.op_type, node.rest.domain) = (Some("Relu".to_owned()), None);
        }
        if let Some((_, other)) = others.iter().find(|(name, _)| *name == node.rest.op_type()) {
            node.rest.op_type = Some((*other).to_owned());
        }
    }
    program
}

/// An engine that is right about the operators that ONNX has.
const RIGHT: fn(&Program) -> Option<Program> = |program| Some(knowing(program, &[]));

/// One that is wrong about an operator beside the unknown one.
const WRONG_BESIDE: fn(&Program) -> Option<Program> = |program| Some(knowing(program, &[("Neg", "Abs")]));

/// One that is wrong about what reads the unknown one's result.
const WRONG_BEHIND: fn(&Program) -> Option<Program> = |program| Some(knowing(program, &[("Exp", "Abs")]));

/// The model, saved with an input.
fn saved() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("case");
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [3]), |i| i as f64 + 1.0);
    case(&path, MODEL, &[("x", x.into())]);
    (folder, path)
}

/// What is said of an engine that is right.
fn of_the_right_one() -> Replayed {
    let (_folder, path) = saved();
    let targets = Target::here(Box::new(Having(RIGHT)));
    let names = ["differential", "determinism", "metamorphic"].map(str::to_owned);
    let oracles = Oracles::named(&names, &[]).expect("they are there");
    replay(&[path], &Replay { oracles, ..Replay::on(&targets) }, &|| {})
}

#[test]
fn what_does_not_follow_from_them_is_judged() {
    let replayed = of_the_right_one();
    let is_open = |answer: &NotPassing| answer.outcome == Grade::Plausible && answer.why.contains("`y` is");
    assert!(replayed.not_passing.iter().all(is_open), "{:?}", replayed.not_passing);
    assert_eq!(replayed.unjudged[0].operators, ["org.example.Mystery".to_owned()].into());
    let (_folder, path) = saved();
    let [wrong] = &not_passing(&path, WRONG_BESIDE)[..] else { panic!("Neg is wrong") };
    assert!(wrong.outcome == Grade::Mismatch && wrong.why.contains("output `z`"), "{wrong:?}");
    let behind = not_passing(&path, WRONG_BEHIND);
    assert!(behind.iter().all(is_open), "nobody knows what is right: {behind:?}");
}

#[test]
fn a_target_is_asked_whether_it_gives_the_same_again_and_not_about_another_model() {
    let replayed = of_the_right_one();
    let of = |oracle: &'static str| replayed.asked.iter().filter(move |asked| asked.oracle == oracle);
    assert!(of("determinism").count() == 3 && of("determinism").all(|a| a.outcome == Some(Grade::Pass)));
    assert!(of("metamorphic").all(|asked| asked.outcome.is_none()), "its model has other numbers");
}
