//! What `onnxsmith gen` writes depends on the seed and the settings alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder that is removed with its content in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        // What a test that was killed has left.
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The files that a run of `gen` writes, by their path in the folder.
fn generated(name: &str, seed: u64, jobs: u32) -> BTreeMap<PathBuf, Vec<u8>> {
    let out = Scratch::new(name);
    let status = Command::new(env!("CARGO_BIN_EXE_onnxsmith"))
        .args(["gen", "--quiet", "--count", "40", "--nodes", "6"])
        .args(["--seed", &seed.to_string(), "--jobs", &jobs.to_string(), "--out"])
        .arg(&out.0)
        .status()
        .unwrap();
    assert!(status.success());
    let mut files = BTreeMap::new();
    collect(&out.0, &out.0, &mut files);
    files
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            files.insert(path.strip_prefix(root).unwrap().to_owned(), std::fs::read(&path).unwrap());
        }
    }
}

#[test]
fn same_seed_same_bytes() {
    let once = generated("gen-once", 1, 1);
    assert_eq!(once.keys().filter(|path| path.ends_with("model.onnx")).count(), 40);
    for (name, jobs) in [("gen-again", 1), ("gen-two-jobs", 2), ("gen-two-jobs-again", 2)] {
        let other = generated(name, 1, jobs);
        assert!(once.keys().eq(other.keys()), "{name} has other files");
        let differing: Vec<&PathBuf> = once.keys().filter(|path| once[*path] != other[*path]).collect();
        assert!(differing.is_empty(), "{name} differs in {differing:?}");
    }
}

#[test]
fn another_seed_other_models() {
    let [one, two] = [("gen-seed-1", 1), ("gen-seed-2", 2)].map(|(name, seed)| generated(name, seed, 2));
    let models = |files: &BTreeMap<PathBuf, Vec<u8>>| -> Vec<Vec<u8>> {
        files
            .iter()
            .filter(|(path, _)| path.ends_with("model.onnx"))
            .map(|(_, bytes)| bytes.clone())
            .collect()
    };
    let same = models(&one).iter().zip(&models(&two)).filter(|(a, b)| a == b).count();
    assert_eq!(same, 0, "{same} of 40 models are the same");
}
