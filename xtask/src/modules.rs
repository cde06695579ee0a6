//! Whether ARCHITECTURE.md knows the modules that there are.
//!
//! Its sections list what each crate consists of. A module that the section of its crate does not name has been forgotten
//! there. (What it names need not be a module: it also tells of folders and files within.)

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// The page.
const PAGE: &str = "ARCHITECTURE.md";

/// The crates whose modules it lists, with the heading under which it does.
const CRATES: &[(&str, &str)] = &[
    ("ir", "### ir\n"),
    ("ops", "### ops\n"),
    ("onnx", "### onnx\n"),
    ("graphgen", "### graphgen\n"),
    ("forms", "### forms\n"),
    ("interp", "### interp\n"),
    ("values", "### values\n"),
    ("worker", "### worker\n"),
    ("backends", "### backends\n"),
    ("oracles", "### oracles\n"),
    ("harness", "### harness\n"),
    ("triage", "### triage\n"),
    ("campaign", "### campaign\n"),
    ("sweep", "### sweep\n"),
    ("present", "### present\n"),
    ("conformance", "### conformance\n"),
    ("faultbench", "### faultbench and xtask\n"),
    ("xtask", "### faultbench and xtask\n"),
];

/// Fails if a module is not named.
pub(crate) fn check(root: &Path) -> Result<()> {
    let page = fs::read_to_string(root.join(PAGE)).with_context(|| format!("cannot read {PAGE}"))?;
    let mut missing = Vec::new();
    for (name, heading) in CRATES {
        let section = section(&page, heading).with_context(|| format!("{PAGE} lacks {heading:?}"))?;
        let modules = modules(&root.join(name).join("src"))?;
        missing.extend(unnamed(&modules, section).into_iter().map(|module| format!("{name}::{module}")));
    }
    ensure!(missing.is_empty(), "{PAGE} does not name {}", missing.join(", "));
    Ok(())
}

/// What stands between a heading and the next.
fn section<'a>(page: &'a str, heading: &str) -> Option<&'a str> {
    let (_, rest) = page.split_once(heading)?;
    Some(rest.split("\n#").next().unwrap_or(rest))
}

/// The modules of a crate, from its files.
fn modules(src: &Path) -> Result<Vec<String>> {
    let mut modules = Vec::new();
    for entry in fs::read_dir(src).with_context(|| format!("cannot list {}", src.display()))? {
        let path = entry?.path();
        if path.is_dir() || path.extension().is_some_and(|e| e == "rs") {
            modules.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
        }
    }
    modules.sort();
    modules.dedup();
    // Roots are no modules, and what is for tests alone is not part of the crate.
    modules.retain(|module| !["lib", "main", "tests", "testing"].contains(&module.as_str()));
    Ok(modules)
}

/// The modules whose names a text does not have as code.
fn unnamed<'a>(modules: &'a [String], text: &str) -> Vec<&'a str> {
    let named = |module: &str| text.split('`').skip(1).step_by(2).any(|code| code == module);
    modules.iter().map(String::as_str).filter(|module| !named(module)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_is_not_named_is_missed() {
        let page = "### ir\n\n`dtype` and `graph`, not dim.\n\n### ops\n\n`dim`\n";
        let modules = ["dim", "dtype", "graph"].map(str::to_owned);
        assert_eq!(unnamed(&modules, section(page, "### ir\n").unwrap()), ["dim"]);
        assert!(section(page, "### onnx\n").is_none());
    }
}
