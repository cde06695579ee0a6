//! Writing cases to a folder: `onnxsmith gen`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use graphgen::Budget;
use interp::{Evaluation, Profile, Taps};
use onnx::CaseFolder;
use onnx::case::{JSON, MODEL};
use onnx::program::Program;
use serde::Serialize;

use crate::store::Store;
use crate::variety::Variety;
use harness::case::{self, Adversarial, Case, Maker, Values};
use harness::footprint::Footprints;
use harness::invalid::schedule::{Choice, Levels};
use harness::threads;
use harness::validity::Validity;
use triage::folder::{self, About};

/// What was generated.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Generated {
    /// How many cases were made.
    pub generated: u64,
    /// How many draws the generator threw away.
    pub rejected: u64,
    /// How many cases were drawn again, because the specification leaves an element of their outputs undefined.
    pub redrawn: u64,
    /// How many models were passed over, because too much would be open on any values that were found.
    pub passed_over: u64,
    /// How many draws it threw away because the engine that the cases are for lacks their form.
    pub refused_draws: u64,
    /// How many operator nodes the cases have, with the nodes that composite operators are written out in.
    pub nodes: u64,
    /// How many nodes the models have as they are written, those of functions and bodies included.
    pub written_nodes: u64,
    /// Seconds by the clock.
    pub wall_seconds: f64,
    /// How often each operator occurs in what is computed, where composite operators are written out in others.
    pub operators: BTreeMap<String, u64>,
    /// How often each operator, by its name with its domain, and each function occurs in the models as they are written.
    pub written_operators: BTreeMap<String, u64>,
    /// How many cases have values on which everything is defined.
    pub all_defined: u64,
    /// The cases that were to be adversarial.
    pub adversarial: Adversarial,
    /// What the models take.
    pub footprints: Footprints,
    /// How many cases are written in each form of programs.
    pub forms: BTreeMap<String, u64>,
    /// How many cases are expected to be refused, by rule.
    pub rules: BTreeMap<String, u64>,
    /// How many different things occur in them.
    pub variety: Variety,
}

/// Why not all cases are written.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A case could not be made.
    #[error(transparent)]
    Case(#[from] case::CaseError),
    /// A case has no reference.
    #[error("case {index} has no reference: {cause}")]
    Reference {
        /// The case.
        index: u64,
        /// Why.
        cause: interp::Error,
    },
    /// A case could not be read again.
    #[error("case {index} cannot be read: {cause}")]
    Read {
        /// The case.
        index: u64,
        /// Why.
        cause: onnx::Error,
    },
    /// The folder is not for these cases alone.
    #[error(
        "{} {}; gen writes to a new or empty folder, so that no cases are mixed: name another one, or remove it",
        folder.display(),
        what
    )]
    Occupied {
        /// The folder.
        folder: PathBuf,
        /// What it is, or holds.
        what: String,
    },
    /// The folder cannot be looked into.
    #[error("cannot list {}: {cause}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// A case could not be written.
    #[error("case {index} cannot be saved: {cause}")]
    Save {
        /// The case.
        index: u64,
        /// Why.
        cause: onnx::Error,
    },
}

/// Why not all cases are written, and with which one to go on.
#[derive(Debug, thiserror::Error)]
#[error("{cause}")]
pub struct Unfinished {
    /// How many cases are whole, from the first one on without a gap. There may be others behind them.
    pub whole: u64,
    /// The number of the case to go on with: the first that is not known to be whole, or the one behind a case that cannot be made, which
    /// would fail again.
    pub next: u64,
    /// Why.
    pub cause: CorpusError,
}

impl Unfinished {
    /// The error at a case, counted from the first one.
    fn at(first: u64, number: u64, whole: &Whole, cause: CorpusError) -> Self {
        let next = if matches!(cause, CorpusError::Save { .. }) { whole.next } else { number + 1 };
        Self { whole: whole.next, next: first + next, cause }
    }
}

/// How often a case is drawn again at most until every element of its outputs is defined. Where one is not, its mask
/// says so.
const REDRAWS: u64 = 8;

/// Makes sure that a folder can take more cases of a seed: all that is in it are cases that were generated with this seed, as far as they
/// tell. Hidden files do not count.
pub fn continuable(folder: &Path, seed: u64) -> Result<(), CorpusError> {
    let failed = |cause| CorpusError::Folder { folder: folder.to_owned(), cause };
    if !folder.is_dir() {
        return Ok(());
    }
    let occupied = |what: String| Err(CorpusError::Occupied { folder: folder.to_owned(), what });
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let digits = name.strip_prefix(CASE).filter(|digits| digits.parse::<u64>().is_ok());
        if digits.is_none() && !name.starts_with('.') {
            return occupied(format!("holds something else than cases ({name})"));
        }
        if let Some(other) = seed_of(&entry.path()).filter(|other| *other != seed) {
            return occupied(format!("holds cases of the seed {other} ({name})"));
        }
    }
    Ok(())
}

/// The seed that a case tells.
fn seed_of(case: &Path) -> Option<u64> {
    let json = std::fs::read(case.join(JSON)).ok()?;
    About::read(&CaseFolder { json: Some(json), ..CaseFolder::default() }).ok()?.seed
}

/// Makes sure that a folder can take cases: it is not there, or it is empty. Hidden files do not count.
pub fn vacant(folder: &Path) -> Result<(), CorpusError> {
    let failed = |cause| CorpusError::Folder { folder: folder.to_owned(), cause };
    // What is no folder, whoever makes it one finds out.
    if !folder.is_dir() {
        return Ok(());
    }
    let occupied = |what: String| Err(CorpusError::Occupied { folder: folder.to_owned(), what });
    if Store::exists(folder) {
        return occupied("is a campaign's".to_owned());
    }
    if folder.join(MODEL).is_file() {
        return occupied("is a case".to_owned());
    }
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
    }
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    match names.first() {
        Some(first) if folder.join(first).join(MODEL).is_file() => {
            occupied(format!("holds cases already ({first} is one)"))
        }
        Some(first) => occupied(format!("is not empty ({first} is in it)")),
        None => Ok(()),
    }
}

/// Cases that are to be made.
pub struct Corpus<'a> {
    /// What makes them.
    pub maker: &'a Maker<'a>,
    /// Which of them break a rule.
    pub levels: &'a Levels,
    /// The accuracy that the bounds of their outputs are for.
    pub profile: &'a Profile,
    /// The number of the first one.
    pub first: u64,
    /// How many.
    pub count: u64,
    /// Where each gets a folder of its own; `None` if they are only counted.
    pub out: Option<&'a Path>,
}

impl Corpus<'_> {
    /// Makes the cases on `jobs` threads until all are made or `stop` is set. What is written of a case does not depend on the
    /// number of jobs. `on_case` is told how many are done, case by case, in no fixed order.
    pub fn make(
        &self,
        jobs: usize,
        stop: &AtomicBool,
        on_case: &mut dyn FnMut(u64),
    ) -> Result<Generated, Unfinished> {
        let started = Instant::now();
        let (mut total, mut whole) = (Generated::default(), Whole::default());
        threads::as_done(
            jobs,
            self.count,
            || stop.load(Ordering::Relaxed),
            |number| self.one(self.first + number),
            |number, made| {
                let taken = made.and_then(|made| total.take(&made, &self.maker.settings.budget));
                taken.map_err(|cause| Unfinished::at(self.first, number, &whole, cause))?;
                whole.take(number);
                on_case(total.generated);
                Ok::<_, Unfinished>(())
            },
        )?;
        total.wall_seconds = started.elapsed().as_secs_f64();
        Ok(total)
    }

    fn one(&self, index: u64) -> Result<Made, CorpusError> {
        let Self { maker, levels, profile, out, .. } = *self;
        let path = out.map(|out| folder_of(out, index));
        let saved = |cause| CorpusError::Save { index, cause };
        let level = if levels.choice == Choice::Valid { Validity::Valid } else { Validity::Violate };
        let case = levels.make(maker, index, &maker.settings, level)?;
        if maker.values == Values::None || case.relaxed.is_some() {
            if let Some(path) = &path {
                match case.relaxed {
                    Some(_) => folder::save(path, maker.seed, &case, profile, &[], &[], None),
                    None => {
                        CaseFolder { model: case.onnx.clone().into(), ..CaseFolder::default() }.write(path)
                    }
                }
                .map_err(saved)?;
            }
            let is_defined = case.all_defined && maker.values != Values::None;
            return Ok(Made { case, is_defined, is_redrawn: false });
        }
        let (made, evaluation) = defined(maker, profile, case)?;
        if let Some(path) = &path {
            folder::save(path, maker.seed, &made.case, profile, &evaluation.outputs, &[], None)
                .map_err(saved)?;
        }
        Ok(made)
    }
}

/// A case, and what its making took.
struct Made {
    case: Case,
    /// Whether everything is known to be defined.
    is_defined: bool,
    is_redrawn: bool,
}

impl Generated {
    fn take(&mut self, made: &Made, budget: &Budget) -> Result<(), CorpusError> {
        let case = &made.case;
        self.generated += 1;
        self.rejected += case.rejected as u64;
        self.refused_draws += case.refused as u64;
        self.passed_over += case.passed_over;
        self.redrawn += u64::from(made.is_redrawn);
        self.all_defined += u64::from(made.is_defined);
        self.adversarial.take(case);
        match &case.relaxed {
            Some(relaxed) => *self.rules.entry(relaxed.rule.clone()).or_default() += 1,
            None => self.footprints.add(&case.footprint, budget),
        }
        for form in &case.forms {
            *self.forms.entry((*form).to_owned()).or_default() += 1;
        }
        for (operator, _) in case::operators(&case.model) {
            self.nodes += 1;
            *self.operators.entry(operator.to_owned()).or_default() += 1;
        }
        let program = onnx::proto::decode("the model", &case.onnx).and_then(Program::read);
        let program = program.map_err(|cause| CorpusError::Read { index: case.index, cause })?;
        self.variety.take(case, &program);
        self.take_written(&program);
        Ok(())
    }

    /// Counts the nodes of a model as it is written.
    fn take_written(&mut self, program: &Program) {
        for scope in program.functions.iter().map(|f| &f.scope).chain([&program.main]) {
            scope.body.each_node(&mut |node| {
                self.written_nodes += 1;
                *self.written_operators.entry(node.operator()).or_default() += 1;
            });
        }
    }
}

/// The case with what the reference says of it. If an element of what it computes is undefined, another case of
/// the same number is drawn, up to [`REDRAWS`] times.
fn defined(maker: &Maker<'_>, profile: &Profile, mut case: Case) -> Result<(Made, Evaluation), CorpusError> {
    let (index, mut draws) = (case.index, 0);
    loop {
        let inputs = case::tensors(&case.inputs);
        let evaluation = interp::evaluate(&case.model, &inputs, profile, Taps::Outputs)
            .map_err(|cause| CorpusError::Reference { index, cause })?;
        if evaluation.is_defined || draws == REDRAWS {
            let is_defined = case.all_defined && evaluation.is_defined;
            return Ok((Made { case, is_defined, is_redrawn: draws > 0 }, evaluation));
        }
        let stream = maker.stream(index).child("again").at(draws);
        let (rejected, refused, passed_over) = (case.rejected, case.refused, case.passed_over);
        case = maker.make_from(index, &maker.settings, stream)?;
        case.rejected += rejected;
        case.refused += refused;
        case.passed_over += passed_over;
        draws += 1;
    }
}

/// Which cases are whole, of those that are made in no fixed order.
#[derive(Default)]
struct Whole {
    /// All below are.
    next: u64,
    /// Others that are.
    early: BTreeSet<u64>,
}

impl Whole {
    fn take(&mut self, number: u64) {
        self.early.insert(number);
        while self.early.remove(&self.next) {
            self.next += 1;
        }
    }
}

/// What the names of the folders begin with; a number follows.
const CASE: &str = "case-";

fn folder_of(out: &Path, index: u64) -> PathBuf {
    out.join(format!("{CASE}{index:06}"))
}
