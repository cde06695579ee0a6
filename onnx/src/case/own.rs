//! Which folders hold a case and nothing else. Such a folder may be replaced by another case, and no other folder may: somebody's
//! project has a `model.onnx`, too, and beside it what nobody can make again.

use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

use super::{BOUNDS_SET, DATA_SET, JSON, MODEL, REWRITTEN, file_name};
use crate::Error;
use crate::external::DATA;

/// One name, or names that differ in a number, that the writer gives to files or folders.
struct Entry {
    name: Name,
    holds: Holds,
}

/// What an entry is called.
enum Name {
    Whole(&'static str),
    Numbered { prefix: &'static str, suffix: &'static str },
}

/// What is behind a name.
enum Holds {
    File,
    Folder(&'static [Entry]),
}

/// What the writer puts into a case folder.
static CASE: [Entry; 6] = [
    Entry { name: Name::Whole(MODEL), holds: Holds::File },
    Entry { name: Name::Whole(DATA), holds: Holds::File },
    Entry { name: Name::Whole(JSON), holds: Holds::File },
    Entry { name: Name::Numbered { prefix: DATA_SET, suffix: "" }, holds: Holds::Folder(&VALUES) },
    Entry { name: Name::Numbered { prefix: BOUNDS_SET, suffix: "" }, holds: Holds::Folder(&LEEWAYS) },
    Entry { name: Name::Whole(REWRITTEN), holds: Holds::Folder(&CASE) },
];

/// What the writer puts into the folder of a data set.
static VALUES: [Entry; 2] = [messages("input_"), messages("output_")];

/// What the writer puts into the folder of bounds.
static LEEWAYS: [Entry; 2] = [messages("bound_"), messages("mask_")];

const fn messages(prefix: &'static str) -> Entry {
    Entry { name: Name::Numbered { prefix, suffix: ".pb" }, holds: Holds::File }
}

impl Entry {
    /// Whether something is one of these, by its name and by what it is. The writer makes no links.
    fn is(&self, name: &str, kind: FileType) -> bool {
        let is_alike = match self.holds {
            Holds::File => kind.is_file(),
            Holds::Folder(_) => kind.is_dir(),
        };
        is_alike && self.name.is(name)
    }
}

impl Name {
    fn is(&self, name: &str) -> bool {
        match self {
            Self::Whole(whole) => name == *whole,
            Self::Numbered { prefix, suffix } => {
                let digits = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(suffix));
                digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
            }
        }
    }
}

/// Makes sure that a case can be written to a folder without a loss: nothing is there, or a case folder with nothing but what
/// [`CaseFolder::write`] puts into one.
///
/// # Errors
/// If something else is there, or the folder cannot be read.
///
/// [`CaseFolder::write`]: super::CaseFolder::write
pub fn replaceable(path: &Path) -> Result<(), Error> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let refused = |why: String| Err(Error::invalid(path.display().to_string(), why));
    if !path.join(MODEL).is_file() {
        return refused("it exists and is not a case folder".to_owned());
    }
    match foreign(path, &CASE)? {
        None => Ok(()),
        Some(entry) => refused(format!(
            "it holds {}, which is not of a case, and the whole folder would be replaced",
            entry.display()
        )),
    }
}

/// The first entry, in the order of names, that is none of these; its path within the folder.
fn foreign(folder: &Path, known: &[Entry]) -> Result<Option<PathBuf>, Error> {
    let listed = Error::io("list", folder);
    let entries = fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))).collect()
    });
    let mut entries: Vec<(PathBuf, FileType)> = entries.map_err(listed)?;
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (path, kind) in entries {
        let name = file_name(&path);
        let within = match known.iter().find(|entry| entry.is(&name, kind)) {
            None => Some(PathBuf::new()),
            Some(Entry { holds: Holds::File, .. }) => None,
            Some(Entry { holds: Holds::Folder(known), .. }) => foreign(&path, known)?,
        };
        if let Some(within) = within {
            return Ok(Some(if within.as_os_str().is_empty() {
                name.into()
            } else {
                Path::new(&name).join(within)
            }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with these files, empty ones.
    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, "").expect("a file");
        }
        folder
    }

    #[test]
    fn a_folder_of_all_that_a_case_has_may_be_replaced() {
        let whole = folder(&[
            "model.onnx",
            "model.data",
            "case.json",
            "test_data_set_0/input_0.pb",
            "test_data_set_10/output_12.pb",
            "bounds_set_0/bound_0.pb",
            "bounds_set_0/mask_0.pb",
            "rewritten/model.onnx",
            "rewritten/test_data_set_0/input_0.pb",
        ]);
        replaceable(whole.path()).expect("a case");
        replaceable(&whole.path().join("absent")).expect("nothing is there");
    }

    #[test]
    fn a_folder_with_something_else_may_not_be_replaced_and_the_first_such_thing_is_named() {
        let others = [
            ("src/main.py", "src"),
            (".git/HEAD", ".git"),
            ("weights.bin", "weights.bin"),
            ("model.data/weights", "model.data"),
            ("test_data_set_0/notes.txt", "test_data_set_0/notes.txt"),
            ("test_data_set_x/input_0.pb", "test_data_set_x"),
            ("bounds_set_0/input_0.pb", "bounds_set_0/input_0.pb"),
            ("rewritten/rewritten/input_.pb", "rewritten/rewritten/input_.pb"),
        ];
        for (file, named) in others {
            let project = folder(&["model.onnx", file]);
            let why = replaceable(project.path()).expect_err(file).to_string();
            assert!(why.contains(&format!("it holds {}, which", Path::new(named).display())), "{why}");
        }
        let two = folder(&["model.onnx", "b", "a"]);
        let why = replaceable(two.path()).expect_err("two files").to_string();
        assert!(why.contains("it holds a, which"), "{why}");
    }

    #[test]
    fn what_holds_no_model_is_no_case_folder() {
        let project = folder(&["case.json"]);
        let why = replaceable(project.path()).expect_err("no model").to_string();
        assert!(why.ends_with("it exists and is not a case folder"), "{why}");
        assert!(replaceable(&project.path().join("case.json")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_of_a_case() {
        let case = folder(&["model.onnx"]);
        std::os::unix::fs::symlink("..", case.path().join("rewritten")).expect("a link");
        let why = replaceable(case.path()).expect_err("a link").to_string();
        assert!(why.contains("it holds rewritten, which"), "{why}");
    }
}
