//! An engine may refuse what is undefined, and nothing else; and little is undefined.

mod verdict;

use std::sync::atomic::AtomicBool;

use backends::cpu::{Cpu, CpuError, GraphRunner, NodeRunner};
use backends::engines::models::OnModels;
use graphgen::Settings;
use harness::{Maker, Target};
use interp::Profile;
use ir::{DType, DTypes, Operation, Tensor, Type};
use onnxsmith_campaign::Store;
use onnxsmith_campaign::fuzz::{Plan, fuzz};
use onnxsmith_campaign::store::Identity;
use ops::{Model, Op};
use oracles::{Verdict, Why};
use triage::allowance::Exam;
use triage::blame::Suspect;
use verdict::{evaluated, examined, verdict};

/// Our CPU kernels, but some nodes are refused, with these words.
struct Refusing(fn(&Op, &[Option<&Tensor>]) -> Option<&'static str>);

impl NodeRunner for Refusing {
    type Error = CpuError;

    fn run_node(
        &mut self,
        op: &Op,
        inputs: &[Option<&Tensor>],
        outputs: &[Type],
    ) -> Result<Vec<Tensor>, CpuError> {
        match (self.0)(op, inputs) {
            Some(words) => Err(CpuError::Invalid(words)),
            None => Cpu.run_node(op, inputs, outputs),
        }
    }
}

#[test]
fn refusing_is_a_bug_where_all_is_defined() {
    // A difference of a value with itself is a divisor that no value search can mend: there, an operand becomes an input.
    let operators = ["Sub", "Div"].into();
    let settings = Settings {
        nodes: 20,
        operators,
        dtypes: DTypes::of(&[DType::I32]),
        max_elements: 256,
        ..Settings::default()
    };
    let out = tempfile::tempdir().expect("a temporary folder");
    let plan = Plan {
        cases: Some(50),
        ..Plan::of(
            Maker::new(7, settings),
            Target::here(Box::new(OnModels::new(GraphRunner::new(
                "refusing",
                Refusing(|_, _| Some("it does not like it")),
            )))),
        )
    };
    let mut store = Store::create(out.path(), &Identity::of(&plan)).expect("a store");
    let report = fuzz(&plan, &mut store, &AtomicBool::new(false), &mut |_| {}).expect("a report");
    assert_eq!((report.undefined_cases, report.verdicts.incomparable), (0, 0));
    // A case without nodes has nothing to refuse.
    assert!(report.verdicts.bug > 30, "{:?}", report.verdicts);
}

const BY_ZERO: &str = "the divisor has a zero";

fn by_zero(op: &Op, inputs: &[Option<&Tensor>]) -> Option<&'static str> {
    let is_zero = op.name() == "Div" && inputs[1].is_some_and(|divisor| divisor.to_f64s().contains(&0.0));
    is_zero.then_some(BY_ZERO)
}

fn by_zero_and_no_neg(op: &Op, inputs: &[Option<&Tensor>]) -> Option<&'static str> {
    by_zero(op, inputs).or((op.name() == "Neg").then_some("the sign of this is not known here"))
}

fn by_zero_and_neg_likewise(op: &Op, inputs: &[Option<&Tensor>]) -> Option<&'static str> {
    by_zero(op, inputs).or((op.name() == "Neg").then_some(BY_ZERO))
}

#[test]
fn what_hangs_on_an_undecidable_integer_may_be_refused() {
    // Where the NaN is, is open; the reference says 0. A Div of that alone is undefined, and of a right answer may be.
    let text = r#"onnxsmith 1 opset 21
graph {
  %0: f32[2] = variable "x"
  %1: f32[1], i64[1] = TopK(%0) {k = 1}
  %2: i64[1] = Div(%1.1, %1.1)
  %3: i64[1] = Neg(%2)
  return "y" = %3
}
"#;
    let model: Model = text.parse().expect("a model");
    let inputs = [Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |_| f64::NAN)];
    let concluded = |refuses| {
        let strict = OnModels::new(GraphRunner::new("strict", Refusing(refuses)));
        let target = &mut Target::here(Box::new(strict))[0];
        target.profile = &Profile::DECLARED;
        let refused = verdict(target, &model, &inputs);
        assert!(matches!(&refused, Verdict::Bug(finding) if finding.is_refusal()), "{refused:?}");
        let suspect = Suspect::new(&model, &inputs, target.profile);
        let conclude = |_, exam: &Exam<'_>| suspect.conclude(target, true, exam).expect("a run").0;
        examined(target, &model, &inputs, conclude)
    };
    assert_eq!(concluded(by_zero), Verdict::Incomparable(Why::Undefined));
    // That Neg is refused is not why.
    assert_eq!(concluded(by_zero_and_no_neg), Verdict::Incomparable(Why::Undefined));
    let likewise = concluded(by_zero_and_neg_likewise);
    assert!(matches!(&likewise, Verdict::Bug(finding) if finding.is_refusal()), "{likewise:?}");
}

#[test]
fn what_is_undefined_may_be_refused_where_no_output_depends_on_it() {
    let text = r#"onnxsmith 1 opset 21
graph {
  %0: i64[2] = variable "x"
  %1: i64[2] = Div(%0, %0)
  %2: i64[2] = Neg(%0)
  %3: bool[2] = Equal(%0, %2)
  %4: i64[2] = Where(%3, %2, %1)
  return "y" = %4
}
"#;
    let model: Model = text.parse().expect("a model");
    let concluded = |x: [i128; 2], refuses| {
        let mut next = x.into_iter();
        let inputs = [Tensor::from_i128_fn(&Type::new(DType::I64, [2]), |_| next.next().unwrap_or(0))];
        let target = &Target::here(Box::new(OnModels::new(GraphRunner::new("strict", Refusing(refuses)))))[0];
        let all_defined = evaluated(target, &model, &inputs).is_defined;
        let suspect = Suspect::new(&model, &inputs, target.profile);
        let conclude = |_, exam: &Exam<'_>| suspect.conclude(target, all_defined, exam).expect("a run").0;
        examined(target, &model, &inputs, conclude)
    };
    let is_bug = |verdict: &Verdict| matches!(verdict, Verdict::Bug(finding) if finding.is_refusal());
    assert_eq!(concluded([3, 0], by_zero), Verdict::Incomparable(Why::Undefined));
    assert!(is_bug(&concluded([3, 0], |op, _| (op.name() == "Neg").then_some(BY_ZERO))));
    assert!(is_bug(&concluded([3, 1], |op, _| (op.name() == "Div").then_some(BY_ZERO))));
}
