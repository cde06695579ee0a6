//! A seed gives one and the same case everywhere: no crate that decides anything asks the platform's mathematical library.

use std::fs;
use std::path::{Path, PathBuf};

/// The crates that decide what a case is, what is right, and what the smallest case is.
const DECIDING: [&str; 10] =
    ["ir", "ops", "onnx", "graphgen", "forms", "interp", "values", "harness", "oracles", "triage"];

/// Functions of `f64` whose last digit is the platform's; `libm` has each of them.
const OF_PLATFORM: [&str; 24] = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "exp", "exp2",
    "exp_m1", "hypot", "ln", "ln_1p", "log", "log10", "log2", "powf", "sin", "sinh", "tan", "tanh",
];

/// The Rust files of a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let all = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    all.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The lines of a file, its tests left out, that call such a function as a method or by its path.
fn calls(text: &str) -> Vec<&str> {
    let is_call = |line: &&str| {
        OF_PLATFORM.iter().any(|name| {
            let by_path = ["f64", "f32"].iter().any(|ty| line.contains(&format!("{ty}::{name}")));
            by_path || line.contains(&format!(".{name}()")) || takes_two(name, line)
        })
    };
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).filter(is_call).collect()
}

/// Whether a function of two numbers is called as a method.
fn takes_two(name: &str, line: &str) -> bool {
    ["atan2", "hypot", "log", "powf"].contains(&name) && line.contains(&format!(".{name}("))
}

#[test]
fn what_decides_has_its_functions_from_libm() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
    let mut found = Vec::new();
    for name in DECIDING {
        for path in files(&root.join(name).join("src")) {
            let text = fs::read_to_string(&path).expect("text");
            found.extend(calls(&text).into_iter().map(|line| format!("{}: {}", path.display(), line.trim())));
        }
    }
    assert!(found.is_empty(), "the platform decides in\n{}", found.join("\n"));
}

#[test]
fn calls_are_seen_in_code_alone() {
    assert_eq!(calls("let y = x.exp();\nlet z = libm::exp(x);\n").len(), 1);
    assert_eq!(
        calls("let y = x.powf(1.5) + f64::ln(x);\n// x.exp()\n#[cfg(test)]\nlet y = x.ln();").len(),
        1
    );
}
