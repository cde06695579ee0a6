//! docs/zoo.md: what comes of models as the world writes them, which `scripts/zoo` makes.
//!
//! It needs the zoo, so CI cannot make it again. What CI can see is whether the page is behind the code: [`check`]
//! looks for operators that the page says are not there and that are, and for packages of other versions than the
//! script takes.

mod catalogue;
mod measured;
mod page;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::checked_in::{Mode, bring_up_to_date, root};
use crate::program::{Build, onnxsmith};

/// The page.
const PAGE: &str = "docs/zoo.md";

/// What the zoo is made with: what is run, and packages of which it has the models alone.
const REQUIREMENTS: [&str; 2] = ["scripts/zoo-requirements.txt", "scripts/zoo-shippers.txt"];

/// What to run.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Measure nothing; fail if the page is behind the code
    #[arg(long)]
    check: bool,
    /// Models with TEXT in their names alone; of the others the page has what was measured before
    #[arg(long, default_value = "", value_name = "TEXT")]
    only: String,
    /// The folder that scripts/zoo has made
    #[arg(long, default_value = ".zoo", value_name = "FOLDER")]
    zoo: PathBuf,
    /// How many seconds a model may take
    #[arg(long, default_value_t = 300)]
    budget: u64,
    /// The program to run; without it, it is built here
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// Measures models and writes the page, or checks it.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let root = root();
    if arguments.check {
        return check(&root);
    }
    let zoo = root.join(&arguments.zoo);
    let catalogue = catalogue::read(&zoo)?;
    let program = onnxsmith(arguments.program.as_deref(), Build::Release, &[])?;
    let results = zoo.join("results");
    fs::create_dir_all(&results).with_context(|| format!("cannot make {}", results.display()))?;
    let mut measured = BTreeMap::new();
    for model in &catalogue.models {
        let file = results.join(format!("{}.json", model.name));
        if model.name.contains(&arguments.only) {
            eprintln!("{} …", model.name);
            let path = zoo.join("models").join(format!("{}.onnx", model.name));
            let measured = measured::measure(&program, &path, Duration::from_secs(arguments.budget))?;
            fs::write(&file, serde_json::to_string_pretty(&measured)?)
                .with_context(|| format!("cannot write {}", file.display()))?;
        }
        if let Ok(text) = fs::read_to_string(&file) {
            measured.insert(model.name.clone(), serde_json::from_str(&text)?);
        }
    }
    let page = page::whole(&catalogue, &requirements(&root)?, &measured, arguments.budget);
    bring_up_to_date(&root, PAGE, &page, Mode::Write, "zoo")
}

/// Fails if the page is behind the code or the script.
pub(crate) fn check(root: &Path) -> Result<()> {
    let page = fs::read_to_string(root.join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
    let there: Vec<&str> = page::lacking(&page)
        .into_iter()
        .filter(|(domain, name)| onnx::import::knows(domain, name))
        .map(|(_, name)| name)
        .collect();
    ensure!(
        there.is_empty(),
        "{PAGE} is stale, it does not know {}: run `cargo xtask zoo` and commit the result",
        there.join(", ")
    );
    let versions = requirements(root)?;
    ensure!(
        page.contains(&versions),
        "{PAGE} is stale, {} have other versions: run `cargo xtask zoo` and commit the result",
        REQUIREMENTS.join(" or ")
    );
    Ok(())
}

/// The packages that the zoo is made with, in words.
fn requirements(root: &Path) -> Result<String> {
    let mut packages = Vec::new();
    for file in REQUIREMENTS {
        let text = fs::read_to_string(root.join(file)).with_context(|| format!("cannot read {file}"))?;
        packages.extend(text.lines().map(|line| line.replace("==", " ")));
    }
    Ok(packages.join(", "))
}
