//! docs/node-suite.md: what comes of ONNX's node tests on the reference and on our CPU kernels, by operator.
//!
//! It needs the tests, which ONNX's Python package writes, so CI cannot make it again. What CI can see is whether the page is
//! behind the code: [`check`] looks for operators that the page says are not there and the registry has.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use onnx::program::Program;
use onnx::proto::ModelProto;
use prost::Message as _;
use serde::Deserialize;

use crate::checked_in::{Mode, bring_up_to_date, root};
use crate::engines::{self, OUTCOMES, Replayed};
use crate::program::{Build, onnxsmith};

/// The page, and what it says before the results.
const PAGE: &str = "docs/node-suite.md";
const ABOUT: &str = include_str!("node_suite.md");

/// What the tests run on: the page is about what is ours.
const ON: &str = "interp,cpu";

/// What `scripts/export_node_tests.py` says about the tests.
#[derive(Deserialize)]
struct Exported {
    onnx: String,
    failed: Vec<serde_json::Value>,
}

/// A test.
#[derive(Default)]
struct Test {
    /// The operator that it is for.
    operator: String,
    /// What each backend did, if it did not pass: outcome and reason.
    others: BTreeMap<String, (String, String)>,
}

/// Runs the tests in a folder, and writes the page.
pub(crate) fn run(folder: &Path, program: Option<&Path>) -> Result<()> {
    let folder = folder.canonicalize().with_context(|| format!("there is no {}", folder.display()))?;
    let exported = fs::read_to_string(folder.join("export.json"))
        .with_context(|| format!("{} was not written by scripts/export_node_tests.py", folder.display()))?;
    let exported: Exported =
        serde_json::from_str(&exported).context("export.json is not what the script writes")?;
    ensure!(
        exported.failed.is_empty(),
        "{} tests could not be written; see export.json",
        exported.failed.len()
    );
    let root = root();
    let program = onnxsmith(program, Build::Release, &[])?;
    let mut tests = tests(&folder)?;
    let replayed = engines::replay(&root, &program, &folder, ON)?;
    ensure!(replayed.cases == tests.len() as u64, "{} of {} tests ran", replayed.cases, tests.len());
    for case in &replayed.not_passing {
        let name = case.case.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let test = tests.get_mut(name).with_context(|| format!("`{name}` is no test"))?;
        test.others.insert(case.backend.clone(), (case.outcome.clone(), case.why.clone()));
    }
    bring_up_to_date(&root, PAGE, &page(&exported, &replayed, &tests), Mode::Write, "node-suite NODE-TESTS")
}

/// Fails if the page says of an operator that it is not there, and it is.
pub(crate) fn check(root: &Path) -> Result<()> {
    let page = fs::read_to_string(root.join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
    let registry: BTreeSet<&str> = ops::registry().map(|spec| spec.name).collect();
    let there: Vec<&str> = absent(&page).into_iter().filter(|name| registry.contains(name)).collect();
    ensure!(
        there.is_empty(),
        "{PAGE} is stale, it does not know {}: run `cargo xtask node-suite NODE-TESTS` and commit the result",
        there.join(", ")
    );
    Ok(())
}

/// The tests in a folder, by name, with the operators they are for.
fn tests(folder: &Path) -> Result<BTreeMap<String, Test>> {
    let mut models: BTreeMap<String, ModelProto> = BTreeMap::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        let (Some(name), Ok(bytes)) =
            (path.file_name().and_then(|n| n.to_str()), fs::read(path.join("model.onnx")))
        else {
            continue;
        };
        let model = ModelProto::decode(bytes.as_slice()).with_context(|| format!("{name} has no model"))?;
        let program = Program::read(model.clone()).with_context(|| format!("{name} is no program"))?;
        // As bytes: a NaN in an attribute is not the same as itself.
        let is_same = program.write().encode_to_vec() == model.encode_to_vec();
        ensure!(is_same, "{name} is not written as it was read");
        models.insert(name.to_owned(), model);
    }
    let names: Vec<String> = models.keys().cloned().collect();
    let test = |name: String| {
        let operator = operator(&name, &models);
        (name, Test { operator, ..Test::default() })
    };
    Ok(names.into_iter().map(test).collect())
}

/// The operator that a test is for: that of its only node, or, where its function was expanded, of the test it comes from.
fn operator(name: &str, models: &BTreeMap<String, ModelProto>) -> String {
    let of = |name: &str| {
        let nodes = &models.get(name)?.graph.as_ref()?.node;
        // Values that a test needs, such as an optional's, come from further nodes before it.
        let node = nodes.last().filter(|_| !name.contains("_expanded"))?;
        let domain = node.domain();
        let domain = if domain.is_empty() { String::new() } else { format!("{domain}.") };
        Some(format!("{domain}{}", node.op_type()))
    };
    let base = name.split("_expanded").next().unwrap_or(name);
    of(name).or_else(|| of(base)).unwrap_or_else(|| "several".to_owned())
}

/// The whole page.
fn page(exported: &Exported, replayed: &Replayed, tests: &BTreeMap<String, Test>) -> String {
    let mut page = format!("{ABOUT}\nonnx {}; {} tests.\n\n", exported.onnx, tests.len());
    page += &format!("| backend | {} |\n|---|{}\n", OUTCOMES.join(" | "), "---:|".repeat(OUTCOMES.len()));
    for (target, counts) in &replayed.backends {
        let backend = target.split(':').next().unwrap_or_default();
        let counts = OUTCOMES.map(|outcome| counts.get(outcome).copied().unwrap_or(0).to_string());
        page += &format!("| {backend} | {} |\n", counts.join(" | "));
    }
    page += &differences(tests);
    page += &missing(tests);
    let mut operators: BTreeMap<&str, Vec<&Test>> = BTreeMap::new();
    for test in tests.values() {
        operators.entry(&test.operator).or_default().push(test);
    }
    let (whole, rest): (Vec<_>, Vec<_>) =
        operators.into_iter().partition(|(_, tests)| tests.iter().all(|test| test.others.is_empty()));
    let (none, some): (Vec<_>, Vec<_>) =
        rest.into_iter().partition(|(_, tests)| tests.iter().all(|test| !test.others.is_empty()));
    page += &format!("\n## All tests pass: {} operators\n\n", whole.len());
    let whole: Vec<String> = whole.iter().map(|(name, tests)| format!("{name} {}", tests.len())).collect();
    page += &format!("{}.\n", whole.join(", "));
    page += &format!("\n## Some pass: {} operators\n\n", some.len());
    page += "| operator | tests | pass | the others |\n|---|---:|---:|---|\n";
    page += &rows(&some, |name, tests| {
        let pass = tests.iter().filter(|test| test.others.is_empty()).count();
        format!("| {name} | {} | {pass} |", tests.len())
    });
    page += &format!("\n## None passes: {} operators\n\n", none.len());
    page += "| operator | tests | why |\n|---|---:|---|\n";
    page += &rows(&none, |name, tests| format!("| {name} | {} |", tests.len()));
    page
}

/// What a reason says where the operator itself is missing, and where another one is.
const ABSENT: &str = "not there";
const NEEDS: &str = "needs ";

/// The operators that a page says are not there.
fn absent(page: &str) -> BTreeSet<&str> {
    let mut absent = BTreeSet::new();
    for line in page.lines().filter_map(|line| line.strip_prefix('|')?.strip_suffix('|')) {
        let mut cells = line.split('|').map(str::trim);
        let (name, reasons) = (cells.next().unwrap_or_default(), cells.next_back().unwrap_or_default());
        for reason in reasons.split("; ") {
            absent.extend(reason.strip_prefix(NEEDS).and_then(|rest| rest.split(' ').next()));
            absent.extend(reason.starts_with(ABSENT).then_some(name));
        }
    }
    absent
}

/// The tests that not all backends take the same way, which there should be none of.
fn differences(tests: &BTreeMap<String, Test>) -> String {
    let backends = ON.split(',').count();
    let is_odd = |test: &&Test| {
        let outcomes: BTreeSet<&str> = test.others.values().map(|(outcome, _)| outcome.as_str()).collect();
        !test.others.is_empty() && (test.others.len() != backends || outcomes.len() > 1)
    };
    match tests.values().filter(is_odd).count() {
        0 => format!("\nEvery test has the same outcome on {}.\n", ON.replace(',', " and ")),
        n => format!("\n{n} tests do not have the same outcome on {}.\n", ON.replace(',', " and ")),
    }
}

/// A line for each operator, with the reasons of what does not pass, most frequent first.
fn rows(operators: &[(&str, Vec<&Test>)], start: impl Fn(&str, &[&Test]) -> String) -> String {
    let mut rows = String::new();
    for (name, tests) in operators {
        let told = match counted(tests.iter().filter_map(|test| Some(test.lacks()?.of(name)))).as_slice() {
            [(reason, _)] => reason.clone(),
            reasons => list(reasons, "; "),
        };
        rows += &format!("{} {told} |\n", start(name, tests));
    }
    rows
}

/// What most tests lack: operators, element types, and all else.
fn missing(tests: &BTreeMap<String, Test>) -> String {
    let lacks: Vec<Lack> = tests.values().filter_map(Test::lacks).collect();
    let part = |title: &str, pick: &dyn Fn(&Lack) -> Option<String>| {
        let found = counted(lacks.iter().filter_map(pick));
        let total: usize = found.iter().map(|(_, n)| n).sum();
        format!("- {title}, {total} tests: {}.\n", list(&found, "; "))
    };
    let operators = part("operators", &|lack| match lack {
        Lack::Operator(name) => Some(name.clone()),
        _ => None,
    });
    let dtypes = part("element types", &|lack| match lack {
        Lack::Elements(dtype) => Some(dtype.clone()),
        _ => None,
    });
    let rest = part("other", &|lack| match lack {
        Lack::Operator(_) | Lack::Elements(_) => None,
        Lack::Domain | Lack::Other(_) => Some(lack.of("")),
    });
    format!("\n## What is missing, by the number of tests that stop at it first\n\n{operators}{dtypes}{rest}")
}

/// Each text once, with how often it came, the most frequent first.
fn counted(texts: impl Iterator<Item = String>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    texts.for_each(|text| *counts.entry(text).or_default() += 1);
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts
}

fn list(counts: &[(String, usize)], between: &str) -> String {
    counts.iter().map(|(text, n)| format!("{text} ({n})")).collect::<Vec<_>>().join(between)
}

/// Why a test does not pass.
#[derive(PartialEq, Eq, Debug)]
enum Lack {
    /// The registry does not have this operator.
    Operator(String),
    /// Tensors cannot have elements of this type.
    Elements(String),
    /// Operators of this domain are not known.
    Domain,
    /// In words that do not depend on the test.
    Other(String),
}

impl Test {
    /// Why it does not pass, if it does not.
    fn lacks(&self) -> Option<Lack> {
        let (outcome, why) = self.others.values().next()?;
        Some(Lack::read(outcome, why))
    }
}

impl Lack {
    /// From what import said.
    fn read(outcome: &str, why: &str) -> Self {
        // What we lack ourselves leaves nothing to compare with.
        if !["unsupported", "no_reference"].contains(&outcome) {
            return Self::Other(outcome.to_owned());
        }
        let between = |start: &str, end: &str| why.split_once(start)?.1.split_once(end).map(|(name, _)| name);
        if let Some(dtype) = between("element type ", " in ") {
            return Self::Elements(dtype.to_owned());
        }
        // What a thing lacks stands behind its place.
        let Some(thing) =
            between("unsupported ", " in node").map(|thing| thing.trim_start_matches("unsupported "))
        else {
            return Self::Other(why.rsplit_once(": ").map_or(why, |(_, said)| said).to_owned());
        };
        let said = why.split_once("): ").map_or(why, |(_, said)| said);
        let said = said.split(" (as of").next().unwrap_or(said);
        match thing.strip_prefix("operator ") {
            Some(name) if said == "this program does not have it" => return Self::Operator(name.to_owned()),
            Some(_) if said.contains("only ONNX's default domain") => return Self::Domain,
            _ => {}
        }
        if let Some((dtype, opset)) = said
            .strip_prefix("it is ")
            .and_then(|rest| rest.split_once(", but in opset "))
            .and_then(|(dtype, rest)| Some((dtype, rest.split_once(" it must be")?.0)))
        {
            return Self::Other(format!("{dtype}, which opset {opset} does not allow"));
        }
        Self::Other(if thing == "operator" { said.to_owned() } else { format!("{thing}: {said}") })
    }

    /// In a few words, for a test of this operator.
    fn of(&self, operator: &str) -> String {
        match self {
            Self::Operator(name) if name == operator => ABSENT.to_owned(),
            Self::Operator(name) => format!("{NEEDS}{name}"),
            Self::Elements(dtype) => dtype.clone(),
            Self::Domain => "of another domain".to_owned(),
            Self::Other(words) => words.replace('|', "/"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_does_not_depend_on_the_test() {
        let reason = |operator: &str, outcome: &str, why: &str| Lack::read(outcome, why).of(operator);
        let why = "unsupported: unsupported operator Range in node #7 (Range): this program does not have it";
        assert_eq!(reason("Range", "unsupported", why), "not there");
        assert_eq!(reason("Attention", "unsupported", why), "needs Range");
        let why = "unsupported: unsupported operator in node #0 (Mod): attribute `fmod` is 0; f16 operands need 1 (as of opset 26; opset 28 may allow it)";
        assert_eq!(reason("Mod", "unsupported", why), "attribute `fmod` is 0; f16 operands need 1");
        let why = "unsupported: unsupported operand 0 in node #0 (Celu): it is f16, but in opset 26 it must be one of f32 (as of opset 26)";
        assert_eq!(reason("Celu", "unsupported", why), "f16, which opset 26 does not allow");
        let why = "unsupported: unsupported attribute `mode` in node #0 (SpaceToDepth): this program does not have it";
        assert_eq!(
            reason("SpaceToDepth", "unsupported", why),
            "attribute `mode`: this program does not have it"
        );
        let why = "onnxsmith lacks it: unsupported element type STRING in tensor `x` in input_0.pb: tensors hold bool";
        assert_eq!(reason("Cast", "unsupported", why), "STRING");
        assert_eq!(reason("Cast", "no_reference", why), "STRING");
        let why = "unsupported value of `x` in case a: it is a sequence; only dense tensors can be read";
        assert_eq!(reason("If", "unsupported", why), "it is a sequence; only dense tensors can be read");
        assert_eq!(reason("Cast", "mismatch", "output `y` is wrong"), "mismatch");
    }

    #[test]
    fn a_page_is_behind_where_an_operator_has_come() {
        let page = "| operator | tests | why |\n|---|---:|---|\n| Abs | 3 | not there |\n| Cast | 2 | INT4 |\n\
                    | Loss | 5 | 2 | needs Exp (2); not there (1) |\n";
        assert_eq!(absent(page), ["Abs", "Exp", "Loss"].into());
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("docs")).unwrap();
        fs::write(folder.path().join(PAGE), page).unwrap();
        let stale = check(folder.path()).unwrap_err().to_string();
        assert!(stale.contains("Abs, Exp:"), "{stale}");
    }
}
