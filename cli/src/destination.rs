//! Files and folders in which a command leaves its results.

use std::fs;
use std::io::{ErrorKind, Result, Write};
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use tempfile::NamedTempFile;

/// Makes a folder in which files can be made: it may exist and be read-only.
pub(crate) fn make_writable(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    tempfile::Builder::new().prefix(".onnxsmith-").tempfile_in(folder)?.close()
}

/// Makes sure that a folder holds nothing yet: it is not there, or it is empty. Hidden files do not count.
pub(crate) fn empty(folder: &Path) -> anyhow::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    let names = || anyhow::Ok(fs::read_dir(folder)?.collect::<Result<Vec<_>>>()?);
    let mut names: Vec<String> = names()
        .with_context(|| format!("cannot list {}", folder.display()))?
        .iter()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    match names.first() {
        Some(first) => bail!("{} is not empty ({first} is in it)", folder.display()),
        None => Ok(()),
    }
}

/// Makes sure that a case can be written to a folder, which is replaced as a whole: it is not there, or it holds a case and nothing
/// else.
pub(crate) fn of_case(folder: &Path) -> anyhow::Result<()> {
    onnx::case::replaceable(folder)
        .map_err(|why| anyhow!("{why}; --out takes a new folder, or a case to replace"))
}

/// Makes sure that a file can be written. What is in it stays, and none is left behind that was not there: the command may yet fail,
/// and an empty file is no report. A pipe is not tried: who reads it would take that for the end.
pub(crate) fn could_be_written(file: &Path) -> Result<()> {
    match fs::metadata(file) {
        Ok(there) if !there.is_file() && !there.is_dir() => Ok(()),
        Ok(_) => fs::OpenOptions::new().append(true).open(file).map(drop),
        Err(e) if e.kind() == ErrorKind::NotFound => {
            fs::OpenOptions::new().write(true).create_new(true).open(file)?;
            fs::remove_file(file)
        }
        Err(e) => Err(e),
    }
}

/// Writes a file: all of it, or what was in it stays.
pub(crate) fn write(file: &Path, content: &str) -> anyhow::Result<()> {
    replace(file, content.as_bytes()).with_context(|| format!("cannot write {}", file.display()))
}

fn replace(file: &Path, content: &[u8]) -> Result<()> {
    // What a link leads to is replaced, not the link.
    let place = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let before = fs::symlink_metadata(&place);
    if before.as_ref().is_ok_and(|there| !there.is_file()) {
        return fs::write(&place, content);
    }
    let Some(mut fresh) = beside(&place) else { return fs::write(&place, content) };
    fresh.write_all(content)?;
    if let Ok(before) = before {
        fresh.as_file().set_permissions(before.permissions())?;
    }
    // A file that a container was given cannot be replaced, but written.
    fresh.persist(&place).map(drop).or_else(|_| fs::write(&place, content))
}

/// A new file in the same folder; `None` where none can be made.
fn beside(file: &Path) -> Option<NamedTempFile> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".onnxsmith-");
    // Others may read it where the user's mask has it so, as with every other file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    #[test]
    fn whether_a_file_can_be_written_leaves_what_is_there_as_it_is() {
        let folder = folder();
        let [new, old, absent] = ["new.xml", "old.xml", "absent/x.xml"].map(|name| folder.path().join(name));
        fs::write(&old, "a report").expect("a file");
        for file in [&new, &old] {
            could_be_written(file).expect("a file that can be written");
        }
        assert!(could_be_written(&absent).is_err() && could_be_written(folder.path()).is_err());
        assert_eq!((new.exists(), fs::read_to_string(&old).ok()), (false, Some("a report".to_owned())));
    }

    #[test]
    fn a_folder_that_is_not_there_or_holds_hidden_files_alone_is_empty() {
        let folder = folder();
        empty(&folder.path().join("absent")).expect("nothing is in it");
        fs::write(folder.path().join(".keep"), "").expect("a file");
        empty(folder.path()).expect("nothing that counts is in it");
        fs::write(folder.path().join("issue.md"), "").expect("a file");
        let why = empty(folder.path()).expect_err("a file is in it").to_string();
        assert!(why.contains("issue.md is in it"), "{why}");
    }

    #[test]
    fn nothing_but_what_was_written_is_left() {
        let folder = folder();
        let file = folder.path().join("list.toml");
        for content in ["first", "second"] {
            write(&file, content).expect("a file");
            assert_eq!(fs::read_to_string(&file).ok().as_deref(), Some(content));
        }
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_so_do_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let folder = folder();
        let [file, link] = ["list.toml", "link.toml"].map(|name| folder.path().join(name));
        fs::write(&file, "first").expect("a file");
        fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).expect("permissions");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        write(&link, "second").expect("a file");
        assert!(fs::symlink_metadata(&link).expect("the link").is_symlink());
        assert_eq!(fs::read_to_string(&file).ok().as_deref(), Some("second"));
        assert_eq!(fs::metadata(&file).expect("the file").permissions().mode() & 0o777, 0o640);
    }
}
