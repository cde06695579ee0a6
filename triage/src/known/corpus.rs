//! All findings that are written up: `corpus/ENGINE-VERSION/NAME`.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::content::{KnownError, read, text_of};
use super::write_up::{FILE, WriteUp};

/// The file about an engine, in the engine's folder.
pub const ENGINE: &str = "engine.toml";

/// The findings in a folder, by engine.
#[derive(Clone, PartialEq, Debug)]
pub struct Corpus {
    /// The engines by the names of their folders, sorted.
    pub engines: Vec<EngineFindings>,
}

/// The findings that are written up for one version of an engine.
#[derive(Clone, PartialEq, Debug)]
pub struct EngineFindings {
    /// The name of the folder, such as `rten-0.27`.
    pub folder: String,
    /// What is said of it as a whole.
    pub about: About,
    /// The findings by the names of their folders, sorted.
    pub findings: Vec<(String, WriteUp)>,
}

/// The keys of [`ENGINE`].
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The engine and its version, for readers.
    pub title: String,
    /// What it is called in signatures.
    pub engine: String,
    /// What stands before the table.
    pub before: String,
    /// What stands after it.
    #[serde(default)]
    pub after: String,
}

/// Why a corpus cannot be used: all that is wrong with its files.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct Unreadable(Vec<KnownError>);

impl Corpus {
    /// Reads a folder of findings.
    pub fn read(folder: &Path) -> Result<Self, Unreadable> {
        let (mut engines, mut wrong) = (Vec::new(), Vec::new());
        for name in folders(folder).map_err(|e| Unreadable(vec![e]))? {
            match EngineFindings::read(folder, name) {
                Ok(engine) => engines.push(engine),
                Err(Unreadable(more)) => wrong.extend(more),
            }
        }
        if wrong.is_empty() { Ok(Self { engines }) } else { Err(Unreadable(wrong)) }
    }

    /// Reads the folder of one engine, which has an [`ENGINE`].
    pub fn of_engine(corpus: &Path, folder: String) -> Result<Self, Unreadable> {
        Ok(Self { engines: vec![EngineFindings::read(corpus, folder)?] })
    }

    /// The findings with their engines, and what they are called from the corpus: `rten-0.27/sign-zero`.
    pub fn findings(&self) -> impl Iterator<Item = (&EngineFindings, String, &WriteUp)> {
        self.engines.iter().flat_map(|engine| {
            let called = |name: &String| format!("{}/{name}", engine.folder);
            engine.findings.iter().map(move |(name, finding)| (engine, called(name), finding))
        })
    }
}

impl EngineFindings {
    fn read(corpus: &Path, folder: String) -> Result<Self, Unreadable> {
        let at = corpus.join(&folder);
        let (mut findings, mut wrong) = (Vec::new(), Vec::new());
        for name in folders(&at).map_err(|e| Unreadable(vec![e]))? {
            match WriteUp::read(&at.join(&name).join(FILE)) {
                Ok(finding) => findings.push((name, finding)),
                Err(e) => wrong.push(e),
            }
        }
        let file = at.join(ENGINE);
        match text_of(&file).and_then(|text| read(&text, &file)) {
            Ok(about) if wrong.is_empty() => return Ok(Self { folder, about, findings }),
            Ok(_) => {}
            Err(e) => wrong.push(e),
        }
        Err(Unreadable(wrong))
    }
}

/// The names of the folders in one, sorted.
fn folders(path: &Path) -> Result<Vec<String>, KnownError> {
    let unread = |source| KnownError::Read { file: path.to_owned(), source };
    let entries = fs::read_dir(path).map_err(unread)?;
    let paths =
        entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>().map_err(unread)?;
    let name = |path: PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut names: Vec<String> = paths.into_iter().filter(|path| path.is_dir()).filter_map(name).collect();
    names.sort();
    Ok(names)
}
