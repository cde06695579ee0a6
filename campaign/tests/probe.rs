//! The probe finds out what an engine says it lacks, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use backends::cpu::CpuEngine;
use graphgen::Settings;
use harness::probe::{ProbeBudget, Watch};
use harness::{Maker, Support, Target, Values, case, probe};
use ir::{DType, DTypes, Datum, NodeKind, Operation, Tensor, Type};
use onnxsmith_campaign::fuzz::Plan;
use onnxsmith_campaign::store::Identity;
use ops::{Model, Op};
use worker::{Case, Description, Engine, EngineError};

/// Our CPU kernels, with these answers in place of some.
struct Picky(fn(&Model, &Op, &[Option<&Type>]) -> Answer);

/// What it makes of a node.
enum Answer {
    Runs,
    Lacks,
    Refuses,
}

impl Engine for Picky {
    fn describe(&self) -> Description {
        Description { engine: "picky".to_owned(), opset: None, ..CpuEngine::default().describe() }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        let known =
            case.inputs.iter().map(|(name, value)| ((*name).to_owned(), value.clone().map(Tensor::clone)));
        let known: BTreeMap<String, Datum> = known.collect();
        let model =
            case::import(case.model.message()?, &known).map_err(|e| EngineError::Load(e.to_string()))?.model;
        for node in &model.graph.nodes {
            let NodeKind::Operator(op) = &node.kind else { continue };
            let operands = model.graph.types(&node.inputs);
            match (self.0)(&model, op, &operands) {
                Answer::Runs => {}
                Answer::Lacks => return Err(EngineError::Unsupported(format!("no {}", op.name()))),
                Answer::Refuses => return Err(EngineError::Load("the axis is odd".to_owned())),
            }
        }
        CpuEngine::default().run(case)
    }
}

/// Our CPU kernels, without some operators that have bodies.
struct WithoutBodies(&'static [&'static str]);

impl Engine for WithoutBodies {
    fn describe(&self) -> Description {
        Description { engine: "flat".to_owned(), ..CpuEngine::default().describe() }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        let program = case::program(case.model.message()?).map_err(|e| EngineError::Load(e.to_string()))?;
        let nodes = program.functions.iter().map(|f| &f.scope.body).chain([&program.main.body]);
        let mut operators = nodes.flat_map(|body| &body.nodes).map(|node| node.rest.op_type());
        match operators.find(|operator| self.0.contains(operator)) {
            Some(operator) => Err(EngineError::Unsupported(format!("control flow: {operator}"))),
            None => CpuEngine::default().run(case),
        }
    }
}

/// Our CPU kernels, which panic with an operator.
struct Crashing(&'static str);

impl Engine for Crashing {
    fn describe(&self) -> Description {
        Description { engine: "crashing".to_owned(), opset: Some(20), ..CpuEngine::default().describe() }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        let program = case::program(case.model.message()?).map_err(|e| EngineError::Load(e.to_string()))?;
        if program.main.body.nodes.iter().any(|node| node.rest.op_type() == self.0) {
            return Err(EngineError::Internal("the axis is out of range".to_owned()));
        }
        CpuEngine::default().run(case)
    }
}

fn probed(operators: &[&'static str], engine: impl Engine + Send + 'static) -> (Target, Settings) {
    let mut target = Target::here(Box::new(engine)).remove(0);
    let settings = Settings {
        operators: operators.iter().copied().collect(),
        dtypes: DTypes::of(&[DType::F32, DType::F64, DType::I32, DType::I64, DType::I8]),
        ..Settings::default()
    };
    let runs = AtomicU64::new(0);
    let count = || _ = runs.fetch_add(1, Ordering::Relaxed);
    let effort = ProbeBudget { graphs: 20, jobs: 2 };
    let watch = Watch { on_run: &count, stop: &|| false };
    let probed = probe::probe(&mut target, &settings, effort, watch).expect("it runs in this process");
    assert_eq!(probed.runs, runs.into_inner(), "each model that is run is told");
    (target, settings)
}

fn forms(support: &Support) -> Vec<String> {
    support.lacking().iter().map(|l| format!("{}: {}", l.operator, l.sentence())).collect()
}

/// Softmax as a whole, a dtype, a pair of dtypes, an attribute, a rank, an operand that may be absent, and an opset.
fn lacks_much(model: &Model, op: &Op, operands: &[Option<&Type>]) -> Answer {
    let dtype = |i: usize| operands.get(i).copied().flatten().map(|ty| ty.dtype);
    let rank = operands[0].map_or(0, ir::Type::rank);
    let attributes = Operation::attributes(op);
    let lacks = match op.name() {
        "Softmax" => true,
        "Abs" => matches!(dtype(0), Some(DType::I8 | DType::F64)),
        "Pow" => dtype(0) == Some(DType::I32) && dtype(1) == Some(DType::F32),
        "ArgMax" => attributes.get_flag("select_last_index", false) == Ok(true),
        "AveragePool" => rank == 5,
        "Clip" => operands.len() < 3 || operands[2].is_none(),
        "Neg" => model.opset >= 21,
        _ => false,
    };
    if lacks { Answer::Lacks } else { Answer::Runs }
}

/// An engine that has every other operator is not one that answers nothing: campaigns look for such a crash.
#[test]
fn an_engine_that_crashes_with_all_that_is_asked_for_is_no_silent_one() {
    let (target, _) = probed(&["Sign"], Crashing("Sign"));
    assert_eq!(forms(&target.support), [""; 0]);
}

#[test]
fn what_an_engine_lacks_is_found_and_drawn_no_more() {
    let operators = ["Abs", "Add", "ArgMax", "AveragePool", "Clip", "Neg", "Pow", "Softmax"];
    let (target, settings) = probed(&operators, Picky(lacks_much));
    let expected = [
        "Abs: dtype of X is f64 or i8",
        "ArgMax: attribute select_last_index = 1",
        "AveragePool: rank of X = 5",
        "Clip: operand max is absent",
        "Neg: opset >= 21",
        "Pow: dtype of X is i32 and dtype of Y is f32",
        "Softmax: all of it",
    ];
    assert_eq!(forms(&target.support), expected);
    assert!(target.support.functions && target.support.opset == Some(28));

    let maker = |settings| Maker { swarm: false, values: Values::None, ..Maker::new(9, settings) };
    let (narrow, wide) = (maker(target.narrow(settings.clone())), maker(settings));
    let cases = |maker: &Maker<'_>| (0..120).map(|i| maker.make(i).expect("a case")).collect::<Vec<_>>();
    let (within, all) = (cases(&narrow), cases(&wide));
    assert!(all.iter().filter(|case| target.lacks(&case.model, &case.unseen).is_some()).count() > 90);
    for case in &within {
        assert_eq!(target.lacks(&case.model, &case.unseen), None, "case {}", case.index);
    }
    let drawn = |cases: &[harness::Case]| {
        cases.iter().flat_map(|c| case::operators(&c.model).collect::<Vec<_>>()).collect::<BTreeSet<_>>()
    };
    let lost: Vec<_> = drawn(&all).into_iter().filter(|used| !drawn(&within).contains(used)).collect();
    assert!(
        lost.iter().all(|&(op, dtype)| op == "Softmax"
            || (op, dtype) == ("Abs", DType::I8)
            || (op, dtype) == ("Abs", DType::F64)),
        "{lost:?}"
    );
}

/// All forms, in every model.
fn wide() -> graphgen::Forms {
    graphgen::Forms { share: 1.0, each: forms::usual() }
}

/// The forms of some programs that a target gets, of all forms. Conditions are truth values.
fn drawn_forms(target: &Target, settings: &Settings) -> BTreeSet<&'static str> {
    let dtypes = settings.dtypes.with(DType::Bool);
    let settings = Settings { forms: wide(), nodes: 4, function: 0.0, dtypes, ..settings.clone() };
    let settings = target.narrow(settings);
    let maker = Maker { swarm: false, values: Values::Plain, ..Maker::new(9, settings) };
    (0..80).flat_map(|index| maker.make(index).expect("a case").forms).collect()
}

#[test]
fn an_operator_with_bodies_that_an_engine_lacks_is_found_and_drawn_no_more() {
    const ALL: [&str; 3] = ["If", "Loop", "Scan"];
    // With those that loops and branches are written out in: a program of others is none that is asked for.
    let operators = [
        "Abs",
        "Add",
        "Concat",
        "Equal",
        "Gather",
        "Identity",
        "Less",
        "Neg",
        "Shape",
        "Squeeze",
        "Unsqueeze",
        "Where",
    ];
    for lacking in [&ALL[..], &["Scan"]] {
        let (target, settings) = probed(&operators, WithoutBodies(lacking));
        let found = target.support.lacking_forms();
        assert_eq!(found.iter().map(|l| l.form).collect::<Vec<_>>(), lacking);
        for form in found {
            assert!(form.tried > 0 && form.said == format!("control flow: {}", form.form), "{form:?}");
        }
        assert_eq!(forms(&target.support), [""; 0], "what is in the bodies is not lacking");

        let drawn = drawn_forms(&target, &settings);
        for form in ALL {
            assert_eq!(drawn.contains(form), !lacking.contains(&form), "{form} of {drawn:?}");
        }
        let maker = Maker { swarm: false, ..Maker::new(9, Settings { forms: wide(), ..settings }) };
        for case in (0..20).map(|index| maker.make(index).expect("a case")) {
            let lacks = case.forms.iter().any(|form| lacking.contains(form));
            assert_eq!(
                target.lacks_of(&case).is_some(),
                lacks,
                "a case for another engine: {:?}",
                case.forms
            );
        }
        let maker = Maker::new(9, Settings::default());
        let stored = serde_json::to_value(Identity::of(&Plan::of(maker, vec![target.clone()])));
        let stored: Identity = serde_json::from_value(stored.expect("JSON")).expect("what was stored");
        let mut again = Target::here(Box::new(WithoutBodies(lacking))).remove(0);
        assert!(again.support.lacking_forms().is_empty() && stored.recall(&mut again));
        let recalled: Vec<&str> = again.support.lacking_forms().iter().map(|l| l.form).collect();
        assert_eq!(recalled, lacking, "a campaign goes on with what it found out");

        let text = target.support.to_toml();
        let read = Support::parse(&text, std::path::Path::new("flat.toml")).expect("what was written");
        assert_eq!((read.lacking_forms(), read.to_toml()), (found, text));
    }
}

#[test]
fn what_is_refused_in_other_words_stays() {
    let (target, _) = probed(
        &["Abs", "Softmax"],
        Picky(|_, op, _| if op.name() == "Abs" { Answer::Refuses } else { Answer::Runs }),
    );
    assert_eq!(forms(&target.support), [""; 0]);
}

#[test]
fn the_newest_opset_is_found_by_trying() {
    let (target, settings) = probed(
        &["Abs", "Relu"],
        Picky(|model, _, _| if model.opset > 19 { Answer::Lacks } else { Answer::Runs }),
    );
    assert_eq!((target.support.opset, target.narrow(settings).opset), (Some(19), 19));
    assert_eq!(forms(&target.support), [""; 0]);
}

#[test]
fn what_was_found_out_survives_a_file() {
    let (target, _) = probed(&["Abs", "Clip", "Pow"], Picky(lacks_much));
    let text = target.support.to_toml();
    let file = std::path::Path::new("picky.toml");
    let read = Support::parse(&text, file).expect("what was written");
    assert_eq!(read.to_toml(), text);
    assert_eq!((read.lacking(), forms(&read).len()), (target.support.lacking(), 3));

    let why = |text: &str| Support::parse(text, file).unwrap_err().to_string();
    let newer = why(&text.replace("format = 1", "format = 2\nshapes = 3"));
    assert!(
        newer.contains("picky.toml: format 2 is not 1, which this program reads; write the file again"),
        "{newer}"
    );
    let unknown = why(&text.replacen("functions", "funktions", 1));
    assert!(unknown.contains("picky.toml:8: unknown field `funktions`"), "{unknown}");
    let operator = why(&text.replace("\"Abs\"", "\"Abz\""));
    assert!(operator.contains("there is no operator `Abz`"), "{operator}");
    assert!(why("engine = \"x\"").contains("no support file"));
}
