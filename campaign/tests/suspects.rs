//! What is right and further from the reference than good implementations are: it is seen, blamed on an operator, counted and
//! saved, and it is no finding.

mod verdict;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use backends::cpu::{Cpu, CpuEngine, CpuError, NodeRunner, run_model};
use backends::engines::models::{OnModels, Runner};
use graphgen::Settings;
use harness::reference::Reference;
use harness::{Maker, Target};
use ir::format::FloatFormat;
use ir::round::round_to_format;
use ir::{Attributes, DType, Interface, Operation, Tensor, Type, Value};
use onnxsmith_campaign::fuzz::{Plan, fuzz};
use onnxsmith_campaign::replay::{self, Replay};
use onnxsmith_campaign::report::Suspects;
use onnxsmith_campaign::store::{self, Identity};
use onnxsmith_campaign::{Shard, Store};
use ops::{Graph, Model, Op};
use oracles::{Culprit, Expected, Verdict, assess};
use triage::blame::Suspect;
use triage::doubted::Blamed;
use triage::invent::UserInputs;
use triage::peel::NamedFinding;
use triage::reduce::{Budget, ReduceError, Reduction, reduce};
use worker::{Description, EngineError};

/// Multiplies matrices of numbers that it has rounded to bf16, and is off by a few ULP in each exponential. One that
/// does spoils every Neg by an ULP.
#[derive(Clone, Copy, Default)]
struct Loose {
    spoils_neg: bool,
}

impl NodeRunner for Loose {
    type Error = CpuError;

    fn run_node(
        &mut self,
        op: &Op,
        inputs: &[Option<&Tensor>],
        outputs: &[Type],
    ) -> Result<Vec<Tensor>, CpuError> {
        let narrow = |x: &Tensor| {
            let values = x.to_f64s();
            Tensor::from_f64_fn(&x.ty(), |i| round_to_format(FloatFormat::BF16, values[i]))
        };
        let rounded: Vec<Option<Tensor>> = match op.name() {
            "MatMul" if outputs[0].dtype == DType::F32 => inputs.iter().map(|x| x.map(narrow)).collect(),
            _ => inputs.iter().map(|x| x.cloned()).collect(),
        };
        let operands: Vec<Option<&Tensor>> = rounded.iter().map(Option::as_ref).collect();
        let mut results = Cpu.run_node(op, &operands, outputs)?;
        if self.spoils_neg && op.name() == "Neg" {
            let values = results[0].to_f64s();
            let off = |i: usize| values[i] + FloatFormat::F32.ulp(values[i]);
            results[0] = Tensor::from_f64_fn(&outputs[0], off);
        }
        if op.name() == "Exp" && outputs[0].dtype == DType::F32 {
            let values = results[0].to_f64s();
            let off = |v: f64| v + 4.0 * FloatFormat::F32.ulp(v);
            // The bound grows with the argument.
            let is_granted = |v: f64| (1.0..60.0).contains(&v.ln().abs());
            let result = |i: usize| if is_granted(values[i]) { off(values[i]) } else { values[i] };
            results[0] = Tensor::from_f64_fn(&outputs[0], result);
        }
        Ok(results)
    }
}

impl Runner for Loose {
    fn describe(&self) -> Description {
        Description { engine: "loose".to_owned(), profile: None, ..Reference.describe() }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        run_model(model, inputs, self).map_err(|e| EngineError::Run(e.to_string()))
    }
}

fn loose() -> Vec<Target> {
    Target::here(Box::new(OnModels::new(Loose::default())))
}

fn push(graph: &mut Graph, name: &str, operands: &[Value]) -> Value {
    let op = Op::parse(name, &Attributes::new()).expect("an operator").expect("its attributes");
    let operands: Vec<_> = operands.iter().copied().map(Some).collect();
    Value::new(graph.operator(op, &operands).expect("it is well typed"), 0)
}

#[test]
fn a_kernel_that_rounds_to_bf16_hides_in_the_bound_of_a_long_sum_and_is_suspect() {
    let (blamed, wrong) = taken_apart(&loose()[0]);
    assert_eq!((names(&blamed.alone), blamed.runs), (vec!["MatMul"], 3));
    assert_eq!(wrong.len(), 0);
}

#[test]
fn what_is_wrong_alone_where_a_long_sum_hides_it_is_a_finding() {
    let target = Target::here(Box::new(OnModels::new(Loose { spoils_neg: true }))).remove(0);
    let (blamed, wrong) = taken_apart(&target);
    assert_eq!(names(&blamed.alone), ["Neg", "MatMul"]);
    let culprits: Vec<Culprit> = wrong.iter().filter_map(|found| found.finding.culprit.clone()).collect();
    assert_eq!(names(&culprits), ["Neg"]);
    let smaller = wrong[0].smaller.as_ref().expect("a case of its own");
    assert_eq!(smaller.problem.model.graph.nodes.len(), 2);
}

fn names(culprits: &[Culprit]) -> Vec<&str> {
    culprits.iter().map(|culprit| culprit.operator.as_str()).collect()
}

/// Who is to blame for what is suspect in |(-a)·b|, and what is wrong alone.
fn taken_apart(target: &Target) -> (Blamed, Vec<NamedFinding>) {
    const LENGTH: i64 = 4096;
    let mut graph = Graph::new();
    let types = [Type::new(DType::F32, [2, LENGTH]), Type::new(DType::F32, [LENGTH, 3])];
    let [a, b] = [0, 1].map(|i| graph.variable(format!("x{i}"), types[i].clone()));
    let negated = push(&mut graph, "Neg", &[a]);
    let product = push(&mut graph, "MatMul", &[negated, b]);
    let y = push(&mut graph, "Abs", &[product]);
    graph.output("y", y);
    let model = Model::new(21, graph);
    // As good as random.
    let inputs = types.map(|ty| Tensor::from_f64_fn(&ty, |i| (0.7 * (i * i) as f64).sin()));

    assert_eq!(verdict::verdict(target, &model, &inputs), Verdict::Pass);
    let onnx = harness::case::export(&model).expect("a model");
    let named = harness::case::named(&model, inputs.to_vec());
    let outcome = target.run(&onnx, &named, &Interface::of(&model)).expect("a run").outcome;
    let evaluation =
        interp::evaluate(&model, &inputs, target.profile, interp::Taps::Outputs).expect("a reference");
    let names = ["y".to_owned()];
    let expected = Expected { names: &names, outputs: &evaluation.outputs, profile: target.profile };
    let suspect = Suspect::new(&model, &inputs, target.profile);
    let assessment = assess(&target.backend, &target.level, &outcome, &expected);
    let mut doubted = suspect.doubted(target, &assessment, &outcome, &expected).expect("it is suspect");
    assert!(doubted.doubts[0].suspects >= 5, "{doubted}");
    let wrong = suspect.take_apart(target, &mut doubted, &|| false).expect("answers");
    (doubted.blamed.expect("somebody to blame"), wrong)
}

fn plan(targets: Vec<Target>, settings: Settings, jobs: usize, shard: Shard) -> Plan<'static> {
    Plan {
        jobs,
        cases: Some(60),
        shard,
        ..Plan::of(Maker::new(11, Settings { nodes: 3, ..settings }), targets)
    }
}

/// What a campaign says of suspects, and what it saved of them.
type Seen = (Suspects, BTreeMap<PathBuf, Vec<u8>>);

fn seen(folder: &Path) -> Seen {
    let mut report = Store::read(folder).expect("a store").report().expect("a report");
    assert_eq!((report.findings, report.troubles), (0, 0), "{:?}", report.clusters);
    let mut files = BTreeMap::new();
    let kinds = report.suspects.kinds.values_mut();
    for saved in kinds.map(|kind| kind.saved.as_mut().expect("it is saved")) {
        for entry in fs::read_dir(&saved.folder).expect("a case, as it is told") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                let bytes = fs::read(&path).expect("a file");
                files.insert(path.strip_prefix(folder).expect("a path within").to_owned(), bytes);
            }
        }
        // Campaigns in other folders are compared.
        let within = Path::new(&saved.folder).strip_prefix(folder).expect("a path within");
        saved.folder = within.display().to_string();
    }
    (report.suspects, files)
}

fn run(folder: &Path, plan: &Plan<'_>) -> Seen {
    let mut store = Store::create(folder, &Identity::of(plan)).expect("a store");
    fuzz(plan, &mut store, &AtomicBool::new(false), &mut |_| {}).expect("a report");
    drop(store);
    seen(folder)
}

#[test]
fn suspects_are_counted_alike_by_threads_and_shards_and_each_first_case_is_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let plan = |jobs, shard| {
        let operators = ["Exp", "Neg", "Reshape"].into();
        plan(loose(), Settings { operators, ..Settings::default() }, jobs, shard)
    };
    let whole = run(&at("whole"), &plan(1, Shard::WHOLE));
    let (suspects, files) = &whole;
    let kind = suspects.kinds.get("loose | Exp f32").expect("it is named");
    assert!(kind.answers > 5 && suspects.kinds.len() <= 2, "{suspects:?}");
    assert!(files.keys().any(|path| path.ends_with("model.onnx")), "{:?}", files.keys());
    assert_eq!(run(&at("threads"), &plan(3, Shard::WHOLE)), whole);
    let parts = [0, 1].map(|index| at(&format!("part{index}")));
    for (index, part) in (0..).zip(&parts) {
        run(part, &plan(2, Shard::new(index, 2).expect("a part")));
    }
    drop(store::merge(&parts, &at("merged")).expect("a merged campaign"));
    assert_eq!(seen(&at("merged")), whole);

    let saved = kind.saved.as_ref().expect("it is saved");
    let targets = loose();
    let how = Replay::on(&targets);
    let replayed = replay::replay(&[at("whole").join(&saved.folder)], &how, &|| ());
    let counts = replayed.backends["loose:reference"];
    assert_eq!((counts.suspect, counts.pass, counts.failed()), (1, 0, false), "{:?}", replayed.not_passing);
    assert!(replayed.not_passing[0].why.ends_with("suspect alone: Exp f32"), "{:?}", replayed.not_passing);

    let budget = Budget { time: Duration::MAX, tries: 1, jobs: 1 };
    let how =
        Reduction { targets: &targets, seed: 0, given: &UserInputs::default(), budget, stop: &|| false };
    let reduced = reduce(&at("whole").join(&saved.folder), &at("reduced"), &how, &mut |_| {});
    let said = reduced.as_ref().err().map(ToString::to_string).unwrap_or_default();
    assert!(said.contains("not known to be wrong") && !said.contains("outputs are right"), "{said}");
    let Err(ReduceError::Suspect { target, on, why }) = reduced else { panic!("{reduced:?}") };
    assert_eq!([target, on], ["loose:reference"; 2]);
    assert!(why.contains("suspect") && !at("reduced").exists(), "{why}");
}

#[test]
fn our_own_kernels_are_not_suspect() {
    let folder = tempfile::tempdir().expect("a folder");
    let cpu = Target::here(Box::new(CpuEngine::default()));
    let plan = Plan { cases: Some(300), ..plan(cpu, Settings::default(), 2, Shard::WHOLE) };
    let (suspects, _) = run(folder.path(), &plan);
    assert!(suspects.answers.is_empty(), "{suspects:?}");
}
