//! What the reference with bounds costs, as a multiple of what our own kernel costs: both times, and their ratio.
//!
//! ```sh
//! cargo bench -p onnxsmith-harness --bench reference            # all uses
//! cargo bench -p onnxsmith-harness --bench reference -- MatMul  # those of one operator
//! ```
//!
//! Seconds are those of the processor, all runs are on one thread and take turns, and medians are told: a machine's speed is
//! in both times, so that the ratio is what to compare. Not `criterion`, which knows no ratio.

use std::hint::black_box;

use backends::cpu::run_node;
use backends::usage::CpuTime;
use interp::{Profile, Taps, evaluate};
use ir::{Attributes, DType, Operation, Stream, Tensor, Type, Value};
use ops::{Graph, Model, Op};
use rand::RngExt;

/// How often each is run.
const RUNS: usize = 5;

/// One use of an operator.
struct Use {
    name: &'static str,
    attributes: Attributes,
    shapes: &'static [&'static [i64]],
}

/// What the elements of operands are: bounds of sums that are exact take another path.
#[derive(Clone, Copy, Debug)]
enum Elements {
    Whole,
    Real,
}

impl Elements {
    fn tensor(self, ty: &Type, stream: Stream) -> Tensor {
        let rng = &mut stream.rng();
        Tensor::from_f64_fn(ty, |_| match self {
            Self::Whole => f64::from(rng.random_range(-8..9)),
            Self::Real => rng.random_range(-4.0..4.0),
        })
    }
}

fn uses() -> Vec<Use> {
    let none = Attributes::new;
    let padded = || Attributes::new().ints("pads", &[1, 1, 1, 1]);
    vec![
        Use { name: "MatMul", attributes: none(), shapes: &[&[1024, 1024], &[1024, 1024]] },
        Use { name: "Gemm", attributes: none(), shapes: &[&[512, 512], &[512, 512], &[512]] },
        Use {
            name: "Gemm",
            attributes: none().float("alpha", 0.5).float("beta", 2.0),
            shapes: &[&[512, 512], &[512, 512], &[512]],
        },
        Use { name: "Conv", attributes: padded(), shapes: &[&[1, 64, 56, 56], &[64, 64, 3, 3]] },
        Use { name: "Conv", attributes: padded(), shapes: &[&[1, 128, 28, 28], &[128, 128, 3, 3], &[128]] },
    ]
}

fn seconds(run: impl FnOnce()) -> f64 {
    let start = CpuTime::now();
    run();
    start.since().total()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

fn measure(one: &Use, elements: Elements, profile: &Profile) {
    let op = Op::parse(one.name, &one.attributes).expect("a known operator").expect("legal attributes");
    let types: Vec<Type> = one.shapes.iter().map(|&s| Type::new(DType::F32, s)).collect();
    let outputs = op.infer(&types.iter().map(Some).collect::<Vec<_>>()).expect("operands that fit");
    let stream = Stream::new(1);
    let tensors: Vec<Tensor> =
        (0u64..).zip(&types).map(|(i, ty)| elements.tensor(ty, stream.child(one.name).at(i))).collect();
    let inputs: Vec<Option<&Tensor>> = tensors.iter().map(Some).collect();

    let mut graph = Graph::new();
    let operands: Vec<_> =
        (0..).zip(&types).map(|(i, ty)| Some(graph.variable(format!("x{i}"), ty.clone()))).collect();
    let node = graph.operator(op.clone(), &operands).expect("operands that fit");
    graph.output("y", Value::new(node, 0));
    let model = Model::new(21, graph);

    let (kernel, reference) = (0..RUNS)
        .map(|_| {
            let kernel = seconds(|| drop(black_box(run_node(&op, &inputs, &outputs))));
            (kernel, seconds(|| drop(black_box(evaluate(&model, &tensors, profile, Taps::Outputs)))))
        })
        .unzip();
    let (kernel, reference) = (median(kernel), median(reference));
    println!(
        "{:6} {:38} {elements:5?} {:9} kernel {:8.2} ms, reference {:9.1} ms, ratio {:6.1}",
        one.name,
        one.shapes.iter().map(|s| format!("{s:?}")).collect::<Vec<_>>().join(" "),
        profile.name,
        kernel * 1e3,
        reference * 1e3,
        reference / kernel,
    );
}

fn main() {
    let names: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let is_asked_for = |one: &Use| names.is_empty() || names.iter().any(|name| name == one.name);
    for one in uses().into_iter().filter(is_asked_for) {
        for profile in [&Profile::TIGHT, &Profile::DECLARED, &Profile::WGSL] {
            for elements in [Elements::Real, Elements::Whole] {
                measure(&one, elements, profile);
            }
        }
    }
}
