//! The parent's side: workers that are started when needed, kept between cases and replaced after a fault.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Case;
use super::outcome::{Fault, Outcome, Run};
use super::process::{Asked, Process};
use super::protocol::{Description, FrameError, Reply};

/// The argument that makes this project's executable a worker: `onnxsmith worker <engine>`.
pub const WORKER_ARGUMENT: &str = "worker";

/// A program that speaks the worker protocol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    /// What the user calls it.
    pub name: String,
    /// The executable.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
}

/// Where adapters to Python's runtimes are looked for, below the working directory.
const ADAPTERS: &str = "adapters";

/// The interpreter that `scripts/python-env` makes.
const PYTHON: &str = ".venv/bin/python";

impl Spec {
    /// The worker that a name on the command line stands for: a built-in engine, an adapter in the folder
    /// `adapters`, or `cmd:` and the command line of a runner, with quotes as in a POSIX shell.
    pub fn parse(name: &str) -> Result<Self, WorkerError> {
        if let Some(line) = name.strip_prefix("cmd:") {
            let mut words = shlex::split(line).unwrap_or_default().into_iter();
            let program = words.next().ok_or_else(|| WorkerError::Command(line.to_owned()))?.into();
            return Ok(Self { name: name.to_owned(), program, args: words.map(OsString::from).collect() });
        }
        if !crate::engines::all().contains(&name) {
            return Self::adapter(name);
        }
        let program = std::env::current_exe()
            .map_err(|source| WorkerError::Start { program: "this executable".into(), source })?;
        Ok(Self { name: name.to_owned(), program, args: vec![WORKER_ARGUMENT.into(), name.into()] })
    }

    /// The runner `adapters/<name>_runner.py`, if there is one, in the virtual environment of `scripts/python-env`.
    fn adapter(name: &str) -> Result<Self, WorkerError> {
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let runner = Path::new(ADAPTERS).join(format!("{name}_runner.py"));
        let name = name.to_owned();
        if !plain || !runner.is_file() {
            return Err(WorkerError::UnknownEngine { name });
        }
        if !Path::new(PYTHON).exists() {
            return Err(WorkerError::NoPython { name });
        }
        Ok(Self { name, program: PYTHON.into(), args: vec![runner.into()] })
    }

    /// The name, if this is an engine of this executable.
    fn built_in(&self) -> Option<String> {
        self.args.first().is_some_and(|first| first == WORKER_ARGUMENT).then(|| self.name.clone())
    }
}

/// What a worker may use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The time for one case.
    pub timeout: Duration,
    /// The time to start and answer the handshake.
    pub startup: Duration,
    /// The address space in bytes; enforced on Linux only.
    pub memory: Option<u64>,
    /// The bytes of all outputs of a case together.
    pub reply_bytes: u64,
    /// Whether a worker is replaced after a panic that it survived. A panic can leave a lock poisoned or a cache
    /// half written, and every later case of that process would look like a bug.
    pub restart_after_panic: bool,
    /// How many threads the engine may use, where it can be told.
    pub threads: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(10),
            startup: Duration::from_secs(30),
            memory: Some(4 << 30),
            reply_bytes: 1 << 30,
            restart_after_panic: true,
            threads: 1,
        }
    }
}

/// Why there is no worker to run a case on. This says nothing about the case.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The program cannot be started.
    #[error("cannot start {}: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The program starts but does not shake hands.
    #[error("{} is no worker: asked who it is, it {fault}{}", program.display(), said(stderr))]
    Handshake {
        /// The program.
        program: PathBuf,
        /// What it did instead.
        fault: Fault,
        /// The end of its standard error.
        stderr: String,
    },
    /// A built-in engine lacks what it needs from outside: a GPU adapter, a shared library.
    #[error("{engine} cannot run here: {why}")]
    Unavailable {
        /// The engine.
        engine: String,
        /// What it says.
        why: String,
    },
    /// An adapter's interpreter is not there.
    #[error("{name} needs {PYTHON}, which `scripts/python-env` makes")]
    NoPython {
        /// The adapter.
        name: String,
    },
    /// There is no command after `cmd:`, or its quotes do not match.
    #[error("`cmd:{0}` names no command; write cmd:./runner --flag, with quotes in pairs")]
    Command(String),
    /// The engine is not built in.
    #[error("no engine `{name}` is built in (there are: {}); cargo features add engines", crate::engines::all().join(", "))]
    UnknownEngine {
        /// What was asked for.
        name: String,
    },
}

fn said(stderr: &str) -> String {
    if stderr.trim().is_empty() { String::new() } else { format!("; it said: {}", stderr.trim()) }
}

/// One worker: a process that is replaced when it dies.
pub struct Worker {
    spec: Spec,
    limits: Limits,
    description: Description,
    process: Option<Process>,
}

impl Worker {
    /// Starts a worker and shakes hands.
    pub fn start(spec: Spec, limits: Limits) -> Result<Self, WorkerError> {
        let (process, description) = launch(&spec, &limits)?;
        Ok(Self { spec, limits, description, process: Some(process) })
    }

    /// What the engine is and can do.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The process id, while there is a process.
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    /// Gives up the process, so that the next case runs in a fresh one: to confirm that a fault is the case's own.
    pub fn restart(&mut self) {
        self.process = None;
    }

    /// Runs a case, in a new process if the old one is gone.
    ///
    /// A process that has run other cases may die of what they left behind: a thread, a second answer, memory. So
    /// a fault there counts as the case's own only if a fresh process has it too. A panic is told by the worker
    /// itself, of this case, and needs no proof.
    pub fn run(&mut self, case: &Case) -> Result<Run, WorkerError> {
        let dead = self.bury();
        let is_fresh = self.process.as_ref().is_none_or(Process::is_fresh);
        let run = self.run_once(case)?;
        let (false, Outcome::Fault(fault)) = (is_fresh, &run.outcome) else {
            return Ok(Run { late_fault: dead, ..run });
        };
        if matches!(fault, Fault::Panic { .. }) {
            return Ok(run);
        }
        let again = self.run_once(case)?;
        let is_same = matches!(&again.outcome, Outcome::Fault(other) if other.kind() == fault.kind());
        let late_fault = if is_same { None } else { Some(fault.clone()) };
        Ok(Run { late_fault, ..again })
    }

    /// Runs cases, one after the other, each as [`Worker::run`] does. Small ones are sent together, so that parent and worker
    /// wake each other less often. If something goes wrong among them, those without an answer run one by one.
    pub fn run_all(&mut self, cases: &[Case]) -> Result<Vec<Run>, WorkerError> {
        let mut runs = Vec::with_capacity(cases.len());
        while runs.len() < cases.len() {
            match &cases[runs.len()..] {
                [case] => runs.push(self.run(case)?),
                open => runs.extend(self.run_together(open)?),
            }
        }
        Ok(runs)
    }

    /// Runs as many of the cases as can be sent together.
    fn run_together(&mut self, cases: &[Case]) -> Result<Vec<Run>, WorkerError> {
        let dead = self.bury();
        let (mut runs, sent) = self.ask(cases)?;
        // A panic is told of one case. Of another fault nobody knows which case it came of.
        let is_unsure = |run: &mut Run| matches!(&run.outcome, Outcome::Fault(f) if f.kind() != "panic");
        let doubtful = runs.pop_if(is_unsure);
        let answered = runs.len();
        for case in &cases[answered..sent] {
            runs.push(self.run(case)?);
        }
        if let Some(Run { outcome: Outcome::Fault(fault), .. }) = doubtful {
            let is_same = |run: &Run| matches!(&run.outcome, Outcome::Fault(f) if f.kind() == fault.kind());
            if !runs[answered..].iter().any(is_same) {
                runs[answered].late_fault = Some(fault);
            }
        }
        if dead.is_some() {
            runs[0].late_fault = dead;
        }
        Ok(runs)
    }

    fn run_once(&mut self, case: &Case) -> Result<Run, WorkerError> {
        let (mut runs, _) = self.ask(std::slice::from_ref(case))?;
        Ok(runs.swap_remove(0))
    }

    /// The runs of some cases, from the first one to the last that was sent with it or the first that has no good answer,
    /// which is a fault; at least one. And how many were sent.
    fn ask(&mut self, cases: &[Case]) -> Result<(Vec<Run>, usize), WorkerError> {
        let mut process = match self.process.take() {
            Some(process) => process,
            None => launch(&self.spec, &self.limits)?.0,
        };
        let started = Instant::now();
        let Asked { sent, answers, failure } = process.run(cases, &self.limits);
        let wall_seconds = started.elapsed().as_secs_f64();
        let (fault, stderr, process) = match failure {
            None => (None, process.stderr(), Some(process)),
            Some(seen) => {
                let (fault, stderr) = process.end(&seen);
                (Some(fault), stderr, None)
            }
        };
        let answers = answers.into_iter().map(|(reply, outputs)| outcome(reply, outputs));
        let outcomes = answers.chain(fault.map(|fault| (Outcome::Fault(fault), wall_seconds)));
        let run = |(outcome, engine_seconds)| {
            let stderr = stderr.clone();
            Run { outcome, engine_seconds, wall_seconds, stderr, late_fault: None }
        };
        let runs: Vec<Run> = outcomes.map(run).collect();
        let is_worn = |run: &Run| self.limits.restart_after_panic && matches!(run.outcome, Outcome::Fault(_));
        self.process = process.filter(|_| !runs.iter().any(is_worn));
        Ok((runs, sent))
    }

    /// If the process died since its last answer, reaps it and says of what.
    fn bury(&mut self) -> Option<Fault> {
        self.process.take_if(|p| p.has_ended()).map(|p| p.end(&FrameError::Closed).0)
    }
}

fn launch(spec: &Spec, limits: &Limits) -> Result<(Process, Description), WorkerError> {
    let program = || spec.program.clone();
    let mut process =
        Process::start(spec, limits).map_err(|source| WorkerError::Start { program: program(), source })?;
    match process.hello(limits) {
        Ok(description) => Ok((process, description)),
        Err(seen) => {
            let (fault, stderr) = process.end(&seen);
            if let (Some(engine), Fault::Exit { .. }) = (spec.built_in(), &fault)
                && !stderr.trim().is_empty()
            {
                let why = stderr.trim().trim_start_matches("onnxsmith: ").to_owned();
                return Err(WorkerError::Unavailable { engine, why });
            }
            Err(WorkerError::Handshake { program: program(), fault, stderr })
        }
    }
}

fn outcome(reply: Reply, outputs: Vec<(String, ir::Tensor)>) -> (Outcome, f64) {
    match reply {
        Reply::Ok { seconds, .. } => (Outcome::Outputs(outputs), seconds),
        Reply::Rejected { stage, message, seconds, .. } => (Outcome::Rejected { stage, message }, seconds),
        Reply::Unsupported { why, seconds, .. } => (Outcome::Unsupported { why }, seconds),
        Reply::Panicked { message, location, frames, seconds, .. } => {
            (Outcome::Fault(Fault::Panic { message, location, frames }), seconds)
        }
    }
}

/// Workers of one kind, shared by the threads of a campaign. There are never more of them than threads that run a
/// case at the same time.
pub struct Pool {
    spec: Spec,
    limits: Limits,
    description: Description,
    idle: Mutex<Vec<Worker>>,
    /// How many late faults there were, by kind.
    late: Mutex<BTreeMap<String, u64>>,
}

impl Pool {
    /// A pool with one worker, whose handshake says what the engine is.
    pub fn new(spec: Spec, limits: Limits) -> Result<Self, WorkerError> {
        let worker = Worker::start(spec.clone(), limits.clone())?;
        let description = worker.description().clone();
        let idle = Mutex::new(vec![worker]);
        Ok(Self { spec, limits, description, idle, late: Mutex::default() })
    }

    /// What the engine is and can do.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// What the pool runs.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Runs a case on an idle worker, or a new one.
    pub fn run(&self, case: &Case) -> Result<Run, WorkerError> {
        let run = self.on_worker(|worker| worker.run(case))?;
        run.late_fault.iter().for_each(|fault| self.count_late(fault));
        Ok(run)
    }

    /// Runs cases on one worker, as [`Worker::run_all`] does.
    pub fn run_all(&self, cases: &[Case]) -> Result<Vec<Run>, WorkerError> {
        let runs = self.on_worker(|worker| worker.run_all(cases))?;
        runs.iter().filter_map(|run| run.late_fault.as_ref()).for_each(|fault| self.count_late(fault));
        Ok(runs)
    }

    fn on_worker<T>(
        &self,
        run: impl FnOnce(&mut Worker) -> Result<T, WorkerError>,
    ) -> Result<T, WorkerError> {
        let waiting = self.idle().pop();
        let mut worker = match waiting {
            Some(worker) => worker,
            None => Worker::start(self.spec.clone(), self.limits.clone())?,
        };
        let ran = run(&mut worker);
        self.idle().push(worker);
        ran
    }

    /// Runs a case in a process of its own, which may use this many threads.
    pub fn run_apart(&self, threads: usize, case: &Case) -> Result<Run, WorkerError> {
        Worker::start(self.spec.clone(), Limits { threads, ..self.limits.clone() })?.run(case)
    }

    /// How many faults, by kind, were no case's own (see [`Run::late_fault`]), those of workers that have died since
    /// their last case included.
    pub fn late_faults(&self) -> BTreeMap<String, u64> {
        for fault in self.idle().iter_mut().filter_map(Worker::bury) {
            self.count_late(&fault);
        }
        self.late.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count_late(&self, fault: &Fault) {
        *self
            .late
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(fault.kind().to_owned())
            .or_default() += 1;
    }
}
