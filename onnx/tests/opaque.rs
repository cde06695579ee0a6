//! Operators that nobody here knows: numbers stand for what they give, where the model declares of what type that is.

use std::collections::BTreeMap;

use interp::{Profile, Taps, evaluate};
use ir::{DType, Datum, Tensor, Type};
use onnxsmith_onnx::Error;
use onnxsmith_onnx::import::{Imported, Options, Unknown, specialise};
use onnxsmith_onnx::program::Program;

fn read(declared: &str, unknown: Unknown) -> Result<Imported, Error> {
    let text = format!(
        "<ir_version: 10, opset_import: [\"\" : 21, \"org.example\" : 1]>\n\
         m (float[n, 3] x) => (float[n, 3] y, float[n, 3] z)\n{declared}\n\
         {{ a = org.example.Mystery(x) y = Exp(a) z = Neg(x) }}\n"
    );
    let known: BTreeMap<String, Datum> = [("x".to_owned(), input().into())].into();
    specialise(&Program::from_text(&text)?, &Options { known_inputs: &known, unknown, ..Options::default() })
}

fn input() -> Tensor {
    Tensor::from_f64_fn(&Type::new(DType::F32, [2, 3]), |i| i as f64)
}

#[test]
fn nothing_is_said_of_what_follows_and_all_else_is_judged() {
    let read = read("<float[n, 3] a>", Unknown::StandIn).expect("it is read");
    assert_eq!(read.unknown, ["org.example.Mystery".to_owned()].into());
    assert!(read.is_specialised);
    let evaluation =
        evaluate(&read.model, &[input()], &Profile::DECLARED, Taps::Outputs).expect("it can be evaluated");
    let [y, z] = &evaluation.outputs[..] else { panic!("two outputs") };
    assert_eq!((y.tensor.shape(), y.undecidable()), (&[2, 3][..], 6));
    assert_eq!((z.tensor.to_f64s(), z.undecidable()), (vec![0., -1., -2., -3., -4., -5.], 0));
}

#[test]
fn a_type_that_is_not_declared_is_asked_for_by_name() {
    for declared in ["", "<float[m, 3] a>", "<float[?, 3] a>"] {
        let why = read(declared, Unknown::StandIn).expect_err("nobody knows the type").to_string();
        assert!(why.contains("org.example.Mystery") && why.contains("output `a`"), "{declared}: {why}");
    }
}

#[test]
fn whoever_runs_the_model_needs_the_operator() {
    let why = read("<float[n, 3] a>", Unknown::Refuse).expect_err("nobody can run it").to_string();
    assert!(why.contains("operator org.example.Mystery"), "{why}");
}
