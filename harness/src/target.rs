//! An engine at an optimisation level, and what it can take.

mod error;
mod named;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use backends::engines::adapters;
use graphgen::Settings;
use interp::{Profile, Tier};
use ir::{DType, Interface, NodeId, Tensor};
use ops::Model;
use oracles::differential::lacks;
use oracles::metamorphic::Fidelity;
use worker::protocol::WRITTEN;
use worker::{self, Description, Engine, EngineSpec, FaultKind, Limits, Outcome, Pool, Run, Stage};

use crate::case::{self, Case};
use crate::counts;
use crate::hurry::{self, Hurry};
use crate::naming;
use crate::reference::REFERENCE;
use crate::sent::Sent;
use crate::support::Support;

pub use error::OpenError;
use named::{glued, with_level};
pub use named::{is_runner, on};

/// Where an engine runs.
enum Host {
    /// In child processes.
    Workers(Box<Pool>),
    /// In this process: for engines that are part of this program, and for tests.
    Here(Mutex<Here>, Box<Description>),
}

/// An engine in this process.
struct Here {
    engine: Box<dyn Engine + Send>,
    /// Inside of it so far.
    seconds: f64,
}

/// An engine at one of its optimisation levels.
#[derive(Clone)]
pub struct Target {
    /// The engine as `--on` takes it: a name, or `cmd:` and a command line.
    pub engine: String,
    /// The engine's name in reports ([`crate::naming`]).
    pub backend: String,
    /// The level.
    pub level: String,
    /// The accuracy it is held to.
    pub profile: &'static Profile,
    /// What good implementations of its kind have.
    pub tier: Arc<Tier>,
    /// How it evaluates operators.
    pub fidelity: Fidelity,
    /// What it has, as far as is known.
    pub support: Arc<Support>,
    host: Arc<Host>,
    manner: Manner,
}

/// How an engine is asked.
#[derive(Clone)]
enum Manner {
    /// With all its time, in a process that may have run other cases.
    Usually,
    /// With little time. A case that has hung is not asked about again.
    InAHurry(Arc<Hurry>),
    /// With all its time, in a new process. A case that has hung with all its time is not asked about again.
    Afresh(Arc<Hurry>),
    /// With as much time as is enough if a hang counts as no answer.
    Briefly,
}

/// The targets that a name stands for: `rten` is every level of rten, `rten:all` one of them, `cmd:./runner --flag :all` one of
/// a runner's, and `ort:all+written` the model that ONNX Runtime has written at that level, read again.
pub fn open(name: &str, limits: &Limits) -> Result<Vec<Target>, OpenError> {
    let (backend, level) = with_level(name);
    let pool = Pool::new(spec(backend)?, limits.clone()).map_err(|why| match glued(name) {
        Some((engine, level)) => {
            OpenError::Glued { why: Box::new(why), level: level.to_owned(), engine: engine.to_owned() }
        }
        None => why.into(),
    })?;
    let description = pool.description();
    let levels = description.levels.clone();
    let is_written = |form: &str| {
        let written = &description.written;
        form.strip_suffix(WRITTEN).is_some_and(|level| written.iter().any(|l| l == level))
    };
    let chosen = match level {
        None => levels,
        Some(level) if description.all_levels().any(|l| l == level) || is_written(level) => {
            vec![level.to_owned()]
        }
        Some(level) => {
            let known = description.all_levels().collect::<Vec<_>>().join(", ");
            let (backend, level) = (backend.to_owned(), level.to_owned());
            return Err(OpenError::Level { backend, level, known });
        }
    };
    let profile = profile(description)?;
    let host = Arc::new(Host::Workers(Box::new(pool)));
    Ok(chosen.into_iter().map(|level| Target::new(backend, level, profile, Arc::clone(&host))).collect())
}

fn spec(backend: &str) -> Result<EngineSpec, OpenError> {
    if backend != REFERENCE {
        return EngineSpec::parse(backend, backends::engines::all()).map_err(|e| match e {
            worker::WorkerError::UnknownEngine { name } => match adapters::find(&name) {
                Some(adapter) => OpenError::Elsewhere { adapter },
                None => OpenError::Unknown { name },
            },
            e => e.into(),
        });
    }
    let program =
        std::env::current_exe().map_err(|source| worker::WorkerError::no_executable(REFERENCE, source))?;
    let args = vec![worker::spec::WORKER_ARGUMENT.into(), REFERENCE.into()];
    Ok(EngineSpec { name: REFERENCE.to_owned(), program, args })
}

/// The accuracy that an engine is held to: the profile that it says it keeps, or a default.
fn profile(description: &Description) -> Result<&'static Profile, OpenError> {
    match &description.profile {
        Some(name) => Profile::named(name).ok_or_else(|| OpenError::Profile {
            engine: description.engine.clone(),
            name: name.clone(),
            known: Profile::ALL.map(|profile| profile.name).join(", "),
        }),
        None if description.transforms_convolutions => Ok(&Profile::TRANSFORMING),
        None => Ok(&Profile::DECLARED),
    }
}

/// Gives different engines of the same name numbers, as [`naming`] says.
pub fn tell_apart(targets: &mut [Target]) {
    let engines: Vec<(&str, &str)> =
        targets.iter().map(|t| (t.engine.as_str(), t.backend.as_str())).collect();
    let names = naming::numbered(&engines);
    for (target, name) in targets.iter_mut().zip(names) {
        target.backend = name;
    }
}

impl Target {
    fn new(engine: &str, level: String, profile: &'static Profile, host: Arc<Host>) -> Self {
        let engine = engine.to_owned();
        let description = match &*host {
            Host::Workers(pool) => pool.description(),
            Host::Here(_, description) => description,
        };
        let fidelity = if description.repeats { Fidelity::Repeats } else { Fidelity::Rounds };
        let support = Arc::new(Support::stated(&engine, profile, description));
        let backend = naming::name(&engine, &description.engine);
        let tier = Arc::new(Tier::new(profile, description.accumulators().collect()));
        Self { engine, backend, level, profile, tier, fidelity, support, host, manner: Manner::Usually }
    }

    /// The levels of an engine that runs in this process.
    ///
    /// # Panics
    /// If the engine names an accuracy profile that does not exist: it is part of this program.
    pub fn here(engine: Box<dyn Engine + Send>) -> Vec<Self> {
        let description = engine.describe();
        let (backend, levels) = (description.engine.clone(), description.levels.clone());
        let profile = profile(&description).expect("an engine of this program names a profile of it");
        let host = Arc::new(Host::Here(Mutex::new(Here { engine, seconds: 0.0 }), Box::new(description)));
        levels.into_iter().map(|level| Self::new(&backend, level, profile, Arc::clone(&host))).collect()
    }

    /// The name with the level, in reports.
    pub fn name(&self) -> String {
        format!("{}:{}", self.backend, self.level)
    }

    /// The engine and the level, as `--on` takes them in a command to be pasted.
    pub fn on(&self) -> String {
        on(&self.engine, &self.level)
    }

    /// How long the engine may take for a case, in words, and which flag gives it more time.
    pub fn patience(&self) -> String {
        match &*self.host {
            Host::Workers(pool) => format!("it had {:?}; --timeout gives it longer", pool.timeout()),
            Host::Here(..) => "it had all the time".to_owned(),
        }
    }

    /// What the engine says of itself.
    pub fn description(&self) -> &Description {
        match &*self.host {
            Host::Workers(pool) => pool.description(),
            Host::Here(_, description) => description,
        }
    }

    /// Runs a model on tensors for its inputs; `interface` says how the model's inputs and outputs are made
    /// of tensors. If the engine says that it lacks something, and its unoptimised level runs the model, that
    /// counts as a refusal ([`Stage::Optimise`]).
    pub fn run(
        &self,
        onnx: &[u8],
        inputs: &[(String, Tensor)],
        interface: &Interface,
    ) -> Result<Run, worker::WorkerError> {
        let (sent, inputs) = (Sent::of(onnx)?, interface.inputs_of(inputs));
        let outputs = &interface.outputs;
        let case = worker::Case { model: sent.source(), level: &self.level, inputs: &inputs, outputs };
        let ran = self.ask(&case)?;
        self.confirm_unsupported(ran, None, &case)
    }

    /// Runs a case on several levels of one engine, one after the other, all in the manner of the first. Where they are asked
    /// as usual and one hangs, those after it get as much time as is enough (`hurry::enough`).
    pub fn run_all(
        levels: &[Self],
        onnx: &[u8],
        inputs: &[(String, Tensor)],
        interface: &Interface,
    ) -> Result<Vec<Run>, worker::WorkerError> {
        let sent = Sent::of(onnx)?;
        let model = sent.source();
        let inputs = &interface.inputs_of(inputs)[..];
        let outputs = &interface.outputs[..];
        let level = levels.iter().map(|target| target.level.as_str());
        let cases: Vec<worker::Case<'_>> =
            level.map(|level| worker::Case { model, level, inputs, outputs }).collect();
        let runs = match levels {
            [] => Vec::new(),
            [one, ..] => one.ask_all(&cases)?,
        };
        let unoptimised = levels.iter().position(Self::is_unoptimised);
        let supports = unoptimised.map(|at| gives_outputs(&runs[at]));
        let each = levels.iter().zip(runs).zip(&cases);
        each.map(|((target, ran), case)| target.confirm_unsupported(ran, supports, case)).collect()
    }

    /// Whether two targets are levels of one engine that were opened together.
    pub fn is_beside(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.host, &other.host)
    }

    /// Runs a case as the engine answers it.
    fn ask(&self, case: &worker::Case<'_>) -> Result<Run, worker::WorkerError> {
        Ok(match &*self.host {
            Host::Workers(pool) => match &self.manner {
                Manner::Usually => pool.run(case)?,
                Manner::InAHurry(hurry) => hurry.run(pool, case)?,
                Manner::Afresh(hurry) => hurry.run_afresh(pool, case)?,
                Manner::Briefly => pool.run_within(enough(pool), case)?,
            },
            Host::Here(here, _) => run_here(here, case),
        })
    }

    /// Asks about several cases at once.
    fn ask_all(&self, cases: &[worker::Case<'_>]) -> Result<Vec<Run>, worker::WorkerError> {
        Ok(match &*self.host {
            Host::Workers(pool) => match &self.manner {
                Manner::Usually => pool.run_all_within(pool.timeout(), cases, enough(pool))?,
                Manner::Briefly => pool.run_all_within(enough(pool), cases, enough(pool))?,
                // A case that is known to hang must not be sent with others.
                Manner::InAHurry(_) | Manner::Afresh(_) => {
                    return cases.iter().map(|case| self.ask(case)).collect();
                }
            },
            Host::Here(here, _) => cases.iter().map(|case| run_here(here, case)).collect(),
        })
    }

    fn is_unoptimised(&self) -> bool {
        self.description().levels.first() == Some(&self.level)
    }

    /// Turns the answer "unsupported" into a refusal if the unoptimised level gives outputs: then the engine
    /// does support the case. `supports` says whether that level gives outputs; if it is `None`, the level is
    /// asked.
    fn confirm_unsupported(
        &self,
        ran: Run,
        supports: Option<bool>,
        case: &worker::Case<'_>,
    ) -> Result<Run, worker::WorkerError> {
        let levels = &self.description().levels;
        let Some(why) = lacks(&ran.outcome) else { return Ok(ran) };
        // A model that was written and read again is another model.
        if self.is_unoptimised() || !levels.contains(&self.level) {
            return Ok(ran);
        }
        let supports = match supports {
            Some(known) => known,
            None => gives_outputs(&self.ask(&worker::Case { level: &levels[0], ..*case })?),
        };
        if !supports {
            return Ok(ran);
        }
        let outcome = Outcome::Rejected { stage: Stage::Optimise, message: why.to_owned() };
        Ok(Run { outcome, ..ran })
    }

    /// The seconds spent inside the engine so far, at all levels that were opened together: in all runs, and to load it
    /// in every worker.
    pub fn engine_seconds(&self) -> f64 {
        match &*self.host {
            Host::Workers(pool) => pool.engine_seconds(),
            Host::Here(here, _) => here.lock().unwrap_or_else(PoisonError::into_inner).seconds,
        }
    }

    /// Sets a moment at which runs end that begin from now on, see [`worker::Pool::end_at`]. It holds for all levels
    /// that were opened together. (Engines in this process finish their runs.)
    pub fn end_at(&self, end: Option<Instant>) {
        if let Host::Workers(pool) = &*self.host {
            pool.end_at(end);
        }
    }

    /// Whether a case was ended so.
    pub fn has_cut(&self) -> bool {
        matches!(&*self.host, Host::Workers(pool) if pool.has_cut())
    }

    /// How many faults of the engine's workers belong to no case, by kind (see [`Run::late_faults`]). All levels that
    /// were opened together share them.
    pub fn late_faults(&self) -> BTreeMap<FaultKind, u64> {
        match &*self.host {
            Host::Workers(pool) => pool.late_faults(),
            Host::Here(..) => BTreeMap::new(),
        }
    }

    /// Runs a model in a process of its own, with this many threads. (An engine of this process runs as it always does.)
    pub fn run_apart(
        &self,
        threads: usize,
        onnx: &[u8],
        inputs: &[(String, Tensor)],
        interface: &Interface,
    ) -> Result<Run, worker::WorkerError> {
        let (sent, made) = (Sent::of(onnx)?, interface.inputs_of(inputs));
        let outputs = &interface.outputs;
        let case = worker::Case { model: sent.source(), level: &self.level, inputs: &made, outputs };
        match &*self.host {
            Host::Workers(pool) => self.confirm_unsupported(pool.run_apart(threads, &case)?, None, &case),
            Host::Here(..) => self.run(onnx, inputs, interface),
        }
    }

    /// This engine at another of its levels.
    pub fn at_level(&self, level: &str) -> Option<Self> {
        let is_known = self.description().all_levels().any(|known| known == level);
        is_known.then(|| Self { level: level.to_owned(), ..self.clone() })
    }

    /// Takes over what another level of the same engine was found to lack. The optimiser does not decide what an engine
    /// lacks: if one level refuses what another takes, that is a finding.
    pub fn recall(&mut self, other: &Self) -> bool {
        let is_same = self.is_beside(other);
        if is_same {
            self.support = Arc::clone(&other.support);
        }
        is_same
    }

    /// This target for further questions about a model that may hang: it gets less time, and is not asked about cases
    /// that are known to hang.
    #[must_use]
    pub fn in_a_hurry(&self, hurry: &Arc<Hurry>) -> Self {
        Self { manner: Manner::InAHurry(Arc::clone(hurry)), ..self.clone() }
    }

    /// This target, asked each question in a new process, with all its time.
    #[must_use]
    pub fn afresh(&self, hurry: &Arc<Hurry>) -> Self {
        Self { manner: Manner::Afresh(Arc::clone(hurry)), ..self.clone() }
    }

    /// This target for questions to which a hang is no answer: it gets less time.
    #[must_use]
    pub fn briefly(&self) -> Self {
        Self { manner: Manner::Briefly, ..self.clone() }
    }

    /// The cases that are known to hang, if the target is in a hurry.
    pub fn hurry(&self) -> Option<&Arc<Hurry>> {
        match &self.manner {
            Manner::Usually | Manner::Briefly => None,
            Manner::InAHurry(hurry) | Manner::Afresh(hurry) => Some(hurry),
        }
    }

    /// The levels below this one, from the unoptimised one upwards.
    pub fn below(&self) -> Vec<Self> {
        let levels = self.description().levels.iter();
        levels.take_while(|level| **level != self.level).filter_map(|level| self.at_level(level)).collect()
    }

    /// This target with its optimised model written and read again before it runs; `None` if the engine does not write
    /// models.
    pub fn written(&self) -> Option<Self> {
        let can = self.description().written.contains(&self.level);
        can.then(|| Self { level: format!("{}{WRITTEN}", self.level), ..self.clone() })
    }

    /// Whether the engine computes i64 as i32.
    pub fn shortens_integers(&self) -> bool {
        self.description().computes_in(DType::I64) == Some(DType::I32)
    }

    /// Whether the engine computes a float dtype of a model in another one.
    pub fn replaces_floats(&self, model: &Model) -> bool {
        let replaces = |dtype: DType| self.description().computes_in(dtype) != Some(dtype);
        case::dtypes(model, &BTreeSet::new()).iter().any(|dtype| dtype.is_float() && replaces(dtype))
    }

    /// The settings without what the engine lacks.
    pub fn narrow(&self, settings: Settings) -> Settings {
        self.support.narrow(settings)
    }

    /// Something that a case needs and the engine lacks, if there is anything.
    pub fn lacks_of(&self, case: &Case) -> Option<String> {
        self.support.lacks_of(case)
    }

    /// Why the engine does not take a model, if its hello lacks one of the model's dtypes. Such a model is sent only if
    /// a user names it. A wrong answer is no finding then, as the engine did not say that it takes the model. `unseen`
    /// are the nodes of the model that the engine does not see.
    pub fn declines(&self, model: &Model, unseen: &BTreeSet<NodeId>) -> Option<String> {
        case::dtypes(model, unseen).iter().find_map(|dtype| self.declines_dtype(dtype))
    }

    /// Why the engine does not take a dtype, if its hello lacks it.
    pub fn declines_dtype(&self, dtype: DType) -> Option<String> {
        let is_missing = !self.description().dtypes.contains_key(dtype.name());
        is_missing.then(|| format!("{} does not say that it takes {dtype}", self.backend))
    }

    /// Something that a model needs and the engine lacks, if there is anything. `unseen` are the nodes of the model
    /// that the engine does not see.
    pub fn lacks(&self, model: &Model, unseen: &BTreeSet<NodeId>) -> Option<String> {
        self.support.lacks(model, unseen)
    }
}

/// The late faults of the engines of some targets, by backend and kind, see [`Target::late_faults`]. Engines without
/// late faults are left out.
pub fn late_faults(targets: &[Target]) -> BTreeMap<String, BTreeMap<FaultKind, u64>> {
    let mut all: BTreeMap<String, BTreeMap<FaultKind, u64>> = BTreeMap::new();
    // Levels that were named one by one have processes of their own.
    for engine in targets.chunk_by(Target::is_beside).map(|levels| &levels[0]) {
        let faults = engine.late_faults();
        if !faults.is_empty() {
            counts::add(all.entry(engine.backend.clone()).or_default(), faults);
        }
    }
    all
}

/// The time that is enough on a pool, see [`hurry::enough`].
fn enough(pool: &Pool) -> Duration {
    hurry::enough(pool.timeout(), pool.usual_seconds())
}

fn gives_outputs(ran: &Run) -> bool {
    matches!(ran.outcome, Outcome::Outputs(_))
}

fn run_here(here: &Mutex<Here>, case: &worker::Case<'_>) -> Run {
    let mut here = here.lock().unwrap_or_else(PoisonError::into_inner);
    let started = Instant::now();
    let outcome = here.engine.run(case).map_or_else(Outcome::from, Outcome::of_values);
    let seconds = started.elapsed().as_secs_f64();
    here.seconds += seconds;
    Run { engine_seconds: seconds, wall_seconds: seconds, ..Run::of(outcome) }
}
