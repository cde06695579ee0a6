//! What a runtime may do although the reference says otherwise: for each allowance an engine that it must let pass, and
//! engines that it must not.

mod verdict;

use std::collections::BTreeSet;

use backends::cpu::{Cpu, model::run_model};
use backends::engines::models::{OnModels, Runner};
use harness::Target;
use harness::trial::Trial;
use interp::Profile;
use ir::{DType, NodeKind, Operation, Tensor, Type};
use ops::Model;
use oracles::allowance::needed;
use oracles::{Allowance, Symptom, Verdict};
use triage::allowance::Exam;
use triage::blame::Suspect;
use verdict::{examined, verdict};
use worker::{Description, EngineError};

type Answer = Result<Vec<Tensor>, EngineError>;

/// Our CPU kernels, whose answer is changed; it declares that it computes i64 as i32, and f64 as f32.
struct Odd(fn(&Model, &[Tensor], Vec<Tensor>) -> Answer);

impl Runner for Odd {
    fn describe(&self) -> Description {
        let computed = |d: DType| match d {
            DType::I64 => DType::I32,
            DType::F64 => DType::F32,
            other => other,
        };
        Description {
            engine: "odd".to_owned(),
            dtypes: DType::ALL.map(|d| (d.to_string(), computed(d).to_string())).into(),
            levels: vec!["none".to_owned()],
            ..Description::default()
        }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Answer {
        let right = run_model(model, inputs, &mut Cpu).map_err(|e| EngineError::Run(e.to_string()))?;
        (self.0)(model, inputs, right)
    }
}

fn has(model: &Model, operator: &str) -> bool {
    model.graph.nodes.iter().any(|node| matches!(&node.kind, NodeKind::Operator(op) if op.name() == operator))
}

/// The verdict on an engine, after allowances; `all_defined` as value search says it.
fn concluded(odd: Odd, text: &str, inputs: &[Tensor], all_defined: bool) -> Verdict {
    let mut target = Target::here(Box::new(OnModels::new(odd))).remove(0);
    target.profile = &Profile::DECLARED;
    let model: Model = text.parse().expect("a model");
    let suspect = Suspect::new(&model, inputs, target.profile);
    examined(&target, &model, inputs, |_, exam: &Exam<'_>| {
        suspect.conclude(&target, all_defined, exam).expect("a run").0
    })
}

/// The answer, or an error where the engine does not like the model.
fn unless(dislikes: bool, right: Vec<Tensor>, error: EngineError) -> Answer {
    if dislikes { Err(error) } else { Ok(right) }
}

fn allowance(verdict: &Verdict) -> Option<Allowance> {
    match verdict {
        Verdict::Incomparable(why) => why.allowance(),
        Verdict::Pass | Verdict::Bug(_) => None,
    }
}

fn symptom(verdict: &Verdict) -> &Symptom {
    match verdict {
        Verdict::Bug(finding) => &finding.symptom,
        other => panic!("{other:?} is no bug"),
    }
}

fn whole(dtype: DType, v: i128) -> Tensor {
    Tensor::from_i128_fn(&Type::new(dtype, [1]), |_| v)
}

fn real(v: f64) -> Tensor {
    Tensor::from_f64_fn(&Type::new(DType::F32, [1]), |_| v)
}

/// An i64 that i32 does not hold, and beside it a float that does not depend on it.
const BESIDE: &str = r#"onnxsmith 1 opset 21
graph {
  %0: i64[1] = variable "x"
  %1: f32[1] = variable "y"
  %2: i64[1] = Add(%0, %0)
  %3: f32[1] = Abs(%1)
  return "wide" = %2, "beside" = %3
}
"#;

/// The outputs of i64 as i32 holds them.
fn narrowed(mut outputs: Vec<Tensor>) -> Vec<Tensor> {
    for output in outputs.iter_mut().filter(|output| output.dtype() == DType::I64) {
        let values = output.to_i128s();
        *output = Tensor::from_i128_fn(&output.ty(), |i| i128::from(values[i] as i32));
    }
    outputs
}

#[test]
fn a_narrow_integer_excuses_wrong_numbers_that_depend_on_it() {
    let run = |odd, x: i128| concluded(Odd(odd), BESIDE, &[whole(DType::I64, x), real(-1.0)], true);
    let narrow = |_: &Model, _: &[Tensor], right| Ok(narrowed(right));
    assert_eq!(allowance(&run(narrow, 1 << 40)), Some(Allowance::Widened));
    assert_eq!(run(narrow, 1 << 20), Verdict::Pass);
}

#[test]
fn a_narrow_integer_excuses_nothing_beside_it() {
    let inputs = [whole(DType::I64, 1 << 40), real(-1.0)];
    let negates = |_: &Model, _: &[Tensor], right| {
        let mut outputs = narrowed(right);
        if let Some(beside) = outputs.iter_mut().find(|output| output.dtype() == DType::F32) {
            *beside = real(-1.0);
        }
        Ok(outputs)
    };
    assert!(matches!(symptom(&concluded(Odd(negates), BESIDE, &inputs, true)), Symptom::Mismatch(_)));
    let refuses = |_: &Model, _: &[Tensor], _| Err(EngineError::Run("no".to_owned()));
    assert!(matches!(symptom(&concluded(Odd(refuses), BESIDE, &inputs, true)), Symptom::Rejected { .. }));
    let retypes =
        |_: &Model, _: &[Tensor], right: Vec<Tensor>| Ok(right.into_iter().map(|_| real(1.0)).collect());
    assert_eq!(symptom(&concluded(Odd(retypes), BESIDE, &inputs, true)), &Symptom::WrongType);
}

#[test]
fn a_narrow_integer_takes_no_blame_for_what_is_wrong_in_context() {
    // Wrong only where both stand, so that no operator fails alone but the narrow sum, which is allowed to.
    let negates = |model: &Model, _: &[Tensor], right| {
        let mut outputs = narrowed(right);
        if has(model, "Mul") && has(model, "Abs") {
            for beside in outputs.iter_mut().filter(|output| output.dtype() == DType::F32) {
                *beside = real(-1.0);
            }
        }
        Ok(outputs)
    };
    let inputs = [whole(DType::I64, 1 << 40), real(-1.0)];
    let verdict = concluded(Odd(negates), IN_CONTEXT, &inputs, true);
    let Verdict::Bug(finding) = &verdict else { panic!("{verdict:?} is no bug") };
    let culprit = finding.culprit.as_ref().expect("one that diverges");
    assert_eq!((culprit.operator.as_str(), culprit.alone), ("Abs", false));
}

/// A sum that i32 does not hold, and two operators on floats beside it.
const IN_CONTEXT: &str = r#"onnxsmith 1 opset 21
graph {
  %0: i64[1] = variable "x"
  %1: f32[1] = variable "y"
  %2: i64[1] = Add(%0, %0)
  %3: f32[1] = Abs(%1)
  %4: f32[1] = Mul(%3, %3)
  return "wide" = %2, "beside" = %4
}
"#;

/// A division, and beside it an operator that does not depend on it.
const DIVISION: &str = r#"onnxsmith 1 opset 21
graph {
  %0: i32[1] = variable "x"
  %1: i32[1] = Div(%0, %0)
  %2: i32[1] = Abs(%0)
  return "y" = %1, "z" = %2
}
"#;

#[test]
fn what_is_undefined_may_be_refused_and_what_stands_beside_it_may_not() {
    let run = |odd, x: i128| concluded(Odd(odd), DIVISION, &[whole(DType::I32, x)], x != 0);
    let no_division = |model: &Model, inputs: &[Tensor], right| {
        unless(
            has(model, "Div") && inputs[0].to_i128s() == [0],
            right,
            EngineError::Run("division by zero".to_owned()),
        )
    };
    assert_eq!(allowance(&run(no_division, 0)), Some(Allowance::Undefined));
    let no_abs = |model: &Model, _: &[Tensor], right| {
        unless(has(model, "Abs"), right, EngineError::Run("no Abs".to_owned()))
    };
    for x in [0, 1] {
        assert!(matches!(symptom(&run(no_abs, x)), Symptom::Rejected { .. }), "{x}");
    }
    // Value search may have failed on something else than what is refused.
    let inputs = [whole(DType::I32, 1)];
    assert!(matches!(symptom(&concluded(Odd(no_abs), DIVISION, &inputs, false)), Symptom::Rejected { .. }));
}

#[test]
fn what_an_engine_lacks_it_lacks_alone_too() {
    let inputs = [whole(DType::I32, 1)];
    let lacks_abs = |model: &Model, _: &[Tensor], right| {
        unless(has(model, "Abs"), right, EngineError::Load("Abs is not supported".to_owned()))
    };
    assert_eq!(allowance(&concluded(Odd(lacks_abs), DIVISION, &inputs, true)), Some(Allowance::Unsupported));
    // It takes either alone, so what it says of both follows from something else.
    let lacks_both = |model: &Model, _: &[Tensor], right| {
        unless(
            has(model, "Abs") && has(model, "Div"),
            right,
            EngineError::Load("this shape is not supported".to_owned()),
        )
    };
    assert!(matches!(
        symptom(&concluded(Odd(lacks_both), DIVISION, &inputs, true)),
        Symptom::Rejected { .. }
    ));
    // In the protocol's own word it is believed.
    let says_so = |model: &Model, _: &[Tensor], right| {
        unless(has(model, "Abs") && has(model, "Div"), right, EngineError::Unsupported("graphs".to_owned()))
    };
    assert_eq!(allowance(&concluded(Odd(says_so), DIVISION, &inputs, true)), Some(Allowance::Unsupported));
}

#[test]
fn what_is_computed_in_another_float_is_no_fault_of_an_operator_alone() {
    let shown = |dtype: DType, odd| {
        let text = format!(
            "onnxsmith 1 opset 21\ngraph {{\n  %0: {dtype}[1] = variable \"x\"\n  %1: {dtype}[1] = Exp(%0)\n  return \"y\" = %1\n}}\n"
        );
        let input = Tensor::from_f64_fn(&Type::new(dtype, [1]), |_| 0.5);
        let trial = Trial::of(text.parse().expect("a model"), vec![input], &Profile::DECLARED);
        let target = &Target::here(Box::new(OnModels::new(Odd(odd))))[0];
        trial.expect("a case").alone().run(target).expect("a run").map(|(finding, _)| finding.symptom)
    };
    let rounded = |_: &Model, _: &[Tensor], right: Vec<Tensor>| {
        let as_f32 = |t: &Tensor| {
            let values = t.to_f64s();
            Tensor::from_f64_fn(&t.ty(), |i| f64::from(values[i] as f32))
        };
        Ok(right.iter().map(as_f32).collect())
    };
    assert_eq!(shown(DType::F64, rounded), None);
    assert_eq!(shown(DType::F32, rounded), None);
    assert!(matches!(shown(DType::F32, |_, _, _| Ok(vec![real(1.0)])), Some(Symptom::Mismatch(_))));
    let of_two =
        |_: &Model, _: &[Tensor], _| Ok(vec![Tensor::from_f64_fn(&Type::new(DType::F64, [2]), |_| 0.0)]);
    assert!(shown(DType::F64, of_two).is_some(), "a shape has nothing to do with a dtype");
}

#[test]
fn an_overflow_may_saturate_and_what_comes_of_it_is_open_but_not_garbage() {
    let text = r#"onnxsmith 1 opset 21
graph {
  %0: i8[1] = variable "x"
  %1: i8[1] = Mul(%0, %0)
  return "y" = %1
}
"#;
    let run = |odd| concluded(Odd(odd), text, &[whole(DType::I8, 100)], true);
    assert_eq!(run(|_, _, right| Ok(right)), Verdict::Pass);
    assert_eq!(run(|_, _, _| Ok(vec![whole(DType::I8, 127)])), Verdict::Pass);
    let garbage = run(|_, _, _| Ok(vec![whole(DType::I8, 100)]));
    assert!(matches!(symptom(&garbage), Symptom::Mismatch(_)));
}

#[test]
fn a_zero_of_the_other_sign_passes_where_the_profile_ignores_it_and_no_other_number_does() {
    let text = r#"onnxsmith 1 opset 21
graph {
  %0: f32[1] = variable "x"
  %1: f32[1] = Neg(%0)
  return "y" = %1
}
"#;
    let model: Model = text.parse().expect("a model");
    let assessed = |profile, odd| {
        let mut target = Target::here(Box::new(OnModels::new(Odd(odd)))).remove(0);
        target.profile = profile;
        examined(&target, &model, &[real(0.0)], |assessed, _| assessed)
    };
    let positive = |_: &Model, _: &[Tensor], _| Ok(vec![real(0.0)]);
    let ignored = assessed(&Profile::DECLARED, positive);
    assert_eq!(ignored.verdict, Verdict::Pass);
    assert_eq!(needed(Some(&ignored.verdict), &ignored.comparisons), BTreeSet::from([Allowance::ZeroSign]));
    assert!(matches!(symptom(&assessed(&Profile::TIGHT, positive).verdict), Symptom::Mismatch(_)));
    let denormal = assessed(&Profile::DECLARED, |_, _, _| Ok(vec![real(1e-45)]));
    assert!(matches!(symptom(&denormal.verdict), Symptom::Mismatch(_)));
    let right = assessed(&Profile::DECLARED, |_, _, right| Ok(right));
    assert_eq!(needed(Some(&right.verdict), &right.comparisons), BTreeSet::new());
}

#[test]
fn an_engine_without_oddities_needs_no_allowance() {
    let mut target = Target::here(Box::new(OnModels::new(Odd(|_, _, right| Ok(right))))).remove(0);
    target.profile = &Profile::DECLARED;
    let inputs = [whole(DType::I64, 1 << 40), real(-1.0)];
    assert_eq!(verdict(&target, &BESIDE.parse().expect("a model"), &inputs), Verdict::Pass);
}
