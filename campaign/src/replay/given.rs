//! What a user gives of the inputs of several cases: of which it is, and of which it is not.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use onnx::CaseFolder;
use triage::inputs::misfit;
use triage::invent::{self, NoInputs, UserInputs};
use triage::stored;

/// The cases of which something is given that is not about them, with why.
pub fn misfits<'c>(cases: &'c [PathBuf], given: &UserInputs) -> Vec<(&'c Path, NoInputs)> {
    if given.is_empty() {
        return Vec::new();
    }
    let of_some = if cases.len() > 1 { sizes_of_some(cases, given) } else { BTreeSet::new() };
    let misfit = |path: &'c PathBuf| {
        let folder = stored::read(path).ok()?;
        misfit(&folder, &given_of(&folder, given, &of_some)).map(|why| (path.as_path(), why))
    };
    cases.iter().filter_map(misfit).collect()
}

/// The names of given sizes that some of several models leave open: the others need not.
pub(super) fn sizes_of_some(cases: &[PathBuf], given: &UserInputs) -> BTreeSet<String> {
    if given.sizes.is_empty() {
        return BTreeSet::new();
    }
    let open = |path: &PathBuf| {
        let folder = stored::read(path).ok().filter(|folder| folder.sets.is_empty())?;
        invent::open_sizes(&folder).ok()
    };
    cases.iter().filter_map(open).flatten().filter(|name| given.sizes.contains_key(name)).collect()
}

/// What is given of a model's inputs, without sizes that others of several models leave open and this one does not.
pub(super) fn given_of<'g>(
    folder: &CaseFolder,
    given: &'g UserInputs,
    of_some: &BTreeSet<String>,
) -> Cow<'g, UserInputs> {
    let open = match (of_some.is_empty(), folder.sets.is_empty()) {
        (true, _) => None,
        (false, true) => invent::open_sizes(folder).ok(),
        // Its data says all sizes.
        (false, false) => Some(BTreeSet::new()),
    };
    let Some(open) = open else { return Cow::Borrowed(given) };
    let mut given = given.clone();
    given.sizes.retain(|name, _| open.contains(name) || !of_some.contains(name));
    Cow::Owned(given)
}
