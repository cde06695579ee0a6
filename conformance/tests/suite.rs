//! The suite itself: every row of the table on every problem. And what keeps it from passing in vain.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::sync::LazyLock;

use backends::engines::{self, gpu};
use interp::{Profile, Taps};
use onnxsmith_conformance::{Problem, Subject, Tally, drawn, made, row};

static MADE: LazyLock<Vec<Problem>> = LazyLock::new(made::all);
static DRAWN: LazyLock<Vec<Problem>> = LazyLock::new(|| drawn::operators().chain(drawn::graphs()).collect());

/// Says something past the test harness, which shows nothing of a test that passes.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A backend or an engine; `None`, and a line on standard error, where the machine lacks what it needs.
fn open(name: &str) -> Option<Subject> {
    let row = row::of(name).unwrap_or_else(|| panic!("no row is about {name}"));
    let engine = name.split_once(':').map_or(name, |(engine, _)| engine);
    match (Subject::open(row, Path::new(env!("CARGO_BIN_EXE_conformance-worker"))), engines::needs(engine)) {
        (Ok(subject), _) => Some(subject),
        (Err(e), Some(what)) => {
            say(&format!("NOT TESTED: `{name}` needs {what}: {e}"));
            None
        }
        (Err(e), None) => panic!("{name}: {e}"),
    }
}

fn conforms(name: &str) {
    let Some(subject) = open(name) else { return };
    let tally = Tally::of(&subject, DRAWN.iter().chain(&*MADE));
    say(&format!("{name}: {tally}"));
    let failures = tally.failures(&subject);
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn the_cpu_kernels_conform() {
    conforms("cpu");
}

#[test]
fn the_plain_cpu_kernels_conform() {
    conforms(row::PLAIN);
}

#[test]
fn the_gpu_kernels_conform() {
    conforms(gpu::NAME);
}

#[test]
fn the_gpu_kernels_of_workgroups_conform() {
    conforms(row::TEAMS);
}

#[test]
fn the_engines_conform() {
    let ours = ["cpu", row::PLAIN, gpu::NAME, row::TEAMS];
    for name in engines::all() {
        assert!(row::of(name).is_some(), "no row is about {name}");
    }
    for name in row::ROWS.iter().map(|row| row.name).filter(|name| !ours.contains(name)) {
        if engines::all().contains(&name) {
            conforms(name);
        } else {
            say(&format!("NOT TESTED: `{name}` is not built in; the cargo feature {name} adds it"));
        }
    }
}

#[test]
fn a_suite_in_which_nothing_ran_fails() {
    let subject = open("cpu").expect("the CPU kernels need nothing");
    let none = Tally::of(&subject, &[]);
    assert!(none.failures(&subject).iter().any(|f| f.starts_with("0 elements of 0 operators")));
    let relu = MADE.iter().filter(|problem| problem.operators().eq(["Relu"]));
    let some = Tally::of(&subject, relu);
    assert!(some.compared > 0 && some.unexpected.is_empty());
    assert!(some.failures(&subject)[0].contains("of 1 operators were compared"));
}

/// A row that lists what is not so fails, for each entry.
#[test]
fn a_list_is_held_against_the_answers() {
    let Some(subject) = open("rten") else { return };
    let not_shown = Tally::default().failures(&subject);
    let says = |what: &str| not_shown.iter().filter(|failure| failure.contains(what)).count();
    assert_eq!(says("what nobody asks for"), subject.lacking().all().len());
    assert_eq!(says("any more"), subject.row.findings.len());
}

#[test]
fn names_tell_problems_apart() {
    let mut names = BTreeSet::new();
    for problem in DRAWN.iter().chain(&*MADE) {
        assert!(names.insert(&problem.name), "two problems are called {}", problem.name);
    }
}

/// Nobody can fail a problem of which nothing can be judged.
#[test]
fn something_can_be_judged_of_what_is_made() {
    let mut in_vain = Vec::new();
    for problem in &*MADE {
        let right = interp::evaluate(&problem.model, &problem.tensors(), &Profile::TIGHT, Taps::Outputs);
        let right = right.expect("a problem is a valid model");
        let [all, undecidable, undefined] = harness::case::shares(&right);
        if all > 0 && undecidable + undefined == all {
            in_vain.push(&problem.name);
        }
    }
    assert!(in_vain.is_empty(), "{in_vain:#?}");
}
