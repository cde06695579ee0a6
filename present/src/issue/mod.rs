//! A group of findings as an issue: Markdown ready to paste into a tracker, with programs that show the fault.
//!
//! Whoever reads it needs nothing of ours: the folder is a case folder, with the model and the data, and the model is part of
//! the programs where it is small; a Python program runs it on ONNX Runtime, to compare where another engine is wrong, and a Rust
//! program on the engines that are Rust crates. Of a runner of the user's, `cmd:…`, the text has the command with which onnxsmith
//! runs the folder.

mod python;
mod rust;

use std::io;
use std::path::Path;

use ir::Tensor;
use onnx::CaseFolder;
use oracles::{AtFault, Finding};

use crate::evidence::{Evidence, elements};
use crate::others::{self, Line};
use crate::outside::Outside;
use campaign::group::Group;

/// An issue with its attachments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Issue {
    /// A name for its folder.
    pub name: String,
    /// The text.
    pub markdown: String,
    /// The case, which is attached.
    pub case: CaseFolder,
    /// The other attachments, by name.
    pub files: Vec<(&'static str, Vec<u8>)>,
}

/// The name of the text's file.
const TEXT: &str = "issue.md";
/// Where the inputs of an issue are.
const DATA: &str = "test_data_set_0";
/// Larger models are not part of programs.
const SMALL_MODEL: usize = 3000;
/// Tensors with more elements are not written out in the text.
const SMALL_TENSOR: usize = 64;

impl Issue {
    /// The issue for a group. `version` is that of the engine.
    pub fn new(group: &Group, evidence: &Evidence, version: &str) -> Self {
        // What a runner of the user's does, only that runner shows.
        let python = (!evidence.is_of_a_runner()).then(|| python::program(evidence));
        let rust = rust::program(evidence, version);
        let name = name(group);
        let command = evidence.run_command_on(Path::new(&name));
        let programs = Programs { python: python.as_deref(), rust: rust.as_deref(), command: &command };
        let markdown = markdown(group, evidence, version, &programs);
        let mut files = Vec::new();
        let of_python = if python::is_of_its_engine(evidence) { "reproduce.py" } else { "compare.py" };
        files.extend(python.map(|program| (of_python, program.into_bytes())));
        files.extend(rust.map(|program| ("reproduce.rs", program.into_bytes())));
        Self { name, markdown, case: evidence.case.clone(), files }
    }

    /// Writes the issue to a folder of its own in that folder.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let folder = folder.join(&self.name);
        self.case.write(&folder).map_err(io::Error::other)?;
        std::fs::write(folder.join(TEXT), &self.markdown)?;
        self.files.iter().try_for_each(|(name, content)| std::fs::write(folder.join(name), content))
    }
}

/// The name of a group's issue: the engine, the operator and a number that stands for the signature by which it is shown, such as
/// `rten-maxpool-3f6a`.
fn name(group: &Group) -> String {
    let hash = oracles::signature::hash(group.signatures.first().map_or("", |shown| &shown.signature));
    let words = format!("{} {}", group.backend, group.place).to_lowercase();
    let words: Vec<&str> =
        words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
    format!("{}-{:04x}", words.join("-"), hash & 0xffff)
}

/// What shows the fault.
struct Programs<'a> {
    python: Option<&'a str>,
    rust: Option<&'a str>,
    /// The command of ours.
    command: &'a str,
}

fn markdown(group: &Group, evidence: &Evidence, version: &str, programs: &Programs<'_>) -> String {
    let finding = &evidence.finding;
    let mut text = format!("# {}\n\n", Outside(&group.title()).markdown());
    text += &format!("{}\n\n", Outside(&finding.detail).markdown());
    text += &format!(
        "- engine: {} {}, level {}\n",
        Outside(&finding.backend).markdown(),
        Outside(version).markdown(),
        Outside(&finding.level).code()
    );
    text += &format!("- findings: {}; signatures: {}\n", group.count, group.signatures.len());
    if !finding.after.is_empty() {
        let cut: Vec<String> = finding.after.iter().map(|operator| Outside(operator).code()).collect();
        text += &format!("- wrong as well in the same graph, and cut out here: {}\n", cut.join(", "));
    }
    for caution in group.cautions() {
        text += &format!("- {}\n", Outside(&caution).markdown());
    }
    text += &form(finding);
    text += &others(group);
    text += &model(evidence);
    text += &inputs(evidence);
    text += &reproduce(evidence, programs);
    let stderr = Outside(&finding.stderr).lines();
    if !stderr.is_empty() {
        text += &format!("\n## Standard error\n\n{}", Outside(&stderr).fenced("text"));
    }
    text
}

/// The inputs with their values, where these are few.
fn inputs(evidence: &Evidence) -> String {
    let line = |(name, tensor): (&str, &Tensor)| {
        let values = match tensor.len() {
            0 => "no elements".to_owned(),
            all if all > SMALL_TENSOR => format!("{all} elements, in {}", Outside(DATA).code()),
            _ => elements(tensor, SMALL_TENSOR).join(", "),
        };
        format!("- {} ({}): {values}\n", Outside(name).code(), tensor.ty())
    };
    let lines: String = evidence.telling_inputs().map(line).collect();
    if lines.is_empty() { lines } else { format!("\n## Inputs\n\n{lines}") }
}

/// How to see the fault.
fn reproduce(evidence: &Evidence, programs: &Programs<'_>) -> String {
    let Programs { python, rust, command } = *programs;
    let mut text = "\n## Reproduce\n\n".to_owned();
    if let Some(rust) = rust {
        text += &format!("With the crate:\n\n{}\n", Outside(rust).fenced("rust"));
    }
    if let Some(python) = python {
        let what = if python::is_of_its_engine(evidence) {
            "With ONNX Runtime, in Python"
        } else {
            "ONNX Runtime, for comparison"
        };
        text += &format!("{what}:\n\n{}\n", Outside(python).fenced("python"));
    }
    let what = "With onnxsmith and the folder of this text, which is a case";
    let runner = if evidence.is_of_a_runner() { ", where the runner is" } else { "" };
    text + &format!("{what}{runner}:\n\n{}", Outside(command).fenced("sh"))
}

/// What the form is that a finding is named after, if it is named after one.
fn form(finding: &Finding) -> String {
    let AtFault::Operator(name) = finding.at_fault() else { return String::new() };
    let told = |has| {
        format!(
            "- {} is how the model is written: it has {has}. Written without, for the same inputs, the engine does not show this\n",
            Outside(name).code()
        )
    };
    triage::meaning(name).map_or_else(String::new, told)
}

/// What the targets made of the same cases.
fn others(group: &Group) -> String {
    let lines = others::lines(group);
    if lines.is_empty() {
        return String::new();
    }
    let mut text =
        "- cases with this finding, each as a whole, of which the model below may be a part:\n".to_owned();
    for Line { targets, counts, instead, .. } in lines {
        let instead: Vec<String> = instead
            .iter()
            .map(|(signature, count)| format!("{count} × {}", Outside(signature).code()))
            .collect();
        let instead = if instead.is_empty() { String::new() } else { format!(" ({})", instead.join(", ")) };
        text += &format!("  - {}: {}{instead}\n", Outside(&targets).markdown(), counts.join(", "));
    }
    text
}

/// The program, or else the model that is left of it.
fn model(evidence: &Evidence) -> String {
    let model = || evidence.model.as_ref().map(|model| format!("{model:#}"));
    let text = evidence.program.clone().or_else(model);
    text.map_or_else(String::new, |text| format!("\n## Model\n\n{}", Outside(&text).fenced("")))
}

/// What was found, as a comment of one line.
fn headline(finding: &Finding) -> String {
    format!("{}: {}", Outside(&finding.backend).comment(), Outside(&finding.detail).comment())
}

#[cfg(test)]
mod tests {
    use oracles::{Culprit, ErrorShape, Symptom, Verdict};

    use super::*;

    #[test]
    fn the_form_that_a_finding_is_named_after_is_explained() {
        let symptom = Symptom::Mismatch(ErrorShape::Gross);
        let Verdict::Bug(finding) = Verdict::bug("e", "none", symptom, String::new()) else {
            panic!("a bug")
        };
        let of = |culprit| form(&Finding { culprit: Some(culprit), ..(*finding).clone() });
        assert!(
            of(Culprit::of_form("form If", None))
                .starts_with("- `form If` is how the model is written: it has a branch (If). ")
        );
        assert_eq!(of(Culprit::alone("If", &[])), "");
    }
}
