//! Rust types for ONNX's protobuf messages, without a system `protoc`.
//!
//! The types are checked in, so building the workspace needs no generator and a reader can look them up. The schema's
//! comments stay in the schema: as rustdoc they are broken links and accidental code blocks.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::checked_in::{Mode, bring_up_to_date, root};

/// The folder of the schemas, taken unchanged from the `onnx` package on PyPI.
const FOLDER: &str = "onnx/proto";
/// The schemas inside that folder, by the names under which they import each other: models, and the sequences and optionals
/// of test data. The latter import the former as what ONNX with its second set of operators has, which is the same.
const SCHEMAS: [(&str, &str); 2] =
    [("onnx.proto", "onnx/onnx-ml.proto"), ("onnx-data.proto", "onnx/onnx-data.proto")];
/// Where the types go.
const TARGET: &str = "onnx/src/proto/onnx.rs";

/// Generates, then writes or checks.
pub(crate) fn run(mode: Mode) -> Result<()> {
    let root = root();
    bring_up_to_date(&root, TARGET, &generate(&root)?, mode, "codegen")
}

/// The text of the generated file.
fn generate(root: &Path) -> Result<String> {
    let include = tempfile::tempdir().context("cannot make a temporary folder")?;
    fs::create_dir(include.path().join("onnx"))?;
    for (file, name) in SCHEMAS {
        let schema = root.join(FOLDER).join(file);
        fs::copy(&schema, include.path().join(name))
            .with_context(|| format!("cannot copy {}", schema.display()))?;
    }
    let names = SCHEMAS.map(|(_, name)| include.path().join(name));
    let descriptors = protox::compile(names, [include.path()])
        .with_context(|| format!("cannot compile the schemas in {FOLDER}"))?;
    let out = tempfile::tempdir().context("cannot make a temporary folder")?;
    prost_build::Config::new()
        .out_dir(out.path())
        .disable_comments(["."])
        // Weights are most of a model. What is read shares its bytes.
        .bytes([".onnx.TensorProto.raw_data"])
        .compile_fds(descriptors)
        .context("cannot generate Rust from the schema")?;
    let types = fs::read_to_string(out.path().join("onnx.rs"))
        .context("the schemas' package is not `onnx`, so its types have another file name")?;
    for message in ["ModelProto", "SequenceProto"] {
        ensure!(types.contains(&format!("pub struct {message}")), "the schemas have no {message}");
    }
    Ok(types)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checked_in_types_are_fresh_and_generation_is_deterministic() {
        assert_eq!(generate(&root()).unwrap(), generate(&root()).unwrap());
        run(Mode::Check).unwrap();
    }
}
