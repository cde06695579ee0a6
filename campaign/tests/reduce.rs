//! Reduction: down to what matters, never to another finding, and never without a case in the folder.

mod saved;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use backends::cpu::{Cpu, CpuError, GraphRunner, NodeRunner};
use backends::engines::models::{OnModels, Runner};
use graphgen::Settings;
use harness::reference::Reference;
use harness::{Maker, Target, Values, case};
use interp::Profile;
use ir::{Attributes, DType, DTypes, NodeKind, Operation, Tensor, Type, Value};
use onnxsmith_campaign::replay::{Grade, Replay, replay};
use ops::{Graph, Model, Op};
use oracles::{ErrorShape, Symptom, Verdict};
use triage::invent::UserInputs;
use triage::reduce::{Budget, ReduceError, Reduced, Reduction, reduce};
use worker::{Description, EngineError};

/// What becomes of an operator's right outputs.
type Change = fn(&Op, &[Option<&Tensor>], Vec<Tensor>) -> Vec<Tensor>;

/// Kernels whose outputs are changed.
struct Wrong(Change);

impl NodeRunner for Wrong {
    type Error = CpuError;

    fn run_node(
        &mut self,
        op: &Op,
        inputs: &[Option<&Tensor>],
        outputs: &[Type],
    ) -> Result<Vec<Tensor>, CpuError> {
        Ok(self.0(op, inputs, Cpu.run_node(op, inputs, outputs)?))
    }
}

fn wrong(change: Change) -> Vec<Target> {
    let mut targets = Target::here(Box::new(OnModels::new(GraphRunner::new("wrong", Wrong(change)))));
    for target in &mut targets {
        target.profile = &Profile::TIGHT;
    }
    targets
}

/// The last element of a tensor is lost.
fn zero_at_the_end(mut outputs: Vec<Tensor>) -> Vec<Tensor> {
    let y = outputs[0].to_f64s();
    outputs[0] = Tensor::from_f64_fn(&outputs[0].ty(), |i| if i + 1 == y.len() { -9.0 } else { y[i] });
    outputs
}

fn operator(name: &str, attributes: &Attributes) -> Op {
    Op::parse(name, attributes).expect("an operator").expect("its attributes")
}

fn is_called(kind: &NodeKind<Op>, name: &str) -> bool {
    matches!(kind, NodeKind::Operator(op) if op.name() == name)
}

/// An engine that "fuses" a Mul and the Add that takes it to something else.
struct Fusing;

impl Runner for Fusing {
    fn describe(&self) -> Description {
        Description { engine: "fusing".to_owned(), ..Reference.describe() }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        let mut model = model.clone();
        let from_mul =
            |graph: &Graph, v: &Option<Value>| v.is_some_and(|v| is_called(&graph.node(v.node).kind, "Mul"));
        for i in 0..model.graph.nodes.len() {
            let node = &model.graph.nodes[i];
            let is_add = is_called(&node.kind, "Add");
            if is_add && node.inputs.iter().any(|v| from_mul(&model.graph, v)) {
                model.graph.nodes[i].kind = NodeKind::Operator(operator("Sub", &Attributes::new()));
            }
        }
        Reference.run(&model, inputs)
    }
}

/// An engine that writes models, and is right.
struct Writing;

impl Runner for Writing {
    fn describe(&self) -> Description {
        let right = Reference.describe();
        Description { engine: "writing".to_owned(), written: right.levels.clone(), ..right }
    }

    fn run(&mut self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
        Reference.run(model, inputs)
    }
}

#[test]
fn where_nothing_is_found_the_target_that_showed_the_finding_is_named() {
    let targets = Target::here(Box::new(OnModels::new(Writing)));
    let (model, inputs) = chain(1);
    let folder = tempfile::tempdir().expect("a folder");
    let path = save(folder.path(), model, inputs);
    let shown_by = || match reduced(&path, &targets, AMPLE) {
        Err(ReduceError::NoFinding { shown_by, .. }) => shown_by,
        other => panic!("{other:?}"),
    };
    assert_eq!(shown_by(), None);
    let written = targets[0].written().expect("it writes models");
    let off = Symptom::Mismatch(ErrorShape::Gross);
    let Verdict::Bug(finding) = Verdict::bug(&written.backend, &written.level, off, String::new()) else {
        panic!("a finding")
    };
    let at = path.join("case.json");
    let mut about: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&at).expect("a file")).expect("JSON");
    about["findings"] = serde_json::json!([finding]);
    std::fs::write(&at, about.to_string()).expect("a file");
    assert_eq!(shown_by(), Some(written.on()));
}

/// Writes a case as a campaign does.
fn save(at: &Path, model: Model, inputs: Vec<Tensor>) -> PathBuf {
    saved::save(at, model, inputs, &Profile::TIGHT)
}

fn reduced(path: &Path, targets: &[Target], budget: Budget) -> Result<Reduced, ReduceError> {
    let reduction = Reduction { targets, seed: 0, given: &UserInputs::default(), budget, stop: &|| false };
    reduce(path, &path.with_extension("reduced"), &reduction, &mut |_| {})
}

/// Enough for every test here, so that none depends on the clock.
const AMPLE: Budget = Budget { time: Duration::from_hours(1), tries: 20_000, jobs: 2 };

/// What `run` makes of the reduced case.
fn replayed(path: &Path, targets: &[Target]) -> Grade {
    let how = Replay::on(targets);
    let all = replay(&[path.with_extension("reduced")], &how, &|| {});
    all.not_passing.first().map_or(Grade::Pass, |case| case.outcome)
}

fn f32s(shape: &[i64], f: impl Fn(usize) -> f64) -> Tensor {
    Tensor::from_f64_fn(&Type::new(DType::F32, shape), f)
}

#[test]
fn a_graph_of_thirty_nodes_comes_down_to_the_wrong_one() {
    let settings = Settings { nodes: 30, max_elements: 128, ..Settings::default() };
    let maker = Maker { swarm: false, values: Values::Plain, ..Maker::new(5, settings) };
    let targets =
        wrong(
            |op, _, right| {
                if op.name() == "Tanh" || op.name() == "Neg" { zero_at_the_end(right) } else { right }
            },
        );
    let folder = tempfile::tempdir().expect("a folder");
    let mut tried = 0;
    for index in 0..30 {
        if tried == 3 {
            break;
        }
        let case = maker.make(index).expect("a case");
        let path = save(&folder.path().join(index.to_string()), case.model, case::tensors(&case.inputs));
        let reduced = match reduced(&path, &targets, AMPLE) {
            Ok(reduced) => reduced,
            Err(ReduceError::NoFinding { .. }) => continue,
            Err(e) => panic!("case {index}: {e}"),
        };
        assert!(reduced.nodes_before >= 20, "{reduced:?}");
        // The second node is one that makes something else, such as NaN, of what the first gets wrong.
        assert!(reduced.minimal && reduced.nodes_after <= 2 && reduced.elements_after <= 4, "{reduced:?}");
        assert_eq!(replayed(&path, &targets), Grade::Mismatch);
        tried += 1;
    }
    assert!(tried >= 2, "only {tried} cases show the fault");
}

/// A chain of unary functions with a Mul and an Add in the middle.
fn chain(functions: usize) -> (Model, Vec<Tensor>) {
    let mut graph = Graph::new();
    let shape = [3, 4];
    let x = graph.variable("x", Type::new(DType::F32, shape));
    let y = graph.variable("y", Type::new(DType::F32, shape));
    let mut at = x;
    for i in 0..functions {
        let op = operator(if i % 2 == 0 { "Tanh" } else { "Abs" }, &Attributes::new());
        at = Value::new(graph.operator(op, &[Some(at)]).expect("it is well typed"), 0);
        if i == functions / 2 {
            let mul = graph
                .operator(operator("Mul", &Attributes::new()), &[Some(at), Some(y)])
                .expect("it is well typed");
            let operands = [Some(Value::new(mul, 0)), Some(x)];
            at = Value::new(
                graph.operator(operator("Add", &Attributes::new()), &operands).expect("it is well typed"),
                0,
            );
        }
    }
    graph.output("z", at);
    (Model::new(17, graph), vec![f32s(&shape, |i| i as f64 * 0.37 + 0.11), f32s(&shape, |i| 2.3 - i as f64)])
}

#[test]
fn a_fault_of_two_nodes_together_keeps_both() {
    let (model, inputs) = chain(40);
    let folder = tempfile::tempdir().expect("a folder");
    let path = save(folder.path(), model, inputs);
    let targets = Target::here(Box::new(OnModels::new(Fusing)));
    let reduced = reduced(&path, &targets, AMPLE).expect("there is a finding");
    assert_eq!((reduced.nodes_before, reduced.nodes_after), (42, 2), "{reduced:?}");
    assert!(reduced.elements_after <= 5, "{reduced:?}");
    assert!(reduced.signature.contains("Add f32 dense in context"), "{reduced:?}");
    assert_eq!(replayed(&path, &targets), Grade::Mismatch);
}

#[test]
fn sizes_that_depend_on_each_other_shrink_together() {
    let mut graph = Graph::new();
    let x = graph.variable("x", Type::new(DType::F32, [2, 6, 7, 7]));
    let w = graph.variable("w", Type::new(DType::F32, [4, 3, 3, 3]));
    let attributes = Attributes::new()
        .int("group", 2)
        .ints("pads", &[1, 1, 1, 1])
        .ints("strides", &[2, 2])
        .ints("kernel_shape", &[3, 3]);
    let conv = operator("Conv", &attributes);
    let y = graph.operator(conv, &[Some(x), Some(w)]).expect("it is well typed");
    let reshape = operator("Reshape", &Attributes::new().ints("shape", &[8, 16]));
    let z = graph.operator(reshape, &[Some(Value::new(y, 0))]);
    graph.output("z", Value::new(z.expect("it is well typed"), 0));
    let inputs = vec![f32s(&[2, 6, 7, 7], |i| (i % 11) as f64), f32s(&[4, 3, 3, 3], |i| (i % 5) as f64)];
    let folder = tempfile::tempdir().expect("a folder");
    let path = save(folder.path(), Model::new(17, graph), inputs);
    // Wrong from three columns on.
    let targets = wrong(|op, inputs, right| {
        let columns = inputs[0].and_then(|x| x.shape().last().copied()).unwrap_or(0);
        if op.name() == "Conv" && columns >= 3 { zero_at_the_end(right) } else { right }
    });
    let reduced = reduced(&path, &targets, AMPLE).expect("there is a finding");
    assert_eq!(reduced.nodes_after, 1, "{reduced:?}");
    assert!(reduced.elements_after <= 8, "{reduced:?}");
}

#[test]
fn it_ends_in_no_dtype_that_the_target_does_not_compute_in() {
    let targets_of = |dtypes: &[DType]| {
        let mut targets = wrong(|op, _, y| if op.name() == "Pow" { zero_at_the_end(y) } else { y });
        for target in &mut targets {
            Arc::make_mut(&mut target.support).dtypes = DTypes::of(dtypes);
        }
        targets
    };
    for (dtypes, exponent) in
        [(&[DType::F32, DType::I64][..], DType::I64), (&[DType::F32, DType::I64, DType::I32][..], DType::I32)]
    {
        let folder = tempfile::tempdir().unwrap();
        let mut graph = Graph::new();
        let (x, n) = (
            graph.variable("x", Type::new(DType::F32, [2])),
            graph.variable("n", Type::new(DType::I64, [2])),
        );
        let node = graph.operator(operator("Pow", &Attributes::new()), &[Some(x), Some(n)]).unwrap();
        graph.output("y", Value::new(node, 0));
        let inputs =
            vec![f32s(&[2], |i| i as f64 + 1.5), Tensor::from_i128_fn(&Type::new(DType::I64, [2]), |_| 2)];
        let path = save(folder.path(), Model::new(17, graph), inputs);
        reduced(&path, &targets_of(dtypes), AMPLE).expect("a finding");
        let case = onnx::CaseFolder::read(&path.with_extension("reduced")).unwrap();
        let model = harness::case::import(&case.model, &harness::case::known_inputs(&case)).unwrap().model;
        let of_exponent = model.graph.iter().find_map(|(_, node)| {
            is_called(&node.kind, "Pow").then(|| model.graph.ty(node.inputs[1].expect("an exponent")).dtype)
        });
        assert_eq!(of_exponent, Some(exponent));
    }
}

#[test]
fn what_is_right_is_refused_by_name() {
    let (model, inputs) = chain(3);
    let folder = tempfile::tempdir().expect("a folder");
    let path = save(folder.path(), model, inputs);
    let targets = wrong(|_, _, right| right);
    let error = reduced(&path, &targets, AMPLE).expect_err("nothing is wrong").to_string();
    assert!(
        error.contains("no finding") && error.contains("wrong:") && error.contains("outputs are right"),
        "{error}"
    );
    assert!(!path.with_extension("reduced").exists());
}

#[test]
fn an_engine_that_fails_on_everything_is_refused() {
    struct Never;
    impl Runner for Never {
        fn describe(&self) -> Description {
            Description { engine: "never".to_owned(), ..Reference.describe() }
        }
        fn run(&mut self, model: &Model, _: &[Tensor]) -> Result<Vec<Tensor>, EngineError> {
            // Not the operators alone, but whatever has two of them or none.
            match model.graph.nodes.iter().filter(|n| matches!(n.kind, NodeKind::Operator(_))).count() {
                1 => Reference.run(model, &[]),
                _ => Err(EngineError::Load("out of order".to_owned())),
            }
        }
    }
    let (model, inputs) = chain(3);
    let folder = tempfile::tempdir().expect("a folder");
    let path = save(folder.path(), model, inputs);
    let error = reduced(&path, &Target::here(Box::new(OnModels::new(Never))), AMPLE);
    assert!(matches!(error, Err(ReduceError::AnyGraph { .. })), "{error:?}");
}

#[test]
fn whenever_it_ends_the_best_so_far_is_there() {
    let (model, inputs) = chain(40);
    let folder = tempfile::tempdir().expect("a folder");
    let path = save(folder.path(), model, inputs);
    let targets = Target::here(Box::new(OnModels::new(Fusing)));
    let mut before = usize::MAX;
    for tries in [0, 3, 12] {
        let reduced = reduced(&path, &targets, Budget { tries, ..AMPLE }).expect("there is a finding");
        assert!(!reduced.minimal && reduced.tries == tries, "{reduced:?}");
        assert!(reduced.nodes_after <= before, "{reduced:?}");
        assert_eq!(replayed(&path, &targets), Grade::Mismatch);
        before = reduced.nodes_after;
    }
    // A result is a case like any other, and goes on from there.
    let (stop, out) = (|| true, folder.path().join("stopped"));
    let reduction =
        Reduction { targets: &targets, seed: 0, given: &UserInputs::default(), budget: AMPLE, stop: &stop };
    let saved = AtomicUsize::new(0);
    let result = reduce(&path.with_extension("reduced"), &out, &reduction, &mut |_| {
        saved.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(result.expect("there is a finding").nodes_before, before);
    assert_eq!(saved.into_inner(), 1);
    assert!(out.join("model.onnx").is_file());
}

#[test]
fn the_same_case_reduces_to_the_same_case_however_many_run_together() {
    let (model, inputs) = chain(12);
    let folder = tempfile::tempdir().expect("a folder");
    let path = save(folder.path(), model, inputs);
    let targets = Target::here(Box::new(OnModels::new(Fusing)));
    let result = |jobs| {
        let reduced = reduced(&path, &targets, Budget { jobs, ..AMPLE }).expect("there is a finding");
        let model = std::fs::read(path.with_extension("reduced").join("model.onnx")).expect("a model");
        (reduced.tries, model)
    };
    let alone = result(1);
    for jobs in [1, 2, 7] {
        assert_eq!(result(jobs), alone);
    }
}
