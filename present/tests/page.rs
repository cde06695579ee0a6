//! The page and the issues show names that come from outside as text, and load nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use campaign::Shard;
use campaign::group::{Group, Member};
use campaign::report::{OperatorNumbers, Others, Report};
use campaign::store::identity::Tested;
use campaign::store::{Identity, Stored};
use harness::case;
use harness::invalid::schedule::Choice;
use ir::{DType, Tensor, Type};
use onnx::program::Program;
use onnxsmith_present::evidence::Evidence;
use onnxsmith_present::issue::Issue;
use onnxsmith_present::page::{Page, html};
use ops::Model;
use oracles::{Culprit, ErrorShape, Finding, Symptom, Tally, Worst};
use triage::folder::Saved;

const NAME: &str = "</text><script>alert(1)</script>";
const OUTPUT: &str = "</text><script>alert(2)</script>";
/// What moves a cursor, colours what follows or turns its order.
const STEERING: &str = "\u{1b}[1m\u{202e}\u{7}";

/// A case whose input and output have a name that is markup, with a finding on it.
fn evil(folder: &Path) -> Group {
    let text = format!(
        "onnxsmith 1 opset 18\ngraph {{\n  %0: f32[2] = variable \"{NAME}\"\n  %1: f32[2] = Sign(%0)\n  return \"{OUTPUT}\" = \
         %1\n}}\n"
    );
    case_of(folder, &text)
}

/// The group of a finding on a case: an element of the output whose name is markup is off, and Sign is to blame.
fn case_of(folder: &Path, text: &str) -> Group {
    let name = NAME;
    let model: Model = text.parse().expect("it is a model");
    let ty = model.graph.variables().map(|(_, _, ty)| ty.clone()).next().expect("an input");
    let tensor = Tensor::from_f64_fn(&ty, |i| i as f64);
    let inputs = [(name.to_owned(), tensor.clone())];
    let worst = Worst {
        output: OUTPUT.to_owned(),
        index: 1,
        got: "-1.0".to_owned(),
        expected: "1.0".to_owned(),
        bound: "0e0".to_owned(),
        besides: None,
        mismatches: 1,
        elements: 2,
    };
    let operand = Type::new(DType::F32, [2]);
    let finding = Finding {
        backend: "ort".to_owned(),
        level: "all".to_owned(),
        check: None,
        symptom: Symptom::Mismatch(ErrorShape::Gross),
        broken: None,
        culprit: Some(Culprit::alone("Sign", &[Some(&operand)])),
        hidden_by_taps: false,
        core: None,
        after: vec![NAME.to_owned()],
        detail: format!("output `{name}` is off"),
        worst: Some(worst),
        stderr: format!("{NAME}\n```\n\u{1b}[31m{NAME}\u{202e}"),
    };
    let evaluation = interp::evaluate(&model, &[tensor], &interp::Profile::TIGHT, interp::Taps::Outputs)
        .expect("a reference");
    let saved = Saved {
        seed: None,
        index: Some(7),
        footprint: None,
        onnx: &case::export(&model).expect("it is ONNX"),
        inputs: &inputs,
        interface: ir::Interface::of(&model),
        names: model.graph.outputs.iter().map(|output| output.name.clone()).collect(),
        profile: &interp::Profile::TIGHT,
        outputs: &evaluation.outputs,
        findings: std::slice::from_ref(&finding),
        relaxed: None,
        rewritten: None,
    };
    let place = PathBuf::from("findings/0/case-7");
    saved.write(&folder.join(&place)).expect("it is written");
    let signature = format!("{}{STEERING}", finding.signature());
    let member = Member { signature, count: 2, smallest: Some(place.clone()), known: Some(name.to_owned()) };
    Group {
        backend: name.to_owned(),
        place: format!("{name}{STEERING}"),
        does: format!("{name}{STEERING}"),
        count: 2,
        smallest: Some(place),
        reduced: None,
        steady: None,
        example: finding,
        known: None,
        known_in: None,
        others: BTreeMap::from([(name.to_owned(), Others { right: 1, ..Others::default() })]),
        signatures: vec![member],
    }
}

fn identity() -> Identity {
    let tested = Tested {
        name: NAME.to_owned(),
        engine: Some(NAME.to_owned()),
        version: NAME.to_owned(),
        accuracy: NAME.to_owned(),
        functions: true,
        newest_opset: None,
        refused: BTreeMap::new(),
        refused_forms: std::collections::BTreeSet::new(),
    };
    Identity {
        onnxsmith: NAME.to_owned(),
        seed: 1,
        shard: Shard::WHOLE,
        opset: None,
        nodes: None,
        policy: serde_json::Value::Null,
        settings: BTreeMap::from([(NAME.to_owned(), NAME.into())]),
        swarm: true,
        values: case::Values::Mixed,
        level: Choice::Valid,
        rules: vec![NAME.to_owned()],
        oracles: BTreeMap::new(),
        targets: vec![tested],
        saved_per_signature: 3,
        max_disk: None,
    }
}

/// A report with markup wherever text is.
fn report() -> Report {
    let mut report = Report { trouble: vec![NAME.to_owned()], ..Report::default() };
    report.by_target.insert(NAME.to_owned(), Tally { pass: 1, bug: 1, incomparable: 1 });
    report.incomparable.insert(NAME.to_owned(), 1);
    report.by_operator.insert(NAME.to_owned(), OperatorNumbers::default());
    report.known_unseen.push(NAME.to_owned());
    report.coverage.operators.insert("Sign".to_owned(), 1);
    report
}

#[test]
fn names_are_text_and_nothing_is_loaded() {
    let folder = tempfile::tempdir().expect("a folder");
    let groups = [evil(folder.path())];
    let (report, identity) = (report(), identity());
    let block = |past, seconds| {
        let verdicts = Tally { pass: 1, bug: 1, incomparable: 1 };
        Stored { shard: 0, first: past - 1, past, verdicts, finished: 0, seconds }
    };
    let blocks = [block(1, 1.0), block(2, 2.0)];
    let campaign = folder.path();
    let text =
        html(&Page { report: &report, groups: &groups, campaign, identity: &identity, blocks: &blocks });
    assert!(!text.contains("<script"), "a name is markup: {text}");
    assert!(text.matches("&lt;script&gt;").count() > 15, "names are missing: {text}");
    assert!(text.contains("Standard error (3 lines)") && !text.contains("[31m"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']), "a control character is shown: {text}");
    assert!(text.contains("and not met (1)"), "{text}");
    assert!(text.contains("class=\"op culprit\"") && text.contains("element 1 of "), "{text}");
    for reference in ["http:", "https:", "src=", "@import", "url(", "<link", "<iframe", "javascript:"] {
        assert!(!text.contains(reference), "the page has {reference}");
    }
}

#[test]
fn an_issue_is_complete_and_names_are_no_markup_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let group = evil(folder.path());
    let evidence = Evidence::of(&group, folder.path(), &identity()).expect("the case is there");
    let issue = Issue::new(&group, &evidence, "1.0");
    issue.write(&folder.path().join("issues")).expect("it is written");
    let written = folder.path().join("issues").join(&issue.name);
    for file in ["issue.md", "model.onnx", "reproduce.py"] {
        assert!(written.join(file).is_file(), "there is no {file}");
    }
    let text = std::fs::read_to_string(written.join("issue.md")).expect("a text");
    assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']), "a control character is told: {text}");
    let (told, said) = text.split_once("## Standard error").expect("what the engine said");
    // The fence is longer than what is in it.
    let inside = said.strip_prefix("\n\n````text\n").and_then(|said| said.strip_suffix("\n````\n"));
    assert!(inside.is_some_and(|inside| !inside.contains("[31m") && !inside.contains("````")), "{said}");
    let outside_code: String = told.split("```").step_by(2).collect::<Vec<_>>().join("");
    let outside_code: String = outside_code.replace("\\`", "").split('`').step_by(2).collect();
    assert!(!outside_code.contains("<script"), "a name is markup: {outside_code}");
    assert!(text.contains("ORT_ENABLE_ALL") && text.contains("element {index} is {got}"), "{text}");
    let python = std::fs::read_to_string(written.join("reproduce.py")).expect("a program");
    assert!(python.contains("\nzero_signs_count = True\n"), "a careful implementation keeps them: {python}");
    assert!(python.contains("np.array([0.0, 1.0], dtype=np.float32).reshape([2])"), "{python}");
}

/// The campaign's identity, where the engine is a runner of the user's.
fn of_a_runner() -> Identity {
    let mut identity = identity();
    identity.targets[0].engine = Some("cmd:./mine".to_owned());
    identity
}

#[test]
fn the_folder_of_an_issue_is_a_case_and_its_command_runs_that() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        "onnxsmith 1 opset 18\ngraph {{\n  %0: f32[100] = variable \"{NAME}\"\n  %1: f32[100] = Sign(%0)\n  return \"{OUTPUT}\" \
         = %1\n}}\n"
    );
    let group = case_of(folder.path(), &text);
    let evidence = Evidence::of(&group, folder.path(), &of_a_runner()).expect("the case is there");
    assert!(evidence.is_of_a_runner());
    let issue = Issue::new(&group, &evidence, "1.0");
    issue.write(&folder.path().join("issues")).expect("it is written");
    let written = folder.path().join("issues").join(&issue.name);
    for file in ["test_data_set_0/input_0.pb", "test_data_set_0/output_0.pb", "bounds_set_0/bound_0.pb"] {
        assert!(written.join(file).is_file(), "there is no {file}");
    }
    assert_eq!(onnx::CaseFolder::read(&written).expect("a case"), evidence.case);
    let text = std::fs::read_to_string(written.join("issue.md")).expect("a text");
    let command = format!("onnxsmith run {} --on 'cmd:./mine :all'", issue.name);
    assert!(text.contains(&command), "{command} is not in {text}");
    assert!(text.contains("100 elements, in `test_data_set_0`"), "{text}");
    assert!(!text.contains("findings/"), "the campaign's folder is named: {text}");
}

/// An engine that gives two values one place shows on one output what is wrong with the other.
#[test]
fn of_a_fault_that_shows_on_an_output_of_another_branch_the_whole_model_is_shown() {
    let text = |of_output: &str, of_other: &str| {
        format!(
            "onnxsmith 1 opset 18\ngraph {{\n  %0: f32[2] = variable \"{NAME}\"\n  %1: f32[2] = {of_output}(%0)\n  \
             %2: f32[2] = {of_other}(%0)\n  return \"{OUTPUT}\" = %1, \"other\" = %2\n}}\n"
        )
    };
    let shown = |text: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let group = case_of(folder.path(), text);
        let evidence = Evidence::of(&group, folder.path(), &identity()).expect("the case is there");
        evidence.model.expect("a model").to_string()
    };
    let all = shown(&text("Neg", "Sign"));
    assert!(all.contains("Neg(") && all.contains("Sign("), "{all}");
    let part = shown(&text("Sign", "Neg"));
    assert!(part.contains("Sign(") && !part.contains("Neg("), "{part}");
}

#[test]
fn a_program_in_rust_ends_with_1_while_the_fault_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let group = evil(folder.path());
    let mut evidence = Evidence::of(&group, folder.path(), &identity()).expect("the case is there");
    for engine in ["rten", "tract"] {
        engine.clone_into(&mut evidence.finding.backend);
        let issue = Issue::new(&group, &evidence, "1.0");
        let (_, program) =
            issue.files.iter().find(|(name, _)| *name == "reproduce.rs").expect("it is a crate");
        let program = String::from_utf8_lossy(program);
        for part in [
            "if shape(&outputs[0]) != vec![2usize] {",
            "Some(got) if is_right(got, 1.0f64, 0.0f64, true) => {}",
            "std::process::exit(i32::from(!wrong.is_empty()));",
        ] {
            assert!(program.contains(part), "{part} is not in {program}");
        }
        assert!(!program.contains('@'), "something is not filled in: {program}");
    }
}

/// A program whose branch the model that it leads to has not.
const PROGRAM: &str = r#"<ir_version: 8, opset_import: ["" : 17]>
branching (float[2] x, bool c) => (y) {
    y = If(c) <
        then_branch = taken () => (float[2] side) { side = Sign(x) },
        else_branch = other () => (float[2] otherwise) { otherwise = Neg(x) }
    >
}"#;

/// The group of a finding that such a program shows, saved in a folder.
fn of_program(folder: &Path) -> Group {
    let program = Program::from_text(PROGRAM).expect("a program");
    let onnx = onnx::encode(&program.write());
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |i| i as f64);
    let c = Tensor::from_f64_fn(&Type::new(DType::Bool, []), |_| 1.0);
    let inputs = [("x".to_owned(), x.clone()), ("c".to_owned(), c.clone())];
    let known = inputs.iter().map(|(name, tensor)| (name.clone(), tensor.clone().into())).collect();
    let model = case::import(&onnx, &known).expect("it leads to a model").model;
    let values: Vec<Tensor> =
        model.graph.variables().map(|(_, name, _)| if name == "x" { x.clone() } else { c.clone() }).collect();
    let evaluation = interp::evaluate(&model, &values, &interp::Profile::TIGHT, interp::Taps::Outputs)
        .expect("a reference");
    let mut group = evil(folder);
    let place = PathBuf::from("findings/1/case-8");
    let findings =
        [Finding { worst: None, stderr: "\u{1b}[0;93mno\u{1b}[m".to_owned(), ..group.example.clone() }];
    let saved = Saved {
        seed: None,
        index: Some(8),
        footprint: None,
        onnx: &onnx,
        inputs: &inputs,
        interface: ir::Interface::of(&model),
        names: vec!["y".to_owned()],
        profile: &interp::Profile::TIGHT,
        outputs: &evaluation.outputs,
        findings: &findings,
        relaxed: None,
        rewritten: None,
    };
    saved.write(&folder.join(&place)).expect("it is written");
    group.smallest = Some(place);
    group
}

#[test]
fn of_a_case_that_has_a_branch_the_program_is_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let group = of_program(folder.path());
    let evidence = Evidence::of(&group, folder.path(), &identity()).expect("the case is there");
    let text = Issue::new(&group, &evidence, "1.0").markdown;
    assert!(text.contains("else_branch = other ()"), "{text}");
    assert!(text.contains("- `c` (bool[]): true"), "the branch is chosen by an input: {text}");
    assert!(text.contains("## Standard error\n\n```text\nno\n```"), "{text}");
    let (report, identity) = (report(), identity());
    let groups = [group];
    let page =
        Page { report: &report, groups: &groups, campaign: folder.path(), identity: &identity, blocks: &[] };
    assert!(html(&page).contains("else_branch"), "the page has no program");
}

#[test]
fn evidence_that_is_gone_is_said_to_be() {
    let folder = tempfile::tempdir().expect("a folder");
    let group = evil(folder.path());
    std::fs::remove_dir_all(folder.path().join("findings")).expect("it goes");
    let why = Evidence::of(&group, folder.path(), &identity()).expect_err("it is gone").to_string();
    assert!(why.contains("case-7 is no longer there"), "{why}");
}
