//! Cases as folders, each content once.
//!
//! Findings of several signatures often come from one case, and small models repeat. So the files of a case are stored in
//! `.cases/HASH`, and the folder that a person looks for, `findings/SIGNATURE/case-N`, has hard links to them and a
//! `case.json` of its own. It is a folder like any other: it can be copied, packed and sent. Where a file system has no
//! hard links, the files are copied.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use onnx::CaseFolder;
use onnx::case::{self, JSON, MODEL};
use sha2::{Digest, Sha256};

use super::place::{FINDINGS, SUSPECTS};
use super::{Beside, ContentName, Place, Store, StoreError};
use crate::report::SavedSuspect;

/// Hidden, so that whoever runs or searches the campaign's folder meets each case once.
const CASES: &str = ".cases";

/// The saved cases of a campaign, by content.
#[derive(Debug)]
pub(crate) struct Shelf {
    root: PathBuf,
    /// The contents that are there.
    contents: HashSet<ContentName>,
    /// The bytes of all that was saved.
    bytes: u64,
    /// The most bytes.
    budget: Option<u64>,
}

/// What saving a case added.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Added {
    /// The name of the content.
    pub(crate) hash: ContentName,
    /// The bytes.
    pub(crate) bytes: u64,
}

impl Shelf {
    /// The shelf of a campaign that this process writes to.
    pub(crate) fn of(store: &Store) -> Result<Self, StoreError> {
        let sql = "SELECT hash FROM saved UNION SELECT alone_hash FROM saved WHERE alone_hash IS NOT NULL";
        let suspects = store.total()?.suspects;
        let saved: Vec<&SavedSuspect> =
            suspects.kinds.values().filter_map(|kind| kind.saved.as_ref()).collect();
        let mut contents: HashSet<ContentName> = store.rows(sql, [], |row| row.get(0))?.into_iter().collect();
        for saved in &saved {
            contents.insert(ContentName::parse(&saved.hash).map_err(StoreError::place(&store.file))?);
        }
        let sum: Vec<u64> = store.rows("SELECT COALESCE(SUM(bytes), 0) FROM saved", [], |row| row.get(0))?;
        let of_suspects: u64 = saved.iter().map(|saved| saved.bytes).sum();
        let bytes = sum.first().copied().unwrap_or_default() + of_suspects;
        let budget = store.identity.max_disk;
        tidy(&store.folder)?;
        Ok(Self { root: store.folder.clone(), contents, bytes, budget })
    }

    /// Saves a case in its place. Nothing where it would exceed the budget.
    pub(crate) fn save(&mut self, place: &Place, case: &CaseFolder) -> Result<Option<Added>, StoreError> {
        let (hash, size) = content(case);
        let is_new = !self.contents.contains(&hash);
        let bytes = case.json.as_ref().map_or(0, Vec::len) as u64 + if is_new { size } else { 0 };
        if self.budget.is_some_and(|budget| self.bytes + bytes > budget) {
            return Ok(None);
        }
        let stored = self.root.join(CASES).join(&hash);
        if !stored.join(MODEL).is_file() {
            CaseFolder { json: None, ..case.clone() }.write(&stored)?;
        }
        case::place(&self.root.join(place), |fresh| {
            link_all(&stored, fresh)?;
            match &case.json {
                Some(json) => write(&fresh.join(JSON), json),
                None => Ok(()),
            }
        })?;
        self.contents.insert(hash.clone());
        self.bytes += bytes;
        Ok(Some(Added { hash, bytes }))
    }
}

impl Shelf {
    /// Removes what a process that was killed had saved beside a case before it stored that: it may have reduced the
    /// case otherwise.
    pub(crate) fn clear_beside(&self, place: &Place) -> Result<(), StoreError> {
        for folder in Beside::ALL.map(|beside| self.root.join(place.reduced(beside))) {
            match fs::remove_dir_all(&folder) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    return Err(StoreError::io("remove", &folder)(e));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// An empty shelf without a budget.
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), contents: HashSet::new(), bytes: 0, budget: None }
    }

    /// Takes over a case folder from another campaign, its content if it is not there.
    pub(super) fn adopt(&mut self, from: &Path, place: &Place, hash: &ContentName) -> Result<(), StoreError> {
        let stored = self.root.join(CASES).join(hash);
        if self.contents.insert(hash.clone()) && !stored.join(MODEL).is_file() {
            case::place(&stored, |fresh| link_all(&from.join(CASES).join(hash), fresh))?;
        }
        let json = from.join(place).join(JSON);
        case::place(&self.root.join(place), |fresh| {
            link_all(&stored, fresh)?;
            copy(&json, &fresh.join(JSON))
        })?;
        Ok(())
    }
}

/// Clears the campaign's folder of what a process was filling when it was killed.
fn tidy(root: &Path) -> Result<(), StoreError> {
    case::clear(&root.join(CASES))?;
    for area in [FINDINGS, SUSPECTS].map(|area| root.join(area)).iter().filter(|area| area.is_dir()) {
        for entry in fs::read_dir(area).map_err(StoreError::io("list", area))? {
            case::clear(&entry.map_err(StoreError::io("list", area))?.path())?;
        }
    }
    Ok(())
}

/// The name of a case's content, `case.json` apart, and its size in bytes.
fn content(case: &CaseFolder) -> (ContentName, u64) {
    let mut digest = Content { hasher: Sha256::new(), size: 0 };
    digest.form(case);
    let mut first = [0; 16];
    // 128 bits are enough to tell cases apart, and a path stays readable.
    first.copy_from_slice(&digest.hasher.finalize()[..16]);
    (ContentName::of(first), digest.size)
}

/// A content on its way to a name.
struct Content {
    hasher: Sha256,
    size: u64,
}

impl Content {
    fn form(&mut self, case: &CaseFolder) {
        self.part(&case.model);
        for set in &case.sets {
            for values in [&set.inputs, &set.outputs] {
                self.count(values.len());
                for value in values {
                    self.part(&onnx::case::encode(&value.name, &value.datum));
                }
            }
            self.count(set.leeways.len());
            for (output, leeway) in set.outputs.iter().zip(&set.leeways) {
                for datum in [&leeway.bound, &leeway.mask] {
                    self.part(&onnx::case::encode(&output.name, datum));
                }
            }
        }
        self.count(usize::from(case.rewritten.is_some()));
        if let Some(form) = &case.rewritten {
            self.form(form);
        }
    }

    /// Bytes, with their length before them, so that different cases are different texts.
    fn part(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.hasher.update(bytes);
        self.size += bytes.len() as u64;
    }

    fn count(&mut self, count: usize) {
        self.hasher.update((count as u64).to_le_bytes());
    }
}

/// Makes a folder whose files are those of another one.
fn link_all(from: &Path, to: &Path) -> Result<(), onnx::Error> {
    let failed = |action, path: &Path| {
        let path = path.to_owned();
        move |source: io::Error| onnx::Error::Io { action, path, source }
    };
    fs::create_dir(to).map_err(failed("create", to))?;
    for entry in fs::read_dir(from).map_err(failed("list", from))? {
        let path = entry.map_err(failed("list", from))?.path();
        let Some(name) = path.file_name() else { continue };
        let copy = to.join(name);
        if path.is_dir() {
            link_all(&path, &copy)?;
        } else {
            fs::hard_link(&path, &copy)
                .or_else(|_| fs::copy(&path, &copy).map(drop))
                .map_err(failed("write", &copy))?;
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), onnx::Error> {
    let failed = |source| onnx::Error::Io { action: "copy", path: from.to_owned(), source };
    fs::copy(from, to).map(drop).map_err(failed)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), onnx::Error> {
    fs::write(path, bytes).map_err(|source| onnx::Error::Io {
        action: "write",
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_beside_a_case_is_not_taken_for_what_it_is_reduced_to() {
        let root = tempfile::tempdir().expect("a folder");
        let place = Place::of_finding("0123", 7);
        let stale = root.path().join(place.reduced(Beside::Alone));
        let other = root.path().join(Place::of_finding("0123", 70).reduced(Beside::Alone));
        for folder in [&stale, &other] {
            fs::create_dir_all(folder).expect("a folder");
            fs::write(folder.join(MODEL), "").expect("a file");
        }
        let shelf = Shelf::new(root.path());
        shelf.clear_beside(&place).expect("it is removed");
        assert!(!stale.exists() && other.exists());
        shelf.clear_beside(&place).expect("nothing is there");
    }
}
