//! Findings in what a program says beyond its model: reduction keeps the form, and the form is blamed.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use graphgen::{Forms, Settings};
use harness::{Maker, Target, Values};
use ir::{DType, Datum, Held, Tensor, Type};
use onnx::program::Program;
use onnx::{CaseFolder, text};
use onnxsmith_campaign::Store;
use onnxsmith_campaign::fuzz::{Plan, fuzz};
use onnxsmith_campaign::store::Identity;

mod having;
mod reduced;
mod replayed;

use having::{Having, case};
use reduced::reduced;
use replayed::not_passing;

/// One iteration is enough for every loop.
fn hasty(program: &Program) -> Option<Program> {
    let at = program.main.body.nodes.iter().position(|node| node.rest.op_type() == "Loop")?;
    program.with_count(&Vec::new(), at, 1)
}

/// A branch goes where nobody sent it.
fn contrary(program: &Program) -> Option<Program> {
    let at = program.main.body.nodes.iter().position(|node| node.rest.op_type() == "If")?;
    program.with_side(&Vec::new(), at, "else_branch")
}

/// The last place is not found.
fn short(program: &Program) -> Option<Program> {
    let cut = "cut () => () <int64[1] begin = {0}, int64[1] end = {-1}, int64[1] axis = {1}> {
        found = Slice(all, begin, end, axis)
    }";
    let mut cut = text::parse(cut).expect("a text").graph?;
    let mut model = program.write();
    let graph = model.graph.as_mut()?;
    let at = graph.node.iter().position(|node| node.op_type() == "NonZero")?;
    cut.node[0].output = std::mem::replace(&mut graph.node[at].output, vec!["all".to_owned()]);
    graph.node.insert(at + 1, cut.node.remove(0));
    graph.initializer.extend(cut.initializer);
    // What is declared is what should have been found.
    graph.value_info.clear();
    graph.output.iter_mut().for_each(|output| output.r#type = None);
    Program::read(model).ok()
}

/// A sequence gets its last tensor twice.
fn longer(program: &Program) -> Option<Program> {
    let mut program = program.clone();
    let mut nodes = program.main.body.nodes.iter_mut();
    let construct = nodes.find(|node| node.rest.op_type() == "SequenceConstruct")?;
    construct.inputs.extend(construct.inputs.last().copied());
    Some(program)
}

/// A sequence in whatever body gets its last tensor twice.
fn longer_inside(program: &Program) -> Option<Program> {
    let mut program = program.clone();
    program.ways().iter().find_map(|way| {
        let mut nodes = program.body_mut(way)?.nodes.iter_mut();
        let construct = nodes.find(|node| node.rest.op_type() == "SequenceConstruct")?;
        construct.inputs.extend(construct.inputs.last().copied());
        Some(())
    })?;
    Some(program)
}

/// What is done to each tensor of a sequence is another function.
fn mapped(program: &Program) -> Option<Program> {
    let mut program = program.clone();
    let mut nodes = program.main.body.nodes.iter_mut();
    let map = nodes.find(|node| node.rest.op_type() == "SequenceMap")?;
    let inner = map.attributes.iter_mut().find_map(|attribute| attribute.body.as_mut()?.nodes.first_mut())?;
    inner.rest.op_type = Some("Sqrt".to_owned());
    Some(program)
}

/// An optional is given as one that holds nothing.
fn without_optional(program: &Program) -> Option<Program> {
    let mut program = program.clone();
    let pass = program.main.body.nodes.last_mut()?;
    (pass.rest.op_type, pass.inputs) = (Some("Optional".to_owned()), Vec::new());
    Some(program)
}

/// Both forms, with much around them: z = 2⁴·|−x|, and y = z where z's sum is above 0.
const BOTH: &str = r#"<ir_version: 8, opset_import: ["" : 17]>
both (float[1] x, int64 count) => (e, y, z) <float[1] zero = {0}> {
    n = Neg(x)
    a = Abs(n)
    z = Loop(count, "", a) <
        body = repeat (i, on, v) => (still, twice) {
            r = Relu(v)
            twice = Add(r, v)
            still = Identity(on)
        }
    >
    s = ReduceSum(z)
    above = Greater(s, zero)
    c = Squeeze(above)
    y = If(c) <
        then_branch = same () => (side) { side = Identity(z) },
        else_branch = other () => (side) { side = Neg(z) }
    >
    e = Exp(n)
}"#;

/// A loop between sequences, and an optional that passes by: ys = (2⁴·xs[0], xs[1]), p = o.
const SEQUENCES: &str = r#"<ir_version: 8, opset_import: ["" : 17]>
sequences (seq(float) xs, optional(seq(float)) o, int64 count) => (seq(float) ys, optional(seq(float)) p)
    <int64 first = {0}, int64 second = {1}> {
    a = SequenceAt(xs, first)
    b = SequenceAt(xs, second)
    z = Loop(count, "", a) <
        body = repeat (i, on, v) => (still, twice) {
            twice = Add(v, v)
            still = Identity(on)
        }
    >
    ys = SequenceConstruct(z, b)
    p = Identity(o)
}"#;

/// A program of the conformance suite.
macro_rules! program {
    ($name:literal) => {
        include_str!(concat!("../../conformance/programs/", $name, ".onnxtxt"))
    };
}

fn floats(values: &[f64]) -> Tensor {
    Tensor::from_f64_fn(&Type::new(DType::F32, [values.len() as i64]), |i| values[i])
}

fn number(value: f64) -> Datum {
    row(&[value])
}

fn row(values: &[f64]) -> Datum {
    floats(values).into()
}

fn whole(value: i128) -> Datum {
    Tensor::from_i128_fn(&Type::new(DType::I64, []), |_| value).into()
}

/// What the case of both forms has for inputs.
fn both() -> [(&'static str, Datum); 2] {
    [("x", number(3.0)), ("count", whole(4))]
}

/// What the case between sequences has for inputs.
fn sequences() -> [(&'static str, Datum); 3] {
    [
        ("xs", Datum::Sequence(vec![floats(&[3.0, 3.0]), floats(&[5.0])])),
        ("o", Datum::Optional(Some(Held::Sequence(vec![floats(&[1.0; 3])])))),
        ("count", whole(4)),
    ]
}

#[test]
fn a_fault_between_sequences_is_reduced_with_those_that_it_needs() {
    let (reduced, operators, case) = reduced(hasty, SEQUENCES, &sequences());
    assert!(reduced.signature.contains("| form Loop "), "{}", reduced.signature);
    assert_eq!(operators, ["SequenceAt", "Loop", "Add"], "{reduced:?}");
    let kept: Vec<(&str, usize)> = case.sets[0]
        .inputs
        .iter()
        .map(|value| (value.name.as_str(), value.datum.tensors().count()))
        .collect();
    // The count has become a constant.
    assert_eq!(kept, [("xs", 2)]);
}

/// The first of two tensors, with something before and behind: z = |x|, where an engine that has the last one twice
/// gives |−x + x|.
const AMONG: &str = r#"<ir_version: 8, opset_import: ["" : 17]>
among (float[2] x) => (z) <int64 first = {-2}> {
    n = Neg(x)
    s = Add(n, x)
    both = SequenceConstruct(x, s)
    y = SequenceAt(both, first)
    z = Abs(y)
}"#;

#[test]
fn what_only_gives_a_tensor_with_others_is_blamed_with_these() {
    let (reduced, operators, _) = reduced(longer, AMONG, &[("x", row(&[3.0, -1.0]))]);
    assert!(reduced.signature.contains("| SequenceConstruct + SequenceAt f32 "), "{}", reduced.signature);
    assert_eq!(operators, ["SequenceConstruct", "SequenceAt"], "{reduced:?}");
}

/// What is done to each of two tensors, with something before and behind: z = exp(−|−x|).
const EACH: &str = r#"<ir_version: 8, opset_import: ["" : 17]>
each (float[2] x) => (z) <int64 first = {-2}> {
    n = Neg(x)
    s = Add(n, x)
    both = SequenceConstruct(n, s)
    all = SequenceMap(both) < body = function (float[] item) => (float[] made) { made = Abs(item) } >
    y = SequenceAt(all, first)
    m = Neg(y)
    z = Exp(m)
}"#;

#[test]
fn what_is_done_to_each_tensor_of_a_sequence_is_blamed_on_that() {
    let (reduced, operators, _) = reduced(mapped, EACH, &[("x", row(&[3.0, -4.0]))]);
    assert!(reduced.signature.contains("| SequenceConstruct + SequenceMap"), "{}", reduced.signature);
    assert_eq!(operators, ["SequenceConstruct", "SequenceMap", "Abs", "SequenceAt"], "{reduced:?}");
}

/// Two tensors in a sequence in a branch.
const INSIDE: &str = r#"<ir_version: 8, opset_import: ["" : 17]>
inside (float[2] x, bool c) => (z) <int64 first = {-2}> {
    n = Neg(x)
    y = If(c) <
        then_branch = same () => (side) {
            both = SequenceConstruct(x, n)
            side = SequenceAt(both, first)
        },
        else_branch = other () => (side) { side = Identity(n) }
    >
    z = Exp(y)
}"#;

#[test]
fn what_is_in_a_body_is_blamed_by_its_own_name() {
    let condition = Tensor::from_i128_fn(&Type::new(DType::Bool, []), |_| 1);
    let inputs = [("x", row(&[3.0, -1.0])), ("c", condition.into())];
    let (reduced, operators, _) = reduced(longer_inside, INSIDE, &inputs);
    assert!(reduced.signature.contains("| SequenceConstruct + SequenceAt f32 "), "{reduced:?} {operators:?}");
    assert_eq!(operators, ["SequenceConstruct", "SequenceAt"], "{reduced:?}");
}

#[test]
fn sequences_and_optionals_are_judged_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case");
    case(&path, SEQUENCES, &sequences());
    let verdict =
        |wrong| -> Vec<String> { not_passing(&path, wrong).into_iter().map(|failure| failure.why).collect() };
    assert_eq!(verdict(|_| None), [""; 0]);
    let [why] = &verdict(hasty)[..] else { panic!("it is right") };
    assert!(why.contains("output `ys[0]`: 2 of 2 elements are off"), "{why}");
    // One more, and one that should not be there at all.
    let [why] = &verdict(longer)[..] else { panic!("it is right") };
    assert!(why.contains("output `SequenceLength(ys)`") && why.contains("3 where 2"), "{why}");
    let [why] = &verdict(without_optional)[..] else { panic!("it is right") };
    assert!(why.contains("output `OptionalHasElement(p)`"), "{why}");
}

#[test]
fn a_fault_in_a_loop_keeps_the_loop_and_is_blamed_on_it() {
    let (reduced, operators, _) = reduced(hasty, BOTH, &both());
    assert!(reduced.signature.contains("| form Loop "), "{}", reduced.signature);
    assert_eq!(operators, ["Loop", "Add"], "{reduced:?}");
    assert!(reduced.minimal);
}

#[test]
fn a_fault_in_a_branch_keeps_the_branch_and_is_blamed_on_it() {
    let (reduced, operators, _) = reduced(contrary, BOTH, &both());
    assert!(reduced.signature.contains("| form If "), "{}", reduced.signature);
    assert_eq!(operators, ["Greater", "If", "Identity", "Neg"], "{reduced:?}");
}

/// The programs of the conformance suite: a branch, a sequence that a loop fills, places that only values tell.
#[test]
fn whatever_the_program_the_form_at_fault_is_kept_and_blamed() {
    let x = ("x", row(&[-1.0, 3.0, 0.5]));
    let (branch, operators, _) = reduced(contrary, program!("branch"), std::slice::from_ref(&x));
    assert!(branch.signature.contains("| form If "), "{}", branch.signature);
    assert!(operators.contains(&"If".to_owned()), "{operators:?}");
    let (fill, operators, _) = reduced(hasty, program!("fill"), &[x.clone(), ("n", whole(3))]);
    assert!(fill.signature.contains("| form Loop "), "{}", fill.signature);
    assert!(operators.contains(&"Loop".to_owned()), "{operators:?}");
    let (count, operators, _) = reduced(short, program!("count"), &[x]);
    assert!(count.signature.contains("| NonZero "), "{}", count.signature);
    assert_eq!(operators, ["NonZero"]);
}

#[test]
fn a_fault_that_the_flat_model_shows_is_reduced_as_any_other() {
    // What is wrong with Abs has nothing to do with the program around it.
    fn nothing(program: &Program) -> Option<Program> {
        let mut program = program.clone();
        let mut nodes = program.main.body.nodes.iter_mut();
        nodes.find(|node| node.rest.op_type() == "Abs")?.rest.op_type = Some("Relu".to_owned());
        Some(program)
    }
    let (reduced, operators, _) = reduced(nothing, BOTH, &both());
    assert!(reduced.signature.contains("| Abs "), "{}", reduced.signature);
    assert_eq!(operators, ["Abs"]);
}

#[test]
fn what_a_reduced_program_leads_to_can_be_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case");
    case(&path, BOTH, &both());
    let case = CaseFolder::read(&path).unwrap();
    let inputs = harness::case::known_inputs(&case);
    let model = harness::case::import(&case.model, &inputs).unwrap().model;
    let tensors = harness::reference::bind(&model, &inputs).unwrap();
    let outputs = interp::evaluate_plain(&model, &tensors).unwrap();
    assert_eq!(outputs[1].to_f64s(), [48.0], "3 doubled four times, and above 0");
}

/// A scan over the columns of x, backwards, with a sum that goes around and pieces that pile up as columns.
const COLUMNS: &str = r#"<ir_version: 8, opset_import: ["" : 17]>
columns (float[2, 3] x, float[2] begin) => (sum, all) {
    a = Abs(x)
    sum, all = Scan(begin, a) <
        num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1], scan_output_axes = [1],
        body = column (s, c) => (next, twice) {
            next = Add(s, c)
            twice = Add(next, c)
        }
    >
}"#;

#[test]
fn a_fault_in_a_scan_keeps_the_scan_and_is_blamed_on_it() {
    /// The program whose scan goes the other way.
    fn forwards(program: &Program) -> Option<Program> {
        let mut program = program.clone();
        let mut nodes = program.main.body.nodes.iter_mut();
        let scan = nodes.find(|node| node.rest.op_type() == "Scan")?;
        scan.attributes.retain(|attribute| attribute.rest.name() != "scan_input_directions");
        Some(program)
    }
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [2, 3]), |i| i as f64 - 2.0);
    let inputs = [("x", x.into()), ("begin", row(&[0.0, 1.0]))];
    let (reduced, operators, _) = reduced(forwards, COLUMNS, &inputs);
    assert!(reduced.signature.contains("| form Scan "), "{}", reduced.signature);
    assert!(
        operators.contains(&"Scan".to_owned()) && !operators.contains(&"Abs".to_owned()),
        "{operators:?}"
    );
}

/// A branch of a bool, and before it an output of another dtype that has nothing to do with it.
const BESIDE: &str = r#"<ir_version: 8, opset_import: ["" : 17]>
beside (float16[1] w, float[2] x, float[2] z, bool c) => (float16[1] v, bool[2] y) {
    v = Sqrt(w)
    less = Less(x, z)
    y = If(c) <
        then_branch = yes () => (bool[2] a) { a = Not(less) },
        else_branch = no () => (bool[2] b) { b = Identity(less) }
    >
}"#;

#[test]
fn a_form_is_called_by_what_it_gives_and_not_by_another_output() {
    /// The program whose branch lacks its condition, which is refused.
    fn refused(program: &Program) -> Option<Program> {
        let mut program = program.clone();
        let mut nodes = program.main.body.nodes.iter_mut();
        nodes.find(|node| node.rest.op_type() == "If")?.inputs.clear();
        Some(program)
    }
    let half = Tensor::from_f64_fn(&Type::new(DType::F16, [1]), |_| 4.0);
    let truth = Tensor::from_i128_fn(&Type::new(DType::Bool, []), |_| 1);
    let inputs = [("w", half.into()), ("x", row(&[0.0, 1.0])), ("z", row(&[1.0, 0.0])), ("c", truth.into())];
    let (reduced, operators, _) = reduced(refused, BESIDE, &inputs);
    assert!(
        reduced.signature.contains("| form If bool dense in context | rejected"),
        "{}",
        reduced.signature
    );
    assert!(!operators.contains(&"Sqrt".to_owned()), "{operators:?}");
}

/// How many nodes the case in a folder has.
fn nodes(folder: &Path) -> usize {
    CaseFolder::read(folder).and_then(|case| case.decode()).and_then(Program::read).expect("a case").nodes()
}

#[test]
fn a_campaign_saves_what_a_finding_in_a_form_is_reduced_to() {
    let folder = tempfile::tempdir().unwrap();
    let forms = Forms { share: 1.0, each: [("If", 1.0)].into() };
    let settings = Settings { nodes: 6, max_elements: 64, forms, ..Settings::default() };
    let plan = Plan {
        jobs: 2,
        cases: Some(20),
        ..Plan::of(
            Maker { values: Values::Plain, ..Maker::new(21, settings) },
            Target::here(Box::new(Having(contrary))),
        )
    };
    let mut store = Store::create(folder.path(), &Identity::of(&plan)).expect("a store");
    let report = fuzz(&plan, &mut store, &AtomicBool::new(false), &mut |_| {}).expect("a report");
    let of_forms: Vec<_> = report.clusters.iter().filter(|c| c.signature.contains("| form If ")).collect();
    assert!(of_forms.len() > 2, "{:?}", report.clusters);
    for cluster in of_forms {
        let saved = [&cluster.smallest, &cluster.reduced].map(|folder| folder.as_ref().expect("it is saved"));
        let [whole, reduced] = saved.map(|folder| nodes(folder));
        assert!(reduced < whole, "{}: {whole} nodes, {reduced} of them left", cluster.signature);
        assert_eq!(cluster.steady, Some(true));
    }
}
