//! The oracle of oracles: kernels with one planted fault each, which a campaign must find within 500 cases and name,
//! and the same kernels without a fault, in which it must find nothing.
//!
//! A missed fault says that generation, value search, bounds or blame have a hole; a finding without a fault says
//! that a bound is too narrow or a kernel wrong.

mod wrong;

use std::sync::atomic::{AtomicBool, Ordering};

use backends::cpu::{Cpu, CpuError, GraphRunner, NodeRunner};
use backends::engines::models::OnModels;
use backends::support::Support;
use graphgen::Settings;
use graphgen::policy::Weights;
use interp::Profile;
use ir::{Tensor, Type};
use onnxsmith_campaign::fuzz::{Plan, Report, fuzz};
use onnxsmith_campaign::{Event, Known, Maker, Target};
use ops::Op;
use wrong::Node;

/// A fault must be found within so many cases.
const CASES: u64 = 500;

/// A kernel that is wrong on some nodes; `None` leaves a node to the right kernel.
type Wrong = fn(&Node<'_>) -> Option<Vec<Tensor>>;

/// The CPU's kernels but for one.
struct Faulty(Wrong);

impl NodeRunner for Faulty {
    type Error = CpuError;

    fn support(&self, op: &Op, inputs: &[Option<&Type>]) -> Support {
        Cpu.support(op, inputs)
    }

    fn run_node(
        &mut self,
        op: &Op,
        inputs: &[Option<&Tensor>],
        outputs: &[Type],
    ) -> Result<Vec<Tensor>, CpuError> {
        match (self.0)(&Node { op, inputs, outputs }) {
            Some(wrong) => Ok(wrong),
            None => Cpu.run_node(op, inputs, outputs),
        }
    }
}

/// Small tensors have every shape class that large ones have, and cost less.
fn small() -> Settings {
    Settings { max_elements: 256, ..Settings::default() }
}

/// A campaign on kernels that are held to the accuracy that our own are held to.
fn campaign(
    kernels: impl NodeRunner + Send + 'static,
    settings: Settings,
    cases: u64,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Report {
    let mut targets = Target::here(Box::new(OnModels(GraphRunner::new("faulty", kernels))));
    for target in &mut targets {
        target.profile = &Profile::TIGHT;
    }
    let out = tempfile::tempdir().expect("a temporary folder");
    let plan = Plan {
        maker: Maker { seed: 7, settings, opset: None, policy: &Weights, swarm: true, values: true },
        targets,
        jobs: 1,
        cases: Some(cases),
        time: None,
        shard: (0, 1),
        out: out.path().to_owned(),
        saved_per_signature: 1,
        known: Known::default(),
    };
    fuzz(&plan, stop, on_event)
}

/// Every finding of a campaign up to the first that names the operator must name it: there is no other fault.
fn is_found_and_named(operator: &str, wrong: Wrong) {
    let stop = AtomicBool::new(false);
    let prefix = format!("faulty | {operator} ");
    let mut named = None;
    let mut others = Vec::new();
    let report = campaign(Faulty(wrong), small(), CASES, &stop, &mut |event| match event {
        Event::NewFinding { index, signature, .. } if signature.starts_with(&prefix) => {
            stop.store(true, Ordering::Relaxed);
            named.get_or_insert((*index, signature.clone()));
        }
        Event::NewFinding { signature, finding, .. } => {
            others.push(format!("{signature}: {}", finding.detail));
        }
        Event::Ran { .. } | Event::Trouble { .. } => {}
    });
    println!("found as {named:?}");
    assert!(named.is_some(), "not found in {} cases; found instead: {others:#?}", report.cases);
    assert!(others.is_empty(), "blamed on something else: {others:#?}");
}

/// Each row: the wrong kernel in [`wrong`], and the operator that it must be found in.
macro_rules! planted {
    ($($fault:ident: $operator:literal;)*) => {$(
        #[test]
        fn $fault() {
            is_found_and_named($operator, wrong::$fault);
        }
    )*};
}

planted! {
    pad_is_off_by_one: "Pad";
    gemm_forgets_the_addend: "Gemm";
    conv_forgets_the_bias: "Conv";
    round_takes_halves_away_from_zero: "Round";
    mod_has_the_sign_of_the_dividend: "Mod";
    softmax_takes_the_wrong_axis: "Softmax";
    add_repeats_the_first_row: "Add";
    reduce_sum_drops_the_last_element: "ReduceSum";
    cast_rounds_to_nearest: "Cast";
    slice_backward_is_off_by_one: "Slice";
    gather_does_not_wrap_negative_indices: "Gather";
    max_pool_exchanges_its_pads: "MaxPool";
    max_pool_ignores_dilations: "MaxPool";
    layer_norm_forgets_epsilon: "LayerNormalization";
    batch_norm_exchanges_mean_and_variance: "BatchNormalization";
    clip_takes_min_last: "Clip";
    concat_reverses_its_operands: "Concat";
    transpose_copies: "Transpose";
    arg_max_takes_the_last_of_equals: "ArgMax";
    cum_sum_ignores_exclusive: "CumSum";
    average_pool_counts_padding: "AveragePool";
    less_holds_for_equals: "Less";
}

fn is_clean(settings: Settings, cases: u64) {
    let mut found = Vec::new();
    let report = campaign(Faulty(|_| None), settings, cases, &AtomicBool::new(false), &mut |event| {
        if let Event::NewFinding { index, signature, finding, .. } = event {
            found.push(format!("case {index}: {signature}: {}", finding.detail));
        }
    });
    println!("{:?}", report.verdicts);
    assert!(found.is_empty(), "{found:#?}");
    assert!(report.trouble.is_empty(), "{:#?}", report.trouble);
    assert_eq!(report.cases, cases);
    assert!(report.verdicts.pass > cases * 9 / 10, "{:?}", report.verdicts);
}

#[test]
fn kernels_without_a_fault_are_clean() {
    is_clean(small(), CASES);
}

/// An engine may refuse what is undefined, and nothing else.
#[test]
fn refusing_is_a_bug_where_all_is_defined() {
    struct Refusing;
    impl NodeRunner for Refusing {
        type Error = CpuError;

        fn run_node(&mut self, _: &Op, _: &[Option<&Tensor>], _: &[Type]) -> Result<Vec<Tensor>, CpuError> {
            Err(CpuError::Invalid("it does not like it"))
        }
    }
    // A difference of a value with itself is a divisor that no value search can mend.
    let operators = ["Sub", "Div"].into();
    let settings = Settings { operators, dtypes: ir::DTypes::of(&[ir::DType::I32]), ..small() };
    let report = campaign(Refusing, settings, 200, &AtomicBool::new(false), &mut |_| {});
    let undefined = (report.undefined_cases_share * report.cases as f64).round() as u64;
    assert!(undefined > 0, "there is no undefined case");
    // A case without nodes has nothing to refuse.
    assert!(report.verdicts.bug > undefined, "{:?}", report.verdicts);
    assert_eq!(report.verdicts.incomparable, undefined, "{:?}", report.verdicts);
}
