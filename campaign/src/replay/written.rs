//! What `run --out` leaves behind.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use harness::target::Target;
use ir::{Tensor, Wanted};
use onnx::case::{DataSet, NamedDatum};
use worker::{Outcome, Run};

use super::{file_name, names};

/// The case folder that outputs would be written into, if there is one: what is in it would be no case any more.
pub fn own_case<'c>(cases: &'c [PathBuf], out: &Path) -> Option<&'c Path> {
    let folders: Vec<(&PathBuf, PathBuf)> =
        cases.iter().filter(|case| case.is_dir()).map(|case| (case, resolved(case))).collect();
    let places: Vec<PathBuf> = names(cases).iter().map(|name| resolved(&out.join(name))).collect();
    let is_inside = |folder: &Path| places.iter().any(|place| place.starts_with(folder));
    folders.into_iter().find(|(_, folder)| is_inside(folder)).map(|(case, _)| case.as_path())
}

/// A path without links and the like, as far as it is there.
fn resolved(path: &Path) -> PathBuf {
    match (fs::canonicalize(path), path.parent(), path.file_name()) {
        (Ok(whole), ..) => whole,
        (Err(_), Some(parent), Some(name)) => {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            resolved(parent).join(name)
        }
        (Err(_), ..) => path.to_owned(),
    }
}

/// Writes the inputs that are not the case's own, as the data sets of a case folder have them.
pub(super) fn inputs(folder: &Path, sets: &[DataSet]) -> io::Result<()> {
    for (number, set) in sets.iter().enumerate() {
        let message = |(i, NamedDatum { name, datum }): (usize, &NamedDatum)| {
            (format!("input_{i}.pb"), onnx::case::encode(name, datum))
        };
        let messages = set.inputs.iter().enumerate().map(message);
        all_or_none(&of_set(folder.join("inputs"), number), messages)?;
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
) -> io::Result<()> {
    let Outcome::Outputs(outputs) = &ran.outcome else { return Ok(()) };
    let folder = of_set(out.join(name).join(file_name(&target.name())), set);
    let mut parts: BTreeMap<String, Tensor> = outputs.iter().cloned().collect();
    let message = |(i, Wanted { name, kind, .. }): (usize, &Wanted)| {
        let datum = kind.gather(name, &mut parts).ok()?;
        Some((format!("output_{i}.pb"), onnx::case::encode(name, &datum)))
    };
    all_or_none(&folder, wanted.iter().enumerate().filter_map(message))
}

/// Writes files into a folder. Where one cannot be written, none of them is left, nor the folder if nothing else is in it: half of
/// an answer would be taken for a wrong one.
fn all_or_none(folder: &Path, files: impl Iterator<Item = (String, Vec<u8>)>) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut begun = Vec::new();
    let mut files = files.map(|(name, bytes)| (folder.join(name), bytes));
    let written = files.try_for_each(|(path, bytes)| {
        let mut file = File::create(&path)?;
        begun.push(path);
        file.write_all(&bytes)
    });
    if written.is_err() {
        for path in begun {
            let _ = fs::remove_file(path);
        }
        let _ = fs::remove_dir(folder);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn of_an_answer_that_the_disk_has_no_room_for_nothing_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let (out, files) = (folder.path().join("out"), ["output_0.pb", "output_1.pb"]);
        fs::create_dir(&out).expect("a folder");
        std::os::unix::fs::symlink("/dev/full", out.join(files[1])).expect("a link");
        let written = || all_or_none(&out, files.map(|name| (name.to_owned(), vec![1; 3])).into_iter());
        let why = written().expect_err("there is no room");
        assert_eq!(why.kind(), io::ErrorKind::StorageFull);
        assert!(!out.exists(), "{:?}", fs::read_dir(&out).map(Iterator::count));
        written().expect("there is room");
        assert!(files.iter().all(|name| fs::read(out.join(name)).is_ok_and(|bytes| bytes == [1; 3])));
    }
}
