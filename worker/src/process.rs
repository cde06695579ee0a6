//! One live worker process: start, exchange of frames, and the diagnosis when it ends.

use std::ffi::OsString;
use std::io::{BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ir::Datum;

use super::outcome::Fault;
use super::pipe::{AT_ONCE, Patient};
use super::protocol::{self, FrameError, Greeting, Hello, Reply, Request, RunHeader, VERSION, Wanted};
use super::spec::{EngineSpec, Limits};
use super::tail::Tail;
use super::watchdog::{End, Watchdog};
use super::{Case, Source, backtrace, living, sys};

/// How long a process whose pipe broke may take to be dead. A core dump can take a while.
const GRACE: Duration = Duration::from_secs(2);

/// How long after the watchdog has killed a process its pipes may take to end. They end at once, unless a process that
/// left the group holds them.
const SLACK: Duration = Duration::from_millis(200);

/// Runtimes and adapters read these. Normally the number is one: results do not depend on scheduling then, and workers do
/// not crowd each other out.
const THREAD_VARIABLES: [&str; 5] =
    [super::THREADS, "RTEN_NUM_THREADS", "RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"];

/// With these, errors of Rust crates have a backtrace, which takes long to make and which engines put into their messages. What
/// a built-in engine says must not depend on the environment.
const BACKTRACE_VARIABLES: [&str; 2] = ["RUST_BACKTRACE", "RUST_LIB_BACKTRACE"];

/// What [`set_variable`] was told.
static VARIABLES: Mutex<Vec<(OsString, OsString)>> = Mutex::new(Vec::new());

/// Sets an environment variable for the workers that are started from now on. (That of this process cannot be set
/// safely once it has threads.)
pub fn set_variable(name: impl Into<OsString>, value: impl Into<OsString>) {
    VARIABLES.lock().unwrap_or_else(PoisonError::into_inner).push((name.into(), value.into()));
}

/// A reply, and the outputs that it came with.
pub(super) type ReplyWithOutputs = (Reply, Vec<(String, Datum)>);

/// What came of asking a process to run cases.
#[derive(Default)]
pub(super) struct Exchange {
    /// How many of the cases were sent, from the first one on.
    pub(super) sent: usize,
    /// The answers, in order. They are fewer than were sent after a failure, or where the last one is a panic after which
    /// the process is not used any more.
    pub(super) answers: Vec<ReplyWithOutputs>,
    /// Whether the last of the cases that were waited for had less time than is usual, as the end was near.
    pub(super) is_cut: bool,
    /// Why the process is of no use any more.
    pub(super) failure: Option<FrameError>,
}

/// A running worker. Dropping it kills the process and its group, and reaps it.
pub(super) struct Process {
    stdin: Patient<ChildStdin>,
    stdout: BufReader<Patient<ChildStdout>>,
    stderr: Tail,
    watchdog: Watchdog,
    next_id: u64,
    /// Where it may run this program: what tells that from others.
    program: Option<String>,
    /// What is sent next; kept, as memory of this size is costly to get and to give back.
    requests: Vec<u8>,
}

impl Process {
    /// Starts the program; [`Process::hello`] comes next.
    pub(super) fn start(spec: &EngineSpec, limits: &Limits) -> std::io::Result<Self> {
        let mut command = command(spec, limits);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        sys::own_group(&mut command);
        sys::keep_dead_children();
        let mut child = living::start(&mut command)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let confined = sys::confine(&child, limits.memory);
        // From here on the watchdog owns the child: whatever fails below, it is killed and reaped.
        let watchdog = Watchdog::new(child)?;
        confined?;
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(std::io::Error::other("the standard streams of the new process are not there"));
        };
        let stdout = BufReader::with_capacity(AT_ONCE, Patient::reader(stdout));
        let (stdin, stderr) = (Patient::writer(stdin)?, Tail::of(stderr)?);
        let program = spec.built_in().and_then(|_| backtrace::program());
        Ok(Self { stdin, stdout, stderr, watchdog, next_id: 0, program, requests: Vec::new() })
    }

    /// The handshake.
    pub(super) fn hello(&mut self, limits: &Limits) -> Result<Greeting, FrameError> {
        let hello = Request::Hello { protocol: VERSION, program: self.program.clone() };
        protocol::append(&mut self.requests, &hello, &[])?;
        let greeting = self.timed(limits.startup, |process| {
            process.send()?;
            protocol::read_header(&mut process.stdout)
        })?;
        match greeting {
            Greeting::Hello(Hello { protocol, .. }) if protocol != VERSION => Err(FrameError::Malformed(
                format!("it speaks protocol version {protocol}, this program {VERSION}"),
            )),
            Greeting::Hello(hello) => match hello.description.useless() {
                Some(why) => Err(FrameError::Malformed(why)),
                None => Ok(Greeting::Hello(hello)),
            },
            unavailable @ Greeting::Unavailable { .. } => Ok(unavailable),
        }
    }

    /// Runs the first of some cases, as many as are sent together: at least one, and the next ones while all requests fit
    /// into the pipe. None is waited for beyond `end`. After a failure the process is of no use any more:
    /// [`Process::end`] it. Where it is an error, no request could be made of a case: nothing was sent, and the process
    /// is as it was.
    pub(super) fn run(
        &mut self,
        cases: &[Case],
        limits: &Limits,
        end: Option<Instant>,
    ) -> std::io::Result<Exchange> {
        let left = || end.map(|end| end.saturating_duration_since(Instant::now()));
        let time = || left().map_or(limits.timeout, |left| left.min(limits.timeout));
        self.stderr.clear();
        let mut exchange = Exchange::default();
        let first_id = self.next_id + 1;
        self.requests.clear();
        for (id, case) in (first_id..).zip(cases) {
            let before = self.requests.len();
            request(&mut self.requests, id, case, time())?;
            // What does not fit into the pipe could make parent and worker wait for each other, each with a pipe that the
            // other one does not read.
            if exchange.sent > 0 && self.requests.len() > self.stdin.room() {
                self.requests.truncate(before);
                break;
            }
            exchange.sent += 1;
        }
        self.next_id += exchange.sent as u64;
        let answered = self.timed(time(), |process| {
            process.send()?;
            for (id, case) in (first_id..).zip(&cases[..exchange.sent]) {
                // The time of a case begins when the one before has its answer.
                let time = time();
                exchange.is_cut = time < limits.timeout;
                process.give(time);
                let answer = process.receive(limits.reply_bytes)?;
                check(&answer.0, &answer.1, id, case)?;
                let is_panic = matches!(answer.0, Reply::Panicked { .. });
                exchange.answers.push(answer);
                if is_panic && limits.restart_after_panic {
                    break;
                }
            }
            Ok(())
        });
        exchange.failure = answered.err();
        if exchange.failure.is_some() && exchange.answers.len() == exchange.sent {
            // The last one came too late.
            exchange.answers.pop();
        }
        Ok(exchange)
    }

    /// Whether it has run no case yet.
    pub(super) fn is_fresh(&self) -> bool {
        self.next_id == 0
    }

    /// What the engine wrote to its standard error since the case began.
    pub(super) fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// The process id.
    pub(super) fn id(&self) -> u32 {
        self.watchdog.id()
    }

    /// Whether the process has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.watchdog.has_ended()
    }

    /// Sees a failed process off: what was wrong with it, and its last words.
    pub(super) fn end(mut self, seen: &FrameError) -> (Fault, String) {
        let is_said = matches!(seen, FrameError::Malformed(_) | FrameError::Header { .. });
        let grace = if is_said { Duration::ZERO } else { GRACE };
        let end = self.watchdog.end(grace);
        let words = self.stderr.last_words();
        (diagnose(&end, seen, &words), words)
    }

    /// Does something that the watchdog ends after a time.
    fn timed<T>(
        &mut self,
        time: Duration,
        run: impl FnOnce(&mut Self) -> Result<T, FrameError>,
    ) -> Result<T, FrameError> {
        self.give(time);
        let done = run(self);
        // A process that was killed right after its answer is dead all the same.
        if self.watchdog.disarm() { done } else { Err(FrameError::Closed) }
    }

    /// From now on it has this long.
    fn give(&mut self, time: Duration) {
        self.watchdog.arm(time);
        let patience = Instant::now().checked_add(time.saturating_add(SLACK));
        self.stdin.until(patience);
        self.stdout.get_mut().until(patience);
    }

    fn send(&mut self) -> Result<(), FrameError> {
        self.stdin.write_all(&self.requests)?;
        Ok(self.stdin.flush()?)
    }

    fn receive(&mut self, limit: u64) -> Result<ReplyWithOutputs, FrameError> {
        let mut reply = protocol::read_header(&mut self.stdout)?;
        let values = match &mut reply {
            Reply::Ok { outputs, .. } => {
                protocol::read_values(&mut self.stdout, std::mem::take(outputs), limit)?
            }
            Reply::Panicked { frames, places, .. } => {
                if !places.is_empty() {
                    *frames = backtrace::names(&std::mem::take(places));
                }
                Vec::new()
            }
            Reply::Rejected { .. } | Reply::Unsupported { .. } => Vec::new(),
        };
        Ok((reply, values))
    }
}

/// The program with its arguments and its environment.
fn command(spec: &EngineSpec, limits: &Limits) -> Command {
    let mut command = Command::new(&spec.program);
    command.args(&spec.args).envs(THREAD_VARIABLES.map(|name| (name, limits.threads.to_string())));
    if spec.built_in().is_some() {
        for name in BACKTRACE_VARIABLES {
            command.env_remove(name);
        }
    }
    command.envs(VARIABLES.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned());
    command
}

/// Appends the frame that asks for a case to be run.
fn request(to: &mut Vec<u8>, id: u64, case: &Case, time: Duration) -> std::io::Result<()> {
    let (inputs, bytes) = protocol::blobs(case.inputs.iter().map(|(name, value)| (*name, value.clone())));
    let (message, file) = match case.model {
        Source::Message(bytes) => (bytes, None),
        Source::File(path) => (&[][..], Some(path.to_owned())),
    };
    let header = RunHeader {
        id,
        level: case.level.to_owned(),
        timeout_ms: time.as_millis().min(u64::MAX as u128) as u64,
        model: message.len() as u64,
        file,
        inputs,
        outputs: case.outputs.iter().cloned().map(Wanted::from).collect(),
    };
    let mut blobs = vec![message];
    blobs.extend(bytes.iter().map(Vec::as_slice));
    protocol::append(to, &Request::Run(header), &blobs)
}

/// Whether the reply is one to this request, and the outputs are some of those wanted, in their order: what a runtime leaves out
/// is for whoever judges its answer.
fn check(reply: &Reply, outputs: &[(String, Datum)], expected: u64, case: &Case) -> Result<(), FrameError> {
    let id = match reply {
        Reply::Ok { id, .. }
        | Reply::Rejected { id, .. }
        | Reply::Unsupported { id, .. }
        | Reply::Panicked { id, .. } => *id,
    };
    if id != expected {
        return Err(FrameError::Malformed(format!("it answers request {id}, not {expected}")));
    }
    let names = || outputs.iter().map(|(name, _)| name);
    let mut wanted = case.outputs.iter().map(|wanted| &wanted.name);
    if matches!(reply, Reply::Ok { .. }) && !names().all(|name| wanted.any(|wanted| wanted == name)) {
        let asked: Vec<&String> = case.outputs.iter().map(|wanted| &wanted.name).collect();
        return Err(FrameError::Malformed(format!(
            "it answers with outputs {:?}, and some of these in this order were asked for: {asked:?}",
            names().collect::<Vec<_>>()
        )));
    }
    Ok(())
}

/// What went wrong with a process, judged by how it ended, by what is wrong with its reply, and by its last
/// words.
fn diagnose(end: &End, seen: &FrameError, words: &str) -> Fault {
    let garbage = |what: String| Fault::Garbage { what, line: String::new() };
    let status = match (&end.status, seen) {
        (_, FrameError::Malformed(what)) if !end.overdue => return garbage(what.clone()),
        (_, FrameError::Header { what, line }) if !end.overdue => {
            return Fault::Garbage { what: what.clone(), line: line.clone() };
        }
        (Ok(status), _) => *status,
        (Err(e), _) => return garbage(format!("its exit status cannot be read: {e}")),
    };
    let signal = sys::signal(status);
    // A process that was killed as overdue may have died before, with a descendant holding its pipe open.
    if end.killed && (signal == Some(sys::SIGKILL) || cfg!(not(unix))) {
        let what = "it closed its standard output and went on running";
        return if end.overdue { Fault::Timeout } else { garbage(what.into()) };
    }
    match (signal, status.code().unwrap_or(-1)) {
        (Some(_), _) if words.contains("has overflowed its stack") => Fault::StackOverflow,
        // Nobody but the kernel's out-of-memory killer sends SIGKILL to a stranger's child.
        (Some(sys::SIGKILL), _) => Fault::Memory,
        (Some(_), _) if out_of_memory(words) => Fault::Memory,
        (Some(number), _) => Fault::Signal { number, name: sys::signal_name(number) },
        (None, 0) if matches!(seen, FrameError::Truncated) => garbage(seen.to_string()),
        (None, code) if code != 0 && out_of_memory(words) => Fault::Memory,
        (None, code) => Fault::Exit { code },
    }
}

/// Whether a process that failed says that it was for lack of memory, in Rust's, C++'s, Python's or libc's words.
fn out_of_memory(words: &str) -> bool {
    ["memory allocation of ", "std::bad_alloc", "MemoryError", "Cannot allocate memory"]
        .iter()
        .any(|phrase| words.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::super::spec::WORKER_ARGUMENT;
    use super::*;

    #[test]
    fn what_a_built_in_engine_says_does_not_depend_on_how_panics_are_to_be_told() {
        let removed = |args: &[&str]| {
            let args = args.iter().map(OsString::from).collect();
            let spec = EngineSpec { name: "e".to_owned(), program: "program".into(), args };
            let command = command(&spec, &Limits::default());
            command.get_envs().filter(|(_, value)| value.is_none()).count()
        };
        assert_eq!(removed(&[WORKER_ARGUMENT, "e"]), BACKTRACE_VARIABLES.len());
        assert_eq!(removed(&["runner.py"]), 0, "a runner's author may want to see backtraces");
    }
}
