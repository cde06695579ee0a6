//! An engine may refuse what is undefined, and nothing else; and little is undefined.

mod verdict;

use std::sync::atomic::AtomicBool;

use backends::cpu::{Cpu, CpuError, GraphRunner, NodeRunner};
use backends::engines::models::OnModels;
use graphgen::Settings;
use harness::invalid::schedule::Levels;
use harness::{Maker, Target};
use interp::Profile;
use ir::{DType, DTypes, Operation, Tensor, Type};
use onnxsmith_campaign::fuzz::{Plan, fuzz};
use onnxsmith_campaign::store::Identity;
use onnxsmith_campaign::{Shard, Store};
use ops::{Model, Op};
use oracles::{Assessment, Verdict, Why};
use triage::allowance::Exam;
use triage::blame::Suspect;
use triage::known::Known;
use verdict::{examined, verdict};

/// Our CPU kernels, but some nodes are refused.
struct Refusing(fn(&Op, &[Option<&Tensor>]) -> bool);

impl NodeRunner for Refusing {
    type Error = CpuError;

    fn run_node(
        &mut self,
        op: &Op,
        inputs: &[Option<&Tensor>],
        outputs: &[Type],
    ) -> Result<Vec<Tensor>, CpuError> {
        if (self.0)(op, inputs) {
            return Err(CpuError::Invalid("it does not like it"));
        }
        Cpu.run_node(op, inputs, outputs)
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
        levels: Levels::default(),
        maker: Maker::new(7, settings),
        targets: Target::here(Box::new(OnModels::new(GraphRunner::new("refusing", Refusing(|_, _| true))))),
        oracles: triage::oracle::Oracles::default(),
        jobs: 1,
        cases: Some(50),
        time: None,
        shard: Shard::WHOLE,
        max_disk: None,
        saved_per_signature: 1,
        known: Known::default(),
    };
    let mut store = Store::create(out.path(), &Identity::of(&plan)).expect("a store");
    let report = fuzz(&plan, &mut store, &AtomicBool::new(false), &mut |_| {}).expect("a report");
    assert_eq!((report.undefined_cases, report.verdicts.incomparable), (0, 0));
    // A case without nodes has nothing to refuse.
    assert!(report.verdicts.bug > 30, "{:?}", report.verdicts);
}

fn divides_by_zero(op: &Op, inputs: &[Option<&Tensor>]) -> bool {
    op.name() == "Div" && inputs[1].is_some_and(|divisor| divisor.to_f64s().contains(&0.0))
}

#[test]
fn what_hangs_on_an_undecidable_integer_may_be_refused() {
    // Where the NaN is, is open; the reference says 0. A Div of that alone is undefined, and of a right answer may be.
    let text = r#"onnxsmith 1 opset 21
graph {
  %0: f32[2] = variable "x"
  %1: f32[1], i64[1] = TopK(%0) {k = 1}
  %2: i64[1] = Div(%1.1, %1.1)
  return "y" = %2
}
"#;
    let model: Model = text.parse().expect("a model");
    let strict = OnModels::new(GraphRunner::new("strict", Refusing(divides_by_zero)));
    let target = &mut Target::here(Box::new(strict))[0];
    target.profile = &Profile::DECLARED;
    let inputs = [Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |_| f64::NAN)];
    let refused = verdict(target, &model, &inputs);
    assert!(matches!(&refused, Verdict::Bug(finding) if finding.is_refusal()), "{refused:?}");
    let suspect = Suspect::new(&model, &inputs, target.profile);
    let conclude = |assessed: Assessment, exam: &Exam<'_>| {
        suspect.conclude(target, true, assessed.verdict, exam).expect("a run").0
    };
    let concluded = examined(target, &model, &inputs, conclude);
    assert_eq!(concluded, Verdict::Incomparable(Why::Undefined));
}
