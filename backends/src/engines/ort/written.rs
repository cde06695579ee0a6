//! The file through which ONNX Runtime gives out what it has made of a model.
//!
//! A worker that is killed between writing and reading leaves it behind, so the next one removes what nobody reads any more.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// What a file's name begins and ends with, about the number of the process.
const NAME: (&str, &str) = ("onnxsmith-", ".onnx");

/// A file this old is nobody's: it is read as soon as it is written.
const STALE: Duration = Duration::from_hours(1);

/// The name of this process's file.
pub(super) fn name() -> String {
    format!("{}{}{}", NAME.0, std::process::id(), NAME.1)
}

/// Removes files of former processes from a folder.
pub(super) fn remove_stale(folder: &Path, now: SystemTime) {
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        let written = file.metadata().and_then(|about| about.modified());
        let is_stale = written.is_ok_and(|written| now.duration_since(written).is_ok_and(|age| age >= STALE));
        if is_stale && is_ours(&file.file_name().to_string_lossy()) {
            // Another process may have removed it by now, and somebody else's is not ours to remove.
            let _ = fs::remove_file(file.path());
        }
    }
}

fn is_ours(name: &str) -> bool {
    let number = name.strip_prefix(NAME.0).and_then(|rest| rest.strip_suffix(NAME.1));
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_former_processes_left_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let kept = ["onnxsmith-model.onnx", "onnxsmith-7.txt", "7.onnx"];
        for name in kept.into_iter().chain([name().as_str(), "onnxsmith-7.onnx"]) {
            fs::write(at(name), "").expect("a file");
        }
        let now = SystemTime::now();
        remove_stale(folder.path(), now);
        assert!(at("onnxsmith-7.onnx").exists(), "it is young");
        remove_stale(folder.path(), now + 2 * STALE);
        assert!(!at("onnxsmith-7.onnx").exists() && !at(&name()).exists());
        assert!(kept.into_iter().all(|name| at(name).exists()));
    }
}
