//! Writing a case folder so that a reader sees the whole of it or nothing.

use std::fs;
use std::path::Path;

use super::{BOUNDS_SET, CaseFolder, DATA_SET, DataSet, JSON, Leeway, MODEL, NamedDatum, REWRITTEN, encode};
use crate::{Error, external};

impl CaseFolder {
    /// Writes the folder as [`place`] does. The same case gives the same bytes.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        place(path, |fresh| self.fill(fresh))
    }

    fn fill(&self, folder: &Path) -> Result<(), Error> {
        create(folder)?;
        if self.model.len() as u64 > external::MESSAGE {
            external::spill(&self.model, folder)?;
        } else {
            put(&folder.join(MODEL), &self.model)?;
        }
        if let Some(json) = &self.json {
            put(&folder.join(JSON), json)?;
        }
        for (i, set) in self.sets.iter().enumerate() {
            set.fill(&folder.join(format!("{DATA_SET}{i}")))?;
            if !set.leeways.is_empty() {
                set.fill_bounds(&folder.join(format!("{BOUNDS_SET}{i}")))?;
            }
        }
        if let Some(rewritten) = &self.rewritten {
            rewritten.fill(&folder.join(REWRITTEN))?;
        }
        Ok(())
    }
}

/// What the names of folders start with that are being filled. A process that is killed may leave one behind.
pub const STAGING: &str = ".case-";

/// Makes a case folder: `fill` makes it under a temporary name beside `path`, then it is renamed. A case folder that is
/// already there is replaced; anything else that is there is an error.
pub fn place(path: &Path, fill: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
    let occupied = path.symlink_metadata().is_ok();
    if occupied && !path.join(MODEL).is_file() {
        return Err(Error::invalid(path.display().to_string(), "it exists and is not a case folder"));
    }
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
    // Hidden, so that `find` passes over what a killed process may leave behind.
    let staging = tempfile::Builder::new().prefix(STAGING).tempdir_in(parent);
    let staging = staging.map_err(Error::io("create a folder in", parent))?;
    let fresh = staging.path().join("fresh");
    fill(&fresh)?;
    if occupied {
        fs::rename(path, staging.path().join("old")).map_err(Error::io("replace", path))?;
    }
    fs::rename(&fresh, path).map_err(Error::io("write", path))
}

impl DataSet {
    fn fill(&self, folder: &Path) -> Result<(), Error> {
        create(folder)?;
        for (prefix, values) in [("input", &self.inputs), ("output", &self.outputs)] {
            for (i, NamedDatum { name, datum }) in values.iter().enumerate() {
                let bytes = encode(name, datum);
                put(&folder.join(format!("{prefix}_{i}.pb")), &bytes)?;
            }
        }
        Ok(())
    }

    /// The files have the names and numbers of the outputs that they belong to.
    fn fill_bounds(&self, folder: &Path) -> Result<(), Error> {
        create(folder)?;
        for (i, (NamedDatum { name, .. }, Leeway { bound, mask })) in
            self.outputs.iter().zip(&self.leeways).enumerate()
        {
            put(&folder.join(format!("bound_{i}.pb")), &encode(name, bound))?;
            put(&folder.join(format!("mask_{i}.pb")), &encode(name, mask))?;
        }
        Ok(())
    }
}

fn create(folder: &Path) -> Result<(), Error> {
    fs::create_dir(folder).map_err(Error::io("create", folder))
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    fs::write(path, bytes).map_err(Error::io("write", path))
}
