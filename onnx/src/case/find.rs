//! Finding the cases under some paths.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::file_name;
use crate::{Error, text};

/// Every case folder and lone model (`.onnx`, or `.onnxtxt` for text) at or below the given paths, sorted, each once.
///
/// A folder with a file of one of the names in `marks`, such as [`MODEL`], is a case and is not searched further.
/// Hidden entries are passed over unless they are named themselves. Symbolic links are followed; a folder reached a
/// second time is not searched again, so loops end. A path with no case under it is an error, because a mistyped path
/// must not look like success.
///
/// [`MODEL`]: super::MODEL
pub fn find<P: AsRef<Path>>(paths: &[P], marks: &[&str]) -> Result<Vec<PathBuf>, Error> {
    let mut found = BTreeSet::new();
    for path in paths.iter().map(AsRef::as_ref) {
        let below = search(path, marks)?;
        if below.is_empty() {
            return Err(Error::invalid(
                path.display().to_string(),
                "there is no case folder, .onnx or .onnxtxt file in it",
            ));
        }
        found.extend(below);
    }
    Ok(found.into_iter().collect())
}

fn search(start: &Path, marks: &[&str]) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut open = vec![start.to_path_buf()];
    while let Some(path) = open.pop() {
        let meta = fs::metadata(&path).map_err(Error::io("read", &path))?;
        if meta.is_dir() {
            if marks.iter().any(|mark| path.join(mark).is_file()) {
                found.push(path);
            } else if seen.insert(path.canonicalize().map_err(Error::io("open", &path))?) {
                // The stack is popped from its end: pushed in reverse, folders are visited in order, and which of two
                // links to the same folder is followed does not depend on the file system.
                open.extend(children(&path)?.into_iter().rev());
            }
        } else if is_model(&path) {
            found.push(path);
        } else if path == start {
            return Err(Error::invalid(
                path.display().to_string(),
                "it is neither a folder nor an .onnx or .onnxtxt file",
            ));
        }
    }
    Ok(found)
}

/// Whether a file is a lone model, by its name.
fn is_model(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "onnx" || e == text::EXTENSION)
}

/// The folders and models in a folder, sorted. Dangling links to other things are of no interest.
fn children(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
        let path = entry.map_err(Error::io("list", folder))?.path();
        let wanted = is_model(&path) || path.is_dir();
        if wanted && !file_name(&path).starts_with('.') {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::super::MODEL;
    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"").unwrap();
        }
        dir
    }

    fn found(dir: &Path, paths: &[&str]) -> Vec<String> {
        let paths: Vec<_> = paths.iter().map(|p| dir.join(p)).collect();
        let relative = |p: PathBuf| p.strip_prefix(dir).unwrap().to_str().unwrap().replace('\\', "/");
        find(&paths, &[MODEL, "finding.toml"]).unwrap().into_iter().map(relative).collect()
    }

    #[test]
    fn folders_and_lone_models_are_found_once_and_in_order() {
        let dir = tree(&[
            "b/model.onnx",
            "b/deep/other.onnx",
            "a/x/model.onnx",
            "a/w/finding.toml",
            "a/lone.onnx",
            "a/written.onnxtxt",
            "a/notes.txt",
            ".case-1/fresh/model.onnx",
        ]);
        let all = ["a/lone.onnx", "a/w", "a/written.onnxtxt", "a/x", "b"];
        assert_eq!(found(dir.path(), &[""]), all);
        assert_eq!(found(dir.path(), &["b", "a", "a/w", "a/x", "a/lone.onnx"]), all);
    }

    #[test]
    fn a_path_without_a_case_is_an_error() {
        let dir = tree(&["a/notes.txt"]);
        for path in ["a", "a/notes.txt"] {
            let error = find(&[dir.path().join(path)], &[MODEL]).unwrap_err();
            assert!(matches!(error, Error::Invalid { .. }), "{error}");
        }
        assert!(matches!(find(&[dir.path().join("gone")], &[MODEL]), Err(Error::Io { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn link_loops_end() {
        let dir = tree(&["a/x/model.onnx"]);
        std::os::unix::fs::symlink(dir.path(), dir.path().join("a/back")).unwrap();
        assert_eq!(found(dir.path(), &[""]), ["a/x"]);
    }
}
