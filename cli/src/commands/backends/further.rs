//! The engines that come with onnxsmith and are not built in, and whether each is ready. None is started: that takes seconds for some.
//!
//! An adapter is ready where what its script installs is there, as the script itself tells: it leaves a copy of its list behind.

use std::fmt;
use std::path::{Path, PathBuf};

use backends::engines::adapters::{ALL, Adapter};
use serde::Serialize;
use worker::{EngineSpec, WorkerError};

/// An engine behind an adapter.
#[derive(Serialize)]
pub(super) struct Further {
    /// As which backend it runs.
    name: &'static str,
    /// What is missing; nothing where it is ready.
    missing: Option<&'static str>,
    /// The command that makes it ready, in a checkout.
    set_up: &'static str,
}

impl fmt::Display for Further {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, missing, set_up } = self;
        match missing {
            None => write!(f, "{name}: ready"),
            Some(missing) => {
                write!(f, "{name}: not ready, {missing}; `{set_up}` makes it so, in a checkout of onnxsmith")
            }
        }
    }
}

/// All of them.
pub(super) fn all() -> impl Iterator<Item = Further> {
    ALL.into_iter().map(|Adapter { name, set_up }| Further { name, missing: missing(name), set_up })
}

/// What an adapter needs and has not.
fn missing(name: &str) -> Option<&'static str> {
    let spec = match EngineSpec::parse(name, &[]) {
        Ok(spec) => spec,
        Err(WorkerError::NoPython { .. }) => return Some(NO_PACKAGES),
        Err(_) => return Some("its program is neither here nor where ONNXSMITH_HOME says"),
    };
    let runner = spec.args.first().map(PathBuf::from)?;
    let folder = runner.parent()?;
    match runner.extension()?.to_str()? {
        "mjs" => without_node(folder, std::env::var_os("PATH").as_deref().unwrap_or_default()),
        "py" => without_packages(&folder.join(".."), name == CUDA),
        _ => None,
    }
}

/// The adapter that needs another package of ONNX Runtime than all others.
const CUDA: &str = "onnxruntime_cuda";

/// What is missing of Node.js and its packages, beside the adapters in a folder.
fn without_node(folder: &Path, path: &std::ffi::OsStr) -> Option<&'static str> {
    let is_there =
        |place: PathBuf| place.join("node").with_extension(std::env::consts::EXE_EXTENSION).is_file();
    if !std::env::split_paths(path).any(is_there) {
        return Some("there is no Node.js");
    }
    let [wanted, installed] = ["package-lock.json", "node_modules/installed-package-lock.json"]
        .map(|file| std::fs::read(folder.join(file)).ok());
    (installed.is_none() || wanted != installed).then_some("its packages are not installed, or others")
}

/// What is missing of the Python packages of a checkout.
fn without_packages(checkout: &Path, needs_cuda: bool) -> Option<&'static str> {
    let read = |file: &str| std::fs::read_to_string(checkout.join(file)).ok();
    let (wanted, installed) = (read("scripts/requirements.txt"), read(".venv/installed-requirements.txt"));
    let Some(installed) = installed else { return Some(NO_PACKAGES) };
    if needs_cuda && !installed.contains(GPU) {
        return Some("its packages are installed without CUDA");
    }
    let installed = installed.replace(GPU, "onnxruntime==");
    let is_other = wanted.is_some_and(|wanted| wanted.trim_end() != installed.trim_end());
    is_other.then_some("other packages are installed than it is written for")
}

const NO_PACKAGES: &str = "its packages are not installed";

/// What `scripts/python-env --cuda` has in the place of ONNX Runtime's usual package.
const GPU: &str = "onnxruntime-gpu[cuda,cudnn]==";

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn write(folder: &Path, file: &str, text: &str) {
        let file = folder.join(file);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, text).expect("a file");
    }

    #[test]
    fn packages_are_there_once_they_are_those_of_the_list() {
        let checkout = tempfile::tempdir().expect("a folder");
        let at = checkout.path();
        write(at, "scripts/requirements.txt", "onnx==1\nonnxruntime==2\n");
        assert!(without_packages(at, false).is_some());
        for (installed, plain, cuda) in [
            ("onnx==1\nonnxruntime==2\n", true, false),
            ("onnx==1\nonnxruntime-gpu[cuda,cudnn]==2\n", true, true),
            ("onnx==1\n", false, false),
        ] {
            write(at, ".venv/installed-requirements.txt", installed);
            let are_there = [false, true].map(|needs_cuda| without_packages(at, needs_cuda).is_none());
            assert_eq!(are_there, [plain, cuda], "{installed}");
        }
    }

    #[test]
    fn packages_of_node_need_node() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path();
        write(at, "package-lock.json", "1");
        write(at, "bin/node", "");
        let path = at.join("bin").into_os_string();
        assert!(without_node(at, &path).is_some());
        write(at, "node_modules/installed-package-lock.json", "1");
        assert_eq!(without_node(at, &path), None);
        assert_eq!(without_node(at, std::ffi::OsStr::new("")), Some("there is no Node.js"));
    }
}
