//! What `run --out` leaves behind.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use harness::target::Target;
use ir::{Tensor, Wanted};
use onnx::case::{DataSet, NamedDatum};
use worker::{Outcome, Run};

use super::file_name;

/// Writes the inputs that are not the case's own, as the data sets of a case folder have them.
pub(super) fn inputs(folder: &Path, sets: &[DataSet]) -> std::io::Result<()> {
    for (number, set) in sets.iter().enumerate() {
        let folder = of_set(folder.join("inputs"), number);
        std::fs::create_dir_all(&folder)?;
        for (i, NamedDatum { name, datum }) in set.inputs.iter().enumerate() {
            std::fs::write(folder.join(format!("input_{i}.pb")), onnx::case::encode(name, datum))?;
        }
    }
    Ok(())
}

/// The folder of a data set: those behind the first have one of their own.
fn of_set(folder: PathBuf, number: usize) -> PathBuf {
    if number > 0 { folder.join(format!("set_{number}")) } else { folder }
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
    let folder = of_set(out.join(name).join(file_name(&target.name())), set);
    std::fs::create_dir_all(&folder)?;
    let mut parts: BTreeMap<String, Tensor> = outputs.iter().cloned().collect();
    for (i, Wanted { name, kind, .. }) in wanted.iter().enumerate() {
        if let Ok(datum) = kind.gather(name, &mut parts) {
            std::fs::write(folder.join(format!("output_{i}.pb")), onnx::case::encode(name, &datum))?;
        }
    }
    Ok(())
}
