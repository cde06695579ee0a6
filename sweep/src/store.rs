//! A sweep on disk: what it is, then a line for each part, in the order of the parts. A sweep that was killed goes on
//! behind its last whole line.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use harness::{Target, folder_lock};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::plan::{Part, Scope};
use crate::run::PartResult;

/// The file of a sweep's folder that has its parts.
const PARTS: &str = "parts.jsonl";

/// The file of a sweep's folder that the process locks which writes to it.
const LOCK: &str = "sweep.lock";

/// What a sweep is: one that goes on must be the same.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// The version of this program.
    pub onnxsmith: String,
    /// What is asked for.
    pub scope: Scope,
    /// What is swept.
    pub targets: Vec<Swept>,
}

/// A target of a sweep.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Swept {
    /// What it is called in reports.
    pub name: String,
    /// What it is on a command line.
    pub on: String,
    /// Its version.
    pub version: String,
    /// The accuracy that it is held to.
    pub profile: String,
}

impl Identity {
    /// A sweep of targets.
    pub fn of(scope: &Scope, targets: &[Target]) -> Self {
        let swept = |target: &Target| Swept {
            name: name(target),
            on: target.on(),
            version: target.description().version.clone(),
            profile: target.profile.name.to_owned(),
        };
        Self {
            onnxsmith: env!("CARGO_PKG_VERSION").to_owned(),
            scope: scope.clone(),
            targets: targets.iter().map(swept).collect(),
        }
    }
}

/// What a target is called in a row: its engine, and the level where it has several.
pub fn name(target: &Target) -> String {
    match &target.description().levels[..] {
        [only] if *only == target.level => target.backend.clone(),
        _ => target.name(),
    }
}

/// Why a sweep cannot be stored, or gone on with.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder cannot be read or written.
    #[error("{}: {cause}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// There is no room.
    #[error("the disk is full: cannot write to {}; the parts that were stored are safe", .0.display())]
    Full(PathBuf),
    /// The folder is somebody's.
    #[error("{} holds no sweep, and is not empty ({first} is in it)", folder.display())]
    Occupied {
        /// The folder.
        folder: PathBuf,
        /// What is in it.
        first: String,
    },
    /// There is a sweep already.
    #[error("{} holds a sweep already", .0.display())]
    Exists(PathBuf),
    /// The folder holds another sweep.
    #[error("{} holds another sweep:\n    {}", folder.display(), differences.join("\n    "))]
    Other {
        /// The folder.
        folder: PathBuf,
        /// What differs, in words.
        differences: Vec<String>,
    },
    /// The folder holds no sweep.
    #[error("{} holds no sweep", .0.display())]
    NoSweep(PathBuf),
    /// Another process writes to the folder.
    #[error("another process writes to the sweep in {}", .0.display())]
    Busy(PathBuf),
    /// A whole line does not say what this version writes there. It is another version's, or somebody changed it.
    #[error("{}:{line}: this is not what this version of the program writes: {cause}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        cause: serde_json::Error,
    },
}

impl Error {
    fn io(path: &Path, cause: io::Error) -> Self {
        match cause.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full(path.to_owned()),
            _ => Self::Io { path: path.to_owned(), cause },
        }
    }
}

/// A sweep's folder, open for more parts.
pub struct Store {
    path: PathBuf,
    file: File,
    /// Held while it is open.
    _lock: File,
}

/// Whether a sweep that is there is gone on with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Earlier {
    /// An earlier sweep is in the way.
    Refused,
    /// An earlier sweep is gone on with.
    Continued,
}

/// Makes sure that a folder can take a sweep: it has one, it is not there, or it is empty. A sweep replaces files that others have
/// too, as `index.html`. Hidden files do not count.
pub fn vacant(folder: &Path) -> Result<(), Error> {
    if !folder.is_dir() || folder.join(PARTS).exists() {
        return Ok(());
    }
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|cause| Error::io(folder, cause))?;
    let names = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
    // A process that was killed as it began has left its lock.
    match names.filter(|name| !name.starts_with('.') && name != LOCK).min() {
        Some(first) => Err(Error::Occupied { folder: folder.to_owned(), first }),
        None => Ok(()),
    }
}

impl Store {
    /// Opens a folder for a sweep, with what ran before.
    pub fn open(
        folder: &Path,
        identity: &Identity,
        parts: &[Part],
        earlier: Earlier,
    ) -> Result<(Self, Vec<PartResult>), Error> {
        vacant(folder)?;
        let path = folder.join(PARTS);
        let failed = |cause| Error::io(&path, cause);
        fs::create_dir_all(folder).map_err(failed)?;
        let lock = lock(folder)?;
        let before = match (path.exists(), earlier) {
            (true, Earlier::Refused) => return Err(Error::Exists(folder.to_owned())),
            (true, Earlier::Continued) => read(&path)?,
            (false, _) => None,
        };
        let differences =
            before.as_ref().map(|before| before.differences(identity, parts)).unwrap_or_default();
        if !differences.is_empty() {
            return Err(Error::Other { folder: folder.to_owned(), differences });
        }
        let writable = OpenOptions::new().create(true).write(true).truncate(false).open(&path);
        let mut file = writable.map_err(failed)?;
        // What is whole is not touched: it is still there if this process is killed, or the disk is full.
        file.set_len(before.as_ref().map_or(0, |before| before.bytes)).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        if before.is_none() {
            line(identity).and_then(|line| file.write_all(line.as_bytes())).map_err(failed)?;
        }
        let ran = before.map_or_else(Vec::new, |before| before.ran);
        Ok((Self { path, file, _lock: lock }, ran))
    }

    /// Stores what came of a part.
    pub fn add(&mut self, ran: &PartResult) -> Result<(), Error> {
        let written = line(ran).and_then(|line| self.file.write_all(line.as_bytes()));
        written.map_err(|cause| Error::io(&self.path, cause))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn line(value: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string(value)? + "\n")
}

/// Makes this process the only one that writes to a folder, until the file is closed.
fn lock(folder: &Path) -> Result<File, Error> {
    let path = folder.join(LOCK);
    let lock = folder_lock::take(&path).map_err(|cause| Error::io(&path, cause))?;
    lock.ok_or_else(|| Error::Busy(folder.to_owned()))
}

/// The sweep of a folder.
pub fn load(folder: &Path) -> Result<(Identity, Vec<PartResult>), Error> {
    let path = folder.join(PARTS);
    let stored = if path.exists() { read(&path)? } else { None };
    stored.map(|stored| (stored.identity, stored.ran)).ok_or_else(|| Error::NoSweep(folder.to_owned()))
}

/// A sweep as far as it is stored.
struct Stored {
    identity: Identity,
    ran: Vec<PartResult>,
    /// How many bytes its whole lines have.
    bytes: u64,
}

impl Stored {
    /// What keeps it from being the beginning of a sweep, in words.
    fn differences(&self, identity: &Identity, parts: &[Part]) -> Vec<String> {
        let mut found = self.identity.differences(identity);
        let mut pairs = self.ran.iter().zip(parts);
        let is_start = self.ran.len() <= parts.len() && pairs.all(|(ran, part)| ran.part == part.name);
        if found.is_empty() && !is_start {
            found.push(
                "the parts that ran there are not the first ones here: another build wrote them".to_owned(),
            );
        }
        found
    }
}

/// The sweep of a file as far as its lines are whole; `None` where not even the first is.
fn read(path: &Path) -> Result<Option<Stored>, Error> {
    let failed = |cause| Error::io(path, cause);
    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    let Some(first) = whole_line(&mut file).map_err(failed)? else { return Ok(None) };
    let identity = parsed(path, 1, &first)?;
    let mut stored = Stored { identity, ran: Vec::new(), bytes: first.len() as u64 };
    while let Some(line) = whole_line(&mut file).map_err(failed)? {
        stored.ran.push(parsed(path, stored.ran.len() + 2, &line)?);
        stored.bytes += line.len() as u64;
    }
    Ok(Some(stored))
}

/// The next line with its end; `None` where there is none, or a process was killed while it wrote it.
fn whole_line(from: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    from.read_until(b'\n', &mut line)?;
    Ok((line.last() == Some(&b'\n')).then_some(line))
}

/// What a line says.
fn parsed<T: DeserializeOwned>(path: &Path, line: usize, text: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(text).map_err(|cause| Error::Line { path: path.to_owned(), line, cause })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::form::PartForm;
    use crate::plan::Name;

    /// The folders that cannot take a sweep, with what is named of them, and those that can.
    #[test]
    fn a_folder_without_a_sweep_is_empty_or_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        vacant(&at("absent")).expect("nothing is there");
        for (name, file) in [("hidden", ".keep"), ("begun", LOCK), ("sweep", PARTS)] {
            fs::create_dir(at(name)).expect("a folder");
            fs::write(at(name).join(file), "").expect("a file");
            vacant(&at(name)).expect(name);
        }
        fs::write(at("sweep").join("index.html"), "").expect("a page of its own");
        vacant(&at("sweep")).expect("a sweep");
        fs::write(at("hidden").join("sweep.csv"), "").expect("a file");
        fs::write(at("hidden").join("index.html"), "").expect("a file");
        let why = vacant(&at("hidden")).expect_err("two files").to_string();
        assert!(why.ends_with("hidden holds no sweep, and is not empty (index.html is in it)"), "{why}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told_with_the_file() {
        let part = Name {
            op: "Neg".to_owned(),
            dtype: "i8".to_owned(),
            form: PartForm::Unary,
            number: 0,
            length: None,
        };
        let ran = PartResult { part, answers: Vec::new(), apart: Vec::new(), late_faults: BTreeMap::new() };
        let full = || OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let mut store = Store { path: "sweep/parts.jsonl".into(), file: full(), _lock: full() };
        let why = store.add(&ran).expect_err("there is no room").to_string();
        assert_eq!(
            why,
            "the disk is full: cannot write to sweep/parts.jsonl; the parts that were stored are safe"
        );
    }
}
