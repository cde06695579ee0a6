//! What to start as a worker, what it may use, and why there may be none.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::outcome::Fault;

/// The argument that makes this project's executable a worker: `onnxsmith worker <engine>`.
pub const WORKER_ARGUMENT: &str = "worker";

/// A program that speaks the worker protocol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EngineSpec {
    /// What the user calls it.
    pub name: String,
    /// The executable.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
}

/// Where adapters to runtimes are looked for, below the working directory or a checkout.
const ADAPTERS: &str = "adapters";

/// The variable that says where a checkout is, for a program that is installed elsewhere.
pub const HOME_VARIABLE: &str = "ONNXSMITH_HOME";

/// A kind of adapters.
struct AdapterKind {
    /// What their names end in.
    ending: &'static str,
    program: Program,
}

/// What runs an adapter.
enum Program {
    /// The adapter is a program itself.
    Itself,
    /// Below the folder in which `adapters` is.
    Below(&'static str),
    /// Where the system finds programs.
    Installed(&'static str),
}

/// The interpreter that `scripts/python-env` makes.
const PYTHON: &str = ".venv/bin/python";

/// What adapters there may be.
const KINDS: [AdapterKind; 3] = [
    AdapterKind { ending: "_runner.py", program: Program::Below(PYTHON) },
    AdapterKind { ending: "_runner.mjs", program: Program::Installed("node") },
    AdapterKind { ending: if cfg!(windows) { "_runner.exe" } else { "_runner" }, program: Program::Itself },
];

impl EngineSpec {
    /// The worker that a name on the command line stands for: an engine that is built into this executable, an adapter in
    /// the folder `adapters` of the working directory, of what [`HOME_VARIABLE`] says or of the checkout in which this
    /// executable was built, or `cmd:` and the command line of a runner, with quotes as in a POSIX shell. What stands
    /// behind an `@` says on which device a built-in engine runs, and is the engine's to read.
    pub fn parse(name: &str, built_in: &[&str]) -> Result<Self, WorkerError> {
        if let Some(line) = name.strip_prefix("cmd:") {
            let mut words = shlex::split(line).unwrap_or_default().into_iter();
            let program = words.next().ok_or_else(|| WorkerError::Command(line.to_owned()))?.into();
            return Ok(Self { name: name.to_owned(), program, args: words.map(OsString::from).collect() });
        }
        let engine = name.split_once('@').map_or(name, |(engine, _)| engine);
        if !built_in.contains(&engine) {
            let is_there = |found: &Result<Self, _>| !matches!(found, Err(WorkerError::UnknownEngine { .. }));
            let unknown = || Err(WorkerError::UnknownEngine { name: name.to_owned() });
            return checkouts()
                .map(|folder| Self::adapter(&folder, name))
                .find(is_there)
                .unwrap_or_else(unknown);
        }
        let program = std::env::current_exe().map_err(|source| WorkerError::no_executable(name, source))?;
        Ok(Self { name: name.to_owned(), program, args: vec![WORKER_ARGUMENT.into(), name.into()] })
    }

    /// The runner `adapters/<name>_runner.py` below a folder, in the virtual environment of `scripts/python-env`, or else
    /// `adapters/<name>_runner.mjs` in Node.js, or else the program `adapters/<name>_runner`.
    pub fn adapter(folder: &Path, name: &str) -> Result<Self, WorkerError> {
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let runner = |kind: &AdapterKind| folder.join(ADAPTERS).join(format!("{name}{}", kind.ending));
        let kind = KINDS.iter().find(|kind| plain && runner(kind).is_file());
        let name = name.to_owned();
        let Some(kind) = kind else { return Err(WorkerError::UnknownEngine { name }) };
        let runner = runner(kind);
        let program = match kind.program {
            Program::Itself => return Ok(Self { args: Vec::new(), name, program: runner }),
            Program::Installed(program) => program.into(),
            Program::Below(path) if folder.join(path).exists() => folder.join(path),
            Program::Below(_) => return Err(WorkerError::NoPython { name }),
        };
        Ok(Self { args: vec![runner.into()], name, program })
    }

    /// The name, if this is an engine of this executable.
    pub(super) fn built_in(&self) -> Option<String> {
        self.args.first().is_some_and(|first| first == WORKER_ARGUMENT).then(|| self.name.clone())
    }
}

/// The folder that cargo builds programs in, in a checkout.
const TARGET: &str = "target";

/// Where adapters may be: the working directory, what [`HOME_VARIABLE`] says, and the checkout in which this executable
/// was built. Of other folders around it nothing is run: anybody may write to some.
fn checkouts() -> impl Iterator<Item = PathBuf> {
    let said = std::env::var_os(HOME_VARIABLE).map(PathBuf::from);
    let program = std::env::current_exe().ok();
    let target =
        program.iter().flat_map(|program| program.ancestors()).find(|folder| folder.ends_with(TARGET));
    let built = target.and_then(Path::parent).map(Path::to_owned);
    [PathBuf::new()].into_iter().chain(said).chain(built)
}

/// What a worker may use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The time for one case.
    pub timeout: Duration,
    /// The time to start and answer the handshake, where that for a case is not longer.
    pub startup: Duration,
    /// The private memory that it can write to, in bytes; enforced on Linux only.
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
    #[error("cannot start {engine}: {}: {source}", program.display())]
    Start {
        /// The engine, as the user calls it.
        engine: String,
        /// The program.
        program: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The program starts but does not shake hands.
    #[error("{engine} is no worker: asked who it is, it {fault}{}{}", patience(fault, *time), said(stderr))]
    Handshake {
        /// The engine, as the user calls it.
        engine: String,
        /// What it did instead.
        fault: Box<Fault>,
        /// How long it had.
        time: Duration,
        /// The end of its standard error.
        stderr: String,
    },
    /// The program shakes hands, and answers nothing that it is asked then.
    #[error(
        "{engine} answers nothing: of {asked} models it answered none; with the first it {fault}{}{}",
        longer(fault),
        said(stderr)
    )]
    Silent {
        /// The engine.
        engine: String,
        /// How many models it was given.
        asked: u64,
        /// What it did with the first, instead of answering.
        fault: Box<Fault>,
        /// The end of its standard error by then.
        stderr: String,
    },
    /// An engine lacks what it needs from outside: a GPU adapter, a shared library, a package.
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
    /// A model that is too large for a message cannot be written to a file.
    #[error("the model has more than 2 GiB, and cannot be written to a file for the engine: {0}")]
    Spill(String),
    /// A case cannot be put into words for the worker: its fault is ours.
    #[error("no request can be made of a case: {0}")]
    Request(std::io::Error),
    /// The engine is not built in.
    #[error("no engine `{name}` is built in")]
    UnknownEngine {
        /// What was asked for.
        name: String,
    },
}

impl WorkerError {
    /// The path of this executable, which is to be the worker, cannot be told.
    pub fn no_executable(engine: &str, source: std::io::Error) -> Self {
        Self::Start { engine: engine.to_owned(), program: "this executable".into(), source }
    }
}

/// How long an engine had that did not answer in time, and what gives it longer.
fn patience(fault: &Fault, time: Duration) -> String {
    match fault {
        Fault::Timeout => format!(": it had {time:?}{}", longer(fault)),
        _ => String::new(),
    }
}

/// What gives an engine longer that did not answer in time.
fn longer(fault: &Fault) -> &'static str {
    match fault {
        Fault::Timeout => "; --timeout gives it longer",
        _ => "",
    }
}

fn said(stderr: &str) -> String {
    if stderr.trim().is_empty() { String::new() } else { format!("; it said: {}", stderr.trim()) }
}
