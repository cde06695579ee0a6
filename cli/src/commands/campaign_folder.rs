//! Which folder a campaign is in.
//!
//! `--out` names it. Without it, every campaign gets the next of `onnxsmith-out/run-1`, `run-2` and so on, so that `fuzz`
//! can be repeated and no result is lost.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use campaign::Store;
use campaign::store::{Identity, StoreError};

use super::writable_folder;

/// Where campaigns are that have no folder of their own.
const DEFAULT: &str = "onnxsmith-out";

/// The campaign to go on with. One that is there and is not to be continued is an error: its results would be mixed.
pub(super) fn earlier(out: Option<&Path>, resume: bool) -> anyhow::Result<Option<Store>> {
    let folder = match out {
        Some(out) => out.to_owned(),
        None if resume => match last()? {
            Some(number) => numbered(number),
            None => return could_be_written(Path::new(DEFAULT)).map(|()| None),
        },
        None => return could_be_written(Path::new(DEFAULT)).map(|()| None),
    };
    match (Store::exists(&folder), resume) {
        (true, true) => Ok(Some(Store::resume(&folder)?)),
        (true, false) => Err(StoreError::Exists { folder }.into()),
        (false, _) => could_be_written(&folder).map(|()| None),
    }
}

/// Makes sure that a folder can be written to, and leaves none behind that was not there: the campaign may yet be refused.
fn could_be_written(folder: &Path) -> anyhow::Result<()> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing: Vec<&Path> = folder.ancestors().take_while(is_missing).collect();
    let written = writable_folder("--out", Some(folder));
    for made in missing {
        // One that another process has filled meanwhile stays.
        let _ = fs::remove_dir(made);
    }
    written
}

/// Begins a campaign.
pub(super) fn begin(out: Option<&Path>, identity: &Identity) -> anyhow::Result<Store> {
    if let Some(out) = out {
        return Ok(Store::create(out, identity)?);
    }
    let mut number = last()?.unwrap_or(0) + 1;
    loop {
        match Store::create(&numbered(number), identity) {
            // Another process was faster.
            Err(StoreError::Exists { .. } | StoreError::Busy { .. }) => number += 1,
            made => return Ok(made?),
        }
    }
}

fn numbered(number: u64) -> PathBuf {
    Path::new(DEFAULT).join(format!("run-{number}"))
}

/// The number of the latest campaign.
fn last() -> anyhow::Result<Option<u64>> {
    let entries = match fs::read_dir(DEFAULT) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e).context(format!("cannot list {DEFAULT}; --out names another folder")),
    };
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.strip_prefix("run-")?.parse().ok();
    Ok(entries.flatten().filter_map(number).max())
}
