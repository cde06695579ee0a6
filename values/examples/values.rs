//! How often value search finds values on which everything is defined, and what it costs: `cargo xtask values`.
//!
//! Each model is generated once, with every operator on, and searched once: nothing is drawn again, but where there are
//! no values operands become inputs. Time is that of this thread's processor where the system tells it (Linux), else
//! that of the clock.

use std::collections::BTreeMap;
use std::time::Instant;

use clap::Parser;
use graphgen::{Generated, Settings, Weights, generate};
use interp::evaluate_plain;
use ir::{NodeKind, Operation, Stream};
use onnxsmith_values::first_undefined;
use onnxsmith_values::{Budget, Searched, find_or_replace};

/// Measures value search.
#[derive(Parser)]
struct Args {
    /// The seed of the models.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The number of operator nodes of each model.
    #[arg(long, default_value_t = 10)]
    nodes: usize,
    /// How many models.
    #[arg(long, default_value_t = 2000)]
    count: u64,
    /// The opset of the models.
    #[arg(long, default_value_t = *ir::graph::OPSETS.end())]
    opset: u32,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Print the model of each index that stays undefined.
    #[arg(long)]
    show: bool,
}

fn main() {
    let args = Args::parse();
    let settings = Settings { nodes: args.nodes, opset: args.opset, ..Settings::default() };
    let stream = |i: u64| Stream::new(args.seed).child("values").at(i);
    let models: Vec<Generated> =
        (0..args.count).map(|i| generate(&settings, &Weights, stream(i).child("structure"))).collect();
    let (found, search) = timed(|| {
        let search = |(i, g): (usize, &Generated)| {
            find_or_replace(
                g.model.clone(),
                &g.constants,
                stream(i as u64).child("values"),
                Budget::default(),
            )
        };
        models.iter().enumerate().map(search).collect::<Result<Vec<Searched>, _>>().expect("models are valid")
    });
    let searched: Vec<_> =
        found.iter().map(|s| (s.found.fill(s.model.clone()), s.found.inputs(&s.model))).collect();
    let ((), forward) = timed(|| {
        for (model, inputs) in &searched {
            std::hint::black_box(evaluate_plain(model, inputs).expect("models are valid"));
        }
    });
    let mut blamed: BTreeMap<&'static str, u64> = BTreeMap::new();
    for (i, s) in found.iter().enumerate().filter(|(_, s)| !s.found.all_defined) {
        let node =
            first_undefined(&s.model, &s.found.tensors).expect("models are valid").expect("something is");
        let name = match &s.model.graph.node(node).kind {
            NodeKind::Operator(op) => op.name(),
            _ => "a function",
        };
        *blamed.entry(name).or_default() += 1;
        if args.show {
            println!(
                "model {i}: {name} at {node:?} after {} runs\n{}",
                s.found.runs,
                s.found.fill(s.model.clone())
            );
        }
    }
    report(&args, &found, [forward, search], &blamed);
}

fn report(args: &Args, all: &[Searched], [forward, search]: [f64; 2], blamed: &BTreeMap<&str, u64>) {
    let share =
        |f: &dyn Fn(&Searched) -> bool| all.iter().filter(|x| f(x)).count() as f64 / args.count as f64;
    let at_once = share(&|s| s.found.all_defined && s.found.runs == 1);
    let unreplaced = share(&|s| s.found.all_defined && s.replaced == 0);
    let defined = share(&|s| s.found.all_defined);
    let runs = all.iter().map(|s| f64::from(s.found.runs)).sum::<f64>() / args.count as f64;
    let replaced = all.iter().map(|s| u64::from(s.replaced)).sum::<u64>();
    let each = |seconds: f64| 1e3 * seconds / args.count as f64;
    let (forward, search) = (each(forward), each(search));
    let beyond = search - forward;
    if args.json {
        let report = serde_json::json!({
            "nodes": args.nodes, "count": args.count, "opset": args.opset,
            "defined_at_once": at_once, "defined_uncut": unreplaced, "defined": defined, "runs": runs, "cuts": replaced,
            "forward_cpu_ms": forward, "search_cpu_ms": search, "beyond_forward_cpu_ms": beyond,
            "blamed": blamed,
        });
        println!("{report}");
        return;
    }
    println!(
        "{} models of {} nodes: defined at once {:.2} %, after search {:.2} %, with {replaced} operators cut off {:.2} %; {runs:.2} runs\n\
         CPU per model: forward pass {forward:.3} ms, search {search:.3} ms, {beyond:.3} ms beyond the pass",
        args.count,
        args.nodes,
        100.0 * at_once,
        100.0 * unreplaced,
        100.0 * defined
    );
    for (name, count) in blamed {
        println!("{count:>5} × undefined first at {name}");
    }
}

/// What a calculation gives, and the seconds of CPU it took.
fn timed<T>(f: impl FnOnce() -> T) -> (T, f64) {
    let (clock, before) = (Instant::now(), cpu_seconds());
    let value = f();
    let seconds = match (before, cpu_seconds()) {
        (Some(before), Some(after)) => after - before,
        _ => clock.elapsed().as_secs_f64(),
    };
    (value, seconds)
}

/// The CPU time of this thread; see `schedstats` in the documentation of Linux's procfs.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<f64>().ok()? * 1e-9)
}
