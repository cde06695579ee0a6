//! A sweep on disk: what it is, then a line for each part, in the order of the parts. A sweep that was killed goes on behind its last
//! whole line.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use harness::Target;
use serde::{Deserialize, Serialize};

use crate::plan::{Part, Scope};
use crate::run::Ran;

/// The file of a sweep's folder that has its parts.
const PARTS: &str = "parts.jsonl";

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
    /// There is a sweep already.
    #[error("{} holds a sweep already; --resume goes on with it", .0.display())]
    Exists(PathBuf),
    /// The folder holds another sweep.
    #[error("{} holds another sweep: its operators, dtypes, forms, samples, backends or version differ", .0.display())]
    Other(PathBuf),
    /// The folder holds no sweep.
    #[error("{} holds no sweep", .0.display())]
    NoSweep(PathBuf),
}

/// A sweep's folder, open for more parts.
pub struct Store {
    path: PathBuf,
    file: File,
}

/// Whether a sweep that is there is gone on with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Earlier {
    /// An earlier sweep is in the way.
    Refused,
    /// An earlier sweep is gone on with.
    Continued,
}

impl Store {
    /// Opens a folder for a sweep, with what ran before.
    pub fn open(
        folder: &Path,
        identity: &Identity,
        parts: &[Part],
        earlier: Earlier,
    ) -> Result<(Self, Vec<Ran>), Error> {
        let path = folder.join(PARTS);
        let failed = |cause| Error::Io { path: path.clone(), cause };
        fs::create_dir_all(folder).map_err(failed)?;
        let before = match (path.exists(), earlier) {
            (true, Earlier::Refused) => return Err(Error::Exists(folder.to_owned())),
            (true, Earlier::Continued) => read(folder)?,
            (false, _) => None,
        };
        let ran = match before {
            Some((known, _)) if known != *identity => return Err(Error::Other(folder.to_owned())),
            Some((_, ran)) => ran,
            None => Vec::new(),
        };
        let is_prefix =
            ran.len() <= parts.len() && ran.iter().zip(parts).all(|(ran, part)| ran.part == part.name);
        if !is_prefix {
            return Err(Error::Other(folder.to_owned()));
        }
        // What was whole is written anew, so that half a line is gone.
        let mut text = line(identity).map_err(failed)?;
        for ran in &ran {
            text += &line(ran).map_err(failed)?;
        }
        fs::write(&path, text).map_err(failed)?;
        let file = OpenOptions::new().append(true).open(&path).map_err(failed)?;
        Ok((Self { path, file }, ran))
    }

    /// Stores what came of a part.
    pub fn add(&mut self, ran: &Ran) -> io::Result<()> {
        self.file.write_all(line(ran)?.as_bytes())
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn line(value: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string(value)? + "\n")
}

/// The sweep of a folder.
pub fn load(folder: &Path) -> Result<(Identity, Vec<Ran>), Error> {
    if !folder.join(PARTS).exists() {
        return Err(Error::NoSweep(folder.to_owned()));
    }
    read(folder)?.ok_or_else(|| Error::NoSweep(folder.to_owned()))
}

/// The sweep of a folder as far as its lines are whole; `None` where not even the first is.
fn read(folder: &Path) -> Result<Option<(Identity, Vec<Ran>)>, Error> {
    let path = folder.join(PARTS);
    let failed = |cause| Error::Io { path: path.clone(), cause };
    let file = File::open(&path).map_err(failed)?;
    let mut lines = BufReader::new(file).lines();
    let Some(first) = lines.next().transpose().map_err(failed)? else { return Ok(None) };
    let Ok(identity) = serde_json::from_str(&first) else { return Ok(None) };
    let mut all = Vec::new();
    for line in lines {
        match serde_json::from_str(&line.map_err(failed)?) {
            Ok(ran) => all.push(ran),
            Err(_) => break,
        }
    }
    Ok(Some((identity, all)))
}
