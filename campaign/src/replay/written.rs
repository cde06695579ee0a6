//! What `run --out` leaves behind.

use std::collections::BTreeMap;
use std::path::Path;

use harness::target::Target;
use ir::{Tensor, Wanted};
use onnx::case::{DataSet, NamedDatum};
use worker::{Outcome, Run};

use super::file_name;

/// Writes the inputs that were made up, as the data sets of a case folder have them.
pub(super) fn inputs(folder: &Path, set: &DataSet) -> std::io::Result<()> {
    let folder = folder.join("inputs");
    std::fs::create_dir_all(&folder)?;
    for (i, NamedDatum { name, datum }) in set.inputs.iter().enumerate() {
        std::fs::write(folder.join(format!("input_{i}.pb")), onnx::case::encode(name, datum))?;
    }
    Ok(())
}

/// Writes the outputs that there are, under the numbers that they have in the model.
pub(super) fn outputs(
    out: &Path,
    name: &Path,
    target: &Target,
    set: usize,
    wanted: &[Wanted],
    ran: &Run,
) -> std::io::Result<()> {
    let Outcome::Outputs(outputs) = &ran.outcome else { return Ok(()) };
    let mut folder = out.join(name).join(file_name(&target.name()));
    if set > 0 {
        folder.push(format!("set_{set}"));
    }
    std::fs::create_dir_all(&folder)?;
    let mut parts: BTreeMap<String, Tensor> = outputs.iter().cloned().collect();
    for (i, Wanted { name, kind, .. }) in wanted.iter().enumerate() {
        if let Ok(datum) = kind.gather(name, &mut parts) {
            std::fs::write(folder.join(format!("output_{i}.pb")), onnx::case::encode(name, &datum))?;
        }
    }
    Ok(())
}
