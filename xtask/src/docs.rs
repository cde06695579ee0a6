//! Documentation tables, made from code: by the program itself, or here.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use onnx::violate::{Checker, Scope, rules};
use oracles::metamorphic::Holds;

use crate::checked_in::{Mode, bring_up_to_date, root};
use crate::program::{Build, onnxsmith};
use crate::{modules, node_suite, zoo};

/// The generated page and the command that prints it.
const OPERATORS: (&str, &[&str]) = ("docs/operators.md", &["ops", "--markdown"]);

/// Generates, then writes or checks.
pub(crate) fn run(mode: Mode, program: Option<&Path>) -> Result<()> {
    let root = root();
    if mode == Mode::Check {
        // What is not written here, and takes no time.
        modules::check(&root)?;
        node_suite::check(&root)?;
        zoo::check(&root)?;
    }
    let (file, arguments) = OPERATORS;
    let program = onnxsmith(program, Build::Test, &[])?;
    let output = Command::new(program).args(arguments).output().context("cannot run onnxsmith")?;
    ensure!(
        output.status.success(),
        "`onnxsmith {}` failed: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).context("the page is not UTF-8")?;
    bring_up_to_date(&root, file, &text, mode, "docs")?;
    bring_up_to_date(&root, VIOLATIONS, &violations()?, mode, "docs")?;
    bring_up_to_date(&root, ALLOWANCES, &allowances()?, mode, "docs")?;
    bring_up_to_date(&root, METAMORPHIC, &metamorphic()?, mode, "docs")
}

/// The page of the metamorphic oracle, and what it says before the table.
const METAMORPHIC: &str = "docs/metamorphic.md";
const ABOUT_METAMORPHIC: &str = include_str!("metamorphic.md");

fn metamorphic() -> Result<String> {
    let mut out = ABOUT_METAMORPHIC.to_owned();
    for relation in oracles::metamorphic::ALL {
        let holds = match relation.holds {
            Holds::Exactly => "exactly",
            Holds::WithinBounds => "within bounds",
        };
        writeln!(out, "| `{}` | {} | {holds} | {} |", relation.name, relation.does, relation.because)?;
    }
    Ok(out)
}

/// The page of what a runtime may do.
const ALLOWANCES: &str = "docs/allowances.md";

/// What the page says before the table.
const ABOUT_ALLOWANCES: &str = "\
# Allowances

What a runtime may do although the reference says otherwise. A report counts the answers that rest on each (key `allowances`, by
target), so that a wide one shows. `fuzz`, `run`, `reduce` and the conformance suite know the same ones. How far a number may be
off is no allowance: that is in the bounds ([numerics.md](numerics.md)). For each, `campaign/tests/allowances.rs` has an engine that must
pass, and one that must not.

| allowance | what the standard says | what is permitted, and no more |
|---|---|---|
";

/// What the page says after it.
const READINGS: &str = include_str!("readings.md");

fn allowances() -> Result<String> {
    let mut out = ABOUT_ALLOWANCES.to_owned();
    for allowance in oracles::Allowance::ALL {
        writeln!(out, "| `{}` | {} | {} |", allowance.name(), allowance.basis(), allowance.permits())?;
    }
    Ok(out + "\n" + READINGS)
}

/// The page of rules that can be broken.
const VIOLATIONS: &str = "docs/violations.md";

/// What the page says before the table.
const ABOUT_VIOLATIONS: &str = "\
# Rules that can be broken

`gen --level violate` and `fuzz --level violate|adaptive` break exactly one of these rules in a valid model, and say so in
`case.json` (key `relaxed`). What is expected of an engine is a clean error. The edits are in `onnx/src/violate/`.

The last column is what `onnx.checker.check_model(model, full_check=True)` of onnx 1.23 was seen to do with 200 models
per rule (`scripts/check_violations.py`). onnxsmith's own import refuses all of them, with an error that names the rule
and the node, value or function that breaks it (`onnx/tests/violate.rs`).

Where whoever knows the operator has to notice (`operator` in the table), a finding is called by the rule and the operator:
`tract | violate parameter-value of Slice | panic at …`. Each operator is checked by code of its own, so that a zero step of Slice
and a negative count of Tile are two causes. Where whoever reads models has to notice (`model`), it makes no difference which
operators there are: `tract | whole graph | accepted an invalid model: cycle`.

| rule | clause of the standard | who has to notice | source | ONNX's checker |
|---|---|---|---|---|
";

fn violations() -> Result<String> {
    let mut out = ABOUT_VIOLATIONS.to_owned();
    for rule in rules() {
        let checker = match rule.checker {
            Checker::Refuses => "refuses".to_owned(),
            Checker::Infers => "refuses, partly or always by type inference".to_owned(),
            Checker::Partly(but) => format!("refuses, but {but}"),
            Checker::Blind(why) => format!("accepts: {why}"),
        };
        let who = match rule.scope {
            Scope::Model => "model",
            Scope::Operator => "operator",
        };
        writeln!(out, "| `{}` | {} | {who} | {} | {checker} |", rule.name, rule.clause, rule.source)?;
    }
    Ok(out)
}
