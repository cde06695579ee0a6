//! Writing a case folder so that a reader sees the whole of it or nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::own::replaceable;
use super::{BOUNDS_SET, CaseFolder, DATA_SET, DataSet, JSON, Leeway, MODEL, NamedDatum, REWRITTEN, encode};
use crate::program::sparse;
use crate::proto::{GraphProto, ModelProto, ValueInfoProto, decode_shared};
use crate::tensor::from_proto;
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
        // What is said of a model that is broken on purpose is beside the point: its values are numbered as they come.
        let graph = decode_shared::<ModelProto>(MODEL, &self.model).ok().and_then(|model| model.graph);
        let graph = graph.unwrap_or_default();
        for (i, set) in self.sets.iter().enumerate() {
            let set = set.by_position(&graph)?;
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

/// What the names of folders start with that are being filled. A process that is killed may leave one behind; see [`clear`].
const STAGING: &str = ".case-";

/// Makes a case folder: `fill` makes it under a temporary name beside `path`, then it is renamed. A case folder that is
/// already there is replaced, and stays where that fails. Anything else that is there is an error: see [`replaceable`].
pub fn place(path: &Path, fill: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
    replaceable(path)?;
    let occupied = path.symlink_metadata().is_ok();
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
    if !occupied {
        return fs::rename(&fresh, path).map_err(Error::io("write", path));
    }
    let aside = set_aside(path, staging.path())?;
    let placed = fs::rename(&fresh, path).map_err(Error::io("write", path));
    if placed.is_err() && fs::rename(&aside, path).is_err() {
        // Better a hidden folder too many than a case too few.
        let _ = staging.keep();
    }
    placed
}

/// Where the folder is, within the staging one, that is to be replaced. It keeps its name, so that [`clear`] can put it back.
const OLD: &str = "old";

/// Moves a case folder into the staging folder. Gives where it is then.
fn set_aside(path: &Path, staging: &Path) -> Result<PathBuf, Error> {
    let name = path.file_name();
    let name = name.ok_or_else(|| Error::invalid(path.display().to_string(), "it is no name of a folder"))?;
    let old = staging.join(OLD);
    create(&old)?;
    let aside = old.join(name);
    fs::rename(path, &aside).map_err(Error::io("replace", path))?;
    Ok(aside)
}

/// Removes what processes that were killed while they filled case folders in this one have left behind. A case that one had set
/// aside, and not replaced yet, is put back. Nobody else may be filling folders there.
pub fn clear(parent: &Path) -> Result<(), Error> {
    for staging in folders(parent)? {
        if staging.file_name().is_some_and(|name| name.to_string_lossy().starts_with(STAGING)) {
            put_back(&staging.join(OLD), parent)?;
            fs::remove_dir_all(&staging).map_err(Error::io("remove", &staging))?;
        }
    }
    Ok(())
}

/// Puts back what was set aside and has no successor.
fn put_back(old: &Path, parent: &Path) -> Result<(), Error> {
    for aside in folders(old)? {
        let Some(path) = aside.file_name().map(|name| parent.join(name)) else { continue };
        if path.symlink_metadata().is_err() {
            fs::rename(&aside, &path).map_err(Error::io("put back", &path))?;
        }
    }
    Ok(())
}

/// The folders in a folder; none where there is no such folder.
fn folders(parent: &Path) -> Result<Vec<PathBuf>, Error> {
    if !parent.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(parent).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let paths = entries.map_err(Error::io("list", parent))?.into_iter().map(|entry| entry.path());
    Ok(paths.filter(|path| path.is_dir()).collect())
}

impl DataSet {
    /// The data with a value for each input up to the last that has one, as files are numbered without a gap: its
    /// default, where none is given. An error where a value would get the number of another input.
    fn by_position(&self, graph: &GraphProto) -> Result<Self, Error> {
        let mut inputs: Vec<NamedDatum> = Vec::new();
        for value in &self.inputs {
            let rest = graph.input.get(inputs.len()..).unwrap_or_default();
            let skipped = match rest.iter().position(|port| port.name() == value.name) {
                Some(at) => &rest[..at],
                None if graph.input.iter().any(|port| port.name() == value.name) => {
                    let why = "its value comes behind that of an input which the graph declares after it";
                    return Err(Error::invalid(format!("input `{}`", value.name), why));
                }
                None => &[],
            };
            for port in skipped {
                inputs.push(default_of(port, graph, &value.name)?);
            }
            inputs.push(value.clone());
        }
        Ok(Self { inputs, ..self.clone() })
    }

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

/// The value that an input has where none is given, although one is for an input behind it.
fn default_of(port: &ValueInfoProto, graph: &GraphProto, behind: &str) -> Result<NamedDatum, Error> {
    let what = || format!("input `{}`", port.name());
    let default = graph.initializer.iter().find(|initializer| initializer.name() == port.name());
    let default = default.map(|default| from_proto(default, external::External::Refuse));
    let sparse = || graph.sparse_initializer.iter().find(|default| sparse::name(default) == port.name());
    let tensor = default.or_else(|| sparse().map(sparse::dense)).ok_or_else(|| {
        Error::invalid(
            what(),
            format!("it has neither a value nor a default, and `{behind}` behind it has a value"),
        )
    })?;
    Ok(NamedDatum::new(port.name(), tensor.map_err(|e| e.inside(what()))?))
}

fn create(folder: &Path) -> Result<(), Error> {
    fs::create_dir(folder).map_err(Error::io("create", folder))
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    fs::write(path, bytes).map_err(Error::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A case folder whose model is a text.
    fn case(path: &Path, model: &str) {
        fs::create_dir_all(path).expect("a folder");
        fs::write(path.join(MODEL), model).expect("a model");
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_case_that_cannot_be_replaced_stays() {
        let parent = tempfile::tempdir().expect("a folder");
        let path = parent.path().join("case");
        case(&path, "old");
        // Nothing is made, so nothing can take its place.
        place(&path, |_| Ok(())).expect_err("nothing was filled");
        assert_eq!(fs::read(path.join(MODEL)).expect("the old model"), b"old");
        let fill = |fresh: &Path| {
            case(fresh, "new");
            Ok(())
        };
        place(&path, fill).expect("replaced");
        assert_eq!(fs::read(path.join(MODEL)).expect("the new model"), b"new");
        assert_eq!(names(parent.path()), ["case"]);
    }

    #[test]
    fn a_project_with_a_model_is_not_replaced() {
        let parent = tempfile::tempdir().expect("a folder");
        let path = parent.path().join("project");
        case(&path, "old");
        fs::create_dir(path.join("src")).expect("a folder");
        let why = CaseFolder::default().write(&path).expect_err("it is not a case alone").to_string();
        assert!(why.contains("it holds src, which is not of a case"), "{why}");
        let mut left = names(&path);
        left.sort();
        assert_eq!(left, ["model.onnx", "src"]);
    }

    #[test]
    fn what_a_killed_process_had_set_aside_is_put_back_unless_it_was_replaced() {
        let parent = tempfile::tempdir().expect("a folder");
        let at = |name: &str| parent.path().join(name);
        case(&at(".case-a/old/first"), "old");
        case(&at(".case-a/fresh"), "new");
        case(&at(".case-b/old/second"), "old");
        case(&at("second"), "new");
        clear(parent.path()).expect("cleared");
        let mut left = names(parent.path());
        left.sort();
        assert_eq!(left, ["first", "second"]);
        for (name, model) in [("first", "old"), ("second", "new")] {
            assert_eq!(fs::read_to_string(at(name).join(MODEL)).expect("a model"), model);
        }
        clear(&at("nowhere")).expect("nothing to clear");
    }

    #[test]
    fn what_is_set_aside_is_what_is_put_back() {
        let parent = tempfile::tempdir().expect("a folder");
        let (path, staging) = (parent.path().join("case"), parent.path().join(".case-a"));
        case(&path, "old");
        fs::create_dir(&staging).expect("a folder");
        set_aside(&path, &staging).expect("set aside");
        assert_eq!(names(parent.path()), [".case-a"]);
        clear(parent.path()).expect("cleared");
        assert_eq!(names(parent.path()), ["case"]);
    }
}
