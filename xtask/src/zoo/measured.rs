//! What comes of a model on the reference and the engines, measured by the program in processes of its own, and kept in a file.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// What is known of a model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// What came of each engine, of [`JUDGED`] and then of [`ASKED`].
    pub(crate) engines: Vec<(String, ModelResult)>,
}

/// The engines whose operators are judged one by one, with the optimisation level.
pub(crate) const JUDGED: [&str; 2] = ["cpu", "onnxruntime:none"];

/// The engines that are asked for the whole model alone.
pub(crate) const ASKED: [&str; 3] = ["onnxruntime:all", "rten:all", "openvino:accuracy"];

/// What came of a model on an engine.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ModelResult {
    /// The operators were judged, or the whole.
    Judged(Judged),
    /// The model is not read, in the program's words.
    Unread(String),
    /// It took longer than it may.
    TooLong,
    /// The engine is not there, in the program's words.
    Absent(String),
}

/// What `onnxsmith blame --json` says, as far as the page tells it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Judged {
    /// One engine's.
    pub(crate) targets: Vec<Local>,
    pub(crate) whole: Vec<Whole>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Local {
    pub(crate) operators: Vec<Operator>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Operator {
    pub(crate) op: String,
    pub(crate) standing: String,
    pub(crate) why: String,
    pub(crate) used: f64,
    pub(crate) elements: usize,
    pub(crate) undecided: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Whole {
    pub(crate) answer: String,
    pub(crate) why: String,
    pub(crate) seconds: f64,
    pub(crate) reference_seconds: Option<f64>,
    pub(crate) outputs: Vec<Reach>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reach {
    pub(crate) elements: usize,
    pub(crate) undecided: usize,
    pub(crate) bound: Option<f64>,
}

/// Asks the program about a model on all engines.
pub(crate) fn measure(program: &Path, model: &Path, budget: Duration) -> Result<Measured> {
    let mut measured = Measured::default();
    for engine in JUDGED.into_iter().chain(ASKED) {
        let mut command = Command::new(program);
        command.args(["blame", "--quiet", "--json", "--large", "--on", engine]);
        command.args(["--timeout".to_owned(), format!("{}s", budget.as_secs())]);
        command.args(ASKED.contains(&engine).then_some("--whole"));
        let answer = answer(command.arg(model), budget)?;
        let is_unread = matches!(answer, ModelResult::Unread(_));
        measured.engines.push((engine.to_owned(), answer));
        // It is not read for any other either.
        if is_unread {
            break;
        }
    }
    Ok(measured)
}

fn answer(command: &mut Command, budget: Duration) -> Result<ModelResult> {
    let Some(said) = within(command, budget)? else { return Ok(ModelResult::TooLong) };
    if let Ok(judged) = serde_json::from_slice::<Judged>(&said.stdout) {
        return Ok(ModelResult::Judged(judged));
    }
    let why = said.stderr.lines().find(|line| line.contains("error")).unwrap_or(&said.stderr);
    let why = why.split_once("error: ").map_or(why, |(_, why)| why).to_owned();
    let is_absent = ["backend", "cannot start", "unavailable"].iter().any(|word| why.contains(word));
    Ok(if is_absent { ModelResult::Absent(why) } else { ModelResult::Unread(why) })
}

/// What a program said.
struct Said {
    stdout: Vec<u8>,
    stderr: String,
}

/// What a program says; `None` where it took too long and was ended.
fn within(command: &mut Command, budget: Duration) -> Result<Option<Said>> {
    let started = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.as_mut().map_err(|e| anyhow::anyhow!("{e}")).context("cannot run the program")?;
    let (stdout, stderr) = (all_of(child.stdout.take()), all_of(child.stderr.take()));
    if !has_ended(child, started, budget)? {
        return Ok(None);
    }
    let all = |reader: JoinHandle<Vec<u8>>| reader.join().unwrap_or_default();
    Ok(Some(Said { stdout: all(stdout), stderr: String::from_utf8_lossy(&all(stderr)).into_owned() }))
}

/// Whether a process ends in time; else it is ended.
fn has_ended(child: &mut Child, started: Instant, budget: Duration) -> Result<bool> {
    while child.try_wait()?.is_none() {
        if started.elapsed() > budget {
            child.kill()?;
            child.wait()?;
            return Ok(false);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(true)
}

/// Reads a pipe while the process runs, which would wait for that.
fn all_of<R: Read + Send + 'static>(pipe: Option<R>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut all = Vec::new();
        // What was said before a pipe breaks is all there is.
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut all));
        all
    })
}
