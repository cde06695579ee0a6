//! Rust types for ONNX's protobuf messages, without a system `protoc`.
//!
//! The types are checked in, so building the workspace needs no generator and a reader can look them up. The schema's
//! comments stay in the schema: as rustdoc they are broken links and accidental code blocks.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::checked_in::{Mode, bring_up_to_date, root};

/// The folder of the schema, taken unchanged from the `onnx` package on PyPI.
const INCLUDE: &str = "onnx/proto";
/// The schema inside that folder.
const SCHEMA: &str = "onnx.proto";
/// Where the types go.
const TARGET: &str = "onnx/src/proto/onnx.rs";

/// Generates, then writes or checks.
pub(crate) fn run(mode: Mode) -> Result<()> {
    let root = root();
    bring_up_to_date(&root, TARGET, &generate(&root)?, mode, "codegen")
}

/// The text of the generated file.
fn generate(root: &Path) -> Result<String> {
    let schema = root.join(INCLUDE).join(SCHEMA);
    let descriptors = protox::compile([&schema], [root.join(INCLUDE)])
        .with_context(|| format!("cannot compile {}", schema.display()))?;
    let out = tempfile::tempdir().context("cannot make a temporary folder")?;
    prost_build::Config::new()
        .out_dir(out.path())
        .disable_comments(["."])
        .compile_fds(descriptors)
        .context("cannot generate Rust from the schema")?;
    let types = fs::read_to_string(out.path().join("onnx.rs"))
        .context("the schema's package is not `onnx`, so its types have another file name")?;
    ensure!(types.contains("pub struct ModelProto"), "the schema has no ModelProto");
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
